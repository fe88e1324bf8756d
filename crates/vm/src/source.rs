//! Where a kernel's source comes from: Debian's tarball, or a folder or tarball of the user's.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::child::{bound, bound_family, run_logged};
use crate::key::Mixer;
use crate::tools::DEBIAN_SOURCE;
use crate::{Error, Interrupt, Key, Result};

/// A kernel's source, as somebody else made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    path: PathBuf,
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Tarball,
    Folder,
}

impl Source {
    /// Returns Debian's source package for Linux 6.1.
    ///
    /// # Errors
    ///
    /// When it is not installed.
    pub fn debian() -> Result<Self> {
        if !Path::new(DEBIAN_SOURCE).is_file() {
            return Err(Error::Missing {
                programs: DEBIAN_SOURCE.into(),
                remedy:
                    "Run: sudo apt-get install linux-source-6.1, or name a source with --source"
                        .into(),
            });
        }
        Ok(Self { path: DEBIAN_SOURCE.into(), form: Form::Tarball })
    }

    /// Returns the source in the folder or tarball `path`.
    ///
    /// # Errors
    ///
    /// When there is nothing, or a folder that is not Linux's top folder.
    pub fn at(path: &Path) -> Result<Self> {
        let found = fs::canonicalize(path).map_err(Error::io("no such source", path))?;
        let form = if found.is_dir() { Form::Folder } else { Form::Tarball };
        let source = Self { path: found, form };
        if form == Form::Folder {
            source.version_of(&source.path)?;
        }
        Ok(source)
    }

    /// Returns the folder or tarball.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a key of the path and of the names, sizes and times of all files, as `make` would look at them:
    /// reading them would take minutes, this takes half a second for a folder and nothing for a tarball.
    pub(crate) fn key(&self) -> Result<Key> {
        let mut mixer = Mixer::new("source");
        mixer.mix(self.path.as_os_str().as_encoded_bytes());
        let mixed = match self.form {
            Form::Tarball => fs::metadata(&self.path).map(|meta| mix_stamp(&meta, &mut mixer)),
            Form::Folder => mix_folder(&self.path, &mut mixer),
        };
        mixed.map_err(Error::io("cannot read the source", &self.path))?;
        Ok(mixer.key())
    }

    /// Puts a copy of the source into the folder `into`.
    pub(crate) fn copy_into(&self, into: &Path, interrupt: &Interrupt) -> Result<()> {
        let mut command = match self.form {
            Form::Tarball => {
                let mut tar = bound("tar");
                tar.arg("-xf").arg(&self.path).arg("--strip-components=1").arg("-C").arg(into);
                tar
            }
            Form::Folder => {
                // tar and not cp: it can leave out the history, which is larger than the source.
                let mut sh = bound_family("sh");
                sh.arg("-c").arg(r#"tar -cf - --exclude-vcs -C "$1" . | tar -xf - -C "$2""#);
                sh.arg("sh").arg(&self.path).arg(into);
                sh
            }
        };
        run_logged(&mut command, &into.with_extension("log"), interrupt, || ())?;
        self.version_of(into).map(|_| ())
    }

    /// Returns the release that the top Makefile in `folder` speaks of, such as `6.1.192`.
    pub(crate) fn version_of(&self, folder: &Path) -> Result<Version> {
        let no_linux = |why: String| Error::Source { path: self.path.clone(), why };
        let makefile = fs::File::open(folder.join("Makefile"))
            .map_err(|_| no_linux("no Makefile, so this is not Linux's source".into()))?;
        Version::parse(BufReader::new(makefile))
            .filter(|_| folder.join("mm/slab_common.c").is_file())
            .ok_or_else(|| no_linux("this is not the top folder of Linux's source".into()))
    }
}

/// A release of Linux: `6.1.192` has series 6.1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version {
    numbers: [u32; 3],
}

impl Version {
    /// Reads `VERSION`, `PATCHLEVEL` and `SUBLEVEL` from the head of the top Makefile.
    fn parse(makefile: impl BufRead) -> Option<Self> {
        let mut numbers = [None; 3];
        for line in makefile.lines().take(10).map_while(io::Result::ok) {
            let Some((name, value)) = line.split_once('=') else { continue };
            let names = ["VERSION", "PATCHLEVEL", "SUBLEVEL"];
            if let Some(i) = names.iter().position(|known| *known == name.trim()) {
                numbers[i] = value.trim().parse().ok();
            }
        }
        Some(Self { numbers: [numbers[0]?, numbers[1]?, numbers[2]?] })
    }

    /// Returns the folder of patches that fit, such as `6.1`.
    pub(crate) fn series(&self) -> String {
        format!("{}.{}", self.numbers[0], self.numbers[1])
    }
}

/// Mixes in size and time.
fn mix_stamp(meta: &fs::Metadata, mixer: &mut Mixer) {
    mixer.mix(meta.len().to_le_bytes());
    mixer.mix(meta.mtime().to_le_bytes());
    mixer.mix(meta.mtime_nsec().to_le_bytes());
}

/// Mixes in name, size and time of every file under `folder`, in an order of its own.
fn mix_folder(folder: &Path, mixer: &mut Mixer) -> io::Result<()> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<io::Result<_>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (name, meta) = (entry.file_name(), entry.metadata()?);
        if name == ".git" {
            continue;
        }
        mixer.mix(name.as_encoded_bytes());
        if meta.is_dir() {
            mix_folder(&entry.path(), mixer)?;
        } else {
            mix_stamp(&meta, mixer);
        }
    }
    // The end of a folder: a file moved from here to the next folder changes the key.
    mixer.mix("");
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
        assert_eq!(source.version_of(dir.path()).unwrap().series(), "6.1");
    }

    #[test]
    fn a_changed_file_is_another_source() {
        let dir = tempfile::tempdir().unwrap();
        little_linux(dir.path());
        let source = Source::at(dir.path()).unwrap();
        let before = source.key().unwrap();
        assert_eq!(source.key().unwrap(), before);
        fs::write(dir.path().join("mm/slab_common.c"), "four").unwrap();
        assert_ne!(source.key().unwrap(), before);
    }

    #[test]
    fn a_copy_leaves_the_history_behind() {
        let dir = tempfile::tempdir().unwrap();
        let (from, into) = (dir.path().join("from"), dir.path().join("into"));
        little_linux(&from);
        fs::create_dir_all(from.join(".git/objects")).unwrap();
        fs::create_dir(&into).unwrap();
        Source::at(&from).unwrap().copy_into(&into, &Interrupt::never()).unwrap();
        assert!(into.join("mm/slab_common.c").is_file() && !into.join(".git").exists());
    }

    #[test]
    fn no_source_is_said_with_its_name() {
        let error = Source::at(Path::new("/no/such/linux")).unwrap_err().to_string();
        assert!(error.starts_with("/no/such/linux: no such source"), "{error}");
    }
}
