//! An entry whose rest is in the lines below it, and what a logger writes before each of them.

use crate::entry::Entry;
use crate::rows::{Below, Found, Kind};
use crate::stamp::Stamp;

/// An entry whose rest is in the lines below it.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) kind: Kind,
    pub(super) entry: Entry,
    pub(super) stamp: Option<Stamp>,
    /// What a logger writes before each of its lines
    pub(super) lead: Vec<String>,
}

/// Returns the words before a row that opens an entry.
pub(super) fn lead(kind: Kind, words: &[&str]) -> Vec<String> {
    let is_open =
        |words: &[&str]| matches!((kind.reader().read)(words, Below::Nothing), Found::Open(_));
    let at = (0..words.len()).take_while(|at| is_open(&words[*at..])).last().unwrap_or(0);
    words[..at].iter().map(|word| (*word).to_owned()).collect()
}

/// Returns a line without what a logger writes before it, where it begins as the row above did, but for times and numbers.
pub(super) fn without_lead<'a, 'b>(words: &'b [&'a str], lead: &[String]) -> &'b [&'a str] {
    let has_digits = |word: &str| word.bytes().any(|byte| byte.is_ascii_digit());
    let is_alike = |(word, of_row): (&&str, &String)| {
        *word == of_row || has_digits(word) && has_digits(of_row)
    };
    let is_led = words.len() >= lead.len() && words.iter().zip(lead).all(is_alike);
    if is_led { &words[lead.len()..] } else { words }
}
