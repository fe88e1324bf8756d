//! Numbers in the form in which people read them, the only formatter of the tool. It scales them to a unit that fits, with
//! four figures in pages and sentences ([`human`]), and three in tables of text, whose columns an eye scans ([`short`]).

/// A unit that suits a range of values: its divisor and its name.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitScale {
    /// Divide a value by this
    pub divisor: f64,
    /// and write this behind it
    pub unit: String,
}

const BYTES: [(f64, &str); 5] = [
    (1.0, "B"),
    (1024.0, "KiB"),
    (1_048_576.0, "MiB"),
    (1_073_741_824.0, "GiB"),
    (1_099_511_627_776.0, "TiB"),
];
const KIBIBYTES: [(f64, &str); 3] = [(1.0, "KiB"), (1024.0, "MiB"), (1_048_576.0, "GiB")];
const SECONDS: [(f64, &str); 4] = [(1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s")];
const NANOSECONDS: [(f64, &str); 4] = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];

/// From here on the digits of a number claim more precision than it has.
const WHOLE_MAX: f64 = 1e15;

impl UnitScale {
    /// Returns the scale for values up to `largest` in `unit`; an unknown unit stays as it is.
    pub fn fit(unit: &str, largest: f64) -> Self {
        let steps: &[(f64, &str)] = match unit {
            "B" | "bytes" => &BYTES,
            "KiB" => &KIBIBYTES,
            "s" => &SECONDS,
            "ns" => &NANOSECONDS,
            _ => return Self { divisor: 1.0, unit: unit.to_owned() },
        };
        let largest = largest.abs();
        let fitting = steps.iter().rev().find(|(size, _)| largest >= *size);
        let (divisor, unit) = *fitting.unwrap_or(&steps[0]);
        Self { divisor, unit: unit.to_owned() }
    }

    /// Returns an axis label: the quantity with its unit.
    pub fn label(&self, quantity: &str) -> String {
        if self.unit.is_empty() {
            quantity.to_owned()
        } else {
            format!("{quantity} ({})", self.unit)
        }
    }
}

/// Returns `value` in `unit` as people read it: `133.2 ms`, `12.4 MiB`, `1,204`.
pub fn human(value: f64, unit: &str) -> String {
    let scale = UnitScale::fit(unit, value);
    let number = figures(value / scale.divisor);
    if scale.unit.is_empty() { number } else { format!("{number} {}", scale.unit) }
}

/// Returns `value` in `unit` with three figures, for tables of text: `12.3 MiB`, `1.00 KiB`, `999 ns`.
pub fn short(value: f64, unit: &str) -> String {
    let scale = UnitScale::fit(unit, value);
    let number = value / scale.divisor;
    let decimals = match number.abs() {
        _ if scale.divisor == 1.0 && value == value.trunc() => 0,
        size if size < 10.0 => 2,
        _ => 1,
    };
    format!("{number:.decimals$} {}", scale.unit).trim_end().to_owned()
}

/// Returns a count with a comma every three digits.
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns how many there are of a thing, whose plural ends in "s": `1 CPU`, `2 CPUs`.
pub fn counted(count: u64, thing: &str) -> String {
    format!("{} {thing}{}", thousands(count), if count == 1 { "" } else { "s" })
}

/// Returns `value` with four figures at least, whole numbers whole and grouped by three.
pub(crate) fn figures(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let size = value.abs();
    if value == value.trunc() && size < WHOLE_MAX {
        return grouped(value as i64);
    }
    match size {
        s if s >= WHOLE_MAX => format!("{value:.3e}"),
        s if s >= 1000.0 => grouped(value.round() as i64),
        s if s >= 100.0 => format!("{value:.1}"),
        s if s >= 10.0 => format!("{value:.2}"),
        s if s >= 1.0 => format!("{value:.3}"),
        s if s >= 1e-3 => format!("{value:.4}"),
        _ => format!("{value:.2e}"),
    }
}

fn grouped(value: i64) -> String {
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{}", thousands(value.unsigned_abs()))
}

/// Returns a tick of an axis that spans `span`: as many decimals as tell neighbours apart.
pub(crate) fn tick(value: f64, span: f64) -> String {
    let value = if value.abs() < span * 1e-9 { 0.0 } else { value };
    match span {
        s if s >= WHOLE_MAX => format!("{value:.2e}"),
        s if s > 20.0 => grouped(value.round() as i64),
        s if s > 2.0 => format!("{value:.1}"),
        s if s > 0.2 => format!("{value:.2}"),
        s if s > 0.02 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_say_them() {
        assert_eq!(human(0.1332, "s"), "133.2 ms");
        assert_eq!(human(13_000_000.0, "B"), "12.40 MiB");
        assert_eq!(human(1_204.0, ""), "1,204");
        assert_eq!(human(-2048.0, "B"), "-2 KiB");
        assert_eq!(human(0.0, "s"), "0 ns");
        assert_eq!(human(5e9, "ns"), "5 s");
        assert_eq!(human(6144.0, "KiB"), "6 MiB");
        assert_eq!(human(31.5, "cycles"), "31.50 cycles");
    }

    /// They used to be printed as 9,223,372,036,854,775,807.
    #[test]
    fn numbers_beyond_64_bits_are_not_cut() {
        assert_eq!(human(4.5e307, ""), "4.500e307");
        assert_eq!(human(-1e20, ""), "-1.000e20");
        assert_eq!(human(2e15, "B"), "1,819 TiB");
        assert_eq!(tick(1e300, 1e300), "1.00e300");
    }

    #[test]
    fn tables_of_text_have_three_figures() {
        assert_eq!((short(1023.0, "B"), short(1024.0, "B")), ("1023 B".into(), "1.00 KiB".into()));
        assert_eq!(
            (short(999.0, "ns"), short(12_345.0, "ns")),
            ("999 ns".into(), "12.3 µs".into())
        );
        assert_eq!(short(u64::MAX as f64, "B"), "16777216.0 TiB");
        assert_eq!((thousands(123), thousands(1_234_567)), ("123".into(), "1,234,567".into()));
    }

    #[test]
    fn labels_name_the_unit() {
        assert_eq!(UnitScale::fit("B", 3e6).label("memory held"), "memory held (MiB)");
        assert_eq!(UnitScale::fit("", 3e6).label("probes"), "probes");
    }
}
