//! A folder with Linux's source: files that contain a word, read when they are asked for.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::file::CFile;

/// Folders of Linux's source that have no code of a kernel.
const LEFT_OUT: [&str; 7] = [
    "Documentation",
    "LICENSES",
    "rust",
    "samples",
    "scripts",
    "tools",
    // Two thirds of all bytes, and names of registers only.
    "drivers/gpu/drm/amd/include/asic_reg",
];
/// What every source of Linux has.
const LANDMARK: &str = "include/linux/slab.h";

/// A folder with Linux's source.
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
    /// All files of C, by their paths from the root
    files: Vec<String>,
    /// All files of options
    kconfigs: Vec<String>,
    read: RefCell<BTreeMap<String, Rc<CFile>>>,
    /// The headers that define each structure
    defined: OnceCell<HashMap<String, Vec<usize>>>,
}

impl Tree {
    /// Opens the source in the folder `root`.
    ///
    /// # Errors
    ///
    /// If it is not Linux's source, or cannot be read.
    pub fn open(root: &Path) -> Result<Self> {
        if !root.join(LANDMARK).is_file() {
            return Err(Error::NotLinux { path: root.to_owned(), missing: LANDMARK });
        }
        let mut tree = Self::bare(root);
        tree.list("")?;
        tree.files.sort();
        Ok(tree)
    }

    /// Returns one without files.
    pub(crate) fn bare(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            files: Vec::new(),
            kconfigs: Vec::new(),
            read: RefCell::default(),
            defined: OnceCell::new(),
        }
    }

    fn list(&mut self, folder: &str) -> Result<()> {
        let path = self.root.join(folder);
        for entry in fs::read_dir(&path).map_err(Error::io(&path))? {
            let entry = entry.map_err(Error::io(&path))?;
            let name = entry.file_name();
            // Names of Linux are ASCII; others do not belong to it.
            let is_plain = |name: &&str| !name.contains(char::is_control);
            let Some(name) = name.to_str().filter(is_plain) else { continue };
            let at = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            let kind = entry.file_type().map_err(Error::io(&path))?;
            if kind.is_dir() && !name.starts_with('.') && !LEFT_OUT.contains(&at.as_str()) {
                self.list(&at)?;
            } else if kind.is_file() && (name.ends_with(".c") || name.ends_with(".h")) {
                self.files.push(at);
            } else if kind.is_file() && name.starts_with("Kconfig") {
                self.kconfigs.push(at);
            }
        }
        Ok(())
    }

    /// Returns the files of C, by their paths from the root.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    /// Returns whether there is such a file of C.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        self.files.binary_search_by(|file| file.as_str().cmp(path)).is_ok()
    }

    /// Returns the text of a file that is not C; `None` where there is none.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root.join(path)).ok()
    }

    /// Returns the paths of the files of options.
    pub(crate) fn kconfigs(&self) -> &[String] {
        &self.kconfigs
    }

    /// Returns the file with this path from the root.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn file(&self, path: &str) -> Result<Rc<CFile>> {
        if let Some(file) = self.read.borrow().get(path) {
            return Ok(Rc::clone(file));
        }
        let full = self.root.join(path);
        let bytes = fs::read(&full).map_err(Error::io(&full))?;
        Ok(self.keep(path, bytes))
    }

    fn keep(&self, path: &str, bytes: Vec<u8>) -> Rc<CFile> {
        // Some comments are in Latin-1, and code is ASCII.
        let file = match String::from_utf8(bytes) {
            Ok(text) => CFile::parse(path, text),
            Err(error) => {
                let text = error.as_bytes().iter().map(|byte| char::from(*byte)).collect();
                CFile { is_utf8: false, ..CFile::parse(path, text) }
            }
        };
        let file = Rc::new(file);
        self.read.borrow_mut().insert(path.to_owned(), Rc::clone(&file));
        file
    }

    /// Returns the files that contain one of some words, of those whose path `is_wanted`, in the order of their paths.
    ///
    /// # Errors
    ///
    /// If a file cannot be read.
    pub(crate) fn containing(
        &self,
        words: &[&str],
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<Rc<CFile>>> {
        let finders: Vec<_> = words.iter().map(memchr::memmem::Finder::new).collect();
        let has_word = |text: &[u8]| finders.iter().any(|finder| has_word(text, finder));
        let mut found = Vec::new();
        for path in self.files.iter().filter(|path| is_wanted(path)) {
            let known = self.read.borrow().get(path).cloned();
            if let Some(file) = known {
                if has_word(file.text.as_bytes()) {
                    found.push(file);
                }
                continue;
            }
            let full = self.root.join(path);
            let bytes = fs::read(&full).map_err(Error::io(&full))?;
            if has_word(&bytes) {
                found.push(self.keep(path, bytes));
            }
        }
        Ok(found)
    }

    /// Returns the header that defines a structure for the file `near`: one of `include`, or else the nearest.
    pub(crate) fn defining(&self, structure: &str, near: &str) -> Option<Rc<CFile>> {
        let defined = self.defined.get_or_init(|| self.index());
        let paths = defined.get(structure)?.iter().map(|file| self.files[*file].as_str());
        let common =
            |path: &str| path.bytes().zip(near.bytes()).take_while(|(a, b)| a == b).count();
        let best = paths.max_by_key(|path| (path.starts_with("include/"), common(path)))?;
        self.file(best).ok()
    }

    /// Returns which headers have `struct NAME {`. What cannot be read defines nothing.
    fn index(&self) -> HashMap<String, Vec<usize>> {
        let finder = memchr::memmem::Finder::new("struct ");
        let mut defined: HashMap<String, Vec<usize>> = HashMap::new();
        for (file, path) in self.files.iter().enumerate().filter(|(_, path)| path.ends_with(".h")) {
            let Ok(text) = fs::read(self.root.join(path)) else { continue };
            for at in finder.find_iter(&text) {
                let rest = &text[at + 7..];
                let name =
                    rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
                let behind = rest[name..].iter().find(|b| !b.is_ascii_whitespace());
                if let (Some(b'{'), Ok(name)) = (behind, std::str::from_utf8(&rest[..name])) {
                    let all = defined.entry(name.to_owned()).or_default();
                    if all.last() != Some(&file) {
                        all.push(file);
                    }
                }
            }
        }
        defined
    }
}

/// Returns whether a text has a word that stands alone.
fn has_word(text: &[u8], finder: &memchr::memmem::Finder<'_>) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    finder.find_iter(text).any(|at| {
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        !is_part(before) && !is_part(text.get(at + finder.needle().len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_a_word_are_read_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &[u8]| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("include/linux/slab.h", b"struct kmem_cache;\n");
        write("fs/a.c", b"/* \xe9 */ struct eventfd_ctx *p;\n");
        write("fs/b.c", b"struct eventfd_ctx_more *p;\n");
        write("tools/c.c", b"struct eventfd_ctx *p;\n");
        let tree = Tree::open(folder.path()).unwrap();
        let found = tree.containing(&["struct eventfd_ctx"], |_| true).unwrap();
        let paths: Vec<_> = found.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["fs/a.c"]);
        assert!(Tree::open(&folder.path().join("fs")).is_err());
    }
}
