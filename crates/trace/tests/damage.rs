//! Recordings and traces that are cut short or damaged, at every place: an answer, never a panic.

use std::path::{Path, PathBuf};

use slablab_trace::synth::{SynthOptions, synth};
use slablab_trace::{Format, ImportOptions, Kind, Meta, TraceReader, import};

/// A `perf.data` made by hand: two events, two rounds, a CPU's buffer after the other's.
mod perf_data {
    const ID: [u64; 2] = [71, 72];
    /// identifier, thread, time, CPU, raw
    const SAMPLE_TYPE: u64 = 1 << 16 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 10;
    const FINISHED_ROUND: u32 = 68;

    fn format(name: &str, id: u64, fields: &[(&str, u32, u32)]) -> Vec<u8> {
        let mut text = format!("name: {name}\nID: {id}\nformat:\n");
        let common = [("common_type", 0, 2), ("common_pid", 4, 4)];
        for (field, offset, size) in common.iter().chain(fields) {
            text += &format!("\tfield:long {field};\toffset:{offset};\tsize:{size};\tsigned:1;\n");
        }
        let length = (text.len() as u64).to_le_bytes();
        [&length[..], text.as_bytes()].concat()
    }

    fn tracing_data() -> Vec<u8> {
        let mut data = b"\x17\x08\x44tracing0.6\0\0\x08".to_vec();
        data.extend(4096u32.to_le_bytes());
        for name in ["header_page", "header_event"] {
            data.extend(name.bytes().chain([0]));
            data.extend(0u64.to_le_bytes());
        }
        data.extend(0u32.to_le_bytes()); // no events of ftrace's own
        data.extend(1u32.to_le_bytes());
        data.extend(b"kmem\0\x02\0\0\0");
        let place = [("call_site", 8, 8), ("ptr", 16, 8)];
        let sizes =
            [("bytes_req", 24, 8), ("bytes_alloc", 32, 8), ("gfp_flags", 40, 8), ("node", 48, 4)];
        data.extend(format("kmalloc", 1, &[&place[..], &sizes].concat()));
        data.extend(format("kfree", 2, &place));
        data
    }

    fn record(kind: u32, body: &[u8]) -> Vec<u8> {
        let mut record = kind.to_le_bytes().to_vec();
        record.extend([0, 0]);
        record.extend((body.len() as u16 + 8).to_le_bytes());
        record.extend(body);
        record
    }

    fn sample(time_ns: u64, cpu: u32, ptr: u64, bytes: Option<u64>) -> Vec<u8> {
        let event = if bytes.is_some() { 1u64 } else { 2 };
        let mut raw: Vec<u8> = [event | 7 << 32, 0xffff_ffff_8100_0010, ptr]
            .into_iter()
            .chain(bytes.into_iter().flat_map(|bytes| [bytes, bytes, 0xcc0, u64::MAX]))
            .flat_map(u64::to_le_bytes)
            .collect();
        raw.extend([0; 4]);
        let mut body = Vec::new();
        body.extend(ID[event as usize - 1].to_le_bytes());
        body.extend([7u32.to_le_bytes(), 7u32.to_le_bytes()].concat());
        body.extend(time_ns.to_le_bytes());
        body.extend([cpu.to_le_bytes(), 0u32.to_le_bytes()].concat());
        body.extend((raw.len() as u32).to_le_bytes());
        body.extend(raw);
        record(9, &body)
    }

    fn attr(period: u64) -> Vec<u8> {
        let mut attr = [2u32.to_le_bytes(), 64u32.to_le_bytes()].concat();
        attr.extend([0, period, SAMPLE_TYPE, 0, 1 << 18, 0].into_iter().flat_map(u64::to_le_bytes));
        attr.resize(64, 0);
        attr
    }

    /// Returns the file. `period` is that of its samples.
    pub(super) fn made_up(period: u64) -> Vec<u8> {
        let mut records = Vec::new();
        for round in 0..2 {
            for cpu in 0..2 {
                for step in 0..10 {
                    let time_ns = 1000 + round * 100 + step * 10 + u64::from(cpu);
                    let ptr = 0xffff_8881_0000_0000 + (step / 2 * 2 + u64::from(cpu)) * 4096;
                    let bytes = step.is_multiple_of(2).then_some(100);
                    records.extend(sample(time_ns, cpu, ptr, bytes));
                }
            }
            records.extend(record(FINISHED_ROUND, &[]));
        }
        let tracing = tracing_data();
        // Another kernel than the running one: its symbols are not looked for.
        let release = [&8u32.to_le_bytes()[..], b"0.0-made"].concat();

        let (ids_at, attrs_at) = (104u64, 120u64);
        let data_at = attrs_at + 2 * 80;
        let features_at = data_at + records.len() as u64;
        let tracing_at = features_at + 2 * 16;
        let release_at = tracing_at + tracing.len() as u64;
        let mut features = [0u64; 4];
        features[0] = 1 << 1 | 1 << 4;
        let mut file = b"PERFILE2".to_vec();
        let head = [104, 80, attrs_at, 160, data_at, records.len() as u64, 0, 0];
        let words = head.into_iter().chain(features).chain(ID);
        file.extend(words.flat_map(u64::to_le_bytes));
        for event in 0..2 {
            file.extend(attr(period));
            file.extend([ids_at + event * 8, 8].into_iter().flat_map(u64::to_le_bytes));
        }
        file.extend(records);
        let sections = [tracing_at, tracing.len() as u64, release_at, release.len() as u64];
        file.extend(sections.into_iter().flat_map(u64::to_le_bytes));
        file.extend(tracing);
        file.extend(release);
        file
    }
}

/// A folder to try damaged files in.
struct Bench {
    folder: tempfile::TempDir,
    format: Option<Format>,
}

impl Bench {
    fn new(format: Option<Format>) -> Bench {
        Bench { folder: tempfile::tempdir().unwrap(), format }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Imports `content`. An error names the file and leaves nothing; a success reads back.
    fn import(&self, content: &[u8]) -> Result<Meta, String> {
        let (input, output) = (self.path("damaged"), self.path("t.parquet"));
        std::fs::write(&input, content).unwrap();
        let options =
            ImportOptions { input, format: self.format, output: output.clone(), slabinfo: None };
        let result = import(&options, &mut |_| {}).map_err(|error| error.to_string());
        let files = std::fs::read_dir(self.folder.path()).unwrap().count();
        match &result {
            Ok(meta) => {
                let rows = TraceReader::open(&output).unwrap().batches();
                assert_eq!(rows.map(|batch| batch.unwrap().len() as u64).sum::<u64>(), meta.events);
                for skipped in &meta.quality.skipped {
                    assert!(skipped.count > 0 && !skipped.first.is_empty(), "{skipped:?}");
                }
                std::fs::remove_file(&output).unwrap();
            }
            Err(error) => {
                assert!(error.contains("damaged: ") || error.contains("damaged:"), "{error}");
                assert_eq!(files, 1, "half-written");
            }
        }
        result
    }
}

/// Calls `try_it` with `good` cut at every `step`-th length, and with every `step`-th byte changed.
fn damage(good: &[u8], step: usize, mut try_it: impl FnMut(&[u8])) {
    for length in (0..good.len()).step_by(step) {
        try_it(&good[..length]);
    }
    let mut bytes = good.to_vec();
    for place in (0..good.len()).step_by(step) {
        for change in [0xff, 0x80, 0x01] {
            bytes[place] ^= change;
            try_it(&bytes);
            bytes[place] = good[place];
        }
    }
}

#[test]
fn a_made_up_perf_data_is_read_in_order_of_time() {
    let bench = Bench::new(None);
    let meta = bench.import(&perf_data::made_up(1)).unwrap();
    let by_kind = |kind: Kind| meta.events_by_kind[kind as usize];
    assert_eq!((by_kind(Kind::Kmalloc), by_kind(Kind::Kfree)), (20, 20));
    assert_eq!((meta.quality.unplaced(), meta.object_slots), (0, 2));
    assert_eq!((meta.time_first_ns, meta.time_last_ns), (1000, 1191));
    assert_eq!(meta.kernel_release, "0.0-made");
}

#[test]
fn a_perf_data_of_samples_only_is_refused() {
    for period in [0, 10] {
        let error = Bench::new(None).import(&perf_data::made_up(period)).unwrap_err();
        assert!(error.contains("-c 1"), "{error}");
    }
}

#[test]
fn a_damaged_perf_data_is_refused_or_counted() {
    let bench = Bench::new(Some(Format::PerfData));
    let good = perf_data::made_up(1);
    let (mut read, mut refused) = (0, 0);
    damage(&good, 7, |bytes| match bench.import(bytes) {
        Ok(_) => read += 1,
        Err(_) => refused += 1,
    });
    assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
}

#[test]
fn a_damaged_text_is_refused_or_counted() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/text/trace-6.1.txt");
    let bench = Bench::new(Some(Format::Trace));
    let mut skipped = 0;
    damage(&std::fs::read(file).unwrap(), 11, |bytes| {
        skipped += bench.import(bytes).map_or(0, |meta| meta.quality.skipped_total());
    });
    assert!(skipped > 100, "{skipped} lines skipped");
}

#[test]
fn a_damaged_trace_is_an_error_or_keeps_its_promises() {
    let bench = Bench::new(None);
    let path = bench.path("damaged");
    synth(&path, &SynthOptions { events: 3_000, ..SynthOptions::default() }, &mut |_| {}).unwrap();
    let good = std::fs::read(&path).unwrap();
    let (mut read, mut refused) = (0, 0);
    damage(&good, 61, |bytes| {
        std::fs::write(&path, bytes).unwrap();
        let rows = TraceReader::open(&path).and_then(|reader| {
            let slots = reader.meta().object_slots;
            reader.batches().try_fold((), |(), batch| {
                let promised = |&object: &u32| object < slots || object == slablab_trace::NONE;
                assert!(batch?.object.iter().all(promised));
                Ok(())
            })
        });
        match rows {
            Ok(()) => read += 1,
            Err(error) => {
                assert!(error.to_string().contains("damaged"), "{error}");
                refused += 1;
            }
        }
    });
    assert!(refused > 100, "{read} read, {refused} refused");
}
