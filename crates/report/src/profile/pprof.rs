//! pprof: what `go tool pprof`, Perfetto, Pyroscope and others read.
//!
//! How it works: a message of Protocol Buffers, written field by field, and compressed by gzip. Strings, functions and
//! locations stand in tables of their own; number 0 of the strings is "", and other numbers count from 1.
//!
//! Source: `proto/profile.proto` of github.com/google/pprof, whose numbers of fields these are.

use std::collections::HashMap;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::Profile;

/// A message in the making.
#[derive(Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// Appends a number; 0 is what a field without one has.
    fn number(&mut self, field: u64, value: u64) {
        if value != 0 {
            self.varint(field << 3);
            self.varint(value);
        }
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// Appends numbers one behind the other.
    fn packed(&mut self, field: u64, values: impl Iterator<Item = u64>) {
        let mut packed = Message::default();
        values.for_each(|value| packed.varint(value));
        self.bytes(field, &packed.0);
    }
}

/// The table of strings.
#[derive(Debug)]
struct Strings<'a> {
    list: Vec<&'a str>,
    known: HashMap<&'a str, u64>,
}

impl<'a> Strings<'a> {
    fn number(&mut self, text: &'a str) -> u64 {
        let next = self.list.len() as u64;
        let number = *self.known.entry(text).or_insert(next);
        if number == next {
            self.list.push(text);
        }
        number
    }
}

/// Numbers of fields of `Profile`.
mod field {
    pub(super) const SAMPLE_TYPE: u64 = 1;
    pub(super) const SAMPLE: u64 = 2;
    pub(super) const MAPPING: u64 = 3;
    pub(super) const LOCATION: u64 = 4;
    pub(super) const FUNCTION: u64 = 5;
    pub(super) const STRING_TABLE: u64 = 6;
    pub(super) const TIME_NANOS: u64 = 9;
    pub(super) const DURATION_NANOS: u64 = 10;
    pub(super) const COMMENT: u64 = 13;
    pub(super) const DEFAULT_SAMPLE_TYPE: u64 = 14;
}

impl Profile {
    /// Returns it as pprof.
    ///
    /// # Errors
    ///
    /// If it cannot be compressed.
    pub fn pprof(&self) -> io::Result<Vec<u8>> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(&self.pprof_message())?;
        packed.finish()
    }

    fn pprof_message(&self) -> Vec<u8> {
        let mut strings = Strings { list: vec![""], known: HashMap::from([("", 0)]) };
        let mut all = Message::default();
        for of in &self.types {
            let mut value_type = Message::default();
            value_type.number(1, strings.number(&of.name));
            value_type.number(2, strings.number(&of.unit));
            all.bytes(field::SAMPLE_TYPE, &value_type.0);
        }
        for sample in &self.samples {
            let mut message = Message::default();
            message.packed(1, sample.calls.iter().map(|call| u64::from(*call) + 1));
            message.packed(2, sample.values.iter().map(|value| *value as u64));
            for (key, value) in &sample.labels {
                let mut label = Message::default();
                label.number(1, strings.number(key));
                label.number(2, strings.number(value));
                message.bytes(3, &label.0);
            }
            all.bytes(field::SAMPLE, &message.0);
        }
        self.places(&mut strings, &mut all);
        all.number(field::TIME_NANOS, self.time_unix_ns);
        all.number(field::DURATION_NANOS, self.duration_ns);
        all.packed(field::COMMENT, [strings.number(&self.title)].into_iter());
        let first = self.types.first().map_or("", |of| &of.name);
        all.number(field::DEFAULT_SAMPLE_TYPE, strings.number(first));
        for text in &strings.list {
            all.bytes(field::STRING_TABLE, text.as_bytes());
        }
        all.0
    }

    /// Appends modules, functions, and the places in these.
    fn places<'a>(&'a self, strings: &mut Strings<'a>, all: &mut Message) {
        let (mut modules, mut functions) = (HashMap::new(), HashMap::new());
        for (call, location) in self.calls.iter().zip(1u64..) {
            let next = modules.len() as u64 + 1;
            let module = *modules.entry(&call.module).or_insert(next);
            if module == next {
                let mut mapping = Message::default();
                mapping.number(1, module);
                mapping.number(5, strings.number(&call.module));
                mapping.number(7, 1); // its functions are known
                all.bytes(field::MAPPING, &mapping.0);
            }
            let next = functions.len() as u64 + 1;
            let function = *functions.entry((&call.function, module)).or_insert(next);
            if function == next {
                let mut message = Message::default();
                message.number(1, function);
                message.number(2, strings.number(&call.function));
                message.number(3, strings.number(&call.function));
                message.number(4, strings.number(&call.module));
                all.bytes(field::FUNCTION, &message.0);
            }
            let (mut message, mut line) = (Message::default(), Message::default());
            line.number(1, function);
            message.number(1, location);
            message.number(2, module);
            message.number(3, call.address);
            message.bytes(4, &line.0);
            all.bytes(field::LOCATION, &message.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::profile::{Call, ValueType};

    #[test]
    fn a_profile_is_the_message_that_its_fields_make() {
        let types = vec![ValueType { name: "space".into(), unit: "bytes".into() }];
        let mut profile = Profile { types, title: "t".into(), ..Profile::default() };
        let call = Call { function: "f".into(), module: "m".into(), address: 300 };
        profile.add([call], vec![-1], vec![("cache", "dentry".into())]);
        let mut message = Vec::new();
        flate2::read::GzDecoder::new(&profile.pprof().unwrap()[..])
            .read_to_end(&mut message)
            .unwrap();
        let expected: Vec<u8> = [
            &[0x0a, 4, 0x08, 1, 0x10, 2][..],                  // space in bytes
            &[0x12, 21, 0x0a, 1, 1, 0x12, 10],                 // a sample of location 1
            &[255, 255, 255, 255, 255, 255, 255, 255, 255, 1], // -1
            &[0x1a, 4, 0x08, 3, 0x10, 4],                      // cache: dentry
            &[0x1a, 6, 0x08, 1, 0x28, 5, 0x38, 1],             // the module
            &[0x2a, 8, 0x08, 1, 0x10, 6, 0x18, 6, 0x20, 5],    // the function
            &[0x22, 11, 0x08, 1, 0x10, 1, 0x18, 0xac, 2, 0x22, 2, 0x08, 1],
            &[0x6a, 1, 7, 0x70, 1], // the title, and what is shown at first
        ]
        .concat();
        assert_eq!(message[..expected.len()], expected);
        assert!(message.ends_with(b"\x32\x01f\x32\x01t"));
    }
}
