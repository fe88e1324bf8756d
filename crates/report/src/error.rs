//! What can go wrong between a document and its bytes.

/// Why a picture or a page was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The drawing crate refused.
    #[error("the plot '{plot}' cannot be drawn: {reason}")]
    Draw {
        /// Its title
        plot: String,
        /// What the crate said
        reason: String,
    },
    /// A plot without any value.
    #[error("the plot '{plot}' has nothing to show")]
    Empty {
        /// Its title
        plot: String,
    },
    /// The page cannot be put together.
    #[error("the page cannot be put together: {0}")]
    Template(#[from] askama::Error),
    /// An SVG cannot be turned into a PNG.
    #[error("the SVG cannot be turned into a PNG: {0}")]
    Png(String),
}
