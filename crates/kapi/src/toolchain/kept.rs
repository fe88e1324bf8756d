//! Modules that were compiled before: kept with what they were made from, so that a second run compiles nothing.
//!
//! # How it works
//! An entry's name is a hash of the compiler, its options and the module's sources. Beside the image stands a record: the
//! version, the compiler's warnings, a hash of the image, and one of every other file that the sources included. A file
//! that differs makes the entry none, and the module is compiled anew.
//!
//! # Invariants
//! Image and record are written beside their names and renamed when they are whole. Commands that keep the same module at
//! once need no lock: where the record of one stands beside the image of another, the hash of the image differs.
//! The oldest entries go when there are more than [`ENTRIES_MAX`].

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use slablab_host::{Access, KeyHasher, write_whole};

use crate::job::Version;

/// Entries that are kept.
const ENTRIES_MAX: usize = 64;

/// What is known of a module that was compiled.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) version: Version,
    pub(super) warnings: String,
    /// The modules that it needs, in the order of their inits.
    #[serde(default)]
    pub(super) needed: Vec<String>,
    /// The image's hash: a full disk or a loss of power leaves images that are cut or empty.
    image: String,
    /// Files that were included, with a hash of each.
    included: Vec<(PathBuf, String)>,
}

impl Record {
    /// Makes the record of an image; nothing if it or a file that was included cannot be read any more.
    pub(super) fn new(
        version: Version,
        warnings: &str,
        needed: &[String],
        image: &Path,
        included: &[PathBuf],
    ) -> Option<Self> {
        let hashed = |path: &PathBuf| Some((path.clone(), hash_of(path)?));
        let included = included.iter().map(hashed).collect::<Option<_>>()?;
        let (warnings, needed, image) = (warnings.into(), needed.to_vec(), hash_of(image)?);
        Some(Self { version, warnings, needed, image, included })
    }
}

fn hash_of(path: &Path) -> Option<String> {
    let mut hasher = KeyHasher::new("kept");
    hasher.update_file(path).ok()?;
    Some(hasher.finish().to_string())
}

/// Copies a kept module to `image` and returns its record; nothing if there is none that is whole.
pub(super) fn find(dir: &Path, key: &str, image: &Path) -> Option<Record> {
    let text = fs::read_to_string(dir.join(format!("{key}.json"))).ok()?;
    let record: Record = serde_json::from_str(&text).ok()?;
    let same = |(path, hash): &(PathBuf, String)| hash_of(path).as_ref() == Some(hash);
    if !record.included.iter().all(same) {
        return None;
    }
    // The copy is compared, because another command may remove or replace the entry in between.
    fs::copy(dir.join(format!("{key}.so")), image).ok()?;
    (hash_of(image).as_ref() == Some(&record.image)).then_some(record)
}

/// Keeps a module. Whatever fails here only makes the next run slower.
pub(super) fn keep(dir: &Path, key: &str, image: &Path, record: &Record) {
    let Ok(bytes) = fs::read(image) else { return };
    let Ok(text) = serde_json::to_string(record) else { return };
    if fs::create_dir_all(dir).is_err() {
        return;
    }
    remove_oldest(dir);
    let written = write_whole(&dir.join(format!("{key}.so")), &bytes, Access::Umask);
    if written.is_ok() {
        let _ = write_whole(&dir.join(format!("{key}.json")), text.as_bytes(), Access::Umask);
    }
}

fn remove_oldest(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let mut records: Vec<_> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .filter_map(|path| Some((path.metadata().ok()?.modified().ok()?, path)))
        .collect();
    records.sort();
    let surplus = records.len().saturating_sub(ENTRIES_MAX - 1);
    for (_, path) in &records[..surplus] {
        let _ = fs::remove_file(path);
        let _ = fs::remove_file(path.with_extension("so"));
    }
}

/// Reads what the compiler says of the files that it read (`-MD`): a rule of make, whose first file is the source.
pub(super) fn included(rule: &str) -> Vec<PathBuf> {
    let files = rule.split_once(':').map_or("", |(_, files)| files).replace("\\\n", " ");
    let mut paths = Vec::new();
    let mut path = String::new();
    let mut chars = files.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if matches!(chars.peek(), Some(' ' | '#')) => path.extend(chars.next()),
            c if c.is_whitespace() => {
                if !path.is_empty() {
                    paths.push(PathBuf::from(std::mem::take(&mut path)));
                }
            }
            c => path.push(c),
        }
    }
    paths.extend((!path.is_empty()).then(|| PathBuf::from(path)));
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_make_are_read() {
        let paths = included("0.o: a.c b\\ c.h \\\n /d/e.h\n");
        assert_eq!(paths, ["a.c", "b c.h", "/d/e.h"].map(PathBuf::from));
    }

    /// Keeps a module with one header; returns the folder, the header's path and the record's folder.
    fn kept_with_a_header() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let (header, image) = (dir.path().join("a.h"), dir.path().join("a.so"));
        fs::write(&header, "1").unwrap();
        fs::write(&image, "image").unwrap();
        let included = std::slice::from_ref(&header);
        let record = Record::new(Version::new(6, 1, 0), "", &[], &image, included).unwrap();
        let kept = dir.path().join("kept");
        keep(&kept, "key", &image, &record);
        (dir, header, kept)
    }

    #[test]
    fn a_kept_module_goes_when_what_it_included_changes() {
        let (dir, header, kept) = kept_with_a_header();
        let copy = dir.path().join("copy.so");
        let record = find(&kept, "key", &copy).unwrap();
        assert_eq!((fs::read(&copy).unwrap(), record.version.0 >> 16), (b"image".to_vec(), 6));
        fs::write(&header, "2").unwrap();
        assert!(find(&kept, "key", &copy).is_none());
    }

    #[test]
    fn a_kept_module_that_is_cut_or_another_is_none() {
        let (dir, _, kept) = kept_with_a_header();
        let copy = dir.path().join("copy.so");
        for wrong in ["", "imag", "other"] {
            fs::write(kept.join("key.so"), wrong).unwrap();
            assert!(find(&kept, "key", &copy).is_none(), "{wrong}");
        }
        fs::remove_file(kept.join("key.so")).unwrap();
        assert!(find(&kept, "key", &copy).is_none());
    }
}
