//! The embedded headers and runtime: unpacking them, and what the headers offer.

use std::io;
use std::path::{Path, PathBuf};

use slablab_host::Workplace;

use crate::error::Error;

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// Returns a folder that holds `include/` and `runtime/`, unpacking them if it is not there yet.
pub(super) fn unpacked() -> Result<PathBuf, Error> {
    if let Some(dir) = std::env::var_os("KAPI_DEV") {
        return Ok(dir.into());
    }
    Ok(slablab_host::unpacked("kapi", FILES)?)
}

/// Returns whether that was done before.
pub(super) fn are_unpacked() -> Result<bool, Error> {
    Ok(std::env::var_os("KAPI_DEV").is_some() || slablab_host::is_unpacked("kapi", FILES)?)
}

/// Returns the folder that a module's `#include <...>` is looked up in.
///
/// # Errors
/// [`Error::Cache`] if there is no cache folder that can be trusted, [`Error::Io`].
pub fn include_folder() -> Result<PathBuf, Error> {
    Ok(unpacked()?.join("include"))
}

/// How the folders in which the runtime is compiled begin.
const BUILD: &str = "build-";

/// Returns a folder to compile the runtime in.
pub(super) fn workplace(dir: &Path) -> io::Result<Workplace> {
    Workplace::new(dir, BUILD)
}

/// Removes the folders in which the runtime was compiled by commands that were killed.
pub(super) fn remove_abandoned(dir: &Path) -> Vec<PathBuf> {
    slablab_host::remove_abandoned(dir, BUILD)
}

/// Removes what commands that were killed left among the unpacked files, and returns it.
///
/// # Errors
/// [`Error::Cache`] if there is no cache folder that can be trusted, [`Error::Io`].
pub fn clean() -> Result<Vec<PathBuf>, Error> {
    Ok(remove_abandoned(&unpacked()?))
}

/// How many source files the runtime has.
pub(super) fn runtime_source_count() -> usize {
    runtime_sources(Path::new("")).count()
}

/// The runtime's source files in an unpacked folder.
pub(super) fn runtime_sources(dir: &Path) -> impl Iterator<Item = PathBuf> {
    let source = |name: &str| name.starts_with("runtime/") && name.ends_with(".c");
    FILES.iter().filter(move |(name, _)| source(name)).map(|(name, _)| dir.join(name))
}

/// Something that a header offers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeaderItem {
    /// Its name.
    pub name: String,
    /// `function`, `variable`, `inline` or `macro`.
    pub kind: &'static str,
    /// The header, as it is included.
    pub header: &'static str,
}

/// Parts of headers, and the header that includes each.
const PARTS: [(&str, &str); 3] = [
    ("kapi/net_queue.h", "linux/netdevice.h"),
    ("kapi/skb_header.h", "linux/skbuff.h"),
    ("kapi/skb_queue.h", "linux/skbuff.h"),
];

/// Lists what the headers offer: functions and variables, inline functions, macros with arguments.
pub fn header_items() -> Vec<HeaderItem> {
    let headers = FILES.iter().filter_map(|(name, text)| {
        let header = name.strip_prefix("include/")?;
        match PARTS.iter().find(|(part, _)| *part == header) {
            Some((_, whole)) => Some((*whole, *text)),
            None => (!header.starts_with("kapi/")).then_some((header, *text)),
        }
    });
    let mut items: Vec<_> = headers.flat_map(|(header, text)| items_of(header, text)).collect();
    items.retain(|item| !item.name.starts_with("__kapi") && !item.name.starts_with("__KAPI"));
    items.sort();
    items.dedup_by(|a, b| a.name == b.name && a.kind == b.kind);
    items
}

fn items_of(header: &'static str, text: &str) -> Vec<HeaderItem> {
    let mut items = Vec::new();
    // A declaration may run over several lines; macros' bodies declare nothing.
    let mut declaration = String::new();
    let mut in_macro = false;
    for line in text.lines() {
        let item = |name: &str, kind| HeaderItem { name: name.into(), kind, header };
        if let Some(rest) = line.strip_prefix("#define ") {
            let name: String = rest.chars().take_while(|&c| is_word(c)).collect();
            if rest[name.len()..].starts_with('(') {
                items.push(item(&name, "macro"));
            }
        }
        let was_in_macro = in_macro;
        in_macro = (in_macro || line.starts_with('#')) && line.ends_with('\\');
        if was_in_macro || line.starts_with('#') {
            continue;
        }
        let begins = ["extern ", "static "].iter().any(|word| line.starts_with(word))
            || (declaration.is_empty() && is_prototype(line));
        if begins {
            declaration.clear();
        }
        if begins || !declaration.is_empty() {
            declaration.push_str(line);
            declaration.push(' ');
        }
        if line.ends_with(';') || line == "{" || (begins && line.ends_with(" }")) {
            let inline = declaration.starts_with("static ");
            items.extend(declared_names(&declaration).into_iter().map(|(name, function)| {
                let kind = match (inline, function) {
                    (true, _) => "inline",
                    (false, true) => "function",
                    (false, false) => "variable",
                };
                item(&name, kind)
            }));
            declaration.clear();
        }
    }
    items
}

/// Whether a line begins a function's declaration without `extern`: a type, a name, a parenthesis.
fn is_prototype(line: &str) -> bool {
    let begins_with_type = line.starts_with(is_word) && !line.starts_with("typedef ");
    let before = line.split('(').next().unwrap_or_default();
    begins_with_type && before.len() < line.len() && before.contains(' ')
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns the names that a declaration declares, and whether each is a function.
fn declared_names(declaration: &str) -> Vec<(String, bool)> {
    let last_word = |text: &str| -> String {
        let end = text.trim_end_matches(|c: char| !is_word(c)).len();
        let start = text[..end].rfind(|c: char| !is_word(c)).map_or(0, |at| at + 1);
        text[start..end].to_string()
    };
    let plain = declaration.split("__attribute__").next().unwrap_or_default();
    if let Some((before, _)) = plain.split_once('(') {
        return vec![(last_word(before), true)];
    }
    let plain = plain.split(['=', ';']).next().unwrap_or_default();
    if plain.starts_with("static ") || plain.trim().is_empty() {
        return Vec::new();
    }
    plain
        .split(',')
        .map(|part| (last_word(part.split('[').next().unwrap_or(part)), false))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_c_does() {
        let text = "extern void *kmalloc(size_t size,\n\t\t\tgfp_t gfp);\n\
                    extern volatile unsigned long jiffies;\nextern int a, b;\n\
                    extern const char hex_asc[];\n\
                    #define kfree(x) \\\n\textern void hidden(void);\n\
                    static inline int fls(unsigned int x)\n{\n\treturn 0;\n}\n\
                    static inline int ffs(int x) { return 0; }\n\
                    void *xa_load(struct xarray *xa,\n\tunsigned long index);\n";
        let names: Vec<_> =
            items_of("linux/x.h", text).into_iter().map(|i| (i.name, i.kind)).collect();
        let expected = [
            ("kmalloc", "function"),
            ("jiffies", "variable"),
            ("a", "variable"),
            ("b", "variable"),
            ("hex_asc", "variable"),
            ("kfree", "macro"),
            ("fls", "inline"),
            ("ffs", "inline"),
            ("xa_load", "function"),
        ];
        assert_eq!(names, expected.map(|(name, kind)| (name.to_string(), kind)));
    }
}
