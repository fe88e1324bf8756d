//! What commands do with many traces: which files they are, and the answer over all of them.

pub(crate) mod advise;
mod answer;
pub(crate) mod info;
pub(crate) mod inputs;
