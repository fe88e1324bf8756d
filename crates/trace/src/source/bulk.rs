//! Decodes the records of probes at functions that allocate or free many objects in one call, for which the kernel has no
//! event of its own.
//!
//! # How it works
//! A probe is an event that [`crate::record`] defined, known by its name. It records the array of pointers
//! that the function was given; the number in the name says which ([`part`]). Each pointer becomes an event as if the
//! function had been called for it alone.
//!
//! Linux counterpart: `kmem_cache_free_bulk`, `kmem_cache_alloc_bulk_noprof`, `__kfree_rcu_sheaf` of `mm/slub.c` @ 7.3,
//! `Documentation/trace/kprobetrace.rst` @ 6.12.

use super::format::{EventFormat, Place};
use super::kmem::{CacheName, Maker, Sizes};
use super::names::Names;
use crate::{Kind, RawEvent};

/// Events that one call makes at most: 552 pointers. `kvfree_rcu_bulk` frees a page of them at once, 507 on most machines;
/// what pages of 16 and 64 KiB have beyond that is counted.
pub(crate) const PARTS: u64 = 10;

/// Events that record all calls; those behind them only what `kfree_rcu` frees.
pub(crate) const OF_ALL: u64 = 2;

/// Returns which pointers of an array an event has: the number of pointers before them, and their
/// number.
///
/// The first event is all that most calls need, the second what caches free and allocate at once (a maple node's slots,
/// packets); the kernel reads one by one what it records, and reads it whether or not it belongs to the call. An event has
/// 64 pointers at most (`MAX_ARRAY_LEN` of `kernel/trace/trace_probe.h` @ 6.12).
pub(crate) const fn part(number: u64) -> (u64, u64) {
    match number {
        0 => (0, 8),
        1 => (8, 32),
        number => ((number - 2).saturating_mul(64).saturating_add(40), 64),
    }
}

/// What the names of these events begin with; behind it follows the number of the part.
pub(crate) const ALLOC_BULK: &str = "slab_alloc_bulk_";
pub(crate) const FREE_BULK: &str = "slab_free_bulk_";
/// What a call is named that hands over one object.
pub(crate) const FREE_RCU: &str = "slab_free_rcu";

/// Where one of these events keeps its fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bulk {
    pub(crate) maker: Maker,
    is_alloc: bool,
    /// The position in the array of the first pointer that the event has.
    first: u64,
    /// `None` where it is not told.
    site: Option<Place>,
    /// The number of pointers in a call that the events have, if this is the first of them: that for a cache, and that
    /// for `kfree_bulk`.
    covered: Option<[u64; 2]>,
    /// Whether the call did what it is for, by what it returned.
    done: Option<Place>,
    /// How many objects the call was about; one if there is no such field.
    count: Option<Place>,
    ptrs: Place,
    /// The address of the cache, 0 for `kfree_bulk`.
    cache: Option<Place>,
    cache_name: CacheName,
    sizes: Option<Sizes>,
}

impl Bulk {
    /// Returns where the fields of such an event are, `None` for other events; says which is missing otherwise.
    pub(crate) fn new(format: &EventFormat) -> Result<Option<Bulk>, String> {
        let number = |begin| format.name.strip_prefix(begin)?.parse::<u64>().ok();
        let (is_alloc, number) = match (number(ALLOC_BULK), number(FREE_BULK)) {
            (Some(number), _) => (true, number),
            (_, Some(number)) => (false, number),
            _ if format.name == FREE_RCU => (false, 0),
            _ => return Ok(None),
        };
        let optional = |name: &str| format.field(name).map(|field| field.place);
        let place = |name: &str| {
            optional(name).ok_or_else(|| format!("event {} has no field {name}", format.name))
        };
        Ok(Some(Bulk {
            maker: Maker::new(format)?,
            is_alloc,
            first: part(number).0,
            site: ["site", "__probe_ret_ip", "__probe_ip"].into_iter().find_map(optional),
            covered: None,
            done: optional("done"),
            count: optional("count"),
            ptrs: place("ptr")?,
            cache: optional("cache"),
            cache_name: CacheName::new(format),
            sizes: is_alloc.then(|| Sizes::new(format)).transpose()?,
        }))
    }

    /// Tells the first event of each function how many pointers it and the others have.
    pub(crate) fn cover(all: &mut [&mut Bulk]) {
        for is_alloc in [false, true] {
            let of_function = |bulk: &Bulk| bulk.is_alloc == is_alloc && bulk.count.is_some();
            let parts = all.iter().filter(|bulk| of_function(bulk));
            // Only arrays of kfree_rcu, which have no cache, are recorded further.
            let ends = parts.map(|bulk| (bulk.first, bulk.first + bulk.ptrs.bytes as u64 / 8));
            let (of_all, last) = (part(OF_ALL).0, ends.clone().map(|(_, end)| end).max());
            let ends_of_all = ends.filter(|(first, _)| *first < of_all).map(|(_, end)| end);
            let covered = [ends_of_all.max().unwrap_or(0), last.unwrap_or(0)];
            for bulk in all.iter_mut().filter(|bulk| of_function(bulk) && bulk.first == 0) {
                bulk.covered = Some(covered);
            }
        }
    }

    /// Reads a record of `cpu` and appends an event for each object; returns how many objects of the call no event has,
    /// `None` when it is too short.
    pub(crate) fn decode(
        &self,
        record: &[u8],
        time_ns: u64,
        cpu: u32,
        names: &mut Names,
        to: &mut Vec<RawEvent>,
    ) -> Option<u64> {
        if let Some(done) = self.done
            && done.unsigned(record)? == 0
        {
            return Some(0);
        }
        let is_of_cache = match self.cache {
            Some(cache) => cache.unsigned(record)? != 0,
            None => true,
        };
        let name = if is_of_cache { self.cache_name.read(record)? } else { b"" };
        let kind = match (self.is_alloc, is_of_cache) {
            (true, _) => Kind::KmemCacheAlloc,
            (false, true) => Kind::KmemCacheFree,
            (false, false) => Kind::Kfree,
        };
        let mut event = RawEvent {
            time_ns,
            cpu,
            pid: self.maker.pid(record)?,
            kind,
            site: names.address(self.site.map_or(Some(0), |site| site.unsigned(record))?),
            cache: names.cache(name),
            ..RawEvent::EMPTY
        };
        if let Some(sizes) = &self.sizes {
            let (bytes_req, bytes_alloc, gfp, node) = sizes.read(record)?;
            event = RawEvent { bytes_req, bytes_alloc, gfp, node, ..event };
        }
        let count = self.count.map_or(Some(1), |count| count.unsigned(record))?;
        let held = self.ptrs.bytes as u64 / 8;
        for index in 0..count.saturating_sub(self.first).min(held) {
            let place = Place { offset: self.ptrs.offset + index as usize * 8, bytes: 8 };
            event.ptr = place.unsigned(record)?;
            // kfree_bulk passes over pointers to nothing.
            if event.ptr != 0 {
                to.push(event);
            }
        }
        let [of_cache, of_kfree] = self.covered.unwrap_or([u64::MAX; 2]);
        Some(count.saturating_sub(if is_of_cache { of_cache } else { of_kfree }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As 6.12 describes it, with an array of four.
    const FREE: &str = "name: slab_free_bulk_1\nID: 9\n\
        \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\
        \tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n\
        \tfield:u64 cache;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:u64 count;\toffset:24;\tsize:8;\tsigned:0;\n\
        \tfield:u64 site;\toffset:32;\tsize:8;\tsigned:0;\n\
        \tfield:u64 ptr[];\toffset:40;\tsize:32;\tsigned:0;\n";

    fn decoded(bulk: &Bulk, words: &[u64]) -> Option<Vec<(Kind, u64)>> {
        let record: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut events = Vec::new();
        bulk.decode(&record, 5, 1, &mut Names::default(), &mut events)?;
        Some(events.iter().map(|event| (event.kind, event.ptr)).collect())
    }

    #[test]
    fn a_call_is_an_event_for_each_pointer_that_belongs_to_it() {
        let bulk = Bulk::new(&EventFormat::parse(FREE).unwrap()).unwrap().unwrap();
        let record = |cache, count| [0, 0, cache, count, 0x77, 11, 0, 13, 14];
        // This part has the ninth pointer and those behind it.
        assert_eq!(decoded(&bulk, &record(0, 8)).unwrap(), []);
        assert_eq!(decoded(&bulk, &record(0, 11)).unwrap(), [(Kind::Kfree, 11), (Kind::Kfree, 13)]);
        let all = decoded(&bulk, &record(1, u64::MAX)).unwrap();
        assert_eq!(all, [11, 13, 14].map(|ptr| (Kind::KmemCacheFree, ptr)));
        assert_eq!(decoded(&bulk, &record(1, 12)[..8]), None, "a record that is cut");
    }

    #[test]
    fn objects_beyond_what_is_recorded_are_counted() {
        let event = |name: &str| {
            let text = FREE.replace("slab_free_bulk_1", name);
            Bulk::new(&EventFormat::parse(&text).unwrap()).unwrap().unwrap()
        };
        // Each has four of the pointers here.
        let (mut first, mut second) = (event("slab_free_bulk_0"), event("slab_free_bulk_1"));
        let mut third = event("slab_free_bulk_2");
        Bulk::cover(&mut [&mut third, &mut first, &mut second]);
        let missed = |bulk: &Bulk, cache, count| {
            let words = [0, 0, cache, count, 0x77, 11, 12, 13, 14_u64];
            let record: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            bulk.decode(&record, 5, 1, &mut Names::default(), &mut Vec::new()).unwrap()
        };
        assert_eq!([12, 13].map(|count| missed(&first, 1, count)), [0, 1]);
        assert_eq!([44, 50].map(|count| missed(&first, 0, count)), [0, 6]);
        assert_eq!((missed(&second, 0, 50), missed(&third, 0, 50)), (0, 0), "counted once");
    }

    #[test]
    fn a_call_that_did_nothing_makes_no_event() {
        let rcu = FREE.replace("slab_free_bulk_1", FREE_RCU).replace("count", "done");
        let bulk = Bulk::new(&EventFormat::parse(&rcu).unwrap()).unwrap().unwrap();
        assert_eq!(decoded(&bulk, &[0, 0, 1, 0, 0, 11, 12, 0, 0]).unwrap(), []);
        let one = decoded(&bulk, &[0, 0, 1, 1, 0, 11, 12, 0, 0]).unwrap();
        assert_eq!(one, [(Kind::KmemCacheFree, 11)]);
        let lacks = FREE.replace("ptr[]", "other[]");
        assert!(Bulk::new(&EventFormat::parse(&lacks).unwrap()).unwrap_err().contains("ptr"));
        let other = FREE.replace("slab_free_bulk_1", "kfree");
        assert!(Bulk::new(&EventFormat::parse(&other).unwrap()).unwrap().is_none());
    }
}
