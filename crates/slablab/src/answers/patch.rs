//! A patch that nearly applies: the C code that gives a call site a cache of its own, where no source is at hand.
//!
//! # How it works
//! The trace knows the function, the sizes, the gfp flags and the functions that free the objects; debug information knows
//! the file and the line, BTF the type. Facts that none of them has (the names of variables, the place of the file's init
//! function) are left in plain words to readers who know the file.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;
use slablab_host::{printable, shell};
use slablab_kmem::Gfp;
use slablab_linux::Release;
use slablab_replay::{Advice, Calls, Change, function};
use slablab_report::{Document, Item, Section, Table, counted, field};
use slablab_trace::{Candidate, Link, Place};

use super::reason::{caveat, reason};
use crate::output::Answer;

/// What `slablab patch` answers.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct PatchAnswer {
    pub(crate) site: String,
    pub(crate) patch: String,
    /// Whether `git am` takes it
    pub(crate) applies: bool,
    /// Why it does not, if a source was at hand
    pub(crate) why_not: Option<String>,
    /// The source that it is made for
    pub(crate) source: Option<String>,
    /// The structure that gets a cache, if it applies
    pub(crate) structure: Option<String>,
    /// The frees of that structure in the source
    pub(crate) frees: Vec<FreeInSource>,
    #[serde(flatten)]
    pub(crate) calls: Calls,
    /// Other call sites that were requested, too
    #[serde(skip)]
    pub(crate) others: Vec<String>,
    /// How to get one that applies
    #[serde(skip)]
    pub(crate) remedy: Option<String>,
}

/// A free in the source.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct FreeInSource {
    /// File and line
    pub(crate) place: String,
    pub(crate) function: String,
    /// What frees, such as `kfree_rcu`
    pub(crate) call: String,
    /// Whether it becomes `kmem_cache_free()`
    pub(crate) converted: bool,
}

impl Answer for PatchAnswer {
    const SCHEMA: &'static str = "slablab.patch/1";

    fn document(&self) -> Document {
        let fields = [
            field::name("call site", "site", |patch: &&Self| &patch.site),
            field::name("patch", "patch", |patch| &patch.patch),
        ];
        let others = self.others.first().map(|first| {
            let sites = counted(self.others.len() as u64, "more call site");
            format!("{sites} may be meant, such as {first}: name one to see its patch.")
        });
        let mut lines: Vec<_> = self.patch.lines().map(str::to_owned).collect();
        if let Some(why) = &self.why_not {
            let why = format!(
                "No patch that applies is made, and this is one to adapt. {}",
                printable(why)
            );
            lines.splice(..0, wrapped(&why).lines().map(str::to_owned).chain([String::new()]));
        }
        let boot = self.applies.then(|| {
            "Boot a kernel with it before you send it: who calls the function by pointer was not followed."
                .to_owned()
        });
        Document {
            title: format!("A cache of its own for {}", self.site),
            question: "What does the change look like in the source?".to_owned(),
            sections: vec![
                Section::first("patch", "", vec![Item::Lines(lines)]),
                Section::data("text", "Patch", Table::of(&[self], fields)),
            ],
            notes: others.into_iter().chain(self.remedy.clone()).chain(boot).collect(),
            ..Document::default()
        }
    }

    fn for_a_program(&self) -> Option<&str> {
        self.applies.then_some(&self.patch)
    }
}

/// The facts about the code that a patch changes.
#[derive(Debug, Clone, Default)]
pub(crate) struct PatchFacts<'a> {
    /// The trace's file
    pub(crate) file: String,
    /// Release of the recorded kernel, where it is known
    pub(crate) release: Option<Release>,
    /// Where the call site is in the source
    pub(crate) place: Option<&'a Place>,
    /// How it allocates, and who frees
    pub(crate) calls: Calls,
    /// The structures of the size, the likeliest first; `None` without BTF of the recorded kernel
    pub(crate) types: Option<Vec<Candidate>>,
    /// Names of the cache with which the recorded kernel would merge the new one
    pub(crate) shares_with: Option<Vec<String>>,
}

impl PatchFacts<'_> {
    /// Returns the C text of the cache's flags; a module must not panic.
    pub(crate) fn flags(&self, is_module: bool) -> String {
        let flags: Vec<_> = [
            (!is_module, "SLAB_PANIC"),
            (self.calls.is_accounted(), "SLAB_ACCOUNT"),
            (self.shares_with.is_some(), "SLAB_NO_MERGE"),
        ]
        .into_iter()
        .filter_map(|(is_needed, flag)| is_needed.then_some(flag))
        .collect();
        if flags.is_empty() { "0".to_owned() } else { flags.join(" | ") }
    }

    /// Returns them with names that end no line: what others recorded must not become lines of a patch.
    fn in_lines(&self) -> Self {
        let mut facts = self.clone();
        facts.calls.freed_by.iter_mut().for_each(|count| clean(&mut count.site));
        for Candidate { name, link } in facts.types.iter_mut().flatten() {
            clean(name);
            if let Link::Member(member) = link {
                clean(member);
            }
        }
        facts.shares_with.iter_mut().flatten().for_each(clean);
        facts
    }
}

fn in_lines(advice: &Advice) -> Advice {
    let mut advice = advice.clone();
    clean(&mut advice.subject);
    advice
}

fn clean(name: &mut String) {
    *name = printable(name).into_owned();
}

/// The number of structures, or of functions that free, that are named.
pub(super) const NAMED_MAX: usize = 5;

/// Returns the text of a patch for advice on a call site; `None` for advice on a size class.
pub(crate) fn skeleton(advice: &Advice, facts: &PatchFacts<'_>) -> Option<String> {
    let (Change::Dedicate { cache }, subject) = (&advice.change, &advice.subject) else {
        return None;
    };
    let (advice, facts) = (&in_lines(advice), &facts.in_lines());
    let patch = Skeleton { advice, facts, cachep: format!("{}_cachep", c_name(cache)), cache };
    let mut text = patch.head();
    text += &patch.diff();
    text += &patch.notes();
    let (file, site) = (shell::path(Path::new(&facts.file)), shell::word(subject));
    _ = write!(text, "\nTry it: slablab whatif {file} --dedicate {site}\n");
    Some(text)
}

struct Skeleton<'a> {
    advice: &'a Advice,
    facts: &'a PatchFacts<'a>,
    cache: &'a str,
    /// The variable that holds the new cache
    cachep: String,
}

impl Skeleton<'_> {
    /// Returns flags as the source of the recorded kernel has them.
    fn gfp_text(&self, gfp: u32) -> String {
        Gfp(gfp).text(self.facts.release)
    }

    fn is_module(&self) -> bool {
        self.advice.subject.ends_with(']')
    }

    /// Returns the structure that is allocated, if the function is linked with one.
    fn structure(&self) -> Option<&Candidate> {
        self.facts.types.as_ref()?.first().filter(|first| first.link != Link::Size)
    }

    /// Returns the reason for the patch, and the facts about the code.
    fn head(&self) -> String {
        let Advice { subject, object_bytes, class_bytes, live_peak, profile, .. } = self.advice;
        let kept = profile.keeps(self.advice.allocs).then(|| caveat(self.advice)).flatten();
        let mut text = format!(
            "Give the objects that {subject} allocates a cache of their own\n\n{}\n\n",
            wrapped(
                &[Some(reason(self.advice)), kept]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join(" ")
            )
        );
        let mut line = |name: &str, what: String| _ = writeln!(text, "{name:<10}{what}");
        if let Some(place) = self.facts.place {
            let at = place.line.map_or_else(String::new, |line| format!(":{line}"));
            let [file, function] = [&place.file, &place.function].map(|name| printable(name));
            line("Where", format!("{file}{at}, in {function}()"));
        }
        let sizes = profile.sizes.len() as u64 + profile.allocs_of_other_sizes.min(1);
        let most = if sizes > 1 { " at most" } else { "" };
        line(
            "Size",
            format!(
                "{object_bytes} bytes{most}, today from kmalloc's class of {class_bytes} bytes; {live_peak} of them lived at once"
            ),
        );
        line("Type", self.type_line());
        line("Flags", self.flags_line());
        line("Freed", self.freed_line());
        if let Some(names) = &self.facts.shares_with {
            let names = some(names.iter().map(String::as_str));
            line(
                "Merging",
                format!(
                    "without SLAB_NO_MERGE (6.5 and later) it would share the slabs of {names}"
                ),
            );
        }
        text.push('\n');
        text
    }

    fn type_line(&self) -> String {
        let bytes = self.advice.object_bytes;
        let function = function(&self.advice.subject);
        let Some(types) = &self.facts.types else {
            return "not known: there is no BTF of the recorded kernel here (--vmlinux FILE names one)".to_owned();
        };
        match types.first() {
            None => format!(
                "no structure has {bytes} bytes: an array, or a structure with one at its end"
            ),
            Some(Candidate { name, link }) => match link {
                Link::Returned => {
                    format!("struct {name}: {function}() returns one, and it has {bytes} bytes")
                }
                Link::Taken => format!(
                    "struct {name}, likely: {function}() takes one, and it has {bytes} bytes"
                ),
                Link::Member(member) => {
                    format!("struct {name}, likely: {member} is one, and it has {bytes} bytes")
                }
                Link::Size => format!(
                    "none that {function}() returns, takes or reaches has {bytes} bytes; of that size are {}",
                    some(types.iter().map(|one| one.name.as_str()))
                ),
            },
        }
    }

    fn flags_line(&self) -> String {
        let counts = &self.facts.calls.gfp;
        let all: u64 = counts.iter().map(|count| count.allocs).sum();
        let Some(first) = counts.first() else { return "not known".to_owned() };
        let mut text = self.gfp_text(first.gfp);
        if counts.len() > 1 {
            _ = write!(text, " in {} of the calls", percent(first.allocs, all));
            let others = counts[1..].iter().map(|count| self.gfp_text(count.gfp));
            let others: Vec<_> = others.collect();
            _ = write!(text, "; else {}", some(others.iter().map(String::as_str)));
        }
        let is_other = |flag: Gfp| {
            counts.iter().any(|count| (count.gfp & flag.0 != 0) != (first.gfp & flag.0 != 0))
        };
        if is_other(Gfp::ACCOUNT) {
            text += ". Only some are charged to a memory cgroup: SLAB_ACCOUNT would charge all";
        }
        if is_other(Gfp::ZERO) {
            text += ". Only some are cleared: keep both calls";
        }
        text
    }

    fn freed_line(&self) -> String {
        let Calls { freed_by, freed_unseen, .. } = &self.facts.calls;
        let all = freed_by.iter().map(|count| count.frees).sum::<u64>() + freed_unseen;
        if all == 0 {
            return "not while the trace was recorded: look for kfree() yourself".to_owned();
        }
        let by =
            freed_by.iter().map(|count| format!("{} ({})", count.site, percent(count.frees, all)));
        let by: Vec<_> = by.collect();
        let mut text = match by.is_empty() {
            true => "by no function that was seen".to_owned(),
            false => format!("by {}", some(by.iter().map(String::as_str))),
        };
        if *freed_unseen > 0 {
            _ = write!(
                text,
                "; {} unseen, as bulk and kfree_rcu() frees are",
                percent(*freed_unseen, all)
            );
        }
        text
    }

    fn diff(&self) -> String {
        let Self { advice, facts, cache, cachep } = self;
        let function =
            facts.place.map_or_else(|| function(&advice.subject), |place| &place.function);
        let function = printable(function);
        let file = printable(facts.place.map_or("FILE.c", |place| &place.file));
        let (once, init) = match self.is_module() {
            true => ("", "the module's init function (return -ENOMEM if it is NULL)"),
            false => (" __ro_after_init", "an init function of the file that runs before"),
        };
        let flags = facts.flags(self.is_module());
        // A number would overflow with the next object, if the size came from outside.
        let size = match self.structure() {
            Some(one) => format!("sizeof(struct {})", one.name),
            None => "sizeof(*item)".to_owned(),
        };
        let create = match self.structure() {
            Some(one) => format!("KMEM_CACHE({}, {flags})", one.name),
            None => {
                format!("kmem_cache_create(\"{}\", {size}, 0, {flags}, NULL)", c_name(cache))
            }
        };
        let usual = facts.calls.usual_gfp().0;
        let kmalloc_gfp = self.gfp_text(usual & !Gfp::ZERO.0);
        let gfp = self.gfp_text(usual & !Gfp::ZERO.0 & !Gfp::ACCOUNT.0);
        let (before, after) = match usual & Gfp::ZERO.0 != 0 {
            true => ("kzalloc", "kmem_cache_zalloc"),
            false => ("kmalloc", "kmem_cache_alloc"),
        };
        let mut text = format!(
            "\
--- a/{file}
+++ b/{file}
@@ near the top, beside the file's other static data @@
+static struct kmem_cache *{cachep}{once};
+
@@ in {init} @@
+\t{cachep} = {create};
@@ in {function}() @@
-\titem = {before}({size}, {kmalloc_gfp});
+\titem = {after}({cachep}, {gfp});
"
        );
        text += &self.frees();
        if self.is_module() {
            _ = write!(
                text,
                "@@ in the module's exit function, after the last free (rcu_barrier() first if by RCU) @@\n\
                 +\tkmem_cache_destroy({cachep});\n"
            );
        }
        text
    }

    /// Returns the functions that free, without those that free what `kfree_rcu()` was given, and whether there are such.
    fn freeing(&self) -> (Vec<&str>, bool) {
        fn whole(site: &str) -> &str {
            function(site).split('.').next().unwrap_or_default()
        }
        let mut functions: Vec<&str> = Vec::new();
        let mut is_batched = false;
        // The compiler's part of a function (f.part.0) is that function in the source.
        for name in self.facts.calls.freed_by.iter().map(|count| whole(&count.site)) {
            if is_rcu_batch(name) {
                is_batched = true;
            } else if !functions.contains(&name) && functions.len() < NAMED_MAX {
                functions.push(name);
            }
        }
        (functions, is_batched)
    }

    /// Returns a hunk for each function that frees.
    fn frees(&self) -> String {
        let (functions, is_batched) = self.freeing();
        let hunk = |place: &str| {
            format!("@@ {place} @@\n-\tkfree(item);\n+\tkmem_cache_free({}, item);\n", self.cachep)
        };
        if functions.is_empty() && !is_batched {
            return hunk("wherever such an item is freed");
        }
        functions.iter().map(|name| hunk(&format!("in {name}()"))).collect()
    }

    /// Says what frees by RCU need.
    fn notes(&self) -> String {
        let (functions, is_batched) = self.freeing();
        let mut text = String::new();
        if is_batched {
            text += "\nkfree_rcu() may stay as it is from 6.12 on; before, it becomes a call_rcu() whose callback calls\n\
                     kmem_cache_free().\n";
        }
        if is_batched || functions.iter().any(|name| name.contains("rcu")) {
            text += "\nFrees wait for a grace period, so readers may hold an item under rcu_read_lock(): keep that. With\n\
                     SLAB_TYPESAFE_BY_RCU items could be freed at once, if readers check that what they found is still theirs.\n";
        }
        text
    }
}

/// Returns whether it is a function of RCU that frees what `kfree_rcu()` was given.
fn is_rcu_batch(name: &str) -> bool {
    ["kvfree_rcu", "kfree_rcu", "__rcu_free_sheaf", "rcu_free_sheaf"]
        .iter()
        .any(|start| name.starts_with(start))
}

/// Lists the first names, and how many more there are.
fn some<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(NAMED_MAX);
    let mut text = names.take(NAMED_MAX).collect::<Vec<_>>().join(", ");
    if more > 0 {
        _ = write!(text, " and {more} more");
    }
    text
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.0} %", part as f64 * 100.0 / whole.max(1) as f64)
}

/// Breaks a paragraph into lines as long as those of a commit message.
fn wrapped(text: &str) -> String {
    const COLUMNS: usize = 72;
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let line =
            lines.last_mut().filter(|line| line.is_empty() || line.len() + word.len() < COLUMNS);
        match line {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => _ = write!(line, " {word}"),
            None => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

/// Returns a C identifier that looks like `text`.
fn c_name(text: &str) -> String {
    let name: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let name = name.trim_start_matches(|c: char| c == '_' || c.is_ascii_digit());
    if name.is_empty() { "item".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::reason::tests::advice;
    use slablab_replay::{FreeCount, GfpCount};

    fn text(subject: &str, facts: &PatchFacts<'_>) -> String {
        let change = Change::Dedicate { cache: function(subject).to_owned() };
        let advice = Advice { change, subject: subject.to_owned(), ..advice(100, 8192) };
        skeleton(&advice, facts).unwrap()
    }

    fn frees(sites: &[(&str, u64)]) -> Vec<FreeCount> {
        sites
            .iter()
            .map(|(site, frees)| FreeCount { site: (*site).into(), frees: *frees })
            .collect()
    }

    #[test]
    fn what_is_known_of_the_code_stands_in_the_patch() {
        let eventfd = Candidate { name: "eventfd_ctx".into(), link: Link::Returned };
        let facts = PatchFacts {
            calls: Calls {
                gfp: vec![GfpCount { gfp: 0x40_0dc0, allocs: 9 }],
                freed_by: frees(&[("eventfd_put.part.0+0x1", 6), ("eventfd_drop+0x9", 2)]),
                freed_unseen: 2,
            },
            types: Some(vec![eventfd]),
            shares_with: Some(vec!["vma".into()]),
            ..PatchFacts::default()
        };
        let text = text("do_eventfd+0x34", &facts);
        for part in [
            "struct eventfd_ctx: do_eventfd() returns one, and it has 48 bytes\n",
            "KMEM_CACHE(eventfd_ctx, SLAB_PANIC | SLAB_ACCOUNT | SLAB_NO_MERGE);\n",
            "-\titem = kzalloc(sizeof(struct eventfd_ctx), GFP_KERNEL_ACCOUNT);\n",
            "+\titem = kmem_cache_zalloc(do_eventfd_cachep, GFP_KERNEL);\n",
            "eventfd_put.part.0+0x1 (60 %), eventfd_drop+0x9 (20 %); 20 % unseen",
            "@@ in eventfd_put() @@\n-\tkfree(item);",
            "it would share the slabs of vma\n",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!text.contains("kmem_cache_destroy") && !text.contains("grace period"), "{text}");
    }

    #[test]
    fn a_module_checks_and_destroys_its_cache_and_rcu_is_named() {
        let calls = Calls {
            gfp: vec![GfpCount { gfp: 0x820, allocs: 3 }, GfpCount { gfp: 0x920, allocs: 1 }],
            freed_by: frees(&[("kvfree_rcu_bulk+0x4", 3)]),
            freed_unseen: 0,
        };
        let text = text("f+0x1 [m]", &PatchFacts { calls, ..PatchFacts::default() });
        for part in [
            "there is no BTF of the recorded kernel here",
            "GFP_ATOMIC in 75 % of the calls; else GFP_ATOMIC | __GFP_ZERO. Only some are cleared",
            "kmem_cache_create(\"f\", sizeof(*item), 0, 0, NULL)",
            "-\titem = kmalloc(sizeof(*item), GFP_ATOMIC);\n",
            "the module's init function (return -ENOMEM if it is NULL)",
            "kmem_cache_destroy(f_cachep);\n",
            "kfree_rcu() may stay as it is from 6.12 on",
            "SLAB_TYPESAFE_BY_RCU",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn paragraphs_break_at_72_columns() {
        let text = wrapped(&"word ".repeat(40));
        assert!(text.lines().count() == 3 && text.lines().all(|line| line.len() <= 72), "{text}");
    }
}
