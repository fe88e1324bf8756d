//! The slabs of the caches in the recorded kernel's slabinfo, at the moments when it was read.
//!
//! # How it works
//! Reading slabinfo takes milliseconds, and the numbers of a cache belong to some moment of the part in
//! which they were read. During that part the fewest and the most slabs are kept; the number between them that is closest
//! to the recorded one counts. So a burst that is shorter than a reading makes no difference, but one before or after it
//! does. Estimated frees stand in the middle of a reading: caches that have some are followed until there.
//!
//! # Invariants
//! [`RecordedSlabs::reach`] is called before each row that is not before [`RecordedSlabs::due_ns`], so that it sees the
//! state since the previous row.

use slablab_trace::Samples;

use crate::metrics::fit::CacheFit;

/// A cache in the recorded kernel's slabinfo.
#[derive(Debug)]
struct Asked<C> {
    /// The machine's id of it
    id: Option<C>,
    /// Its place in the trace
    index: Option<usize>,
    fit: CacheFit,
    /// The time from which its numbers in the current reading were read
    from_ns: u64,
    to_ns: u64,
    /// The fewest and the most slabs meanwhile
    slabs: Option<(u64, u64)>,
}

/// A reading.
#[derive(Debug, Clone, Copy)]
struct Reading {
    begin_ns: u64,
    middle_ns: u64,
    end_ns: u64,
    /// The time from which the next cache is read
    next_from_ns: u64,
}

/// The state of a replay at the times when the recorded kernel was read.
#[derive(Debug)]
pub(crate) struct RecordedSlabs<'a, C> {
    samples: &'a Samples,
    caches: Vec<Asked<C>>,
    /// The place of the current reading among the samples
    sample: usize,
    reading: Option<Reading>,
    /// The time of the previous row, and bytes in slabs when caches were last examined
    last_ns: u64,
    last_slab_bytes: u64,
    /// Bytes in slabs in the middle of readings: the most, and the last
    pub(crate) slab_bytes: (u64, u64),
}

impl<'a, C: Copy> RecordedSlabs<'a, C> {
    pub(crate) fn new(samples: &'a Samples) -> Self {
        let slab_bytes = (0, 0);
        let (caches, reading) = (Vec::new(), None);
        Self { samples, caches, sample: 0, reading, last_ns: 0, last_slab_bytes: 0, slab_bytes }
    }

    /// Adds a cache of the samples: the machine's, if it has it already, and its place in the trace.
    pub(crate) fn add(&mut self, id: Option<C>, index: Option<usize>, fit: CacheFit) {
        self.caches.push(Asked { id, index, fit, from_ns: 0, to_ns: 0, slabs: None });
        if self.reading.is_none() {
            self.reading = self.reading();
        }
    }

    /// Returns the time of the first row before which [`Self::reach`] has to be called.
    pub(crate) fn due_ns(&self) -> u64 {
        self.reading.map_or(u64::MAX, |reading| reading.begin_ns.saturating_add(1))
    }

    /// Notes the state until the next row, whose time is `now_ns`. `made` returns the machine's cache for one of the
    /// trace's, `slabs` the number of its slabs.
    #[cold]
    pub(crate) fn reach(
        &mut self,
        now_ns: u64,
        slab_bytes: u64,
        made: impl Fn(usize) -> Option<C>,
        slabs: impl Fn(C) -> Option<u64>,
    ) {
        while let Some(reading) = self.reading.filter(|reading| reading.begin_ns < now_ns) {
            if self.last_ns <= reading.begin_ns {
                self.begin();
            }
            let next_from_ns = self.reading.map_or(0, |reading| reading.next_from_ns);
            if next_from_ns < now_ns || slab_bytes != self.last_slab_bytes {
                self.look(now_ns, &made, &slabs);
                self.last_slab_bytes = slab_bytes;
            }
            if (self.last_ns..now_ns).contains(&reading.middle_ns) {
                self.slab_bytes = (self.slab_bytes.0.max(slab_bytes), slab_bytes);
            }
            if now_ns <= reading.end_ns {
                break;
            }
            self.end();
        }
        self.last_ns = now_ns;
    }

    /// Examines the caches that are being read until `now_ns`.
    fn look(
        &mut self,
        now_ns: u64,
        made: impl Fn(usize) -> Option<C>,
        slabs: impl Fn(C) -> Option<u64>,
    ) {
        let mut next_from_ns = u64::MAX;
        for cache in &mut self.caches {
            if cache.from_ns >= now_ns {
                next_from_ns = next_from_ns.min(cache.from_ns);
            } else if cache.to_ns >= self.last_ns {
                cache.id = cache.index.and_then(&made).or(cache.id);
                let now = cache.id.and_then(&slabs).unwrap_or(0);
                let (fewest, most) = cache.slabs.unwrap_or((now, now));
                cache.slabs = Some((fewest.min(now), most.max(now)));
            }
        }
        if let Some(reading) = &mut self.reading {
            reading.next_from_ns = next_from_ns;
        }
    }

    /// Returns the current reading; `None` behind the last.
    fn reading(&self) -> Option<Reading> {
        let middle_ns = *self.samples.times_ns.get(self.sample)?;
        let whole_ns = self.samples.parts_ns.get(self.sample).and_then(|ends| ends.last());
        let whole_ns = u64::from(whole_ns.copied().unwrap_or(0));
        let begin_ns = middle_ns.saturating_sub(whole_ns / 2);
        let end_ns = begin_ns.saturating_add(whole_ns);
        Some(Reading { begin_ns, middle_ns, end_ns, next_from_ns: begin_ns })
    }

    /// Begins the current reading.
    fn begin(&mut self) {
        let middle_ns = self.samples.times_ns.get(self.sample).copied().unwrap_or(0);
        for cache in &mut self.caches {
            let Some(sampled) = self.samples.caches.get(&cache.fit.cache) else { continue };
            (cache.from_ns, cache.to_ns) = self.samples.reading_ns(self.sample, sampled);
            if sampled.unseen_frees > 0 {
                cache.to_ns = cache.to_ns.max(middle_ns);
            }
            cache.slabs = None;
        }
    }

    /// Ends the current reading.
    fn end(&mut self) {
        for cache in &mut self.caches {
            let Some((fewest, most)) = cache.slabs.take() else { continue };
            let sampled = self.samples.caches.get(&cache.fit.cache);
            let recorded = sampled.map_or(0, |sampled| u64::from(sampled.at(self.sample).1));
            cache.fit.slabs_end = recorded.clamp(fewest, most);
            cache.fit.slabs_peak = cache.fit.slabs_peak.max(cache.fit.slabs_end);
        }
        self.sample += 1;
        self.reading = self.reading();
    }

    /// Returns the caches, when all readings were reached; none where the kernel was not read. `kept_slabs` returns
    /// how many slabs of one are kept whether they are needed or not.
    pub(crate) fn finish(&mut self, kept_slabs: impl Fn(C) -> Option<u64>) -> Vec<CacheFit> {
        let caches = std::mem::take(&mut self.caches).into_iter();
        let finished = caches.map(|Asked { id, fit, .. }| CacheFit {
            kept_slabs_end: id.and_then(&kept_slabs),
            ..fit
        });
        finished.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of one cache: middles of readings of 10 ns, and recorded slabs.
    fn samples(readings: &[(u64, u32)], parts: bool) -> Samples {
        let mut samples = Samples::default();
        let (at, slabs) = (0..).zip(readings).map(|(at, (_, slabs))| (at, *slabs)).unzip();
        let cache = slablab_trace::SampledCache { at, slabs, ..Default::default() };
        samples.times_ns = readings.iter().map(|(middle_ns, _)| *middle_ns).collect();
        samples.parts_ns = readings.iter().map(|_| vec![10]).take_while(|_| parts).collect();
        samples.caches.insert("c".into(), cache);
        samples
    }

    /// The slabs from some times on; returns the peak and the end.
    fn reached(samples: &Samples, slabs: &[(u64, u64)]) -> (u64, u64) {
        let mut reality = RecordedSlabs::new(samples);
        let fit = CacheFit { cache: "c".into(), ..CacheFit::default() };
        reality.add(Some(()), None, fit);
        let mut now = 0;
        for (time_ns, next) in slabs.iter().copied().chain([(u64::MAX, 0)]) {
            if time_ns >= reality.due_ns() {
                reality.reach(time_ns, now, |_| None, |()| Some(now));
            }
            now = next;
        }
        let fit = reality.finish(|()| None).remove(0);
        (fit.slabs_peak, fit.slabs_end)
    }

    #[test]
    fn a_burst_that_is_shorter_than_a_reading_is_no_difference() {
        // The recorded kernel was read before the burst and after it, both times while it lasted.
        let burst = [(1, 5), (100, 5), (104, 60), (106, 7), (190, 7)];
        assert_eq!(reached(&samples(&[(105, 7), (200, 7)], true), &burst), (7, 7));
        assert_eq!(reached(&samples(&[(105, 99), (200, 7)], true), &burst), (60, 7));
        // Before or behind a reading it is a difference.
        assert_eq!(reached(&samples(&[(80, 60), (200, 7)], true), &burst), (7, 7));
        // Without a duration a reading is a moment.
        assert_eq!(reached(&samples(&[(105, 7), (200, 7)], false), &burst), (60, 7));
    }

    #[test]
    fn readings_without_rows_between_them_see_the_same() {
        let steady = [(1, 5), (500, 9)];
        assert_eq!(
            reached(&samples(&[(0, 5), (100, 5), (200, 9), (600, 9)], true), &steady),
            (9, 9)
        );
        assert_eq!(reached(&samples(&[(100, 9), (200, 9)], false), &steady), (5, 5));
    }
}
