//! The results of the search for settings: plain data with units in its names.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::advice::tune::setting::{Configured, Setting, Typed};
use crate::metrics::gauge::Level;
use crate::metrics::result::{Allocator, CacheUnder, TraceFacts};

/// A setting holds nearly as little as another if it holds at most this share more.
pub(crate) const NEAR_SHARE: f64 = 0.005;

/// The settings that were tried on a trace, and those that are advised.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Tuning {
    /// What was replayed
    pub trace: TraceFacts,
    /// The allocator of the recorded kernel
    pub allocator: String,
    /// Which memory was to be least
    pub held_at: HeldAt,
    /// Locks and atomic operations of an answer at most, as a multiple of the recorded kernel's
    pub locks_share_max: f64,
    /// Bytes that have to be saved before a setting is advised: more than the share of the trace
    /// that could not be placed
    pub saving_bytes_min: u64,
    /// The outcome as recorded
    pub recorded: Outcome,
    /// The advised settings, in the order of [`AnswerKind`]; one that saves nothing is left out
    pub answers: Vec<AdvisedSetting>,
    /// All settings that were tried, those that hold least first, and the recorded one among them
    pub tried: Vec<Outcome>,
}

impl Tuning {
    /// Returns the outcomes for which no other one both holds less and takes fewer locks, least held first.
    pub fn front(&self) -> impl Iterator<Item = &Outcome> {
        let mut least = u64::MAX;
        self.tried.iter().filter(move |outcome| {
            let faster = outcome.locks < least;
            least = least.min(outcome.locks);
            faster
        })
    }

    /// Returns the setting of the recorded allocator that holds least, whatever its locks, if it saves enough.
    #[must_use]
    pub fn least_beyond(&self) -> Option<&Outcome> {
        let was = self.held_at.of(&self.recorded);
        let is_one = |outcome: &&Outcome| {
            outcome.setting.configured == Configured::Recorded
                && outcome.failed <= self.recorded.failed
                && was.saturating_sub(self.held_at.of(outcome)) > self.saving_bytes_min
        };
        let held = |outcome: &&Outcome| self.held_at.of(outcome);
        let least = self.tried.iter().filter(is_one).map(|outcome| held(&outcome)).min()?;
        let near = (least as f64 * (1.0 + NEAR_SHARE)) as u64;
        let near = self.tried.iter().filter(is_one).filter(|outcome| held(outcome) <= near);
        near.min_by_key(|outcome| (outcome.setting.short().split(' ').count(), held(outcome)))
    }

    /// Returns the answer of a kind.
    #[must_use]
    pub fn answer(&self, kind: AnswerKind) -> Option<&AdvisedSetting> {
        self.answers.iter().find(|answer| answer.kind == kind)
    }
}

/// The memory that is to be least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HeldAt {
    /// The bytes held at its peak
    Peak,
    /// The bytes held on average
    Mean,
    /// The bytes held after the last event
    End,
}

impl HeldAt {
    /// Returns the bytes that an outcome holds in that sense.
    #[must_use]
    pub fn of(self, outcome: &Outcome) -> u64 {
        let held = &outcome.held_bytes;
        match self {
            Self::Peak => held.peak,
            Self::Mean => held.mean,
            Self::End => held.end,
        }
    }

    /// Returns those of the evenly spaced moments that count.
    pub(crate) fn of_moments(self, held: &[u64]) -> Vec<u64> {
        match self {
            Self::Peak => held.to_vec(),
            Self::Mean => vec![held.iter().sum::<u64>() / held.len().max(1) as u64],
            Self::End => held.last().copied().into_iter().collect(),
        }
    }
}

/// The result of a setting.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Outcome {
    /// The setting
    pub setting: Setting,
    /// The allocator of the kernel with it
    pub allocator: String,
    /// Bytes in slabs and large blocks
    pub held_bytes: Level,
    /// Locks and atomic operations
    pub locks: u64,
    /// Allocations and frees
    pub operations: u64,
    /// Share of the allocations that left the fast path
    pub slow_share: f64,
    /// Allocations that found no memory
    pub failed: u64,
}

impl Outcome {
    pub(crate) fn new(setting: Setting, replayed: &Allocator) -> Self {
        Self {
            setting,
            allocator: replayed.allocator.clone(),
            held_bytes: replayed.held_bytes,
            locks: replayed.locks.values().sum(),
            operations: replayed.operations,
            slow_share: 1.0 - replayed.alloc_fast_share(),
            failed: replayed.failed,
        }
    }

    /// Returns locks and atomic operations for each allocation or free.
    #[must_use]
    pub fn locks_per_operation(&self) -> f64 {
        self.locks as f64 / self.operations.max(1) as f64
    }
}

/// A setting that is advised.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct AdvisedSetting {
    /// The question that it answers
    pub kind: AnswerKind,
    /// Its result
    pub outcome: Outcome,
    /// Standard deviation of the saving from one boot to another that whole slabs alone cause, in caches whose slabs have
    /// another size with it
    pub rounding_bytes: u64,
    /// What to type
    pub typed: Typed,
}

/// Returns [`AdvisedSetting::rounding_bytes`] between two outcomes.
///
/// The used part of a cache's last slab is as good as random: the variance of a number between 0 and n is n^2 / 12.
pub(crate) fn rounding_bytes(recorded: &[CacheUnder], with: &[CacheUnder]) -> u64 {
    let slab_bytes = |cache: &CacheUnder| match cache.slabs_peak {
        0 => 0.0,
        slabs => (cache.held_bytes_peak / slabs) as f64,
    };
    let after: BTreeMap<&str, f64> =
        with.iter().map(|cache| (cache.cache.as_str(), slab_bytes(cache))).collect();
    let pairs = recorded
        .iter()
        .filter_map(|cache| Some((slab_bytes(cache), *after.get(cache.cache.as_str())?)));
    let variance: f64 =
        pairs.filter(|(was, is)| was != is).map(|(was, is)| (was * was + is * is) / 12.0).sum();
    variance.sqrt() as u64
}

/// The question that a setting answers: each setting holds the least of those that meet its
/// condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// At most as many locks and atomic operations as recorded
    NoMoreLocks,
    /// At most as many of them as the caller allows
    WithinLocks,
    /// Likewise, and with files under `/sys/kernel/slab` only
    WithoutBoot,
    /// Whatever it costs
    Extreme,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_caches_with_slabs_of_another_size_round_otherwise() {
        let cache = |name: &str, slabs_peak, slab_bytes| CacheUnder {
            cache: name.to_owned(),
            slabs_peak,
            held_bytes_peak: slabs_peak * slab_bytes,
            ..CacheUnder::default()
        };
        let recorded = [cache("a", 9, 4096), cache("b", 3, 32_768), cache("c", 1, 32_768)];
        assert_eq!(rounding_bytes(&recorded, &recorded), 0);
        let with = [cache("a", 9, 4096), cache("b", 6, 16_384), cache("c", 2, 16_384)];
        // The square root of 2 * (32^2 + 16^2) / 12 KiB^2.
        assert_eq!(rounding_bytes(&recorded, &with), 14_956);
        // Caches that only one of them has cannot be compared.
        assert_eq!(
            rounding_bytes(&recorded[1..2], &with),
            rounding_bytes(&recorded[1..2], &with[1..2])
        );
    }
}
