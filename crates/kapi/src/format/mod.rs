//! `vsnprintf` as the kernel has it.
//!
//! # How it works
//! [`spec`] reads one conversion, this file puts numbers, strings and padding out, [`pointer`] the
//! `%p` variants. Arguments come from a [`Args`], which the C side fetches one by one; what pointers
//! lead to is read through [`Memory`]. Both are traits, so that all of it is tested without C.
//!
//! # Differences from Linux
//! `%pf`/`%pF` are `%ps`/`%pS`; `%pOF`, `%pd`, `%pg` and the like, which print kernel structures that
//! do not exist here, print the address as `%p` does.
//!
//! Linux counterpart: `lib/vsprintf.c` @ 6.1, `Documentation/core-api/printk-formats.rst`.

mod inputs;
mod pointer;
mod spec;

use inputs::string;
pub(crate) use inputs::{ArgKind, Args, Memory};
use spec::{Conversion, Spec, digits};

/// Formats; the result may hold any bytes.
pub(crate) fn format(fmt: &[u8], args: &mut dyn Args, memory: &dyn Memory) -> Vec<u8> {
    let mut out = Vec::with_capacity(fmt.len() + 32);
    let mut rest = fmt;
    while let Some(at) = rest.iter().position(|&b| b == b'%') {
        out.extend_from_slice(&rest[..at]);
        let (spec, tail) = Spec::read(&rest[at + 1..], args);
        rest = tail;
        put(&mut out, &spec, args, memory);
    }
    out.extend_from_slice(rest);
    out
}

fn put(out: &mut Vec<u8>, spec: &Spec, args: &mut dyn Args, memory: &dyn Memory) {
    match spec.conversion {
        Conversion::Percent => out.push(b'%'),
        Conversion::Char => {
            let c = args.next(ArgKind::Int) as u8;
            spec.padded(out, &[c]);
        }
        Conversion::Text => {
            let address = args.next(ArgKind::Pointer);
            let text = string(address, spec.precision.unwrap_or(usize::MAX), memory);
            spec.padded(out, &text);
        }
        Conversion::Signed => {
            let value = spec.sign_extended(args.next(spec.arg()));
            number(out, spec, value.unsigned_abs(), value < 0, 10);
        }
        Conversion::Unsigned { base } => {
            let value = spec.zero_extended(args.next(spec.arg()));
            number(out, spec, value, false, base);
        }
        Conversion::Pointer(extension) => {
            let address = args.next(ArgKind::Pointer);
            pointer::put(out, spec, extension, address, memory);
        }
        Conversion::Count => {
            args.next(ArgKind::Pointer); // as in the kernel: ignored, for it is too dangerous
        }
        Conversion::Unknown(byte) => out.extend_from_slice(&[b'%', byte]),
    }
}

fn number(out: &mut Vec<u8>, spec: &Spec, value: u64, minus: bool, base: u64) {
    let mut prefix: Vec<u8> = Vec::new();
    if minus {
        prefix.push(b'-');
    } else if spec.plus {
        prefix.push(b'+');
    } else if spec.space {
        prefix.push(b' ');
    }
    if spec.alternate && base == 16 {
        prefix.extend_from_slice(if spec.upper { b"0X" } else { b"0x" });
    } else if spec.alternate && base == 8 {
        prefix.push(b'0');
    }
    let mut text = digits(value, base, spec.upper);
    let zeros_to = match spec.precision {
        Some(precision) => precision,
        None if spec.zero && !spec.left => spec.width.saturating_sub(prefix.len()),
        None => 0,
    };
    let zeros = zeros_to.saturating_sub(text.len());
    prefix.extend(std::iter::repeat_n(b'0', zeros));
    prefix.append(&mut text);
    spec.padded(out, &prefix);
}

#[cfg(test)]
mod tests;
