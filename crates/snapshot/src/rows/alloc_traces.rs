//! `alloc_traces` of debugfs: `N function+0x1/0x2 [module] waste=all/each age=... pid=... cpus=...`, and the stack below.
//!
//! Linux counterpart: `mm/slub.c` (`slab_debugfs_show`), with `slub_debug=U`.

use slablab_linux::KmallocCache;

use super::column;
use super::found::{Below, Found};
use super::kind::Kind;
use super::row_reader::RowReader;
use crate::entry::Entry;
use crate::line::{count, is_cache_name};

pub(super) const READER: RowReader = RowReader {
    columns: &[&[
        column::count,
        column::place,
        column::attribute,
        column::attribute,
        column::attribute,
        column::attribute,
        column::attribute,
        column::attribute,
        column::attribute,
    ]],
    ..RowReader::new(Kind::AllocTraces, read)
};

/// Returns the cache whose file the words name: `==> /sys/kernel/debug/slab/kmalloc-64/alloc_traces <==`.
pub(crate) fn cache<'a>(words: &[&'a str]) -> Option<&'a str> {
    let folder = words.iter().find_map(|word| word.strip_suffix("/alloc_traces"))?;
    folder.rsplit('/').next().filter(|cache| is_cache_name(cache))
}

/// Gives an entry the bytes of its objects, by the name of its cache.
pub(crate) fn count_bytes(entry: &mut Entry, cache: &str) {
    let size = KmallocCache::parse(cache).map(|cache| cache.bytes);
    entry.live_bytes =
        size.zip(entry.objects).and_then(|(size, objects)| size.checked_mul(objects));
}

pub(super) fn read(words: &[&str], _: Below) -> Found {
    let has = |key: &str| words.iter().any(|word| word.starts_with(key));
    if !has("age=") || !has("pid=") {
        return Found::No;
    }
    let row = words.windows(2).find_map(|w| {
        let objects = count(w[0])?;
        let is_place = w[1].contains("+0x") || w[1].starts_with('<');
        is_place.then_some((objects, w[1]))
    });
    let Some((objects, place)) = row else { return Found::Damaged };
    let waste = words.iter().find_map(|word| word.strip_prefix("waste="));
    let waste = waste.and_then(|waste| count(waste.split('/').next()?));
    Found::Open(Entry {
        name: place.split('+').next().unwrap_or(place).to_owned(),
        place: words.iter().find(|word| word.starts_with('[')).map_or("", |word| word).to_owned(),
        objects: Some(objects),
        waste_bytes: waste,
        ..Entry::default()
    })
}
