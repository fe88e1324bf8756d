//! The rooms inside the large crates: a file uses lower rooms only, and no files stand in a circle.
//!
//! # How it works
//! Every path of a file that starts at `crate`, `self`, `super` or a child module is resolved to the file
//! that defines what it names, through re-exports. A room is a file or folder directly below `src`. What is
//! compiled for tests only does not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use slablab_tests::{root, tracked_files};

#[path = "rooms/houses.rs"]
mod houses;

use houses::{HOUSES, House};

#[test]
fn files_stand_on_lower_rooms_only() {
    let wrong: Vec<String> = HOUSES.iter().flat_map(|house| check(house)).collect();
    assert!(wrong.is_empty(), "{} findings\n  {}", wrong.len(), wrong.join("\n  "));
}

#[test]
fn every_crate_has_its_rooms() {
    let crates: BTreeSet<String> = tracked_files()
        .iter()
        .filter_map(|path| {
            path.strip_prefix("crates").ok()?.iter().next()?.to_str().map(str::to_owned)
        })
        .collect();
    let known: BTreeSet<String> = HOUSES.iter().map(|house| house.name.to_owned()).collect();
    assert_eq!(crates, known, "tests/tests/rooms/houses.rs has the rooms of each crate");
}

/// A module path, without the crate: `["cache", "table"]`.
type Module = Vec<String>;

/// What one file says about modules.
#[derive(Default)]
struct Source {
    /// Module that the file is.
    module: Module,
    /// Names that it takes over from elsewhere: name (`*` for all) and full path.
    aliases: Vec<(String, Vec<String>)>,
    /// Names that it hands on from other crates.
    foreign: BTreeSet<String>,
    /// Paths that it uses, full.
    uses: Vec<Vec<String>>,
}

/// The files of a crate.
struct Files {
    sources: BTreeMap<String, Source>,
    by_module: BTreeMap<Module, String>,
}

/// Returns what is wrong with the rooms of a crate.
fn check(house: &House) -> Vec<String> {
    judge(house, &Files::read(house.name))
}

fn judge(house: &House, files: &Files) -> Vec<String> {
    let level = |file: &str| {
        let room = file.split('/').next().unwrap_or(file).trim_end_matches(".rs");
        house.levels.iter().position(|names| names.contains(&room))
    };
    let mut wrong = Vec::new();
    let mut arrows: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (file, source) in files.sources.iter().filter(|(file, _)| !is_root(file)) {
        let Some(own) = level(file) else {
            wrong.push(format!("{file}: in no room of the list"));
            continue;
        };
        for path in &source.uses {
            let Some(target) = files.resolve(path, 0).filter(|target| *target != file) else {
                continue;
            };
            if level(target).is_none_or(|other| other > own) {
                wrong.push(format!("{file} -> {target}: upward ({})", path.join("::")));
            }
            arrows.entry(file).or_default().insert(target);
        }
    }
    for circle in circles(&arrows) {
        wrong.push(format!("circle: {}", circle.join(" -> ")));
    }
    // Readers of source that find nothing would find no fault, either.
    if files.sources.len() > 30 && arrows.values().map(BTreeSet::len).sum::<usize>() <= 20 {
        wrong.push("too few arrows were found".to_owned());
    }
    wrong.sort();
    wrong.dedup();
    for known in house.left {
        match wrong.iter().position(|finding| finding == known) {
            Some(at) => _ = wrong.remove(at),
            None => wrong.push(format!("is mended, take it off the list: {known}")),
        }
    }
    wrong.iter().map(|finding| format!("{}: {finding}", house.name)).collect()
}

fn is_root(file: &str) -> bool {
    file == "lib.rs" || file == "main.rs"
}

/// Returns one circle through each file that is on one, each circle once.
fn circles<'a>(arrows: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Vec<Vec<&'a str>> {
    let mut found: BTreeMap<BTreeSet<&str>, Vec<&str>> = BTreeMap::new();
    for &start in arrows.keys() {
        // Breadth first, so that the circle is a shortest one.
        let mut before: BTreeMap<&str, &str> = BTreeMap::new();
        let mut queue = std::collections::VecDeque::from([start]);
        'search: while let Some(at) = queue.pop_front() {
            for &next in arrows.get(at).into_iter().flatten() {
                if next == start {
                    let mut circle = vec![start, at];
                    while let Some(&previous) =
                        before.get(circle[circle.len() - 1]).filter(|p| **p != start)
                    {
                        circle.push(previous);
                    }
                    circle.push(start);
                    circle.reverse();
                    found.entry(circle.iter().copied().collect()).or_insert(circle);
                    break 'search;
                }
                if next != start && !before.contains_key(next) {
                    before.insert(next, at);
                    queue.push_back(next);
                }
            }
        }
    }
    found.into_values().collect()
}

impl Files {
    fn read(name: &str) -> Self {
        let src = Path::new("crates").join(name).join("src");
        let mut texts = BTreeMap::new();
        for path in tracked_files() {
            let Ok(file) = path.strip_prefix(&src) else { continue };
            let file = file.to_str().expect("names are UTF-8").to_owned();
            // Tests, and the models that loom runs.
            let is_test = |part| matches!(part, "tests" | "tests.rs" | "models.rs");
            let tests = file.split('/').any(is_test);
            if file.ends_with(".rs") && !tests {
                texts.insert(file, fs::read_to_string(root().join(&path)).expect("readable"));
            }
        }
        Self::of(texts)
    }

    /// Returns what these files, by their paths below `src`, say of modules.
    fn of(texts: BTreeMap<String, String>) -> Self {
        let by_module: BTreeMap<Module, String> =
            texts.keys().map(|file| (module_of(file), file.clone())).collect();
        let sources = texts
            .into_iter()
            .map(|(file, text)| {
                let module = module_of(&file);
                let children: BTreeSet<&str> = by_module
                    .keys()
                    .filter(|m| m.len() == module.len() + 1 && m.starts_with(&module))
                    .map(|m| m[module.len()].as_str())
                    .collect();
                (file, read_source(module, &children, &text))
            })
            .collect();
        Self { sources, by_module }
    }

    /// Returns the file that defines what a full path names, and none where another crate does.
    fn resolve(&self, path: &[String], depth: u32) -> Option<&str> {
        let known = (0..=path.len()).rev().find(|&n| self.by_module.contains_key(&path[..n]))?;
        let file = &self.by_module[&path[..known]];
        let Some(name) = path.get(known).filter(|_| depth < 8) else { return Some(file) };
        if self.sources[file].foreign.contains(name) {
            return None;
        }
        let aliases = &self.sources[file].aliases;
        let mut exact = aliases.iter().filter(|(alias, _)| alias == name);
        if let Some((_, target)) = exact.find(|(_, target)| target[..] != path[..=known]) {
            return self.resolve(target, depth + 1);
        }
        // A glob re-export may bring the name: follow it where the target has it.
        for (_, target) in aliases.iter().filter(|(alias, _)| alias == "*") {
            let through: Vec<String> = target.iter().chain([name]).cloned().collect();
            match self.resolve(&through, depth + 1) {
                Some(found)
                    if found != file && self.by_module.get(target).is_none_or(|f| f != found) =>
                {
                    return Some(found);
                }
                _ => {}
            }
        }
        Some(file)
    }
}

fn module_of(file: &str) -> Module {
    let stem = file.trim_end_matches(".rs").trim_end_matches("/mod");
    if is_root(file) { Vec::new() } else { stem.split('/').map(str::to_owned).collect() }
}

fn read_source(module: Module, children: &BTreeSet<&str>, text: &str) -> Source {
    let tokens = without_tests(&tokens(text));
    let mut source = Source { module, ..Source::default() };
    let mut at = 0;
    while at < tokens.len() {
        let statement =
            at == 0 || matches!(tokens[at - 1].as_str(), ";" | "}" | "{" | "]" | ")" | "pub");
        if tokens[at] == "use" && statement {
            let public = at > 0 && matches!(tokens[at - 1].as_str(), "pub" | ")");
            let end = tokens[at..].iter().position(|t| t == ";").map_or(tokens.len(), |n| at + n);
            let mut leaves = Vec::new();
            use_tree(&tokens[at + 1..end], &mut Vec::new(), &mut leaves);
            for (name, path) in leaves {
                let Some(full) = full_path(&source.module, children, &path) else {
                    source.foreign.insert(name);
                    continue;
                };
                source.aliases.push((name, full.clone()));
                // A re-export does not count as a use.
                if !public {
                    source.uses.push(full);
                }
            }
            at = end;
        } else if is_name(&tokens[at]) && (at == 0 || tokens[at - 1] != "::") {
            let mut path = vec![tokens[at].clone()];
            while tokens.get(at + 1).is_some_and(|t| t == "::")
                && tokens.get(at + 2).is_some_and(|t| is_name(t))
            {
                path.push(tokens[at + 2].clone());
                at += 2;
            }
            if path.len() > 1 {
                let full = full_path(&source.module, children, &path);
                source.uses.extend(full.or_else(|| through_alias(&source.aliases, &path)));
            }
        }
        at += 1;
    }
    source
}

/// Returns the full path of one that starts with a name that the file took over, such as a module.
fn through_alias(aliases: &[(String, Vec<String>)], path: &[String]) -> Option<Vec<String>> {
    let (_, full) = aliases.iter().find(|(name, _)| *name == path[0])?;
    Some([&full[..], &path[1..]].concat())
}

/// Returns the full path of one that starts in this crate.
fn full_path(module: &Module, children: &BTreeSet<&str>, path: &[String]) -> Option<Vec<String>> {
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => Some(rest.to_vec()),
        "self" => Some([module, rest].concat()),
        "super" => {
            let up = path.iter().take_while(|part| *part == "super").count();
            let keep = module.len().checked_sub(up)?;
            Some([&module[..keep], &path[up..]].concat())
        }
        name if children.contains(name) => Some([module, path].concat()),
        _ => None,
    }
}

/// Collects the leaves of a `use` tree: the name in scope and the path.
fn use_tree(tokens: &[String], prefix: &mut Vec<String>, leaves: &mut Vec<(String, Vec<String>)>) {
    let depth = prefix.len();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token.as_str() {
            "{" => {
                let inner = &tokens[at + 1..tokens.len() - 1];
                let (mut from, mut level) = (0, 0);
                for (i, token) in inner.iter().enumerate() {
                    match token.as_str() {
                        "{" => level += 1,
                        "}" => level -= 1,
                        "," if level == 0 => {
                            use_tree(&inner[from..i], prefix, leaves);
                            from = i + 1;
                        }
                        _ => {}
                    }
                }
                use_tree(&inner[from..], prefix, leaves);
                prefix.truncate(depth);
                return;
            }
            "as" => {
                if let (Some(name), false) = (tokens.get(at + 1), prefix.is_empty()) {
                    leaves.push((name.clone(), prefix.clone()));
                }
                prefix.truncate(depth);
                return;
            }
            "*" => {
                leaves.push(("*".to_owned(), prefix.clone()));
                prefix.truncate(depth);
                return;
            }
            "self" if !prefix.is_empty() => {}
            name if is_name(name) => prefix.push(name.to_owned()),
            _ => {}
        }
        at += 1;
    }
    if let (Some(name), false) = (prefix.last().cloned(), tokens.is_empty()) {
        leaves.push((name, prefix.clone()));
    }
    prefix.truncate(depth);
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Takes out what only tests see: an item behind an attribute `cfg` that names `test`.
fn without_tests(tokens: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let cfg = tokens[at] == "#" && tokens.get(at + 1).is_some_and(|t| t == "[");
        if !cfg || tokens.get(at + 2).is_none_or(|t| t != "cfg") {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let end = closing(tokens, at + 1);
        let attribute = &tokens[at..=end];
        let seen_by_others = attribute.windows(2).any(|t| t[0] == "any")
            || attribute.windows(3).any(|t| t[0] == "not" && t[2] == "test");
        at = end + 1;
        if attribute.iter().any(|t| t == "test") && !seen_by_others {
            let item = tokens[at..].iter().position(|t| t == ";" || t == "{");
            let Some(item) = item.map(|n| at + n) else { break };
            at = if tokens[item] == "{" { closing(tokens, item) } else { item } + 1;
        }
    }
    kept
}

/// Returns the place of the bracket that closes the one at `open`.
fn closing(tokens: &[String], open: usize) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i;
        }
    }
    tokens.len() - 1
}

/// Splits Rust into names, `::` and single characters; comments, strings and characters are left out.
fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let (mut tokens, mut at) = (Vec::new(), 0);
    let next = |at: usize| chars.get(at + 1).copied().unwrap_or('\n');
    while at < chars.len() {
        match chars[at] {
            '/' if next(at) == '/' => {
                while at < chars.len() && chars[at] != '\n' {
                    at += 1;
                }
            }
            '"' => at = string_end(&chars, at, 0),
            'r' if next(at) == '"'
                || next(at) == '#' && chars.get(at + 2).is_some_and(|c| "\"#".contains(*c)) =>
            {
                let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
                at = string_end(&chars, at + 1 + hashes, hashes + 1);
            }
            // A character, not a lifetime.
            '\'' if next(at) == '\\' || chars.get(at + 2) == Some(&'\'') => {
                at += if next(at) == '\\' { 3 } else { 2 };
                while at < chars.len() && chars[at] != '\'' {
                    at += 1;
                }
            }
            c if c.is_alphanumeric() || c == '_' => {
                let start = at;
                while at + 1 < chars.len()
                    && (chars[at + 1].is_alphanumeric() || chars[at + 1] == '_')
                {
                    at += 1;
                }
                tokens.push(chars[start..=at].iter().collect());
            }
            ':' if next(at) == ':' => {
                tokens.push("::".to_owned());
                at += 1;
            }
            // `$crate` is `crate`.
            c if c.is_whitespace() || c == '$' => {}
            c => tokens.push(c.to_string()),
        }
        at += 1;
    }
    tokens
}

/// Returns the place of the quote that ends the string starting at `at`; `raw` is 1 more than its hashes.
fn string_end(chars: &[char], mut at: usize, raw: usize) -> usize {
    at += 1;
    while at < chars.len() {
        if raw == 0 && chars[at] == '\\' {
            at += 1;
        } else if chars[at] == '"' {
            let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
            if raw == 0 || hashes >= raw - 1 {
                return at + raw.saturating_sub(1);
            }
        }
        at += 1;
    }
    at
}

#[test]
fn an_upward_arrow_and_a_circle_are_found() {
    let house = |left| House { name: "planted", levels: &[&["low"], &["high"]], left };
    let texts = [
        ("lib.rs", "mod low; mod high; pub use other::Foreign;"),
        ("low/mod.rs", "mod one; mod two; use crate::high::High;"),
        ("low/one.rs", "use super::two; pub fn one() { two::two(); }"),
        ("low/two.rs", "use super::one::one; use crate::Foreign; pub fn two() {}"),
        ("high.rs", "pub struct High;"),
    ];
    let files = || Files::of(texts.map(|(file, text)| (file.to_owned(), text.to_owned())).into());
    let found = judge(&house(&[]), &files()).join("\n");
    assert!(found.contains("planted: low/mod.rs -> high.rs: upward"), "{found}");
    assert!(found.contains("planted: circle: low/one.rs -> low/two.rs -> low/one.rs"), "{found}");
    assert!(!found.contains("Foreign"), "what another crate defines is not an arrow: {found}");
    let left = &["circle: low/one.rs -> low/two.rs -> low/one.rs", "circle: gone.rs -> gone.rs"];
    let found = judge(&house(left), &files()).join("\n");
    assert!(!found.contains("planted: circle"), "{found}");
    assert!(found.contains("is mended, take it off the list: circle: gone.rs"), "{found}");
}
