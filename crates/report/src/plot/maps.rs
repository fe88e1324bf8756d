//! Maps of memory at several moments: equal cells, row by row, each in the colour of what it is.
//!
//! # How it works
//! Cells of a row that are alike and lie side by side are one box. A cell is pale where only a part of it is what its colour
//! stands for.

use super::area::{Area, Draw, Drawn};
use super::axis::Axis;
use super::bars::shorten;
use super::width::Width;
use crate::color::Palette;

/// Maps, one below the other on the same scale.
#[derive(Debug, Clone, Default)]
pub struct Maps {
    /// What the vertical axis tells of a map: its moment
    pub label: String,
    /// Bytes of a cell
    pub cell_bytes: u64,
    /// The maps, top to bottom
    pub maps: Vec<Map>,
}

/// A map.
#[derive(Debug, Clone, Default)]
pub struct Map {
    /// Its name
    pub name: String,
    /// What each cell is, by rising address, and how much of it
    pub cells: Vec<(String, f64)>,
}

/// The cells of a row.
const COLUMNS: usize = 64;
/// The pixels of a row, and those of title, axes and legend.
const ROW_PIXELS: u32 = 6;
const FRAME_PIXELS: u32 = 130;
/// The rows left blank between two maps.
const GAP: usize = 2;

impl Map {
    fn rows(&self) -> usize {
        self.cells.len().div_ceil(COLUMNS)
    }
}

/// Returns how strong a cell's colour is: one of three.
fn strength(share: f64) -> f64 {
    match share {
        0.9.. => 0.9,
        0.6.. => 0.6,
        _ => 0.35,
    }
}

impl Draw for Maps {
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in self.maps.iter().flat_map(|map| &map.cells) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    fn is_empty(&self) -> bool {
        self.maps.iter().all(|map| map.cells.is_empty())
    }

    fn height(&self, _width: Width) -> u32 {
        let rows: usize = self.maps.iter().map(|map| map.rows() + GAP).sum();
        FRAME_PIXELS + ROW_PIXELS * rows.max(12) as u32
    }

    fn draw(&self, area: &Area<'_>, palette: &mut Palette) -> Drawn {
        let columns = self.maps.iter().map(|map| map.cells.len()).max().unwrap_or(0).min(COLUMNS);
        let end = columns as f64 * self.cell_bytes as f64;
        let x = Axis::linear("offset in the row", "B", [end].into_iter(), Some(0.0));
        let names = self.maps.iter().map(|map| (shorten(&map.name), (map.rows() + GAP) as f64));
        let y = Axis::sized_names(&self.label, names).top_down();
        let axes = area.axes(&x, &y)?;
        let mut top = GAP as f64 / 2.0;
        for map in &self.maps {
            for row in map.cells.chunks(COLUMNS) {
                let mut column = 0.0;
                let is_alike = |one: &(String, f64), next: &(String, f64)| {
                    one.0 == next.0 && strength(one.1) == strength(next.1)
                };
                for run in row.chunk_by(is_alike) {
                    let next = column + run.len() as f64;
                    let (name, share) = &run[0];
                    let cell = self.cell_bytes as f64;
                    let (from, to) = ((column * cell, top), (next * cell, top + 1.0));
                    axes.fill(from, to, palette.color(name), strength(*share))?;
                    column = next;
                }
                top += 1.0;
            }
            top += GAP as f64;
        }
        Ok(())
    }
}
