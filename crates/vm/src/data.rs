//! Our own files that go into kernels and guests: configuration, patches, modules, the guest's scripts.
//!
//! # How it works
//! The folder `kernel/` of the sources is embedded in the program and unpacked into the cache folder, so that a program
//! that was copied elsewhere has it. `SLABLAB_KERNEL_DATA` names another folder instead.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use slablab_host::{unpacked, unpacked_in};

use crate::error::{Error, Result};
use crate::module::Module;
use slablab_linux::Release;

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// The environment variable that names another folder.
const DATA_VARIABLE: &str = "SLABLAB_KERNEL_DATA";

/// The folder with all of our files for kernels and guests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data {
    root: PathBuf,
}

impl Data {
    /// Returns the folder `root`.
    ///
    /// # Errors
    ///
    /// If it has no `config/base.config`.
    pub fn at(root: &Path) -> Result<Self> {
        let base = root.join("config/base.config");
        match fs::canonicalize(root) {
            Ok(root) if base.is_file() => Ok(Self { root }),
            _ => Err(Error::Missing {
                programs: base.display().to_string(),
                remedy: format!(
                    "{DATA_VARIABLE} must name a folder like kernel/ of slablab's sources; unset it for the one built in"
                ),
            }),
        }
    }

    /// Returns the folder that `SLABLAB_KERNEL_DATA` names, else the one that is embedded, unpacked.
    ///
    /// # Errors
    ///
    /// Fails as [`Data::at`] does, and if there is no cache folder to unpack to.
    pub fn find() -> Result<Self> {
        match env::var_os(DATA_VARIABLE) {
            Some(root) => Self::at(Path::new(&root)),
            None => Ok(Self { root: unpacked("kernel", FILES)?.join("kernel") }),
        }
    }

    /// Returns the same without a cache folder: the files are unpacked below `place`.
    pub(crate) fn find_in(place: &Path) -> Result<Self> {
        match env::var_os(DATA_VARIABLE) {
            Some(root) => Self::at(Path::new(&root)),
            None => Ok(Self { root: unpacked_in(place, "kernel", FILES)?.join("kernel") }),
        }
    }

    /// Returns the folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of a configuration fragment.
    pub(crate) fn fragment(&self, name: &str) -> PathBuf {
        self.root.join("config").join(format!("{name}.config"))
    }

    /// Returns the allocators for which there is a kernel, sorted: fragments
    /// `allocator-NAME.config`.
    #[must_use]
    pub fn allocators(&self) -> Vec<String> {
        self.fragments("allocator-")
    }

    /// Returns the flavours a kernel can have, sorted: all other fragments except the base, and those that replace it.
    #[must_use]
    pub fn flavours(&self) -> Vec<String> {
        let mut names = self.fragments("");
        names.retain(|name| !name.starts_with("base") && !name.starts_with("allocator-"));
        names.extend(self.bases());
        names.sort();
        names
    }

    /// Returns the flavours that replace the base, sorted: fragments `base-NAME.config`.
    pub(crate) fn bases(&self) -> Vec<String> {
        self.fragments("base-")
    }

    /// Returns the names of the fragments that begin with `prefix`, without it, sorted.
    fn fragments(&self, prefix: &str) -> Vec<String> {
        let name_of = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            Some(name.strip_prefix(prefix)?.strip_suffix(".config")?.to_owned())
        };
        let entries = fs::read_dir(self.root.join("config")).into_iter().flatten().flatten();
        let mut names: Vec<_> = entries.filter_map(name_of).collect();
        names.sort();
        names
    }

    /// Returns the file that lists the patches for a release.
    pub(crate) fn series(&self, release: Release) -> PathBuf {
        self.root.join("patches").join(release.to_string()).join("series")
    }

    /// Returns the releases for which there are patches, sorted.
    #[must_use]
    pub fn patched_releases(&self) -> Vec<Release> {
        let entries = fs::read_dir(self.root.join("patches")).into_iter().flatten().flatten();
        let mut releases: Vec<_> =
            entries.filter_map(|entry| Release::of(entry.file_name().to_str()?)).collect();
        releases.sort();
        releases
    }

    /// Returns a patch that is not in the series, such as `6.1/optional/NAME/NAME.patch`.
    #[must_use]
    pub fn patch(&self, path: &str) -> PathBuf {
        self.root.join("patches").join(path)
    }

    /// Returns a file for the guest.
    pub(crate) fn guest(&self, name: &str) -> PathBuf {
        self.root.join("guest").join(name)
    }

    /// Returns the libraries of shell functions for the guest.
    pub(crate) fn guest_scripts(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.root.join("guest")).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        paths.filter(|path| path.extension().is_some_and(|ext| ext == "sh")).collect()
    }

    /// Returns the modules, sorted by name: folders `modules/NAME` with a `NAME.c` and a `Kbuild`.
    #[must_use]
    pub fn modules(&self) -> Vec<Module> {
        let entries = fs::read_dir(self.root.join("modules")).into_iter().flatten().flatten();
        let mut modules: Vec<_> =
            entries.filter_map(|entry| Module::at(&entry.path()).ok()).collect();
        modules.sort_by(|a, b| a.name().cmp(b.name()));
        modules
    }

    /// Returns the module called `name`.
    ///
    /// # Errors
    ///
    /// If there is none; the message names those that exist.
    pub fn module(&self, name: &str) -> Result<Module> {
        let modules = self.modules();
        modules.iter().find(|module| module.name() == name).cloned().ok_or_else(|| {
            let known: Vec<_> = modules.iter().map(Module::name).collect();
            Error::Config {
                place: self.root.join("modules").display().to_string(),
                why: format!("no module {name}; there are: {}", known.join(", ")),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Data {
        /// Returns the folder of the sources, for tests.
        pub(crate) fn of_the_sources() -> Self {
            Self::at(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernel"))).unwrap()
        }
    }

    #[test]
    fn the_repository_has_a_kernel_for_each_allocator() {
        let data = Data::of_the_sources();
        assert_eq!(data.allocators(), ["slab", "slmb", "slob", "slub", "slub_dense", "slub_tiny"]);
        assert!(data.guest("init").is_file());
    }

    #[test]
    fn all_that_the_sources_have_is_embedded() {
        let data = Data::of_the_sources();
        let text = |path: PathBuf| fs::read_to_string(path).unwrap();
        let embedded = |path: &str| FILES.iter().find(|(name, _)| *name == path).unwrap().1;
        assert_eq!(embedded("kernel/guest/init"), text(data.guest("init")));
        assert_eq!(embedded("kernel/patches/6.1/series"), text(data.series(Release(6, 1))));
        for module in data.modules() {
            let path = format!("modules/{0}/{0}.c", module.name());
            assert_eq!(embedded(&format!("kernel/{path}")), text(data.root.join(path)));
        }
    }

    #[test]
    fn planted_bugs_and_scripts_that_torture_are_not_embedded() {
        let root = Data::of_the_sources().root;
        assert!(
            root.join("patches/6.12/broken").is_dir() && root.join("patches/torture.sh").is_file()
        );
        let is_for_developers = |path: &str| {
            path.contains("/broken/") || path.ends_with("torture.sh") || path.ends_with("check.sh")
        };
        let shipped: Vec<_> = FILES.iter().filter(|(path, _)| is_for_developers(path)).collect();
        assert!(shipped.is_empty(), "{shipped:?}");
    }

    #[test]
    fn a_wrong_folder_is_said_with_the_variable_that_mends_it() {
        let error = Data::at(Path::new("/")).unwrap_err().to_string();
        assert!(error.contains("SLABLAB_KERNEL_DATA"), "{error}");
    }
}
