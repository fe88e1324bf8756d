//! The `%p` variants.

use super::inputs::{Memory, string};
use super::spec::{Spec, digits};

/// Error names for `%pe`.
const ERRORS: &[(&str, u64)] = include!(concat!(env!("OUT_DIR"), "/errors.rs"));

/// Bytes that `%*ph` prints at most.
const HEX_BYTES_MAX: usize = 64;

pub(super) fn put(
    out: &mut Vec<u8>,
    spec: &Spec,
    extension: [u8; 4],
    address: u64,
    memory: &dyn Memory,
) {
    match &extension[..2] {
        b"x\0" => hex(out, spec, address),
        b"S\0" | b"F\0" | b"B\0" | b"s\0" | b"f\0" => {
            symbol(out, spec, extension[0], address, memory);
        }
        b"e\0" => error(out, spec, address, memory),
        b"V\0" => spec.padded(out, &memory.nested(address)),
        b"h\0" => bytes(out, spec, address, Some(b' '), memory),
        b"hC" => bytes(out, spec, address, Some(b':'), memory),
        b"hD" => bytes(out, spec, address, Some(b'-'), memory),
        b"hN" => bytes(out, spec, address, None, memory),
        b"M\0" => joined(out, spec, address, 6, b":", memory),
        b"m\0" => joined(out, spec, address, 6, b"", memory),
        b"I4" | b"i4" => ipv4(out, spec, address, extension[0], memory),
        b"U\0" | b"Ub" | b"UB" | b"Ul" | b"UL" => uuid(out, spec, extension[1], address, memory),
        b"b\0" => bitmap(out, spec.width, address, memory),
        b"bl" => ranges(out, spec.width, address, memory),
        b"a\0" | b"ap" | b"ad" => physical(out, spec, address, memory),
        _ => hex(out, spec, if special(address) { address } else { memory.hashed(address) }),
    }
}

/// NULL and error pointers are printed as they are: they tell nothing about the layout of memory.
fn special(address: u64) -> bool {
    address == 0 || address > u64::MAX - 4095
}

fn hex(out: &mut Vec<u8>, spec: &Spec, address: u64) {
    let text = digits(address, 16, false);
    let mut padded = vec![b'0'; 16_usize.saturating_sub(text.len())];
    padded.extend_from_slice(&text);
    spec.padded(out, &padded);
}

fn symbol(out: &mut Vec<u8>, spec: &Spec, letter: u8, address: u64, memory: &dyn Memory) {
    let text = match memory.symbol(address) {
        Some((name, ..)) if letter == b's' || letter == b'f' => name,
        Some((name, offset, size)) => format!("{name}+{offset:#x}/{size:#x}"),
        None => format!("{address:#x}"),
    };
    spec.padded(out, text.as_bytes());
}

fn error(out: &mut Vec<u8>, spec: &Spec, address: u64, memory: &dyn Memory) {
    let number = address.wrapping_neg();
    match ERRORS.iter().find(|(_, n)| *n == number) {
        Some((name, _)) => spec.padded(out, format!("-{name}").as_bytes()),
        None if special(address) && address != 0 => {
            spec.padded(out, format!("-{number}").as_bytes());
        }
        None if address == 0 => hex(out, spec, 0),
        None => hex(out, spec, memory.hashed(address)),
    }
}

/// `%*ph`: the field's width is the number of bytes.
fn bytes(out: &mut Vec<u8>, spec: &Spec, address: u64, between: Option<u8>, memory: &dyn Memory) {
    let len = spec.width.clamp(1, HEX_BYTES_MAX);
    let Some(bytes) = memory.bytes(address, len) else {
        return out.extend_from_slice(&string(address, 0, memory));
    };
    for (i, byte) in bytes.iter().enumerate() {
        if i > 0 {
            out.extend(between);
        }
        out.extend_from_slice(format!("{byte:02x}").as_bytes());
    }
}

/// Returns whether each bit of a bitmap is set.
fn bits(count: usize, address: u64, memory: &dyn Memory) -> Option<Vec<bool>> {
    let bytes = memory.bytes(address, count.div_ceil(64) * 8)?;
    Some((0..count).map(|bit| bytes[bit / 8] >> (bit % 8) & 1 != 0).collect())
}

/// `%*pb`: the field's width is the number of bits; words of 32 bits in hexadecimal, the highest first.
fn bitmap(out: &mut Vec<u8>, count: usize, address: u64, memory: &dyn Memory) {
    let Some(bits) = bits(count, address, memory) else {
        return out.extend_from_slice(&string(address, 0, memory));
    };
    for (i, word) in bits.chunks(32).enumerate().rev() {
        let value = word.iter().rev().fold(0_u32, |value, &bit| value << 1 | u32::from(bit));
        let width = word.len().div_ceil(4);
        let end = if i > 0 { "," } else { "" };
        out.extend_from_slice(format!("{value:0width$x}{end}").as_bytes());
    }
}

/// `%*pbl`: the bits that are set, as a list of ranges.
fn ranges(out: &mut Vec<u8>, count: usize, address: u64, memory: &dyn Memory) {
    let Some(bits) = bits(count, address, memory) else {
        return out.extend_from_slice(&string(address, 0, memory));
    };
    let mut begin = 0;
    let mut list = Vec::new();
    for run in bits.chunk_by(|a, b| a == b) {
        match run {
            [true] => list.push(format!("{begin}")),
            [true, ..] => list.push(format!("{begin}-{}", begin + run.len() - 1)),
            _ => {}
        }
        begin += run.len();
    }
    out.extend_from_slice(list.join(",").as_bytes());
}

fn joined(
    out: &mut Vec<u8>,
    spec: &Spec,
    address: u64,
    len: usize,
    between: &[u8],
    memory: &dyn Memory,
) {
    let Some(bytes) = memory.bytes(address, len) else {
        return spec.padded(out, b"(null)");
    };
    let text: Vec<_> = bytes.iter().map(|b| format!("{b:02x}").into_bytes()).collect();
    spec.padded(out, &text.join(between));
}

fn ipv4(out: &mut Vec<u8>, spec: &Spec, address: u64, letter: u8, memory: &dyn Memory) {
    let Some(bytes) = memory.bytes(address, 4) else { return spec.padded(out, b"(null)") };
    let part = |b: &u8| if letter == b'i' { format!("{b:03}") } else { b.to_string() };
    spec.padded(out, bytes.iter().map(part).collect::<Vec<_>>().join(".").as_bytes());
}

/// Big-endian byte order (`b`), or the first three groups little-endian (`l`).
fn uuid(out: &mut Vec<u8>, spec: &Spec, letter: u8, address: u64, memory: &dyn Memory) {
    const LITTLE: [usize; 16] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
    let Some(bytes) = memory.bytes(address, 16) else { return spec.padded(out, b"(null)") };
    let mut text = String::new();
    for (i, &little) in LITTLE.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        let byte = bytes[if letter.eq_ignore_ascii_case(&b'l') { little } else { i }];
        let pair = format!("{byte:02x}");
        text.push_str(&if letter.is_ascii_uppercase() { pair.to_uppercase() } else { pair });
    }
    spec.padded(out, text.as_bytes());
}

/// `%pa`: a physical address, by reference.
fn physical(out: &mut Vec<u8>, spec: &Spec, address: u64, memory: &dyn Memory) {
    let Some(bytes) = memory.bytes(address, 8) else { return spec.padded(out, b"(null)") };
    let value = bytes.iter().rev().fold(0, |value, &b| value << 8 | u64::from(b));
    spec.padded(out, format!("{value:#018x}").as_bytes());
}
