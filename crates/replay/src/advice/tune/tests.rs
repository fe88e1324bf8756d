//! Tests: the search finds the same as trying everything.

use std::collections::BTreeMap;

use slablab_kmem::BackendKind;
use slablab_trace::{Event, Kind, Meta, NONE, TraceReader, TraceWriter};

use crate::advice::trial::Moments;
use crate::advice::tune::result::{AnswerKind, HeldAt};
use crate::advice::tune::search::{Brevity, Goal, search, tune_sheaves};
use crate::advice::tune::setting::{CacheSetting, Setting};
use crate::advice::tune::space::{BOOTS_KEPT, Space};
use crate::advice::tune::trials::Trials;
use crate::plan::{ReplayPlan, Start};

/// Objects of three caches on two CPUs, each with tides of its own.
fn trace(folder: &std::path::Path, seed: u64) -> TraceReader {
    let path = folder.join(format!("{seed}.parquet"));
    let mut writer = TraceWriter::create(&path).unwrap();
    let site = writer.site("make+0x10", 1);
    let sizes = [("a", 72u64), ("b", 200), ("c", 700)];
    let caches = sizes.map(|(name, _)| writer.cache(name));
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move |below: u64| {
        random ^= random >> 12;
        random ^= random << 25;
        random ^= random >> 27;
        (random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % below
    };
    let mut live: [Vec<u32>; 3] = Default::default();
    let (mut free, mut slots): (Vec<u32>, u32) = (Vec::new(), 0);
    for step in 0..6_000u64 {
        let which = next(3) as usize;
        let tide = [400, 150, 40][which] * u64::from(step / 1_000 % 2 == which as u64 % 2) + 10;
        let allocates = (live[which].len() as u64) < next(2 * tide);
        let (kind, object) = if allocates || live[which].is_empty() {
            let object = free.pop().unwrap_or_else(|| {
                slots += 1;
                slots - 1
            });
            live[which].push(object);
            (Kind::KmemCacheAlloc, object)
        } else {
            let place = next(live[which].len() as u64) as usize;
            let object = live[which].swap_remove(place);
            free.push(object);
            (Kind::KmemCacheFree, object)
        };
        let bytes = sizes[which].1;
        let (bytes_req, bytes_alloc) =
            if kind.is_alloc() { (bytes, bytes.next_multiple_of(8)) } else { (0, 0) };
        let cpu = next(2) as u16;
        let (time_ns, cache) = (step * 1_000, caches[which]);
        let site = if kind.is_alloc() { site } else { NONE };
        let event = Event {
            time_ns,
            cpu,
            pid: 1,
            kind,
            object,
            site,
            cache,
            bytes_req,
            bytes_alloc,
            ..Event::EMPTY
        };
        writer.push(&event).unwrap();
    }
    writer.finish(Meta { cpus: 2, nodes: 1, ..Meta::default() }).unwrap();
    TraceReader::open(&path).unwrap()
}

#[test]
fn the_search_finds_what_trying_every_mixture_finds() {
    let folder = tempfile::tempdir().unwrap();
    let pair = |cpu_partial, min_partial| CacheSetting {
        cpu_partial,
        min_partial,
        ..CacheSetting::default()
    };
    let pairs =
        vec![pair(None, None), pair(Some(0), None), pair(None, Some(0)), pair(Some(0), Some(0))];
    let boots = [None, Some(0)].map(|order_max| Setting { order_max, ..Setting::default() });
    let space = Space { boots: boots.to_vec(), pairs, boots_kept: BOOTS_KEPT };
    let kind = BackendKind::Slub;
    for seed in 1..4 {
        let reader = trace(folder.path(), seed);
        let base = ReplayPlan {
            memory_bytes: Some(64 << 20),
            start: Start::Cold,
            ..ReplayPlan::default()
        };
        let moments = Moments::new(1, reader.meta().events, 0);
        let trials = Trials { reader: &reader, kind, base, moments, held_bytes_peak: 1 << 20 };
        let all: Vec<_> = trials
            .run(&mixtures(&space), &mut |_| ())
            .unwrap()
            .into_iter()
            .map(|one| (one.allocator.held_bytes.peak, one.allocator.locks.values().sum::<u64>()))
            .collect();
        assert_eq!(all.len(), 128);
        for locks_share_max in [1.0, 1.1, 1.5] {
            let goal = Goal {
                locks_share_max,
                held_at: HeldAt::Peak,
                brevity: Brevity { held_share: 0.0, caches_max: 9 },
            };
            let tuning = search(&reader, kind, Some(64 << 20), &space, goal, &mut |_| ()).unwrap();
            let found = |kind| tuning.answer(kind).map(|answer| answer.outcome.held_bytes.peak);
            let least = |locks_max: u64| {
                let fits = all.iter().filter(|(_, locks)| *locks <= locks_max);
                fits.map(|(held, _)| *held).min()
            };
            let locks = tuning.recorded.locks;
            let allowed = (locks as f64 * locks_share_max) as u64;
            // A setting that saves hardly anything is not an answer.
            let recorded = tuning.recorded.held_bytes.peak;
            let least_worth_it = |locks_max: u64| {
                let least = least(locks_max);
                least.filter(|held| recorded - held > tuning.saving_bytes_min)
            };
            assert_eq!(found(AnswerKind::NoMoreLocks), least_worth_it(locks), "seed {seed}");
            assert_eq!(
                found(AnswerKind::WithinLocks),
                least_worth_it(allowed),
                "{seed}, {allowed}"
            );
            assert_eq!(found(AnswerKind::Extreme), least_worth_it(u64::MAX), "seed {seed}");
        }
    }
}

/// Returns every mixture of settings of three caches, for each setting of the machine.
fn mixtures(space: &Space) -> Vec<Setting> {
    let mut mixtures: Vec<BTreeMap<String, CacheSetting>> = vec![BTreeMap::new()];
    for cache in ["a", "b", "c"] {
        let with = |pair: &CacheSetting, mixture: &BTreeMap<String, CacheSetting>| {
            let mut mixture = mixture.clone();
            mixture.insert(cache.to_owned(), *pair);
            mixture
        };
        mixtures = mixtures
            .iter()
            .flat_map(|mixture| space.pairs.iter().map(move |pair| with(pair, mixture)))
            .collect();
    }
    let of = |boot: &Setting, caches: &BTreeMap<String, CacheSetting>| Setting {
        caches: caches.clone(),
        ..boot.clone()
    };
    space
        .boots
        .iter()
        .flat_map(|boot| mixtures.iter().map(move |caches| of(boot, caches)))
        .collect()
}

/// A load whose objects go from CPU to CPU: smaller barns and sheaves hold less, and each setting was replayed as a whole.
#[test]
fn sheaves_are_searched_and_a_smaller_barn_holds_less() {
    let folder = tempfile::tempdir().unwrap();
    let reader = trace(folder.path(), 3);
    let tuning = tune_sheaves(&reader, Some(64 << 20), 1e6, HeldAt::Mean, &mut |_| {}).unwrap();
    assert_eq!(tuning.allocator, "slub-sheaves");
    assert!(tuning.recorded.setting.is_recorded());
    // Five barns with seven capacities, and mixtures over caches.
    assert!(tuning.tried.len() >= 35, "{}", tuning.tried.len());
    let mean = |barn, percent| {
        let every = CacheSetting { sheaf_percent: percent, ..CacheSetting::default() };
        let setting = Setting { barn_sheaves: barn, every, ..Setting::default() };
        let found = tuning.tried.iter().find(|one| one.setting == setting).unwrap();
        (found.held_bytes.mean, found.locks)
    };
    let (usual, without) = (mean(None, None), mean(Some(0), Some(0)));
    assert!(without.0 <= usual.0 && without.1 > usual.1, "{usual:?} {without:?}");
    assert!(mean(Some(20), Some(400)).0 >= usual.0);
    let least = tuning.answers.iter().find(|answer| answer.kind == AnswerKind::Extreme);
    assert!(least.is_none_or(|least| !least.typed.source.is_empty()), "{least:?}");
}
