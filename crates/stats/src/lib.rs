//! The statistics behind a verdict: pure mathematics, no input, no output, no clock.
//!
//! How it works: [`compare`] takes the runs of a baseline and of a candidate and answers with a
//! [`Comparison`]: the effect (ratio of medians, Hodges-Lehmann shift) with its interval, a p value from a
//! rank test, Welch's t beside it, and a [`Verdict`]. The [`Design`] says how the runs belong together:
//! independent, in pairs (rounds of an interleaved plan), or in blocks (hosts).
//!
//! Everything that draws lots takes a seed and uses [`Rng`], so the same input gives the same answer on
//! every machine, today and after an update of the dependencies.
//!
//! Invariants: no function drops a value; outliers are flagged ([`outliers`]) and stay in. A value that is
//! no finite number is an error, never a silent NaN in the answer.
//!
//! Agreement: the tests hold each formula against scipy to 1e-9 (`tests/vectors.json`, made by
//! `tests/vectors.py`).
#![forbid(unsafe_code)]

mod blocked;
mod bootstrap;
mod compare;
mod error;
mod holm;
mod outlier;
mod rank_sum;
mod ratio;
mod rng;
mod sample;
mod shift;
mod signed_rank;
mod summary;
mod welch;

pub use blocked::{Block, Stratified, van_elteren};
pub use bootstrap::{Bootstrap, Interval, median_difference_interval, median_interval};
pub use compare::{Comparison, Design, Direction, Question, Verdict, compare, compare_blocks};
pub use error::Error;
pub use holm::holm;
pub use outlier::{OUTLIER_SCORE, outliers};
pub use rank_sum::{RankTest, mann_whitney};
pub use ratio::{Estimate, ratio_of_medians};
pub use rng::Rng;
pub use shift::{hodges_lehmann, hodges_lehmann_paired};
pub use signed_rank::wilcoxon;
pub use summary::{Summary, mean, median, quantile, variance};
pub use welch::{TTest, paired_t, welch};
