//! The edits that give a structure a cache of its own, and the letter that has them.

use std::fmt::Write;

use crate::boot::early_caller;
use crate::diff::{Diff, Edit, unified};
use crate::error::{Error, Result};
use crate::file::CFile;
use crate::kbuild::{Built, built};
use crate::site::Site;
use crate::token::Kind;
use crate::tree::Tree;
use crate::types::definition;
use crate::uses::Uses;

/// Columns after which code goes on in the next line.
const COLUMNS: usize = 80;
/// Columns of a message.
const MESSAGE_COLUMNS: usize = 72;

/// A patch that gives the objects of an allocation a cache of their own.
#[derive(Debug, Clone)]
pub struct CachePatch {
    /// The allocation
    pub site: Site,
    /// Other uses of the structure
    pub uses: Uses,
    /// The variable that holds the cache
    pub cachep: String,
    /// The change
    pub diff: Diff,
    /// The edits that it is made of
    pub edits: Vec<Edit>,
}

impl CachePatch {
    /// Makes the patch; `flags` is the C text of the cache's flags.
    ///
    /// # Errors
    ///
    /// If the file can be a part of a module, or only some configurations have the allocation. If it runs before the cache is
    /// made, or wants memory that a cache does not give. If parts of the object are copied from or to user space.
    pub fn new(tree: &Tree, site: Site, flags: &str) -> Result<Self> {
        check_file(tree, &site)?;
        check_call(tree, &site)?;
        let uses = Uses::of(tree, &site)?;
        let refuse = |why: String| Err(Error::unclear(site.at.to_string(), why));
        if let Some(cache) = uses.caches.first() {
            return refuse(format!(
                "struct {} has a cache already, made at {cache}",
                site.structure
            ));
        }
        if let Some(copy) = uses.copied.first() {
            return refuse(format!(
                "{copy} copies a part of struct {} from or to user space: its cache needs KMEM_CACHE_USERCOPY() with that member",
                site.structure
            ));
        }
        let names = Names::of(tree, &site)?;
        let mut edits = vec![names.call(&site)];
        edits.extend(names.head(&site)?);
        edits.push(names.init(&site, flags));
        for free in uses.frees.iter().filter(|free| free.is_converted) {
            let text = format!("kmem_cache_free({}, ", names.cachep);
            edits.push(Edit { at: free.range.clone(), text });
        }
        edits.sort_by_key(|edit| edit.at.start);
        let diff = unified(&site.file.path, &site.file.text, &edits);
        Ok(Self { cachep: names.cachep, site, uses, diff, edits })
    }
}

/// Refuses files that no patch of this form suits.
fn check_file(tree: &Tree, site: &Site) -> Result<()> {
    let file = &site.file;
    let refuse = |place: String, why: String| Err(Error::unclear(place, why));
    if !file.path.ends_with(".c") {
        return refuse(site.at.to_string(), "a header has no place for a cache".into());
    }
    if !file.is_utf8 || file.text.contains('\r') {
        return refuse(file.path.clone(), "its letters or line ends do not survive a mail".into());
    }
    match built(tree, &file.path) {
        Built::In => Ok(()),
        Built::Module(option) => {
            let option = match option.is_empty() {
                true => "obj-m".to_owned(),
                false => format!("CONFIG_{option}"),
            };
            refuse(
                file.path.clone(),
                format!(
                    "the file can be a part of a module ({option}), whose init and exit functions make and destroy its cache"
                ),
            )
        }
        Built::Unknown => match (0..file.tokens.len()).find(|at| is_of_module(file, *at)) {
            Some(at) => refuse(
                file.place(at),
                format!(
                    "the file can be a module ({}), whose init and exit functions make and destroy its cache",
                    file.word(at)
                ),
            ),
            None => refuse(
                file.path.clone(),
                "no Makefile names it: another file may include it, or a module have it".into(),
            ),
        },
    }
}

/// Returns whether a token is a macro that makes a file a module, if its Makefile does.
fn is_of_module(file: &CFile, at: usize) -> bool {
    let word = file.word(at);
    let is_macro = matches!(word, "module_init" | "module_exit")
        || word.starts_with("module_") && word.ends_with("_driver");
    is_macro && file.is_name(at) && file.word(at + 1) == "(" && file.function_at(at).is_none()
}

/// Refuses allocations that a cache does not serve.
fn check_call(tree: &Tree, site: &Site) -> Result<()> {
    let refuse = |why: String| Err(Error::unclear(site.at.to_string(), why));
    let file = &site.file;
    if file.conditions(site.call.at) > 0 {
        return refuse(
            "the allocation stands in an #if: another configuration has another one, or none"
                .into(),
        );
    }
    if (site.call.at..site.call.end).any(|at| file.directive(at).is_some()) {
        return refuse("the allocation has an #if in it".into());
    }
    let gfp = site.gfp().unwrap_or_default();
    if let Some(flag) = ["DMA", "RECLAIMABLE"].iter().find(|flag| gfp.contains(*flag)) {
        return Err(Error::unsuitable(
            site.at.to_string(),
            format!("it asks for memory of a kind (__GFP_{flag}) that the flags of a cache decide"),
        ));
    }
    let header = || tree.defining(&site.structure, &file.path);
    if definition(file, &site.structure).is_none() && header().is_none() {
        return refuse(format!("no header defines struct {}", site.structure));
    }
    if let Some(early) = early_caller(tree, file, &site.function)? {
        return refuse(format!(
            "{early} may allocate one during the boot before initcalls run, when there is no cache yet"
        ));
    }
    Ok(())
}

/// The names of a patch, which the source does not have yet.
struct Names {
    cachep: String,
    init: String,
}

impl Names {
    fn of(tree: &Tree, site: &Site) -> Result<Self> {
        let structure = &site.structure;
        let free = |name: &dyn Fn(&str) -> String| -> Result<String> {
            for suffix in ["", "_own", "_own2", "_own3"] {
                let name = name(suffix);
                let is_header = |path: &str| {
                    path.ends_with(".h")
                        && (path.starts_with("include/") || path.starts_with("arch/"))
                };
                let is_in_file = (0..site.file.tokens.len()).any(|at| site.file.word(at) == name);
                if !is_in_file && tree.containing(&[name.as_str()], is_header)?.is_empty() {
                    return Ok(name);
                }
            }
            Err(Error::unclear(site.at.to_string(), "all names for the cache are taken"))
        };
        Ok(Self {
            cachep: free(&|suffix| format!("{structure}{suffix}_cachep"))?,
            init: free(&|suffix| format!("{structure}{suffix}_cache_init"))?,
        })
    }

    /// Returns the edit of the allocation.
    fn call(&self, site: &Site) -> Edit {
        let (file, call) = (&site.file, &site.call);
        let mut gfp = site.gfp().unwrap_or("GFP_KERNEL").to_owned();
        if call.what.adds_zero {
            gfp += " | __GFP_ZERO";
        }
        let mut arguments = vec![self.cachep.clone(), gfp];
        arguments.extend(call.arguments.iter().skip(2).map(|one| file.source(one).to_owned()));
        let at =
            file.tokens[call.at].at.start..file.tokens[call.end.min(file.tokens.len() - 1)].at.end;
        let line = file.text[..at.start].rfind('\n').map_or(0, |end| end + 1);
        let before = columns(&file.text[line..at.start]);
        let behind = file.text[at.end..].lines().next().unwrap_or_default().chars().count();
        Edit {
            text: broken(before, &format!("{}(", call.what.with_cache), &arguments, &(")", behind)),
            at,
        }
    }

    /// Returns the edits at the top of the file.
    fn head(&self, site: &Site) -> Result<Vec<Edit>> {
        let file = &site.file;
        let top = includes(file);
        let Some(last) = top.last() else {
            return Err(Error::unclear(
                file.path.clone(),
                "it has no #include outside of an #if, behind which the cache can stand",
            ));
        };
        let behind = |at: usize| {
            let end = file.tokens[at].at.end;
            file.text[end..].find('\n').map_or(file.text.len(), |line| end + line + 1)
        };
        let at = behind(*last);
        let is_blank = file.text[at..].starts_with('\n');
        let mut text = format!("\nstatic struct kmem_cache *{} __ro_after_init;\n", self.cachep);
        if !is_blank {
            text.push('\n');
        }
        let has_slab = (0..file.tokens.len()).any(|at| is_include(file, at, "<linux/slab.h>"));
        if has_slab {
            return Ok(vec![Edit { at: at..at, text }]);
        }
        let slab = "#include <linux/slab.h>\n";
        let linux = top.iter().rev().find(|at| is_include(file, **at, "<linux/")).unwrap_or(last);
        match behind(*linux) == at {
            true => Ok(vec![Edit { at: at..at, text: format!("{slab}{text}") }]),
            false => {
                let linux = behind(*linux);
                Ok(vec![
                    Edit { at: linux..linux, text: slab.to_owned() },
                    Edit { at: at..at, text },
                ])
            }
        }
    }

    /// Returns the edit at the end of the file.
    fn init(&self, site: &Site, flags: &str) -> Edit {
        let Self { cachep, init } = self;
        let end = site.file.text.len();
        let arguments = [site.structure.clone(), flags.to_owned()];
        let create = broken(8, &format!("{cachep} = KMEM_CACHE("), &arguments, &(");", 0));
        let text = format!(
            "\nstatic int __init {init}(void)\n{{\n\t{create}\n\treturn 0;\n}}\ncore_initcall({init});\n"
        );
        // One blank line stands before it.
        let text = match &site.file.text {
            all if all.ends_with("\n\n") => text[1..].to_owned(),
            all if all.ends_with('\n') => text,
            _ => format!("\n{text}"),
        };
        Edit { at: end..end, text }
    }
}

/// Returns the columns that a text takes from the beginning of a line.
fn columns(text: &str) -> usize {
    text.chars().fold(0, |at, c| if c == '\t' { (at / 8 + 1) * 8 } else { at + 1 })
}

/// Returns a call; arguments that do not fit in the line stand below the first. `end` is its end, and the columns behind it.
fn broken(before: usize, head: &str, arguments: &[String], end: &(&str, usize)) -> String {
    let whole = format!("{head}{}{}", arguments.join(", "), end.0);
    if before + whole.chars().count() + end.1 <= COLUMNS || arguments.len() < 2 {
        return whole;
    }
    let column = before + head.chars().count();
    let indent = format!("{}{}", "\t".repeat(column / 8), " ".repeat(column % 8));
    format!("{head}{},\n{indent}{}{}", arguments[0], arguments[1..].join(", "), end.0)
}

fn is_include(file: &CFile, at: usize, what: &str) -> bool {
    let rest = file.directive(at).and_then(|line| line.strip_prefix("include"));
    rest.is_some_and(|rest| rest.trim_start().starts_with(what))
}

/// Returns the `#include`s that every configuration has before the first line of code.
fn includes(file: &CFile) -> Vec<usize> {
    let first_function = file.functions.first().map_or(file.tokens.len(), |one| one.name_at);
    let (mut open, mut found) = (0usize, Vec::new());
    for at in 0..first_function {
        let Some(line) = file.directive(at) else {
            // Code ends the block, if there was one.
            if file.tokens[at].kind != Kind::Directive && !found.is_empty() {
                break;
            }
            continue;
        };
        if line.starts_with("if") {
            open += 1;
        } else if line.starts_with("endif") {
            open = open.saturating_sub(1);
        } else if open == 0 && is_include(file, at, "") {
            found.push(at);
        }
    }
    found
}

/// A letter with a patch, as `git am` takes it.
#[derive(Debug, Clone, Default)]
pub struct Letter {
    /// Name and address
    pub author: String,
    /// When, in seconds of Unix
    pub seconds: u64,
    /// The first line
    pub subject: String,
    /// Paragraphs of the message; what begins with a blank is not broken into lines
    pub message: Vec<String>,
    /// Paragraphs that do not become a part of the commit
    pub remarks: Vec<String>,
}

impl Letter {
    /// Returns the text with a diff.
    #[must_use]
    pub fn text(&self, diff: &Diff) -> String {
        let mut text = format!(
            "From {:040} Mon Sep 17 00:00:00 2001\nFrom: {}\nDate: {}\nSubject: [PATCH] {}\n\n",
            0,
            self.author,
            date(self.seconds),
            self.subject
        );
        let all = |text: &mut String, paragraphs: &[String]| {
            for (i, paragraph) in paragraphs.iter().enumerate() {
                let gap = if i > 0 { "\n" } else { "" };
                _ = writeln!(text, "{gap}{}", wrapped(paragraph));
            }
        };
        all(&mut text, &self.message);
        text += "---\n";
        all(&mut text, &self.remarks);
        if !self.remarks.is_empty() {
            text.push('\n');
        }
        let Diff { path, added, removed, text: diff } = diff;
        let lines = added + removed;
        let sign = |count: usize, sign: &str| sign.repeat(count.min(20));
        _ = writeln!(text, " {path} | {lines} {}{}", sign(*added, "+"), sign(*removed, "-"));
        let many = |count: usize, what: &str, sign: &str| {
            let end = if count == 1 { "" } else { "s" };
            format!(", {count} {what}{end}({sign})")
        };
        let some = |count: &usize, what: &str, sign: &str| {
            if *count > 0 { many(*count, what, sign) } else { String::new() }
        };
        _ = writeln!(
            text,
            " 1 file changed{}{}\n",
            some(added, "insertion", "+"),
            some(removed, "deletion", "-")
        );
        text + diff + "-- \nslablab\n"
    }
}

/// Breaks a paragraph into lines; lines that begin with a blank stay.
fn wrapped(paragraph: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in paragraph.lines() {
        if line.starts_with(' ') {
            lines.push(line.to_owned());
            continue;
        }
        let mut current = String::new();
        for word in line.split_whitespace() {
            if !current.is_empty()
                && current.chars().count() + 1 + word.chars().count() > MESSAGE_COLUMNS
            {
                lines.push(std::mem::take(&mut current));
            }
            if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(word);
        }
        lines.push(current);
    }
    lines.join("\n")
}

/// Returns a time as letters have it, in UTC.
fn date(seconds: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (days, of_day) = (seconds / 86400, seconds % 86400);
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let (mut year, mut left) = (1970, days);
    while left >= 365 + u64::from(is_leap(year)) {
        left -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let mut month = 0;
    for length in [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if left < length {
            break;
        }
        left -= length;
        month += 1;
    }
    let (day, month) = (DAYS[(days % 7) as usize], MONTHS[month]);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{day}, {} {month} {year} {hour:02}:{minute:02}:{second:02} +0000", left + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::Wanted;
    use std::fs;

    const MAKE: &str = "struct a { int x; };\nstruct a *make(void)\n{\n\treturn kzalloc(sizeof(struct a), GFP_KERNEL);\n}\n";

    fn patch(text: &str, more: &[(&str, &str)]) -> Result<CachePatch> {
        let folder = tempfile::tempdir().unwrap();
        let files =
            [("include/linux/slab.h", ""), ("fs/a.c", text), ("fs/Makefile", "obj-y += a.o\n")];
        for (path, text) in files.iter().chain(more) {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let tree = Tree::open(folder.path()).unwrap();
        let site = Site::find(&tree, &Wanted { symbol: "make", place: None, is_size: &|_| None })?;
        CachePatch::new(&tree, site, "SLAB_PANIC")
    }

    #[test]
    fn the_cache_stands_behind_the_includes_and_slab_h_is_added() {
        let text = format!(
            "/* a */\n#include <linux/fs.h>\n#include \"a.h\"\n#ifdef B\n#include \"b.h\"\n#endif\n{MAKE}"
        );
        let diff = patch(&text, &[]).unwrap().diff.text;
        let head = " #include <linux/fs.h>\n+#include <linux/slab.h>\n #include \"a.h\"\n+\n\
            +static struct kmem_cache *a_cachep __ro_after_init;\n+\n #ifdef B\n";
        assert!(diff.contains(head), "{diff}");
        assert!(diff.contains("+\treturn kmem_cache_zalloc(a_cachep, GFP_KERNEL);\n"), "{diff}");
    }

    #[test]
    fn flags_stay_as_they_are_and_names_are_free_ones() {
        for (call, expected) in [
            (
                "kmalloc(sizeof(struct a), GFP_KERNEL | __GFP_NOWARN)",
                "kmem_cache_alloc(a_cachep, GFP_KERNEL | __GFP_NOWARN)",
            ),
            (
                "kzalloc_node(sizeof(struct a), gfp, node)",
                "kmem_cache_alloc_node(a_cachep, gfp | __GFP_ZERO, node)",
            ),
            ("kzalloc_obj(struct a)", "kmem_cache_zalloc(a_cachep, GFP_KERNEL)"),
        ] {
            let text = format!(
                "#include <linux/slab.h>\n{}",
                MAKE.replace("kzalloc(sizeof(struct a), GFP_KERNEL)", call)
            );
            let diff = patch(&text, &[]).unwrap().diff.text;
            assert!(diff.contains(expected), "{diff}");
        }
        let text = format!("#include <linux/slab.h>\nint a_cachep;\n{MAKE}");
        assert_eq!(patch(&text, &[]).unwrap().cachep, "a_own_cachep");
        let header = [("include/linux/mm.h", "extern struct kmem_cache *a_cachep;\n")];
        let text = format!("#include <linux/slab.h>\n{MAKE}");
        assert_eq!(patch(&text, &header).unwrap().cachep, "a_own_cachep");
    }

    #[test]
    fn what_no_patch_suits_is_refused_with_the_reason() {
        let head = "#include <linux/slab.h>\n";
        for (text, why) in [
            (format!("{head}#ifdef A\n{MAKE}#endif\n"), "stands in an #if"),
            (format!("{head}{}", MAKE.replace("GFP_KERNEL", "GFP_DMA")), "__GFP_DMA"),
            (
                format!("{head}{MAKE}void __init boot(void) {{ make(); }}\n"),
                "during the boot before initcalls",
            ),
            (
                format!("{head}{MAKE}int f(void) {{ c = KMEM_CACHE(a, 0); }}\n"),
                "has a cache already",
            ),
            (
                format!("{head}{MAKE}int f(struct a *p) {{ copy_to_user(u, p, n); }}\n"),
                "KMEM_CACHE_USERCOPY",
            ),
            (format!("{head}{MAKE}\r\n"), "do not survive a mail"),
            (MAKE.to_owned(), "no #include outside of an #if"),
        ] {
            let error = patch(&text, &[]).unwrap_err().to_string();
            assert!(error.contains(why), "{why} in {error}");
        }
        let text = format!("{head}{MAKE}");
        let error = patch(&text, &[("fs/Makefile", "obj-m += a.o\n")]).unwrap_err().to_string();
        assert!(error.contains("part of a module (obj-m)"), "{error}");
        for (more, why) in [
            ("module_init(f);\n", "can be a module (module_init)"),
            ("module_pci_driver(f);\n", "can be a module (module_pci_driver)"),
            ("", "no Makefile names it"),
        ] {
            let other = [("fs/Makefile", "obj-y += b.o\n")];
            let error = patch(&format!("{text}{more}"), &other).unwrap_err().to_string();
            assert!(error.contains(why), "{why} in {error}");
        }
        // What a Makefile always builds in is never a module, whatever it calls.
        assert!(patch(&format!("{text}module_init(f);\n"), &[]).is_ok());
    }

    #[test]
    fn a_letter_has_lines_of_72_columns_and_a_date() {
        let text = format!("#include <linux/slab.h>\n{MAKE}");
        let patch = patch(&text, &[]).unwrap();
        let letter = Letter {
            author: "A <a@example.org>".into(),
            seconds: 1_709_210_096,
            subject: "fs/a: give struct a a cache of its own".into(),
            message: vec!["word ".repeat(40), "places:\n  fs/a.c:1".into()],
            remarks: vec!["A remark.".into()],
        };
        let text = letter.text(&patch.diff);
        let head = "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\n\
            Date: Thu, 29 Feb 2024 12:34:56 +0000\nSubject: [PATCH] fs/a: give struct a a cache of its own\n\nword word";
        assert!(text.starts_with(head), "{text}");
        assert!(text.lines().take(12).all(|line| line.len() <= 72), "{text}");
        let stat = "\n  fs/a.c:1\n---\nA remark.\n\n fs/a.c | 12 +++++++++++-\n 1 file changed, 11 insertions(+), \
            1 deletion(-)\n\ndiff ";
        assert!(text.contains(stat), "{text}");
    }
}
