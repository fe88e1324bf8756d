//! The tables that a terminal and a page show alike, one file a kind of result.

mod advise;
mod budget;
mod classes;
mod partition;
mod replay;
mod tune;
mod whatif;

pub use advise::{advice, advice_in_short, noted_by_rate, noted_by_waste};
pub use budget::budget;
pub use classes::classes;
pub(crate) use classes::further;
pub use partition::partition;
pub(crate) use partition::with_structures;
pub use replay::{caches, fit, fit_line, locks, memory, paths, sites};
pub use tune::{answer_name, answers, front, outcomes, typed, typed_lines};
pub use whatif::{changed_caches, differences, moved_sites, totals};
