//! Bars by name, for example each cache's waste under each allocator.

use super::area::{Area, Draw, Drawn};
use super::axis::Axis;
use super::width::Width;
use crate::color::Palette;
use crate::unit::human;

/// Groups of bars, one group for each name.
#[derive(Debug, Clone, Default)]
pub struct Bars {
    /// The kind of the names
    pub label: String,
    /// The quantity of the values, with their unit
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

/// The pixels between two groups; the next constant has those of a bar.
const GAP_PIXELS: u32 = 12;
const BAR_PIXELS: u32 = 15;

impl BarGroup {
    /// Returns the pixels from this group to the next: bars are as high in a group of five as in one of three.
    fn pixels(&self) -> u32 {
        GAP_PIXELS + BAR_PIXELS * self.bars.len().max(1) as u32
    }
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
        130 + self.groups.iter().map(BarGroup::pixels).sum::<u32>()
    }

    fn draw(&self, area: &Area<'_>, palette: &mut Palette) -> Drawn {
        let values = self.groups.iter().flat_map(|g| g.bars.iter().map(|(_, value)| *value));
        // Room for the number behind the longest bar.
        let longest = values.clone().fold(0.0f64, f64::max) * 1.3;
        let (quantity, unit) = &self.quantity;
        let x = Axis::linear(quantity, unit, values.chain([longest]), Some(0.0));
        let room = |group: &BarGroup| (shorten(&group.name), f64::from(group.pixels()));
        let y = Axis::sized_names(&self.label, self.groups.iter().map(room)).top_down();
        let axes = area.axes(&x, &y)?;
        let (gap, high) = (f64::from(GAP_PIXELS), f64::from(BAR_PIXELS));
        let mut start = 0.0;
        for group in &self.groups {
            for (i, (name, value)) in group.bars.iter().enumerate() {
                let top = start + gap / 2.0 + high * i as f64;
                axes.area((0.0, top), (*value, top + high * 0.9), palette.color(name), 0.85)?;
                axes.note(&human(*value, unit), (*value, top + high * 0.45))?;
            }
            start += f64::from(group.pixels());
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
