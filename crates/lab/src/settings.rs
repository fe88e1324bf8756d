//! Files whose content is changed during a measurement: sysctls, attributes in sysfs.
//!
//! # How it works
//! What the files held before the first cell is written into the result folder ([`Before`]) before any of them is changed.
//! Each cell writes what it needs and puts the old content back ([`Written`]). A run that was killed in between (SIGKILL,
//! a crash) could not do that; the next one in its folder puts back what the record holds, and reports it.
//!
//! # Invariants
//! - The record of a folder is written once: all cells of a run, however often it was interrupted, have one baseline.
//! - No file is changed before the record is on the disk.

use std::fs;
use std::path::{Path, PathBuf};

use slablab_host::{Access, write_whole};

use crate::error::{Error, Result};

/// The record in a result folder.
pub(crate) const FILE: &str = "settings-before.json";

/// The content of a run's files before it began.
pub(crate) struct Before(Vec<(PathBuf, String)>);

impl Before {
    /// Reads the record of `folder`, or makes it from the present content of `files`.
    pub(crate) fn of_run<'a>(
        folder: &Path,
        files: impl IntoIterator<Item = &'a Path>,
    ) -> Result<Self> {
        let path = folder.join(FILE);
        if path.exists() {
            let text = fs::read(&path).map_err(Error::io(&path, "read the settings before"))?;
            let wrong = |e: serde_json::Error| format!("not a record of settings: {e}");
            let before = serde_json::from_slice(&text).map_err(wrong);
            return before.map(Self).map_err(Error::unreadable(&path));
        }
        let mut before: Vec<(PathBuf, String)> = Vec::new();
        for file in files {
            if before.iter().all(|(known, _)| known != file) {
                before.push((file.to_owned(), value(file)?));
            }
        }
        if !before.is_empty() {
            let failed = || Error::io(&path, "write the settings before");
            let text = serde_json::to_vec_pretty(&before).map_err(|e| failed()(e.into()))?;
            write_whole(&path, &text, Access::Umask).map_err(failed())?;
        }
        Ok(Self(before))
    }

    /// Puts back the files that a killed run left changed, and returns a line about each.
    pub(crate) fn put_back(&self) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        for (path, old) in &self.0 {
            let now = value(path)?;
            if now != *old {
                fs::write(path, old).map_err(Error::io(path, "write the old setting back"))?;
                lines.push(format!(
                    "{}: was {now}, and this run began with {old}, which is put back",
                    path.display()
                ));
            }
        }
        Ok(lines)
    }
}

/// Files that were written, with their previous content, which is written back when this is
/// dropped.
pub(crate) struct Written(Vec<(PathBuf, String)>);

impl Written {
    pub(crate) fn write(settings: &[(PathBuf, String)]) -> Result<Self> {
        let mut written = Self(Vec::new());
        for (path, new) in settings {
            written.0.push((path.clone(), value(path)?));
            fs::write(path, new).map_err(Error::io(path, "write the setting"))?;
        }
        Ok(written)
    }

    /// Writes the old content back, the last file first.
    pub(crate) fn restore(mut self) -> Result<()> {
        while let Some((path, old)) = self.0.pop() {
            fs::write(&path, old).map_err(Error::io(&path, "write the old setting back"))?;
        }
        Ok(())
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        for (path, old) in self.0.drain(..).rev() {
            // The run ends with another error, which is reported; this one is less important.
            let _ = fs::write(path, old);
        }
    }
}

/// Returns the content of a file, in the form in which it is written back.
pub(crate) fn value(path: &Path) -> Result<String> {
    let text = fs::read_to_string(path).map_err(Error::io(path, "read the old setting"))?;
    Ok(chosen(&text))
}

/// Returns what to write back: for a choice such as `always [madvise] never`, the word in brackets.
fn chosen(text: &str) -> String {
    let chosen = text.split_whitespace().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    chosen.unwrap_or(text.trim_end()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_written_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let (number, choice) = (folder.path().join("number"), folder.path().join("choice"));
        fs::write(&number, "30\n").unwrap();
        fs::write(&choice, "always [madvise] never\n").unwrap();
        let settings = vec![(number.clone(), "0".to_owned()), (choice.clone(), "never".to_owned())];
        let written = Written::write(&settings).unwrap();
        assert_eq!(fs::read_to_string(&number).unwrap(), "0");
        drop(written);
        assert_eq!(fs::read_to_string(&number).unwrap(), "30");
        assert_eq!(fs::read_to_string(&choice).unwrap(), "madvise");
        let missing =
            vec![(number.clone(), "5".to_owned()), (folder.path().join("x/y"), "1".into())];
        assert!(Written::write(&missing).is_err());
        assert_eq!(fs::read_to_string(&number).unwrap(), "30", "written back after an error");
    }

    #[test]
    fn what_a_killed_run_left_is_put_back_by_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("number");
        fs::write(&file, "30\n").unwrap();
        let of_run = || Before::of_run(folder.path(), [&*file, &*file]).unwrap();
        assert!(of_run().put_back().unwrap().is_empty());
        fs::write(&file, "7\n").unwrap();
        let lines = of_run().put_back().unwrap();
        assert_eq!(lines.len(), 1);
        assert!(lines[0].contains("was 7, and this run began with 30"), "{lines:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "30");
    }
}
