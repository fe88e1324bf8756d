//! How a machine is described before it boots.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use slablab_linux::CPUS_MAX;

use super::Machine;
#[cfg(feature = "std")]
use super::memory::Memory;
use crate::backend::Backend;
use crate::cache::args::beyond_max;
use crate::cache::geometry::Arch;
use crate::cache::setup::{CheckLevel, Merging, Objects, Readers, Setup};
use crate::cache::{KmallocConfig, Tunables};
use crate::error::Error;
use crate::ids::{Order, PAGE_SIZE};
use crate::raw::arena::Arena;

/// Smallest memory of a node: enough for the boot caches' first slabs.
pub const NODE_BYTES_MIN: u64 = 1 << 20;
/// Largest machine: page numbers are 32 bits, offsets fit SLUB's packed words.
const MEMORY_MAX: u64 = 1 << 43;

/// What a machine's memory is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MemorySource {
    /// Private memory; vmalloc areas are numbers.
    #[default]
    Anonymous,
    /// A file in memory (memfd): vmalloc areas are really mapped.
    Mapped,
}

/// Describes a machine: [`Machine::builder`].
#[derive(Debug, Clone)]
#[must_use]
pub struct MachineBuilder<B: Backend> {
    setup: Setup,
    min_objects: Option<u32>,
    source: MemorySource,
    backend: PhantomData<B>,
}

impl<B: Backend> MachineBuilder<B> {
    fn new() -> Self {
        let setup = Setup {
            cpus: 1,
            nodes: 1,
            memory_bytes: 1 << 30,
            arch: Arch::default(),
            caches_max: 4096,
            min_objects: 0,
            order_max: crate::cache::geometry::ORDER_MAX,
            order_max_is_asked: false,
            tunables: Tunables::default(),
            merging: Merging::Linux,
            check: CheckLevel::Off,
            objects: Objects::default(),
            readers: Readers::default(),
            kmalloc: KmallocConfig::default(),
            slab_log: false,
        };
        Self { setup, min_objects: None, source: MemorySource::default(), backend: PhantomData }
    }

    /// Sets the number of CPUs (default 1).
    pub fn cpus(mut self, cpus: u32) -> Self {
        self.setup.cpus = cpus;
        self
    }

    /// Sets the number of NUMA nodes (default 1); memory and CPUs are dealt to them evenly.
    pub fn nodes(mut self, nodes: u32) -> Self {
        self.setup.nodes = nodes;
        self
    }

    /// Sets the memory (default 1 GiB): address space, committed only where used. Where the caller brings memory, this much
    /// of it is used at most.
    pub fn memory_bytes(mut self, bytes: u64) -> Self {
        self.setup.memory_bytes = bytes;
        self
    }

    /// Sets the sizes of pages and pointers (default 4 KiB and 8 bytes). Blocks of pages are counted in
    /// [`PAGE_SIZE`] on every machine: one of 16 KiB pages gives out orders from 2 on. SLAB, SLOB and SLMB run on
    /// pages of 4 KiB only.
    pub fn arch(mut self, arch: Arch) -> Self {
        self.setup.arch = arch;
        self
    }

    /// Sets what the memory is made of (default anonymous).
    pub fn memory(mut self, source: MemorySource) -> Self {
        self.source = source;
        self
    }

    /// Sets how many caches can live at once (default 4096, at most 2^20 - 1).
    pub fn caches_max(mut self, caches: u32) -> Self {
        self.setup.caches_max = caches;
        self
    }

    /// Sets the least number of objects that a slab should hold (SLUB; default
    /// `4 * (fls(cpus) + 1)`, `slab_min_objects=` on the kernel's command line).
    pub fn min_objects(mut self, objects: u32) -> Self {
        self.min_objects = Some(objects);
        self
    }

    /// Sets the highest order chosen for little waste, in pages (default 3, under SLUB_TINY 1;
    /// `slab_max_order=`).
    pub fn order_max(mut self, order: Order) -> Self {
        self.setup.order_max = order;
        self.setup.order_max_is_asked = true;
        self
    }

    /// Sets the tunables of all caches that do not set their own.
    pub fn tunables(mut self, tunables: Tunables) -> Self {
        self.setup.tunables = tunables;
        self
    }

    /// Sets whether like caches share slabs.
    pub fn merging(mut self, merging: Merging) -> Self {
        self.setup.merging = merging;
        self
    }

    /// Sets how much is checked.
    pub fn check(mut self, level: CheckLevel) -> Self {
        self.setup.check = level;
        self
    }

    /// Sets what becomes of the memory of objects (default [`Objects::InMemory`]).
    pub fn objects(mut self, objects: Objects) -> Self {
        self.setup.objects = objects;
        self
    }

    /// Sets whom grace periods wait for before slabs of type-safe caches, and what [`Cpu::kfree_rcu`](crate::Cpu::kfree_rcu)
    /// was given, are used again (default [`Readers::Cpus`]).
    pub fn readers(mut self, readers: Readers) -> Self {
        self.setup.readers = readers;
        self
    }

    /// Sets the kmalloc caches.
    pub fn kmalloc(mut self, config: KmallocConfig) -> Self {
        self.setup.kmalloc = config;
        self
    }

    /// Logs which slabs come and go, for [`Machine::take_slab_changes`]. Whoever asks for it has to take them.
    pub fn slab_log(mut self) -> Self {
        self.setup.slab_log = true;
        self
    }

    /// Boots the machine on address space of its own.
    ///
    /// # Errors
    /// Returns [`Error::Machine`] for an impossible shape, [`Error::Reserve`] if the operating system gives
    /// no address space, [`Error::NoMemory`] if the boot caches do not fit.
    #[cfg(feature = "std")]
    pub fn build(self) -> Result<Machine<B>, Error> {
        let source = self.source;
        let setup = self.checked()?;
        let arena = match source {
            MemorySource::Anonymous => Arena::reserve(setup.memory_bytes)?,
            MemorySource::Mapped => Arena::reserve_file(setup.memory_bytes)?,
        };
        Machine::boot(setup, arena)
    }

    /// Boots the machine on `memory`, for which another machine may have been built before: [`Self::memory_bytes`] of it
    /// at most.
    ///
    /// # Errors
    /// Fails as [`Self::build`] does.
    #[cfg(feature = "std")]
    pub fn build_in(mut self, memory: Memory) -> Result<Machine<B>, Error> {
        self.setup.memory_bytes = memory.bytes().min(self.setup.memory_bytes);
        Machine::boot(self.checked()?, memory.0)
    }

    /// Boots the machine on memory that the caller brings, as a kernel without an operating system
    /// below it does: `memory` whole pages, `memory_bytes` at most. Objects are aligned from the start of
    /// `memory`: where that is not a multiple of 8192, a `kmalloc` of 8192 bytes is not either.
    ///
    /// # Errors
    /// Fails as [`Self::build`] does; returns [`Error::Machine`] also if the memory is not page
    /// aligned.
    pub fn build_on(mut self, memory: &'static mut [MaybeUninit<u8>]) -> Result<Machine<B>, Error> {
        let base = memory.as_ptr().addr() as u64;
        if !base.is_multiple_of(PAGE_SIZE) {
            let expected = "aligned to a page";
            return Err(Error::Machine { what: "memory", value: base, expected });
        }
        let bytes = (memory.len() as u64).min(self.setup.memory_bytes);
        self.setup.memory_bytes = bytes;
        let setup = self.checked()?;
        Machine::boot(setup, Arena::of_caller(memory))
    }

    fn checked(mut self) -> Result<Setup, Error> {
        let setup = &mut self.setup;
        let check = |what, value: u64, ok: bool, expected| {
            if ok { Ok(()) } else { Err(Error::Machine { what, value, expected }) }
        };
        let (cpus, nodes) = (u64::from(setup.cpus), u64::from(setup.nodes));
        let memory = setup.memory_bytes;
        check("cpus", cpus, (1..=u64::from(CPUS_MAX)).contains(&cpus), "1 to 8192")?;
        check("nodes", nodes, (1..=cpus).contains(&nodes), "1 to the number of CPUs")?;
        let range = (NODE_BYTES_MIN * nodes)..=MEMORY_MAX;
        check("memory_bytes", memory, range.contains(&memory), "1 MiB a node to 8 TiB")?;
        let caches = u64::from(setup.caches_max);
        let fits = (64..=u64::from(crate::CacheId::INDEX_MAX)).contains(&caches);
        check("caches_max", caches, fits, "64 to 1048575")?;
        let (arch, page) = (setup.arch, setup.arch.page_bytes());
        check("page_bytes", page, matches!(arch.page_order.0, 0 | 2 | 4), "4096, 16384 or 65536")?;
        let fits = !B::SMALL_PAGES_ONLY || arch.page_order.0 == 0;
        check("page_bytes", page, fits, "4096 for this allocator")?;
        let word = u64::from(arch.word_bytes);
        check("word_bytes", word, matches!(word, 4 | 8), "4 or 8")?;
        let order = u64::from(setup.order_max.0);
        let expected = match arch.page_order.0 {
            0 => "0 to 10",
            2 => "0 to 8 with pages of 16 KiB",
            _ => "0 to 6 with pages of 64 KiB",
        };
        check("order_max", order, arch.order(setup.order_max) <= Order::MAX, expected)?;
        let classes = &setup.kmalloc.classes;
        let rising = classes.windows(2).all(|w| w[0] < w[1]) && classes.len() < 256;
        let largest = u64::from(classes.last().copied().unwrap_or(0));
        let bounds = classes.first().is_some_and(|&c| c >= 8) && largest <= 2 * page;
        let eights = classes.iter().all(|c| c.is_multiple_of(8));
        let expected = "a rising list of multiples of 8, from 8 bytes to two pages";
        check("kmalloc classes", largest, rising && bounds && eights, expected)?;
        if let Some((tunable, value)) = beyond_max(B::TUNABLES, &setup.tunables) {
            check(tunable, u64::from(value), false, "its largest value at most (`Tunable::max`)")?;
        }
        // Only whole pages count, the same number on each node.
        setup.memory_bytes = memory / (page * nodes) * (page * nodes);
        setup.min_objects =
            self.min_objects.unwrap_or_else(|| crate::cache::geometry::min_objects(setup.cpus));
        Ok(self.setup)
    }
}

impl<B: Backend> Machine<B> {
    /// Describes a machine of one CPU, one node and 1 GiB; change what you like, then build.
    pub fn builder() -> MachineBuilder<B> {
        MachineBuilder::new()
    }
}
