//! Protocol buffers as they lie in a file: numbered fields, without a description of what they mean.
//!
//! A whole library would make types from a description; a trace has thousands of messages, and only eight of them matter
//! here.

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// A number, also one of 4 or 8 bytes
    Number(u64),
    /// A text, bytes, or a message in the message
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    /// Returns the number, 0 for bytes: an unexpected field says nothing.
    pub(super) fn number(self) -> u64 {
        match self {
            Value::Number(number) => number,
            Value::Bytes(_) => 0,
        }
    }

    /// Returns the bytes, none for a number.
    pub(super) fn bytes(self) -> &'a [u8] {
        match self {
            Value::Number(_) => &[],
            Value::Bytes(bytes) => bytes,
        }
    }

    pub(super) fn text(self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }
}

/// The fields of a message, one after the other; an error where what is left makes no sense.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

/// Bytes that are not a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Damaged;

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Value<'a>), Damaged>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.0 = &[];
        }
        Some(field.ok_or(Damaged))
    }
}

impl<'a> Fields<'a> {
    #[inline]
    fn field(&mut self) -> Option<(u32, Value<'a>)> {
        let key = varint(&mut self.0)?;
        let value = match key & 7 {
            0 => Value::Number(varint(&mut self.0)?),
            1 => Value::Number(u64::from_le_bytes(*self.take(8)?.first_chunk()?)),
            2 => {
                let bytes = usize::try_from(varint(&mut self.0)?).ok()?;
                Value::Bytes(self.take(bytes)?)
            }
            5 => Value::Number(u64::from(u32::from_le_bytes(*self.take(4)?.first_chunk()?))),
            _ => return None,
        };
        let number = u32::try_from(key >> 3).ok().filter(|number| *number != 0)?;
        Some((number, value))
    }

    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }
}

/// Takes a number of 7 bits a byte off the front.
#[inline]
pub(super) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_every_kind_are_read_and_a_cut_is_an_error() {
        let message =
            [0x08, 0x96, 0x01, 0x12, 2, b'h', b'i', 0x1d, 1, 0, 0, 0, 0x21, 2, 0, 0, 0, 0, 0, 0, 0];
        let fields: Vec<_> = Fields(&message).collect();
        let expected = [
            (1, Value::Number(150)),
            (2, Value::Bytes(b"hi")),
            (3, Value::Number(1)),
            (4, Value::Number(2)),
        ];
        assert_eq!(fields, expected.map(Ok));
        assert_eq!(Fields(&message[..2]).collect::<Vec<_>>(), [Err(Damaged)]);
        assert_eq!(Fields(&[0x12, 9, 1]).next(), Some(Err(Damaged)));
        assert_eq!(Fields(&[0x00, 1]).next(), Some(Err(Damaged)), "no field has number 0");
        assert_eq!(varint(&mut &[0xff; 11][..]), None);
    }
}
