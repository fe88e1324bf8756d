//! Tables: of comparisons, in three layouts for text, and of data, that a page sorts and filters.

mod comparisons;
mod data;
mod mmtests;
mod text;

pub use comparisons::{ComparisonRow, Comparisons};
pub use data::{Column, DataTable, Value};
