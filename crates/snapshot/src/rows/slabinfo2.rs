//! `/proc/slabinfo` of version 2: `name active num size perslab pages : tunables 3 : slabdata 3`, with statistics behind.
//!
//! Linux counterpart: `mm/slab_common.c` (`cache_show`).

use super::column;
use super::found::{Below, Found, counts, names};
use super::kind::Kind;
use super::row_reader::RowReader;
use crate::entry::Entry;

pub(super) const READER: RowReader = RowReader {
    is_heading,
    columns: &[&[
        column::name,
        column::count,
        column::count,
        column::count,
        column::count,
        column::count,
        column::colon,
        column::tunables,
        column::count,
        column::count,
        column::count,
        column::colon,
        column::slabdata,
        column::count,
        column::count,
        column::count,
    ]],
    ..RowReader::new(Kind::Slabinfo, read)
};

/// Bytes of the largest page that Linux has.
const PAGE_BYTES_MAX: u64 = 64 << 10;
/// Bytes of a page, unless objects need larger ones.
const PAGE_BYTES: u64 = 4 << 10;

pub(super) fn is_heading(words: &[&str]) -> bool {
    words.windows(4).any(|w| w[..3] == ["slabinfo", "-", "version:"] && w[3].starts_with('2'))
        || words.contains(&"<active_objs>")
        || words.contains(&"active_objs") && words.contains(&"num_objs")
}

/// The columns that a row needs, in the order in which the kernel prints them, and two that it may have.
const NAMES: [&str; 6] =
    ["name", "active_objs", "num_objs", "objsize", "objperslab", "pagesperslab"];
const SLABS: [&str; 2] = ["active_slabs", "num_slabs"];

/// Returns where the columns of a spreadsheet are that has them in another order than the kernel, by its heading.
pub(crate) fn order(heading: &[&str]) -> Option<Vec<usize>> {
    let place = |name: &&str| heading.iter().position(|word| word.eq_ignore_ascii_case(name));
    let mut places: Vec<usize> = NAMES.iter().map(place).collect::<Option<_>>()?;
    places.extend(SLABS.iter().map_while(place));
    places.truncate(if places.len() == NAMES.len() + SLABS.len() {
        places.len()
    } else {
        NAMES.len()
    });
    (!places.is_sorted()).then_some(places)
}

pub(super) fn read(words: &[&str], _: Below) -> Found {
    if words.iter().any(|word| word.contains('<') || word.ends_with('>')) {
        return Found::No;
    }
    let tunables = words.iter().position(|word| matches!(*word, "tunables" | ":tunables"));
    let Some(at) = tunables else {
        return begin(words);
    };
    let end = if at > 0 && words[at - 1] == ":" { at - 1 } else { at };
    let Some(start) = end.checked_sub(6) else {
        // The rest of a row that a mailer cut.
        return if end == 0 { Found::No } else { Found::Damaged };
    };
    let Some((row, least)) = row(&words[start..end]) else { return Found::Damaged };
    let behind: Vec<&str> = words[at + 1..].iter().copied().filter(|word| *word != ":").collect();
    match &behind[..] {
        limits if limits.len() < 7 && is_begin_of_rest(limits) => {
            Found::Part(Some(row.with_slabs(least)))
        }
        [a, b, c, "slabdata", rest @ ..] if counts::<3>(&[a, b, c]).is_some() => {
            match counts::<3>(rest) {
                Some([_, slabs, _]) => {
                    let reclaimable = reclaimable(rest.get(3..).unwrap_or_default());
                    Found::Row(Entry { reclaimable, ..row.with_slabs(slabs) })
                }
                None => Found::Damaged,
            }
        }
        _ => Found::Damaged,
    }
}

/// Reads what `slablab watch` puts behind a row: whether the kernel counts the cache as reclaimable.
fn reclaimable(behind: &[&str]) -> Option<bool> {
    match behind {
        ["reclaimable"] => Some(true),
        ["kept"] => Some(false),
        _ => None,
    }
}

/// Returns whether words can be the begin of `limit batch shared slabdata active slabs shared`.
fn is_begin_of_rest(words: &[&str]) -> bool {
    words.iter().enumerate().all(|(at, word)| match at {
        // Its end may be in the next line.
        3 => !word.is_empty() && "slabdata".starts_with(word),
        _ => crate::line::count(word).is_some(),
    })
}

/// Reads a line that has the numbers of the objects alone: the begin of a row, or a row whose rest was cut off.
fn begin(words: &[&str]) -> Found {
    let words = match words {
        [row @ .., ":", end] if "tunables".starts_with(end) => row,
        [row @ .., end] if end.strip_prefix(':').is_some_and(|end| "tunables".starts_with(end)) => {
            row
        }
        row => row,
    };
    let found =
        names(words).find_map(|at| row(words.get(at..at + 6).filter(|_| words.len() == at + 6)?));
    if let Some(row) = with_slabs(words) {
        return Found::Row(row);
    }
    found.map_or(Found::No, |(row, least)| Found::Part(Some(row.with_slabs(least))))
}

/// Reads a row of a spreadsheet: the numbers of the objects, active slabs and all slabs, and nothing between them.
fn with_slabs(words: &[&str]) -> Option<Entry> {
    names(words).find_map(|at| {
        let words = words.get(at..at + 8).filter(|_| words.len() == at + 8)?;
        let (row, least) = row(&words[..6])?;
        let [active_slabs, slabs] = counts::<2>(&words[6..])?;
        (active_slabs <= slabs && least <= slabs).then(|| row.with_slabs(slabs))
    })
}

/// A row without its slabs, and the bytes of one.
struct Row {
    entry: Entry,
    slab_bytes: u64,
}

/// Reads `name active num size perslab pages`, if slabs can be so, and counts the slabs that it takes.
fn row(row: &[&str]) -> Option<(Row, u64)> {
    let [active, num, size, per_slab, pages] = counts::<5>(&row[1..])?;
    let name = row[0];
    let is_possible = crate::line::is_cache_name(name)
        && (1..=1 << 22).contains(&pages)
        && size.checked_mul(per_slab)? <= pages.checked_mul(PAGE_BYTES_MAX)?;
    is_possible.then(|| {
        let needed = size * per_slab;
        let fits = |page: &u64| needed <= pages.saturating_mul(*page);
        let page = [PAGE_BYTES, 16 << 10, PAGE_BYTES_MAX].into_iter().find(fits);
        let entry = Entry {
            name: name.to_owned(),
            // A damaged row alone has more in use than there is room for.
            objects: Some(active.min(num)),
            slots: Some(num),
            object_bytes: Some(size),
            pages_per_slab: Some(pages),
            ..Entry::default()
        };
        let row = Row { entry, slab_bytes: pages.saturating_mul(page.unwrap_or(PAGE_BYTES)) };
        (row, num.div_ceil(per_slab.max(1)))
    })
}

impl Row {
    fn with_slabs(mut self, slabs: u64) -> Entry {
        self.entry.slabs = Some(slabs);
        self.entry.slab_bytes = Some(slabs.saturating_mul(self.slab_bytes));
        self.entry
    }
}
