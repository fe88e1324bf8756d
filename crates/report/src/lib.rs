//! Pictures and pages: tables, plots and HTML reports.
//!
//! How it works: a caller describes what it has to show as a [`Document`] of [`Section`]s, each with [`Item`]s:
//! comparisons, plots, tables, flame graphs. [`html()`] turns it into one file that needs no network; the same
//! comparisons print as text ([`Comparisons::plain`], [`Comparisons::markdown`], [`Comparisons::mmtests`]) and
//! the same plots are SVG ([`Plot::svg`]) and PNG ([`png()`]).
//!
//! To give a command `--report FILE`: build a `Document` from its result and write
//! `slablab_report::html(&document)?` with the command's `output::write_whole`.
//!
//! To add a plot: one file in `plot/` with a struct that implements [`Draw`].
//!
//! Modules, lower ones first: `error`, `escape`, `printable`, `unit`,
//! `color`; `flame`, `table`; `plot`; `document`; `html`, `png`.
//!
//! Invariants: nothing here knows an experiment, an allocator's code or a file; names and numbers come in with
//! their units. One name has one colour in every plot of a document ([`Palette`]). The same document gives the
//! same bytes.
//!
//! Licence note: inferno draws finer flame graphs, but is CDDL-1.0, which the rest of this tree is not; the
//! folded stacks ([`Flame::folded`]) are the format that it, flamegraph.pl and speedscope read.
#![forbid(unsafe_code)]

mod color;
mod document;
mod error;
mod escape;
mod flame;
mod html;
mod plot;
mod png;
mod printable;
mod table;
mod unit;

pub use color::{Color, Palette};
pub use document::{Document, Fact, Item, Section};
pub use error::Error;
pub use flame::Flame;
pub use html::html;
pub use plot::{
    AddressPanel, Addresses, AxisScale, BarGroup, Bars, Draw, Group, Lines, Plot, Point, Series,
    Strip, Waterfall, Width,
};
pub use png::png;
pub use printable::printable;
pub use table::{Cell, Column, ComparisonRow, Comparisons, Table, field};
pub use unit::{UnitScale, counted, human, short, thousands};
