//! The machine as modules use it: addresses instead of offsets, and the checks of level 2.
//!
//! # How it works
//! Each CPU's handle stands behind a lock of its own, which the CPU's threads share; uncontended it
//! costs one atomic exchange. Below check level 2 an allocation is that lock and the machine. From
//! level 2 on, or under AddressSanitizer, it takes the way through `checked.rs`; where it is told, through `told.rs`.
//!
//! # Lock order
//! ledger -> parts -> CPU handles, by number -> the machine's own.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use slablab_kmem::{
    Backend, CacheArgs, CacheId, CheckLevel, Cpu, CpuId, Ctor, Gfp, Machine, MemorySource, ObjPtr,
    Order, PAGE_SIZE, Pfn, Readers, Site, SlabFlags, Tunables,
};

use super::handle::{CacheHandle, Constructor, Shape};
use super::quarantine::Quarantine;
use crate::context;
use crate::event::CacheSeen;
use crate::job::Job;
use crate::ledger::{Free, Ledger, Live, Source};
use crate::raw::asan::Asan;
use crate::raw::call;
use crate::raw::page::PageArray;
use crate::raw::shared;
use crate::runtime::{self, lock};

/// What the machine calls the number of objects of a sheaf.
const SHEAF_CAPACITY: &str = "sheaf_capacity";

/// What `kmalloc(0)` returns.
pub(crate) const ZERO_SIZE_PTR: u64 = 16;

/// The machine, for all threads.
#[derive(Debug)]
pub(crate) struct Engine<B: Backend> {
    pub(crate) machine: &'static Machine<B>,
    cpus: Vec<Mutex<Option<Cpu<'static, B>>>>,
    pub(crate) pages: PageArray,
    pub(crate) ledger: Option<Mutex<Ledger>>,
    /// Of parts of blocks that are in `ledger` (`Source::is_part`).
    pub(crate) parts: Option<Mutex<Ledger>>,
    pub(crate) asan: Option<Asan>,
    /// Whether each operation is checked (`checked.rs`).
    pub(crate) checked: bool,
    /// Whether each operation is told (`told.rs`).
    pub(super) told: bool,
    /// Whether it is one of the two.
    watched: bool,
    /// Caches that were told, in the order of their numbers.
    pub(super) caches_told: Mutex<Vec<(CacheId, CacheSeen)>>,
    pub(crate) caches: Mutex<Vec<u64>>,
    /// Caches that were to be destroyed and had objects.
    pub(crate) busy: Mutex<Vec<u64>>,
    /// What is freed and waits, so that it is not used again at once (AddressSanitizer).
    pub(super) quarantine: Mutex<Quarantine>,
    pub(crate) memory_bytes: u64,
    /// Pages that `alloc_pages` and vmalloc gave out.
    pub(crate) pages_out: AtomicU64,
}

/// Returns the bytes of the smallest block of kmalloc's that has room for so many.
pub(crate) fn class_bytes(size: u64) -> u64 {
    let classes = slablab_kmem::KmallocConfig::LINUX;
    let class = classes.iter().map(|&c| u64::from(c)).find(|&c| c >= size);
    // What is too large for any block stays as it is: the allocation then fails.
    class.unwrap_or_else(|| size.checked_next_power_of_two().unwrap_or(size))
}

/// Waits for a CPU that another thread uses; a constructor that allocates would wait for its own.
#[cold]
fn wait_for_cpu<T>(cpu: &Mutex<T>) -> MutexGuard<'_, T> {
    if context::constructing() {
        runtime::warn(
            "a constructor of a cache calls the allocator: it runs in the middle of an allocation, \
             and what it calls would wait for the end of that",
        );
        runtime::runtime().stop(b"BUG");
    }
    lock(cpu)
}

fn construct(object: NonNull<u8>, constructor: usize) {
    let constructor: &Constructor = shared::leaked(constructor as u64);
    if let Some(asan) = constructor.asan {
        asan.allow(object.as_ptr() as u64, constructor.bytes, constructor.bytes);
    }
    context::construct(|| call::constructor(object, constructor.function));
}

impl<B: Backend> Engine<B> {
    /// Boots the machine that a job asks for.
    pub(crate) fn boot(job: &Job) -> Result<Self, String> {
        let asan = if job.asan { Asan::find() } else { None };
        let check = match job.check {
            0 => CheckLevel::Off,
            // The machine's own red zones stand before an object, too. AddressSanitizer would see it write them.
            2.. if asan.is_none() => CheckLevel::Full,
            _ => CheckLevel::Cheap,
        };
        let machine = Machine::<B>::builder()
            .cpus(job.cpus)
            .memory_bytes(job.memory_bytes)
            .memory(MemorySource::Mapped)
            .check(check)
            .readers(Readers::Threads)
            .build()
            .map_err(|error| error.to_string())?;
        let machine: &'static Machine<B> = Box::leak(Box::new(machine));
        let cpus = (0..job.cpus)
            .map(|id| machine.cpu(CpuId(id)).map(|cpu| Mutex::new(Some(cpu))))
            .collect::<Result<_, _>>()
            .map_err(|error| error.to_string())?;
        let pages = PageArray::new(job.memory_bytes / PAGE_SIZE)
            .ok_or("no address space for the page array")?;
        Ok(Self {
            machine,
            cpus,
            pages,
            ledger: (job.check >= 2).then(Mutex::default),
            parts: (job.check >= 2).then(Mutex::default),
            checked: job.check >= 2 || asan.is_some(),
            told: job.explain,
            watched: job.check >= 2 || asan.is_some() || job.explain,
            caches_told: Mutex::default(),
            asan,
            caches: Mutex::default(),
            busy: Mutex::default(),
            quarantine: Mutex::default(),
            memory_bytes: job.memory_bytes,
            pages_out: AtomicU64::new(0),
        })
    }

    /// Runs `with` on the CPU of the calling thread.
    #[inline(always)]
    pub(crate) fn on_cpu<R>(&self, with: impl FnOnce(&Cpu<'static, B>) -> R) -> R {
        let mutex = &self.cpus[context::cpu() as usize];
        let cpu = match mutex.try_lock() {
            Ok(cpu) => cpu,
            Err(_) => wait_for_cpu(mutex),
        };
        with(cpu.as_ref().expect("a handle is away only while all CPUs are locked"))
    }

    /// Runs `with` on all CPUs at once, for what walks their lists.
    fn on_all_cpus<R>(&self, with: impl FnOnce(&slablab_kmem::CpuSet<'static, B>) -> R) -> R {
        let mut cpus: Vec<_> = self.cpus.iter().map(lock).collect();
        cpus.iter_mut().for_each(|cpu| **cpu = None);
        let set = self.machine.cpus().expect("the handles were all given back");
        let result = with(&set);
        drop(set); // gives the CPUs back
        for (id, cpu) in cpus.iter_mut().enumerate() {
            **cpu = self.machine.cpu(CpuId(id as u32)).ok();
        }
        result
    }

    /// Returns an object's address, 0 for none.
    #[inline(always)]
    pub(crate) fn address(&self, object: Option<ObjPtr>) -> u64 {
        match object {
            Some(object) if object == ObjPtr::ZERO_SIZE => ZERO_SIZE_PTR,
            Some(object) => self.machine.address(object).as_ptr() as u64,
            None => 0,
        }
    }

    /// Returns the object at an address of the machine's memory.
    #[inline(always)]
    pub(crate) fn object(&self, address: u64) -> Option<ObjPtr> {
        self.machine.object(address as *const u8)
    }

    /// Returns where the machine's memory begins (`PAGE_OFFSET`).
    pub(crate) fn page_offset(&self) -> u64 {
        let first = ObjPtr::new(PAGE_SIZE).expect("not 0");
        self.address(Some(first)) - PAGE_SIZE
    }

    #[inline(always)]
    pub(crate) fn kmalloc(&self, bytes: u64, gfp: Gfp, site: u64) -> u64 {
        if self.watched {
            return self.kmalloc_watched(bytes, gfp, site);
        }
        let object = self.kmalloc_object(bytes, gfp, site);
        self.address(object)
    }

    #[inline(always)]
    pub(crate) fn kfree(&self, address: u64, site: u64) {
        if address <= ZERO_SIZE_PTR {
            return;
        }
        if self.watched {
            return self.kfree_watched(address, site);
        }
        self.kfree_plain(address, site);
    }

    #[inline(always)]
    pub(super) fn kfree_plain(&self, address: u64, site: u64) {
        match self.object(address) {
            Some(object) => self.on_cpu(|cpu| cpu.kfree(object, Site(site as u32))),
            None => runtime::report_foreign("kfree", address, site),
        }
    }

    /// Returns the bytes that may be used of a block, to a module that may then use them.
    pub(crate) fn ksize(&self, address: u64) -> u64 {
        if self.checked && address > ZERO_SIZE_PTR {
            return self.ksize_checked(address);
        }
        self.usable(address)
    }

    /// Returns the bytes that may be used of a block.
    pub(crate) fn usable(&self, address: u64) -> u64 {
        match &self.ledger {
            _ if address <= ZERO_SIZE_PTR => 0,
            Some(ledger) => self.usable_checked(ledger, address),
            None => self.machine_ksize(address),
        }
    }

    /// Returns what the machine says of a block.
    pub(super) fn machine_ksize(&self, address: u64) -> u64 {
        self.object(address).map_or(0, |object| self.on_cpu(|cpu| cpu.ksize(object)))
    }

    #[inline(always)]
    pub(crate) fn cache_alloc(&self, cache: &CacheHandle, gfp: Gfp, site: u64) -> u64 {
        if self.watched {
            return self.cache_alloc_watched(cache, gfp, site);
        }
        let object = self.cache_object(cache, gfp, site);
        self.address(object)
    }

    #[inline(always)]
    pub(super) fn kmalloc_object(&self, bytes: u64, gfp: Gfp, site: u64) -> Option<ObjPtr> {
        // What is larger than any block is refused at once.
        let reclaimed = if bytes <= Order::MAX.bytes() { bytes } else { 0 };
        self.reclaiming(gfp, reclaimed, |cpu| cpu.kmalloc(bytes, gfp, Site(site as u32)))
    }

    #[inline(always)]
    pub(super) fn cache_object(&self, cache: &CacheHandle, gfp: Gfp, site: u64) -> Option<ObjPtr> {
        let bytes = u64::from(cache.object_bytes);
        self.reclaiming(gfp, bytes, |cpu| cpu.alloc(cache.id, gfp, Site(site as u32)))
    }

    /// Allocates what `kfree` frees from a cache that is not of kmalloc's own.
    pub(crate) fn bucket_alloc(&self, cache: &CacheHandle, size: u64, gfp: Gfp, site: u64) -> u64 {
        if self.watched {
            return self.bucket_alloc_watched(cache, size, gfp, site);
        }
        self.cache_alloc(cache, gfp, site)
    }

    #[inline(always)]
    pub(crate) fn cache_free(&self, cache: &CacheHandle, address: u64, site: u64) {
        if self.watched {
            return self.cache_free_watched(cache, address, site);
        }
        self.cache_free_plain(cache, address, site);
    }

    #[inline(always)]
    pub(super) fn cache_free_plain(&self, cache: &CacheHandle, address: u64, site: u64) {
        match self.object(address) {
            Some(object) => self.on_cpu(|cpu| cpu.free(cache.id, object, Site(site as u32))),
            None => runtime::report_foreign("kmem_cache_free", address, site),
        }
    }

    pub(crate) fn cache_create(
        &self,
        name: std::ffi::CString,
        bytes: u32,
        align: u32,
        flags: SlabFlags,
        ctor: u64,
        shape: Shape,
    ) -> Result<CacheHandle, String> {
        // Only a machine with sheaves knows the number, and only as something to tune.
        let known = B::KIND.tunables().iter().any(|tunable| tunable.name == SHEAF_CAPACITY);
        let tunables = Tunables::default();
        let constructor =
            || Constructor { function: ctor as usize, bytes: u64::from(bytes), asan: self.asan };
        let args = CacheArgs {
            ctor: (ctor != 0)
                .then(|| Ctor { func: construct, context: shared::leak(constructor()) as usize }),
            usersize: shape.usersize,
            freeptr_offset: shape.freeptr_offset,
            tunables: match shape.sheaf_capacity {
                capacity if capacity > 0 && known => tunables.with(SHEAF_CAPACITY, capacity),
                _ => tunables,
            },
            ..CacheArgs::new(name.to_string_lossy(), bytes).align(align).flags(flags)
        };
        // AddressSanitizer forbids the padding, as KASAN does.
        let usable_bytes = if self.asan.is_some() { bytes } else { self.machine.usable_of(&args) };
        let object_size = match self.guard_bytes() as u32 {
            0 => bytes,
            guard => usable_bytes.saturating_add(guard),
        };
        let args = CacheArgs { object_size, ..args };
        let id = self.machine.cache_create(&args).map_err(|error| error.to_string())?;
        Ok(CacheHandle {
            id,
            name,
            object_bytes: bytes,
            usable_bytes,
            keeps_contents: ctor != 0 || flags.has(SlabFlags::TYPESAFE_BY_RCU),
            is_read_when_free: flags.has(SlabFlags::TYPESAFE_BY_RCU),
            site: runtime::offset(shape.site),
        })
    }

    /// Destroys a cache; returns how many objects are live if it cannot be.
    pub(crate) fn cache_destroy(&self, cache: &CacheHandle, site: u64) -> Result<(), String> {
        self.end_quarantine();
        if self.checked {
            self.machine.check_free_objects();
        }
        self.on_all_cpus(|cpus| cpus.cache_destroy(cache.id, Site(site as u32)))
            .map_err(|error| error.to_string())
    }

    pub(crate) fn cache_shrink(&self, cache: &CacheHandle) {
        self.end_quarantine();
        self.on_all_cpus(|cpus| cpus.shrink(cache.id));
    }

    /// Allocates pages; returns the first one's number.
    pub(crate) fn alloc_pages(&self, gfp: Gfp, order: u32, site: u64) -> Option<u32> {
        let pfn = self.take_pages(gfp, order)?;
        if self.checked {
            self.pages_entered(pfn, order, gfp, site);
        }
        self.tell_pages(pfn, order, site);
        Some(pfn)
    }

    /// As [`Self::alloc_pages`], without an entry of who has them.
    pub(crate) fn take_pages(&self, gfp: Gfp, order: u32) -> Option<u32> {
        let order_of = u8::try_from(order).ok().filter(|&o| Order(o) <= Order::MAX)?;
        let bytes = PAGE_SIZE << order;
        let pfn = self.reclaiming(gfp, bytes, |cpu| cpu.alloc_pages(Order(order_of), gfp))?;
        self.pages.take(pfn.0, order);
        if order > 0 && gfp.has(Gfp::COMP) {
            self.pages.compound(pfn.0, order);
        }
        self.pages_out.fetch_add(1 << order, Ordering::Relaxed);
        if let Some(asan) = self.asan {
            asan.allow(self.page_address(pfn.0), bytes, bytes);
        }
        Some(pfn.0)
    }

    /// Enters who has pages that [`Self::take_pages`] gave, with what is in them.
    pub(crate) fn enter_pages(&self, pfn: u32, order: u32, site: u64) {
        if self.checked {
            self.pages_entered(pfn, order, Gfp::ZERO, site);
        }
    }

    /// Frees what [`Self::take_pages`] gave.
    pub(crate) fn give_pages(&self, pfn: u32, order: u32) {
        self.pages.clear(pfn);
        self.pages.separate(pfn);
        self.pages_out.fetch_sub(1 << order, Ordering::Relaxed);
        self.on_cpu(|cpu| cpu.free_pages(Pfn(pfn), Order(order as u8), Site(0)));
    }

    /// Gives a reference to pages up; the last one frees them.
    pub(crate) fn free_pages(&self, pfn: u32, order: u32, site: u64) {
        let references = self.pages.put(pfn);
        if references > 1 || (self.checked && !self.pages_may_go(pfn, order, site)) {
            return;
        }
        self.tell_gave(self.page_address(pfn), site);
        self.pages.clear(pfn);
        self.pages.separate(pfn);
        if references < 1 {
            // Nobody holds them: only the machine, which says so, hears of it.
            return self.on_cpu(|cpu| cpu.free_pages(Pfn(pfn), Order(0), Site(site as u32)));
        }
        let order = Order(self.pages.order(pfn).min(u32::from(Order::MAX.0)) as u8);
        self.pages_out.fetch_sub(u64::from(order.pages()), Ordering::Relaxed);
        self.on_cpu(|cpu| cpu.free_pages(Pfn(pfn), order, Site(site as u32)));
    }

    /// Makes a block of pages blocks of one page each.
    pub(crate) fn split_page(&self, pfn: u32, order: u32, site: u64) {
        let Some(order_of) = u8::try_from(order).ok().filter(|&o| Order(o) <= Order::MAX) else {
            return;
        };
        if let Some(ledger) = &self.ledger {
            let mut ledger = lock(ledger);
            let (address, source) = (self.page_address(pfn), Source::Pages(order));
            match ledger.free(address, &source, runtime::offset(site)) {
                Free::Go(live) => {
                    for page in 0..1 << order {
                        let one = Live { bytes: PAGE_SIZE, source: Source::Pages(0), ..live };
                        ledger.enter(address + page * PAGE_SIZE, one);
                    }
                }
                Free::Wrong(live, event) => {
                    ledger.enter(address, live);
                    return runtime::emit(&event);
                }
                Free::Refused(event) => return runtime::emit(&event),
            }
        }
        self.tell_split(self.page_address(pfn));
        self.on_cpu(|cpu| cpu.split_pages(Pfn(pfn), Order(order_of), Site(site as u32)));
        (pfn..pfn + (1 << order)).for_each(|page| self.pages.take(page, 0));
    }

    /// Returns the bytes that nobody has.
    pub(crate) fn free_bytes(&self) -> u64 {
        let pages = self.pages_out.load(Ordering::Relaxed) * PAGE_SIZE;
        self.memory_bytes.saturating_sub(self.machine.gauges().held_bytes() + pages)
    }

    /// Returns the bytes that the module holds.
    pub(crate) fn live_bytes(&self) -> u64 {
        let pages = self.pages_out.load(Ordering::Relaxed) * PAGE_SIZE;
        self.machine.gauges().live_bytes + pages
    }

    /// Returns the address of a page.
    pub(crate) fn page_address(&self, pfn: u32) -> u64 {
        self.page_offset() + u64::from(pfn) * PAGE_SIZE
    }

    /// Returns the page that an address lies in.
    pub(crate) fn page_of(&self, address: u64) -> Option<u32> {
        let offset = address.checked_sub(self.page_offset())?;
        (offset < self.memory_bytes).then_some((offset / PAGE_SIZE) as u32)
    }
}
