//! Tables of data, for text, CSV and a page that sorts and filters; tables of comparisons are among
//! them.

mod cell;
mod column;
mod comparisons;
pub mod field;
mod grid;
mod mmtests;
mod rows;
mod text;

pub use cell::Cell;
pub use column::{Column, Seen};
pub use comparisons::{ComparisonRow, Comparisons};
pub use grid::Table;
pub(crate) use text::{markdown, shortened};
