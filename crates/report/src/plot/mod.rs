//! Plots: SVG drawn by plotters, one file a kind.
//!
//! How it works: a plot implements `Draw`; [`Plot`] lists the kinds. Each is drawn wide (a screen, paper) and narrow (a
//! telephone) rather than scaled, so that its labels stay readable. Ink, paper and grid have fixed colours that the
//! page's style sheet overrides by attribute, so that one drawing serves light and dark.
//!
//! Invariants: each axis has a label with its unit. Every value has a mark; nothing is left out because it is far off.

mod addresses;
mod axis;
mod bars;
mod effects;
mod frame;
mod lines;
mod strip;
mod waterfall;
mod width;

use plotters::prelude::SVGBackend;

use crate::color::Palette;
use crate::error::Error;

pub use addresses::{AddressPanel, Addresses};
pub use bars::{BarGroup, Bars};
pub use effects::{Effect, Effects};
pub use lines::{AxisScale, Lines, Point, Series};
pub use strip::{Group, Strip};
pub use waterfall::Waterfall;
pub use width::Width;

use frame::{Area, Draw, FINE};

/// One of the kinds of plot.
#[derive(Debug, Clone)]
pub enum Plot {
    /// Every sample as a mark, with quartiles
    Strip(Strip),
    /// Lines over a number: time, CPUs, probes
    Lines(Lines),
    /// Bars by name
    Bars(Bars),
    /// Effects with their intervals about "no change"
    Effects(Effects),
    /// Where in memory each object lies
    Addresses(Addresses),
    /// From one sum to another, a step a part
    Waterfall(Waterfall),
}

impl Plot {
    /// Returns its title.
    #[must_use]
    pub fn title(&self) -> &str {
        self.draw().title()
    }

    /// Returns how its numbers were got; empty when the title says it all.
    #[must_use]
    pub fn how(&self) -> &str {
        match self {
            Self::Strip(plot) => &plot.how,
            Self::Lines(plot) => &plot.how,
            Self::Bars(plot) => &plot.how,
            Self::Effects(plot) => &plot.how,
            Self::Addresses(plot) => &plot.how,
            Self::Waterfall(plot) => &plot.how,
        }
    }

    /// Draws it as SVG.
    ///
    /// # Errors
    ///
    /// If it has nothing to show, or the drawing crate refuses.
    pub fn svg(&self, width: Width, palette: &mut Palette) -> Result<String, Error> {
        let plot = self.draw();
        if plot.is_empty() {
            return Err(Error::Empty { plot: plot.title().to_owned() });
        }
        let mut svg = String::new();
        let size = (FINE as u32 * width.pixels(), FINE as u32 * plot.height(width));
        {
            let area = Area::new(SVGBackend::with_string(&mut svg, size), width);
            let drawn = plot.draw(&area, palette).and_then(|()| area.root().present());
            drawn.map_err(|e| Error::Draw {
                plot: plot.title().to_owned(),
                reason: e.to_string(),
            })?;
        }
        Ok(svg)
    }

    fn draw(&self) -> &dyn Draw {
        match self {
            Self::Strip(plot) => plot,
            Self::Lines(plot) => plot,
            Self::Bars(plot) => plot,
            Self::Effects(plot) => plot,
            Self::Addresses(plot) => plot,
            Self::Waterfall(plot) => plot,
        }
    }
}
