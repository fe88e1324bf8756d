//! The errors between a document and its rendering.

/// Why a document, a picture or a page was not rendered.
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
    /// A section that the document does not have.
    #[error("--show {name}: this answer has no such table; it has {known}")]
    Section {
        /// The requested name
        name: String,
        /// The names that exist
        known: String,
    },
    /// Several tables were requested where only one has room.
    #[error("--show {names}: a CSV has one table; name one of them")]
    SeveralTables {
        /// The requested names
        names: String,
    },
}
