//! The file of `--vmlinux`, which is looked at before anything else is done.
//!
//! Some questions look for types or places in it only at their end, and take another kernel's where it has none: a name that
//! is misspelt would then pass for the kernel that was meant.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Result, bail};

/// What an ELF file begins with.
const ELF: [u8; 4] = *b"\x7fELF";

/// Refuses a file that is named and cannot be read, or is not ELF.
pub(crate) fn check(named: Option<&Path>) -> Result<()> {
    let Some(path) = named else { return Ok(()) };
    let remedy = "name the recorded kernel's uncompressed vmlinux, or leave --vmlinux out";
    let mut begin = Vec::new();
    let read = File::open(path).and_then(|file| file.take(4).read_to_end(&mut begin));
    match read {
        Err(error) => bail!("{}: cannot open the vmlinux: {error}; {remedy}", path.display()),
        Ok(_) if begin != ELF => {
            bail!("{}: is not a kernel, as it is not ELF; {remedy}", path.display())
        }
        Ok(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_or_not_elf_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vmlinux");
        let refusal = || check(Some(&path)).unwrap_err().to_string();
        assert!(refusal().contains("cannot open the vmlinux: No such file"), "{}", refusal());
        std::fs::write(&path, "MZ").unwrap();
        assert!(refusal().contains("is not a kernel"), "{}", refusal());
        std::fs::write(&path, "\x7fELF\x02").unwrap();
        assert!(check(Some(&path)).is_ok() && check(None).is_ok());
        assert!(check(Some(folder.path())).is_err());
    }
}
