//! Dates with a time of day, as `date` and loggers write them in the languages whose `date` names the months by letters.
//!
//! # How it works
//! A month that is a word tells what the other numbers are. Of numbers alone `2026-11-23` and `23.11.2026` are read so; of
//! `23/11/2026` and `11/23/2026` only what is no date in the other order, or has AM or PM beside it, as where the month
//! stands first. What could be either is not taken for a time.

/// A date, with the time of day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Date {
    /// Seconds since 1970, or of a leap year where no year is told
    pub(crate) seconds: f64,
    pub(crate) has_year: bool,
}

/// The begins of the names of the months: English, German, French, Spanish, Italian, Portuguese, Dutch, Polish and Russian.
const MONTHS: [&[&str]; 12] = [
    &["jan", "ene", "gen", "sty", "\u{44f}\u{43d}\u{432}"],
    &["feb", "f\u{e9}v", "fev", "lut", "\u{444}\u{435}\u{432}"],
    &["mar", "m\u{e4}r", "mrt", "maa", "\u{43c}\u{430}\u{440}"],
    &["apr", "avr", "abr", "kwi", "\u{430}\u{43f}\u{440}"],
    &["may", "mai", "mag", "mei", "maj", "\u{43c}\u{430}\u{439}", "\u{43c}\u{430}\u{44f}"],
    &["jun", "juin", "giu", "cze", "\u{438}\u{44e}\u{43d}"],
    &["jul", "juil", "lug", "lip", "\u{438}\u{44e}\u{43b}"],
    &["aug", "ao\u{fb}", "aou", "ago", "sie", "\u{430}\u{432}\u{433}"],
    &["sep", "set", "wrz", "\u{441}\u{435}\u{43d}"],
    &["oct", "okt", "ott", "out", "pa\u{17a}", "\u{43e}\u{43a}\u{442}"],
    &["nov", "lis", "\u{43d}\u{43e}\u{44f}"],
    &["dec", "d\u{e9}c", "dez", "dic", "gru", "\u{434}\u{435}\u{43a}"],
];
/// Names of months have no more letters.
const MONTH_CHARS_MAX: usize = 10;
const DAY_SECONDS: f64 = 86_400.0;
/// A leap year has every day.
const LEAP_YEAR: i64 = 1972;

/// Returns the date at the begin of a line.
pub(crate) fn read(words: &[&str]) -> Option<Date> {
    let first = *words.first()?;
    if let Some(date) = of_numbers(first, words) {
        return Some(date);
    }
    if let Some(date) = of_signs(words) {
        return Some(date);
    }
    // The name of a day is a word before the day or the month.
    let is_day_name = is_weekday(first)
        || first.chars().all(|c| c.is_alphabetic() || matches!(c, '.' | ','))
            && words.get(1).is_some_and(|day| day_of_month(day).is_some())
            && words.get(2).is_some_and(|month| place(month).is_some());
    of_words(&words[usize::from(is_day_name)..])
}

/// Returns whether a word begins as a day's name, in English.
pub(crate) fn is_weekday(word: &str) -> bool {
    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].iter().any(|day| word.starts_with(day))
}

/// Reads `2026-03-03T04:00:01Z`, `2026-03-03 04:00:01`, `20260303-040001`, `03.03.2026 04:00`, and dates of three numbers between
/// slashes.
fn of_numbers(first: &str, words: &[&str]) -> Option<Date> {
    let first = first.trim_start_matches('[').trim_end_matches([',', ';']);
    let compact = first.replace(['-', '_', 'T'], "");
    if compact.trim_end_matches('Z').len() == 14 && is_number(compact.trim_end_matches('Z')) {
        let part = |from: usize, to: usize| compact[from..to].parse::<i64>().ok();
        let time = format!("{}:{}:{}", &compact[8..10], &compact[10..12], &compact[12..14]);
        return dated(part(0, 4)?, part(4, 6)?, part(6, 8)?, &time);
    }
    let (date, time) = match first.split_once('T') {
        Some((date, time)) => (date, time),
        None => (first, *words.get(1)?),
    };
    if date.len() == 8 && is_number(date) {
        let part = |from: usize, to: usize| date[from..to].parse::<i64>().ok();
        return dated(part(0, 4)?, part(4, 6)?, part(6, 8)?, time);
    }
    let separator = date.find(['-', '/', '.']).map(|at| &date[at..=at])?;
    let parts: Vec<&str> = date.split(separator).collect();
    let [a, b, c] = parts[..] else { return None };
    let [first, second, third] = [a, b, c].map(|part| part.parse::<i64>().ok());
    let (first, second, third) = (first?, second?, third?);
    if a.len() == 4 {
        return dated(first, second, third, time);
    }
    let year = match c.len() {
        4 => third,
        2 if separator == "/" => 2000 + third,
        _ => return None,
    };
    let has_half = words.iter().take(4).any(|word| {
        word.trim_end_matches(',').eq_ignore_ascii_case("am")
            || word.trim_end_matches(',').eq_ignore_ascii_case("pm")
    });
    match separator {
        "." => dated(year, second, first, time),
        "/" if first > 12 => dated(year, second, first, time),
        "/" if second > 12 || has_half => dated(year, first, second, time),
        _ => None,
    }
}

/// Reads `2026\u{5e74} 11\u{6708} 29\u{65e5} ... 07:09:44`, of Chinese and Japanese.
fn of_signs(words: &[&str]) -> Option<Date> {
    const SIGNS: [char; 3] = ['\u{5e74}', '\u{6708}', '\u{65e5}'];
    let line = words.join(" ");
    let mut rest = &line[..];
    let mut numbers = [0; 3];
    for (number, sign) in numbers.iter_mut().zip(SIGNS) {
        let (digits, behind) = rest.split_once(sign)?;
        *number = digits.trim().parse().ok()?;
        rest = behind;
    }
    let time = rest.split(' ').find(|word| word.contains(':'))?;
    dated(numbers[0], numbers[1], numbers[2], time)
}

/// Reads a date whose month is a word: `Mar 3 04:15:10`, `3. Mar 04:15:10 UTC 2026`, `3 Mar 2026 04:15:10`, and
/// `Mar 3, 2026 04:15:10`.
fn of_words(words: &[&str]) -> Option<Date> {
    let (month, day) = match words {
        [day, month, ..] if place(month).is_some() && day_of_month(day).is_some() => (month, day),
        [month, day, ..] => (month, day),
        _ => return None,
    };
    let (month, day) = (place(month)?, day_of_month(day)?);
    let is_year = |word: &&str| {
        let word = word.trim_end_matches([',', ')', ']']);
        word.len() == 4 && is_number(word)
    };
    let (time, year) = match &words[2..] {
        [year, time, ..] if is_year(year) && time.contains(':') => (time, Some(year)),
        [time, rest @ ..] => (time, rest.iter().take(3).find(|word| is_year(word))),
        _ => return None,
    };
    let year = year.and_then(|year| year.trim_end_matches([',', ')', ']']).parse().ok());
    let date = dated(year.unwrap_or(LEAP_YEAR), month, day, time)?;
    Some(Date { has_year: year.is_some(), ..date })
}

fn dated(year: i64, month: i64, day: i64, time: &str) -> Option<Date> {
    if !(1970..=9999).contains(&year) {
        return None;
    }
    let seconds = days(year, month, day)? * DAY_SECONDS + time_of_day(time)?;
    Some(Date { seconds, has_year: true })
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads `3`, `3.` and `3,`.
fn day_of_month(word: &str) -> Option<i64> {
    let digits = word.trim_end_matches(['.', ',']);
    (digits.len() <= 2 && is_number(digits)).then(|| digits.parse().ok()).flatten()
}

/// Returns the number of a month, from 1.
fn place(word: &str) -> Option<i64> {
    let word = word.to_lowercase();
    let word = word.trim_end_matches(['.', ',']);
    let is_name = |begin: &&str| word.starts_with(*begin);
    let is_word = word.chars().all(char::is_alphabetic) && word.chars().count() <= MONTH_CHARS_MAX;
    let at = MONTHS.iter().position(|names| names.iter().any(is_name));
    at.filter(|_| is_word).map(|at| at as i64 + 1)
}

/// Reads `04:00:01`, with a fraction or a zone behind.
pub(crate) fn time_of_day(text: &str) -> Option<f64> {
    let text = text.trim_end_matches([']', ',', 'Z']);
    let text = text.split(['+', '-']).next()?;
    let mut parts = text.split(':');
    let mut number = || parts.next()?.replace(',', ".").parse::<f64>().ok();
    let (hours, minutes) = (number()?, number()?);
    let seconds = number().unwrap_or(0.0);
    let is_time = (0.0..24.0).contains(&hours)
        && (0.0..60.0).contains(&minutes)
        && (0.0..=60.0).contains(&seconds);
    is_time.then_some(hours * 3600.0 + minutes * 60.0 + seconds)
}

/// Returns the days from 1970 to a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> Option<f64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years that begin in March have the leap day at their end.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400);
    Some((365 * y + leap_days + (153 * m + 2) / 5 + day - 1 - 719_468) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(line: &str) -> Option<f64> {
        read(&line.split(' ').collect::<Vec<_>>()).map(|date| date.seconds)
    }

    #[test]
    fn dates_are_read_in_the_languages_of_date() {
        // 29 November 2026, 07:09:44.
        let time = 1_795_936_184.0;
        for line in [
            "Sun Nov 29 07:09:44 UTC 2026",
            "So 29. Nov 07:09:44 UTC 2026",
            "dim. 29 nov. 2026 07:09:44 UTC",
            "dom 29 nov 2026, 07:09:44, UTC",
            "niedz., 29 lis 2026, 07:09:44 UTC",
            "\u{412}\u{441} 29 \u{43d}\u{43e}\u{44f} 2026 07:09:44 UTC",
            "2026\u{5e74} 11\u{6708} 29\u{65e5} \u{65e5}\u{66dc}\u{65e5} 07:09:44 UTC",
            "29.11.2026 07:09:44",
            "29/11/2026 07:09:44",
            "11/29/2026 07:09:44 AM",
            "11/29/26 07:09:44",
            "2026.11.29 07:09:44",
            "2026-11-29T07:09:44",
            "20261129-070944",
            "20261129T070944Z",
            "20261129 07:09:44",
            "Nov 29, 2026 07:09:44",
        ] {
            assert_eq!(seconds(line), Some(time), "{line}");
        }
    }

    #[test]
    fn a_date_that_could_be_two_is_none() {
        for none in
            ["03/11/2026 10:00:00", "3/4/26 10:00", "5 out of 3", "dentry 1 2 3", "1.2.3 04:05"]
        {
            assert_eq!(seconds(none), None, "{none}");
        }
        assert!(seconds("03/11/2026 10:00:00 PM").is_some());
    }
}
