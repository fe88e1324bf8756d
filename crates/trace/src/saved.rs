//! Files of a recorded machine that a user saved beside the recording: `/proc/slabinfo` and
//! `/proc/kallsyms`.
//!
//! # How it works
//! The text is read once, as it may come through a pipe, and is refused unless it is whole: a list that was cut
//! would leave caches and call sites unnamed in silence.
//!
//! Linux counterpart: `mm/slab_common.c` (slabinfo 2.1), `kernel/kallsyms.c` @ 6.1.

use slablab_linux::SlabInfo;

use crate::error::At;
use crate::{Error, Input, Symbols};

/// No slabinfo is longer: it could list 100,000 caches, which a kernel with many memory control groups
/// came near.
const SLABINFO_BYTES_MAX: u64 = 16 << 20;

/// No kernel's symbols are longer: they have a few hundred thousand lines of some 50 bytes.
const KALLSYMS_BYTES_MAX: u64 = 256 << 20;

const SAVE_SLABINFO: &str = "save it with `cat`, as root, and name that file";

/// Reads a saved `/proc/slabinfo` as it is, once it is known to be whole.
///
/// # Errors
/// If it cannot be read, is anything else, has more than one moment, or has a line that cannot be read.
pub fn saved_slabinfo(input: Input) -> Result<String, Error> {
    let path = input.path().to_owned();
    let bad = |at, what: &str| Error::bad(&path, at, what, SAVE_SLABINFO);
    const HEADING: &str = "slabinfo - version: ";
    if !input.head().starts_with(format!("{HEADING}2").as_bytes()) {
        return Err(bad(At::File, "is not a text of /proc/slabinfo, version 2"));
    }
    let text = input.into_text(SLABINFO_BYTES_MAX)?;
    let is_heading = |line: &str| line.starts_with(HEADING);
    let rows = || {
        let lines = text.lines().zip(1..);
        lines.filter(|(line, _)| !line.starts_with('#') && !line.is_empty() && !is_heading(line))
    };
    if let Some((_, line)) = rows().find(|(line, _)| SlabInfo::parse(line).is_none()) {
        return Err(bad(At::Line(line), "is damaged or cut"));
    }
    if rows().next().is_none() {
        return Err(bad(At::File, "has a heading and no line below it"));
    }
    let moments = text.lines().filter(|line| is_heading(line)).count();
    if moments > 1 {
        let what = format!("has {moments} moments, and one is needed");
        let remedy = "keep the last of them, which begins with the last \"slabinfo - version\"";
        return Err(Error::bad(&path, At::File, what, remedy));
    }
    Ok(text)
}

/// Reads a saved `/proc/kallsyms`.
///
/// # Errors
/// If it cannot be read, is too long, or has no symbol with an address, as where it was saved without being root.
pub fn saved_kallsyms(input: Input) -> Result<Symbols, Error> {
    let path = input.path().to_owned();
    let symbols = Symbols::parse(&input.into_text(KALLSYMS_BYTES_MAX)?);
    if symbols.is_empty() {
        let what = "is not a text of /proc/kallsyms with addresses";
        return Err(Error::bad(&path, At::File, what, "save it as root"));
    }
    Ok(symbols)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &str) -> Input {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("s"), text).unwrap();
        Input::open(folder.path().join("s")).unwrap()
    }

    #[test]
    fn a_slabinfo_is_whole_or_refused() {
        let saved = |text: &str| saved_slabinfo(open(text)).map_err(|error| error.to_string());
        let line = |name| format!("{name} 1 42 192 21 1 : tunables 0 0 0 : slabdata 2 2 0\n");
        let heading = "slabinfo - version: 2.1\n# name <active_objs>\n";
        let whole = format!("{heading}{}{}", line("filp"), line("dentry"));
        assert_eq!(saved(&whole).unwrap(), whole);
        for cut in [2, 4, 20] {
            let cut = saved(&whole[..whole.len() - cut]).unwrap_err();
            assert!(cut.contains(":4: is damaged or cut; save"), "{cut}");
        }
        assert!(saved(&[&*whole, &whole].concat()).unwrap_err().contains("has 2 moments"));
        let empty = saved(heading).unwrap_err();
        assert!(empty.contains("no line below it"), "{empty}");
        assert!(saved("hello\n").unwrap_err().contains("is not a text of /proc/slabinfo"));
        let long = whole.repeat(1 << 17);
        assert!(saved(&long).unwrap_err().contains("is longer than 16 MiB"));
    }

    #[test]
    fn symbols_without_addresses_are_refused() {
        let saved = |text: &str| saved_kallsyms(open(text)).map_err(|error| error.to_string());
        assert!(!saved("ffffffff81000000 T _text\n").unwrap().is_empty());
        let hidden = saved("hello\n").unwrap_err();
        assert!(hidden.contains("with addresses; save it as root"), "{hidden}");
    }
}
