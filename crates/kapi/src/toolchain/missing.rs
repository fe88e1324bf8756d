//! Names that nothing defines. Of a weak one the linker makes the address 0, and a call of it would be a jump there.
//!
//! # How it works
//! The runtime is weak so that a module's own function goes before one of its. That holds for what it defines: the linker
//! refuses a name that it asks for if it is defined nowhere. Of weak names that a module declares
//! itself, the linked image tells which are undefined, and the objects' relocations how they are used. One whose address
//! is taken may be compared with NULL before it is called: that is said. One that is only called is refused.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, elf};

use crate::error::Error;

/// Returns the names that an object defines for others, one a line.
pub(super) fn defined(path: &Path) -> Result<String, Error> {
    let data = fs::read(path).map_err(Error::io(path))?;
    let file = parsed(path, &data)?;
    let global = file.symbols().filter(|s| s.is_global() && s.is_definition());
    Ok(global.filter_map(|s| s.name().ok()).map(|name| format!("{name}\n")).collect())
}

/// Returns the names that a module's objects ask for and do not define.
pub(super) fn asked(objects: &[PathBuf]) -> Result<BTreeSet<String>, Error> {
    let (mut asked, mut there) = (BTreeSet::new(), BTreeSet::new());
    for path in objects {
        let data = fs::read(path).map_err(Error::io(path))?;
        let file = parsed(path, &data)?;
        for symbol in file.symbols().filter(|s| s.is_global() && !s.is_weak()) {
            let names = if symbol.is_undefined() { &mut asked } else { &mut there };
            names.extend(symbol.name().ok().map(str::to_owned));
        }
    }
    asked.retain(|name| !name.is_empty() && !there.contains(name));
    Ok(asked)
}

/// Returns the names that a module's objects ask for and that neither they nor the runtime define.
pub(super) fn undefined(objects: &[PathBuf], runtime: &Path) -> Result<BTreeSet<String>, Error> {
    let mut asked = asked(objects)?;
    if !asked.is_empty() {
        let data = fs::read(runtime).map_err(Error::io(runtime))?;
        let file = parsed(runtime, &data)?;
        let defined = file.symbols().filter(|s| s.is_global() && s.is_definition());
        for name in defined.filter_map(|s| s.name().ok()) {
            asked.remove(name);
        }
    }
    Ok(asked)
}

/// Returns the weak names that a module's objects ask for and that nothing in the linked image defines.
pub(super) fn weak(image: &Path, objects: &[PathBuf]) -> Result<Vec<String>, Error> {
    let mut asked = BTreeSet::new();
    for path in objects {
        let data = fs::read(path).map_err(Error::io(path))?;
        let file = parsed(path, &data)?;
        let weak = file.symbols().filter(|s| s.is_undefined() && s.is_weak());
        asked.extend(weak.filter_map(|s| s.name().ok()).map(str::to_owned));
    }
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let data = fs::read(image).map_err(Error::io(image))?;
    let file = parsed(image, &data)?;
    let weak = file.dynamic_symbols().filter(|s| s.is_undefined() && s.is_weak());
    let names = weak.filter_map(|s| s.name().ok()).filter(|&name| asked.contains(name));
    Ok(names.map(str::to_owned).collect())
}

fn parsed<'d>(path: &Path, data: &'d [u8]) -> Result<object::File<'d>, Error> {
    object::File::parse(data)
        .map_err(|error| Error::Image { path: path.into(), what: error.to_string() })
}

/// Returns those of `names` that the objects call and never take the address of.
fn only_called(names: &[String], objects: &[PathBuf]) -> Result<BTreeSet<String>, Error> {
    let (mut called, mut taken) = (BTreeSet::new(), BTreeSet::new());
    for path in objects {
        let data = fs::read(path).map_err(Error::io(path))?;
        let file = parsed(path, &data)?;
        for section in file.sections() {
            for (_, relocation) in section.relocations() {
                let RelocationTarget::Symbol(index) = relocation.target() else { continue };
                let name = file.symbol_by_index(index).ok().and_then(|s| s.name().ok());
                let Some(name) = name.filter(|name| names.iter().any(|known| known == name)) else {
                    continue;
                };
                // Debug information names it, too, and uses nothing.
                if section.name().is_ok_and(|name| name.starts_with(".debug")) {
                    continue;
                }
                let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
                let is_call = if cfg!(target_arch = "x86_64") {
                    r_type == elf::R_X86_64_PLT32
                } else {
                    r_type == elf::R_AARCH64_CALL26 || r_type == elf::R_AARCH64_JUMP26
                };
                if is_call { &mut called } else { &mut taken }.insert(name.to_owned());
            }
        }
    }
    Ok(called.difference(&taken).cloned().collect())
}

/// Says where `missing` weak names are used.
///
/// # Errors
/// [`Error::Link`] if one of them is only called.
pub(super) fn told(
    module: &str,
    missing: &[Missing],
    objects: &[PathBuf],
) -> Result<String, Error> {
    let names: Vec<String> = missing.iter().map(|one| one.name.clone()).collect();
    let only_called = only_called(&names, objects)?;
    let refused: Vec<String> = missing
        .iter()
        .filter(|one| only_called.contains(&one.name))
        .map(|one| format!("  {one}"))
        .collect();
    if !refused.is_empty() {
        return Err(Error::Link {
            module: module.into(),
            message: format!(
                "weak, not provided here, and called without a look at whether it is there:\n{}",
                refused.join("\n")
            ),
        });
    }
    Ok(missing.iter().map(|one| format!("weak and not provided here, so NULL: {one}\n")).collect())
}

/// A name that nothing defines.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Missing {
    name: String,
    /// Where it is used first, as `FILE:LINE`.
    place: Option<String>,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.place.as_ref().map_or(Ok(()), |place| write!(f, " ({place})"))
    }
}

/// Picks the names out of the linker's message, each once.
pub(super) fn symbols(message: &str) -> Vec<Missing> {
    let mut found: Vec<Missing> = Vec::new();
    for line in message.lines() {
        let Some((before, rest)) = line.split_once("undefined reference to ") else { continue };
        let name = rest.trim_matches(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        // `/usr/bin/ld: a.c:9: `, or `a.c:(.text+0x1): ` without debug information.
        let place = before.trim_end_matches([':', ' ']).rsplit(": ").next();
        let is_line = |place: &&str| {
            place.rsplit_once(':').is_some_and(|(_, line)| line.parse::<u32>().is_ok())
        };
        if !found.iter().any(|known| known.name == name) {
            let place = place.filter(is_line).map(str::to_owned);
            found.push(Missing { name: name.to_owned(), place });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linker_is_understood() {
        let message = "/usr/bin/ld: 0.o: in function `a_init':\na.c:9: undefined reference to `filp_open'\n\
                       a.c:12: undefined reference to `filp_open'\na.c:13: undefined reference to `foo'\n";
        let found: Vec<_> = symbols(message).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["filp_open (a.c:9)", "foo (a.c:13)"]);
    }
}
