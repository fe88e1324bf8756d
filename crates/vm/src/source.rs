//! The source of a kernel: Debian's tarball, or a folder or tarball of the user's.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use slablab_host::{Interrupt, Key, KeyHasher, bound, bound_family};

use crate::error::{Error, Result};
use crate::run::{output, run_logged};
use slablab_linux::Release;

/// A kernel's source before slablab's patches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    path: PathBuf,
    content: OnceLock<Content>,
}

/// The content of a source, and how to read it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Content {
    key: Key,
    form: Form,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    Tarball,
    Folder,
    /// A folder whose files are those of this tree object of its Git repository
    GitTree(String),
}

impl Source {
    /// Returns the tarball of Debian's source package for `release`, if it is installed.
    pub(crate) fn installed(release: Release) -> Option<Self> {
        let path = PathBuf::from(format!("/usr/src/linux-source-{release}.tar.xz"));
        path.is_file().then(|| Self { path, content: OnceLock::new() })
    }

    /// Returns a tarball that is known by `key`.
    pub(crate) fn tarball(path: PathBuf, key: Key) -> Self {
        Self { path, content: Content { key, form: Form::Tarball }.into() }
    }

    /// Returns the source in the folder or tarball `path`.
    ///
    /// # Errors
    ///
    /// If it does not exist, or is a folder that is not Linux's top folder.
    pub fn at(path: &Path) -> Result<Self> {
        let found = fs::canonicalize(path).map_err(Error::io("no such source", path))?;
        let source = Self { path: found, content: OnceLock::new() };
        if source.path.is_dir() {
            source.release_of(&source.path)?;
        }
        Ok(source)
    }

    /// Returns the folder or tarball.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a key of the content: Git's own hash of a work tree without changes, else a hash of all files.
    pub(crate) fn key(&self) -> Result<&Key> {
        Ok(&self.content()?.key)
    }

    /// Reads the content, once.
    fn content(&self) -> Result<&Content> {
        if let Some(content) = self.content.get() {
            return Ok(content);
        }
        let mut hasher = KeyHasher::new("source");
        let (form, hashed) = match self.path.is_dir() {
            false => (Form::Tarball, hasher.update_file(&self.path)),
            true => match clean_git_tree(&self.path) {
                Some(tree) => {
                    hasher.update(&tree);
                    (Form::GitTree(tree), Ok(()))
                }
                None => (Form::Folder, hash_folder(&self.path, &mut hasher)),
            },
        };
        hashed.map_err(Error::io("cannot read the source", &self.path))?;
        Ok(self.content.get_or_init(|| Content { key: hasher.finish(), form }))
    }

    /// Puts a copy of the source into the folder `into`.
    pub(crate) fn copy_into(&self, into: &Path, interrupt: &Interrupt) -> Result<()> {
        let piped = |script: &str, last: &OsStr| {
            let mut sh = bound_family("sh");
            sh.arg("-c").arg(script).arg("sh").arg(&self.path).arg(into).arg(last);
            sh
        };
        let mut command = match &self.content()?.form {
            Form::Tarball => {
                let mut tar = bound("tar");
                tar.arg("-xf").arg(&self.path).arg("--strip-components=1").arg("-C").arg(into);
                // Debian's tarballs have some 60 blocks, and unpacking them takes as long as writing the files.
                tar.env("XZ_OPT", "-T0");
                tar
            }
            // tar is used instead of cp because it can leave out the history, which is larger than
            // the source.
            Form::Folder => {
                piped(r#"tar -cf - --exclude-vcs -C "$1" . | tar -xf - -C "$2""#, "".as_ref())
            }
            Form::GitTree(tree) => {
                piped(r#"git -C "$1" archive "$3" | tar -xf - -C "$2""#, tree.as_ref())
            }
        };
        let unpacked =
            run_logged("tar", &mut command, &into.with_extension("log"), interrupt, || ());
        match (unpacked, self.path.is_file()) {
            (Err(Error::Tool { why, .. }), true) => Err(Error::Source {
                path: self.path.clone(),
                why: format!(
                    "neither an image of a kernel nor a tarball of Linux's source ({why})"
                ),
            }),
            (unpacked, _) => unpacked,
        }?;
        self.release_of(into).map(|_| ())
    }

    /// Returns the release that the top Makefile in `folder` names.
    pub(crate) fn release_of(&self, folder: &Path) -> Result<Release> {
        let no_linux = |why: &str| Error::Source { path: self.path.clone(), why: why.into() };
        let makefile = fs::File::open(folder.join("Makefile"))
            .map_err(|_| no_linux("no Makefile, so this is not Linux's source"))?;
        let release = release_in(BufReader::new(makefile));
        release
            .filter(|_| folder.join("mm/slab_common.c").is_file())
            .ok_or_else(|| no_linux("this is not the top folder of Linux's source"))
    }
}

/// Reads `VERSION` and `PATCHLEVEL` from the head of the top Makefile.
fn release_in(makefile: impl BufRead) -> Option<Release> {
    let mut numbers = [None; 2];
    for line in makefile.lines().take(10).map_while(io::Result::ok) {
        let Some((name, value)) = line.split_once('=') else { continue };
        if let Some(i) = ["VERSION", "PATCHLEVEL"].iter().position(|known| *known == name.trim()) {
            numbers[i] = value.trim().parse().ok();
        }
    }
    Some(Release(numbers[0]?, numbers[1]?))
}

/// Returns the tree object that is checked out in `folder`, the top of a work tree, when no file differs from it.
///
/// Files that Git ignores may lie there; they do not belong to the tree.
fn clean_git_tree(folder: &Path) -> Option<String> {
    if !folder.join(".git").exists() {
        return None;
    }
    let git = |arguments: &[&str]| {
        let mut git = bound("git");
        // No program that the repository's configuration names is run.
        git.args(["--no-optional-locks", "-c", "core.fsmonitor=false", "-C"]).arg(folder);
        output("git", git.args(arguments)).ok()
    };
    let changes = git(&["status", "--porcelain", "--untracked-files=normal"])?;
    let tree = git(&["rev-parse", "--verify", "HEAD^{tree}"])?;
    changes.is_empty().then(|| tree.trim().to_owned())
}

/// Adds name, permission to execute and content of every file under `folder`, in the order of their names.
fn hash_folder(folder: &Path, hasher: &mut KeyHasher) -> io::Result<()> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<io::Result<_>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (name, meta, path) = (entry.file_name(), entry.metadata()?, entry.path());
        if name == ".git" {
            continue;
        }
        hasher.update(name.as_encoded_bytes());
        hasher.update([u8::from(meta.permissions().mode() & 0o100 != 0)]);
        if meta.is_dir() {
            hash_folder(&path, hasher)?;
        } else if meta.is_symlink() {
            hasher.update(fs::read_link(&path)?.as_os_str().as_encoded_bytes());
        } else if meta.is_file() {
            hasher.update_file(&path)?;
        }
    }
    // This marks the end of a folder, so that a file moved from here to the next folder changes the
    // key.
    hasher.update("");
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Makes a folder that passes for Linux's source, with one file to patch.
    pub(crate) fn little_linux(folder: &Path) {
        fs::create_dir_all(folder.join("mm")).unwrap();
        let makefile = "# SPDX\nVERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 7\nEXTRAVERSION =\n";
        fs::write(folder.join("Makefile"), makefile).unwrap();
        fs::write(folder.join("mm/slab_common.c"), "one\ntwo\nthree\n").unwrap();
    }

    #[test]
    fn a_folder_is_known_by_its_makefile() {
        let dir = tempfile::tempdir().unwrap();
        let error = Source::at(dir.path()).unwrap_err().to_string();
        assert!(error.contains("not Linux's source") && error.contains("--source"), "{error}");
        little_linux(dir.path());
        let source = Source::at(dir.path()).unwrap();
        assert_eq!(source.release_of(dir.path()).unwrap(), Release(6, 1));
    }

    fn key_of(folder: &Path) -> Key {
        Source::at(folder).unwrap().key().unwrap().clone()
    }

    fn copy(from: &Path) -> PathBuf {
        let into = from.with_extension("copy");
        fs::create_dir(&into).unwrap();
        Source::at(from).unwrap().copy_into(&into, &Interrupt::never()).unwrap();
        into
    }

    #[test]
    fn a_source_is_known_by_its_content_and_not_by_its_time_or_place() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (dir.path().join("one"), dir.path().join("two"));
        little_linux(&one);
        little_linux(&two);
        let before = key_of(&one);
        assert_eq!(key_of(&two), before);
        // The file has its old length and time, as an edit by a program may leave it.
        let file = one.join("mm/slab_common.c");
        let time = fs::metadata(&file).unwrap().modified().unwrap();
        fs::write(&file, "one\nTWO\nthree\n").unwrap();
        fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
        assert_ne!(key_of(&one), before);
    }

    #[test]
    fn a_work_tree_without_changes_is_known_by_gits_hash() {
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("linux");
        little_linux(&from);
        fs::write(from.join(".gitignore"), "*.o\n").unwrap();
        let git = |arguments: &[&str]| {
            let name = ["-c", "user.name=x", "-c", "user.email=x@example.org"];
            output("git", bound("git").arg("-C").arg(&from).args(name).args(arguments)).unwrap()
        };
        for arguments in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "x"]] {
            git(arguments);
        }
        let clean = key_of(&from);
        let tree = git(&["rev-parse", "HEAD^{tree}"]);
        assert_eq!(clean_git_tree(&from).as_deref(), Some(tree.trim()));
        fs::write(from.join("built.o"), "ignored").unwrap();
        git(&["commit", "-q", "--amend", "-m", "another commit of the same files"]);
        assert_eq!(key_of(&from), clean);
        let copied = copy(&from);
        assert!(copied.join("mm/slab_common.c").is_file());
        assert!(!copied.join("built.o").exists() && !copied.join(".git").exists());
        fs::write(from.join("new.c"), "untracked").unwrap();
        assert_eq!(clean_git_tree(&from), None);
        assert_ne!(key_of(&from), clean);
    }

    #[test]
    fn a_copy_leaves_the_history_behind() {
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("from");
        little_linux(&from);
        fs::create_dir_all(from.join(".git/objects")).unwrap();
        let into = copy(&from);
        assert!(into.join("mm/slab_common.c").is_file() && !into.join(".git").exists());
    }

    #[test]
    fn a_file_that_is_not_a_tarball_is_said_to_be_none() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("linux.tar");
        fs::write(&file, "text\n".repeat(1000)).unwrap();
        let into = dir.path().join("into");
        fs::create_dir(&into).unwrap();
        let error = Source::at(&file).unwrap().copy_into(&into, &Interrupt::never()).unwrap_err();
        let error = error.to_string();
        for part in ["linux.tar: neither an image", "does not look like a tar archive"] {
            assert!(error.contains(part), "{part} in {error}");
        }
    }

    #[test]
    fn no_source_is_said_with_its_name() {
        let error = Source::at(Path::new("/no/such/linux")).unwrap_err().to_string();
        assert!(error.starts_with("/no/such/linux: no such source"), "{error}");
    }
}
