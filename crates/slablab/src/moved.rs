//! What a command or option that is called otherwise now is called.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Commands and options that were renamed: the words of the command, the word that is unknown, and what to type.
const MOVED: &[(&str, &str, &str)] = &[
    ("advise", "--tune", "slablab tune TRACE"),
    ("advise", "--max-locks", "slablab tune TRACE --max-locks +N%"),
    ("advise", "--least", "slablab tune TRACE --least WHEN"),
    ("advise", "--apply-script", "slablab tune TRACE --apply-script FILE"),
    ("advise", "--memory", "slablab fit TRACE --memory SIZE"),
    ("advise", "--classes", "slablab classes TRACE --further K"),
    ("advise", "--patch", "slablab patch TRACE SITE"),
    ("whatif", "--partition", "slablab partition TRACE --by BY"),
    ("replay", "--csv", "slablab replay TRACE --show totals|sites|caches|series --format csv"),
    ("replay", "--timed", "slablab lab run hackbench --engine user --input TRACE"),
    ("replay", "--threads", "slablab lab run hackbench --engine user --input TRACE"),
];

/// Returns what `error` should say instead, if a word of `words`, which are the command line, is an old spelling.
pub(crate) fn instead(error: &clap::Error, words: &[String]) -> Option<String> {
    let kind = match error.kind() {
        ErrorKind::UnknownArgument => ContextKind::InvalidArg,
        ErrorKind::InvalidSubcommand => ContextKind::InvalidSubcommand,
        _ => return None,
    };
    let Some(ContextValue::String(unknown)) = error.get(kind) else { return None };
    let commands = words.iter().skip(1).take_while(|word| !word.starts_with('-'));
    let command = commands.map(String::as_str).collect::<Vec<_>>().join(" ");
    let is_of = |of: &str| command == of || command.starts_with(&format!("{of} "));
    let (of, option, now) = MOVED.iter().find(|(of, option, _)| is_of(of) && unknown == *option)?;
    Some(format!("{of} {option} is now: {now}"))
}
