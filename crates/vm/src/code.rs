//! The code of a source: its C, its makefiles and its options, in a folder to be read.
//!
//! # How it works
//! A folder is read where it lies. A tarball is unpacked once, without what no compiler reads, into the store.

use std::path::PathBuf;

use slablab_host::{KeyHasher, bound};
use slablab_linux::Release;

use crate::builder::KernelBuilder;
use crate::error::{Error, Result};
use crate::run::run_logged;
use crate::source::Source;
use crate::step::Step;

/// Megabytes that the code takes (6.12: 1.2 GB).
const CODE_MIB: u64 = 1500;

/// What is unpacked; tar fails on a pattern that nothing matches. The last is of `Kbuild` and `Kconfig`.
const PATTERNS: [&str; 3] = ["*.[ch]", "*/Makefile", "*/K[bc][uo][in]*"];

impl KernelBuilder {
    /// Returns Debian's source of a release: the installed one, one of the cache or, if `watch` is given to report it, a
    /// downloaded one.
    ///
    /// # Errors
    ///
    /// If it cannot be downloaded.
    pub fn source_of(
        &self,
        release: Release,
        watch: Option<&mut dyn FnMut(Step<'_>)>,
    ) -> Result<Option<Source>> {
        self.debian_source(release, watch)
    }

    /// Returns the folder with the code of a source, and its release.
    ///
    /// # Errors
    ///
    /// If it is not Linux's source, or cannot be unpacked.
    pub fn code(
        &self,
        source: &Source,
        watch: &mut dyn FnMut(Step<'_>),
    ) -> Result<(PathBuf, Release)> {
        if source.path().is_dir() {
            return Ok((source.path().to_owned(), source.release_of(source.path())?));
        }
        let mut hasher = KeyHasher::new("code");
        hasher.update(source.key()?.as_str());
        let folder =
            self.store.get_or_make_anew("code", &hasher.finish(), &self.interrupt, |partial| {
                self.store.need_space(CODE_MIB)?;
                watch(Step::Begin("unpacking the code of the source"));
                let mut tar = bound("tar");
                tar.arg("-xf")
                    .arg(source.path())
                    .arg("--strip-components=1")
                    .arg("-C")
                    .arg(partial);
                tar.args(["--wildcards", "--no-anchored"]).args(PATTERNS).env("XZ_OPT", "-T0");
                let log = partial.with_extension("log");
                run_logged("tar", &mut tar, &log, &self.interrupt, || ()).map_err(|error| {
                    match error {
                        Error::Tool { why, .. } => Error::Source {
                            path: source.path().to_owned(),
                            why: format!("this is not a tarball of Linux's source ({why})"),
                        },
                        other => other,
                    }
                })?;
                source.release_of(partial).map(|_| ())
            })?;
        let release = source.release_of(&folder)?;
        Ok((folder, release))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Places;
    use crate::source::tests::little_linux;
    use slablab_host::Interrupt;
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    #[test]
    fn a_tarball_is_unpacked_once_and_a_folder_read_where_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let (cache, linux) = (dir.path().join("cache"), dir.path().join("linux-6.1"));
        little_linux(&linux);
        fs::write(linux.join("mm/notes.txt"), "").unwrap();
        fs::write(linux.join("mm/Kconfig.debug"), "").unwrap();
        let tar = |arguments: &[&str]| {
            let tar =
                Command::new("tar").args(arguments).arg("linux-6.1").current_dir(&dir).status();
            assert!(tar.unwrap().success());
        };
        tar(&["-cJf", "linux.tar.xz"]);
        let places = Places { cache: Some(cache.clone()), ..Places::default() };
        let builder = KernelBuilder::new(&places, Interrupt::never()).unwrap();
        let mut steps = 0;
        let mut code = |path: &Path| {
            let source = Source::at(path).unwrap();
            builder.code(&source, &mut |_| steps += 1).unwrap()
        };
        assert_eq!(code(&linux), (fs::canonicalize(&linux).unwrap(), Release(6, 1)));
        let (folder, release) = code(&dir.path().join("linux.tar.xz"));
        assert_eq!(release, Release(6, 1));
        assert!(
            folder.join("mm/slab_common.c").is_file() && folder.join("mm/Kconfig.debug").is_file()
        );
        assert!(!folder.join("mm/notes.txt").exists());
        assert_eq!(code(&dir.path().join("linux.tar.xz")).0, folder);
        assert_eq!(steps, 1);
    }
}
