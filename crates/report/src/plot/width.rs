//! The two widths that a plot is drawn in.

/// The kind of screen for which a plot is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// 760 pixels: a screen or paper
    Wide,
    /// 350 pixels: a telephone
    Narrow,
}

impl Width {
    /// Returns it in pixels.
    pub fn pixels(self) -> u32 {
        match self {
            Self::Wide => 760,
            Self::Narrow => 350,
        }
    }
}
