//! Plots: SVG drawn by plotters, with one file for each kind.
//!
//! # How it works
//! Each kind of plot implements [`Draw`]. Each is drawn wide (a screen, paper) and narrow (a
//! telephone) rather than scaled, so that its labels stay readable. Ink, paper and grid have fixed colours that the
//! page's style sheet overrides by attribute, so that one drawing serves light and dark.
//!
//! # Invariants
//! Each axis has a label with its unit. Every value has a mark; none is left out because it is far off.

mod addresses;
mod area;
mod axis;
mod bars;
mod effects;
mod lifetimes;
mod lines;
mod maps;
mod slabs;
mod strip;
mod waterfall;
mod width;

use std::sync::Arc;

use plotters::prelude::SVGBackend;

use crate::color::Palette;
use crate::error::Error;

pub use addresses::{AddressPanel, Addresses};
pub use area::Draw;
pub use bars::{BarGroup, Bars};
pub use lifetimes::{Extent, Lifetimes, Span};
pub use lines::{AxisScale, Lines, Point, Series};
pub use maps::{Map, Maps};
pub use slabs::{SlabRow, Slabs};
pub use strip::{Group, Strip};
pub use waterfall::Waterfall;
pub use width::Width;

use area::{Area, FINE};

/// A plot of any kind.
#[derive(Debug, Clone)]
pub struct Plot {
    /// What it shows
    pub title: String,
    /// How its numbers were obtained; empty when the title tells everything
    pub how: String,
    kind: Arc<dyn Draw>,
}

impl Plot {
    /// Makes a plot.
    pub fn new(
        title: impl Into<String>,
        how: impl Into<String>,
        kind: impl Draw + 'static,
    ) -> Self {
        Self { title: title.into(), how: how.into(), kind: Arc::new(kind) }
    }

    /// Returns whether there is no value at all.
    pub fn is_empty(&self) -> bool {
        self.kind.is_empty()
    }

    /// Draws it as SVG.
    ///
    /// # Errors
    ///
    /// If it has nothing to show, or the drawing crate refuses.
    pub fn svg(&self, width: Width, palette: &mut Palette) -> Result<String, Error> {
        if self.is_empty() {
            return Err(Error::Empty { plot: self.title.clone() });
        }
        let mut svg = String::new();
        let size = (FINE as u32 * width.pixels(), FINE as u32 * self.kind.height(width));
        {
            let area = Area::new(SVGBackend::with_string(&mut svg, size), width);
            let below = area.below_head(&self.title, &self.kind.names(), palette);
            let drawn = below.and_then(|below| self.kind.draw(&below, palette));
            drawn
                .and_then(|()| area.root().present())
                .map_err(|e| Error::Draw { plot: self.title.clone(), reason: e.to_string() })?;
        }
        Ok(svg)
    }
}
