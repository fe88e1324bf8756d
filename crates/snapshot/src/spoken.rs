//! Times that people write in words: `2 hours ago`, `After 3 days:`, `T+6h`, `up 12 days, 3:04`, `On Mon, 4 Mar 2024 ... wrote:`.

use crate::line::count;

const MINUTE_SECONDS: f64 = 60.0;
const HOUR_SECONDS: f64 = 3600.0;
const DAY_SECONDS: f64 = 86_400.0;

/// A line in words has as many of them at most.
const WORDS_MAX: usize = 6;

/// Returns seconds from the moment that a writer starts from: negative before it, as in `2 hours ago`.
pub(crate) fn distance(words: &[&str]) -> Option<f64> {
    let words: Vec<String> = words
        .iter()
        .map(|word| word.trim_matches(|c: char| "#*=:-(),.[]".contains(c)).to_ascii_lowercase())
        .filter(|word| !word.is_empty())
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if words.len() > WORDS_MAX {
        return None;
    }
    match words[..] {
        ["now" | "today"] => Some(0.0),
        ["yesterday"] => Some(-DAY_SECONDS),
        [number, unit, "ago"] => Some(-amount(number, unit)?),
        ["after", number, unit] | ["after", "about", number, unit] => amount(number, unit),
        [number, unit, "later" | "in"] | [number, unit, "after", "boot"] => amount(number, unit),
        [unit @ ("day" | "hour" | "minute" | "week"), number] => amount(number, unit),
        [word] => since(word.strip_prefix("t+")?),
        _ => None,
    }
}

/// Reads `6h` or `90`.
fn since(text: &str) -> Option<f64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    match &text[digits.len()..] {
        "" => Some(count(digits)? as f64),
        unit => amount(digits, unit),
    }
}

fn amount(number: &str, unit: &str) -> Option<f64> {
    let number = match number {
        "a" | "an" | "one" => 1.0,
        "two" => 2.0,
        "three" => 3.0,
        digits => count(digits)? as f64,
    };
    let seconds = match unit {
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => MINUTE_SECONDS,
        "h" | "hr" | "hrs" | "hour" | "hours" => HOUR_SECONDS,
        "d" | "day" | "days" => DAY_SECONDS,
        "week" | "weeks" => 7.0 * DAY_SECONDS,
        _ => return None,
    };
    Some(number * seconds)
}

/// Returns the seconds since the boot that `uptime` prints: `10:00:01 up 12 days, 3:04, 1 user, load average: ...`.
pub(crate) fn uptime(words: &[&str]) -> Option<f64> {
    let at = words.iter().position(|word| *word == "up")?;
    let rest = &words[at + 1..];
    if !rest.iter().any(|word| word.starts_with("user") || *word == "load") {
        return None;
    }
    let mut seconds = 0.0;
    let mut is_told = false;
    let mut words = rest.iter().map(|word| word.trim_end_matches(',')).peekable();
    while let Some(word) = words.next() {
        let next = words.peek().copied();
        let told = match (word.split_once(':'), next) {
            (Some((hours, minutes)), _) => {
                Some(count(hours)? as f64 * HOUR_SECONDS + count(minutes)? as f64 * MINUTE_SECONDS)
            }
            (None, Some(unit)) => amount(word, unit).inspect(|_| _ = words.next()),
            (None, None) => None,
        };
        let Some(told) = told else { break };
        seconds += told;
        is_told = true;
    }
    is_told.then_some(seconds)
}

/// Returns the words of the date with which a mailer says when what it quotes was written, without its commas.
pub(crate) fn attribution(line: &str) -> Option<String> {
    let rest = line.strip_prefix("On ")?;
    if !rest.trim_end().ends_with(':') {
        return None;
    }
    let words = rest.split(' ').map(|word| word.trim_end_matches(','));
    let words: Vec<&str> = words.filter(|word| *word != "at").take(8).collect();
    Some(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_words_are_distances() {
        let of = |line: &str| distance(&line.split(' ').collect::<Vec<_>>());
        for (line, seconds) in [
            ("Now:", Some(0.0)),
            ("== 2 hours ago ==", Some(-7200.0)),
            ("An hour ago", Some(-3600.0)),
            ("After 3 days:", Some(259_200.0)),
            ("T+6h", Some(21_600.0)),
            ("Day 3", Some(259_200.0)),
            ("30 minutes later", Some(1800.0)),
            ("After the test", None),
            ("dentry 1 2", None),
            ("day", None),
        ] {
            assert_eq!(of(line), seconds, "{line}");
        }
    }

    #[test]
    fn uptime_is_read_in_all_its_forms() {
        let of = |line: &str| uptime(&line.split(' ').collect::<Vec<_>>());
        let days = 12.0 * DAY_SECONDS;
        for (line, seconds) in [
            ("10:00:01 up 12 days, 3:04, 1 user, load average: 0.1", Some(days + 11_040.0)),
            ("10:00:01 up 12 days, 5 min, 2 users, load average: 0.1", Some(days + 300.0)),
            ("10:00:01 up 10 min, 1 user, load average: 0.1", Some(600.0)),
            ("10:00:01 up 3:04, 1 user, load average: 0.1", Some(11_040.0)),
            ("give up 3 times", None),
        ] {
            assert_eq!(of(line), seconds, "{line}");
        }
    }
}
