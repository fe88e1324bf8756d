//! The options of an import.

use std::path::PathBuf;

use crate::source::Format;
use crate::{Addresses, Symbols};

/// What to import, and where to.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// The recording; `-` is standard input.
    pub input: PathBuf,
    /// Its format; found out when `None`.
    pub format: Option<Format>,
    /// The trace file to write.
    pub output: PathBuf,
    /// `/proc/slabinfo` of the recorded machine when the recording ended: names caches and classes that
    /// the events do not.
    pub slabinfo: Option<String>,
    /// Symbols of the recorded kernel, instead of those that the recording or this machine has.
    pub symbols: Option<Symbols>,
    /// What becomes of the addresses of call sites.
    pub addresses: Addresses,
}

impl ImportOptions {
    /// Returns the options for `input`, whose format is to be found out, to `output`.
    pub fn new(input: impl Into<PathBuf>, output: impl Into<PathBuf>) -> ImportOptions {
        let (input, output) = (input.into(), output.into());
        let (slabinfo, symbols) = (None, None);
        ImportOptions { input, format: None, output, slabinfo, symbols, addresses: Addresses::Keep }
    }
}
