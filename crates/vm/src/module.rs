//! The sources of one of our kernel modules.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// A folder `NAME` with `NAME.c` and a `Kbuild` file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    name: String,
    folder: PathBuf,
}

impl Module {
    /// Returns the module in `folder`.
    ///
    /// # Errors
    ///
    /// If it has no source of its name, or no `Kbuild`.
    pub fn at(folder: &Path) -> Result<Self> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for file in [format!("{name}.c"), "Kbuild".into()] {
            if !folder.join(&file).is_file() {
                return Err(Error::Config {
                    place: folder.display().to_string(),
                    why: format!("it has no {file}, so it is not a module"),
                });
            }
        }
        Ok(Self { name, folder: folder.to_owned() })
    }

    /// Returns the name, without `.ko`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the folder of its sources.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns its files, sorted.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>> {
        let unreadable = || Error::io("cannot read", &self.folder);
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(unreadable())? {
            let path = entry.map_err(unreadable())?.path();
            if path.is_file() {
                files.push(path);
            }
        }
        files.sort();
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_its_source_is_no_module() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("demo");
        fs::create_dir(&folder).unwrap();
        let error = Module::at(&folder).unwrap_err().to_string();
        assert!(error.ends_with("demo: it has no demo.c, so it is not a module"), "{error}");
        fs::write(folder.join("demo.c"), "").unwrap();
        fs::write(folder.join("Kbuild"), "obj-m := demo.o\n").unwrap();
        assert_eq!(Module::at(&folder).unwrap().name(), "demo");
    }
}
