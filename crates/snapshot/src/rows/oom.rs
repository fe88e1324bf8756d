//! "Unreclaimable slab info" in the log of the OOM killer and of SysRq's `m`: `name usedKB totalKB`.
//!
//! Linux counterpart: `mm/slab_common.c` (`dump_unreclaimable_slab`), from 4.15 on.

use super::column;
use super::found::{Below, Found, names};
use super::kind::Kind;
use super::row_reader::RowReader;
use crate::entry::Entry;
use crate::line::count;

pub(super) const READER: RowReader = RowReader {
    is_heading,
    columns: &[&[column::name, column::oom_size, column::oom_size]],
    columns_min: 2,
    ..RowReader::new(Kind::Oom, read)
};

pub(super) fn is_heading(words: &[&str]) -> bool {
    words.windows(3).any(|w| w == ["Unreclaimable", "slab", "info:"])
}

pub(super) fn read(words: &[&str], _: Below) -> Found {
    let row = names(words).find(|at| words.len() == at + 3).and_then(|at| entry(&words[at..]));
    row.map_or(Found::No, Found::Row)
}

fn entry(row: &[&str]) -> Option<Entry> {
    let kibibytes = |word: &str| count(word.strip_suffix("KB")?)?.checked_mul(1024);
    let (used, total) = (kibibytes(row[1])?, kibibytes(row[2])?);
    (used <= total).then(|| Entry {
        name: row[0].to_owned(),
        live_bytes: Some(used),
        slab_bytes: Some(total),
        reclaimable: Some(false),
        ..Entry::default()
    })
}
