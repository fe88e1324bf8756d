//! A trace with and without changes: as a whole, and at the moment when the recorded machine held most.

pub(crate) mod accounting;
pub(crate) mod compare;
pub(crate) mod moment;
pub(crate) mod partition;
pub(crate) mod sum;
pub(crate) mod typed;
