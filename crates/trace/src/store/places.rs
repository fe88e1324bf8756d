//! Columns of texts as columns of numbers: in place of each text stands its place among those of the row group.
//!
//! # How it works
//! A column of texts is a page with each of them once, and pages of their places. Parquet's own reader would make a text of
//! every row. [`Places`] gives it another first page, in which 0 stands for the first text, 1 for the second, and so on: what
//! it then reads as integers are the places. The texts are left in [`Texts`].
//!
//! # Invariants
//! All data pages of the column have places: a page of another encoding is an error.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;

/// The texts of a row group's column, known when its first row was read.
pub(super) type Texts = Arc<OnceLock<Vec<String>>>;

/// Returns whether all data pages of a column have places.
pub(super) fn has_places_only(column: &ColumnChunkMetaData) -> bool {
    let encodings = column.page_encoding_stats_mask();
    encodings.is_some_and(|data| {
        data.is_only(Encoding::RLE_DICTIONARY) || data.is_only(Encoding::PLAIN_DICTIONARY)
    })
}

/// The pages of a column with places in place of texts.
pub(super) struct Places {
    pages: Box<dyn PageReader>,
    texts: Texts,
}

impl Places {
    pub(super) fn new(pages: Box<dyn PageReader>, texts: Texts) -> Places {
        Places { pages, texts }
    }

    fn replaced(&self, page: Page) -> Result<Page> {
        let Page::DictionaryPage { buf, num_values, encoding, is_sorted } = page else {
            return match page.encoding() {
                Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => Ok(page),
                other => {
                    Err(ParquetError::General(format!("a page of texts has encoding {other}")))
                }
            };
        };
        let texts = texts_of(&buf, num_values)?;
        let places: Vec<u8> = (0..texts.len() as i32).flat_map(i32::to_le_bytes).collect();
        let num_values = texts.len() as u32;
        if self.texts.set(texts).is_err() {
            return Err(ParquetError::General("a column has two pages of texts".to_owned()));
        }
        Ok(Page::DictionaryPage { buf: Bytes::from(places), num_values, encoding, is_sorted })
    }
}

/// Returns the texts of a page: each stands behind its length.
fn texts_of(mut page: &[u8], count: u32) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for _ in 0..count {
        let text = page.split_first_chunk().and_then(|(length, rest)| {
            let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            page = rest;
            Some(text)
        });
        let text =
            text.ok_or_else(|| ParquetError::EOF("a page of texts is cut short".to_owned()))?;
        texts.push(text_of(text)?);
    }
    Ok(texts)
}

/// Returns the text that bytes are.
pub(super) fn text_of(bytes: &[u8]) -> Result<String> {
    let text = str::from_utf8(bytes);
    text.map(str::to_owned).map_err(|_| ParquetError::General("a text is not UTF-8".to_owned()))
}

impl Iterator for Places {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Places {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.pages.get_next_page()?.map(|page| self.replaced(page)).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}
