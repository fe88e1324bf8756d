//! Names of addresses in the running kernel, also of modules that are loaded while a hunt goes on.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use slablab_trace::Symbols;

/// The kernel's symbols, read again when an address is in none of them.
pub(super) struct KernelNames(RefCell<Read>);

struct Read {
    symbols: Symbols,
    at: Instant,
}

/// No function is longer: an address further behind a symbol is of something newer.
const FUNCTION_BYTES_MAX: u64 = 1 << 20;
/// Reading costs a tenth of a second of CPU time. It happens only for an address that was not there before.
const AGAIN: Duration = Duration::from_secs(2);

impl KernelNames {
    /// Reads the symbols.
    pub(super) fn read() -> Result<Self> {
        let symbols = Symbols::running()?;
        if symbols.is_empty() {
            bail!("/proc/kallsyms has no addresses: run as root, or set kernel.kptr_restrict to 1");
        }
        Ok(Self(RefCell::new(Read { symbols, at: Instant::now() })))
    }

    /// Tells whether there is a function of that name now.
    pub(super) fn has(&self, function: &str) -> bool {
        !self.0.borrow().symbols.places(function).is_empty()
    }

    /// Returns `function+0x1c [module]`, or the address in hexadecimal.
    pub(super) fn of(&self, address: u64) -> String {
        let mut read = self.0.borrow_mut();
        let is_known = |symbols: &Symbols| {
            symbols.find(address).is_some_and(|symbol| symbol.offset < FUNCTION_BYTES_MAX)
        };
        if !is_known(&read.symbols) && read.at.elapsed() > AGAIN {
            if let Ok(symbols) = Symbols::running() {
                read.symbols = symbols;
            }
            read.at = Instant::now();
        }
        if is_known(&read.symbols) {
            read.symbols.site_name(address)
        } else {
            format!("{address:#x}")
        }
    }
}
