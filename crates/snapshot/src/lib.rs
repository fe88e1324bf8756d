//! What tables say of slab memory at one moment, or at several: found in whatever text people paste.
//!
//! # How it works
//! [`Reader`] takes a text, whose lines `text` finds. `line` and `html` take off what mailers, loggers and web pages
//! put around a row, and `stamp` recognises times. Each file of `rows` knows one kind of row, and `cut` puts rows
//! together that lie in several lines. What they find becomes a [`Paste`]: tables of [`Entry`]s at [`Moment`]s, and
//! what the machine says of its memory in all. [`holders`] says which entries hold most of a table and whether the
//! kernel gives them back, [`growth`] what grows from moment to moment, and [`known`] what is known of a cache.
//!
//! # Invariants
//! A number that a table does not have is `None`, never 0. A row that is read is whole. What looked like a row and was
//! not read is counted, with the number of its line. Nothing here knows a file or a clock: the caller gives lines.
//!
//! Modules, lower ones first: `entry`, `free`; `date`, `edge`, `html`, `quoted`,
//! `series`, `known`; `line`, `host`; `heading`, `spoken`; `stamp`; `wrapped`;
//! `rows`; `cut`, `paste`, `holders`; `moment`; `lists`; `moments`, `growth`; `machines`, `sides`; `reader`; `text`.
#![forbid(unsafe_code)]

mod cut;
mod date;
mod edge;
mod entry;
mod free;
mod growth;
mod heading;
mod holders;
mod host;
mod html;
mod known;
mod line;
mod lists;
mod machines;
mod moment;
mod moments;
mod paste;
mod quoted;
mod reader;
mod rows;
mod series;
mod sides;
mod spoken;
mod stamp;
mod text;
mod wrapped;

pub use entry::{Entry, Machine, Moment};
pub use free::FreeBlocks;
pub use growth::{Growth, Pace, Rise, growth};
pub use holders::{Family, Holders, holders};
pub use known::{KnownCache, Reclaim, known};
pub use machines::{Apart, apart};
pub use paste::{Paste, Said, Table, Unread};
pub use reader::Reader;
pub use rows::{Kind, Tells};
pub use series::{framed, thinned, whole_bytes};
pub use stamp::{Stamp, iso_time, parse_seconds};
