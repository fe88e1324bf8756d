//! What headers bring along: `include/brings.txt` against Linux's own headers of three versions.
//!
//! # How it works
//! Linux's headers are read for what they include, as a kernel with the usual options has it. From each header that is
//! ours as well, the table has those of ours that it reaches without another of ours between. `SLABLAB_BLESS=1` writes
//! the table anew where all three sources are there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use slablab_tests::module::sources;
use slablab_tests::{root, run};

const VERSIONS: [&str; 3] = ["6.1", "6.12", "7.3"];

/// Where a header is looked up, in a source for x86.
const FOLDERS: [&str; 4] = ["arch/x86/include", "include", "arch/x86/include/uapi", "include/uapi"];

/// Options that distributions set, as far as includes depend on them.
const OPTIONS: [&str; 60] = [
    "SMP",
    "MMU",
    "NUMA",
    "64BIT",
    "X86_64",
    "X86",
    "MODULES",
    "PROC_FS",
    "SYSFS",
    "SLUB",
    "DEBUG_FS",
    "KALLSYMS",
    "PRINTK",
    "BUG",
    "BLOCK",
    "NET",
    "INET",
    "PCI",
    "PM",
    "HOTPLUG_CPU",
    "HIGH_RES_TIMERS",
    "SECURITY",
    "AUDIT",
    "CGROUPS",
    "MEMCG",
    "FUTEX",
    "EPOLL",
    "SYSVIPC",
    "SHMEM",
    "SWAP",
    "COMPACTION",
    "MIGRATION",
    "HUGETLB_PAGE",
    "TRANSPARENT_HUGEPAGE",
    "PERF_EVENTS",
    "TRACEPOINTS",
    "TRACING",
    "EVENT_TRACING",
    "FTRACE",
    "FUNCTION_TRACER",
    "KPROBES",
    "UPROBES",
    "BPF",
    "BPF_SYSCALL",
    "COMPAT",
    "POSIX_TIMERS",
    "TREE_RCU",
    "PREEMPT_RCU",
    "TASKS_RCU_GENERIC",
    "KEYS",
    "USER_NS",
    "UTS_NS",
    "PID_NS",
    "NAMESPACES",
    "STACKTRACE",
    "JUMP_LABEL",
    "DYNAMIC_DEBUG",
    "SPARSEMEM",
    "SPARSEMEM_VMEMMAP",
    "SCHEDSTATS",
];

const HEADING: &str = "\
# What Linux's headers bring along: a header of ours, a colon, and those of ours that it includes there, itself or
# by headers that are not here. Digits behind a name: 1 up to 6.11 (read from 6.1), 2 up to 6.19 (6.12), 3 from 7.0 on
# (7.3). The test insmod_brings.rs compares it with the sources, and writes it with SLABLAB_BLESS=1.
";

/// The headers that modules can include, as the command unpacks them.
fn ours() -> BTreeSet<String> {
    fn walk(folder: &Path, prefix: &str, names: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            if entry.path().is_dir() {
                walk(&entry.path(), &format!("{name}/"), names);
            } else if name.ends_with(".h") && !name.starts_with("kapi/") {
                names.insert(name);
            }
        }
    }
    let mut names = BTreeSet::new();
    let include = slablab_kapi::toolchain::include_folder().expect("the headers can be unpacked");
    walk(&include, "", &mut names);
    names
}

/// A condition of the preprocessor, as far as it can be told from the options.
struct Condition<'t> {
    words: Vec<&'t str>,
    at: usize,
}

impl<'t> Condition<'t> {
    fn holds(text: &'t str) -> bool {
        let mut words = Vec::new();
        let mut rest = text.trim();
        while let Some(first) = rest.chars().next() {
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let len = match first {
                c if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
                '&' | '|' if rest.len() > 1 => 2,
                _ => first.len_utf8(),
            };
            words.push(&rest[..len]);
            rest = rest[len..].trim_start();
        }
        Self { words, at: 0 }.any()
    }

    fn next_is(&mut self, word: &str) -> bool {
        let is = self.words.get(self.at) == Some(&word);
        self.at += usize::from(is);
        is
    }

    fn any(&mut self) -> bool {
        let mut holds = self.all();
        while self.next_is("||") {
            holds |= self.all();
        }
        holds
    }

    fn all(&mut self) -> bool {
        let mut holds = self.one();
        while self.next_is("&&") {
            holds &= self.one();
        }
        holds
    }

    /// A name, a call such as `defined(NAME)`, or a part in parentheses; whatever a comparison says is no.
    fn one(&mut self) -> bool {
        if self.next_is("!") {
            return !self.one();
        }
        if self.next_is("(") {
            let holds = self.any();
            while self.at < self.words.len() && !self.next_is(")") {
                self.at += 1;
            }
            return holds;
        }
        let Some(&word) = self.words.get(self.at) else { return false };
        self.at += 1;
        let call =
            ["defined", "IS_ENABLED", "IS_BUILTIN", "IS_MODULE", "IS_REACHABLE"].contains(&word);
        let holds = if call { self.one() } else { is_set(word) };
        while self.words.get(self.at).is_some_and(|word| !["&&", "||", ")"].contains(word)) {
            self.at += 1;
        }
        holds
    }
}

fn is_set(name: &str) -> bool {
    match name.strip_prefix("CONFIG_") {
        Some(option) => OPTIONS.contains(&option),
        None => name == "__KERNEL__" || name == "1",
    }
}

/// The headers that a text includes, where its conditions hold.
fn includes(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut conditions = Vec::new();
    for line in without_comments(text).lines() {
        let Some(directive) = line.trim().strip_prefix('#') else { continue };
        let directive = directive.trim();
        let end = directive.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(directive.len());
        let (word, rest) = directive.split_at(end);
        match word {
            "if" => conditions.push(Condition::holds(rest)),
            "ifdef" => conditions.push(is_set(rest.trim())),
            "ifndef" => conditions.push(!is_set(rest.trim())),
            "elif" => {
                let before = conditions.pop().unwrap_or(false);
                conditions.push(!before && Condition::holds(rest));
            }
            "else" => {
                let before = conditions.pop().unwrap_or(false);
                conditions.push(!before);
            }
            "endif" => _ = conditions.pop(),
            "include" if conditions.iter().all(|&holds| holds) => {
                let name = rest.trim().strip_prefix('<').and_then(|rest| rest.split_once('>'));
                found.extend(name.map(|(name, _)| name.to_owned()));
            }
            _ => {}
        }
    }
    found
}

fn without_comments(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some((before, after)) = rest.split_once("/*") {
        out += before;
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    out + rest
}

/// A source's headers, each with those that it includes, read when they are asked for.
struct Source<'s> {
    folder: &'s Path,
    read: BTreeMap<String, Option<Vec<String>>>,
}

impl Source<'_> {
    fn includes(&mut self, header: &str) -> Option<&[String]> {
        let folder = self.folder;
        let read = || {
            let generic =
                header.strip_prefix("asm/").map(|name| format!("include/asm-generic/{name}"));
            let paths = FOLDERS.iter().map(|place| format!("{place}/{header}")).chain(generic);
            let text = paths.into_iter().find_map(|path| fs::read(folder.join(path)).ok())?;
            Some(includes(&String::from_utf8_lossy(&text)))
        };
        self.read.entry(header.into()).or_insert_with(read).as_deref()
    }

    /// Those of ours that a header reaches without another of ours between.
    fn brings(&mut self, header: &str, ours: &BTreeSet<String>) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::from([header.to_owned()]);
        let mut todo: Vec<String> = self.includes(header).unwrap_or_default().to_vec();
        while let Some(name) = todo.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            if ours.contains(&name) {
                found.insert(name);
            } else {
                todo.extend_from_slice(self.includes(&name).unwrap_or_default());
            }
        }
        found
    }
}

/// What each header of ours brings in one version; nothing where the source is not there.
fn of_version(
    version: &str,
    ours: &BTreeSet<String>,
) -> Option<BTreeMap<String, BTreeSet<String>>> {
    let folder = sources(version, ["include", "arch/x86/include"].into_iter())?;
    let mut source = Source { folder: folder.path(), read: BTreeMap::new() };
    Some(ours.iter().map(|header| (header.clone(), source.brings(header, ours))).collect())
}

/// The table's part of one version.
fn in_table(table: &str, set: char) -> BTreeMap<String, BTreeSet<String>> {
    let mut all = BTreeMap::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let (header, names) = line.split_once(": ").expect("the table's lines are `header: names`");
        let names = names.split_whitespace().filter_map(|name| match name.split_once('@') {
            Some((name, sets)) => sets.contains(set).then_some(name),
            None => Some(name),
        });
        all.insert(header.to_owned(), names.map(str::to_owned).collect());
    }
    all
}

#[test]
fn headers_bring_what_linuxs_headers_of_the_name_bring() {
    let ours = ours();
    let found: Vec<_> = VERSIONS.iter().map(|version| of_version(version, &ours)).collect();
    let path = root().join("include/brings.txt");
    if std::env::var_os("SLABLAB_BLESS").is_some() && found.iter().all(Option::is_some) {
        fs::write(&path, table(&ours, &found)).unwrap();
        return;
    }
    let text = fs::read_to_string(path).unwrap();
    for ((version, set), found) in VERSIONS.iter().zip(['1', '2', '3']).zip(found) {
        let Some(found) = found else { continue };
        let table = in_table(&text, set);
        for (header, names) in found {
            let known = table.get(&header).cloned().unwrap_or_default();
            assert_eq!(known, names, "{header} of {version} (SLABLAB_BLESS=1 writes the table)");
        }
    }
}

fn table(ours: &BTreeSet<String>, found: &[Option<BTreeMap<String, BTreeSet<String>>>]) -> String {
    let mut text = String::from(HEADING);
    for header in ours {
        let sets: Vec<_> = found.iter().flatten().map(|all| &all[header]).collect();
        let names: BTreeSet<_> = sets.iter().flat_map(|names| names.iter()).collect();
        let words: Vec<String> = names
            .into_iter()
            .map(|name| {
                let digits =
                    ["1", "2", "3"].iter().zip(&sets).filter(|(_, set)| set.contains(name));
                let digits: String = digits.map(|(digit, _)| *digit).collect();
                if digits == "123" { name.clone() } else { format!("{name}@{digits}") }
            })
            .collect();
        if !words.is_empty() {
            text += &format!("{header}: {}\n", words.join(" "));
        }
    }
    text
}

/// A module that leans on what headers bring compiles as it does in a kernel tree.
#[test]
fn modules_lean_on_what_headers_bring() {
    const MODULE: &str = "#include <linux/module.h>\n#include <linux/slab.h>\n#include <linux/interrupt.h>\n\
        #include <uapi/linux/stat.h>\nstatic irqreturn_t never(int irq, void *data) { return IRQ_NONE; }\n\
        static DECLARE_WAIT_QUEUE_HEAD(queue);\nstatic int __init start(void)\n{\n\
        \tvoid *p = kmalloc(10, GFP_KERNEL);\n\tint bad = IS_ERR(p) + S_ISDIR(S_IFREG) + (never(1, p) != IRQ_NONE);\n\
        \tpr_info(\"%d\\n\", bad + waitqueue_active(&queue));\n\tkfree(p);\n\treturn 0;\n}\n\
        static void __exit stop(void) {}\nmodule_init(start);\nmodule_exit(stop);\nMODULE_LICENSE(\"GPL\");\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("leans.c");
    fs::write(&path, MODULE).unwrap();
    for version in VERSIONS {
        let output = run(&["insmod", path.to_str().unwrap(), "--kernel-version", version]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{version}: {stderr}");
    }
}
