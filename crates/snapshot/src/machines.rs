//! What the machine says of its slabs as a table of its own, and whether moments are of one machine at all.
//!
//! # How it works
//! `SReclaimable` and `SUnreclaim` are the two halves of all slabs; moments of them are a series as those of caches are.
//! Moments of two machines, or of two kernels, cannot be compared: another `MemTotal` shows that, and caches whose
//! objects have another size.

use serde::Serialize;

use crate::entry::{Entry, Machine, Moment};
use crate::heading::Differing;
use crate::moment::Above;
use crate::moments::Growing;
use crate::paste::{Paste, Table};
use crate::rows::Kind;
use crate::stamp::Stamp;

/// Memory sizes that differ by less than this share are of one machine: what a kernel reserves differs from boot to boot.
const MEMORY_SHARE_MAX: f64 = 0.01;
/// Where one cache in this many has objects of another size, the moments are of two kernels. Debugging that is
/// switched on for a few caches changes fewer.
const OTHER_SIZES_ONE_IN: usize = 4;

/// What shows that moments are not of one machine, or not of one kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Apart {
    /// Two sizes of the memory
    Memory(u64, u64),
    /// A cache, and two sizes of its objects
    Objects(String, u64, u64),
    /// What stands above two tables, which names two machines or parts of one
    Machines(String, String),
    /// What stands above two tables, which differs in a word that may name anything
    Words(String, String),
}

/// Returns what shows that the moments of a host's table are of several machines or kernels.
#[must_use]
pub fn apart(paste: &Paste, table: &Table) -> Option<Apart> {
    let said = paste.machine.iter().filter(|said| said.host == table.host);
    let mut sizes = said.filter_map(|said| said.machine.memory_bytes);
    if let Some(first) = sizes.next() {
        let differs =
            |size: &u64| size.abs_diff(first) as f64 > MEMORY_SHARE_MAX * (*size).max(first) as f64;
        if let Some(other) = sizes.find(differs) {
            return Some(Apart::Memory(first, other));
        }
    }
    let first = table.moments.iter().find(|moment| !moment.entries.is_empty())?;
    let headings = table.headings.clone().filter(|_| table.moments.len() > 1);
    let of_headings = |Differing { one, other, are_machines }| match are_machines {
        true => Apart::Machines(one, other),
        false => Apart::Words(one, other),
    };
    of_two_kernels(first, table.last()).or_else(|| headings.map(of_headings))
}

/// Returns a cache that shows that two moments are of two kernels, if as many others do.
fn of_two_kernels(first: &Moment, last: &Moment) -> Option<Apart> {
    let size = |entry: &Entry| entry.place.is_empty().then_some(entry.object_bytes?);
    let mut before: Vec<(&str, u64)> = first
        .entries
        .iter()
        .filter_map(|entry| Some((entry.name.as_str(), size(entry)?)))
        .collect();
    before.sort_unstable();
    let pairs = last.entries.iter().filter_map(|entry| {
        let at = before.binary_search_by_key(&entry.name.as_str(), |(name, _)| name).ok()?;
        Some((entry.name.as_str(), before[at].1, size(entry)?))
    });
    let (mut both, mut others, mut shown) = (0, 0, None);
    for (name, before, after) in pairs {
        both += 1;
        if before != after {
            others += 1;
            shown = shown.or(Some(Apart::Objects(name.to_owned(), before, after)));
        }
    }
    shown.filter(|_| others * OTHER_SIZES_ONE_IN >= both)
}

/// What a machine says of its memory at a moment.
#[derive(Debug)]
pub(crate) struct SaidAt {
    pub(crate) machine: Machine,
    /// The halves of slabs were counted in pages
    pub(crate) is_in_pages: bool,
    pub(crate) stamp: Option<Stamp>,
    /// The place of its host among those that are named
    pub(crate) host: usize,
    pub(crate) above: Above,
}

/// Returns the moments of the machine's own numbers as a table; nothing if it has none.
pub(crate) fn table<'a>(said: impl Iterator<Item = &'a SaidAt>) -> Option<Table> {
    let mut growing = Growing::default();
    for said in said {
        growing.boundary();
        let add = |entry| growing.add(Kind::Meminfo, entry, said.stamp, &said.above);
        entries(&said.machine).for_each(add);
    }
    growing.finish(Kind::Meminfo)
}

fn entries(machine: &Machine) -> impl Iterator<Item = Entry> {
    let part = |name: &str, bytes: Option<u64>, reclaimable| {
        let (name, slab_bytes) = (name.to_owned(), Some(bytes?));
        Some(Entry { name, slab_bytes, reclaimable, ..Entry::default() })
    };
    // The kernel prints all slabs as the sum of both.
    let rest = |half: Option<u64>| machine.slab_bytes?.checked_sub(half?);
    let (reclaimable, kept) = (machine.reclaimable_bytes, machine.unreclaimable_bytes);
    let halves = [
        part("SReclaimable", reclaimable.or_else(|| rest(kept)), Some(true)),
        part("SUnreclaim", kept.or_else(|| rest(reclaimable)), Some(false)),
    ];
    let whole = match halves {
        [None, None] => part("Slab", machine.slab_bytes, None),
        _ => None,
    };
    halves.into_iter().chain([whole]).flatten()
}
