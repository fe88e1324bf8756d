//! Which format a file is in, by its first bytes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::{Format, perf_data};
use crate::Error;
use crate::error::At;

/// Bytes that are looked at.
const HEAD_BYTES: u64 = 64 << 10;

/// Formats that are known but not read: how they begin, what they are, and what to do.
const FOREIGN: [(&[u8], &str, &str); 6] = [
    (b"PAR1", "is Parquet already", "read it as it is, it need not be imported"),
    (b"PERFFILE", "is a perf.data of before 2012", "record again with a newer perf"),
    (
        b"\x17\x08\x44tracing",
        "is trace-cmd's own trace.dat",
        "import the text that `trace-cmd report FILE` prints",
    ),
    (b"\x1f\x8b", "is compressed by gzip", "gunzip it first"),
    (b"\x28\xb5\x2f\xfd", "is compressed by zstd", "unzstd it first"),
    (b"\xfd7zXZ", "is compressed by xz", "unxz it first"),
];

/// Finds out the format of the file at `path`.
pub(super) fn format(path: &Path) -> Result<Format, Error> {
    let bad = |what: &str, remedy: &str| Error::bad(path, At::File, what, remedy);
    let mut head = Vec::new();
    let file = File::open(path).map_err(|e| Error::io(path, "cannot open", e))?;
    if file.metadata().is_ok_and(|at| at.is_dir()) {
        let remedy =
            "name a perf.data file or a text (perf record without --threads writes a file)";
        return Err(bad("is a directory", remedy));
    }
    file.take(HEAD_BYTES).read_to_end(&mut head).map_err(|e| Error::io(path, "cannot read", e))?;
    if head.is_empty() {
        return Err(bad("the file is empty", "record with `slablab record` or `perf kmem record`"));
    }
    if head.starts_with(perf_data::MAGIC) || head.starts_with(perf_data::MAGIC_SWAPPED) {
        return Ok(Format::PerfData);
    }
    if let Some((_, what, remedy)) = FOREIGN.iter().find(|(magic, _, _)| head.starts_with(magic)) {
        return Err(bad(what, remedy));
    }
    text(&String::from_utf8_lossy(&head)).ok_or_else(|| {
        bad(
            "is in no format that can be read",
            "what can: a trace of slablab, perf.data, and the text of perf script, trace-cmd report \
             and tracefs trace",
        )
    })
}

/// Finds out the dialect of a text: by its heading, else by how it writes the events' names.
fn text(head: &str) -> Option<Format> {
    if head.starts_with("# tracer:") || head.contains("\n# tracer:") {
        return Some(Format::Trace);
    }
    if head.starts_with("cpus=") {
        return Some(Format::TraceCmdReport);
    }
    let event = head.lines().find(|line| line.contains("call_site=") || line.contains(": k"))?;
    let names = ["kmalloc", "kfree", "kmem_cache_alloc", "kmem_cache_free"];
    if event.contains("kmem:k") {
        Some(Format::PerfScript)
    } else {
        names.iter().any(|name| event.contains(name)).then_some(Format::Trace)
    }
}
