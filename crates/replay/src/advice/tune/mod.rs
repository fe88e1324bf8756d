//! Settings of the recorded kernel that hold less memory, and what each costs in locks.
//!
//! # How it works
//! `space` lists the settings that the kernel has, and `trials` replays many of them in a pass. `select`
//! puts together the best setting of each cache from them, `search` does this stage by stage, and `setting` tells what
//! to type.

pub(crate) mod result;
pub(crate) mod search;
pub(crate) mod select;
pub(crate) mod setting;
pub(crate) mod space;
#[cfg(test)]
mod tests;
pub(crate) mod trials;
