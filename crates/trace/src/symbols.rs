//! The kernel's symbols: an address to `symbol+0x1c [module]`.

/// A table of the kernel's symbols, ordered by address.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    starts: Vec<u64>,
    names: Vec<Name>,
}

#[derive(Debug, Clone)]
struct Name {
    symbol: String,
    module: Option<String>,
}

/// A symbol found for an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Its name.
    pub name: &'a str,
    /// The module it is in, `None` for the kernel proper.
    pub module: Option<&'a str>,
    /// Bytes from its start to the address.
    pub offset: u64,
}

impl Symbols {
    /// Returns the symbol that `address` is in.
    pub fn find(&self, address: u64) -> Option<Symbol<'_>> {
        let after = self.starts.partition_point(|&start| start <= address);
        let at = after.checked_sub(1)?;
        let name = &self.names[at];
        Some(Symbol {
            name: &name.symbol,
            module: name.module.as_deref(),
            offset: address - self.starts[at],
        })
    }

    /// Returns `symbol+0x1c [module]`, or the address in hexadecimal when no symbol is known.
    pub fn site_name(&self, address: u64) -> String {
        match self.find(address) {
            Some(Symbol { name, module: Some(module), offset }) => {
                format!("{name}+{offset:#x} [{module}]")
            }
            Some(Symbol { name, module: None, offset }) => format!("{name}+{offset:#x}"),
            None => format!("{address:#x}"),
        }
    }

    /// Returns what `perf kmem --caller stat` prints for `address`: `symbol+1c` without 0x and
    /// without the module, or the address when no symbol is known.
    pub fn perf_name(&self, address: u64) -> String {
        match self.find(address) {
            Some(symbol) => format!("{}+{:x}", symbol.name, symbol.offset),
            None => format!("{address:#x}"),
        }
    }
}
