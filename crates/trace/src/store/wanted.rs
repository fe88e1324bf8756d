//! Which rows and columns of a file are read, and which row groups have them.
//!
//! # How it works
//! Our own writer gives page rows row groups of their own, which the statistics of the column `kind` tell apart. Where
//! these tell nothing, a group may have both.

use parquet::file::metadata::RowGroupMetaData;

/// Whether the columns `pid` and `stack` are decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PidColumn {
    Read,
    /// Not decoded: all are 0, and without a stack.
    Skip,
}

/// Which rows of a file are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowsOf {
    Slabs,
    Pages,
    All,
}

/// Which rows a row group has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    Slabs,
    Pages,
    /// Either, or nothing tells
    Both,
}

/// The kinds of page rows begin with this, and those of slab rows come before it in the order of the alphabet.
const PREFIX: &[u8] = b"mm_page_";

impl Held {
    /// Returns what the statistics of a row group tell.
    pub(super) fn of(group: &RowGroupMetaData) -> Held {
        let mut columns = group.columns().iter();
        let kind = columns.find(|column| column.column_path().parts() == ["kind"]);
        let statistics = kind.and_then(|kind| kind.statistics());
        let least = statistics.and_then(|known| known.min_bytes_opt());
        let most = statistics.and_then(|known| known.max_bytes_opt());
        match (least, most) {
            (Some(least), Some(_)) if least.starts_with(PREFIX) => Held::Pages,
            (Some(_), Some(most)) if most < PREFIX => Held::Slabs,
            _ => Held::Both,
        }
    }

    /// Returns whether rows of these may be among them.
    pub(super) fn has(self, wanted: RowsOf) -> bool {
        !matches!((self, wanted), (Held::Slabs, RowsOf::Pages) | (Held::Pages, RowsOf::Slabs))
    }
}
