//! Changes to the recorded kernel: which there are, whether a trace can have them, and how its events change.

pub(crate) mod accounting;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod merging;
pub(crate) mod partition;
pub(crate) mod rewrite;
pub(crate) mod select;
