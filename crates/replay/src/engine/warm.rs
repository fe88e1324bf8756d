//! The objects that the recorded kernel had before the first row, made anew.
//!
//! How it works: a recording's first sample says how many objects and slabs each cache had, and how many of the slabs
//! were in part empty. As many slabs are filled, on one CPU after the other, and then objects are freed out of as
//! many of them, evenly spaced. A row that frees an object older than the trace frees one of these, drawn at random
//! (the same in every run).

use slablab_kmem::ObjPtr;
use slablab_trace::SampledCache;

/// The objects older than the trace.
#[derive(Debug, Default)]
pub(crate) struct Warm {
    /// By the trace's cache
    objects: Vec<Vec<ObjPtr>>,
    /// Bytes given to those that are alive, of all caches
    pub(crate) bytes: u64,
    random: u64,
}

impl Warm {
    /// Keeps the objects of a cache of the trace, for rows to free.
    pub(crate) fn keep(&mut self, cache: usize, objects: Vec<ObjPtr>) {
        self.objects.resize(self.objects.len().max(cache + 1), Vec::new());
        self.objects[cache] = objects;
    }

    /// Returns one of the objects of a cache, which is to be freed.
    pub(crate) fn take(&mut self, cache: u32) -> Option<ObjPtr> {
        let objects = self.objects.get_mut(cache as usize).filter(|objects| !objects.is_empty())?;
        // Knuth's generator; its high bits are the random ones.
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let place = (self.random >> 33) as usize % objects.len();
        Some(objects.swap_remove(place))
    }
}

/// Fills a cache as it was at the first sample; returns its objects.
pub(crate) fn fill(
    sampled: &SampledCache,
    cpus: u32,
    mut alloc: impl FnMut(u32) -> Option<ObjPtr>,
    mut free: impl FnMut(u32, ObjPtr),
) -> Vec<ObjPtr> {
    let (objects, slabs) = sampled.at(0);
    let each = u64::from(sampled.slab_objects.max(1));
    let (objects, slabs) = (u64::from(objects), u64::from(slabs));
    let spare = (slabs * each).saturating_sub(objects);
    let partial = match u64::from(sampled.partial_slabs) {
        0 => spare.div_ceil(each.div_ceil(2)),
        known => known,
    };
    let partial = partial.clamp(spare.div_ceil(each), slabs.max(spare.div_ceil(each)));
    let cpu_of = |slab: u64| (slab % u64::from(cpus)) as u32;
    let fill = |slab| (0..each).filter_map(|_| alloc(cpu_of(slab))).collect::<Vec<_>>();
    let filled: Vec<_> = (0..slabs).map(fill).collect();
    let (mut kept, mut emptied) = (Vec::new(), 0);
    for (slab, objects) in (0..).zip(filled) {
        let before = emptied;
        emptied = share(slab + 1, partial, slabs);
        let free_here = share(emptied, spare, partial) - share(before, spare, partial);
        for (place, object) in (0..).zip(objects) {
            match share(place + 1, free_here, each) > share(place, free_here, each) {
                true => free(cpu_of(slab), object),
                false => kept.push(object),
            }
        }
    }
    kept
}

/// Returns how many of `of` fall to the first `part` of `whole`, evenly spread.
fn share(part: u64, of: u64, whole: u64) -> u64 {
    (part * of).checked_div(whole).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(objects: u32, slabs: u32, partial_slabs: u32) -> (usize, usize, usize) {
        let sampled = SampledCache {
            slab_objects: 4,
            partial_slabs,
            at: vec![0],
            objects: vec![objects],
            slabs: vec![slabs],
            ..SampledCache::default()
        };
        let (mut next, mut freed) = (0, Vec::new());
        let alloc = |_| {
            next += 8;
            ObjPtr::new(next)
        };
        let kept = fill(&sampled, 2, alloc, |_, object| freed.push(object.get() / 8 - 1));
        freed.iter_mut().for_each(|place| *place /= 4);
        let frees = freed.len();
        freed.dedup();
        (kept.len(), frees, freed.len())
    }

    #[test]
    fn slabs_are_full_and_in_part_empty_as_they_were() {
        assert_eq!(filled(40, 10, 0), (40, 0, 0));
        assert_eq!(filled(30, 10, 5), (30, 10, 5));
        assert_eq!(filled(30, 10, 0), (30, 10, 5));
        // What was in use between two readings may not fit.
        assert_eq!(filled(30, 10, 1), (30, 10, 3));
        assert_eq!((filled(0, 0, 0), filled(5, 0, 2)), ((0, 0, 0), (0, 0, 0)));
    }

    #[test]
    fn rows_free_each_object_once() {
        let mut warm = Warm::default();
        warm.keep(1, (1..=5).filter_map(|place| ObjPtr::new(8 * place)).collect());
        let mut taken: Vec<_> = std::iter::from_fn(|| warm.take(1)).map(ObjPtr::get).collect();
        taken.sort_unstable();
        assert_eq!(taken, [8, 16, 24, 32, 40]);
        assert_eq!((warm.take(0), warm.take(9)), (None, None));
    }
}
