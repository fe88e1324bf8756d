//! Renderers: how a [`Document`](crate::Document) looks to each kind of reader, with one file for each
//! kind.

mod csv;
mod html;
mod mail;
mod markdown;
mod terminal;

pub use csv::csv;
pub use html::html;
pub use mail::mail;
pub use markdown::markdown;
pub use terminal::{Style, Terminal, terminal};
