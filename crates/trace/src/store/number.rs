//! The integers of a trace's columns, and what stands for them in a Parquet file.
//!
//! # How it works
//! Parquet stores integers of up to 32 bits in 32 and all others in 64; a note beside the column says how many bits
//! count, and whether there is a sign. Where a column is as our own writer makes it, its integers are what was stored, cut to
//! their width. Another program may have chosen another width, and then each value has to fit.

use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::schema::types::ColumnDescriptor;

/// Which integers a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) bits: i8,
    pub(super) is_signed: bool,
}

impl Form {
    const fn signed(bits: i8) -> Form {
        Form { bits, is_signed: true }
    }

    const fn unsigned(bits: i8) -> Form {
        Form { bits, is_signed: false }
    }

    /// Returns that of a column; `None` where it holds something else.
    pub(super) fn of(column: &ColumnDescriptor) -> Option<Form> {
        let bits = match column.physical_type() {
            Type::INT32 => 32,
            Type::INT64 => 64,
            _ => return None,
        };
        let form = match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Integer(noted)), _) => {
                Form { bits: noted.bit_width, is_signed: noted.is_signed }
            }
            (Some(_), _) => return None,
            (None, ConvertedType::NONE) => Form::signed(bits),
            (None, ConvertedType::INT_8) => Form::signed(8),
            (None, ConvertedType::INT_16) => Form::signed(16),
            (None, ConvertedType::INT_32) => Form::signed(32),
            (None, ConvertedType::INT_64) => Form::signed(64),
            (None, ConvertedType::UINT_8) => Form::unsigned(8),
            (None, ConvertedType::UINT_16) => Form::unsigned(16),
            (None, ConvertedType::UINT_32) => Form::unsigned(32),
            (None, ConvertedType::UINT_64) => Form::unsigned(64),
            (None, _) => return None,
        };
        (form.bits <= bits).then_some(form)
    }

    /// Returns the integer that was stored as `stored`.
    pub(super) fn integer(self, stored: i64) -> i128 {
        match (self.is_signed, self.bits) {
            (true, 8) => (stored as i8).into(),
            (true, 16) => (stored as i16).into(),
            (true, 32) => (stored as i32).into(),
            (true, _) => stored.into(),
            (false, 8) => (stored as u8).into(),
            (false, 16) => (stored as u16).into(),
            (false, 32) => (stored as u32).into(),
            (false, _) => (stored as u64).into(),
        }
    }
}

/// An integer of a trace.
pub(super) trait Number: Copy {
    /// How our own writer stores it
    const FORM: Form;

    /// Returns the one that our own writer stored.
    fn of_own(stored: i64) -> Self;

    /// Returns the one that an integer is; `None` where it does not fit.
    fn of_any(integer: i128) -> Option<Self>;
}

macro_rules! numbers {
    ($($type:ty: $form:expr,)*) => {$(
        impl Number for $type {
            const FORM: Form = $form;

            #[inline]
            fn of_own(stored: i64) -> Self {
                stored as $type
            }

            fn of_any(integer: i128) -> Option<Self> {
                Self::try_from(integer).ok()
            }
        }
    )*};
}

numbers! {
    u8: Form::unsigned(8),
    u16: Form::unsigned(16),
    i16: Form::signed(16),
    u32: Form::unsigned(32),
}

/// Times and sizes have a sign in a file, since Spark knows no unsigned numbers.
impl Number for u64 {
    const FORM: Form = Form::signed(64);

    #[inline]
    fn of_own(stored: i64) -> Self {
        stored as u64
    }

    fn of_any(integer: i128) -> Option<Self> {
        i64::try_from(integer).ok().map(|number| number as u64)
    }
}
