//! `slablab insmod --do`: processes that open, read, write, ask, map and wait on the devices of modules that are
//! written as the driver books write them.

use slablab_tests::module::{insmod, lines, told};
use slablab_tests::{refusal, run};

/// Runs a module with steps; each has to be done as it is expected, and nothing else to be found.
#[track_caller]
fn steps(module: &str, steps: &[&str], expected: &[&str]) {
    let words = steps.iter().flat_map(|step| ["--do", step]);
    let words: Vec<_> = ["--check", "2"].into_iter().chain(words).collect();
    let output = insmod(module, &words);
    // What goes on in the background ends at some time before `wait` does.
    let in_order = |lines: &[String]| -> (Vec<String>, Vec<String>) {
        let (mut behind, before): (Vec<String>, Vec<String>) =
            lines.iter().cloned().partition(|line| line.contains(" & = "));
        behind.sort();
        (before, behind)
    };
    let expected: Vec<String> = expected.iter().map(|line| (*line).to_owned()).collect();
    assert_eq!(in_order(&lines(&output)), in_order(&expected), "{}", told(&output));
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
}

#[test]
fn a_device_is_written_read_sought_and_asked() {
    steps(
        "chr_store",
        &[
            "write /dev/store0 hello",
            "cat /dev/store0",
            "open a /dev/store1 rw",
            "write a 0123456789",
            "write a 89abc",
            "seek a 6",
            "read a",
            "read a",
            "seek a -3 end",
            "read a 2",
            "ioctl a _IO('k',4)",
            "ioctl a _IOWR(k,5,int) @16",
            "ioctl a _IOR(k,3,int) @0",
            "! ioctl a _IOR(k,3,int) 5",
            "! ioctl a 0x1234",
            "! open b /dev/store9",
            "cat /proc/storeseq",
        ],
        &[
            "do: write /dev/store0 hello = 5",
            "do: cat /dev/store0 = 5: hello",
            "do: open a /dev/store1 rw = 0",
            "do: write a 0123456789 = 8",
            "do: write a 89abc = 5",
            "do: seek a 6 = 6",
            "do: read a = 2: 67",
            "do: read a = 5: 89abc",
            "do: seek a -3 end = 10",
            "do: read a 2 = 2: ab",
            "do: ioctl a _IO('k',4) = 8",
            "do: ioctl a _IOWR(k,5,int) @16 = 0: 8",
            "do: ioctl a _IOR(k,3,int) @0 = 0: 16",
            "do: ! ioctl a _IOR(k,3,int) 5 = -14 (Bad address)",
            "do: ! ioctl a 0x1234 = -25 (Inappropriate ioctl for device)",
            "do: ! open b /dev/store9 = -2 (No such file or directory)",
            "do: cat /proc/storeseq = 73:",
            "Device 0: piece 8, sz 5",
            "Device 1: piece 8, sz 13",
            "Device 2: piece 8, sz 0",
        ],
    );
}

#[test]
fn readers_and_writers_wait_poll_and_get_signals() {
    steps(
        "chr_pipe",
        &[
            "open r /dev/ring r",
            "open w /dev/ring w",
            "open n /dev/ring r nonblock",
            "! read n",
            "poll r 0.02",
            "read r &",
            "sleep 0.1",
            "write w hi",
            "wait",
            "fasync n on",
            "write w 12345678",
            "sigio n",
            "poll n",
            "write w more",
            "! write w never &",
            "sleep 0.1",
            "signal w INT",
            "wait",
            "read n",
            "read r",
            "! seek n 3",
        ],
        &[
            "do: open r /dev/ring r = 0",
            "do: open w /dev/ring w = 0",
            "do: open n /dev/ring r nonblock = 0",
            "do: ! read n = -11 (Resource temporarily unavailable)",
            "do: poll r 0.02 = 260: POLLOUT POLLWRNORM",
            "do: sleep 0.1 = 0",
            "do: write w hi = 2",
            "do: read r & = 2: hi",
            "do: wait = 0",
            "do: fasync n on = 0",
            "do: write w 12345678 = 6",
            "do: sigio n = 1",
            "do: poll n = 325: POLLIN POLLOUT POLLRDNORM POLLWRNORM",
            "do: write w more = 1",
            "do: sleep 0.1 = 0",
            "do: signal w INT = 0",
            "do: ! write w never & = -4 (Interrupted system call)",
            "do: wait = 0",
            "do: read n = 6: 123456",
            "do: read r = 1: m",
            "do: ! seek n 3 = -29 (Illegal seek)",
        ],
    );
}

#[test]
fn pages_are_mapped_when_they_are_touched_or_at_once() {
    steps(
        "chr_mmap",
        &[
            "open m /dev/touched",
            "mmap m 12288",
            "peek m 0 6",
            "peek m 4096 6",
            "poke m 0 hello",
            "! peek m 20000 4",
            "munmap m",
            "open w /dev/whole",
            "! mmap w 9999",
            "mmap w 4096",
            "peek w 0 5",
            "open a /dev/area",
            "mmap a 4096 4096",
            "peek a 0 6",
        ],
        &[
            "do: open m /dev/touched = 0",
            "do: mmap m 12288 = 0",
            "page 0 is touched",
            "do: peek m 0 6 = 6: page 0",
            "page 1 is touched",
            "do: peek m 4096 6 = 6: page 1",
            "do: poke m 0 hello = 5",
            "do: ! peek m 20000 4 = -14 (Bad address)",
            "unmapped, 0 left",
            "do: munmap m = 0",
            "do: open w /dev/whole = 0",
            "do: ! mmap w 9999 = -22 (Invalid argument)",
            "do: mmap w 4096 = 0",
            "do: peek w 0 5 = 5: hello",
            "do: open a /dev/area = 0",
            "do: mmap a 4096 4096 = 0",
            "do: peek a 0 6 = 6: second",
            "first page says hello0, 1 references",
        ],
    );
}

#[test]
fn devices_say_who_may_open_them() {
    steps(
        "chr_access",
        &[
            "open a /dev/access/single",
            "! open b /dev/access/single",
            "close a",
            "open b /dev/access/single",
            "open u /dev/access/user rw uid=7",
            "! open v /dev/access/user rw uid=8",
            "open x /dev/access/user",
            "open t /dev/access/turn",
            "open s /dev/access/turn &",
            "! open q /dev/access/turn nonblock",
            "close t",
            "wait",
        ],
        &[
            "do: open a /dev/access/single = 0",
            "do: ! open b /dev/access/single = -16 (Device or resource busy)",
            "do: close a = 0",
            "do: open b /dev/access/single = 0",
            "do: open u /dev/access/user rw uid=7 = 0",
            "do: ! open v /dev/access/user rw uid=8 = -16 (Device or resource busy)",
            "do: open x /dev/access/user = 0",
            "t has its turn",
            "do: open t /dev/access/turn = 0",
            "do: ! open q /dev/access/turn nonblock = -11 (Resource temporarily unavailable)",
            "do: close t = 0",
            "s has its turn",
            "do: open s /dev/access/turn & = 0",
            "do: wait = 0",
        ],
    );
}

#[test]
fn pieces_of_data_and_numbers_come_from_users() {
    steps(
        "chr_iter",
        &[
            "write /dev/iter text",
            "cat /dev/iter",
            "write /proc/number 42",
            "cat /proc/number",
            "! write /proc/number x",
        ],
        &[
            "do: write /dev/iter text = 4",
            "do: cat /dev/iter = 4: text",
            "do: write /proc/number 42 = 2",
            "do: cat /proc/number = 3: 42",
            "do: ! write /proc/number x = -22 (Invalid argument)",
        ],
    );
}

/// Devices that only have a number get their names by `mknod`; readers sleep until a writer comes.
#[test]
fn readers_sleep_on_a_queue_or_a_completion() {
    steps(
        "chr_sleep",
        &[
            "mknod /dev/queue sleepy 0",
            "mknod /dev/done done 0",
            "read /dev/queue &",
            "read /dev/done &",
            "sleep 0.1",
            "write /dev/queue x",
            "sleep 0.1",
            "write /dev/done xy",
            "wait",
        ],
        &[
            "do: mknod /dev/queue sleepy 0 = 0",
            "do: mknod /dev/done done 0 = 0",
            "do sleeps",
            "do: sleep 0.1 = 0",
            "do: write /dev/queue x = 1",
            "do: read /dev/queue & = 0",
            "do: sleep 0.1 = 0",
            "do: write /dev/done xy = 2",
            "do: read /dev/done & = 0",
            "do: wait = 0",
        ],
    );
}

/// A reader for whom nothing ever comes is killed with its process at the end, and the module unloads.
#[test]
fn a_process_that_waits_for_ever_ends_before_exit() {
    let output = insmod("chr_pipe", &["--do", "open r /dev/ring r", "--do", "! read r &"]);
    let printed = ["do: open r /dev/ring r = 0", "do: ! read r & = -4 (Interrupted system call)"];
    assert_eq!(lines(&output), printed);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
}

#[test]
fn steps_come_from_a_script_and_mistakes_name_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("steps");
    std::fs::write(&script, "# two\nwrite /dev/iter ab\ncat /dev/iter\n").unwrap();
    let output = insmod("chr_iter", &["--script", script.to_str().unwrap()]);
    assert_eq!(lines(&output), ["do: write /dev/iter ab = 2", "do: cat /dev/iter = 2: ab"]);
    std::fs::write(&script, "cat /dev/iter\nfrobnicate\n").unwrap();
    let source = slablab_tests::module::source("chr_iter");
    let message = refusal(&["insmod", &source, "--script", script.to_str().unwrap()]);
    assert!(
        message.contains("line 2: frobnicate") && message.contains("none of open"),
        "{message}"
    );
    let output = run(&["insmod", &source, "--do", "cat /dev/nothing"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(told(&output).contains("do: cat /dev/nothing = -2 (No such file"), "{}", told(&output));
}
