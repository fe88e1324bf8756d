//! Bars by name: what each cache wastes under each allocator, say.

use super::area::{Area, Draw, Drawn};
use super::axis::Axis;
use super::width::Width;
use crate::color::Palette;
use crate::unit::human;

/// Groups of bars, one group a name.
#[derive(Debug, Clone, Default)]
pub struct Bars {
    /// What the names are
    pub label: String,
    /// What the values are, with their unit
    pub quantity: (String, String),
    /// The groups, top to bottom
    pub groups: Vec<BarGroup>,
}

/// The bars of one name.
#[derive(Debug, Clone, Default)]
pub struct BarGroup {
    /// The name
    pub name: String,
    /// The variants with their values, top to bottom
    pub bars: Vec<(String, f64)>,
}

/// Longer names than this are cut at the left: their ends tell them apart.
const NAME_CHARS_MAX: usize = 24;

impl Draw for Bars {
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in self.groups.iter().flat_map(|group| &group.bars) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    fn is_empty(&self) -> bool {
        self.groups.iter().all(|group| group.bars.is_empty())
    }

    fn height(&self, _width: Width) -> u32 {
        let bars = self.groups.iter().map(|group| group.bars.len().max(1) as u32).sum::<u32>();
        130 + 12 * self.groups.len() as u32 + 15 * bars
    }

    fn draw(&self, area: &Area<'_>, palette: &mut Palette) -> Drawn {
        let values = self.groups.iter().flat_map(|g| g.bars.iter().map(|(_, value)| *value));
        // Room for the number behind the longest bar.
        let longest = values.clone().fold(0.0f64, f64::max) * 1.3;
        let (quantity, unit) = &self.quantity;
        let x = Axis::linear(quantity, unit, values.chain([longest]), Some(0.0));
        let names = self.groups.iter().map(|group| shorten(&group.name)).collect();
        let y = Axis::names(&self.label, names).top_down();
        let axes = area.axes(&x, &y)?;
        for (at, group) in self.groups.iter().enumerate() {
            let high = 0.8 / group.bars.len().max(1) as f64;
            for (i, (name, value)) in group.bars.iter().enumerate() {
                let top = at as f64 + 0.1 + high * i as f64;
                axes.area((0.0, top), (*value, top + high * 0.9), palette.color(name), 0.85)?;
                axes.note(&human(*value, unit), (*value, top + high * 0.45))?;
            }
        }
        Ok(())
    }
}

/// Cuts a long name at the left.
pub(crate) fn shorten(name: &str) -> String {
    let long = name.chars().count();
    if long <= NAME_CHARS_MAX {
        return name.to_owned();
    }
    let end: String = name.chars().skip(long - NAME_CHARS_MAX + 1).collect();
    format!("…{end}")
}
