//! Which call sites should have a cache of their own, and which size class is missing.
//!
//! `search` finds candidates, `trial` tries it on the part of the trace that it can touch (`survey` and
//! `partition` say which part that is), `judge` and `sentence` say what came of it.

pub(crate) mod judge;
pub(crate) mod partition;
pub(crate) mod patch;
pub(crate) mod result;
pub(crate) mod search;
pub(crate) mod sentence;
pub(crate) mod survey;
pub(crate) mod trial;
