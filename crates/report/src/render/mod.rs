//! Renderers: what a [`Document`](crate::Document) looks like to each kind of reader, one file a kind.

mod csv;
mod html;
mod markdown;
mod png;
mod terminal;

pub use csv::csv;
pub use html::html;
pub use markdown::markdown;
pub use png::png;
pub use terminal::{Style, Terminal, terminal};
