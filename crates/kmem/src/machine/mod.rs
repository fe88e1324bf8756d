//! A machine: memory, CPUs and caches under one backend.
//!
//! # How it works
//! [`crate::MachineBuilder`] boots it; [`crate::Cpu`] handles do the work. Creating caches and
//! reading statistics needs no CPU.
//!
//! # Lock order
//! registry -> node list -> pcp -> zone.

pub(crate) mod builder;
#[cfg(feature = "std")]
pub(crate) mod memory;

use alloc::string::ToString;
use alloc::vec::Vec;

use crate::backend::Backend;
use crate::backend::ops::Mergeable;
use crate::cache::args::beyond_max;
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::findings::{Finding, FindingLog};
use crate::cache::grace::GracePeriods;
use crate::cache::kmalloc::Kmalloc;
use crate::cache::links::Links;
use crate::cache::paths::{OpCounts, Tally};
use crate::cache::registry::{Aligned, Registry};
use crate::cache::setup::{CheckLevel, Merging, Setup};
use crate::cache::slab_log::{SlabChange, SlabLog};
use crate::cache::table::{CacheEntry, CacheTable};
use crate::cache::track::Tracks;
use crate::cache::{CacheArgs, SlabFlags, geometry};
use crate::cpu::{CpuContext, Hooks};
use crate::error::Error;
use crate::ids::{CacheId, NodeId, ObjPtr, PAGE_SIZE, Pfn};
use crate::page::{Kind, PageTable, Zones};
use crate::raw::arena::Arena;
use crate::raw::local::LocalU64;
use crate::raw::lock::Lock;
use crate::raw::sync::{AtomicBool, AtomicU64, Ordering};
use crate::raw::zeroed::ZeroedSlice;
use crate::vmalloc::Vmalloc;

/// Simulated hardware with the page allocator, the caches and the backend `B` on it.
#[derive(Debug)]
pub struct Machine<B: Backend> {
    pub(crate) core: Core,
    pub(crate) backend: B,
}

impl<B: Backend> Machine<B> {
    pub(crate) fn boot(setup: Setup, arena: Arena) -> Result<Self, Error> {
        let pages = PageTable::new((setup.memory_bytes / PAGE_SIZE) as u32);
        let tally_rows = if setup.counts() { 1 } else { setup.cpus as usize };
        let tallies = tally_rows * (setup.caches_max as usize + 1);
        let links = Links::new(if setup.counts() { pages.count() } else { 0 });
        let checked = setup.check != CheckLevel::Off;
        let pages_tracked = if checked { pages.count() as usize } else { 0 };
        let core = Core {
            vmalloc: Vmalloc::new(&arena, setup.cpus),
            zones: Zones::new(&pages, setup.arch.page_order, setup.nodes, setup.cpus),
            arena,
            pages,
            caches: CacheTable::new(setup.caches_max),
            registry: Lock::new(Registry::default()),
            kmalloc: Kmalloc::none(),
            findings: FindingLog::default(),
            claimed: (0..setup.cpus).map(|_| AtomicBool::new(false)).collect(),
            counters: ZeroedSlice::new(setup.cpus as usize),
            tallies: ZeroedSlice::new(tallies),
            totals: ZeroedSlice::new(setup.caches_max as usize),
            exact_slabs: LocalU64::default(),
            large_pages: AtomicU64::new(0),
            own_bytes: AtomicU64::new(0),
            exact: AtomicBool::new(false),
            exact_bytes: LocalU64::default(),
            links,
            tracks: Tracks::new(pages_tracked),
            slab_log: SlabLog::new(setup.slab_log),
            grace: GracePeriods::new(setup.cpus, setup.readers),
            setup,
        };
        let mut machine = Self { backend: B::new(&core), core };
        if B::KMALLOC_CACHES {
            let mut config = machine.core.setup.kmalloc.clone();
            B::adjust_kmalloc(&mut config);
            machine.core.kmalloc = Kmalloc::new(&config, |args| machine.try_create(&args))?;
        }
        Ok(machine)
    }

    /// Creates a cache, or adds an alias to one that serves equally well ([`Merging`]).
    ///
    /// # Errors
    /// Returns [`Error::Cache`] for impossible sizes or alignment, [`Error::TooManyCaches`].
    ///
    /// # Panics
    /// If the arguments have [`SlabFlags::PANIC`], instead of an error.
    pub fn cache_create(&self, args: &CacheArgs) -> Result<CacheId, Error> {
        let created = if u64::from(args.align) <= self.core.arena.align() {
            self.try_create(args)
        } else {
            let what = "the alignment is larger than that of the machine's memory";
            Err(Error::Cache { name: args.name.to_string(), what })
        };
        if let (Err(error), true) = (&created, args.flags.has(SlabFlags::PANIC)) {
            panic!("SLAB_PANIC: {error}");
        }
        created
    }

    fn try_create(&self, args: &CacheArgs) -> Result<CacheId, Error> {
        let mut args = args.clone();
        if self.core.setup.check >= CheckLevel::Full {
            // `slub_debug=FPZU` on the kernel's command line does this to every cache.
            args.flags |= SlabFlags::RED_ZONE | SlabFlags::POISON | SlabFlags::STORE_USER;
        }
        B::adjust_cache(&mut args);
        let args = &args;
        let error = |what| Error::Cache { name: args.name.to_string(), what };
        if args.object_size == 0 {
            return Err(error("the object size is 0"));
        }
        if u64::from(args.object_size) > crate::Order::MAX.bytes() {
            return Err(error("an object is larger than the largest block of pages (4 MiB)"));
        }
        if !(args.align == 0 || args.align.is_power_of_two()) {
            return Err(error("the alignment has to be a power of two"));
        }
        let inside = |o: u32| o.checked_add(8).is_some_and(|end| end <= args.object_size);
        if args.freeptr_offset.is_some_and(|o| !o.is_multiple_of(8) || !inside(o)) {
            return Err(error("freeptr_offset has to be a multiple of 8 inside the object"));
        }
        if beyond_max(B::TUNABLES, &args.tunables).is_some() {
            return Err(error("a tunable is beyond its largest value (`Tunable::max`)"));
        }
        let merging = match B::MERGEABLE {
            Mergeable::Never => None,
            Mergeable::BySize => Some(Aligned::BySize),
            Mergeable::ByAlignment => Some(Aligned::Itself),
        };
        let mut registry = self.core.registry.lock();
        if self.core.setup.merging == Merging::Linux
            && let Some(aligned) = merging
            && let Some(id) = registry.find_mergeable(&self.core.caches, args, aligned)
        {
            let slot = self.core.caches.get(id);
            slot.object_size.set(slot.object_size.get().max(args.object_size));
            let entry = registry.entry_mut(id).expect("found just above");
            entry.aliases.push(args.name.clone());
            entry.users += 1;
            return Ok(id);
        }
        let plan = B::plan(&self.core, args)?;
        let id = registry.reserve(&self.core.caches, &args.name)?;
        self.retire_counts(id, &mut registry);
        let slot = self.core.caches.get(id);
        slot.set_layout(&plan.layout);
        slot.set_orders(plan.order, plan.order_min);
        slot.objects.set(plan.objects);
        slot.flags.set(args.flags.0);
        slot.has_ctor.set(u32::from(args.ctor.is_some()));
        self.backend.create(&self.core, slot, args);
        registry.insert(id, args.clone());
        Ok(id)
    }

    /// Makes the counters of a new cache start at 0; the counts of the previous cache of that index
    /// stay in the machine's sums.
    fn retire_counts(&self, id: CacheId, registry: &mut Registry) {
        // The first cache of an index finds counters that are still untouched. Reading them and then writing 0 would cost
        // two faults for each page: a twentieth of the replay of 200,000 events.
        if self.core.caches.get(id).generation.get() == 1 {
            return;
        }
        registry.retired.add(&self.paths_of(id));
        self.ops_of(id).for_each(OpCounts::reset);
        self.core.tallies_of(id).for_each(Tally::reset);
        self.core.totals[id.index()].reset();
    }

    /// Finds a cache by its name or an alias.
    pub fn cache_by_name(&self, name: &str) -> Option<CacheId> {
        let registry = self.core.registry.lock();
        let mut entries = registry.entries().iter().filter(|e| e.users > 0);
        entries.find(|e| e.args.name == name || e.aliases.iter().any(|a| a == name)).map(|e| e.id)
    }

    /// Returns the cache that a `kmalloc` of `size` bytes comes from, if it comes from one.
    pub fn kmalloc_cache(&self, size: u64, gfp: crate::Gfp, site: crate::Site) -> Option<CacheId> {
        self.core.kmalloc.cache(size, gfp, site)
    }

    /// Returns the living caches, oldest first.
    pub fn caches(&self) -> Vec<CacheId> {
        self.core.registry.lock().entries().iter().map(|e| e.id).collect()
    }

    /// Moves the slabs that came and went since the last call to the end of `to`; none without
    /// [`MachineBuilder::slab_log`](crate::MachineBuilder::slab_log).
    #[inline]
    pub fn take_slab_changes(&self, to: &mut Vec<SlabChange>) {
        self.core.slab_log.take(to);
    }

    pub(crate) fn claim(&self, cpu: u32) -> bool {
        let Some(claimed) = self.core.claimed.get(cpu as usize) else { return false };
        claimed.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    pub(crate) fn release(&self, cpu: u32) {
        self.core.claimed[cpu as usize].store(false, Ordering::Release);
    }

    /// Returns the number of CPUs.
    pub fn cpu_count(&self) -> u32 {
        self.core.setup.cpus
    }

    /// Returns how often each kind of lock was taken, by name: those of the page allocator and of
    /// vmalloc, then the backend's own.
    pub fn lock_counts(&self) -> Vec<(&'static str, u64)> {
        let counters = self.core.counters.as_slice();
        let sum = |i: usize| counters.iter().map(|c| c.locks[i].get()).sum();
        B::KIND.lock_names().enumerate().map(|(i, name)| (name, sum(i))).collect()
    }

    /// Returns what a caller may use of an object (Linux: `ksize`): what [`Self::usable_bytes`] says, and padding.
    pub(crate) fn ksize(&self, obj: ObjPtr) -> u64 {
        let core = &self.core;
        let page = core.pages.try_get(obj.pfn()).filter(|page| page.kind() == Kind::Slab);
        let Some(page) = page.filter(|_| B::PADDING_IS_USABLE) else {
            return self.usable_bytes(obj);
        };
        let slot = core.caches.get(CacheId(page.cache.get()));
        let (object, inuse, size) = (slot.object_size.get(), slot.inuse.get(), slot.size.get());
        u64::from(geometry::usable_bytes(slot.flags(), object, inuse, size))
    }

    /// Returns what `ksize` says of an object of such a cache where nothing is checked.
    pub fn usable_of(&self, args: &CacheArgs) -> u32 {
        if !B::PADDING_IS_USABLE {
            return args.object_size;
        }
        let mut args = args.clone();
        B::adjust_cache(&mut args);
        let layout = geometry::object_layout(self.core.setup.arch, &args);
        geometry::usable_bytes(args.flags, layout.object_size, layout.inuse, layout.size)
    }

    /// Returns the usable bytes of an object from kmalloc or a cache. It is 0 for any other address, and for a carved
    /// object of a cache where nothing is tracked.
    pub(crate) fn usable_bytes(&self, obj: ObjPtr) -> u64 {
        let core = &self.core;
        let Some(page) = core.pages.try_get(obj.pfn()) else { return 0 };
        if page.kind() == Kind::Carved && core.checked() {
            return match core.tracks.live(obj) {
                Some((Some(cache), _)) => u64::from(core.caches.get(cache).object_size.get()),
                Some((None, bytes)) => bytes,
                None => 0,
            };
        }
        match page.kind() {
            Kind::Slab => {
                let cache = core.caches.get(CacheId(page.cache.get()));
                u64::from(cache.object_size.get())
            }
            Kind::Large | Kind::Pages => page.order().bytes(),
            Kind::Carved => self.backend.carved_room(core, obj),
            _ => 0,
        }
    }

    /// Returns the number of findings.
    pub fn findings_count(&self) -> u64 {
        self.core.findings.count()
    }

    /// Takes the findings that were kept (the first 1000).
    pub fn take_findings(&self) -> Vec<Finding> {
        self.core.findings.take()
    }

    /// Makes page allocations fail after the next `count` ones; `None` stops that.
    pub fn fail_pages_after(&self, count: Option<u64>) {
        self.core.zones.fail_after(count);
    }

    /// Returns the node that a page belongs to.
    pub fn node_of(&self, pfn: Pfn) -> NodeId {
        self.core.zones.node_of(pfn)
    }

    /// Returns the cache whose slab an object lies in and the object's index in the slab.
    pub fn object_at(&self, obj: ObjPtr) -> Option<(CacheId, Pfn, u32)> {
        self.core.object_at(obj)
    }

    /// Returns the address of an object in this process. It stays valid as long as the machine.
    ///
    /// A caller that works through it promises to touch only an object that is allocated. It also
    /// promises that no thread reads or writes those bytes at that time by the machine's own means
    /// ([`Self::read_byte`], [`Self::write_byte`], or `krealloc` of the object): those are atomic, plain
    /// accesses are not.
    #[inline]
    pub fn address(&self, obj: ObjPtr) -> ::core::ptr::NonNull<u8> {
        self.core.arena.address(obj)
    }

    /// Returns the object that an address belongs to; `None` if it is not in the machine's memory.
    #[inline]
    pub fn object(&self, address: *const u8) -> Option<ObjPtr> {
        self.core.arena.offset(address)
    }

    /// Reads a byte of the machine's memory, for tools that look at memory as data.
    ///
    /// # Panics
    /// If `at` lies beyond the machine's memory.
    pub fn read_byte(&self, at: ObjPtr) -> u8 {
        self.core.arena.byte(at.get())
    }

    /// Writes a byte of the machine's memory. It should be the caller's: a free object's byte may belong to
    /// a free list.
    ///
    /// # Panics
    /// If `at` lies beyond the machine's memory.
    pub fn write_byte(&self, at: ObjPtr, value: u8) {
        self.core.arena.set_byte(at.get(), value);
    }

    pub(crate) fn slot(&self, id: CacheId) -> &CacheEntry {
        self.core.caches.get(id)
    }

    pub(crate) fn cx(&self, cpu: u32, hooks: Hooks) -> Cx<'_> {
        let hooks = if self.core.checked() { hooks.and(Hooks::CHECKS) } else { hooks };
        let hooks = if self.core.setup.nodes > 1 { hooks.and(Hooks::NODES) } else { hooks };
        let hooks = if self.core.setup.counts() { hooks.and(Hooks::COUNTS) } else { hooks };
        let row = self.core.row(cpu).start;
        let tally_row = self.core.tally_row(cpu);
        let (node, counters) = (self.core.setup.node_of(cpu), &self.core.counters[cpu as usize]);
        Cx { core: &self.core, on: CpuContext { cpu, node, hooks, counters }, row, tally_row }
    }
}
