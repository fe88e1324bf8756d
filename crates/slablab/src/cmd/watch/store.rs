//! The file of the moments: continued, on the disk after each, and never larger than its limit.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use slablab_host::{Access, WholeFile};
use slablab_snapshot::{framed, thinned, whole_bytes};

/// How often, and after which time, a lock is tried again.
const LOCK_TRIES: u32 = 20;
const LOCK_NAP: std::time::Duration = std::time::Duration::from_millis(25);

pub(super) struct Store {
    path: PathBuf,
    file: File,
    bytes: u64,
    limit: u64,
}

impl Store {
    /// Opens or makes the file; what a power cut left of a moment goes.
    pub(super) fn open(path: &Path, limit: u64) -> Result<Self> {
        let cannot = |doing: &str| format!("{}: cannot {doing}", path.display());
        let mut file = Self::locked(path)?;
        let mut all = Vec::new();
        file.read_to_end(&mut all).with_context(|| cannot("read"))?;
        let bytes = match whole_bytes(&all) {
            Some(whole) => whole as u64,
            None if all.is_empty() => 0,
            // Its first moment may be what is torn.
            None if all.starts_with(b"# slablab") => 0,
            None => {
                bail!("{}: was not written by `slablab watch`; name another file", path.display())
            }
        };
        file.set_len(bytes).with_context(|| cannot("cut"))?;
        Ok(Self { path: path.to_owned(), file, bytes, limit })
    }

    /// Opens the file for this process alone.
    fn locked(path: &Path) -> Result<File> {
        let file = OpenOptions::new().read(true).append(true).create(true).open(path);
        let file = file.with_context(|| format!("{}: cannot open", path.display()))?;
        if !file.metadata().is_ok_and(|found| found.is_file()) {
            bail!("{}: cannot be cut and continued as a file can; name another", path.display());
        }
        // A process that is being started has the files of the one that starts it for a moment.
        for _ in 0..LOCK_TRIES {
            if file.try_lock().is_ok() {
                return Ok(file);
            }
            std::thread::sleep(LOCK_NAP);
        }
        bail!("{}: another `slablab watch` writes it", path.display())
    }

    /// Adds a moment, and makes older ones rarer where there is no room.
    pub(super) fn append(&mut self, text: &str) -> Result<()> {
        let cannot = format!("{}: cannot write", self.path.display());
        let moment = framed(text);
        while self.bytes > 0 && self.bytes + moment.len() as u64 > self.limit {
            let before = self.bytes;
            self.thin().with_context(|| cannot.clone())?;
            if self.bytes == before {
                bail!(
                    "{}: a moment has {} bytes, too many for --limit",
                    self.path.display(),
                    moment.len()
                );
            }
        }
        let done = self.file.write_all(moment.as_bytes()).and_then(|()| self.file.sync_data());
        if done.is_err() {
            // A full disk leaves a part of the moment, which must not stand before the next.
            let _ = self.file.set_len(self.bytes);
        }
        done.context(cannot)?;
        self.bytes += moment.len() as u64;
        Ok(())
    }

    fn thin(&mut self) -> Result<()> {
        let mut all = Vec::new();
        self.file.seek(SeekFrom::Start(0))?;
        self.file.read_to_end(&mut all)?;
        let fewer = thinned(&all);
        let whole = WholeFile::create(&self.path, Access::Umask)?;
        let mut file = whole.file()?;
        file.write_all(&fewer)?;
        file.sync_all()?;
        whole.persist()?;
        self.file = Self::locked(&self.path)?;
        self.bytes = fewer.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_never_exceeds_its_limit_and_is_continued_after_a_power_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("series");
        let mut store = Store::open(&path, 4000).unwrap();
        let moment = |at: usize| format!("moment {at:04} {}\n", "x".repeat(100));
        for at in 0..500 {
            store.append(&moment(at)).unwrap();
            assert!(path.metadata().unwrap().len() <= 4000);
        }
        assert!(Store::open(&path, 4000).is_err(), "two would write over each other");
        drop(store);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("moment 0000") && text.contains("moment 0499"));
        std::fs::write(&path, &text[..text.len() - 7]).unwrap();
        let mut store = Store::open(&path, 4000).unwrap();
        store.append(&moment(500)).unwrap();
        let text = std::fs::read(&path).unwrap();
        assert_eq!(whole_bytes(&text), Some(text.len()));
        let text = String::from_utf8(text).unwrap();
        assert!(!text.contains("moment 0499") && text.contains("moment 0500"));
    }

    #[test]
    fn another_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("letter");
        std::fs::write(&path, "Dear A.\n").unwrap();
        assert!(Store::open(&path, 4000).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "Dear A.\n");
    }
}
