//! The commands that take many traces: which traces are meant, each of them asked, the answers added up.

pub(crate) mod advise;
pub(crate) mod answer;
pub(crate) mod args;
mod each;
pub(crate) mod info;
pub(crate) mod inputs;
pub(crate) mod lines;
mod parallel;
pub(crate) mod replay;
pub(crate) mod stat;
pub(crate) mod whatif;

use crate::schema::Published;

/// What these commands print as JSON.
pub(super) const SCHEMAS: &[Published] = &[
    Published::of::<info::Answer>(),
    Published::of::<replay::Answer>(),
    Published::of::<whatif::Answer>(),
    Published::of::<answer::Answer>(),
];
