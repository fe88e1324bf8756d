//! The search for settings that hold less.
//!
//! # How it works
//! The search has stages, since each is cheap beside replaying everything. First, settings of the machine
//! are replayed with the caches' left alone. Those that are neither larger nor slower than another, and the recorded
//! one, are replayed again with each setting of caches. From these replays the best mixture over caches is put together
//! ([`crate::advice::tune::select`]). It has as few lines to type as cost next to nothing, and is replayed in turn:
//! every advised setting was measured as a whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use slablab_kmem::{BackendKind, geometry};
use slablab_trace::{Meta, TraceReader, is_cache_name};

use crate::advice::judge::saving_bytes_min;
use crate::advice::trial::Moments;
use crate::advice::tune::result::{
    AdvisedSetting, AnswerKind, HeldAt, NEAR_SHARE, Outcome, Tuning, rounding_bytes,
};
use crate::advice::tune::select::{Mixture, Table};
use crate::advice::tune::setting::{CacheSetting, Configured, Merge, Setting};
use crate::advice::tune::space::Space;
use crate::advice::tune::trials::{Trials, Tried};
use crate::change::changes::Changes;
use crate::engine::replay;
use crate::error::Error;
use crate::plan::{ReplayPlan, Start};

/// Moments at which every cache is examined.
const MOMENTS: u64 = 1024;
/// Mixtures that are replayed for each number of locks.
const VERIFIED: usize = 2;
/// A mixture's locks differ a little from the sum over its caches, so mixtures are also put together for slightly fewer
/// and slightly more locks than are allowed.
const LOCKS_AROUND: [f64; 3] = [1.0, 0.99, 1.01];

/// How a search weighs bytes against lines to type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Brevity {
    /// Removing a line may cost this share of the bytes held
    pub(crate) held_share: f64,
    /// Caches that are set on their own, at most
    pub(crate) caches_max: usize,
}

impl Default for Brevity {
    fn default() -> Self {
        Self { held_share: NEAR_SHARE, caches_max: 6 }
    }
}

/// Searches the settings that the recorded kernel has for those that hold least, up to `locks_share_max` times its locks
/// and atomic operations; `progress` gets rows times settings.
///
/// # Errors
///
/// Fails as [`crate::replay()`] does; returns [`Error::NoSettings`] for an allocator without any.
pub fn tune(
    reader: &TraceReader,
    kind: BackendKind,
    memory_bytes: Option<u64>,
    locks_share_max: f64,
    held_at: HeldAt,
    progress: &mut dyn FnMut(u64),
) -> Result<Tuning, Error> {
    check_names(reader.meta())?;
    let space = Space::of(reader.meta(), kind)?;
    let goal = Goal { locks_share_max, held_at, brevity: Brevity::default() };
    search(reader, kind, memory_bytes, &space, goal, progress)
}

/// Does as [`tune`] for the capacities of sheaves and the limits of barns, which are constants of the kernel's source: the
/// answers are changes of it.
///
/// # Errors
///
/// Fails as [`crate::replay()`] does.
pub fn tune_sheaves(
    reader: &TraceReader,
    memory_bytes: Option<u64>,
    locks_share_max: f64,
    held_at: HeldAt,
    progress: &mut dyn FnMut(u64),
) -> Result<Tuning, Error> {
    check_names(reader.meta())?;
    let goal = Goal { locks_share_max, held_at, brevity: Brevity::default() };
    search(reader, BackendKind::SlubSheaves, memory_bytes, &Space::of_sheaves(), goal, progress)
}

/// Refuses a trace with an impossible cache name: its settings would be files elsewhere.
fn check_names(meta: &Meta) -> Result<(), Error> {
    let recorded = meta.caches.iter().flat_map(|cache| {
        [&cache.name, &cache.recorded]
            .into_iter()
            .chain(&cache.aliases)
            .filter(|name| !name.is_empty())
    });
    let snapshots = meta.slabs_start.iter().chain(&meta.slabs_end);
    let listed = snapshots
        .flat_map(|slabs| &slabs.caches)
        .flat_map(|cache| std::iter::once(&cache.name).chain(&cache.aliases));
    match recorded.chain(listed).find(|name| !is_cache_name(name)) {
        Some(name) => Err(Error::CacheName { name: name.clone() }),
        None => Ok(()),
    }
}

/// The parameters of a search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Goal {
    pub(crate) locks_share_max: f64,
    pub(crate) held_at: HeldAt,
    pub(crate) brevity: Brevity,
}

pub(crate) fn search(
    reader: &TraceReader,
    kind: BackendKind,
    memory_bytes: Option<u64>,
    space: &Space,
    goal: Goal,
    progress: &mut dyn FnMut(u64),
) -> Result<Tuning, Error> {
    let meta = reader.meta();
    // Objects from before the load would drown it: gigabytes of old dentries under a load of some MiB.
    let base = ReplayPlan { memory_bytes, start: Start::Cold, ..ReplayPlan::default() };
    let plan = ReplayPlan { allocators: vec![kind], ..base.clone() };
    let whole = replay::replay(reader, &plan, progress)?;
    let recorded = &whole.allocators[0];
    if recorded.failed > 0 {
        return Err(Error::TuneFails { failed: recorded.failed });
    }
    let moments = Moments::new(MOMENTS, meta.events, recorded.peak_event);
    let held_bytes_peak = recorded.held_bytes.peak;
    let base = ReplayPlan { kept_memory: Some(Arc::default()), ..base };
    let trials = Trials { reader, kind, base, moments, held_bytes_peak };
    let mut tried = trials.run(&space.boots, progress)?;
    let kept = kept(&tried, goal.held_at, space.boots_kept);
    let with_pairs: Vec<Setting> = kept
        .iter()
        .flat_map(|boot| {
            space.pairs[1..].iter().map(|pair| Setting { every: *pair, ..boot.clone() })
        })
        .collect();
    tried.extend(trials.run(&with_pairs, progress)?);
    let locks = tried[0].locks();
    let shares = LOCKS_AROUND.iter().flat_map(|around| [*around, around * goal.locks_share_max]);
    let budgets = shares.map(|share| (locks as f64 * share) as u64).chain([u64::MAX]);
    let mixer = Mixer { meta, space, kept: &kept, tried: &tried, goal };
    let mut mixtures: Vec<Setting> = budgets.flat_map(|budget| mixer.mixtures(budget)).collect();
    mixtures.sort();
    mixtures.dedup();
    mixtures.retain(|mixture| tried.iter().all(|known| known.setting != *mixture));
    tried.extend(trials.run(&mixtures, progress)?);
    let mut outcomes: Vec<_> =
        tried.iter().map(|one| Outcome::new(one.setting.clone(), &one.allocator)).collect();
    let recorded = outcomes[0].clone();
    outcomes.sort_by_key(|outcome| key(outcome, goal.held_at));
    let held_bytes = goal.held_at.of(&recorded);
    let page_bytes = Changes::default().machine_page_bytes(meta);
    let saving_bytes_min = saving_bytes_min(held_bytes, page_bytes, whole.trace.unplaced_share);
    let release = &meta.kernel_release;
    let found = Found {
        recorded: &recorded,
        tried: &tried,
        outcomes: &outcomes,
        saving_bytes_min,
        goal,
        release,
    };
    let answers = found.answers();
    Ok(Tuning {
        trace: whole.trace,
        allocator: kind.name().to_owned(),
        held_at: goal.held_at,
        locks_share_max: goal.locks_share_max,
        saving_bytes_min,
        recorded,
        answers,
        tried: outcomes,
    })
}

/// The order of outcomes: least held in the sense that counts, then on average, then fewest locks.
fn key(outcome: &Outcome, held_at: HeldAt) -> (u64, u64, u64, u64) {
    // A setting under which allocations failed is not recommended.
    (outcome.failed, held_at.of(outcome), outcome.held_bytes.mean, outcome.locks)
}

impl Tried {
    fn locks(&self) -> u64 {
        self.allocator.locks.values().sum()
    }
}

/// Returns the recorded setting of the machine, and a few of those that are not both larger and slower than another.
fn kept(boots: &[Tried], held_at: HeldAt, count: usize) -> Vec<Setting> {
    if count + 1 >= boots.len() {
        return boots.iter().map(|one| one.setting.clone()).collect();
    }
    let held = |one: &Tried| held_at.of(&Outcome::new(one.setting.clone(), &one.allocator));
    let of = |one: &Tried| (held(one), one.locks());
    let beats = |a: &Tried, b: &Tried| {
        let (a, b) = (of(a), of(b));
        a.0 <= b.0 && a.1 <= b.1 && a != b
    };
    let mut candidates: Vec<&Tried> =
        of_recorded_allocator(boots).filter(|one| !one.setting.is_recorded()).collect();
    candidates.sort_by_key(|one| of(one));
    candidates.dedup_by_key(|one| of(one));
    let (front, beaten): (Vec<&Tried>, Vec<&Tried>) = candidates
        .into_iter()
        .partition(|one| of_recorded_allocator(boots).all(|other| !beats(other, one)));
    // The first is the one that holds least, then one between it and the fastest. If there are no others, one that is
    // beaten while caches are left alone joins them: it may not be beaten with their settings.
    let ends = front.first().into_iter().chain(front.get(front.len() / 2));
    let mut kept = vec![boots[0].setting.clone()];
    for one in ends.chain(&beaten) {
        if kept.len() <= count && !kept.contains(&one.setting) {
            kept.push(one.setting.clone());
        }
    }
    kept
}

fn of_recorded_allocator(boots: &[Tried]) -> impl Iterator<Item = &Tried> {
    boots.iter().filter(|one| one.setting.configured == Configured::Recorded)
}

/// Puts mixtures over caches together.
struct Mixer<'a> {
    meta: &'a Meta,
    space: &'a Space,
    kept: &'a [Setting],
    tried: &'a [Tried],
    goal: Goal,
}

impl Mixer<'_> {
    /// Returns the mixtures that promise to hold least with `locks_max` locks at most.
    fn mixtures(&self, locks_max: u64) -> Vec<Setting> {
        let mut found: Vec<(u64, Setting)> =
            self.kept.iter().filter_map(|boot| self.mixture(boot, locks_max)).collect();
        found.sort();
        let mut chosen: Vec<Setting> =
            found.iter().take(VERIFIED).map(|(_, setting)| setting.clone()).collect();
        // One mixture needs no boot, whatever the others hold.
        chosen.extend(found.into_iter().map(|(_, setting)| setting).find(Setting::needs_no_boot));
        chosen
    }

    fn mixture(&self, boot: &Setting, locks_max: u64) -> Option<(u64, Setting)> {
        if boot.merging == Merge::On {
            // Only that kernel knows which caches will share slabs, and under what name.
            return None;
        }
        let of_pair = |pair: &CacheSetting| {
            self.tried.iter().find(|one| one.setting == Setting { every: *pair, ..boot.clone() })
        };
        let columns: Vec<&Tried> = self.space.pairs.iter().filter_map(of_pair).collect();
        if columns.len() != self.space.pairs.len() {
            return None;
        }
        let table = Table::new(&columns, self.goal.held_at);
        let picks = table.best(locks_max)?;
        let shortened = Shortening { table: &table, locks_max, goal: self.goal, picks };
        let (every, picks) = shortened.shortest(self.space.pairs.len())?;
        let held_bytes = table.cost(&picks).held_bytes;
        let mut caches = BTreeMap::new();
        for (cache, pick) in table.caches.iter().zip(&picks).filter(|(_, pick)| **pick != every) {
            let own = self.spelled_out(&cache.name, cache.slab_size, *pick, every);
            caches.insert(cache.name.clone(), own);
        }
        Some((held_bytes, Setting { every: self.space.pairs[every], caches, ..boot.clone() }))
    }

    /// Returns a setting of a cache, with the numbers that undo those set for all caches.
    fn spelled_out(&self, cache: &str, slab_size: u32, pick: usize, every: usize) -> CacheSetting {
        let (own, every) = (self.space.pairs[pick], self.space.pairs[every]);
        let snapshots = self.meta.slabs_start.iter().chain(&self.meta.slabs_end);
        let known = |file| snapshots.clone().find_map(|s| s.cache(cache)?.number(file));
        let number = |own: Option<u32>, every: Option<u32>, file, usual: u32| {
            let recorded = || known(file).and_then(|n| u32::try_from(n).ok()).unwrap_or(usual);
            own.or_else(|| every.map(|_| recorded()))
        };
        let size = slab_size.max(8);
        let cpu_partial = geometry::cpu_partial_objects(Changes::default().arch(self.meta), size);
        let min_partial = geometry::min_partial(size);
        CacheSetting {
            cpu_partial: number(own.cpu_partial, every.cpu_partial, "cpu_partial", cpu_partial),
            min_partial: number(own.min_partial, every.min_partial, "min_partial", min_partial),
            sheaf_percent: own.sheaf_percent.or(every.sheaf_percent.map(|_| 100)),
        }
    }
}

/// A mixture on its way to fewer lines.
struct Shortening<'a> {
    table: &'a Table,
    locks_max: u64,
    goal: Goal,
    picks: Vec<usize>,
}

impl Shortening<'_> {
    /// Returns a setting for all caches, and the mixture with the fewest caches set otherwise.
    fn shortest(&self, settings: usize) -> Option<(usize, Vec<usize>)> {
        let mixtures = (0..settings).map(|every| (every, self.towards(every)));
        let others = |every: usize, picks: &[usize]| picks.iter().filter(|p| **p != every).count();
        let best = mixtures.min_by_key(|(every, picks)| {
            // A loop over all caches is also a line.
            (others(*every, picks) + usize::from(*every != 0), self.table.cost(picks).held_bytes)
        })?;
        (others(best.0, &best.1) <= self.goal.brevity.caches_max).then_some(best)
    }

    /// Sets as many caches to `every` as cost little, those that matter least first.
    fn towards(&self, every: usize) -> Vec<usize> {
        let mut mixture = Mixture::new(self.table, self.picks.clone());
        let start = mixture.cost();
        let limit = (start.held_bytes as f64 * (1.0 + self.goal.brevity.held_share)) as u64;
        let effect = |place: usize| {
            let with = mixture.cost_with(place, every);
            (with.held_bytes.saturating_sub(start.held_bytes), with.locks.abs_diff(start.locks))
        };
        let mut places: Vec<_> = (0..self.picks.len())
            .filter(|place| self.picks[*place] != every)
            .map(|place| (effect(place), place))
            .collect();
        places.sort_unstable();
        // A change that makes room in one cache may come after another that needs it.
        for _ in 0..2 {
            for (_, place) in &places {
                let cost = mixture.cost_with(*place, every);
                if cost.held_bytes <= limit && cost.locks <= self.locks_max {
                    mixture.set(*place, every);
                }
            }
        }
        mixture.picks
    }
}

/// The findings of the search, before one is chosen.
struct Found<'a> {
    recorded: &'a Outcome,
    /// All settings tried, the recorded one first
    tried: &'a [Tried],
    /// The outcomes in the order of [`key`]
    outcomes: &'a [Outcome],
    saving_bytes_min: u64,
    goal: Goal,
    release: &'a str,
}

impl Found<'_> {
    fn answers(&self) -> Vec<AdvisedSetting> {
        let allowed = (self.recorded.locks as f64 * self.goal.locks_share_max) as u64;
        let kinds = [
            (AnswerKind::NoMoreLocks, self.recorded.locks),
            (AnswerKind::WithinLocks, allowed),
            (AnswerKind::WithoutBoot, allowed),
            (AnswerKind::Extreme, u64::MAX),
        ];
        kinds.iter().filter_map(|(kind, locks_max)| self.answer(*kind, *locks_max)).collect()
    }

    /// Returns the outcome that holds least with `locks_max` locks at most; among several that hold
    /// nearly as little, the one with least to type.
    fn answer(&self, kind: AnswerKind, locks_max: u64) -> Option<AdvisedSetting> {
        let fits = |outcome: &&Outcome| {
            outcome.locks <= locks_max
                && outcome.failed <= self.recorded.failed
                && (kind != AnswerKind::WithoutBoot || outcome.setting.needs_no_boot())
        };
        let held = |outcome: &Outcome| self.goal.held_at.of(outcome);
        let least = held(self.outcomes.iter().find(fits)?);
        let near = (least as f64 * (1.0 + self.goal.brevity.held_share)) as u64;
        let lines = |outcome: &Outcome| {
            let typed = outcome.setting.typed(self.release);
            typed.command_line.len() + typed.shell.len() + typed.kconfig.len() + typed.source.len()
        };
        let near = self.outcomes.iter().filter(fits).filter(|one| held(one) <= near);
        let best = near.min_by_key(|one| (lines(one), held(one)))?;
        let saved = held(self.recorded).saturating_sub(held(best));
        let enough = saved > self.saving_bytes_min;
        let caches = |setting: &Setting| {
            let tried = self.tried.iter().find(|one| one.setting == *setting);
            tried.map_or(&[][..], |one| &one.allocator.caches)
        };
        let (was, is) = (caches(&self.recorded.setting), caches(&best.setting));
        enough.then(|| AdvisedSetting {
            kind,
            outcome: best.clone(),
            rounding_bytes: rounding_bytes(was, is),
            typed: best.setting.typed(self.release),
        })
    }
}
