//! What is to be run, as the parent writes it for the child.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::steps::Step;

/// How the inits and exits are called of modules that another one needs; a number follows.
pub(crate) const NEEDED_INIT: &str = "kapi_needed_init_";
/// The exits'.
pub(crate) const NEEDED_EXIT: &str = "kapi_needed_exit_";

/// A kernel version, as `LINUX_VERSION_CODE` has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Version(pub u32);

impl Version {
    /// Returns the version `a.b.c`.
    pub const fn new(a: u32, b: u32, c: u32) -> Self {
        Self((a << 16) + (b << 8) + if c > 255 { 255 } else { c })
    }

    /// Whether `%p` prints a hash (since 4.15).
    pub(crate) fn hashes_pointers(self) -> bool {
        self >= Self::new(4, 15, 0)
    }

    /// Whether text goes on in the line before, if that has no end and the text no level (to 4.8).
    pub(crate) fn continues_lines(self) -> bool {
        self < Self::new(4, 9, 0)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (a, b, c) = (self.0 >> 16, self.0 >> 8 & 255, self.0 & 255);
        if c == 0 && a > 2 { write!(f, "{a}.{b}") } else { write!(f, "{a}.{b}.{c}") }
    }
}

impl FromStr for Version {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::Version { text: text.into() };
        let parts: Vec<u32> = text
            .split('.')
            .map(|part| part.parse().map_err(|_| wrong()))
            .collect::<Result<_, _>>()?;
        let version = match parts[..] {
            [a, b] => Self::new(a, b, 0),
            [a, b, c] => Self::new(a, b, c),
            _ => return Err(wrong()),
        };
        let known = parts[0] <= 7 && parts[1] <= 99 && version >= Self::new(2, 6, 0);
        if known { Ok(version) } else { Err(wrong()) }
    }
}

/// A module to run, and how.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Job {
    /// The module, compiled and linked.
    pub image: PathBuf,
    /// Its name, as `lsmod` would show it.
    pub name: String,
    /// The names of the modules that it needs, in the order of their inits.
    pub needed: Vec<String>,
    /// The kernel it was compiled for.
    pub version: Version,
    /// Parameters, `name=value`.
    pub params: Vec<String>,
    /// The allocator's name.
    pub allocator: String,
    /// CPUs of the machine.
    pub cpus: u32,
    /// Memory of the machine in bytes.
    pub memory_bytes: u64,
    /// How much is checked, 0 to 2.
    pub check: u8,
    /// Whether each allocation and free is told.
    pub explain: bool,
    /// What the module's files are given after init: path and text.
    pub writes: Vec<(String, String)>,
    /// The module's files to read after init and the writes.
    pub reads: Vec<String>,
    /// What processes do with the module's files, before the reads.
    pub steps: Vec<Step>,
    /// How long to leave the module alone after init, in milliseconds.
    pub wait_ms: u64,
    /// Whether exit is run.
    pub rmmod: bool,
    /// Whether `%p` prints addresses as they are.
    pub plain_pointers: bool,
    /// Whether the module is built with AddressSanitizer.
    pub asan: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_written() {
        let known =
            [("2.6.32", 0x2_0620), ("3.10", 0x3_0a00), ("6.1.140", 0x6_018c), ("7.3", 0x7_0300)];
        for (text, code) in known {
            let version: Version = text.parse().unwrap();
            assert_eq!(version.0, code);
            assert_eq!(version.to_string(), text);
        }
        assert_eq!("4.4.302".parse::<Version>().unwrap(), Version::new(4, 4, 255));
        for text in ["", "6", "2.4.20", "8.0", "6.1.2.3", "6.x"] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }
}
