//! `trace.dat` by Debian's trace-cmd and `perf.data` of the same seconds: the same events, row by row.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use slablab_tests::{slablab, stdout};
use slablab_trace::{Kind, RawEvent, Source, open_raw};

/// Runs trace-cmd. It writes files of the function tracer, which it does not need here, and which a container may not
/// write: it sees others in their place.
fn trace_cmd(folder: &Path, words: &[&str]) -> bool {
    let script = "echo 1 >one && : >none || exit 1
        mount --bind one /proc/sys/kernel/ftrace_enabled
        for file in set_ftrace_filter set_ftrace_notrace set_ftrace_pid; do
            [ ! -e /sys/kernel/tracing/$file ] || mount --bind none /sys/kernel/tracing/$file
        done
        exec trace-cmd \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script, "trace-cmd"]).args(words).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Returns all events, and what they call their caches and sites.
fn events(path: &Path) -> (Vec<RawEvent>, Box<dyn Source>) {
    let mut source = open_raw(path, None).unwrap();
    let mut events = Vec::new();
    while source.read(&mut events).unwrap() {}
    (events, source)
}

/// An event by all that two recorders must agree on.
type Seen = (u32, String, u64, u64, String, u64, u64, u32, i32);

/// Returns the events of each CPU in their order. Clocks are read anew by each recorder, so times are left out.
fn by_cpu(path: &Path) -> Vec<Vec<Seen>> {
    let (events, source) = events(path);
    let names = &source.facts().names;
    let mut cpus = Vec::new();
    // `-e kmem` has the events of pages, too, which `perf kmem record` leaves out.
    for event in events.into_iter().filter(|event| event.page.is_none()) {
        let cpu = event.cpu as usize;
        cpus.resize(cpus.len().max(cpu + 1), Vec::new());
        let site = names.sites.get(event.site as usize).map_or(0, |site| site.address);
        let cache = names.caches.get(event.cache as usize).cloned().unwrap_or_default();
        let RawEvent { pid, kind, ptr, bytes_req, bytes_alloc, gfp, node, .. } = event;
        cpus[cpu].push((
            pid,
            kind.name().into(),
            ptr,
            site,
            cache,
            bytes_req,
            bytes_alloc,
            gfp,
            node,
        ));
    }
    cpus
}

/// Returns how many events two recorders have alike and in one order, passing over up to 200 that one of them lacks.
fn alike<T: PartialEq>(ours: &[T], theirs: &[T]) -> usize {
    let (mut at, mut there, mut alike) = (0, 0, 0);
    while at < ours.len() && there < theirs.len() {
        let gap = (0..200).find_map(|gap| {
            let same = |at: usize, there: usize| {
                ours.get(at).is_some_and(|o| theirs.get(there) == Some(o))
            };
            if same(at, there + gap) {
                Some((0, gap))
            } else {
                same(at + gap, there).then_some((gap, 0))
            }
        });
        let Some((ours_only, theirs_only)) = gap else {
            (at, there) = (at + 1, there + 1);
            continue;
        };
        (at, there) = (at + ours_only + 1, there + theirs_only + 1);
        alike += 1;
    }
    alike
}

/// Returns where `ours` and `theirs` first have 50 events alike in a row. Both are on from there: perf begins before
/// trace-cmd does, and each may leave out an event of an interrupt at any place, the first ones too.
fn first_alike<T: PartialEq>(ours: &[T], theirs: &[T]) -> Option<(usize, usize)> {
    ours.windows(50).enumerate().take(1000).find_map(|(at, window)| {
        theirs.windows(50).position(|seen| seen == window).map(|there| (at, there))
    })
}

/// Records by perf and, while that runs, by trace-cmd; `None` where one of them cannot.
fn recorded(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let (dat, data) = (folder.join("trace.dat"), folder.join("perf.data"));
    let mut perf = Command::new("perf");
    perf.args(["kmem", "record", "-m", "8M", "-o"])
        .arg(&data)
        .args(["--", "cat"])
        .stdin(Stdio::piped());
    let mut perf = perf.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let record = ["record", "-q", "-b", "20000", "--file-version", "6", "--compression", "none"];
    let work = ["-e", "kmem", "-o", "trace.dat", "find", "/etc", "-maxdepth", "2"];
    let ran = trace_cmd(folder, &[&record[..], &work].concat());
    // Its input ends here, so `cat` does, and perf with it: not before trace-cmd, however slow the machine.
    let status = perf.wait().ok()?;
    (ran && status.success() && dat.exists()).then_some((dat, data))
}

/// The second instance.
const BESIDE: &str = "slablab-test-beside";

/// Records some events in the top instance and others, or the same, in one beside it; `None` where trace-cmd cannot.
fn recorded_in_two(folder: &Path, beside: &[&str]) -> Option<PathBuf> {
    let top =
        ["record", "-q", "-b", "20000", "-e", "kmem:kmalloc", "-e", "kmem:kfree", "-B", BESIDE];
    let work = ["-o", "trace.dat", "find", "/etc", "-maxdepth", "2"];
    let buffer = ["-b", "20000"];
    let dat = folder.join("trace.dat");
    let ran = trace_cmd(folder, &[&top[..], &buffer, beside, &work].concat());
    // trace-cmd leaves it, and its name alone says that it is ours.
    let _ = std::fs::remove_dir(Path::new("/sys/kernel/tracing/instances").join(BESIDE));
    (ran && dat.exists()).then_some(dat)
}

/// Returns how many events of each kind there are, in the order of the kinds.
fn by_kind(path: &Path) -> Vec<usize> {
    let (events, _) = events(path);
    let of = |kind| events.iter().filter(|event| event.kind == kind).count();
    Kind::ALL.into_iter().map(of).collect()
}

/// Of two instances in one file only the one with more pages used to be read.
#[test]
fn the_events_of_all_instances_of_a_file_are_read_and_each_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let others = ["-e", "kmem:kmem_cache_alloc", "-e", "kmem:kmem_cache_free"];
    let Some(dat) = recorded_in_two(folder.path(), &others) else {
        eprintln!("not run: trace-cmd does not record here (it needs root)");
        return;
    };
    let all_four = |counts: &[usize]| counts[..4].iter().all(|count| *count > 0);
    let counts = by_kind(&dat);
    assert!(all_four(&counts), "{counts:?}");
    let in_order = |path: &Path| events(path).0.windows(2).all(|w| w[0].time_ns <= w[1].time_ns);
    assert!(in_order(&dat), "as if they had been recorded together");

    // Both have the same events, and the second has further ones: no event comes twice.
    let both = ["-e", "kmem:kmalloc", "-e", "kmem:kfree"];
    let dat = recorded_in_two(folder.path(), &[&both[..], &others].concat()).unwrap();
    assert!(all_four(&by_kind(&dat)));
    let (events, _) = events(&dat);
    // An object that is allocated twice without a free between them used to come twice.
    let mut live = std::collections::HashSet::new();
    let (mut again, mut allocs) = (0, 0);
    for event in events.iter().filter(|event| event.ptr > 16) {
        match event.kind {
            Kind::Kmalloc => {
                allocs += 1;
                again += usize::from(!live.insert(event.ptr));
            }
            Kind::Kfree => _ = live.remove(&event.ptr),
            _ => {}
        }
    }
    assert!(again * 10 < allocs, "{again} of {allocs} allocations come twice");
}

#[test]
fn trace_cmd_and_perf_saw_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let Some((dat, data)) = recorded(folder.path()) else {
        eprintln!("not run: perf and trace-cmd do not record here (they need root)");
        return;
    };
    let (by_trace_cmd, by_perf) = (by_cpu(&dat), by_cpu(&data));
    let mut compared = 0;
    for (cpu, (ours, theirs)) in by_trace_cmd.iter().zip(&by_perf).enumerate() {
        if ours.len() < 100 {
            continue;
        }
        let (at, there) = first_alike(ours, theirs)
            .unwrap_or_else(|| panic!("CPU {cpu}: perf did not see what began it"));
        let ours = &ours[at..];
        let alike = alike(ours, &theirs[there..]);
        // Each leaves out events of interrupts that come while it writes another.
        assert!(alike * 100 >= ours.len() * 98, "CPU {cpu}: {alike} of {} alike", ours.len());
        compared += alike;
    }
    assert!(compared > 1000, "{compared} events");

    // Every version gives the same trace, to the byte.
    let imported = |name: &str| {
        let path = folder.path().join(name);
        let _ = stdout(&[
            "import",
            path.to_str().unwrap(),
            "-o",
            folder.path().join("t").to_str().unwrap(),
        ]);
        fs::read(folder.path().join("t")).unwrap()
    };
    let expected = imported("trace.dat");
    for (name, version, compression) in [("7.dat", "7", "none"), ("7z.dat", "7", "zstd")] {
        let words = ["convert", "-i", "trace.dat", "-o", name, "--file-version", version];
        assert!(trace_cmd(folder.path(), &[&words[..], &["--compression", compression]].concat()));
        assert!(imported(name) == expected, "{name}");
    }
    let mut piped = slablab();
    piped.args(["import", "-", "-o"]).arg(folder.path().join("piped"));
    let piped =
        piped.stdin(fs::File::open(folder.path().join("7z.dat")).unwrap()).output().unwrap();
    assert!(piped.status.success() && fs::read(folder.path().join("piped")).unwrap() == expected);
}
