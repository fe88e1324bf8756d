//! Which call sites should have a cache of their own, and which size class is missing.
//!
//! `search` finds candidates (`noted` says which sites are none, and which are worth reading), `trial` tries each on the
//! part of the trace that it can touch (`metrics::survey` and `partition` say which part that is), and `judge` says what
//! came of it. `tune` searches settings, `classes` size classes; `budget` asks whether a load fits,
//! and `fleet` adds advice on several traces up.

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
