//! All caches at a moment.
//!
//! # How it works
//! The kernel's iterator (6.13 and later), or its own list, tells where the caches are; their structures lead to those of
//! CPUs and nodes, and these to slabs and sheaves. A slab on no list is full.
//!
//! # Invariants
//! A list may change while it is read. A slab that is another cache's by then, or a list that does not end where it should,
//! counts as changed, and nothing more of it is believed. Free objects are never more than objects.
//!
//! Linux counterpart: `mm/slub.c` @ 6.18 and 7.3; the structures are those of `layout`.

use std::fs;
use std::time::Instant;

use serde::Serialize;
use slablab_bpf::Btf;

use crate::cache::CacheCensus;
use crate::error::Error;
use crate::layout::{CpuFields, Layout, SheafFields};
use crate::memory::{COPY_MAX, Links, Memory, Piece, RECORD_BYTES};

const NODES: &str = "/sys/devices/system/node/possible";
const CPUS: &str = "/sys/devices/system/cpu/possible";
/// Slabs or sheaves of one list that are read at most.
const LIST_MAX: usize = 1 << 20;
/// The longest name of a cache.
const NAME_BYTES: usize = 64;

/// The caches of the running kernel, and what it cost to look.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Census {
    /// One entry for each cache that has slabs, those with most bytes free first
    pub caches: Vec<CacheCensus>,
    /// Whether this kernel has CPU slabs
    pub has_cpu_slabs: bool,
    /// Whether this kernel has sheaves
    pub has_sheaves: bool,
    /// CPUs that have slabs or sheaves
    pub cpus: u64,
    /// How long the reading took, once the programs were loaded
    pub took_ns: u64,
    /// Programs that were run for it
    pub calls: u64,
}

impl Census {
    /// Looks at the running kernel once.
    ///
    /// # Errors
    /// Where BPF is not to be had, or the kernel's structures are not known.
    pub fn take() -> Result<Self, Error> {
        Running::open()?.census()
    }
}

/// The running kernel, with the programs that look at it: a further census takes nothing but the looking.
#[derive(Debug)]
pub struct Running {
    layout: Layout,
    memory: Memory,
}

impl Running {
    /// Loads the programs.
    ///
    /// # Errors
    /// Where BPF is not to be had, or the kernel's structures are not known.
    pub fn open() -> Result<Self, Error> {
        let btf = Btf::running()?;
        Ok(Self { layout: Layout::of(&btf)?, memory: Memory::open(&btf)? })
    }

    /// Looks at all caches.
    ///
    /// # Errors
    /// Where a program cannot be run, or a file of the system cannot be read.
    pub fn census(&self) -> Result<Census, Error> {
        let Self { layout, memory } = self;
        let (begin, calls) = (Instant::now(), memory.calls());
        let (cpus, nodes) = (last_of(CPUS)? + 1, last_of(NODES).unwrap_or(0) + 1);
        let mut places = Vec::new();
        for cpu in 0..cpus {
            places.extend(memory.of_cpu(cpu, layout.places)?);
        }
        let reader = Reader { memory, layout, cpus: &places, nodes };
        let mut caches = Vec::new();
        for address in memory.caches(layout.cache.list)? {
            caches.extend(reader.cache(address)?.filter(|cache| cache.slabs > 0));
        }
        let free_bytes = |cache: &CacheCensus| cache.free() * cache.object_bytes;
        caches.sort_by(|a, b| (free_bytes(b), &a.cache).cmp(&(free_bytes(a), &b.cache)));
        Ok(Census {
            caches,
            has_cpu_slabs: layout.cpu.is_some(),
            has_sheaves: layout.sheaves.is_some(),
            cpus: places.len() as u64,
            took_ns: u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX),
            calls: memory.calls() - calls,
        })
    }
}

/// Returns the last number of a list such as `0-3,8-11`.
fn last_of(path: &'static str) -> Result<u32, Error> {
    let text = fs::read_to_string(path).map_err(|source| Error::File { path, source })?;
    let last = text.trim().rsplit([',', '-']).next().and_then(|last| last.parse().ok());
    last.ok_or_else(|| Error::Form(path.to_owned()))
}

/// Reads one cache after the other.
struct Reader<'a> {
    memory: &'a Memory,
    layout: &'a Layout,
    /// What is added to addresses for each CPU
    cpus: &'a [u64],
    nodes: u32,
}

/// A cache that is being read.
struct Reading {
    address: u64,
    fields: Piece,
    census: CacheCensus,
}

impl Reader<'_> {
    fn cache(&self, address: u64) -> Result<Option<CacheCensus>, Error> {
        let fields = &self.layout.cache;
        let nodes = fields.nodes.bytes_each * u64::from(self.nodes);
        let bytes = ((fields.nodes.first + nodes) as usize).min(COPY_MAX);
        let Some(piece) = self.memory.copy(address, bytes)? else { return Ok(None) };
        let name = self.memory.copy(piece.u64(fields.name), NAME_BYTES)?;
        let order = piece.u32(fields.order_objects) >> 16;
        let census = CacheCensus {
            cache: name.map_or_else(|| format!("{address:#x}"), |name| name.text()),
            object_bytes: piece.u32(fields.size).into(),
            slab_bytes: (rustix::param::page_size() as u64).checked_shl(order).unwrap_or(0),
            ..CacheCensus::default()
        };
        let mut reading = Reading { address, fields: piece, census };
        for node in 0..self.nodes {
            self.node(&mut reading, node)?;
        }
        for place in self.cpus {
            if let Some(cpu) = &self.layout.cpu {
                self.cpu_slabs(&mut reading, cpu, *place)?;
            }
            if let Some(sheaves) = &self.layout.sheaves {
                self.sheaves(&mut reading, sheaves, *place)?;
            }
        }
        reading.census.count_full();
        Ok(Some(reading.census))
    }

    fn node(&self, reading: &mut Reading, node: u32) -> Result<(), Error> {
        let fields = &self.layout.node;
        let own = &self.layout.cache.nodes;
        let begin = own.first + own.bytes_each * u64::from(node);
        let address = reading.fields.u64(begin + own.node);
        if address == 0 {
            return Ok(());
        }
        let Some(piece) = self.memory.copy(address, RECORD_BYTES)? else {
            reading.census.changed += 1;
            return Ok(());
        };
        reading.census.slabs += piece.u64(fields.slabs);
        reading.census.objects += piece.u64(fields.objects);
        let list = self.layout.slab.list;
        let head = address + fields.partial;
        // As many again may come while the list is read; a list that runs into another never ends.
        let most = (piece.u64(fields.partial_count) as usize * 2 + 64).min(LIST_MAX);
        for slab in self.list(reading, piece.u64(fields.partial), head, list, most)? {
            let Some((in_use, all)) = self.slab(reading, &slab) else { break };
            reading.census.count_slab(in_use, all);
            let lying = match in_use {
                0 => &mut reading.census.node_empty,
                _ => &mut reading.census.node_partial,
            };
            lying.add(all - in_use);
        }
        if let Some(sheaves) = &self.layout.sheaves {
            let barn = match (own.barn, sheaves.barn_of_node) {
                (Some(at), _) => reading.fields.u64(begin + at),
                (None, Some(at)) => piece.u64(at),
                (None, None) => 0,
            };
            self.barn(reading, sheaves, barn)?;
        }
        Ok(())
    }

    /// Reads the structures of a list with a head.
    fn list(
        &self,
        reading: &mut Reading,
        first: u64,
        head: u64,
        link: u64,
        most: usize,
    ) -> Result<Vec<Piece>, Error> {
        if first == head || first == 0 {
            return Ok(Vec::new());
        }
        let links = Links { link, inner: link, stop: head };
        let (all, has_ended) = self.memory.walk(first.wrapping_sub(link), links, most)?;
        reading.census.changed += u64::from(!has_ended);
        Ok(all)
    }

    /// Returns the objects of a slab that are in use, and all; `None` if it is another cache's by now.
    fn slab(&self, reading: &mut Reading, piece: &Piece) -> Option<(u64, u64)> {
        let fields = &self.layout.slab;
        let counts = piece.u32(fields.in_use);
        let (in_use, all) = (u64::from(counts & 0xffff), u64::from(counts >> 16 & 0x7fff));
        if piece.u64(fields.cache) != reading.address || in_use > all || all == 0 {
            reading.census.changed += 1;
            return None;
        }
        Some((in_use, all))
    }

    /// Copies a structure that each CPU has, by its field in the cache and the place of the CPU's own memory; nothing where
    /// the cache has none.
    fn of_cpu(
        &self,
        reading: &mut Reading,
        of_cache: u64,
        place: u64,
    ) -> Result<Option<Piece>, Error> {
        let own = reading.fields.u64(of_cache);
        if own == 0 {
            return Ok(None);
        }
        let piece = self.memory.copy(own.wrapping_add(place), RECORD_BYTES)?;
        reading.census.changed += u64::from(piece.is_none());
        Ok(piece)
    }

    fn cpu_slabs(
        &self,
        reading: &mut Reading,
        fields: &CpuFields,
        place: u64,
    ) -> Result<(), Error> {
        let Some(piece) = self.of_cpu(reading, fields.of_cache, place)? else { return Ok(()) };
        let slab = piece.u64(fields.slab);
        if slab != 0 {
            self.cpu_slab(reading, slab, piece.u64(fields.freelist))?;
        }
        let Some((first, link)) = fields.partial else { return Ok(()) };
        let first = piece.u64(first);
        if first == 0 {
            return Ok(());
        }
        let (all, has_ended) =
            self.memory.walk(first, Links { link, inner: 0, stop: 0 }, LIST_MAX)?;
        reading.census.changed += u64::from(!has_ended);
        for slab in all {
            let Some((in_use, all)) = self.slab(reading, &slab) else { break };
            reading.census.count_slab(in_use, all);
            reading.census.cpu_partial.add(all - in_use);
        }
        Ok(())
    }

    /// Reads the slab that a CPU allocates from: what is free in it lies on the CPU's list, and what others freed on its own.
    fn cpu_slab(&self, reading: &mut Reading, slab: u64, freelist: u64) -> Result<(), Error> {
        let Some(piece) = self.memory.copy(slab, RECORD_BYTES)? else {
            reading.census.changed += 1;
            return Ok(());
        };
        let Some((in_use, all)) = self.slab(reading, &piece) else { return Ok(()) };
        let fields = &self.layout.cache;
        let link = u64::from(reading.fields.u32(fields.link));
        let random = fields.random.map(|at| reading.fields.u64(at));
        let own = self.memory.free_objects(freelist, link, random, in_use)?;
        reading.census.changed += u64::from(own.is_none());
        let own = own.unwrap_or(0);
        reading.census.count_slab(in_use - own, all);
        reading.census.cpu_slabs.add(all - in_use + own);
        Ok(())
    }

    fn sheaves(
        &self,
        reading: &mut Reading,
        fields: &SheafFields,
        place: u64,
    ) -> Result<(), Error> {
        let Some(piece) = self.of_cpu(reading, fields.of_cache, place)? else { return Ok(()) };
        for (at, which) in [(fields.main, 0), (fields.spare, 1), (fields.rcu_free, 2)] {
            let sheaf = piece.u64(at);
            if sheaf == 0 {
                continue;
            }
            let Some(sheaf) = self.memory.copy(sheaf, RECORD_BYTES)? else {
                reading.census.changed += 1;
                continue;
            };
            let census = &mut reading.census;
            let lying = match which {
                0 => &mut census.main_sheaves,
                1 => &mut census.spare_sheaves,
                _ => &mut census.rcu_sheaves,
            };
            lying.add(sheaf.u32(fields.objects).into());
        }
        Ok(())
    }

    fn barn(&self, reading: &mut Reading, fields: &SheafFields, address: u64) -> Result<(), Error> {
        if address == 0 {
            return Ok(());
        }
        let Some(piece) = self.memory.copy(address, RECORD_BYTES)? else {
            reading.census.changed += 1;
            return Ok(());
        };
        reading.census.empty_sheaves += u64::from(piece.u32(fields.empty_count));
        let head = address + fields.full;
        let most = piece.u32(fields.full_count) as usize * 2 + 64;
        for sheaf in self.list(reading, piece.u64(fields.full), head, fields.barn_link, most)? {
            reading.census.barns.add(sheaf.u32(fields.objects).into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a file of a cache's folder in sysfs: its first number.
    fn sysfs(cache: &str, file: &str) -> Option<u64> {
        let text = fs::read_to_string(format!("/sys/kernel/slab/{cache}/{file}")).ok()?;
        text.split([' ', '(']).next()?.trim().parse().ok()
    }

    /// Says what this machine lacks. An error in our own programs fails the test.
    fn skip(error: &Error) {
        use slablab_bpf::Error::{Text, Verifier};
        assert!(!matches!(error, Error::Bpf(Text { .. } | Verifier { .. })), "{error}");
        println!("SKIPPED: {error}");
    }

    /// Wants root, BPF and an iterator of caches: elsewhere it says so. The machine works meanwhile, so that what is compared
    /// is near, and equal for most caches.
    #[test]
    fn the_census_agrees_with_sysfs() {
        let first = match Census::take() {
            Ok(first) => first,
            Err(error) => return skip(&error),
        };
        let files = ["slabs", "total_objects", "partial", "cpu_slabs"];
        let in_sysfs: Vec<_> =
            first.caches.iter().map(|cache| files.map(|file| sysfs(&cache.cache, file))).collect();
        let now = Census::take().unwrap();
        let (mut compared, mut equal, mut far) = (0, 0, Vec::new());
        for (cache, told) in first.caches.iter().zip(in_sysfs) {
            let same = now.caches.iter().find(|one| one.cache == cache.cache);
            let ([Some(slabs), Some(objects), Some(partial), Some(cpu)], Some(this)) = (told, same)
            else {
                continue;
            };
            compared += 1;
            let of_nodes = this.node_partial.places + this.node_empty.places;
            let of_cpus = this.cpu_slabs.places + this.cpu_partial.places;
            let seen = [this.slabs, this.objects, of_nodes, of_cpus];
            equal += u32::from(seen == [slabs, objects, partial, cpu]);
            // CPUs take and give partial slabs by the dozen.
            let near = |a: u64, b: u64| a.abs_diff(b) <= 24 + b / 10;
            if !near(this.slabs, slabs) || !near(of_nodes + of_cpus, partial + cpu) {
                far.push(format!("{this:?} {told:?}"));
            }
            assert!(this.free() <= this.objects, "{this:?}");
            let listed: u64 = this.fullness.iter().sum();
            assert!(listed >= this.slabs && listed <= this.slabs + 64, "{this:?}");
        }
        assert!(compared > 50, "{compared}");
        assert!(equal * 2 > compared, "{equal} of {compared}");
        assert!(far.len() as u32 * 20 <= compared, "{} of {compared}: {far:#?}", far.len());
    }
    /// Files that this process opens are in use, and free when it closes them, wherever they lie then.
    #[test]
    fn objects_of_ours_are_in_use_while_we_have_them() {
        const FILES: u64 = 700;
        let in_use = || {
            let census = Census::take()?;
            let files = census.caches.iter().find(|cache| cache.cache == "filp");
            Ok::<u64, Error>(files.map_or(0, CacheCensus::in_use))
        };
        let before = match in_use() {
            Ok(before) => before,
            Err(error) => return skip(&error),
        };
        let files: Vec<_> = (0..FILES).map(|_| fs::File::open("/dev/null").unwrap()).collect();
        let open = in_use().unwrap();
        drop(files);
        // Other programs open and close files, too.
        let rise = open.saturating_sub(before);
        assert!(rise.abs_diff(FILES) < FILES / 3, "{before} {open}");
        // The kernel frees files when readers have passed.
        let is_closed = |_: &u32| {
            std::thread::sleep(std::time::Duration::from_millis(100));
            in_use().unwrap() < open - FILES / 2
        };
        assert!((0..100).any(|turn| is_closed(&turn)));
    }
}
