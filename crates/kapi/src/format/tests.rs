//! Against what `Documentation/core-api/printk-formats.rst` and the C standard say.

use super::{ArgKind, Args, Memory, format};

struct List<'a>(std::iter::Copied<std::slice::Iter<'a, u64>>);

impl Args for List<'_> {
    fn next(&mut self, _kind: ArgKind) -> u64 {
        self.0.next().expect("the format takes no more than it was given")
    }
}

/// Memory of one block at address 0x1000.
struct Block(&'static [u8]);

impl Memory for Block {
    fn string(&self, address: u64, max: usize) -> Option<Vec<u8>> {
        let text = self.0.get((address.checked_sub(0x1000)?) as usize..)?;
        Some(text.iter().copied().take_while(|&b| b != 0).take(max).collect())
    }

    fn bytes(&self, address: u64, len: usize) -> Option<Vec<u8>> {
        let at = (address.checked_sub(0x1000)?) as usize;
        self.0.get(at..at + len).map(<[u8]>::to_vec)
    }

    fn nested(&self, _address: u64) -> Vec<u8> {
        b"nested".to_vec()
    }

    fn symbol(&self, address: u64) -> Option<(String, u64, u64)> {
        (address == 0x2010).then(|| ("walk".to_string(), 0x10, 0x40))
    }

    fn hashed(&self, _address: u64) -> u64 {
        0xabcd_1234
    }
}

#[track_caller]
fn check(fmt: &str, args: &[u64], expected: &str) {
    let memory = Block(b"hello\0\x01\x02\xff\x10\xc0\xa8\x00\x01 sixteen bytes..");
    let mut list = List(args.iter().copied());
    let text = format(fmt.as_bytes(), &mut list, &memory);
    assert_eq!(String::from_utf8_lossy(&text), expected, "{fmt}");
    assert!(list.0.next().is_none(), "{fmt}: takes all arguments");
}

#[test]
fn numbers() {
    check("%d %i %u", &[u64::MAX, 5, u64::MAX], "-1 5 4294967295");
    check("%ld %lu %lld", &[u64::MAX, u64::MAX, 7], "-1 18446744073709551615 7");
    check("%hd %hhu %hhd", &[0x1_8000, 0x1ff, 0xff], "-32768 255 -1");
    check("%x %X %#x %#o %o", &[255, 255, 255, 8, 8], "ff FF 0xff 010 10");
    check("%5d|%-5d|%05d|%+d|% d", &[42, 42, 42, 42, 42], "   42|42   |00042|+42| 42");
    check("%.3d|%5.3d|%*d|%-*d|", &[7, 7, 4, 9, 4, 9], "007|  007|   9|9   |");
    check("%#010x|%zu|%td|%06.2f", &[0xbeef, 3, 4], "0x0000beef|3|4|%f");
}

#[test]
fn strings() {
    check("[%s] [%8s] [%-8s] [%.2s]", &[0x1000; 4], "[hello] [   hello] [hello   ] [he]");
    check("%s %s %c%%", &[0, 0x10, u64::from(b'x')], "(null) (efault) x%");
}

#[test]
fn pointers() {
    check("%p %px", &[0x1000, 0x1000], "00000000abcd1234 0000000000001000");
    check(
        "%p %pe %pe",
        &[0, (-12_i64).cast_unsigned(), (-500_i64).cast_unsigned()],
        "0000000000000000 -ENOMEM -500",
    );
    check("%pS %ps %pS", &[0x2010, 0x2010, 0x99], "walk+0x10/0x40 walk 0x99");
    check("%pV|%20px|", &[1, 0x10], "nested|    0000000000000010|");
}

#[test]
fn bytes() {
    check(
        "%4ph %4phN %4phC %*phD",
        &[0x1006, 0x1006, 0x1006, 2, 0x1006],
        "01 02 ff 10 0102ff10 01:02:ff:10 01-02",
    );
    check("%pM %pm", &[0x1006, 0x1006], "01:02:ff:10:c0:a8 0102ff10c0a8");
    check("%pI4 %pi4", &[0x100a, 0x100a], "192.168.0.1 192.168.000.001");
    check("%pUb", &[0x1006], "0102ff10-c0a8-0001-2073-69787465656e");
    check("%pUl", &[0x1006], "10ff0201-a8c0-0100-2073-69787465656e");
}

#[test]
fn bitmaps() {
    check("%*pb %*pb", &[12, 0x1006, 36, 0x1006], "201 0,10ff0201");
    check("%*pbl|%*pbl|", &[40, 0x1006, 1, 0x1007], "0,9,16-23,28,38-39||");
}

#[test]
fn a_format_may_end_early() {
    check("100%", &[], "100%\0");
    check("%-", &[], "%\0");
}
