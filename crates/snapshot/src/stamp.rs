//! Times: what `date`, loggers, the kernel's log and recorders of series write before or between rows.
//!
//! # How it works
//! A time has a [`Clock`]: seconds since 1970, or since the machine booted. Only times of one clock are compared. A zone
//! that is written beside a time, as an offset or by a name that is common, is taken off; a time without one is taken as it
//! stands, since a series is written in one zone.

/// A time, with what it counts from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stamp {
    /// What it counts from
    pub(crate) clock: Clock,
    /// Seconds
    pub(crate) seconds: f64,
}

/// What a time counts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    /// A date with a year
    Date,
    /// A date without a year, or a time of day alone
    Calendar,
    /// The start of the machine
    Boot,
    /// The moment from which a writer counts: `2 hours ago`
    Words,
}

use crate::{date, spoken};

/// Returns the time that a cleaned line tells, which is all of it or stands at its begin.
pub(crate) fn of_line(line: &str) -> Option<Stamp> {
    let quoted = spoken::attribution(line);
    let line = quoted.as_deref().unwrap_or(line);
    let words: Vec<&str> = line.split(' ').take(8).collect();
    let all = || line.split(' ').take(16).collect::<Vec<_>>();
    if let Some(seconds) = words.contains(&"up").then(|| spoken::uptime(&all())).flatten() {
        return Some(Stamp { clock: Clock::Boot, seconds });
    }
    if let Some(seconds) = spoken::distance(&words) {
        return Some(Stamp { clock: Clock::Words, seconds });
    }
    // OSWatcher's `zzz ***Tue Mar 3 04:00:01 UTC 2026`, and `date` after a prompt's echo.
    let words: Vec<&str> = match words.first() {
        Some(&("zzz" | "***" | "date:" | "Date:" | "Time:" | "==" | "===" | "#" | "--")) => {
            words[1..].iter().map(|word| word.trim_matches('*')).collect()
        }
        _ => words,
    };
    // `dmesg -T` writes it in brackets.
    let is_bracketed =
        words.first().is_some_and(|word| word.strip_prefix('[').is_some_and(date::is_weekday));
    let words: Vec<&str> = match is_bracketed {
        true => words.iter().map(|word| word.trim_matches(['[', ']'])).collect(),
        false => words,
    };
    let first = *words.first()?;
    if let Some(seconds) = boot_seconds(&words) {
        return Some(Stamp { clock: Clock::Boot, seconds });
    }
    if let Some(stamp) = clock_time(first) {
        return Some(stamp);
    }
    // `date +%T` alone in its line, and the head of slabratetop.
    if (words.len() == 1 || words[1] == "loadavg:")
        && first.len() == "00:00:00".len()
        && first.split(':').count() == 3
    {
        return Some(Stamp { clock: Clock::Calendar, seconds: date::time_of_day(first)? });
    }
    // `date +%s` alone in its line.
    if words.len() == 1 && first.len() == 10 {
        let seconds: u64 = first.parse().ok()?;
        return Some(Stamp { clock: Clock::Date, seconds: seconds as f64 });
    }
    let date = date::read(&words)?;
    let clock = if date.has_year { Clock::Date } else { Clock::Calendar };
    Some(Stamp { clock, seconds: date.seconds }.beside(&words))
}

impl Stamp {
    /// Takes what stands behind the time: half of the day, and a zone.
    fn beside(self, words: &[&str]) -> Self {
        const DAY_SECONDS: f64 = 86_400.0;
        const HALF_SECONDS: f64 = DAY_SECONDS / 2.0;
        let Some(at) = words.iter().position(|word| word.contains(':') && has_digits(word)) else {
            return self;
        };
        let behind = words[at + 1..].iter().take(2);
        let is = |half: &str| behind.clone().any(|word| word.eq_ignore_ascii_case(half));
        let is_afternoon = self.seconds.rem_euclid(DAY_SECONDS) >= HALF_SECONDS;
        let half = match is_afternoon {
            false if is("PM") => HALF_SECONDS,
            // 12:30 AM is half past midnight.
            true if is("AM") => -HALF_SECONDS,
            _ => 0.0,
        };
        let of_time = words[at].split_once('T').map_or(words[at], |(_, time)| time);
        let offset = of_time.find(['+', '-']).and_then(|sign| offset_seconds(&of_time[sign..]));
        let zone = || behind.clone().find_map(|word| offset_seconds(word).or_else(|| zone(word)));
        let offset = offset.or_else(zone).unwrap_or(0.0);
        Self { seconds: self.seconds + half - offset, ..self }
    }
}

fn has_digits(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit())
}

/// Reads `+0200`, `+02:00` or `+02` as seconds east of Greenwich.
fn offset_seconds(word: &str) -> Option<f64> {
    let sign = if word.starts_with('-') { -1.0 } else { 1.0 };
    let digits = word.strip_prefix(['+', '-'])?.trim_end_matches([']', ',']).replace(':', "");
    let is_offset =
        matches!(digits.len(), 2 | 4) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = |text: &str| text.parse::<f64>().unwrap_or(0.0);
    let minutes = digits.get(2..).map_or(0.0, number);
    is_offset.then(|| sign * (number(&digits[..2]) * 3600.0 + minutes * 60.0))
}

/// Returns the seconds east of Greenwich of a zone that `date` names. Names with several meanings (CST, IST) are left out.
fn zone(word: &str) -> Option<f64> {
    const HOURS: [(&str, f64); 18] = [
        ("UTC", 0.0),
        ("GMT", 0.0),
        ("WET", 0.0),
        ("WEST", 1.0),
        ("BST", 1.0),
        ("CET", 1.0),
        ("CEST", 2.0),
        ("EET", 2.0),
        ("EEST", 3.0),
        ("MSK", 3.0),
        ("EST", -5.0),
        ("EDT", -4.0),
        ("CDT", -5.0),
        ("MST", -7.0),
        ("MDT", -6.0),
        ("PST", -8.0),
        ("PDT", -7.0),
        ("JST", 9.0),
    ];
    HOURS.iter().find(|(name, _)| *name == word).map(|(_, hours)| hours * 3600.0)
}

/// Reads `[ 4411.107000]`, whose bracket and digits may be two words.
fn boot_seconds(words: &[&str]) -> Option<f64> {
    let first = words.first()?.strip_prefix('[')?;
    let digits = if first.is_empty() { *words.get(1)? } else { first };
    let digits = digits.split(']').next()?;
    let (whole, part) = digits.split_once('.')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (is_number(whole) && is_number(part)).then(|| digits.parse().ok()).flatten()
}

/// Reads the clock of the boot that stands behind a date and a host.
pub(crate) fn boot_seconds_within(words: &[&str]) -> Option<f64> {
    const BEFORE_MAX: usize = 6;
    (1..words.len().min(BEFORE_MAX)).find_map(|at| boot_seconds(&words[at..]))
}

/// Reads `[10:45:48]`, as memleak and slabratetop print it.
fn clock_time(first: &str) -> Option<Stamp> {
    let time = first.strip_prefix('[').and_then(|time| time.strip_suffix(']'))?;
    let is_time = time.len() == "00:00:00".len() && time.split(':').count() == 3;
    let seconds = is_time.then(|| date::time_of_day(time))??;
    Some(Stamp { clock: Clock::Calendar, seconds })
}

/// Writes seconds since 1970 as `2026-03-03T04:00:01Z`.
#[must_use]
pub fn iso_time(seconds: u64) -> String {
    let (day, time) = ((seconds / 86_400).cast_signed(), seconds % 86_400);
    // As in `days`: years begin in March.
    let from_march = day + 719_468;
    let era = from_march.div_euclid(146_097);
    let of_era = from_march.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let m = (5 * of_year + 2) / 153;
    let (date, month) = (of_year - (153 * m + 2) / 5 + 1, if m < 10 { m + 3 } else { m - 9 });
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hours, minutes, seconds) = (time / 3600, time / 60 % 60, time % 60);
    format!("{year:04}-{month:02}-{date:02}T{hours:02}:{minutes:02}:{seconds:02}Z")
}

/// Reads a time between moments: `60`, `60s`, `5m`, `1h`, `1d`.
///
/// # Errors
///
/// If it is not such a time, or is 0.
pub fn parse_seconds(text: &str) -> Result<f64, String> {
    let wrong = || "give a time such as 60s, 5m, 1h or 1d".to_owned();
    let (number, unit) = match text.chars().last().ok_or_else(wrong)? {
        's' => (&text[..text.len() - 1], 1.0),
        'm' => (&text[..text.len() - 1], 60.0),
        'h' => (&text[..text.len() - 1], 3600.0),
        'd' => (&text[..text.len() - 1], 86_400.0),
        _ => (text, 1.0),
    };
    let seconds = number.parse::<f64>().map_err(|_| wrong())? * unit;
    if seconds.is_finite() && seconds > 0.0 { Ok(seconds) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(line: &str) -> Option<(Clock, f64)> {
        of_line(line).map(|stamp| (stamp.clock, stamp.seconds))
    }

    #[test]
    fn times_are_read_in_the_forms_that_programs_write() {
        let four = 1_772_510_401.0;
        for date in [
            "Tue Mar 3 04:00:01 UTC 2026",
            "Tue Mar 3 04:00:01 2026",
            "zzz ***Tue Mar 3 04:00:01 UTC 2026",
            "Tue 03 Mar 2026 04:00:01 UTC",
            "2026-03-03 04:00:01",
            "2026-03-03T04:00:01Z",
            "2026-03-03T04:00:01+00:00 box kernel: dentry 1",
            "1772510401",
        ] {
            assert_eq!(seconds(date), Some((Clock::Date, four)), "{date}");
        }
        assert_eq!(seconds("[ 4411.107000] agent").unwrap(), (Clock::Boot, 4411.107));
        assert_eq!(seconds("[4411.5] agent").unwrap(), (Clock::Boot, 4411.5));
        assert_eq!(seconds("[00:01:05] Top 5 stacks").unwrap(), (Clock::Calendar, 65.0));
        let (clock, later) = seconds("Mar 3 04:15:11 box monitor[411]: x").unwrap();
        let (_, earlier) = seconds("Mar 3 04:15:10 box monitor[411]: x").unwrap();
        assert_eq!((clock, later - earlier), (Clock::Calendar, 1.0));
        for none in
            ["dentry 1 2", "", "May the 4th", "2026-13-01 00:00:00", "1", "10:00", "[abc] x"]
        {
            assert_eq!(seconds(none), None, "{none}");
        }
    }

    #[test]
    fn times_are_written_as_they_are_read() {
        assert_eq!(iso_time(1_772_510_401), "2026-03-03T04:00:01Z");
        for time in (0..4_000_000_000).step_by(86_399 * 97) {
            let written = iso_time(time);
            assert_eq!(seconds(&written), Some((Clock::Date, time as f64)), "{written}");
        }
    }

    #[test]
    fn times_between_moments_have_a_unit() {
        assert_eq!(parse_seconds("5m"), Ok(300.0));
        assert_eq!(parse_seconds("60"), Ok(60.0));
        for wrong in ["", "s", "0", "-1s", "1y", "inf", "nan"] {
            assert!(parse_seconds(wrong).is_err(), "{wrong}");
        }
    }
}
