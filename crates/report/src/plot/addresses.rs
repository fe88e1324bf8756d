//! Where in memory each object lies, in the order of allocation: a dense run, or scatter.

use super::area::{Area, Draw, Drawn, Fill, Mark};
use super::axis::Axis;
use super::width::Width;
use crate::color::Palette;

/// Address maps, one above the other on the same scale.
#[derive(Debug, Clone, Default)]
pub struct Addresses {
    /// The maps
    pub panels: Vec<AddressPanel>,
}

/// The addresses of one variant.
#[derive(Debug, Clone, Default)]
pub struct AddressPanel {
    /// Its name
    pub name: String,
    /// The addresses of its objects, in the order of allocation
    pub addresses: Vec<u64>,
}

impl AddressPanel {
    /// Returns the distances from the least address.
    fn offsets(&self) -> Vec<f64> {
        let base = self.addresses.iter().min().copied().unwrap_or(0);
        self.addresses.iter().map(|address| (address - base) as f64).collect()
    }
}

impl Draw for Addresses {
    fn names(&self) -> Vec<&str> {
        self.panels.iter().map(|panel| panel.name.as_str()).collect()
    }

    fn is_empty(&self) -> bool {
        self.panels.iter().all(|panel| panel.addresses.is_empty())
    }

    fn height(&self, _width: Width) -> u32 {
        70 + 190 * self.panels.len() as u32
    }

    fn draw(&self, area: &Area<'_>, palette: &mut Palette) -> Drawn {
        let offsets: Vec<Vec<f64>> = self.panels.iter().map(AddressPanel::offsets).collect();
        let objects = offsets.iter().map(Vec::len).max().unwrap_or(0);
        let x = Axis::linear(
            "object, in order of allocation",
            "",
            [0.0, objects as f64].into_iter(),
            Some(0.0),
        );
        let y = Axis::linear("offset", "B", offsets.iter().flatten().copied(), Some(0.0));
        for (part, (panel, offsets)) in
            area.stack(self.panels.len()).iter().zip(self.panels.iter().zip(&offsets))
        {
            let axes = part.axes(&x, &y)?;
            let color = palette.color(&panel.name);
            let radius = if offsets.len() > 500 { 1.5 } else { 2.5 };
            for (i, offset) in offsets.iter().enumerate() {
                axes.mark((i as f64, *offset), Mark { color, radius, fill: Fill::Full })?;
            }
        }
        Ok(())
    }
}
