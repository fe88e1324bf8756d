//! A compact trace in a guest: boots a kernel with the module `slabreplay`, and reads what the guest sends.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use slablab_linux::SlabInfo;
use slablab_replay::{CacheMoment, CompactTrace, MachineMoment, Replayed};
use slablab_vm::{Accel, Kernel, KernelBuilder, Machine, Origin};

use super::recording::{file as file_of, read};
use crate::error::{Error, Result};

/// The module.
const MODULE: &str = "slabreplay";
/// The module that shrinks all caches of a kernel without files for that.
const SHRINKER: &str = "slabinfo";
/// Growth of slabs, in kB, that is tolerated from before the module until after it: 32 pages, for the guest's own work
/// meanwhile.
const LEFT_KB_MAX: i64 = 128;
/// Memory, in kB, that a thread which the kernel itself started meanwhile may take (see `read_threads` in
/// `kernel/guest/lab.sh`).
const THREAD_KB_MAX: i64 = 104;

/// What the job in the guest can use. The trace's caches are called `rp_0`, `rp_1`, ... there; sysfs has their
/// counters among other numbers. A first round on all CPUs at once makes the guest's own slabs grow to what a
/// round needs.
const HEAD: &str = "\
load() { insmod /lib/modules/slabreplay.ko trace=/trace.rp || fail 'slabreplay refuses the trace'; }
look() {
    echo settle > /proc/slabreplay
    grep '^rp_' /proc/slabinfo > /tmp/moment || true
    send $1.txt /tmp/moment
}
paths() { (cd /sys/kernel/slab && grep '^[0-9][0-9 C=]*$' rp_*/* > /tmp/paths) 2> /dev/null || : > /tmp/paths; }
load
echo free > /proc/slabreplay
for i in 1 2 3 4; do look warm; done
paths
rmmod slabreplay
read_settled_slab
before=$slab_kb
read_threads
threads_before=$threads
cat /proc/slabinfo > /tmp/before 2> /dev/null && send before.txt /tmp/before || true
load
";
const TAIL: &str = "\
cat /proc/slabreplay > /tmp/status
send status.txt /tmp/status
paths
send paths.txt /tmp/paths
rmmod slabreplay
read_settled_slab
after=$slab_kb
read_threads
cat /proc/slabinfo > /tmp/after 2> /dev/null && send after.txt /tmp/after || true
row \"\\\"kind\\\":\\\"left\\\",\\\"before\\\":$before,\\\"after\\\":$after,\\\"threads\\\":$((threads - threads_before))\"
";

/// Returns a trace as a kernel replays it: SLUB_DENSE visits its magazines by the clock, which is then the trace's.
pub(crate) fn trace_for<'a>(kernel: &Kernel, trace: &'a CompactTrace) -> Cow<'a, CompactTrace> {
    match &kernel.spec.origin {
        Origin::Build(_, allocator) if allocator == "slub_dense" => {
            Cow::Owned(trace.clone().with_visits())
        }
        _ => Cow::Borrowed(trace),
    }
}

/// Returns the modules that a guest of `kernel` needs.
fn modules_for(kernel: &Kernel) -> &'static [&'static str] {
    match &kernel.spec.origin {
        Origin::Build(_, allocator) if allocator == "slab" => &[MODULE, SHRINKER],
        _ => &[MODULE],
    }
}

/// Replays compact traces in guests.
pub(crate) struct Replayer<'a> {
    pub(crate) builder: &'a KernelBuilder,
    pub(crate) accel: Accel,
}

/// The result of a guest.
#[derive(Debug)]
pub(crate) struct GuestResult {
    /// The machine at each moment, and the paths it took
    pub(crate) replayed: Replayed,
    /// Allocations that failed
    pub(crate) failed: u64,
    /// Time spent in replaying
    pub(crate) replay_ns: u64,
    /// How much more memory slabs had after the module was gone than before it came
    pub(crate) left_kb: i64,
    /// How many more threads the guest had then, which are the kernel's own
    pub(crate) new_threads: i64,
}

impl Replayer<'_> {
    /// Replays `trace` in its order in a guest of `kernel`, with the guest's files in `folder`; stops after each of
    /// `parts` parts.
    pub(crate) fn run(
        &self,
        kernel: &Kernel,
        trace: &CompactTrace,
        parts: usize,
        folder: &Path,
    ) -> Result<GuestResult> {
        fs::create_dir_all(folder).map_err(Error::io(folder, "make the folder of a guest"))?;
        let file = folder.join("trace.rp");
        fs::write(&file, trace.bytes()).map_err(Error::io(&file, "write the trace"))?;
        let moments = trace.moments(parts);
        let mut job = format!("{HEAD}if [ -e /proc/slabinfo ]; then\n");
        for moment in &moments {
            job.push_str(&format!("echo {moment} > /proc/slabreplay\nlook moment-{moment}\n"));
        }
        job.push_str(&format!("else\necho parts {parts} > /proc/slabreplay\nfi\n"));
        job.push_str(TAIL);
        let mut initramfs = self.builder.initramfs(kernel, &job, &mut |_| ())?;
        initramfs.file("trace.rp", &file);
        for name in modules_for(kernel) {
            let module = self.builder.data.module(name)?;
            let module = self.builder.build_module(&module, kernel, &mut |_| ())?;
            initramfs.file(&format!("lib/modules/{name}.ko"), &module);
        }
        let mut machine = Machine::new(kernel.clone(), trace.cpus, initramfs);
        machine.arguments.push("slab_nomerge".into());
        let boot = machine.boot(self.accel, folder, &self.builder.interrupt)?;
        fs::remove_file(&file).map_err(Error::io(&file, "remove the trace"))?;
        let text = |name: &str| read(&file_of(&boot, name, &machine)?);
        let status = text("status.txt")?;
        let result = match boot.files.iter().any(|(name, _)| name.starts_with("moment-")) {
            true => moments
                .iter()
                .map(|moment| slabinfo(&text(&format!("moment-{moment}.txt"))?, trace.caches.len()))
                .collect::<Result<Vec<_>>>()?,
            false => counted(&status, trace.caches.len())?,
        };
        let number = |key: &str| {
            let mut words = status.split_whitespace().filter_map(|word| word.split_once('='));
            words.find(|(k, _)| *k == key).and_then(|(_, n)| n.parse().ok()).unwrap_or(0)
        };
        let left = boot.rows_of("left").next();
        let left = left.ok_or_else(|| said_nothing("what is left"))?;
        let count = |key: &str| left[key].as_i64().unwrap_or(0);
        Ok(GuestResult {
            replayed: Replayed { moments: result, paths: paths(&text("paths.txt")?)? },
            failed: number("failed"),
            replay_ns: number("ns"),
            left_kb: count("after") - count("before"),
            new_threads: count("threads"),
        })
    }
}

impl GuestResult {
    /// Fails unless the guest could allocate everything, and got everything back.
    pub(crate) fn check(&self, folder: &Path) -> Result<()> {
        if self.failed > 0 {
            return Err(Error::Request(format!(
                "{} allocations failed in the guest; see {}",
                self.failed,
                folder.display()
            )));
        }
        let allowed = LEFT_KB_MAX + THREAD_KB_MAX * self.new_threads.max(0);
        if self.left_kb > allowed {
            return Err(Error::Request(format!(
                "the guest lost {} kB of slabs, {allowed} kB are allowed; see {}",
                self.left_kb,
                folder.display()
            )));
        }
        Ok(())
    }
}

/// Reads the lines of `/proc/slabinfo` that belong to the trace's caches.
fn slabinfo(text: &str, caches: usize) -> Result<MachineMoment> {
    let mut moment = MachineMoment::default();
    for line in text.lines() {
        let row = SlabInfo::parse(line).ok_or_else(|| wrong(line))?;
        let slabs = row.num_slabs;
        let bytes = slabs * row.pagesperslab * 4096;
        set(&mut moment, row.name, caches, CacheMoment { slabs, bytes })?;
    }
    Ok(moment)
}

/// Reads what the module counted, moment by moment.
fn counted(status: &str, caches: usize) -> Result<Vec<MachineMoment>> {
    let mut moments: Vec<MachineMoment> = Vec::new();
    for line in status.lines().skip(1) {
        let words: Vec<_> = line.split_whitespace().collect();
        let first = number(&words, 1).ok_or_else(|| wrong(line))?;
        if words[0] == "moment" {
            moments.push(MachineMoment::default());
            continue;
        }
        let moment = moments.last_mut().ok_or_else(|| wrong(line))?;
        match words[0] {
            "pages" => moment.held_bytes = first,
            cache => {
                let bytes = number(&words, 2).ok_or_else(|| wrong(line))?;
                set(moment, cache, caches, CacheMoment { slabs: first, bytes })?;
            }
        }
    }
    Ok(moments)
}

/// Reads lines `rp_0/alloc_slab:12 C0=10 C1=2`: numbers of caches, summed over the caches.
fn paths(text: &str) -> Result<BTreeMap<String, u64>> {
    let mut paths = BTreeMap::new();
    for line in text.lines() {
        let (name, counts) = line.split_once(':').ok_or_else(|| wrong(line))?;
        let name = name.rsplit('/').next().unwrap_or(name).to_owned();
        let count = number(&counts.split_whitespace().collect::<Vec<_>>(), 0);
        *paths.entry(name).or_default() += count.ok_or_else(|| wrong(line))?;
    }
    Ok(paths)
}

fn set(moment: &mut MachineMoment, name: &str, caches: usize, held: CacheMoment) -> Result<()> {
    let index = name.strip_prefix("rp_").and_then(|n| n.parse::<usize>().ok());
    let index = index.filter(|index| *index < caches).ok_or_else(|| wrong(name))?;
    moment.caches.resize(caches, CacheMoment::default());
    moment.caches[index] = held;
    Ok(())
}

fn number(words: &[&str], at: usize) -> Option<u64> {
    words.get(at).and_then(|word| word.parse().ok())
}

fn wrong(line: &str) -> Error {
    Error::Request(format!("`{line}` is not what a guest says of a moment"))
}

fn said_nothing(of: &str) -> Error {
    Error::Request(format!("the guest did not say {of}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_from_slabinfo() {
        let text = "rp_1    20     24    168   24    1 : tunables    0    0    0 : slabdata      1      3      0\n";
        let moment = slabinfo(text, 3).unwrap();
        assert_eq!(moment.caches[1], CacheMoment { slabs: 3, bytes: 3 * 4096 });
        assert_eq!((moment.caches[0], moment.caches.len()), (CacheMoment::default(), 3));
        for wrong in ["x\n", "rp_3 1 2 3 4 5 : tunables 0 0 0 : slabdata 1 2 0\n", "rp_1 1\n"] {
            assert!(slabinfo(wrong, 3).is_err(), "{wrong}");
        }
    }

    #[test]
    fn moments_are_read_from_what_the_module_counted() {
        let status = "event=9 failed=0 ns=1\nmoment 4\nmoment 9\nrp_1 2 16384\n";
        let moments = counted(status, 2).unwrap();
        assert_eq!(moments.len(), 2);
        assert_eq!(moments[1].caches[1], CacheMoment { slabs: 2, bytes: 16384 });
        assert_eq!(counted("event=9\nmoment 9\npages 8192\n", 2).unwrap()[0].held_bytes, 8192);
        for wrong in
            ["\nrp_0 1 2\n", "\nmoment 1\nrp_2 1 2\n", "\nmoment 1\nrp_0 1\n", "\nmoment\n"]
        {
            assert!(counted(wrong, 2).is_err(), "{wrong}");
        }
    }

    #[test]
    fn slabs_that_are_not_given_back_are_an_error_and_a_thread_of_the_kernel_is_none() {
        let result_with = |left_kb, new_threads| GuestResult {
            replayed: Replayed::default(),
            failed: 0,
            replay_ns: 1,
            left_kb,
            new_threads,
        };
        let check = |result: GuestResult| result.check(Path::new("results"));
        for (left_kb, new_threads) in [(-40, 0), (128, 0), (128, -1), (232, 1)] {
            check(result_with(left_kb, new_threads)).unwrap();
        }
        let error = check(result_with(233, 1)).unwrap_err().to_string();
        assert_eq!(error, "the guest lost 233 kB of slabs, 232 kB are allowed; see results");
        check(result_with(129, -1)).unwrap_err();
    }

    #[test]
    fn paths_are_summed_over_caches() {
        let text = "rp_0/alloc_slab:12 C0=10 C1=2\nrp_1/alloc_slab:3 C1=3\nrp_1/barn_get:1 C0=1\n";
        let paths = paths(text).unwrap();
        assert_eq!(paths, BTreeMap::from([("alloc_slab".into(), 15), ("barn_get".into(), 1)]));
    }
}
