//! A built kernel, and what was asked for.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use slablab_host::Key;

use crate::error::{Error, Result};

/// Which kernel to build.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spec {
    /// `slab`, `slub`, `slob` or `slmb`: fragment `allocator-NAME.config`
    pub allocator: String,
    /// Further fragments, such as `debug`
    pub flavours: Vec<String>,
    /// A fragment of the user's
    pub own: Option<PathBuf>,
    /// Patches on top of the series
    pub patches: Vec<PathBuf>,
}

impl Spec {
    /// Returns the plain kernel with this allocator.
    #[must_use]
    pub fn plain(allocator: &str) -> Self {
        Self { allocator: allocator.into(), flavours: vec![], own: None, patches: vec![] }
    }

    /// Returns the name: `slub`, `slmb+debug`, `slub+my-change` with `my-change.patch`.
    #[must_use]
    pub fn name(&self) -> String {
        let mut parts = vec![self.allocator.clone()];
        parts.extend(self.flavours.iter().cloned());
        let stem = |path: &PathBuf| path.file_stem().map(|s| s.to_string_lossy().into_owned());
        parts.extend(self.own.iter().chain(&self.patches).filter_map(stem));
        parts.join("+")
    }
}

/// What is known of a built kernel; `kernel.json` in its folder.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Built {
    pub(crate) release: String,
    pub(crate) compiler: String,
    pub(crate) build_seconds: f64,
    /// Lines that `make` printed
    pub(crate) make_lines: u64,
}

impl Built {
    /// The file in a kernel's build folder.
    const FILE: &str = "kernel.json";

    /// Reads what is known of the kernel in `folder`.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let file = folder.join(Self::FILE);
        let text = fs::read(&file).map_err(Error::io("cannot read", &file))?;
        serde_json::from_slice(&text)
            .map_err(|e| Error::io("cannot read; remove its folder to build anew", &file)(e.into()))
    }

    /// Writes it.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        let file = folder.join(Self::FILE);
        let json = serde_json::to_vec_pretty(self).expect("strings and numbers");
        fs::write(&file, json).map_err(Error::io("cannot write", &file))
    }
}

/// A built kernel.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// What was asked for
    pub spec: Spec,
    /// Its key
    pub key: Key,
    /// Its build folder
    pub folder: PathBuf,
    /// The source tree it was built from
    pub(crate) tree: PathBuf,
    built: Built,
}

impl Kernel {
    /// Returns the image that boots.
    #[must_use]
    pub fn image(&self) -> PathBuf {
        self.folder.join("arch/x86/boot/bzImage")
    }

    /// Returns the release, as `uname -r` prints it.
    #[must_use]
    pub fn release(&self) -> &str {
        &self.built.release
    }

    /// Returns the compiler it was built with.
    #[must_use]
    pub fn compiler(&self) -> &str {
        &self.built.compiler
    }

    /// Returns how long the last, unbroken part of the build took.
    #[must_use]
    pub fn build_seconds(&self) -> f64 {
        self.built.build_seconds
    }

    /// Returns the modules that were built with the kernel itself.
    ///
    /// # Errors
    ///
    /// When the list is not readable.
    pub fn own_modules(&self) -> Result<Vec<PathBuf>> {
        let list = self.folder.join("modules.order");
        let text = fs::read_to_string(&list).map_err(Error::io("cannot read", &list))?;
        let objects = text.lines().map(|line| line.trim().trim_end_matches(".ko"));
        Ok(objects
            .map(|line| self.folder.join(format!("{}.ko", line.trim_end_matches(".o"))))
            .collect())
    }

    /// Returns the kernel that was built in `folder`.
    pub(crate) fn at(spec: &Spec, key: Key, folder: PathBuf, tree: PathBuf) -> Result<Self> {
        let built = Built::read(&folder)?;
        Ok(Self { spec: spec.clone(), key, folder, tree, built })
    }
}
