//! Opens a recording with the reader of its format; a new reader gets a line here.

use std::path::Path;

use super::ahead::Ahead;
use super::recording::{Format, Source};
use super::{detect, parquet, perf_data, perfetto, text, trace_dat};
use crate::store::ParquetFile;
use crate::{Error, Input};

/// Opens a recording; finds out its format when `format` is `None`. The path `-` is standard input.
///
/// # Errors
/// If it cannot be read, or its format is not known.
pub fn open_raw(path: impl AsRef<Path>, format: Option<Format>) -> Result<Box<dyn Source>, Error> {
    read_raw(Input::open(path)?, format)
}

/// As [`open_raw`], of an input that is open already.
///
/// # Errors
/// Fails as [`open_raw`] does.
pub fn read_raw(input: Input, format: Option<Format>) -> Result<Box<dyn Source>, Error> {
    let format = match format {
        Some(format) => format,
        None => detect::format(&input)?,
    };
    Ok(match format {
        Format::Parquet => {
            let path = input.path().to_owned();
            let (file, bytes) = input.into_file()?;
            of_parquet(&path, &ParquetFile::open(&path, file, bytes)?)
        }
        Format::PerfData => Box::new(Ahead::new(perf_data::PerfData::open(input)?)),
        Format::Perfetto => Box::new(perfetto::Perfetto::open(input)),
        Format::TraceDat => Box::new(Ahead::new(trace_dat::TraceDat::open(input)?)),
        Format::PerfScript | Format::TraceCmdReport | Format::Trace => {
            Box::new(text::Text::open(input, format))
        }
    })
}

/// Returns the rows of a Parquet file that is not a trace by itself.
pub(crate) fn of_parquet(path: &Path, file: &ParquetFile) -> Box<dyn Source> {
    Box::new(parquet::Rows::new(path, file))
}
