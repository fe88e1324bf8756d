//! Makes traces of any length that look like the real thing, for benches and tests.
//!
//! # How it works
//! [`SITES`] is a table of call sites as a message-passing and compiling machine has
//! them (measured on traces of hackbench and of a C build): how often each allocates, how much, and
//! how long its objects live. Each step either frees the object whose time has come or allocates at
//! a site drawn by weight; lifetimes are exponential around the site's mean, counted in events, and
//! capped, so that the number of live objects settles and memory does not grow with the length. To have
//! more of them alive the long lives are stretched, while messages and names stay short-lived.
//!
//! The same options give the same rows on any machine: the generator has its own random numbers and
//! uses no floating point.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use crate::random::Random;
use crate::{Error, Event, Kind, Meta, NONE, Progress, TraceWriter};

/// What to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SynthOptions {
    /// Number of rows.
    pub events: u64,
    /// Number of CPUs, at least 1.
    pub cpus: u16,
    /// Another seed, another trace.
    pub seed: u64,
    /// Objects alive once their number has settled; `None` for what the table of sites comes to, some
    /// 6,000. A machine of gigabytes has 100,000 and more: dentries, inodes, mappings.
    pub live: Option<u32>,
}

impl Default for SynthOptions {
    fn default() -> SynthOptions {
        SynthOptions { events: 1_000_000, cpus: 2, seed: 1, live: None }
    }
}

/// Writes a synthetic trace to `path` and returns its metadata.
///
/// # Errors
/// If the file cannot be written.
///
/// # Panics
/// When `options.cpus` is 0.
pub fn synth(
    path: impl AsRef<Path>,
    options: &SynthOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Meta, Error> {
    assert!(options.cpus > 0, "a machine has at least one CPU");
    let mut writer = TraceWriter::create(path)?;
    let caches = register(&mut writer);
    let mut generator = Generator::new(options);
    for done in 0..options.events {
        writer.push(&generator.step(&caches))?;
        if done % (1 << 20) == 0 {
            progress(Progress { phase: "making", done, total: options.events, unit: "events" });
        }
    }
    writer.finish(Meta {
        kernel_release: "synthetic".into(),
        arch: "x86_64".into(),
        cpus: u32::from(options.cpus),
        nodes: 1,
        page_bytes: 4096,
        recorder: "slablab synth".into(),
        recorder_version: env!("CARGO_PKG_VERSION").into(),
        source: format!("seed {}, {} events", options.seed, options.events),
        ..Meta::default()
    })
}

/// A call site of the model.
struct SiteModel {
    alloc: &'static str,
    free: &'static str,
    /// `None` for kmalloc.
    cache: Option<&'static str>,
    /// Sizes asked for, drawn evenly.
    bytes: &'static [u32],
    /// How often it allocates, out of the sum of all.
    weight: u32,
    /// Mean life, in events of the whole trace.
    life: u32,
    /// Frees that happen on another CPU than the allocation, in percent.
    remote: u32,
    gfp: u32,
}

const GFP_KERNEL: u32 = 0xcc0;
const GFP_ATOMIC: u32 = 0x820;
const GFP_ACCOUNT: u32 = 0x40_0cc0;

#[rustfmt::skip]
const SITES: &[SiteModel] = &[
    site("__alloc_skb+0x9a", "skb_release_data+0x11b", Some("skbuff_small_head"), &[576], 150, 60, 45, GFP_KERNEL),
    site("kmalloc_reserve+0xa1", "skb_free_head+0x55", None, &[640, 704, 832], 60, 60, 45, GFP_KERNEL),
    site("__alloc_skb+0x16e", "kfree_skbmem+0x5c", Some("skbuff_head_cache"), &[232], 160, 60, 45, GFP_KERNEL),
    site("vm_area_alloc+0x1c", "vm_area_free+0x4e", Some("vm_area_struct"), &[176], 90, 9_000, 15, GFP_ACCOUNT),
    site("mas_alloc_nodes+0x94", "mas_destroy+0xd3", Some("maple_node"), &[256], 90, 5_000, 10, GFP_KERNEL),
    site("anon_vma_clone+0x61", "unlink_anon_vmas+0x9d", Some("anon_vma_chain"), &[64], 70, 8_000, 15, GFP_ACCOUNT),
    site("__anon_vma_prepare+0x85", "__put_anon_vma+0x42", Some("anon_vma"), &[104], 40, 9_000, 15, GFP_ACCOUNT),
    site("getname_flags+0x4c", "putname+0x57", Some("names_cache"), &[4096], 110, 40, 0, GFP_KERNEL),
    site("alloc_empty_file+0x46", "file_free+0x50", Some("filp"), &[192], 70, 900, 5, GFP_ACCOUNT),
    site("security_file_alloc+0x2d", "security_file_free+0x41", None, &[24, 32], 20, 900, 5, GFP_KERNEL),
    site("__d_alloc+0x2b", "dentry_free+0x4c", Some("dentry"), &[192], 20, 150_000, 20, GFP_ACCOUNT),
    site("ext4_alloc_inode+0x1f", "i_callback+0x20", Some("ext4_inode_cache"), &[1088], 6, 300_000, 20, GFP_ACCOUNT),
    site("alloc_inode+0x66", "i_callback+0x20", Some("inode_cache"), &[600], 4, 90_000, 20, GFP_ACCOUNT),
    site("dup_task_struct+0x55", "free_task+0x5c", Some("task_struct"), &[4480], 6, 30_000, 40, GFP_ACCOUNT),
    site("copy_process+0x6f1", "__cleanup_sighand+0x3d", Some("sighand_cache"), &[2088], 6, 30_000, 40, GFP_ACCOUNT),
    site("dup_mm+0x3e", "__mmdrop+0xe5", Some("mm_struct"), &[1408], 5, 30_000, 30, GFP_ACCOUNT),
    site("dup_fd+0x33", "put_files_struct+0x83", Some("files_cache"), &[704], 5, 30_000, 30, GFP_ACCOUNT),
    site("seq_read_iter+0x2c2", "kvfree+0x2e", None, &[4096], 8, 120, 0, GFP_KERNEL),
    site("single_open+0x2f", "single_release+0x35", None, &[32], 8, 150, 0, GFP_KERNEL),
    site("load_elf_phdrs+0x52", "load_elf_binary+0x4c1", None, &[728, 784], 5, 200, 0, GFP_KERNEL),
    site("kstrdup+0x38", "kvfree_call_rcu+0xf2", None, &[9, 14, 22, 31, 47], 20, 20_000, 30, GFP_KERNEL),
    site("alloc_pipe_info+0x5f", "free_pipe_info+0x74", None, &[192], 4, 12_000, 30, GFP_ACCOUNT),
    site("alloc_pipe_info+0x9c", "free_pipe_info+0x66", None, &[640], 4, 12_000, 30, GFP_ACCOUNT),
    site("jbd2__journal_start+0x81", "jbd2_journal_stop+0x1b9", Some("jbd2_journal_handle"), &[56], 30, 30, 0, GFP_KERNEL),
    site("bio_alloc_bioset+0xd0", "bio_free+0x54", Some("bio-256"), &[256], 12, 600, 55, GFP_ATOMIC),
    site("ep_insert+0x118", "epi_rcu_free+0x17", Some("eventpoll_epi"), &[128], 3, 60_000, 30, GFP_ACCOUNT),
    site("xas_alloc+0xa4", "radix_tree_node_rcu_free+0x2c", Some("radix_tree_node"), &[576], 12, 120_000, 40, GFP_KERNEL),
    site("__kernfs_new_node+0x63", "kernfs_put+0xa7", Some("kernfs_node_cache"), &[136], 3, 200_000, 20, GFP_KERNEL),
    site("sk_prot_alloc+0x49", "__sk_destruct+0x129", Some("UNIX"), &[1152], 3, 20_000, 30, GFP_ACCOUNT),
    site("ring_alloc+0x20", "ring_free+0x18", None, &[8200, 16_400, 65_536], 1, 4_000, 10, GFP_KERNEL),
];

/// A const constructor keeps [`SITES`] one line a site.
#[allow(clippy::too_many_arguments)]
const fn site(
    alloc: &'static str,
    free: &'static str,
    cache: Option<&'static str>,
    bytes: &'static [u32],
    weight: u32,
    life: u32,
    remote: u32,
    gfp: u32,
) -> SiteModel {
    SiteModel { alloc, free, cache, bytes, weight, life, remote, gfp }
}

/// Registers all names; returns the cache of each site. The ids of a site's own names are twice its place in
/// [`SITES`], and the next.
fn register(writer: &mut TraceWriter) -> Vec<u32> {
    let add = |(place, site): (u64, &SiteModel)| {
        let address = 0xffff_ffff_8100_0000 + (place + 1) * 0x1040;
        writer.site(site.alloc, address);
        writer.site(site.free, address + 0x800);
        site.cache.map_or(NONE, |name| writer.cache(name))
    };
    (0..).zip(SITES).map(add).collect()
}

#[derive(Debug, Clone, Copy)]
struct Live {
    site: u8,
    cpu: u16,
}

/// A mean life from which on a site's objects are among those that fill a machine.
const LONG_LIFE: u32 = 5_000;

/// Returns the objects that are alive in the long run, of sites that `counts`: by Little's law,
/// allocations an event times life. (The mean of [`Random::life`] is 1.05 times the one asked for.)
fn settled(counts: impl Fn(&SiteModel) -> bool) -> u64 {
    let weights: u64 = SITES.iter().map(|site| u64::from(site.weight)).sum();
    let counted = SITES.iter().filter(|site| counts(site));
    let lives: u64 = counted.map(|site| u64::from(site.weight) * u64::from(site.life)).sum();
    lives * 105 / 100 / (2 * weights)
}

struct Generator {
    /// Long lives are this much longer than in the table, in 1,024ths.
    stretch: u64,
    random: Random,
    cpus: u16,
    time_ns: u64,
    step: u64,
    cpu: u16,
    /// Objects by the step at which they are freed.
    due: BinaryHeap<Reverse<(u64, u32)>>,
    live: Vec<Live>,
    free_slots: Vec<u32>,
    /// Sites by weight: as many entries as the weight.
    draw: Vec<u8>,
}

impl Generator {
    fn new(options: &SynthOptions) -> Generator {
        let repeat = |(i, s): (usize, &SiteModel)| vec![i as u8; s.weight as usize];
        let long = settled(|site| site.life >= LONG_LIFE);
        let short = settled(|site| site.life < LONG_LIFE);
        let stretch =
            options.live.map_or(1024, |live| u64::from(live).saturating_sub(short) * 1024 / long);
        Generator {
            stretch,
            random: Random::new(options.seed),
            cpus: options.cpus,
            time_ns: 1_000_000_000,
            step: 0,
            cpu: 0,
            due: BinaryHeap::new(),
            live: Vec::new(),
            free_slots: Vec::new(),
            draw: SITES.iter().enumerate().flat_map(repeat).collect(),
        }
    }

    fn step(&mut self, caches: &[u32]) -> Event {
        self.step += 1;
        self.time_ns += 150 + u64::from(self.random.below(300));
        if self.random.below(100) < 3 {
            self.cpu = self.random.below(u32::from(self.cpus)) as u16;
        }
        match self.due.peek() {
            Some(&Reverse((step, slot))) if step <= self.step => {
                self.due.pop();
                self.free(slot, caches)
            }
            _ => self.alloc(caches),
        }
    }

    fn alloc(&mut self, caches: &[u32]) -> Event {
        let index = self.draw[self.random.below(self.draw.len() as u32) as usize];
        let site = &SITES[usize::from(index)];
        let bytes = site.bytes[self.random.below(site.bytes.len() as u32) as usize];
        let live = Live { site: index, cpu: self.cpu };
        let slot = self.free_slots.pop().unwrap_or(self.live.len() as u32);
        match self.live.get_mut(slot as usize) {
            Some(entry) => *entry = live,
            None => self.live.push(live),
        }
        let life = self.random.life(site.life);
        let stretch = if site.life >= LONG_LIFE { self.stretch } else { 1024 };
        self.due.push(Reverse((self.step + 1 + life * stretch / 1024, slot)));
        let kind = if site.cache.is_some() { Kind::KmemCacheAlloc } else { Kind::Kmalloc };
        Event {
            bytes_req: u64::from(bytes),
            bytes_alloc: u64::from(given(site, bytes)),
            gfp: site.gfp,
            site: 2 * u32::from(index),
            ..self.event(kind, slot, caches[usize::from(index)])
        }
    }

    fn free(&mut self, slot: u32, caches: &[u32]) -> Event {
        let Live { site: index, cpu } = self.live[slot as usize];
        let site = &SITES[usize::from(index)];
        self.free_slots.push(slot);
        let remote = self.cpus > 1 && self.random.below(100) < site.remote;
        self.cpu = if remote { (cpu + 1) % self.cpus } else { cpu };
        let kind = if site.cache.is_some() { Kind::KmemCacheFree } else { Kind::Kfree };
        Event {
            site: 2 * u32::from(index) + 1,
            ..self.event(kind, slot, caches[usize::from(index)])
        }
    }

    fn event(&self, kind: Kind, object: u32, cache: u32) -> Event {
        Event {
            time_ns: self.time_ns,
            cpu: self.cpu,
            pid: 1000 + u32::from(self.cpu),
            kind,
            object,
            site: NONE,
            cache,
            bytes_req: 0,
            bytes_alloc: 0,
            gfp: 0,
            node: -1,
            stack: NONE,
        }
    }
}

/// Returns what Linux gives for a request: its kmalloc size class, or the cache's 8-byte step.
fn given(site: &SiteModel, bytes: u32) -> u32 {
    match (site.cache, bytes) {
        (Some(_), _) => bytes.next_multiple_of(8),
        (None, 65..=96) => 96,
        (None, 129..=192) => 192,
        (None, _) => bytes.next_power_of_two().max(8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TraceReader;

    fn make(options: &SynthOptions) -> (Meta, Vec<Event>) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.parquet");
        let meta = synth(&path, options, &mut |_| {}).unwrap();
        let reader = TraceReader::open(&path).unwrap();
        assert_eq!(reader.meta(), &meta);
        let rows = reader.batches().flat_map(|b| b.unwrap().events().collect::<Vec<_>>());
        (meta, rows.collect())
    }

    #[test]
    fn same_seed_same_rows_and_every_free_has_its_allocation() {
        let options = SynthOptions { events: 300_000, cpus: 4, seed: 7, live: None };
        let (meta, rows) = make(&options);
        assert_eq!(rows.len(), 300_000);
        assert_eq!(make(&options).1, rows);
        assert_ne!(make(&SynthOptions { seed: 8, ..options }).1, rows);
        let mut live = vec![false; meta.object_slots as usize];
        for row in rows {
            assert_eq!(live[row.object as usize], row.kind.is_free());
            live[row.object as usize] = row.kind.is_alloc();
        }
    }

    #[test]
    fn as_many_live_as_asked_for() {
        let options =
            SynthOptions { events: 600_000, live: Some(2_000), ..SynthOptions::default() };
        let (few, _) = make(&options);
        assert!((1_500..3_000).contains(&few.object_slots), "{}", few.object_slots);
        let (many, _) = make(&SynthOptions { live: Some(100_000), ..options });
        assert!(many.object_slots > 40_000, "{}", many.object_slots);
    }

    #[test]
    fn live_objects_settle() {
        let (short, _) = make(&SynthOptions { events: 1_000_000, ..SynthOptions::default() });
        let (long, _) = make(&SynthOptions { events: 2_000_000, ..SynthOptions::default() });
        assert!(long.object_slots < short.object_slots * 3 / 2, "{short:?} {long:?}");
    }
}
