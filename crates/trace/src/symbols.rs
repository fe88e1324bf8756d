//! The kernel's symbols: an address to `symbol+0x1c [module]`.
//!
//! # How it works
//! The lines of a `kallsyms` text are sorted by address; the last at or below an
//! address is its symbol. Where several symbols share an address, the one that perf would print
//! wins, so that our tables and perf's name the same site alike.
//!
//! Linux counterpart: `tools/perf/util/symbol.c` @ 6.1 (which symbol of several).

use std::ops::Range;
use std::path::Path;

use crate::Error;

/// A function as it is named, or a place in it: `function+0x1c [module]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    pub(crate) function: &'a str,
    pub(crate) offset: Option<u64>,
    pub(crate) module: Option<&'a str>,
}

impl Place<'_> {
    /// Reads a name; `None` where what is behind `+` is not a number.
    pub(crate) fn parse(name: &str) -> Option<Place<'_>> {
        let bare = name.strip_suffix(']').and_then(|name| name.split_once(" ["));
        let (place, module) = bare.map_or((name, None), |(place, module)| (place, Some(module)));
        let Some((function, offset)) = place.split_once('+') else {
            return Some(Place { function: place, offset: None, module });
        };
        let digits = offset.strip_prefix("0x").unwrap_or(offset);
        let offset = Some(u64::from_str_radix(digits, 16).ok()?);
        Some(Place { function, offset, module })
    }

    /// Returns the function alone of a name.
    pub(crate) fn function_of(name: &str) -> &str {
        Place::parse(name).map_or(name, |place| place.function)
    }

    /// Returns whether it has all that `wanted` names.
    pub(crate) fn is_of(&self, wanted: &Place<'_>) -> bool {
        self.function == wanted.function
            && (wanted.offset.is_none() || self.offset == wanted.offset)
            && (wanted.module.is_none() || self.module == wanted.module)
    }
}

/// A table of the kernel's symbols, ordered by address.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    starts: Vec<u64>,
    names: Vec<Name>,
    /// First address that is in no symbol any more.
    end: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Name {
    symbol: String,
    module: Option<String>,
    binding: Binding,
}

/// How a symbol is bound; the greater one is preferred at the same address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Weak,
    Local,
    Global,
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

/// What an unknown symbol's end is rounded up to: a page, as perf does for the last one.
const PAGE_BYTES: u64 = 4096;

/// No function is so long: further behind a symbol is something else.
const FUNCTION_BYTES_MAX: u64 = 1 << 16;
/// What kallsyms calls the module of BPF's code, where it lists that at all.
const MADE_BY_BPF: &str = "bpf";

impl Symbols {
    /// Reads the symbols of the running kernel. Without the right to see addresses the table is empty.
    ///
    /// # Errors
    /// If `/proc/kallsyms` cannot be read.
    pub fn running() -> Result<Symbols, Error> {
        let path = Path::new("/proc/kallsyms");
        let text = std::fs::read(path).map_err(|e| Error::io(path, "cannot read", e))?;
        Ok(Symbols::parse(&String::from_utf8_lossy(&text)))
    }

    /// Reads a text in the format of `/proc/kallsyms`; lines that are not are passed over.
    pub fn parse(text: &str) -> Symbols {
        let mut all: Vec<(u64, Name)> = text.lines().filter_map(parse_line).collect();
        all.sort_by_key(|&(start, _)| start);
        let mut symbols = Symbols::default();
        for (start, name) in all {
            if symbols.starts.last() == Some(&start) {
                let last = symbols.names.len() - 1;
                if name.beats(&symbols.names[last]) {
                    symbols.names[last] = name;
                }
            } else {
                symbols.starts.push(start);
                symbols.names.push(name);
            }
        }
        let last = symbols.starts.last().copied().unwrap_or(0);
        symbols.end = last.next_multiple_of(PAGE_BYTES).saturating_add(PAGE_BYTES);
        symbols
    }

    /// Returns whether there are no symbols at all.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Moves all symbols of the kernel proper by as much as `name` is away from `address`: kernel
    /// address randomisation puts the same kernel elsewhere at each boot.
    pub(crate) fn relocate(&mut self, name: &str, address: u64) {
        let here = self.names.iter().position(|n| n.symbol == name && n.module.is_none());
        let Some(here) = here.map(|at| self.starts[at]) else { return };
        for start in &mut self.starts {
            *start = start.wrapping_sub(here).wrapping_add(address);
        }
        self.end = self.end.wrapping_sub(here).wrapping_add(address);
    }

    /// Returns the symbol that `address` is in.
    pub fn find(&self, address: u64) -> Option<Symbol<'_>> {
        let after = self.starts.partition_point(|&start| start <= address);
        let at = after.checked_sub(1).filter(|_| address < self.end)?;
        let name = &self.names[at];
        Some(Symbol {
            name: &name.symbol,
            module: name.module.as_deref(),
            offset: address - self.starts[at],
        })
    }

    /// Returns whether `address` is in a function of the kernel or of a module, and not in code that was made while it runs.
    pub(crate) fn knows(&self, address: u64) -> bool {
        let symbol = self.find(address);
        symbol.is_some_and(|it| it.offset < FUNCTION_BYTES_MAX && it.module != Some(MADE_BY_BPF))
    }

    /// Returns where the functions of that name are, or the one address of `name+0x1c` in each that is so long. Behind it,
    /// ` [module]` chooses those of a module.
    pub fn places(&self, name: &str) -> Vec<Range<u64>> {
        let Some(asked) = Place::parse(name) else { return Vec::new() };
        let is_asked = |name: &Name| {
            name.symbol == asked.function
                && asked.module.is_none_or(|module| name.module.as_deref() == Some(module))
        };
        let named = (0..self.names.len()).filter(|&at| is_asked(&self.names[at]));
        let whole =
            |at: usize| self.starts[at]..self.starts.get(at + 1).copied().unwrap_or(self.end);
        let part = |whole: Range<u64>| match asked.offset {
            // The return address of a function's last call may be where the next begins.
            Some(offset) if offset > whole.end - whole.start => None,
            Some(offset) => Some(whole.start + offset..whole.start + offset + 1),
            None => Some(whole),
        };
        named.filter_map(|at| part(whole(at))).collect()
    }

    /// Returns the parts that a compiler made of a function: `name.part.0`, `name.constprop.0`; without its module.
    pub(crate) fn parts(&self, name: &str) -> Vec<String> {
        let function = Place::function_of(name);
        let is_part =
            |symbol: &str| symbol.strip_prefix(function).is_some_and(|r| r.starts_with('.'));
        let names = self.names.iter().map(|name| &name.symbol[..]);
        // Functions that run once and late are of no interest.
        let mut parts: Vec<String> = names
            .filter(|name| is_part(name) && !name.contains(".cold"))
            .map(str::to_owned)
            .collect();
        parts.sort();
        parts.dedup();
        parts
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

impl Name {
    /// Returns whether perf prefers this symbol to `other` at the same address: the stronger binding,
    /// then fewer underscores in front, then the longer name; among equals the first.
    fn beats(&self, other: &Name) -> bool {
        let underscores = |name: &Name| name.symbol.bytes().take_while(|&b| b == b'_').count();
        let weak = |name: &Name| name.binding == Binding::Weak;
        let global = |name: &Name| name.binding == Binding::Global;
        (weak(other), global(self), underscores(other), self.symbol.len())
            > (weak(self), global(other), underscores(self), other.symbol.len())
    }
}

/// Reads `ADDRESS TYPE NAME[<tab>[MODULE]]`. Data symbols count, as they end the code before them.
fn parse_line(line: &str) -> Option<(u64, Name)> {
    let mut words = line.split_ascii_whitespace();
    let start = u64::from_str_radix(words.next()?, 16).ok().filter(|&start| start != 0)?;
    let binding = match words.next()? {
        "T" | "D" | "B" => Binding::Global,
        "t" | "d" | "b" => Binding::Local,
        "W" | "w" => Binding::Weak,
        _ => return None,
    };
    let symbol = words.next()?.to_owned();
    let module = words.next().map(|word| word.trim_matches(['[', ']']).to_owned());
    Some((start, Name { symbol, module, binding }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "ffffffff81000000 T _stext\nffffffff81000000 T _text\n\
        ffffffff81000100 t local\nffffffff81000100 W __weak\nffffffff81000200 T __x\n\
        ffffffff81000200 T xx\nffffffff81000300 D data\nffffffffc0000000 t f\t[ext4]\nbroken\n";

    #[test]
    fn what_the_compiler_made_of_a_function_is_found_by_its_name() {
        let symbols = Symbols::parse(
            "1000 t getname_flags\n1100 t getname_flags.part.0\n1200 t getname_flags.cold\n1300 t getname\n",
        );
        assert_eq!(symbols.parts("getname_flags+0x24"), ["getname_flags.part.0"]);
        assert!(symbols.parts("getname").is_empty());
    }

    /// An offset beyond the function was taken for an address somewhere else, and one beyond all addresses ended in a panic.
    #[test]
    fn an_offset_is_of_a_function_that_is_so_long() {
        let symbols = Symbols::parse(TEXT);
        let local = 0xffff_ffff_8100_0100;
        for offset in [0x1c, 0x100] {
            let places = symbols.places(&format!("local+{offset:#x}"));
            assert_eq!(places.len(), 1);
            assert_eq!(places[0], local + offset..local + offset + 1);
        }
        for beyond in ["local+0x101", "local+0xffffffffffffffff", "local+0x10000000000000000"] {
            assert!(symbols.places(beyond).is_empty(), "{beyond}");
        }
    }

    #[test]
    fn code_that_was_made_later_is_not_known() {
        let symbols = Symbols::parse(
            "1000 t f\n2000 t g\t[one]\n5000 t bpf_trampoline_1\t[bpf]\n6000 t end\n",
        );
        assert!(symbols.knows(0x1010) && symbols.knows(0x2010));
        assert!(!symbols.knows(0x5010) && !symbols.knows(0x10) && !symbols.knows(0x1_0000_0000));
        assert!(!Symbols::parse("1000 t f\n90000 t end\n").knows(0x1_1000));
    }

    /// Whatever module was named, functions of all were taken.
    #[test]
    fn a_function_named_with_its_module_is_of_that_module() {
        let symbols = Symbols::parse("1000 t f\t[one]\n2000 t f\t[two]\n3000 t f\n4000 t end\n");
        let places = |name: &str| -> Vec<u64> {
            symbols.places(name).into_iter().map(|place| place.start).collect()
        };
        assert_eq!(places("f"), [0x1000, 0x2000, 0x3000]);
        assert_eq!(places("f+0x4 [two]"), [0x2004]);
        assert!(places("f [three]").is_empty() && places("end [one]").is_empty());
    }

    #[test]
    fn an_address_is_in_the_last_symbol_at_or_below_it() {
        let symbols = Symbols::parse(TEXT);
        assert_eq!(symbols.site_name(0xffff_ffff_8100_0004), "_stext+0x4");
        assert_eq!(symbols.perf_name(0xffff_ffff_8100_01ff), "local+ff");
        assert_eq!(symbols.site_name(0xffff_ffff_8100_0200), "xx+0x0");
        assert_eq!(symbols.site_name(0xffff_ffff_c000_0010), "f+0x10 [ext4]");
        assert_eq!(symbols.site_name(0x1000), "0x1000");
        assert_eq!(symbols.site_name(0xffff_ffff_d000_0000), "0xffffffffd0000000");
    }

    #[test]
    fn hidden_addresses_make_an_empty_table() {
        let symbols = Symbols::parse("0000000000000000 T _text\n0000000000000000 T schedule\n");
        assert!(symbols.is_empty());
        assert_eq!(symbols.perf_name(0x12), "0x12");
    }

    #[test]
    fn relocation_moves_every_symbol() {
        let mut symbols = Symbols::parse(TEXT);
        symbols.relocate("_stext", 0xffff_ffff_9100_0000);
        assert_eq!(symbols.site_name(0xffff_ffff_9100_0210), "xx+0x10");
    }
}
