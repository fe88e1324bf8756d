//! The readings of `/proc/slabinfo` of a recording that is not finished: a line each, written when it was taken.
//!
//! # How it works
//! A line is JSON and has the caches whose numbers changed since the line before; the first has all, and how their objects
//! lie in slabs. A recorder that ends keeps its samples whole in another file; these lines are read only where it was
//! killed, and a last line that is cut is left out.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{SampledCache, Samples};

/// One reading.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Reading {
    begin_ns: u64,
    /// The ends of its parts, from its beginning.
    ends_ns: Vec<u32>,
    /// Caches that have other numbers than before: objects and slabs.
    changed: BTreeMap<String, (u64, u64)>,
    /// Of the first reading: what is known of each cache.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    caches: BTreeMap<String, SampledCache>,
}

/// A file of readings that grows.
#[derive(Debug)]
pub(super) struct Journal {
    /// `None` when a line could not be written: the recording goes on without.
    file: Option<File>,
}

impl Journal {
    pub(super) fn new(file: File) -> Journal {
        Journal { file: Some(file) }
    }

    /// Appends the sample that was taken last.
    pub(super) fn note(&mut self, samples: &Samples, begin_ns: u64) {
        let Some(file) = &mut self.file else { return };
        let last = samples.times_ns.len().saturating_sub(1) as u32;
        let changed = samples.caches.iter().filter(|(_, cache)| cache.at.last() == Some(&last));
        let changed = changed.filter_map(|(name, cache)| {
            let numbers = (u64::from(*cache.objects.last()?), u64::from(*cache.slabs.last()?));
            Some((name.clone(), numbers))
        });
        let reading = Reading {
            begin_ns,
            ends_ns: samples.parts_ns.last().cloned().unwrap_or_default(),
            changed: changed.collect(),
            caches: if last == 0 { samples.caches.clone() } else { BTreeMap::new() },
        };
        let Ok(mut line) = serde_json::to_vec(&reading) else { return };
        line.push(b'\n');
        if file.write_all(&line).is_err() {
            self.file = None;
        }
    }
}

/// Reads what a recorder that was killed had noted. A file that is not there, or cannot be read, has nothing.
pub(super) fn read(path: &Path) -> Samples {
    let mut samples = Samples::default();
    let Ok(file) = File::open(path) else { return samples };
    for line in BufReader::new(file).split(b'\n').map_while(Result::ok) {
        let Ok(reading) = serde_json::from_slice::<Reading>(&line) else { break };
        if samples.is_empty() {
            samples.caches = reading.caches;
        }
        samples.begin_reading(reading.begin_ns, reading.ends_ns);
        for (name, (objects, slabs)) in reading.changed {
            samples.note(&name, objects, slabs);
        }
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_are_read_as_they_were_written_but_for_a_line_that_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("readings");
        let mut journal = Journal::new(File::create(&path).unwrap());
        let mut samples = Samples::default();
        for (begin_ns, numbers) in [(100, (7, 1)), (200, (7, 1)), (300, (40, 2))] {
            samples.begin_reading(begin_ns, vec![10, 20]);
            let cache = samples.note("filp", numbers.0, numbers.1);
            (cache.slab_objects, cache.slab_bytes) = (32, 8192);
            journal.note(&samples, begin_ns);
        }
        assert_eq!(read(&path), samples);
        let text = std::fs::read(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 9]).unwrap();
        let cut = read(&path);
        assert_eq!(cut.times_ns, samples.times_ns[..2]);
        assert_eq!(cut.caches["filp"].objects, [7]);
        assert_eq!(read(&folder.path().join("none")), Samples::default());
    }
}
