//! A source tree with the patch series and the user's further patches applied, kept under a key of all of them.
//!
//! # How it works
//! A tree with further patches consists of hard links to the tree of the series, which takes seconds and
//! hardly any room: `patch` writes a changed file beside and renames it, so the other tree keeps its own.
//!
//! # Differences from Linux
//! A `series` file is quilt's: one patch on each line, relative to the file; `#` begins a comment. All
//! patches go into one tree; Kconfig or a boot parameter chooses which of them takes effect.

use std::fs;
use std::path::{Path, PathBuf};

use slablab_host::{Interrupt, Key, KeyHasher, bound};

use crate::data::Data;
use crate::error::{Error, Result};
use crate::run::run_logged;
use crate::source::Source;
use crate::step::Step;
use crate::store::Store;
use slablab_linux::Release;

/// Megabytes that a patched tree takes (6.1.192: 1.5 GB).
const TREE_MIB: u64 = 1800;

/// Megabytes that a tree of hard links takes: its folders (measured: 22 MB).
const LINKS_MIB: u64 = 60;

/// The patches for one series of kernels, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    file: PathBuf,
    patches: Vec<PathBuf>,
}

impl Series {
    /// Reads the series for kernels of `release`; none when there is no such file.
    ///
    /// # Errors
    ///
    /// If the file names a patch that is not there.
    pub fn read(data: &Data, release: Release) -> Result<Self> {
        let file = data.series(release);
        if !file.exists() {
            return Ok(Self { file, patches: Vec::new() });
        }
        let text = fs::read_to_string(&file).map_err(Error::io("cannot read", &file))?;
        let mut patches = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let name = line.split('#').next().unwrap_or("").trim();
            if name.is_empty() {
                continue;
            }
            let patch = file.with_file_name(name);
            if !patch.is_file() {
                return Err(Error::Config {
                    place: format!("{}:{}", file.display(), i + 1),
                    why: format!("no patch {name} beside it. Add the file or take the line out"),
                });
            }
            patches.push(patch);
        }
        Ok(Self { file, patches })
    }

    /// Returns the patches.
    #[must_use]
    pub fn patches(&self) -> &[PathBuf] {
        &self.patches
    }
}

/// Reads the path of a patch, and makes it one that is valid in every folder.
///
/// # Errors
///
/// If there is no such file.
pub fn patch_path(text: &str) -> Result<PathBuf> {
    let path = Path::new(text);
    let found = fs::canonicalize(path).map_err(Error::io("no such patch", path))?;
    match found.is_file() {
        true => Ok(found),
        false => Err(Error::io("cannot read", path)(std::io::ErrorKind::IsADirectory.into())),
    }
}

/// Applies `patches`, which `named_by` names, to `tree`, and lets all users read it.
fn apply(
    patches: &[PathBuf],
    named_by: &str,
    tree: &Path,
    source: &Source,
    interrupt: &Interrupt,
) -> Result<()> {
    for patch in patches {
        let log = tree.with_extension("log");
        let mut command = bound("patch");
        // Fuzz is not allowed: a hunk that only nearly fits may land in the wrong function.
        command.args(["-p1", "--forward", "--batch", "--fuzz=0", "--no-backup-if-mismatch", "-d"]);
        command.arg(tree).arg("-i").arg(patch);
        run_logged("patch", &mut command, &log, interrupt, || ()).map_err(|error| match error {
            Error::Tool { .. } => Error::Patch {
                patch: patch.clone(),
                named_by: named_by.to_owned(),
                source_name: source.path().display().to_string(),
                why: first_failure(&fs::read_to_string(&log).unwrap_or_default()),
            },
            other => other,
        })?;
    }
    // The user who builds must be able to read it, whatever the umask was.
    let mut chmod = bound("chmod");
    chmod.args(["-R", "a+rX"]).arg(tree);
    run_logged("chmod", &mut chmod, &tree.with_extension("log"), interrupt, || ())
}

/// Returns the file and hunk that failed first, from what `patch` printed.
fn first_failure(log: &str) -> String {
    const SIGNS: [&str; 4] = ["FAILED", "can't find file", "previously applied", "malformed"];
    let mut file = "";
    for line in log.lines() {
        if let Some(name) = line.strip_prefix("patching file ") {
            file = name;
        } else if SIGNS.iter().any(|sign| line.contains(sign)) {
            return format!("{file}: {line}").trim_start_matches(": ").to_owned();
        }
    }
    log.lines().next_back().unwrap_or("patch failed without a word").to_owned()
}

/// A patched source tree in the store.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    /// Its key
    pub(crate) key: Key,
    /// Where it lies
    pub(crate) path: PathBuf,
}

/// The places from which trees come and to which they go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TreeCache<'a> {
    /// The cache
    pub(crate) store: &'a Store,
    /// The series
    pub(crate) data: &'a Data,
    /// The source
    pub(crate) source: &'a Source,
}

impl TreeCache<'_> {
    /// Returns the tree of the source with the series that fits and then the `further` patches applied; it is
    /// made when it is not in the store.
    pub(crate) fn prepare(
        &self,
        further: &[PathBuf],
        interrupt: &Interrupt,
        watch: &mut dyn FnMut(Step<'_>),
    ) -> Result<Tree> {
        let key = tree_key(self.data, self.source)?;
        let path = self.store.get_or_make_anew("trees", &key, interrupt, |partial| {
            self.store.need_space(TREE_MIB)?;
            watch(Step::Begin("unpacking the source"));
            self.source.copy_into(partial, interrupt)?;
            watch(Step::Begin("applying the patches"));
            let series = Series::read(self.data, self.source.release_of(partial)?)?;
            let named_by = series.file.display().to_string();
            apply(&series.patches, &named_by, partial, self.source, interrupt)
        })?;
        let base = Tree { key, path };
        if further.is_empty() {
            return Ok(base);
        }
        let key = further_key(&base.key, further)?;
        let path = self.store.get_or_make_anew("trees", &key, interrupt, |partial| {
            self.store.need_space(LINKS_MIB)?;
            watch(Step::Begin("applying the further patches"));
            let mut copy = bound("cp");
            copy.arg("-al").arg(base.path.join(".")).arg(partial);
            run_logged("cp", &mut copy, &partial.with_extension("log"), interrupt, || ())?;
            apply(further, "the patches asked for", partial, self.source, interrupt)
        })?;
        Ok(Tree { key, path })
    }

    /// Returns the tree if it is in the store.
    pub(crate) fn find(&self, further: &[PathBuf]) -> Result<Option<Tree>> {
        let mut key = tree_key(self.data, self.source)?;
        if !further.is_empty() {
            key = further_key(&key, further)?;
        }
        Ok(self.store.get("trees", &key).map(|path| Tree { key, path }))
    }
}

/// Returns the key of a tree with further patches.
fn further_key(base: &Key, patches: &[PathBuf]) -> Result<Key> {
    let mut hasher = KeyHasher::new("tree with further patches");
    hasher.update(base.as_str());
    for patch in patches {
        hasher.update_file(patch).map_err(Error::io("cannot read the patch", patch))?;
    }
    Ok(hasher.finish())
}

/// Returns the key of a patched tree.
fn tree_key(data: &Data, source: &Source) -> Result<Key> {
    let mut hasher = KeyHasher::new("tree");
    hasher.update(source.key()?.as_str());
    // Which series fits is known only after the source is unpacked, so the key has all of them.
    hash_patches(data, &mut hasher)?;
    Ok(hasher.finish())
}

/// Adds every series and every patch that one names.
fn hash_patches(data: &Data, hasher: &mut KeyHasher) -> Result<()> {
    for release in data.patched_releases() {
        hasher.update(release.to_string());
        for patch in &Series::read(data, release)?.patches {
            hasher.update_file(patch).map_err(Error::io("cannot read", patch))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::tests::little_linux;

    struct Place {
        dir: tempfile::TempDir,
    }

    impl Place {
        fn new(patches: &[(&str, &str)]) -> Self {
            let dir = tempfile::tempdir().unwrap();
            little_linux(&dir.path().join("linux"));
            let data = dir.path().join("kernel");
            fs::create_dir_all(data.join("config")).unwrap();
            fs::write(data.join("config/base.config"), "").unwrap();
            fs::create_dir_all(data.join("patches/6.1")).unwrap();
            let names: Vec<_> = patches.iter().map(|(name, _)| format!("{name} # why")).collect();
            fs::write(data.join("patches/6.1/series"), names.join("\n")).unwrap();
            for (name, text) in patches {
                fs::write(data.join("patches/6.1").join(name), text).unwrap();
            }
            Self { dir }
        }

        fn prepare(&self) -> Result<Tree> {
            self.prepare_with(&[])
        }

        fn prepare_with(&self, further: &[PathBuf]) -> Result<Tree> {
            let store = &Store::open(Some(&self.dir.path().join("cache"))).unwrap();
            let data = &Data::at(&self.dir.path().join("kernel")).unwrap();
            let source = &Source::at(&self.dir.path().join("linux")).unwrap();
            let cache = TreeCache { store, data, source };
            cache.prepare(further, &Interrupt::never(), &mut |_| ())
        }
    }

    fn patch_of(old: &str, new: &str) -> String {
        format!(
            "--- a/mm/slab_common.c\n+++ b/mm/slab_common.c\n@@ -1,3 +1,3 @@\n one\n-{old}\n+{new}\n three\n"
        )
    }

    #[test]
    fn the_series_is_applied_in_order_and_the_tree_kept() {
        let (one, two) = (patch_of("two", "TWO"), patch_of("TWO", "2"));
        let place = Place::new(&[("b.patch", &one), ("a.patch", &two)]);
        let tree = place.prepare().unwrap();
        let text = fs::read_to_string(tree.path.join("mm/slab_common.c")).unwrap();
        assert_eq!(text, "one\n2\nthree\n");
        assert_eq!(place.prepare().unwrap().path, tree.path);
    }

    #[test]
    fn a_patch_that_does_not_apply_is_named_with_its_hunk_and_leaves_no_tree() {
        let wrong = patch_of("no such line", "x");
        let place = Place::new(&[("wrong.patch", &wrong)]);
        let error = place.prepare().unwrap_err();
        assert!(matches!(error, Error::Patch { .. }), "{error}");
        let text = error.to_string();
        for part in ["wrong.patch: does not apply", "mm/slab_common.c", "FAILED at 1", "series"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        let trees = fs::read_dir(place.dir.path().join("cache/trees")).unwrap();
        let whole = trees.flatten().filter(|e| e.path().is_dir() && e.path().extension().is_none());
        assert_eq!(whole.count(), 0);
    }

    #[test]
    fn a_changed_patch_is_another_tree() {
        let good = patch_of("two", "TWO");
        let place = Place::new(&[("a.patch", &good)]);
        let before = place.prepare().unwrap();
        let patch = place.dir.path().join("kernel/patches/6.1/a.patch");
        fs::write(patch, patch_of("two", "Two")).unwrap();
        assert_ne!(place.prepare().unwrap().key, before.key);
    }

    #[test]
    fn a_further_patch_makes_a_tree_of_its_own_and_leaves_the_other_alone() {
        let place = Place::new(&[("a.patch", &patch_of("two", "TWO"))]);
        let further = place.dir.path().join("mine.patch");
        fs::write(&further, patch_of("TWO", "2")).unwrap();
        let mine = place.prepare_with(std::slice::from_ref(&further)).unwrap();
        let base = place.prepare().unwrap();
        let text = |tree: &Tree| fs::read_to_string(tree.path.join("mm/slab_common.c")).unwrap();
        assert_eq!(text(&mine), "one\n2\nthree\n");
        assert_eq!(text(&base), "one\nTWO\nthree\n");
        assert!(mine.path.join("Makefile").is_file() && mine.key != base.key);
        fs::write(&further, patch_of("two", "2")).unwrap();
        let error = place.prepare_with(&[further]).unwrap_err().to_string();
        assert!(error.contains("take it out of the patches asked for"), "{error}");
    }

    #[test]
    fn a_series_that_names_no_patch_is_said_with_its_line() {
        let place = Place::new(&[]);
        let series = place.dir.path().join("kernel/patches/6.1/series");
        fs::write(series, "# first\nmissing.patch\n").unwrap();
        let error = place.prepare().unwrap_err().to_string();
        assert!(error.contains("series:2: no patch missing.patch"), "{error}");
    }
}
