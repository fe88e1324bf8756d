//! One value of a table, and how people and programs read it.

use std::cmp::Ordering;

use crate::unit::{human, short, thousands};

/// A value with its unit: people see `12.3 MiB`, programs `12897484`.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A name
    Text(String),
    /// A number of things
    Count(u64),
    /// A number of bytes
    Bytes(u64),
    /// A number of bytes more or less
    SignedBytes(i64),
    /// A number of bytes before and after a change
    BytesChange(u64, u64),
    /// A number of things before and after a change
    CountChange(u64, u64),
    /// A difference of two shares, in percentage points
    Points(f64),
    /// A share, 1.0 being all
    Share(f64),
    /// How much more or less something is, as a share of the compared value
    Change(f64),
    /// A time in nanoseconds
    Ns(u64),
    /// A plain number, shown with this many decimals
    Number(f64, usize),
    /// A number in a unit that only the result knows
    Quantity(f64, String),
    /// No value
    Missing,
}

impl Cell {
    /// Makes a text cell.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Makes a share of `part` in `whole`; missing when the whole is zero.
    pub fn share(part: u64, whole: u64) -> Self {
        if whole == 0 { Self::Missing } else { Self::Share(part as f64 / whole as f64) }
    }

    /// Returns the cell for a terminal, whose columns an eye scans: with three figures.
    pub fn short(&self) -> String {
        self.words(short)
    }

    /// Returns the cell for a page: with four figures.
    pub(crate) fn human(&self) -> String {
        self.words(human)
    }

    fn words(&self, scaled: fn(f64, &str) -> String) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(n) => thousands(*n),
            Self::Bytes(n) => scaled(*n as f64, "B"),
            Self::SignedBytes(n) => scaled(*n as f64, "B"),
            Self::BytesChange(from, to) => change(*from, *to, |n| scaled(n as f64, "B")),
            Self::CountChange(from, to) => change(*from, *to, thousands),
            Self::Points(points) => format!("{points:+.1} pt"),
            Self::Share(share) => format!("{:.1} %", share * 100.0),
            Self::Change(share) => format!("{:+.1} %", share * 100.0),
            Self::Ns(ns) => scaled(*ns as f64, "ns"),
            Self::Number(number, decimals) => format!("{number:.decimals$}"),
            Self::Quantity(number, unit) => human(*number, unit),
            Self::Missing => "-".to_owned(),
        }
    }

    /// Returns the cell as programs read it: no unit, no grouping; empty when there is no value.
    pub fn machine(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(n) | Self::Bytes(n) | Self::Ns(n) => n.to_string(),
            Self::SignedBytes(n) => n.to_string(),
            Self::BytesChange(from, to) | Self::CountChange(from, to) => {
                (i128::from(*to) - i128::from(*from)).to_string()
            }
            Self::Points(points) => format!("{points:.4}"),
            Self::Share(share) | Self::Change(share) => format!("{share:.6}"),
            Self::Number(number, decimals) => format!("{number:.decimals$}"),
            Self::Quantity(number, _) => number.to_string(),
            Self::Missing => String::new(),
        }
    }

    /// Returns the number that a page sorts by, unless the shown text does.
    pub(crate) fn key(&self) -> Option<f64> {
        match self {
            Self::Text(_) | Self::Missing => None,
            Self::Share(x) | Self::Change(x) | Self::Quantity(x, _) | Self::Number(x, _) => {
                Some(*x)
            }
            number => number.machine().parse().ok(),
        }
    }
}

/// Formats a change as `-12.0 KiB (-3.1 %)`.
fn change(from: u64, to: u64, format: impl Fn(u64) -> String) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_units_and_programs_read_numbers() {
        let cell = Cell::Bytes(12_897_484);
        assert_eq!((cell.short().as_str(), cell.machine().as_str()), ("12.3 MiB", "12897484"));
        assert_eq!((cell.human().as_str(), cell.key()), ("12.30 MiB", Some(12_897_484.0)));
        assert_eq!(Cell::Count(1_234_567).short(), "1,234,567");
        assert_eq!(Cell::SignedBytes(-2048).short(), "-2.00 KiB");
        let change = Cell::BytesChange(4096, 2048);
        assert_eq!(
            (change.short(), change.machine()),
            ("-2.00 KiB (-50.0 %)".into(), "-2048".into())
        );
        assert_eq!(Cell::CountChange(0, 5).short(), "+5");
        assert_eq!(Cell::share(1, 0), Cell::Missing);
        assert_eq!(Cell::share(1, 8).short(), "12.5 %");
        assert_eq!((Cell::Missing.machine(), Cell::Missing.key()), (String::new(), None));
    }
}
