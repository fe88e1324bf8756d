//! Plain English in comments, helps and messages: sentences of at most 35 words, and none of the turns of a list.
//!
//! # How it works
//! Prose is what comments say, without headings, tables and code, and what strings of six words and more say. It is cut into
//! sentences, and each offence counts for its crate. `tests/english-debt.txt` has the counts of what was written before this
//! was a rule; they may only shrink. `SLABLAB_BLESS=1 cargo test -p slablab-tests --test tidy` lowers them, and raises none.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use slablab_tests::root;

const WORDS_MAX: usize = 35;
/// Strings of fewer words are names, formats and fragments.
const STRING_WORDS_MIN: usize = 6;
/// Turns that a reader has to take apart: inverted clauses, negated nouns, and what points outside the repository.
const BANNED: [&str; 14] = [
    "so many",
    "nobody",
    "no one",
    "of which",
    "is no ",
    "are no ",
    "no more than",
    "no less than",
    "came of",
    "comes of it",
    "whosever",
    " as asked",
    "the issue ",
    "the seed's",
];
/// Plain English that has a banned turn in it.
const ALLOWED: [&str; 3] = ["there is no ", "there are no ", "is no longer "];
const DEBT: &str = "tests/english-debt.txt";

/// Offences of a crate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Debt {
    long: usize,
    banned: usize,
}

/// Returns the sentences of a Rust source's comments and strings, each with the number of its last line.
fn sentences(source: &str) -> Vec<(usize, String)> {
    let (mut found, mut paragraph) = (Vec::new(), String::new());
    let mut is_code = false;
    let mut string: Option<String> = None;
    for (number, line) in source.lines().enumerate() {
        let code = line.trim();
        let comment =
            code.strip_prefix("//").map(|rest| rest.trim_start_matches(['/', '!']).trim());
        match (comment, &mut string) {
            (Some(text), None) => {
                is_code ^= text.starts_with("```");
                let is_prose =
                    !is_code && !text.starts_with(['#', '|', '`', '+']) && !text.is_empty();
                if !is_prose || text.starts_with(['*', '-']) {
                    end(&mut paragraph, number, &mut found);
                }
                if is_prose {
                    paragraph.push_str(text.trim_start_matches(['*', '-', ' ']));
                    paragraph.push(' ');
                }
            }
            _ => {
                is_code = false;
                end(&mut paragraph, number, &mut found);
                strings(line, &mut string, number, &mut found);
            }
        }
    }
    end(&mut paragraph, source.lines().count(), &mut found);
    found
}

/// Cuts a paragraph into sentences, and empties it.
fn end(paragraph: &mut String, line: usize, found: &mut Vec<(usize, String)>) {
    let mut sentence = String::new();
    for word in paragraph.split_whitespace() {
        sentence.push_str(word);
        sentence.push(' ');
        let word = word.trim_end_matches([')', '"', '*', '_']);
        // "e.g." and initials end no sentence.
        if word.ends_with(['.', '!', '?', ':', ';'])
            && word.len() > 2
            && word.matches('.').count() < 2
        {
            found.push((line, std::mem::take(&mut sentence)));
        }
    }
    if !sentence.is_empty() {
        found.push((line, sentence));
    }
    paragraph.clear();
}

/// Takes the string literals of a line; `open` is one that goes on from the line before.
fn strings(line: &str, open: &mut Option<String>, number: usize, found: &mut Vec<(usize, String)>) {
    let mut chars = line.chars().peekable();
    if open.is_some() {
        while chars.next_if(|c| c.is_whitespace()).is_some() {}
    }
    while let Some(c) = chars.next() {
        match (c, open.as_mut()) {
            ('\'', None) => {
                // A quotation mark as a character begins no string.
                let _ = chars.next_if_eq(&'\\');
                let _ = chars.next_if_eq(&'"');
            }
            ('/', None) if chars.peek() == Some(&'/') => return,
            ('"', None) => *open = Some(String::new()),
            ('"', Some(_)) => {
                let text = open.take().unwrap_or_default();
                if text.split_whitespace().count() >= STRING_WORDS_MIN {
                    for part in text.split("\\n") {
                        end(&mut part.to_owned(), number, found);
                    }
                }
            }
            ('\\', Some(text)) => match chars.next() {
                Some('n') => text.push_str("\\n"),
                Some(other) => text.push(other),
                None => {}
            },
            (c, Some(text)) => text.push(c),
            _ => {}
        }
    }
    if let Some(text) = open {
        text.push(' ');
    }
}

/// Returns what is wrong with a sentence; names between backquotes have no turns.
fn offences(sentence: &str) -> Debt {
    let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
    let words = sentence.split_whitespace().filter(is_word).count();
    let prose: String = sentence.split('`').step_by(2).collect::<Vec<_>>().join("`");
    let plain = ALLOWED
        .iter()
        .fold(format!(" {} ", prose.to_lowercase()), |text, turn| text.replace(turn, " "));
    let banned = BANNED.iter().map(|turn| plain.matches(turn).count()).sum();
    Debt { long: usize::from(words > WORDS_MAX), banned }
}

/// Returns the crate that a source belongs to.
fn owner(path: &Path) -> Option<String> {
    let mut parts = path.iter().filter_map(|part| part.to_str());
    match parts.next()? {
        "crates" => Some(parts.next()?.to_owned()),
        "tests" => Some("tests".to_owned()),
        _ => None,
    }
}

fn parse(text: &str) -> BTreeMap<String, Debt> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &str| {
        let [name, long, banned] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            return None;
        };
        Some((name.to_owned(), Debt { long: long.parse().ok()?, banned: banned.parse().ok()? }))
    };
    lines.map(|line| row(line).unwrap_or_else(|| panic!("{DEBT}: {line}"))).collect()
}

/// Returns the crates with more offences than listed, and the list with what became less.
fn compare(
    listed: &BTreeMap<String, Debt>,
    counted: &BTreeMap<String, Debt>,
) -> (Vec<String>, BTreeMap<String, Debt>) {
    let (mut more, mut lower) = (Vec::new(), BTreeMap::new());
    for (name, now) in counted {
        let old = listed.get(name).copied().unwrap_or_default();
        if now.long > old.long {
            more.push(format!(
                "{name}: {} sentences of more than {WORDS_MAX} words, {} before",
                now.long, old.long
            ));
        }
        if now.banned > old.banned {
            more.push(format!("{name}: {} banned turns, {} before", now.banned, old.banned));
        }
        let least = Debt { long: now.long.min(old.long), banned: now.banned.min(old.banned) };
        if least != Debt::default() {
            lower.insert(name.clone(), least);
        }
    }
    (more, lower)
}

#[test]
fn english_stays_plain() {
    let mut counted: BTreeMap<String, Debt> = BTreeMap::new();
    let mut places = String::new();
    for (path, text) in super::sources(&["rs"]) {
        // This file lists the turns, and plants some.
        let Some(name) = owner(&path).filter(|_| !path.ends_with("tidy/english.rs")) else {
            continue;
        };
        let debt = counted.entry(name).or_default();
        for (line, sentence) in sentences(&text) {
            let found = offences(&sentence);
            debt.long += found.long;
            debt.banned += found.banned;
            if found != Debt::default() {
                let _ = writeln!(places, "{}:{line}: {}", path.display(), sentence.trim());
            }
        }
    }
    let written = root().join("target/english.txt");
    let _ = fs::write(&written, places);
    let file = root().join(DEBT);
    let text = fs::read_to_string(&file).expect("the list of debts is in the repository");
    let (more, lower) = compare(&parse(&text), &counted);
    if std::env::var_os("SLABLAB_BLESS").is_some() {
        let head = text.lines().filter(|line| line.starts_with('#'));
        let rows = lower.iter().map(|(name, debt)| format!("{name} {} {}", debt.long, debt.banned));
        let lines: Vec<String> = head.map(str::to_owned).chain(rows).collect();
        fs::write(&file, lines.join("\n") + "\n").expect("the list can be written");
    }
    super::none(&more, "short sentences in plain words; target/english.txt has each offence");
}

#[test]
fn a_long_sentence_and_a_banned_turn_are_found() {
    let long = "word ".repeat(WORDS_MAX + 1);
    let source = [
        format!("//! One. {long}end.\n//!\n//! | {long} |\n//! ```\n//! {long}\n//! ```"),
        "/// Nobody looks at\n/// the slab; it was asked.\nfn f() {".to_owned(),
        "    say(\"A file of which there is no other, \\".to_owned(),
        "         and which is no folder\"); // so many\n}\n".to_owned(),
    ];
    let source = source.join("\n");
    let found: Vec<Debt> =
        sentences(&source).iter().map(|(_, sentence)| offences(sentence)).collect();
    let sum = found.iter().fold(Debt::default(), |sum, one| Debt {
        long: sum.long + one.long,
        banned: sum.banned + one.banned,
    });
    assert_eq!(sum, Debt { long: 1, banned: 3 }, "{:?}", sentences(&source));
    assert_eq!(offences(&"word ".repeat(WORDS_MAX)), Debt::default());
    assert_eq!(offences("The user `nobody` builds."), Debt::default());
}

#[test]
fn debts_of_english_only_shrink() {
    let debts = |long, banned| BTreeMap::from([("kmem".to_owned(), Debt { long, banned })]);
    let (more, lower) = compare(&debts(5, 5), &debts(4, 6));
    assert_eq!(more, ["kmem: 6 banned turns, 5 before"]);
    assert_eq!(lower, debts(4, 5));
    let (more, lower) = compare(&BTreeMap::new(), &debts(1, 0));
    assert_eq!((more.len(), lower.len()), (1, 0), "a new crate begins without debts");
    let (more, lower) = compare(&debts(3, 3), &BTreeMap::new());
    assert_eq!((more.len(), lower.len()), (0, 0), "a crate that is gone has none");
}
