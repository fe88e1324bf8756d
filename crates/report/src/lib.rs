//! Answers as documents, and how terminals, pages and programs show them.
//!
//! # How it works
//! A command describes its answer as a [`Document`]: sentences, then [`Section`]s with [`Item`]s (tables, comparisons,
//! plots, flame graphs, lines to type). Each renderer shows it to one kind of reader: [`terminal()`], [`markdown()`],
//! [`mail()`], [`csv()`], and [`html()`], which makes one file that needs no network. Plots are SVG ([`Plot::svg`]).
//!
//! To add a plot, write one file in `plot/` with a struct that implements [`Draw`]. To add a renderer, write one file
//! in `render/`.
//!
//! [`Profile`] holds weighted call stacks for other tools: pprof and the Firefox Profiler.
//!
//! The modules, lower ones first, are `error`, `escape`, `unit`, `color`; `flame`, `profile`, `table`; `plot`;
//! `document`; `render`.
//!
//! # Invariants
//! Nothing here knows an experiment, an allocator's code or a file; names and numbers come with their units.
//! One name has one colour in every plot of a document ([`Palette`]). The same document gives the same bytes.
//!
//! Licence note: inferno draws finer flame graphs, but is CDDL-1.0, which the rest of this tree is not; the
//! folded stacks ([`Flame::folded`]) are the format that it, flamegraph.pl and speedscope read.
#![forbid(unsafe_code)]

mod color;
mod document;
mod error;
mod escape;
mod flame;
mod plot;
mod profile;
mod render;
mod table;
mod unit;

pub use color::{Color, Palette};
pub use document::{Document, Fact, Item, Place, Section, Shown};
pub use error::Error;
pub use flame::Flame;
pub use plot::{
    AddressPanel, Addresses, AxisScale, BarGroup, Bars, Draw, Extent, Group, Lifetimes, Lines, Map,
    Maps, Plot, Point, Series, SlabRow, Slabs, Span, Strip, Waterfall, Width,
};
pub use profile::{Call, Profile, Sample, ValueType};
pub use render::{Style, Terminal, csv, html, mail, markdown, terminal};
pub use slablab_host::printable;
pub use table::{Cell, Column, ComparisonRow, Comparisons, Seen, Table, field};
pub use unit::{UnitScale, counted, human, short, thousands};
