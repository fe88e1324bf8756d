//! One value of a table, and how people and programs read it.

use std::cmp::Ordering;

use slablab_report::{short, thousands};

/// A value with its unit: people see `12.3 MiB`, programs `12897484`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    /// A name
    Text(String),
    /// A number of things
    Count(u64),
    /// A number of bytes
    Bytes(u64),
    /// A number of bytes more or less
    SignedBytes(i64),
    /// What became of a number of bytes
    BytesChange {
        /// Before
        from: u64,
        /// After
        to: u64,
    },
    /// What became of a number of things
    CountChange {
        /// Before
        from: u64,
        /// After
        to: u64,
    },
    /// A difference of two shares, in percentage points
    Points(f64),
    /// A share, 1.0 being all
    Share(f64),
    /// A time in nanoseconds
    Ns(u64),
    /// A plain number, shown with this many decimals
    Number(f64, usize),
    /// Nothing to say
    Missing,
}

impl Cell {
    /// Makes a text cell.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Makes a share of `part` in `whole`; missing when the whole is zero.
    pub(crate) fn share(part: u64, whole: u64) -> Self {
        if whole == 0 { Self::Missing } else { Self::Share(part as f64 / whole as f64) }
    }

    /// Returns the cell as people read it.
    pub(crate) fn human(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(n) => thousands(*n),
            Self::Bytes(n) => bytes(*n),
            Self::SignedBytes(n) if *n < 0 => format!("-{}", bytes(n.unsigned_abs())),
            Self::SignedBytes(n) => bytes(n.unsigned_abs()),
            Self::BytesChange { from, to } => signed(*from, *to, bytes),
            Self::CountChange { from, to } => signed(*from, *to, thousands),
            Self::Points(points) => format!("{points:+.1} pt"),
            Self::Share(share) => format!("{:.1} %", share * 100.0),
            Self::Ns(ns) => duration(*ns),
            Self::Number(number, decimals) => format!("{number:.decimals$}"),
            Self::Missing => "-".into(),
        }
    }

    /// Returns the cell as programs read it: no unit, no grouping; empty when there is no value.
    pub(crate) fn machine(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(n) | Self::Bytes(n) | Self::Ns(n) => n.to_string(),
            Self::SignedBytes(n) => n.to_string(),
            Self::BytesChange { from, to } | Self::CountChange { from, to } => {
                (i128::from(*to) - i128::from(*from)).to_string()
            }
            Self::Points(points) => format!("{points:.4}"),
            Self::Share(share) => format!("{share:.6}"),
            Self::Number(number, decimals) => format!("{number:.decimals$}"),
            Self::Missing => String::new(),
        }
    }
}

/// Formats a change as `-12.0 KiB (-3.1 %)`.
fn signed(from: u64, to: u64, format: fn(u64) -> String) -> String {
    let sign = match to.cmp(&from) {
        Ordering::Less => "-",
        Ordering::Equal => return "0".to_owned(),
        Ordering::Greater => "+",
    };
    let amount = format(from.abs_diff(to));
    match from {
        0 => format!("{sign}{amount}"),
        _ => format!("{sign}{amount} ({:+.1} %)", (to as f64 / from as f64 - 1.0) * 100.0),
    }
}

/// Formats bytes with the largest binary unit that leaves a number of at least 1.
pub(crate) fn bytes(n: u64) -> String {
    short(n as f64, "B")
}

/// Formats a duration with the unit that leaves a number between 1 and 1000.
pub(crate) fn duration(ns: u64) -> String {
    short(ns as f64, "ns")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_units_and_programs_read_numbers() {
        let cell = Cell::Bytes(12_897_484);
        assert_eq!((cell.human().as_str(), cell.machine().as_str()), ("12.3 MiB", "12897484"));
        assert_eq!(Cell::Count(1_234_567).human(), "1,234,567");
        assert_eq!(Cell::Count(123).human(), "123");
        let change = Cell::BytesChange { from: 4096, to: 2048 };
        assert_eq!(
            (change.human(), change.machine()),
            ("-2.00 KiB (-50.0 %)".into(), "-2048".into())
        );
        assert_eq!(Cell::CountChange { from: 0, to: 5 }.human(), "+5");
        assert_eq!(Cell::share(1, 0), Cell::Missing);
        assert_eq!(Cell::share(1, 8).human(), "12.5 %");
        assert_eq!(Cell::Missing.machine(), "");
    }
}
