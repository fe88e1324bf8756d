//! The tables that a terminal and a page show alike, one file a kind of result.

mod advise;
mod replay;
mod whatif;

pub use advise::advice;
pub use replay::{caches, fit, fit_line, locks, memory, paths, sites};
pub use whatif::{changed_caches, moved_sites, totals};
