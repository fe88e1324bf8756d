//! The letter with a patch that applies: why, what changes, and what stays as it is.

use std::path::Path;

use slablab_csource::{CachePatch, Free, Freeing, Letter};
use slablab_host::{printable, shell};
use slablab_linux::Release;
use slablab_replay::Advice;
use slablab_report::counted;

use super::patch::{FreeInSource, NAMED_MAX, PatchFacts};
use super::reason::{caveat, reason};

/// From this release on, `kfree()` is documented to free objects of any cache.
pub(crate) const KFREE_OF_ANY: Release = Release(6, 4);

/// The call site that a letter is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// Its name
    pub(crate) name: &'a str,
    /// What it asks for
    pub(crate) bytes: u64,
    /// What a cache of its own does, where that was tried
    pub(crate) advice: Option<&'a Advice>,
}

/// What is known of the source and the author of a letter.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    /// Name and address
    pub(crate) author: String,
    /// When, in seconds of Unix
    pub(crate) seconds: u64,
    /// The release of the source
    pub(crate) release: Release,
}

/// Returns the letter with the patch for advice.
pub(crate) fn letter(
    subject: &Subject<'_>,
    facts: &PatchFacts<'_>,
    patch: &CachePatch,
    origin: &Origin,
) -> String {
    let structure = &patch.site.structure;
    let file = patch.site.at.file.trim_end_matches(".c");
    let letter = Letter {
        author: author(&origin.author),
        seconds: origin.seconds,
        subject: format!("{file}: give struct {structure} a cache of its own"),
        message: message(subject, facts, patch, origin.release),
        remarks: remarks(subject, facts, patch, origin.release),
    };
    letter.text(&patch.diff)
}

/// Returns the frees as programs read them.
pub(crate) fn frees(patch: &CachePatch) -> Vec<FreeInSource> {
    let free = |free: &Free| FreeInSource {
        place: free.at.to_string(),
        function: free.function.clone(),
        call: free.call.clone(),
        converted: free.is_converted,
    };
    patch.uses.frees.iter().map(free).collect()
}

/// Returns an author in one line.
fn author(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

fn message(
    subject: &Subject<'_>,
    facts: &PatchFacts<'_>,
    patch: &CachePatch,
    release: Release,
) -> Vec<String> {
    let CachePatch { site, uses, .. } = patch;
    let structure = &site.structure;
    let allocates =
        format!("{}() allocates struct {structure} from kmalloc's caches.", site.function);
    let recorded =
        facts.release.map_or_else(|| "the kernel".to_owned(), |release| format!("Linux {release}"));
    let mut message = match subject.advice {
        Some(advice) => {
            let leak = caveat(advice).map_or_else(String::new, |caveat| format!(" {caveat}"));
            vec![
                format!("{allocates} {}{leak}", reason(advice)),
                format!(
                    "These figures are predicted by replaying a recording of {recorded} with such a cache."
                ),
            ]
        }
        None => vec![format!(
            "{allocates} Each has {} B. A recording of {recorded} does not show enough of their frees to predict what a \
             cache changes.",
            subject.bytes
        )],
    };
    if let Some(names) = facts.shares_with.as_ref().filter(|_| has_no_merge(facts, release)) {
        let names: Vec<_> = names.iter().take(NAMED_MAX).map(|name| plain(name)).collect();
        message.push(format!(
            "SLAB_NO_MERGE keeps the objects out of the slabs of {}.",
            names.join(", ")
        ));
    }
    if let Some(outer) = &site.inlined_into {
        message.push(format!(
            "The recorded call site is in {outer}(), into which the compiler puts {}().",
            site.function
        ));
    }
    let (converted, kept): (Vec<_>, Vec<_>) = uses.frees.iter().partition(|free| free.is_converted);
    if !converted.is_empty() {
        message.push(format!(
            "kmem_cache_free() takes the place of kfree() where no other object, and no NULL, can \
             come:\n{}",
            places(&converted)
        ));
    }
    if !kept.is_empty() {
        let why = match &uses.unsure {
            Some(why) => format!("not all are known to be of this cache: {why}"),
            None if kept.iter().all(|free| free.how == Freeing::ByRcu) => {
                "kmem_cache_free() does not wait for readers".into()
            }
            None => {
                "they may be given NULL, which kmem_cache_free() does not take, or wait for readers"
                    .into()
            }
        };
        message.push(format!("These frees stay as they are ({why}):\n{}", places(&kept)));
    }
    if converted.is_empty() && kept.is_empty() {
        message.push(format!(
            "No free of a struct {structure} is told by its type; all stay as they are."
        ));
    }
    let of_any = "kfree() and kfree_rcu() free objects of any cache";
    message.push(match release >= KFREE_OF_ANY {
        true => format!("Since Linux {KFREE_OF_ANY} {of_any}."),
        false => format!("With SLAB and SLUB, {of_any}. A kernel with SLOB (CONFIG_SLOB=y) does not take this patch."),
    });
    if !uses.others.is_empty() {
        let others: Vec<_> = uses.others.iter().map(ToString::to_string).collect();
        message.push(format!(
            "Other allocations of the structure stay with kmalloc's caches:\n{}",
            some(&others)
        ));
    }
    message
}

fn remarks(
    subject: &Subject<'_>,
    facts: &PatchFacts<'_>,
    patch: &CachePatch,
    release: Release,
) -> Vec<String> {
    let mut remarks = vec![
        "slablab read the source without a compiler. A core_initcall() makes the cache. No caller was found that allocates \
         before it, but calls by pointer are not followed. Build and boot the kernel, and measure it, before you send this."
            .to_owned(),
    ];
    if let Some(recorded) = facts.release.filter(|recorded| *recorded != release) {
        remarks.push(format!("The source is of Linux {release}; the recording is of {recorded}."));
    }
    let not_told: Vec<_> = patch.uses.not_told.iter().map(ToString::to_string).collect();
    if !not_told.is_empty() {
        remarks.push(format!(
            "{} in files that name the structure, whose argument has no declared type, stay as they are:\n{}",
            counted(not_told.len() as u64, "more free"),
            some(&not_told)
        ));
    }
    let (file, site) = (shell::path(Path::new(&facts.file)), shell::word(subject.name));
    remarks.push(format!(
        "What a cache does to the recorded load:\n  {}",
        printable(&format!("slablab whatif {file} --dedicate {site}"))
    ));
    remarks
}

/// Returns whether the cache is made with `SLAB_NO_MERGE`, which came with Linux 6.5.
pub(crate) fn has_no_merge(facts: &PatchFacts<'_>, release: Release) -> bool {
    facts.shares_with.is_some() && release >= Release(6, 5)
}

/// Lists frees, each in a line.
fn places(frees: &[&Free]) -> String {
    let line =
        |free: &&Free| format!("{} {}(): {}({})", free.at, free.function, free.call, free.argument);
    some(&frees.iter().map(line).collect::<Vec<_>>())
}

/// Lists some lines, indented so that none is broken.
fn some(lines: &[String]) -> String {
    const LINES_MAX: usize = 12;
    let more = lines.len().saturating_sub(LINES_MAX);
    let mut shown: Vec<_> =
        lines[..lines.len() - more].iter().map(|line| format!("  {}", cut(line))).collect();
    if more > 0 {
        shown.push(format!("  and {more} more"));
    }
    shown.join("\n")
}

/// Cuts a line where a letter ends.
fn cut(line: &str) -> String {
    const COLUMNS: usize = 70;
    match line.chars().count() > COLUMNS {
        true => line.chars().take(COLUMNS - 3).chain("...".chars()).collect(),
        false => line.to_owned(),
    }
}

/// Returns the letters of a cache's name that Linux's caches have.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric() || "_-:.".contains(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_becomes_no_line_of_its_own() {
        assert_eq!(author("A\nSubject: x <a@b>"), "ASubject: x <a@b>");
        assert_eq!(plain("a\n---\nb c"), "a---bc");
        assert_eq!(cut(&"x".repeat(90)).chars().count(), 70);
        let all: Vec<_> = (0..20).map(|i| i.to_string()).collect();
        assert!(some(&all).ends_with("  11\n  and 8 more"));
    }
}
