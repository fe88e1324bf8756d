//! The tables that a terminal and a page show alike, one file a kind of result.

mod advise;
mod budget;
mod classes;
mod tune;

pub use advise::{advice, advice_in_short, noted_by_rate, noted_by_waste};
pub use budget::budget;
pub use classes::classes;
pub(crate) use classes::further;
pub use tune::{answer_name, answers, front, outcomes, typed, typed_lines};
