//! What existed before the first event of a recording that begins with the boot.
//!
//! # How it works
//! The kernel has no count of that time. So the objects are those that the last sample has, or that were freed, and whose
//! allocation has no event. Not all of them can be that old: what the first real sample did not have yet came unseen, but
//! for what stays to the end, as nothing else makes that. (Most nodes of the maple tree are allocated in bulk: 3,187 were
//! taken for older, where a kernel had 96 when its user space began.)

use super::Population;
use crate::Samples;
use crate::import::cache::Cache;

impl Population {
    /// Stores in the first sample, where it was not really taken, how many objects existed before the first event.
    pub(in crate::import) fn older_than_events(&self, samples: &mut Samples) {
        let last = samples.times_ns.len().saturating_sub(1);
        for (name, place) in &self.by_name {
            let Some(sampled) = samples.caches.get_mut(name) else { continue };
            let in_use = u64::from(sampled.at(last).0);
            let Cache { live, older_frees, without_event, .. } = self.caches[*place as usize];
            let all = (in_use + older_frees).saturating_sub(live);
            let older = all.min(without_event.max(in_use.saturating_sub(live)));
            sampled.came_unseen = all - older;
            samples.begin_with(name, older);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{event, samples, unfreed};
    use super::*;
    use crate::{Kind, RecordedCache};

    /// All of them used to exist when a machine was switched on.
    #[test]
    fn what_the_first_sample_behind_a_boot_did_not_have_came_unseen() {
        // In use at the first sample and at the last; frees between the two; older objects, and those that came unseen.
        for (in_use, frees, older, came_unseen) in
            [([8, 8], 60, 8, 60), ([8, 20], 60, 20, 60), ([8, 0], 4, 4, 0), ([8, 0], 60, 8, 52)]
        {
            let mut samples = samples("c", &[0, in_use[0], in_use[1]]);
            let own = samples.caches.get_mut("c").unwrap();
            (own.at, own.objects, own.slabs) =
                (vec![1, 2], in_use.map(|of| of as u32).into(), vec![9, 9]);
            let events: Vec<_> =
                (0..frees).map(|ptr| (15, Kind::KmemCacheFree, 0x1000 + ptr)).collect();
            let mut population = Population::new(&samples, unfreed(&samples, &events), 1);
            population.name(&[RecordedCache { name: "c".into(), ..Default::default() }]);
            population.look(|_| None);
            population.begin_interval();
            events.iter().for_each(|_| population.free_older(&event(Kind::KmemCacheFree, 0)));
            population.count_frees(&mut samples);
            population.older_than_events(&mut samples);
            let own = &samples.caches["c"];
            assert_eq!(
                (u64::from(own.at(0).0), own.came_unseen),
                (older, came_unseen),
                "{in_use:?}"
            );
        }
    }
}
