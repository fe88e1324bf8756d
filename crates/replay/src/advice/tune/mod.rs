//! Which settings of the recorded kernel hold less memory, and what each costs in locks.
//!
//! How it works: `space` lists what that kernel lets one set, `trials` replays many settings in a pass, `select` puts
//! together the best setting of each cache from them, `search` goes through it stage by stage, and `setting` says what
//! to type.

pub(crate) mod result;
pub(crate) mod search;
pub(crate) mod select;
pub(crate) mod setting;
pub(crate) mod space;
#[cfg(test)]
mod tests;
pub(crate) mod trials;
