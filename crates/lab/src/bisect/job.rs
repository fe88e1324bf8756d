//! What to find out.

use super::version::Version;
use crate::request::Request;

/// What to find out.
#[derive(Debug, Clone)]
pub struct Bisect {
    /// What a guest does, of the experiment `load`; without a kernel
    pub request: Request,
    /// The versions, the good one first
    pub versions: Vec<Version>,
    /// The key of the metric: `slab_kb`
    pub metric: String,
    /// How probable a step may be where there is none
    pub alpha: f64,
    /// Runs of a version at most
    pub runs_max: usize,
    /// Changes of at most this share do not matter
    pub ignored_share: f64,
}
