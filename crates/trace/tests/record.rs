//! Records the running kernel for real. Needs root and tracefs, and says so where they are not.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use slablab_trace::{
    Error, Keep, Kind, NONE, RecordOptions, SlabLimit, SlabPart, State, TraceReader, probe, record,
};

const ALLOCS: [Kind; 2] = [Kind::Kmalloc, Kind::KmemCacheAlloc];

fn can_record() -> bool {
    let lacking: Vec<_> = probe().into_iter().filter(|fact| fact.state == State::Missing).collect();
    for fact in &lacking {
        eprintln!("skipped: {}: {}. {}", fact.name, fact.found, fact.remedy);
    }
    lacking.is_empty()
}

fn options(output: &Path, command: &[&str]) -> RecordOptions {
    RecordOptions {
        command: command.iter().map(|&word| word.into()).collect(),
        buffer_kib: Some(8 << 10),
        ..RecordOptions::new(output)
    }
}

fn instances() -> usize {
    let own = format!("slablab-{}", std::process::id());
    let all = std::fs::read_dir("/sys/kernel/tracing/instances").unwrap().flatten();
    all.filter(|entry| *entry.file_name() == *own).count()
}

// One test, as the instance is named after the process.
#[test]
fn a_recording_is_whole_and_leaves_nothing_behind() {
    if !can_record() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("t.parquet");

    let script = "cat /proc/self/status >/dev/null; exit 7";
    let summary = record(&options(&output, &["sh", "-c", script]), &mut |_| {}).unwrap();
    assert_eq!((summary.exit_status, summary.meta.command_status), (7, Some(7)));
    assert_eq!((summary.meta.quality.lost_total(), instances()), (0, 0));
    let reader = TraceReader::open(&output).unwrap();
    assert_eq!(reader.meta(), &summary.meta);
    let meta = reader.meta();
    assert!(meta.slabs_start.as_ref().unwrap().slabinfo().count() > 10);
    assert!(meta.caches.iter().any(|cache| cache.name == "filp"), "{:?}", meta.caches);
    // All this process's threads are the recorder's: that starts the command, and empties the buffers.
    let threads = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let own: Vec<u32> = threads.map(|t| t.file_name().to_str().unwrap().parse().unwrap()).collect();
    let mut of_own = Vec::new();
    for row in reader.batches().flat_map(|batch| batch.unwrap().events().collect::<Vec<_>>()) {
        of_own.extend((own.contains(&row.pid) && row.kind.is_alloc()).then_some(row));
        let sized = row.bytes_alloc >= row.bytes_req && row.bytes_req > 0;
        assert!(!row.kind.is_alloc() || row.object == NONE || sized, "{row:?}");
    }
    // What an interrupt allocates has the pid of whom it interrupts. To start a command alone takes more. (What it frees has
    // that pid, too, and after a grace period that is dozens of others' objects.)
    let events = meta.events;
    assert!(of_own.len() <= 10, "of {events} events these are the recorder's own: {of_own:#?}");
    assert!(meta.events_by_kind[Kind::KmemCacheAlloc as usize] > 0);

    // Processes free maple nodes in bulk, which makes no event: what the kernel counted says that they are gone.
    let forks = ["sh", "-c", "i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done"];
    let forked = record(&options(&output, &forks), &mut |_| {}).unwrap().meta;
    assert!(forked.samples.times_ns.len() > 2 && forked.samples.times_ns.is_sorted());
    let sampled = &forked.samples.caches["maple_node"];
    let of_nodes = |name: &str| forked.caches.iter().position(|cache| cache.name == name);
    if let Some(nodes) = of_nodes("maple_node") {
        let cache = &forked.caches[nodes];
        let live = cache.allocs - cache.frees - cache.implicit_frees - cache.estimated_frees;
        let (in_use, _) = sampled.at(forked.samples.times_ns.len() - 1);
        let in_use = u64::from(in_use + sampled.slab_objects);
        assert!(cache.allocs > 300 && live <= in_use, "{live} of {in_use} in use: {cache:?}");
    }

    // The smallest buffer cannot hold a burst: what it drops is counted.
    let burst = ["sh", "-c", "find / -xdev -maxdepth 4 >/dev/null 2>&1"];
    let tiny = RecordOptions { buffer_kib: Some(8), ..options(&output, &burst) };
    // Scheduling decides whether a burst outruns the reader; one of a few does.
    let mut bursts = (0..20).map(|_| record(&tiny, &mut |_| {}).unwrap());
    assert!(bursts.any(|lossy| lossy.meta.quality.lost_total() > 0), "no burst lost an event");

    // These are the last events of the same burst, as many as fit; events that they overwrote were not lost. (From a
    // ring of two pages, one of them being written, the kernel may hand out none.)
    let last = RecordOptions { keep: Keep::Last, buffer_kib: Some(64), ..tiny.clone() };
    let last = record(&last, &mut |_| {}).unwrap().meta;
    assert_eq!((last.quality.lost_total(), last.samples.is_empty()), (0, true));
    assert!(last.events > 0 && last.events < 10_000, "{} events", last.events);
    let limit = SlabLimit { part: SlabPart::Unreclaimable, bytes_max: 0 };
    let at_once = RecordOptions { slab_limits: vec![limit], ..options(&output, &["sleep", "60"]) };
    let at_once = record(&at_once, &mut |_| {}).unwrap();
    assert!(at_once.elapsed < Duration::from_secs(30));
    assert!(at_once.slab_reached.is_some_and(|reached| reached.part == limit.part));

    let filp = RecordOptions { caches: vec!["filp".into()], ..options(&output, &burst) };
    match record(&filp, &mut |_| {}) {
        Ok(summary) => {
            let names = summary.meta.caches.iter().map(|cache| cache.recorded_name());
            assert_eq!(names.collect::<Vec<_>>(), ["filp"]);
            assert_eq!(summary.meta.events_by_kind[Kind::Kmalloc as usize], 0);
        }
        Err(error) => assert!(error.to_string().contains("does not name the cache"), "{error}"),
    }
    // A portion of the objects keeps or drops all of an object's events: nothing is freed that was not allocated,
    // except older objects.
    let sampled = RecordOptions { one_in: Some(4), ..options(&output, &forks) };
    let sampled = record(&sampled, &mut |_| {}).unwrap().meta;
    let portion = sampled.portion.as_ref().unwrap();
    assert!(portion.one_in == 4 && !portion.squares.is_empty());
    assert!(sampled.events > 0 && sampled.events < forked.events, "{sampled:?}");

    let odd = RecordOptions { caches: vec!["a\" || 1".into()], ..options(&output, &burst) };
    assert!(record(&odd, &mut |_| {}).unwrap_err().to_string().contains("is not a cache whose"));
    let none = RecordOptions { caches: vec!["no_such_cache".into()], ..options(&output, &burst) };
    let said = record(&none, &mut |_| {}).unwrap_err().to_string();
    assert!(said.contains("this kernel has no cache called no_such_cache"), "{said}");
    assert_eq!(instances(), 0);

    chosen(&output);

    let killed = record(&options(&output, &["sh", "-c", "kill -9 $$"]), &mut |_| {}).unwrap();
    assert_eq!((killed.exit_status, instances()), (128 + 9, 0));

    let missing = record(&options(&output, &["/no/such/command"]), &mut |_| {}).unwrap_err();
    assert!(matches!(&missing, Error::CannotRecord { what, .. } if what.contains("/no/such")));
    assert_eq!(instances(), 0);

    let short = RecordOptions {
        duration: Some(Duration::from_millis(50)),
        ..options(&output, &["sleep", "60"])
    };
    let stopped = record(&short, &mut |_| {}).unwrap();
    assert_eq!(stopped.exit_status, 0);
    assert!(stopped.elapsed < Duration::from_secs(30));
    let names: Vec<_> = std::fs::read_dir(directory.path()).unwrap().flatten().collect();
    assert_eq!(names.len(), 1, "only the trace is left: {names:?}");
}

/// A thread that was within a caller when the recording began has its objects, too: one that writes to a full socket.
fn called_before(output: &Path) {
    let (writer, mut reader) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut writing = Command::new("head");
    writing.args(["-c", "4194304", "/dev/zero"]).stdout(OwnedFd::from(writer));
    let mut child = writing.spawn().unwrap();
    drop(writing);
    let reading = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(2));
        std::io::copy(&mut reader, &mut std::io::sink()).unwrap()
    });
    let options = RecordOptions {
        callers: vec!["unix_stream_sendmsg".into()],
        stacks: true,
        ..options(output, &["sleep", "3"])
    };
    let meta = record(&options, &mut |_| {}).unwrap().meta;
    assert_eq!((reading.join().unwrap(), child.wait().unwrap().success()), (4 << 20, true));
    let allocs: u64 = ALLOCS.map(|kind| meta.events_by_kind[kind as usize]).iter().sum();
    assert!(allocs >= 64, "{meta:?}");
}

/// A caller that is named by one of its places: all its events were left out, and the command said that there were none.
fn called_by_its_offset(output: &Path, called: &slablab_trace::Meta, command: &[&str]) {
    let frames =
        (0..called.stacks.frames_len() as u32).map(|frame| &called.stacks.frame(frame).name);
    let place = frames.into_iter().find(|name| name.starts_with("copy_process+")).unwrap();
    let options =
        RecordOptions { callers: vec![place.clone()], stacks: true, ..options(output, command) };
    let summary = record(&options, &mut |_| {}).unwrap();
    assert!(summary.meta.events > 0 && summary.silent_callers.is_empty(), "{place}");
    for stack in 0..summary.meta.stacks.len() as u32 {
        let mut frames = summary.meta.stacks.frames(stack);
        assert!(frames.any(|frame| frame.name == *place), "{place}: stack {stack}");
    }
}

/// Chosen call sites and callers have their own objects and no others, each with its free.
fn chosen(output: &Path) {
    let forks = ["sh", "-c", "i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done; sleep 1"];
    let of_site = |options: RecordOptions| RecordOptions {
        sites: vec!["copy_process".into()],
        probes: false,
        ..options
    };
    let forked = record(&of_site(options(output, &forks)), &mut |_| {}).unwrap().meta;
    let is_of_site = |name: &str| name.starts_with("copy_process");
    let allocs = |meta: &slablab_trace::Meta| {
        ALLOCS.map(|kind| meta.events_by_kind[kind as usize]).iter().sum::<u64>()
    };
    let reader = TraceReader::open(output).unwrap();
    for row in reader.batches().flat_map(|batch| batch.unwrap().events().collect::<Vec<_>>()) {
        let site = reader.meta().sites.get(row.site as usize);
        assert!(!row.kind.is_alloc() || site.is_some_and(|site| is_of_site(&site.name)), "{row:?}");
        assert!(row.kind.is_alloc() || row.object != NONE, "a free of another object: {row:?}");
    }
    assert!(allocs(&forked) >= 200 && forked.quality.lost_total() == 0, "{forked:?}");
    let no_frees = RecordOptions { frees: false, ..of_site(options(output, &forks)) };
    let no_frees = record(&no_frees, &mut |_| {}).unwrap().meta;
    assert!(allocs(&no_frees) >= 200);
    assert_eq!(no_frees.events_by_kind[Kind::KmemCacheFree as usize], 0);

    // Whatever is below it has it in its stack.
    let called = RecordOptions {
        callers: vec!["copy_process".into()],
        stacks: true,
        ..options(output, &forks)
    };
    let called = record(&called, &mut |_| {}).unwrap().meta;
    assert!(allocs(&called) >= allocs(&forked) / 2 && !called.stacks.is_empty(), "{called:?}");
    for stack in 0..called.stacks.len() as u32 {
        let mut frames = called.stacks.frames(stack);
        assert!(frames.any(|frame| is_of_site(&frame.name)), "stack {stack}");
    }
    called_by_its_offset(output, &called, &forks);
    called_before(output);
    // A function that does not run: the summary says so.
    let none =
        RecordOptions { callers: vec!["panic".into()], stacks: true, ..options(output, &["true"]) };
    let none = record(&none, &mut |_| {}).unwrap();
    assert_eq!((none.meta.events, none.silent_callers.len()), (0, 1));
}
