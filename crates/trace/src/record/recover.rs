//! Makes the trace of a recording whose recorder was killed, or that ended without one (a full disk, Ctrl-C meanwhile).
//!
//! # How it works
//! What its folder lacks is added first: the pages that still lie in the buffers of the recorder's instance, which outlives
//! it, and how many events these lost. The samples are those of the readings that were written one by one; behind the last
//! of them nothing counts, as the kernel went on alone. Then the trace is made as that of any recording.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use slablab_host::Signals;

use super::head::{Head, Tail};
use super::options::RecordSummary;
use super::packed::Writer;
use super::process::process;
use super::recording::lost_of;
use super::tracefs::Tracefs;
use super::unfinished::Unfinished;
use super::{drain, machine, readings};
use crate::{Error, Progress, TraceWriter};

/// Makes the trace that was to be at `output` of what an interrupted recording of it left.
///
/// # Errors
/// When there is none, or its recorder still runs, or the trace cannot be written; then what is left stays as it is.
pub fn recover(output: &Path, progress: &mut dyn FnMut(Progress)) -> Result<RecordSummary, Error> {
    let unfinished = Unfinished::open(output)?;
    let mut signals =
        Signals::catch().map_err(|e| Error::io("signals".as_ref(), "cannot catch", e))?;
    let writer = TraceWriter::create(output)?;
    if unfinished.tail().is_none() {
        let head = unfinished.head()?;
        unfinished.own_threads()?;
        let tail = tail_of(&unfinished, &head)?;
        unfinished.end(&tail)?;
    }
    process(unfinished, writer, None, &mut signals, progress)
}

/// Returns what can be known of the end of a recording whose recorder was killed.
fn tail_of(unfinished: &Unfinished, head: &Head) -> Result<Tail, Error> {
    let lost = take_rest(unfinished, head)?;
    let samples = readings::read(&unfinished.readings_path());
    let until_ns = samples.times_ns.last().copied();
    let elapsed_ns = until_ns.zip(samples.times_ns.first()).map_or(0, |(to, from)| to - from);
    Ok(Tail {
        lost,
        elapsed_ns,
        end_unix_ns: head.meta.start_unix_ns.map(|start_ns| start_ns + elapsed_ns),
        samples,
        ended_early: Some(ended_early(head)),
        until_ns,
        ..Tail::default()
    })
}

/// Says that the recorder did not end in order, and what is not known for that reason.
fn ended_early(head: &Head) -> String {
    let ring = match head.has_objects() {
        true => ", and what waited in BPF's ring is gone",
        false => "; what was lost is counted until it was recovered",
    };
    format!("its recorder did not end in order: what came after its last sample is left out{ring}")
}

/// Moves what the instance's buffers hold to the files, where the kernel that was recorded still runs; returns how many
/// events they lost, by CPU. The instance is gone then.
fn take_rest(unfinished: &Unfinished, head: &Head) -> Result<Vec<u64>, Error> {
    let mut lost = vec![0; head.meta.cpus as usize];
    let files = head.cpus.iter().map(|&cpu| Ok((cpu, Rest::open(unfinished, head, cpu)?)));
    let mut files = files.collect::<Result<Vec<_>, Error>>()?;
    for cpu in (0..head.meta.cpus).filter(|_| !head.is_packed()) {
        if let Ok(file) = File::options().write(true).open(unfinished.objects_path(cpu)) {
            keep_whole_pages(&file, head.page_bytes);
        }
    }
    if !machine::is_of_this_boot(&head.meta) {
        return Ok(lost);
    }
    let instance = Tracefs::mounted().and_then(|tracefs| tracefs.adopt(Path::new(&head.instance)));
    let Some(instance) = instance else { return Ok(lost) };
    match instance.write("tracing_on", "0") {
        // Another recorder has cleared what was left behind, and the events of the last moment with it.
        Err(_) if instance.is_gone() => return Ok(lost),
        stopped => stopped?,
    }
    for (cpu, file) in &mut files {
        let pipe = instance.path(&format!("per_cpu/cpu{cpu}/trace_pipe_raw"));
        drain::take_rest(&pipe, head.page_bytes, |pages| file.write(pages)).map_err(|e| {
            Error::io(&unfinished.pages_path(*cpu), "cannot write the recording", e)
        })?;
        if let Some(lost) = lost.get_mut(*cpu as usize) {
            *lost = lost_of(&instance, *cpu, head.chosen.is_last)?;
        }
    }
    Ok(lost)
}

/// A file that gets the last pages of a CPU.
enum Rest {
    Packed(Box<Writer>),
    /// Of an older recorder
    Whole(File),
}

impl Rest {
    fn open(unfinished: &Unfinished, head: &Head, cpu: u32) -> Result<Rest, Error> {
        if head.is_packed() {
            return Ok(Rest::Packed(Box::new(unfinished.append_pages(cpu, head.page_bytes)?)));
        }
        let path = unfinished.pages_path(cpu);
        let file = File::options().read(true).write(true).open(&path).and_then(|mut file| {
            keep_whole_pages(&file, head.page_bytes);
            file.seek(SeekFrom::End(0)).map(|_| file)
        });
        file.map(Rest::Whole).map_err(|e| Error::io(&path, "cannot open", e))
    }

    fn write(&mut self, pages: &[u8]) -> std::io::Result<()> {
        match self {
            Rest::Packed(file) => file.write(pages),
            Rest::Whole(file) => file.write_all(pages),
        }
    }
}

/// Cuts off a page that was not written whole.
fn keep_whole_pages(file: &File, page_bytes: usize) {
    let length = file.metadata().map_or(0, |at| at.len());
    let _ = file.set_len(length - length % page_bytes as u64);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::chosen;
    use crate::record::made_up::{self, PAGE_BYTES};
    use crate::source::format::KFREE;

    fn page(number: u64) -> Vec<u8> {
        let frees = (0..100u32).map(|free| {
            let site = 0x1000 + u64::from(free % 7);
            let ptr = 0x8000 + 64 * (u64::from(free) + 100 * number);
            let (head, pid) = ([7, 0, 0, 0], free.to_le_bytes());
            (5, [&head[..], &pid, &site.to_le_bytes(), &ptr.to_le_bytes()].concat())
        });
        made_up::page(1000 * number, &frees.collect::<Vec<_>>())
    }

    /// Recovers a recording of these pages; returns what its trace says.
    fn recovered(version: u32, pages: &[u8]) -> (u64, String) {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("t.parquet");
        drop(begun(&output, version, pages));
        let meta = recover(&output, &mut |_| ()).unwrap().meta;
        (meta.events, serde_json::to_string(&meta).unwrap())
    }

    /// Returns what the recorder of a version leaves of these pages.
    fn begun(output: &Path, version: u32, pages: &[u8]) -> Unfinished {
        let mut unfinished = Unfinished::create(output).unwrap();
        let head = Head { version, ..made_up::head(1, &[KFREE]) };
        if head.is_packed() {
            unfinished.create_pages(0, PAGE_BYTES).unwrap().write(pages).unwrap();
        } else {
            std::fs::write(unfinished.pages_path(0), pages).unwrap();
        }
        unfinished.write_symbols().unwrap();
        unfinished.begin(&head).unwrap();
        unfinished.write_own_threads(&[]).unwrap();
        unfinished
    }

    #[test]
    fn a_spool_of_an_older_recorder_is_read() {
        let pages = [page(1), page(2)].concat();
        let old = recovered(Head::VERSION_WHOLE_PAGES, &pages);
        assert_eq!(old.0, 200);
        assert_eq!(old, recovered(Head::VERSION, &pages));
        // Its last page was not written whole.
        let cut = recovered(Head::VERSION_WHOLE_PAGES, &pages[..pages.len() - 9]);
        assert_eq!(cut, recovered(Head::VERSION, &page(1)));
    }
    /// It used to count as one lost event, whatever it held.
    #[test]
    fn a_damaged_block_is_as_many_lost_events_as_it_held() {
        let pages = [page(1), page(2)].concat();
        let lost = |damaged: Option<usize>| {
            let folder = tempfile::tempdir().unwrap();
            let output = folder.path().join("t.parquet");
            let unfinished = begun(&output, Head::VERSION, &pages);
            let path = unfinished.pages_path(0);
            // Another block behind it.
            unfinished.append_pages(0, PAGE_BYTES).unwrap().write(&page(3)).unwrap();
            drop(unfinished);
            if let Some(at) = damaged {
                let mut bytes = std::fs::read(&path).unwrap();
                bytes[at] ^= 1;
                std::fs::write(&path, bytes).unwrap();
            }
            let meta = recover(&output, &mut |_| ()).unwrap().meta;
            (meta.events, meta.quality.lost, meta.quality.gaps_uncounted)
        };
        assert_eq!(lost(None), (300, vec![0], 0));
        assert_eq!(lost(Some(500)), (100, vec![200], 0));
        // The head is damaged: how many they were is not known.
        assert_eq!(lost(Some(20)), (100, vec![1], 1));
    }

    /// The trace was made without the events of a CPU, and nothing told it.
    #[test]
    fn a_file_of_chosen_events_that_is_gone_is_missed() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("t.parquet");
        let mut unfinished = Unfinished::create(&output).unwrap();
        let head = made_up::head(2, &chosen::FORMATS);
        for cpu in [0, 1] {
            unfinished.create_pages(cpu, PAGE_BYTES).unwrap();
            unfinished.create_objects(cpu, PAGE_BYTES).unwrap();
        }
        unfinished.write_symbols().unwrap();
        unfinished.begin(&head).unwrap();
        unfinished.write_own_threads(&[]).unwrap();
        let gone = unfinished.objects_path(1);
        drop(unfinished);
        std::fs::rename(&gone, folder.path().join("aside")).unwrap();
        let said = recover(&output, &mut |_| ()).unwrap_err().to_string();
        assert!(said.contains("cpu1.objects: cannot open"), "{said}");
        std::fs::rename(folder.path().join("aside"), &gone).unwrap();
        assert_eq!(recover(&output, &mut |_| ()).unwrap().meta.events, 0);
    }
}
