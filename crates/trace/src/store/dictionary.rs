//! Columns of few values: the values, each once, and the places of the rows' values among them.
//!
//! # How it works
//! Parquet's own writer looks for each value of each row in a map, also for texts, which took a fifth of an import's time.
//! Here the place of a text is found by its number, and that of a number among the last that were found. What is written
//! is the same: a page of values and one of places.
//!
//! # Invariants
//! A column that has no value in any row is left to Parquet's own writer.

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, PageType, Type};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, PageEncodingStats};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use rustc_hash::FxHashMap;
use zstd::bulk::Compressor;

use super::packed::pack;
use super::schema::zstd_level;
use crate::NONE;

/// Numbers whose places are remembered beside the map.
const RECENT: usize = 256;

/// A column, encoded.
pub(super) struct Chunk {
    pub(super) bytes: Bytes,
    pub(super) close: ColumnCloseResult,
}

/// The places of a column's values, of the rows that have one.
pub(super) struct Dictionary {
    places: Vec<u32>,
    /// Of each row whether it has a value; `None` where all must have one
    present: Option<Vec<bool>>,
    values: Values,
}

/// The values by their places.
enum Values {
    Numbers(Vec<i64>),
    Texts(Vec<String>),
}

impl Dictionary {
    /// Makes one of texts that have numbers. `may_lack` tells whether rows may lack a text, as [`NONE`] stands for.
    pub(super) fn of_texts<'a>(
        rows: impl ExactSizeIterator<Item = u32>,
        may_lack: bool,
        text: impl Fn(u32) -> &'a str,
    ) -> Dictionary {
        let (mut places, mut values) = (Vec::with_capacity(rows.len()), Vec::new());
        let mut present = may_lack.then(|| Vec::with_capacity(rows.len()));
        let mut known: Vec<u32> = Vec::new();
        for number in rows {
            present.iter_mut().for_each(|present| present.push(number != NONE));
            if number == NONE {
                continue;
            }
            let index = number as usize;
            if index >= known.len() {
                known.resize(index + 1, NONE);
            }
            if known[index] == NONE {
                known[index] = values.len() as u32;
                values.push(text(number).to_owned());
            }
            places.push(known[index]);
        }
        Dictionary { places, present, values: Values::Texts(values) }
    }

    /// Makes one of numbers.
    pub(super) fn of_numbers(rows: impl ExactSizeIterator<Item = i64>) -> Dictionary {
        let mut numbers = Numbers::default();
        let places = rows.map(|number| numbers.place(number)).collect();
        Dictionary { places, present: None, values: Values::Numbers(numbers.values) }
    }

    /// Makes one of numbers that some rows lack.
    pub(super) fn of_some(rows: impl ExactSizeIterator<Item = Option<i64>>) -> Dictionary {
        let mut numbers = Numbers::default();
        let (mut places, mut present) =
            (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        for number in rows {
            present.push(number.is_some());
            places.extend(number.map(|number| numbers.place(number)));
        }
        Dictionary { places, present: Some(present), values: Values::Numbers(numbers.values) }
    }

    /// Returns how many rows there are.
    fn rows(&self) -> usize {
        self.present.as_ref().map_or(self.places.len(), Vec::len)
    }

    /// Returns whether no row has a value.
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Encodes it as a column of the schema.
    pub(super) fn encode(
        &self,
        column: &ColumnDescPtr,
        zstd: &mut Compressor<'_>,
    ) -> Result<Chunk, ParquetError> {
        let rows = self.rows();
        let mut file = TrackedWrite::new(Vec::new());
        let mut pages = SerializedPageWriter::new(&mut file);
        let (plain, count) = self.values.plain(column.physical_type());
        let values = pages.write_page(compressed(&plain, zstd, |buf| Page::DictionaryPage {
            buf,
            num_values: count as u32,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        })?)?;
        let places =
            pages.write_page(compressed(&self.data(count), zstd, |buf| Page::DataPage {
                buf,
                num_values: rows as u32,
                encoding: Encoding::RLE_DICTIONARY,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            })?)?;
        pages.close()?;
        let stats = |page_type, encoding| PageEncodingStats { page_type, encoding, count: 1 };
        let metadata = ColumnChunkMetaData::builder(column.clone())
            .set_compression(Compression::ZSTD(zstd_level()))
            .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
            .set_page_encoding_stats(vec![
                stats(PageType::DICTIONARY_PAGE, Encoding::PLAIN),
                stats(PageType::DATA_PAGE, Encoding::RLE_DICTIONARY),
            ])
            .set_total_compressed_size((values.compressed_size + places.compressed_size) as i64)
            .set_total_uncompressed_size(
                (values.uncompressed_size + places.uncompressed_size) as i64,
            )
            .set_num_values(rows as i64)
            .set_dictionary_page_offset(Some(values.offset as i64))
            .set_data_page_offset(places.offset as i64)
            .set_statistics(self.statistics(column.physical_type(), rows))
            .build()?;
        let bytes = Bytes::from(file.into_inner()?);
        let close = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: rows as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok(Chunk { bytes, close })
    }

    /// Returns the content of the page of places.
    fn data(&self, values: usize) -> Vec<u8> {
        let mut data = Vec::with_capacity(self.places.len());
        if let Some(present) = &self.present {
            data.extend([0; 4]);
            pack(present, 1, &mut data);
            let length = (data.len() as u32 - 4).to_le_bytes();
            data[..4].copy_from_slice(&length);
        }
        let bits = (values as u32).saturating_sub(1).checked_ilog2().map_or(1, |last| last + 1);
        data.push(bits as u8);
        pack(&self.places, bits, &mut data);
        data
    }

    fn statistics(&self, physical: Type, rows: usize) -> Statistics {
        let lacking = Some((rows - self.places.len()) as u64);
        match &self.values {
            Values::Numbers(values) => {
                let (least, most) = (values.iter().min().copied(), values.iter().max().copied());
                match physical {
                    Type::INT32 => {
                        let [least, most] = [least, most].map(|number| number.map(|n| n as i32));
                        Statistics::int32(least, most, None, lacking, false)
                    }
                    _ => Statistics::int64(least, most, None, lacking, false),
                }
            }
            Values::Texts(values) => {
                let text = |text: Option<&String>| text.map(|text| ByteArray::from(text.as_str()));
                let (least, most) = (values.iter().min(), values.iter().max());
                Statistics::byte_array(text(least), text(most), None, lacking, false)
            }
        }
    }
}

impl Values {
    /// Returns them one behind the other, and how many there are.
    fn plain(&self, physical: Type) -> (Vec<u8>, usize) {
        match self {
            Values::Numbers(values) if physical == Type::INT32 => {
                let bytes = values.iter().flat_map(|number| (*number as i32).to_le_bytes());
                (bytes.collect(), values.len())
            }
            Values::Numbers(values) => {
                (values.iter().flat_map(|number| number.to_le_bytes()).collect(), values.len())
            }
            Values::Texts(values) => {
                let mut bytes = Vec::new();
                for text in values {
                    bytes.extend((text.len() as u32).to_le_bytes());
                    bytes.extend(text.as_bytes());
                }
                (bytes, values.len())
            }
        }
    }
}

/// Numbers, and the place that each has.
struct Numbers {
    values: Vec<i64>,
    known: FxHashMap<i64, u32>,
    recent: [(i64, u32); RECENT],
}

impl Default for Numbers {
    fn default() -> Self {
        Numbers { values: Vec::new(), known: FxHashMap::default(), recent: [(0, NONE); RECENT] }
    }
}

impl Numbers {
    #[inline]
    fn place(&mut self, number: i64) -> u32 {
        let at = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
        let recent = &mut self.recent[at as usize];
        if *recent != (number, recent.1) || recent.1 == NONE {
            let values = &mut self.values;
            let place = *self.known.entry(number).or_insert_with(|| {
                values.push(number);
                values.len() as u32 - 1
            });
            *recent = (number, place);
        }
        recent.1
    }
}

fn compressed(
    content: &[u8],
    zstd: &mut Compressor<'_>,
    page: impl FnOnce(Bytes) -> Page,
) -> Result<CompressedPage, ParquetError> {
    let bytes = zstd.compress(content).map_err(|e| ParquetError::External(Box::new(e)))?;
    Ok(CompressedPage::new(page(bytes.into()), content.len()))
}
