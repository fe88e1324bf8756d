//! One conversion of a format: flags, width, precision, length, letter.

use super::inputs::{ArgKind, Args};

/// What a conversion prints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Conversion {
    #[default]
    Percent,
    Char,
    Text,
    Signed,
    Unsigned {
        base: u64,
    },
    /// With the letters that follow `%p`.
    Pointer([u8; 4]),
    Count,
    Unknown(u8),
}

/// A conversion, read.
#[derive(Debug, Clone, Default)]
pub(super) struct Spec {
    pub(super) left: bool,
    pub(super) plus: bool,
    pub(super) space: bool,
    pub(super) alternate: bool,
    pub(super) zero: bool,
    pub(super) upper: bool,
    pub(super) width: usize,
    pub(super) precision: Option<usize>,
    bits: u32,
    long_long: bool,
    pub(super) conversion: Conversion,
}

/// The widest field; more is a mistake, and would be a way to fill memory.
const FIELD_MAX: usize = 32 << 10;

impl Spec {
    /// Reads what follows a `%`; returns it and what follows it.
    pub(super) fn read<'f>(fmt: &'f [u8], args: &mut dyn Args) -> (Self, &'f [u8]) {
        let mut cursor = Cursor(fmt);
        let mut spec = Self { bits: 32, ..Self::default() };
        loop {
            match cursor.peek() {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            cursor.next();
        }
        if let Some(width) = cursor.number(args) {
            spec.left |= width < 0;
            spec.width = (width.unsigned_abs() as usize).min(FIELD_MAX);
        }
        if cursor.peek() == b'.' {
            cursor.next();
            let precision = cursor.number(args).unwrap_or(0);
            spec.precision = usize::try_from(precision).ok().map(|p| p.min(FIELD_MAX));
        }
        spec.read_length(&mut cursor);
        spec.read_letter(&mut cursor);
        (spec, cursor.0)
    }

    fn read_length(&mut self, cursor: &mut Cursor<'_>) {
        loop {
            match cursor.peek() {
                b'h' => self.bits /= 2,
                b'l' | b'L' | b'q' => {
                    self.long_long = self.bits == 64 || cursor.peek() != b'l';
                    self.bits = 64;
                }
                b'z' | b'Z' | b't' | b'j' => self.bits = 64,
                _ => return,
            }
            cursor.next();
        }
    }

    fn read_letter(&mut self, cursor: &mut Cursor<'_>) {
        let letter = cursor.next();
        self.upper = letter == b'X';
        self.conversion = match letter {
            b'%' => Conversion::Percent,
            b'c' => Conversion::Char,
            b's' => Conversion::Text,
            b'd' | b'i' => Conversion::Signed,
            b'u' => Conversion::Unsigned { base: 10 },
            b'x' | b'X' => Conversion::Unsigned { base: 16 },
            b'o' => Conversion::Unsigned { base: 8 },
            b'p' => Conversion::Pointer(cursor.letters()),
            b'n' => Conversion::Count,
            other => Conversion::Unknown(other),
        };
    }

    /// How the number that this conversion prints is passed.
    pub(super) fn arg(&self) -> ArgKind {
        match (self.bits, self.long_long) {
            (64, true) => ArgKind::LongLong,
            (64, false) => ArgKind::Long,
            _ => ArgKind::Int,
        }
    }

    pub(super) fn sign_extended(&self, value: u64) -> i64 {
        let unused = 64 - self.bits.max(8);
        (value << unused).cast_signed() >> unused
    }

    pub(super) fn zero_extended(&self, value: u64) -> u64 {
        let unused = 64 - self.bits.max(8);
        value << unused >> unused
    }

    /// Puts text out, padded to the width.
    pub(super) fn padded(&self, out: &mut Vec<u8>, text: &[u8]) {
        let pad = std::iter::repeat_n(b' ', self.width.saturating_sub(text.len()));
        if !self.left {
            out.extend(pad.clone());
        }
        out.extend_from_slice(text);
        if self.left {
            out.extend(pad);
        }
    }
}

struct Cursor<'f>(&'f [u8]);

impl Cursor<'_> {
    fn peek(&self) -> u8 {
        self.0.first().copied().unwrap_or(0)
    }

    fn next(&mut self) -> u8 {
        let byte = self.peek();
        self.0 = self.0.get(1..).unwrap_or_default();
        byte
    }

    /// Reads a number, or `*` and takes it from the arguments.
    fn number(&mut self, args: &mut dyn Args) -> Option<i32> {
        if self.peek() == b'*' {
            self.next();
            return Some(args.next(ArgKind::Int) as i32);
        }
        let len = self.0.iter().take_while(|b| b.is_ascii_digit()).count();
        let (number, rest) = self.0.split_at(len);
        self.0 = rest;
        std::str::from_utf8(number).ok()?.parse().ok()
    }

    /// Reads the letters and digits that belong to a `%p`.
    fn letters(&mut self) -> [u8; 4] {
        let mut letters = [0; 4];
        let len = match self.peek() {
            b'x' | b'K' | b'S' | b's' | b'B' | b'F' | b'f' | b'e' | b'V' | b'M' | b'm' => 1,
            b'h' if matches!(self.0.get(1), Some(b'C' | b'D' | b'N')) => 2,
            b'h' => 1,
            b'U' if matches!(self.0.get(1), Some(b'b' | b'B' | b'l' | b'L')) => 2,
            b'I' | b'i' if self.0.get(1) == Some(&b'4') => 2,
            b'a' if matches!(self.0.get(1), Some(b'd' | b'p')) => 2,
            b'b' if self.0.get(1) == Some(&b'l') => 2,
            b'a' | b'b' => 1,
            _ => 0,
        };
        letters[..len].copy_from_slice(&self.0[..len]);
        self.0 = &self.0[len..];
        letters
    }
}

/// Returns a number in a base.
pub(super) fn digits(mut value: u64, base: u64, upper: bool) -> Vec<u8> {
    let alphabet = if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    let mut text = Vec::new();
    while value != 0 || text.is_empty() {
        text.push(alphabet[(value % base) as usize]);
        value /= base;
    }
    text.reverse();
    text
}
