//! One colour for each name, the same in every plot.
//!
//! The allocators have fixed colours; other names get the rest in the order in which a document first shows them. The
//! allocators' colours are from the set of Okabe and Ito (Color Universal Design, 2008), which people with any of the common
//! colour deficiencies can tell apart. A mark's shape goes with its colour, so that a grey print is readable too.

use std::collections::BTreeMap;

/// A colour, and the shape of its marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Color {
    /// Red, green, blue
    pub rgb: (u8, u8, u8),
    /// The number of its marks' shape, from 0
    pub shape: usize,
}

impl Color {
    /// Returns it as SVG and CSS write it, in the upper case that the drawing crate uses.
    pub fn hex(self) -> String {
        let (r, g, b) = self.rgb;
        format!("#{r:02X}{g:02X}{b:02X}")
    }
}

/// The allocators, always in these colours. `assets/report.css` brightens them on a dark page.
const ALLOCATORS: [(&str, (u8, u8, u8)); 4] = [
    ("slab", (0x00, 0x72, 0xB2)),
    ("slub", (0xD5, 0x5E, 0x00)),
    ("slob", (0x00, 0x9E, 0x73)),
    ("slmb", (0xCC, 0x79, 0xA7)),
];

/// The colours of other names, in this order.
const OTHERS: [(u8, u8, u8); 6] = [
    (0x6E, 0x7B, 0x8B),
    (0xE6, 0x9F, 0x00),
    (0x56, 0xB4, 0xE9),
    (0x7A, 0x5C, 0xC9),
    (0x8C, 0x6D, 0x46),
    (0xD6, 0x51, 0x7D),
];

/// The colour of each name.
#[derive(Debug, Clone, Default)]
pub struct Palette {
    given: BTreeMap<String, Color>,
}

impl Palette {
    /// Returns the colour of `name`; a name not seen before gets one. Upper and lower case are the same, and
    /// `slub nomerge` or `slub/6.1` is not `slub`.
    pub fn color(&mut self, name: &str) -> Color {
        // A star marks an allocator whose figures cannot be compared; it is the same allocator.
        let key = name.trim_end_matches('*').to_lowercase();
        if let Some(at) = ALLOCATORS.iter().position(|(known, _)| *known == key) {
            return Color { rgb: ALLOCATORS[at].1, shape: at };
        }
        let next = self.given.len();
        *self.given.entry(key).or_insert(Color {
            rgb: OTHERS[next % OTHERS.len()],
            shape: (ALLOCATORS.len() + next) % 6,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allocator_has_one_colour_whatever_came_before() {
        let mut palette = Palette::default();
        let first = palette.color("hash64");
        assert_eq!(palette.color("SLUB").hex(), "#D55E00");
        assert_eq!(palette.color("slub"), palette.color("SLUB"));
        assert_eq!(palette.color("hash64"), first);
        assert_ne!(palette.color("hash512"), first);
    }
}
