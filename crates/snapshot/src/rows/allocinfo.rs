//! `/proc/allocinfo`: `bytes calls file:line [module] func:name`, sizes also as `numfmt` writes them.
//!
//! Linux counterpart: `mm/alloc_tag.c` (`lib/alloc_tag.c` to 7.0), `CONFIG_MEM_ALLOC_PROFILING`.

use super::column;
use super::found::{Below, Found};
use super::kind::Kind;
use super::row_reader::RowReader;
use crate::entry::Entry;
use crate::line::{count, size};

pub(super) const READER: RowReader = RowReader {
    is_heading,
    columns: &[
        &[column::size, column::count, column::line_of_source, column::module, column::func],
        &[column::size, column::count, column::line_of_source, column::func],
    ],
    ends_anywhere: true,
    ..RowReader::new(Kind::Allocinfo, read)
};

pub(super) fn is_heading(words: &[&str]) -> bool {
    words.windows(3).any(|w| w == ["allocinfo", "-", "version:"])
}

/// Reads the size at the end of `words`; that of the OOM killer's list has its unit behind a blank: `55.4 MiB`.
fn bytes(words: &[&str]) -> Option<u64> {
    let last = *words.last()?;
    if !matches!(last, "B" | "KiB" | "MiB" | "GiB" | "TiB") {
        return size(last);
    }
    let number = words[..words.len() - 1].last()?;
    size(&format!("{number}{last}"))
}

pub(super) fn read(words: &[&str], _: Below) -> Found {
    let Some(func) = words.iter().position(|word| word.starts_with("func:")) else {
        return Found::No;
    };
    let row = entry(&words[..func], &words[func]["func:".len()..]);
    row.map_or(Found::Damaged, Found::Row)
}

fn entry(before: &[&str], function: &str) -> Option<Entry> {
    let (module, before) = match before.split_last()? {
        (module, rest) if module.starts_with('[') => (Some(*module), rest),
        _ => (None, before),
    };
    let [.., calls, place] = before else { return None };
    let bytes = bytes(&before[..before.len() - 2])?;
    let (_, line) = place.rsplit_once(':')?;
    count(line)?;
    (!function.is_empty()).then_some(())?;
    Some(Entry {
        name: function.to_owned(),
        place: module.map_or_else(|| (*place).to_owned(), |module| format!("{place} {module}")),
        objects: Some(count(calls)?),
        live_bytes: Some(bytes),
        ..Entry::default()
    })
}
