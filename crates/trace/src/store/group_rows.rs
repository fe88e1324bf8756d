//! The rows of a row group, decoded some thousand at a time.

use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;

use super::column::Column;

/// Those of a row group's rows that were not decoded yet, and those that were decoded last.
pub(super) struct GroupRows {
    columns: Vec<Column>,
    left: usize,
    rows: usize,
}

impl GroupRows {
    /// Begins the rows of `group` out of what has its pages. `leaves` are the columns that are decoded.
    pub(super) fn open(
        pages: impl ChunkReader + 'static,
        group: &RowGroupMetaData,
        leaves: &[(usize, &'static str)],
    ) -> Result<GroupRows, ParquetError> {
        let pages = Arc::new(pages);
        let rows = usize::try_from(group.num_rows())?;
        let column = |&(leaf, name)| {
            let column = group.column(leaf);
            let pages = SerializedPageReader::new(Arc::clone(&pages), column, rows, None)?;
            Ok(Column::new(name, column, Box::new(pages)))
        };
        let columns = leaves.iter().map(column).collect::<Result<_, ParquetError>>()?;
        Ok(GroupRows { columns, left: rows, rows: 0 })
    }

    /// Decodes the next rows, at most `most`; returns how many, 0 when all were.
    pub(super) fn read(&mut self, most: usize) -> Result<usize, String> {
        self.rows = self.left.min(most);
        self.left -= self.rows;
        if self.rows > 0 {
            self.columns.iter_mut().try_for_each(|column| column.read(self.rows))?;
        }
        Ok(self.rows)
    }

    /// Returns how many were decoded last.
    pub(super) fn count(&self) -> usize {
        self.rows
    }

    /// Returns a column; `None` where the file does not have it, or it is not decoded.
    pub(super) fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name() == name)
    }
}
