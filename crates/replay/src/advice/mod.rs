//! Which call sites should have a cache of their own, and which size class is missing.
//!
//! `search` finds candidates; `noted` tells which sites are unsuited, and which are worth reading. `trial` tries each
//! candidate on the part of the trace that it can touch, which `metrics::requests` and `partition` find, and `judge`
//! judges the result. `tune` searches settings, `classes` size classes. `budget` answers whether a load fits, and
//! `fleet` adds up advice on several traces.

pub(crate) mod budget;
pub(crate) mod calls;
pub(crate) mod classes;
pub(crate) mod fleet;
pub(crate) mod judge;
pub(crate) mod noted;
pub(crate) mod partition;
pub(crate) mod result;
pub(crate) mod search;
pub(crate) mod trial;
pub(crate) mod tune;
