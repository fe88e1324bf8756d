//! Slabs at a moment: each is a row, and its objects lie where they lie in memory.
//!
//! # How it works
//! An object is as long as what was asked for, and pale behind it up to where the next one begins. A free object is a frame.

use super::area::{Area, Draw, Drawn};
use super::axis::Axis;
use super::bars::shorten;
use super::lifetimes::Extent;
use super::width::Width;
use crate::color::Palette;

/// Slabs, one below the other on the same scale.
#[derive(Debug, Clone, Default)]
pub struct Slabs {
    /// The slabs, top to bottom
    pub slabs: Vec<SlabRow>,
}

/// A slab and what is in it.
#[derive(Debug, Clone, Default)]
pub struct SlabRow {
    /// Its name
    pub name: String,
    /// Its bytes
    pub bytes: u64,
    /// The allocated objects, with the names that their colours stand for
    pub objects: Vec<(String, Extent)>,
    /// The free ones
    pub free: Vec<Extent>,
}

/// The pixels of a slab, and those of title, axes and legend.
const ROW_PIXELS: u32 = 26;
const FRAME_PIXELS: u32 = 130;
/// The part of a row that is its slab's.
const ROW_SHARE: f64 = 0.8;
/// The part of its room that is left blank between an object and the next one.
const GAP_SHARE: f64 = 0.08;
/// Frames of more free objects than this would be lines beside lines.
const FREE_MAX: usize = 128;

impl Draw for Slabs {
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in self.slabs.iter().flat_map(|slab| &slab.objects) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    fn is_empty(&self) -> bool {
        self.slabs.is_empty()
    }

    fn height(&self, _width: Width) -> u32 {
        FRAME_PIXELS + ROW_PIXELS * self.slabs.len() as u32
    }

    fn draw(&self, area: &Area<'_>, palette: &mut Palette) -> Drawn {
        let sizes = self.slabs.iter().map(|slab| slab.bytes as f64);
        let x = Axis::linear("offset in the slab", "B", sizes, Some(0.0));
        let names = self.slabs.iter().map(|slab| shorten(&slab.name)).collect();
        let y = Axis::names("slab", names).top_down();
        let axes = area.axes(&x, &y)?;
        for (at, slab) in self.slabs.iter().enumerate() {
            let margin = (1.0 - ROW_SHARE) / 2.0;
            let (top, bottom) = (at as f64 + margin, at as f64 + 1.0 - margin);
            axes.frame((0.0, top), (slab.bytes as f64, bottom))?;
            for free in slab.free.iter().filter(|_| slab.free.len() <= FREE_MAX) {
                axes.frame((free.start as f64, top), (free.end() as f64, bottom))?;
            }
            for (name, place) in &slab.objects {
                let color = palette.color(name);
                let blank = place.room_bytes as f64 * GAP_SHARE;
                let (start, end) = (place.start as f64, place.end() as f64 - blank);
                let used = (start + place.used_bytes as f64).min(end);
                axes.fill((start, top), (used, bottom), color, 0.85)?;
                if used < end {
                    axes.fill((used, top), (end, bottom), color, 0.25)?;
                }
            }
        }
        Ok(())
    }
}
