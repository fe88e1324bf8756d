//! Whatever is read from a file is read from a pipe: no byte is lost between finding out the format and reading.

mod made_up;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use slablab_trace::synth::{SynthOptions, synth};
use slablab_trace::{ImportOptions, import, open};

/// Imports `input` and returns the trace's bytes.
fn imported(input: &Path) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("t.parquet");
    import(&ImportOptions::new(input, &output), &mut |_| {}).unwrap();
    fs::read(output).unwrap()
}

/// Calls `read` with a FIFO through which `content` comes in pieces.
fn through_fifo<T>(content: &[u8], piece: usize, read: impl FnOnce(&Path) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut pipe = File::options().write(true).open(&fifo).unwrap();
            content.chunks(piece).all(|piece| pipe.write_all(piece).is_ok())
        });
        let result = read(&fifo);
        assert!(writer.join().unwrap(), "the pipe was closed before its end");
        result
    })
}

fn inputs(folder: &Path) -> Vec<(String, PathBuf)> {
    let texts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/text");
    let made = |name: &str, content: &[u8]| {
        fs::write(folder.join(name), content).unwrap();
        folder.join(name)
    };
    let trace = folder.join("trace.parquet");
    synth(&trace, &SynthOptions { events: 20_000, ..SynthOptions::default() }, &mut |_| {})
        .unwrap();
    let inputs = [
        ("text of tracefs", texts.join("trace-6.1.txt")),
        ("text of trace-cmd", texts.join("trace-cmd-report.txt")),
        ("perf.data", made("perf.data", &made_up::perf_data(1))),
        ("perf.data of a pipe", made("piped", &made_up::piped_perf_data())),
        ("perfetto", made("perfetto", &made_up::perfetto::perfetto())),
        ("trace", trace),
    ];
    let inputs = inputs.map(|(name, path)| (name.to_owned(), path));
    let trace_dats = made_up::trace_dat::every().into_iter().map(|(name, content)| {
        let path = made(&name, &content);
        (name, path)
    });
    inputs.into_iter().chain(trace_dats).collect()
}

#[test]
fn a_pipe_gives_the_same_trace_as_a_file_in_pieces_of_any_size() {
    let folder = tempfile::tempdir().unwrap();
    for (name, input) in inputs(folder.path()) {
        let (content, expected) = (fs::read(&input).unwrap(), imported(&input));
        for piece in [1, 4 << 10, 1 << 20] {
            let got = through_fifo(&content, piece, imported);
            assert!(got == expected, "{name} in pieces of {piece}");
        }
    }
}

#[test]
fn gzip_and_zstd_are_unpacked_from_files_and_pipes() {
    let folder = tempfile::tempdir().unwrap();
    for (name, input) in inputs(folder.path()) {
        let (content, expected) = (fs::read(&input).unwrap(), imported(&input));
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(1));
        gzip.write_all(&content).unwrap();
        // Two frames behind each other, as `cat a.zst b.zst` makes.
        let (first, second) = content.split_at(content.len() / 2);
        let frames = [first, second].map(|half| zstd::bulk::compress(half, 1).unwrap());
        for packed in [gzip.finish().unwrap(), frames.concat()] {
            let path = folder.path().join("packed");
            fs::write(&path, &packed).unwrap();
            assert!(imported(&path) == expected, "{name} of a file");
            assert!(through_fifo(&packed, 4096, imported) == expected, "{name} of a pipe");
        }
    }
}

/// Finding out the format reads 64 KiB: a pipe that was opened again used to have lost them.
#[test]
fn piped_events_beyond_the_first_64_kib_are_all_there() {
    let line = |number: u32| {
        format!(
            "perf-7 [000] ..... {number}.5: kmalloc: call_site=f+0x1 ptr=0x{:x} bytes_req=30 \
             bytes_alloc=32 gfp_flags=GFP_KERNEL node=-1 accounted=false\n",
            0xffff_8881_0000_0000_u64 + u64::from(number) * 64
        )
    };
    let text: String = (0..20_000).map(line).collect();
    let events =
        through_fifo(text.as_bytes(), 4096, |fifo| open(fifo, &mut |_| {}).unwrap().meta().events);
    assert_eq!(events, 20_000);
}
