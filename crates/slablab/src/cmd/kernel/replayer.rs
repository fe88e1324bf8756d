//! A compact trace in a guest: boots a kernel with the module `slabreplay`, and reads what the guest tells.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use slablab_replay::{CacheMoment, CompactTrace, MachineMoment};
use slablab_vm::{Accel, Kernel, KernelBuilder, Machine};

use crate::progress::Progress;

/// The module.
const MODULE: &str = "slabreplay";
/// Slabs may grow by so much from before the module until after it: what the guest itself did meanwhile, which is up to
/// 136 kB with two CPUs. A trace that is not given back is a thousand and more.
const LEFT_KB_MAX: u64 = 256;

/// What the job in the guest can use. The trace's caches are `rp_0`, `rp_1`, ... there.
const HEAD: &str = "\
slab() { echo 1 2> /dev/null > /proc/sys/vm/stat_refresh || true; meminfo Slab; }
look() {
    echo settle > /proc/slabreplay
    echo \"slab $(slab)\" > /tmp/moment
    grep '^rp_' /proc/slabinfo >> /tmp/moment 2> /dev/null || true
    send moment-$1.txt /tmp/moment
}
before=$(slab)
insmod /lib/modules/slabreplay.ko trace=/trace.rp || fail 'slabreplay refuses the trace'
look 0
";
const TAIL: &str = "\
cat /proc/slabreplay > /tmp/status
send status.txt /tmp/status
rmmod slabreplay
row \"\\\"kind\\\":\\\"left\\\",\\\"before\\\":$before,\\\"after\\\":$(slab)\"
";

/// Replays compact traces in guests.
pub(crate) struct Replayer<'a> {
    pub(crate) builder: &'a KernelBuilder,
    pub(crate) accel: Accel,
}

/// What a guest told.
#[derive(Debug)]
pub(crate) struct Told {
    /// The machine at each moment
    pub(crate) moments: Vec<MachineMoment>,
    /// Allocations that failed
    pub(crate) failed: u64,
    /// Time spent in replaying
    pub(crate) replay_ns: u64,
    /// How much more memory slabs had after the module was gone than before it came
    pub(crate) left_kb: i64,
}

impl Replayer<'_> {
    /// Replays `trace` in its order in a guest of `kernel`, with the guest's files in `folder`.
    pub(crate) fn run(
        &self,
        kernel: &Kernel,
        trace: &CompactTrace,
        moments: &[usize],
        folder: &Path,
    ) -> Result<Told> {
        fs::create_dir_all(folder)?;
        let file = folder.join("trace.rp");
        fs::write(&file, trace.bytes())
            .with_context(|| format!("cannot write {}", file.display()))?;
        let mut job = HEAD.to_owned();
        for moment in moments {
            job.push_str(&format!("echo {moment} > /proc/slabreplay\nlook {moment}\n"));
        }
        job.push_str(TAIL);
        let mut initramfs = self.builder.initramfs(kernel, &job, &mut |_| ())?;
        initramfs.file("trace.rp", &file);
        let module = self.builder.data.module(MODULE)?;
        let module = self.builder.build_module(&module, kernel, &mut |_| ())?;
        initramfs.file("lib/modules/slabreplay.ko", &module);
        let mut machine = Machine::new(kernel.clone(), trace.cpus, initramfs);
        machine.arguments.push("slab_nomerge".into());
        let progress =
            Progress::spinner(&format!("{} under {}", machine.name(), self.accel.name()));
        let boot = machine.boot(self.accel, folder, &self.builder.interrupt, &mut |_| Ok(()))?;
        drop(progress);
        fs::remove_file(&file)?;
        let text = |name: &str| -> Result<String> {
            let found = boot.files.iter().find(|(file, _)| file == name);
            let (_, path) = found.with_context(|| format!("the guest sent no {name}"))?;
            Ok(fs::read_to_string(path)?)
        };
        let mut base_kb = None;
        let mut told = Vec::new();
        for moment in [0].iter().chain(moments) {
            let (slab_kb, caches) =
                look(&text(&format!("moment-{moment}.txt"))?, trace.caches.len())?;
            let base_kb = *base_kb.get_or_insert(slab_kb);
            told.push(MachineMoment { caches, held_bytes: slab_kb.saturating_sub(base_kb) * 1024 });
        }
        told.remove(0);
        let status = text("status.txt")?;
        let number = |key: &str| {
            let words = status.split_whitespace().filter_map(|word| word.split_once('='));
            words
                .into_iter()
                .find(|(k, _)| *k == key)
                .and_then(|(_, n)| n.parse().ok())
                .unwrap_or(0)
        };
        let left = boot.rows_of("left").next().context("the guest did not say what is left")?;
        let kb = |key: &str| left[key].as_i64().unwrap_or(0);
        Ok(Told {
            moments: told,
            failed: number("failed"),
            replay_ns: number("ns"),
            left_kb: kb("after") - kb("before"),
        })
    }
}

impl Told {
    /// Fails unless the guest could allocate everything, and got everything back.
    pub(crate) fn check(&self, folder: &Path) -> Result<()> {
        if self.failed > 0 {
            bail!("{} allocations failed in the guest; see {}", self.failed, folder.display());
        }
        if self.left_kb > LEFT_KB_MAX.cast_signed() {
            bail!("the guest lost {} kB of slabs; see {}", self.left_kb, folder.display());
        }
        Ok(())
    }
}

/// Reads what the guest sent of a moment: all memory in slabs, and the trace's caches, if it tells them apart.
fn look(text: &str, caches: usize) -> Result<(u64, Vec<CacheMoment>)> {
    let mut slab_kb = None;
    let mut found = Vec::new();
    for line in text.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
        let wrong = || format!("`{line}` is not what a guest says of a moment");
        match words[..] {
            ["slab", _] => slab_kb = Some(number(1).with_context(wrong)?),
            [name, ..] => {
                let index = name.strip_prefix("rp_").and_then(|n| n.parse::<usize>().ok());
                let index = index.filter(|index| *index < caches).with_context(wrong)?;
                let (pages, slabs) =
                    (number(5).with_context(wrong)?, number(14).with_context(wrong)?);
                found.resize(caches, CacheMoment::default());
                found[index] = CacheMoment { slabs, bytes: slabs * pages * 4096 };
            }
            [] => {}
        }
    }
    Ok((slab_kb.context("a moment without the memory in slabs")?, found))
}

/// Returns the folder of a trace and a kernel among the results.
pub(crate) fn folder_of(results: &Path, trace: &Path, kernel: &Kernel) -> PathBuf {
    let stem = trace.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    results.join(format!("{stem}-{}", kernel.spec.name().replace([':', '/'], "-")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_from_slabinfo() {
        let text = "slab 2000\nrp_1    20     24    168   24    1 : tunables    0    0    0 : slabdata      1      3      0\n";
        let (slab_kb, caches) = look(text, 3).unwrap();
        assert_eq!(slab_kb, 2000);
        assert_eq!(caches[1], CacheMoment { slabs: 3, bytes: 3 * 4096 });
        assert_eq!((caches[0], caches.len()), (CacheMoment::default(), 3));
        assert!(look("slab 1\n", 3).unwrap().1.is_empty());
        for wrong in [
            "",
            "slab x\n",
            "slab 1\nrp_3 1 2 3 4 5 : tunables 0 0 0 : slabdata 1 2 0\n",
            "slab 1\nrp_1 1\n",
        ] {
            assert!(look(wrong, 3).is_err(), "{wrong}");
        }
    }
}
