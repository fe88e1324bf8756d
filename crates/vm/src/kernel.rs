//! A kernel that boots: built, stock, or the user's own.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use slablab_host::{Key, KeyHasher};

use crate::error::{Error, Result};
use crate::spec::{Spec, image_release};

/// Facts about a kernel; they are in `kernel.json` in its folder.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Built {
    /// The name by which it was requested; builds of older versions do not have it
    #[serde(default)]
    pub(crate) name: String,
    pub(crate) release: String,
    pub(crate) compiler: String,
    pub(crate) build_seconds: f64,
    /// Lines that `make` printed
    pub(crate) make_lines: u64,
    /// Warnings of the compiler, each in its line; builds of older versions do not have them
    #[serde(default)]
    pub(crate) warnings: Option<Vec<String>>,
    /// The machine of a stock image
    #[serde(default)]
    pub(crate) arch: String,
    /// The image of a stock kernel, in its folder
    #[serde(default)]
    pub(crate) image: PathBuf,
}

impl Built {
    /// The file in a kernel's folder.
    const FILE: &str = "kernel.json";

    /// Reads the facts about the kernel in `folder`.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let file = folder.join(Self::FILE);
        let text = fs::read(&file).map_err(Error::io("cannot read", &file))?;
        serde_json::from_slice(&text)
            .map_err(|e| Error::io("cannot read; remove its folder to build anew", &file)(e.into()))
    }

    /// Removes it, and the number of builds, from a copy in which another kernel is built.
    pub(crate) fn remove(folder: &Path) -> Result<()> {
        for name in [Self::FILE, ".version"] {
            let file = folder.join(name);
            match fs::remove_file(&file) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io("cannot remove", &file)(e));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Writes it.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        let file = folder.join(Self::FILE);
        let json = serde_json::to_vec_pretty(self).expect("strings and numbers");
        fs::write(&file, json).map_err(Error::io("cannot write", &file))
    }
}

/// A kernel that boots.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// The request
    pub spec: Spec,
    /// Its key
    pub key: Key,
    /// Its folder
    pub folder: PathBuf,
    /// The image that boots
    pub(crate) image: PathBuf,
    /// The source tree it was built from
    pub(crate) tree: Option<PathBuf>,
    built: Built,
}

impl Kernel {
    /// Returns the release, as `uname -r` prints it.
    #[must_use]
    pub fn release(&self) -> &str {
        &self.built.release
    }

    /// Returns the compiler with which it was built; for a stock kernel, who built it.
    #[must_use]
    pub fn compiler(&self) -> &str {
        &self.built.compiler
    }

    /// Returns how long the last, unbroken part of the build took.
    #[must_use]
    pub fn build_seconds(&self) -> f64 {
        self.built.build_seconds
    }

    /// Returns what the compiler warned of when it was built, each in a line; `None` where that is not known. A kernel with
    /// patches has the warnings of what they made it compile anew.
    #[must_use]
    pub fn warnings(&self) -> Option<&[String]> {
        self.built.warnings.as_deref()
    }

    /// Returns the source tree that it was built from.
    #[must_use]
    pub fn tree(&self) -> Option<&Path> {
        self.tree.as_deref()
    }

    /// Returns the image that boots.
    #[must_use]
    pub fn image(&self) -> &Path {
        &self.image
    }

    /// Returns the modules that were built with the kernel itself; a stock kernel has none here.
    ///
    /// # Errors
    ///
    /// If the list is not readable.
    pub fn own_modules(&self) -> Result<Vec<PathBuf>> {
        if self.tree.is_none() {
            return Ok(Vec::new());
        }
        let list = self.folder.join("modules.order");
        let text = fs::read_to_string(&list).map_err(Error::io("cannot read", &list))?;
        let objects = text.lines().map(|line| line.trim().trim_end_matches(".ko"));
        Ok(objects
            .map(|line| self.folder.join(format!("{}.ko", line.trim_end_matches(".o"))))
            .collect())
    }

    /// Returns the kernel in `folder`, built from `tree` unless it is a stock one.
    pub(crate) fn at(
        spec: &Spec,
        key: Key,
        folder: PathBuf,
        tree: Option<PathBuf>,
    ) -> Result<Self> {
        let built = Built::read(&folder)?;
        let image = match &tree {
            Some(_) => folder.join("arch/x86/boot/bzImage"),
            None => folder.join(&built.image),
        };
        Ok(Self { spec: spec.clone(), key, folder, image, tree, built })
    }

    /// Returns the kernel whose image is `path`.
    pub(crate) fn of_image(spec: &Spec, path: &Path) -> Result<Self> {
        let mut hasher = KeyHasher::new("image");
        hasher.update_file(path).map_err(Error::io("cannot read", path))?;
        let release = image_release(path).unwrap_or_default();
        let built = Built { release, compiler: "the user's own image".into(), ..Built::default() };
        let folder = slablab_host::folder_of(path).to_owned();
        Ok(Self {
            spec: spec.clone(),
            key: hasher.finish(),
            folder,
            image: path.to_owned(),
            tree: None,
            built,
        })
    }
}
