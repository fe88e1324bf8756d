//! The statistics behind a verdict: pure mathematics, no input, no output, no clock.
//!
//! Everything that draws lots takes a seed and uses [`Rng`], so the same input gives the same answer on
//! every machine.
#![forbid(unsafe_code)]

mod bootstrap;
mod error;
mod rng;
mod sample;
mod summary;

pub use bootstrap::{Bootstrap, Interval, median_difference_interval, median_interval};
pub use error::Error;
pub use rng::Rng;
pub use summary::{Summary, mean, median, quantile, variance};
