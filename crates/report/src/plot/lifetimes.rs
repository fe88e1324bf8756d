//! When objects lived, and where: each is a bar from its allocation to its free, at its address.
//!
//! # How it works
//! Bars are as high as what was asked for, and pale above it, up to where the next object begins: a slab with little unused
//! memory is full of colour. The object that is handed out again lies in the row of the one that was freed.

use super::area::{Area, Draw, Drawn};
use super::axis::Axis;
use super::width::Width;
use crate::color::Palette;

/// Objects over time, by address.
#[derive(Debug, Clone, Default)]
pub struct Lifetimes {
    /// The quantity of the horizontal axis, with its unit
    pub time: (String, String),
    /// Where that axis ends at least: pictures of one time have one axis
    pub end: f64,
    /// The objects, in the order of their allocation
    pub spans: Vec<Span>,
    /// Offsets at which something else begins: the next slab
    pub borders: Vec<u64>,
}

/// An object's life.
#[derive(Debug, Clone, Default)]
pub struct Span {
    /// The name that its colour stands for
    pub name: String,
    /// From when to when it was allocated
    pub time: (f64, f64),
    /// Where it lies
    pub place: Extent,
}

/// A piece of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extent {
    /// Its offset
    pub start: u64,
    /// Bytes from there that are used
    pub used_bytes: u64,
    /// Bytes from there to the next one
    pub room_bytes: u64,
}

impl Extent {
    /// Returns where the next one begins.
    pub(super) fn end(&self) -> u64 {
        self.start + self.room_bytes
    }
}

/// The part of its room that is left blank between an object and the next one, so that they are told apart.
const GAP_SHARE: f64 = 0.08;

impl Draw for Lifetimes {
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for span in &self.spans {
            if !names.contains(&span.name.as_str()) {
                names.push(&span.name);
            }
        }
        names
    }

    fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    fn height(&self, width: Width) -> u32 {
        if width == Width::Wide { 400 } else { 340 }
    }

    fn draw(&self, area: &Area<'_>, palette: &mut Palette) -> Drawn {
        let times = self.spans.iter().flat_map(|span| [span.time.0, span.time.1]);
        let ends = self.spans.iter().flat_map(|span| [span.place.start, span.place.end()]);
        let (quantity, unit) = &self.time;
        let x = Axis::linear(quantity, unit, times.clone().chain([self.end]), Some(0.0));
        let y = Axis::linear("address from the lowest", "B", ends.map(|end| end as f64), None);
        let axes = area.axes(&x, &y)?;
        let (left, right) =
            times.fold((f64::MAX, f64::MIN), |(l, r), time| (l.min(time), r.max(time)));
        for &border in &self.borders {
            axes.rule((left, border as f64), (right, border as f64))?;
        }
        for Span { name, time, place } in &self.spans {
            let color = palette.color(name);
            let blank = place.room_bytes as f64 * GAP_SHARE;
            let (start, end) = (place.start as f64, place.end() as f64 - blank);
            let used = (start + place.used_bytes as f64).min(end);
            axes.fill((time.0, start), (time.1, used), color, 0.85)?;
            if used < end {
                axes.fill((time.0, used), (time.1, end), color, 0.25)?;
            }
        }
        Ok(())
    }
}
