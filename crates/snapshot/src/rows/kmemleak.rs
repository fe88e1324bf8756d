//! `/sys/kernel/debug/kmemleak`: `unreferenced object 0x... (size N):`, and the stack below.

use super::found::{Below, Found};
use super::kind::Kind;
use super::row_reader::RowReader;
use crate::entry::Entry;
use crate::line::count;

pub(super) const READER: RowReader = RowReader::new(Kind::Kmemleak, read);

pub(super) fn read(words: &[&str], _: Below) -> Found {
    let Some(at) = words.windows(2).position(|w| w == ["unreferenced", "object"]) else {
        return Found::No;
    };
    let size = words.iter().skip(at + 2).skip_while(|word| **word != "(size").nth(1);
    match size.and_then(|size| count(size.trim_end_matches([':', ')']))) {
        Some(bytes) => {
            Found::Open(Entry { objects: Some(1), live_bytes: Some(bytes), ..Entry::default() })
        }
        None => Found::Damaged,
    }
}
