//! A column of a row group, decoded some thousand rows at a time.
//!
//! # How it works
//! Parquet's own reader gives the values of the rows that have one, and for each row whether it has. A column of
//! texts gives their places among the texts of the row group ([`Places`]); where another program stored texts as
//! such, each is looked up here.

use parquet::basic::{ConvertedType, Type};
use parquet::column::page::PageReader;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use rustc_hash::FxHashMap;

use super::number::{Form, Number};
use super::places::{Places, Texts, has_places_only, text_of};

/// A column, and those of its rows that were decoded last.
pub(super) struct Column {
    name: &'static str,
    values: Values,
    /// Of each row 1 where it has a value; empty where all must have one
    levels: Vec<i16>,
    rows: usize,
}

/// The values of the rows that have one.
enum Values {
    Int32(Form, Reader<Int32Type>),
    Int64(Form, Reader<Int64Type>),
    /// Where a program has no integers that may be null, their columns are floating point.
    Double(Reader<DoubleType>),
    Places(Texts, Reader<Int32Type>),
    Texts(StoredTexts),
    /// Of a type that no column of a trace has
    Other(String),
}

struct Reader<T: DataType> {
    pages: ColumnReaderImpl<T>,
    values: Vec<T::T>,
}

impl<T: DataType> Reader<T> {
    fn new(column: &ColumnChunkMetaData, pages: Box<dyn PageReader>) -> Self {
        Reader {
            pages: ColumnReaderImpl::new(column.column_descr_ptr(), pages),
            values: Vec::new(),
        }
    }

    /// Decodes the next rows, at most `rows`, and returns how many.
    fn read(&mut self, rows: usize, levels: &mut Vec<i16>) -> Result<usize, ParquetError> {
        self.values.clear();
        let (read, _, _) = self.pages.read_records(rows, Some(levels), None, &mut self.values)?;
        Ok(read)
    }
}

/// Texts that are stored as such, with the place that each got.
struct StoredTexts {
    reader: Reader<ByteArrayType>,
    places: Vec<i32>,
    texts: Vec<String>,
    known: FxHashMap<Vec<u8>, i32>,
}

impl StoredTexts {
    fn read(&mut self, rows: usize, levels: &mut Vec<i16>) -> Result<usize, ParquetError> {
        let read = self.reader.read(rows, levels)?;
        self.places.clear();
        for bytes in self.reader.values.drain(..) {
            let known = self.known.get(bytes.data()).copied();
            let place = known.unwrap_or(self.texts.len() as i32);
            if known.is_none() {
                self.texts.push(text_of(bytes.data())?);
                self.known.insert(bytes.data().to_vec(), place);
            }
            self.places.push(place);
        }
        Ok(read)
    }
}

impl Column {
    /// Begins a column of a row group, whose pages `pages` gives.
    pub(super) fn new(
        name: &'static str,
        column: &ColumnChunkMetaData,
        pages: Box<dyn PageReader>,
    ) -> Column {
        let described = column.column_descr();
        let text = described.converted_type() != ConvertedType::DECIMAL;
        let values = match (described.physical_type(), Form::of(described)) {
            _ if described.max_rep_level() > 0 => Values::Other("lists".to_owned()),
            (Type::INT32, Some(form)) => Values::Int32(form, Reader::new(column, pages)),
            (Type::INT64, Some(form)) => Values::Int64(form, Reader::new(column, pages)),
            (Type::DOUBLE, _) => Values::Double(Reader::new(column, pages)),
            (Type::BYTE_ARRAY, _) if text && has_places_only(column) => {
                let texts = Texts::default();
                let places = Places::new(pages, texts.clone());
                Values::Places(texts, Reader::new(column, Box::new(places)))
            }
            (Type::BYTE_ARRAY, _) if text => Values::Texts(StoredTexts {
                reader: Reader::new(column, pages),
                places: Vec::new(),
                texts: Vec::new(),
                known: FxHashMap::default(),
            }),
            (physical, _) => Values::Other(match described.converted_type() {
                ConvertedType::NONE => physical.to_string(),
                noted => noted.to_string(),
            }),
        };
        Column { name, values, levels: Vec::new(), rows: 0 }
    }

    /// Returns its name.
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Decodes the next `rows` rows.
    ///
    /// # Errors
    /// If they cannot be decoded, or there are fewer.
    pub(super) fn read(&mut self, rows: usize) -> Result<(), String> {
        self.levels.clear();
        let levels = &mut self.levels;
        let read = match &mut self.values {
            Values::Int32(_, reader) | Values::Places(_, reader) => reader.read(rows, levels),
            Values::Int64(_, reader) => reader.read(rows, levels),
            Values::Double(reader) => reader.read(rows, levels),
            Values::Texts(texts) => texts.read(rows, levels),
            Values::Other(_) => Ok(rows),
        };
        self.rows = read.map_err(|error| error.to_string())?;
        if self.rows == rows {
            return Ok(());
        }
        Err(format!("column {} has fewer rows than others", self.name))
    }

    /// Appends its integers, with `null` where a row has none; `None` for a column that always has one.
    ///
    /// # Errors
    /// If it holds something else, or a number that is none of `N`.
    pub(super) fn numbers<N: Number>(
        &self,
        null: Option<N>,
        to: &mut Vec<N>,
    ) -> Result<(), String> {
        let beyond = || format!("column {} has a value that is none of its numbers", self.name);
        match &self.values {
            Values::Int32(form, reader) if *form == N::FORM => {
                self.append(&reader.values, null, |stored| N::of_own(stored.into()), to)
            }
            Values::Int64(form, reader) if *form == N::FORM => {
                self.append(&reader.values, null, N::of_own, to)
            }
            Values::Int32(form, reader) => {
                let number = |stored: &i32| N::of_any(form.integer((*stored).into()));
                let numbers = reader.values.iter().map(number).collect::<Option<Vec<N>>>();
                self.append(&numbers.ok_or_else(beyond)?, null, |number| number, to)
            }
            Values::Int64(form, reader) => {
                let number = |stored: &i64| N::of_any(form.integer(*stored));
                let numbers = reader.values.iter().map(number).collect::<Option<Vec<N>>>();
                self.append(&numbers.ok_or_else(beyond)?, null, |number| number, to)
            }
            Values::Double(reader) => {
                let whole = |value: &&f64| value.fract() == 0.0;
                let number =
                    |value: &f64| Some(value).filter(whole).and_then(|v| N::of_any(*v as i128));
                let numbers = reader.values.iter().map(number).collect::<Option<Vec<N>>>();
                self.append(&numbers.ok_or_else(beyond)?, null, |number| number, to)
            }
            Values::Places(..) | Values::Texts(_) => Err(self.holds("texts")),
            Values::Other(what) => Err(self.holds(what)),
        }
    }

    /// Appends what its texts stand for, and `null` where a row has none; `None` for a column that always has one. `known`
    /// has what those of its texts stand for that earlier rows of the group used.
    ///
    /// # Errors
    /// If it holds something else, or a text that stands for nothing.
    pub(super) fn names<V: Copy>(
        &self,
        null: Option<V>,
        mut value_of: impl FnMut(&str) -> Option<V>,
        known: &mut Vec<Option<V>>,
        to: &mut Vec<V>,
    ) -> Result<(), String> {
        let (texts, places) = match &self.values {
            Values::Places(texts, reader) => {
                (texts.get().map_or(&[][..], Vec::as_slice), &reader.values)
            }
            Values::Texts(stored) => (&stored.texts[..], &stored.places),
            Values::Other(what) => return Err(self.holds(what)),
            Values::Int32(..) | Values::Int64(..) => return Err(self.holds("integers")),
            Values::Double(_) => return Err(self.holds("numbers")),
        };
        // Other writers leave texts among them that no row uses, such as an empty one for the nulls.
        known.resize(texts.len(), None);
        for place in places {
            let place = *place as usize;
            if known[place].is_none() {
                known[place] = value_of(&texts[place]);
                if known[place].is_none() {
                    return Err(format!("`{}` is not in the metadata", texts[place]));
                }
            }
        }
        let first = places.first().and_then(|place| known[*place as usize]);
        let Some(any) = first.or(null) else { return self.append(&[], null, |value| value, to) };
        self.append(places, null, |place| known[place as usize].unwrap_or(any), to)
    }

    /// Appends what `map` makes of the values.
    fn append<F: Copy, V: Copy>(
        &self,
        values: &[F],
        null: Option<V>,
        map: impl Fn(F) -> V,
        to: &mut Vec<V>,
    ) -> Result<(), String> {
        if values.len() == self.rows {
            to.extend(values.iter().map(|value| map(*value)));
            return Ok(());
        }
        let Some(null) = null else { return Err(format!("column {} has no value", self.name)) };
        let Some(last) = values.len().checked_sub(1) else {
            to.resize(to.len() + self.rows, null);
            return Ok(());
        };
        // Without a branch: which rows are frees no branch predictor guesses.
        let mut next = 0;
        to.extend(self.levels.iter().map(|level| {
            let (value, has) = (map(values[next.min(last)]), *level == 1);
            next += usize::from(has);
            if has { value } else { null }
        }));
        Ok(())
    }

    fn holds(&self, what: &str) -> String {
        format!("column {} holds {what}", self.name)
    }
}
