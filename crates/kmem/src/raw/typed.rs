//! Objects as Rust values: caches of `T` on a machine of their own.
//!
//! # How it works
//! A [`Pool`] owns a machine and keeps it from the raw interface, which could free what a value
//! lives in. [`Cache`] is a kmem_cache whose objects are `T`s; [`Object`] owns one and gives it
//! back when it is dropped, on whatever thread. Every operation borrows a CPU for its duration; a
//! thread with a hot loop takes one for itself ([`Pool::cpu`]) and uses [`Cache::alloc_on`].
//!
//! # Invariants
//! The memory of an `Object<T>` holds a valid `T`, is aligned for it, and is nobody else's.

use core::fmt;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

use alloc::string::String;
use alloc::sync::Arc;

use crate::backend::{Backend, Slub};
use crate::cache::{CacheArgs, Ctor, SlabFlags};
use crate::error::Error;
use crate::gfp::Gfp;
use crate::ids::{CacheId, CpuId, Site};
use crate::machine::Machine;
#[cfg(feature = "std")]
use crate::machine::builder::MachineBuilder;
use crate::machine::cpu::Cpu;
use crate::machine::stats::{CacheStats, Gauges};

/// A machine for values. Cloning it is cheap and gives the same pool.
#[derive(Debug)]
pub struct Pool<B: Backend = Slub> {
    machine: Arc<Machine<B>>,
}

impl<B: Backend> Clone for Pool<B> {
    fn clone(&self) -> Self {
        Self { machine: Arc::clone(&self.machine) }
    }
}

impl<B: Backend> Pool<B> {
    /// Boots a machine for values.
    ///
    /// # Errors
    /// Those of [`MachineBuilder::build`].
    #[cfg(feature = "std")]
    pub fn new(builder: MachineBuilder<B>) -> Result<Self, Error> {
        Ok(Self { machine: Arc::new(builder.build()?) })
    }

    /// Takes a CPU into the caller's hands, for hot loops; dropping it gives it back. A thread that
    /// holds every CPU must not drop objects: it would wait for itself.
    ///
    /// # Errors
    /// [`Error::CpuBusy`] if somebody else holds it or it does not exist.
    pub fn cpu(&self, id: CpuId) -> Result<PoolCpu<'_, B>, Error> {
        self.machine.cpu(id).map(PoolCpu)
    }

    /// Returns what there is to know of a cache.
    pub fn cache_stats(&self, id: CacheId) -> Option<CacheStats> {
        self.machine.cache_stats(id)
    }

    /// Returns the machine-wide amounts.
    pub fn gauges(&self) -> Gauges {
        self.machine.gauges()
    }

    /// Returns the text of `/proc/slabinfo`.
    pub fn slabinfo(&self) -> String {
        self.machine.slabinfo()
    }

    /// Shrinks every cache and gives free memory back to the operating system; returns the bytes.
    /// Does nothing if every CPU is in somebody's hands.
    pub fn reclaim(&self) -> u64 {
        self.machine.with_cpu(|cpu| cpu.reclaim()).unwrap_or(0)
    }
}

/// A CPU of a pool, in one thread's hands.
#[derive(Debug)]
pub struct PoolCpu<'m, B: Backend = Slub>(Cpu<'m, B>);

/// A cache of `T`s. Cloning it is cheap and gives the same cache.
///
/// ```
/// use slablab_kmem::{Cache, Machine, Pool, Slub};
///
/// struct Request { id: u64, body: [u8; 100] }
///
/// let pool = Pool::new(Machine::<Slub>::builder().cpus(4).memory_bytes(64 << 20))?;
/// let requests = Cache::<Request>::new(&pool, "request")?;
/// let mut request = requests.alloc(Request { id: 1, body: [0; 100] }).expect("enough memory");
/// request.id += 1;
/// std::thread::spawn(move || assert_eq!(request.id, 2)).join().unwrap();
/// assert_eq!(pool.cache_stats(requests.id()).unwrap().objects_live, 0);
/// # Ok::<(), slablab_kmem::Error>(())
/// ```
pub struct Cache<T, B: Backend = Slub> {
    inner: Arc<Inner<B>>,
    values: core::marker::PhantomData<fn(T) -> T>,
}

struct Inner<B: Backend> {
    machine: Arc<Machine<B>>,
    id: CacheId,
}

impl<T, B: Backend> Cache<T, B> {
    /// Creates a cache of its own for `T` (it does not merge).
    ///
    /// # Errors
    /// Those of creating any cache, and [`Error::Cache`] if `T` has no size.
    pub fn new(pool: &Pool<B>, name: impl Into<String>) -> Result<Self, Error> {
        Self::create(pool, CacheArgs::new(name, size_of::<T>() as u32))
    }

    fn create(pool: &Pool<B>, args: CacheArgs) -> Result<Self, Error> {
        let args = args.align(align_of::<T>() as u32).flags(SlabFlags::NO_MERGE);
        let machine = Arc::clone(&pool.machine);
        let id = machine.cache_create(&args)?;
        let inner = Arc::new(Inner { machine, id });
        Ok(Self { inner, values: core::marker::PhantomData })
    }

    /// Returns the cache's id, for statistics.
    pub fn id(&self) -> CacheId {
        self.inner.id
    }

    /// Puts a value into an object; `None` (and the value dropped) when memory is out or every CPU
    /// is in another thread's hands.
    pub fn alloc(&self, value: T) -> Option<Object<T, B>> {
        self.inner.machine.with_cpu(|cpu| self.put(cpu, value))?
    }

    /// Puts a value into an object on a CPU that the caller holds.
    ///
    /// # Panics
    /// If the CPU is of another machine.
    pub fn alloc_on(&self, cpu: &PoolCpu<'_, B>, value: T) -> Option<Object<T, B>> {
        self.put(&cpu.0, value)
    }

    fn put(&self, cpu: &Cpu<'_, B>, value: T) -> Option<Object<T, B>> {
        let place = self.place(cpu)?;
        // SAFETY: fresh memory for one `T`, aligned, nobody else's.
        unsafe { place.write(value) };
        Some(Object { place, inner: Arc::clone(&self.inner) })
    }

    fn place(&self, cpu: &Cpu<'_, B>) -> Option<NonNull<T>> {
        let machine: &Machine<B> = &self.inner.machine;
        assert!(core::ptr::eq(cpu.machine(), machine), "a CPU of another machine");
        let obj = cpu.alloc(self.inner.id, Gfp::KERNEL, Site(0))?;
        Some(machine.address(obj).cast())
    }
}

impl<T, B: Backend> Clone for Cache<T, B> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), values: core::marker::PhantomData }
    }
}

impl<T, B: Backend> fmt::Debug for Cache<T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("id", &self.inner.id).finish_non_exhaustive()
    }
}

/// A cache whose objects are constructed once and keep their contents from use to use, as
/// constructors of a kmem_cache mean it.
///
/// ```
/// use slablab_kmem::{ConstructedCache, Machine, Pool, Slub};
///
/// let pool = Pool::new(Machine::<Slub>::builder().memory_bytes(16 << 20))?;
/// let tables = ConstructedCache::<[u32; 64]>::new(&pool, "table", || [7; 64])?;
/// let mut table = tables.get().expect("enough memory");
/// table[3] = 8;
/// drop(table);
/// assert_eq!(tables.get().unwrap()[3], 8, "last in, first out, contents kept");
/// # Ok::<(), slablab_kmem::Error>(())
/// ```
pub struct ConstructedCache<T, B: Backend = Slub> {
    cache: Cache<T, B>,
}

impl<T: Copy, B: Backend> ConstructedCache<T, B> {
    /// Creates a cache whose objects start as what `make` returns. `T` is `Copy`, for objects are
    /// forgotten, not dropped, when their slab goes.
    ///
    /// # Errors
    /// As [`Cache::new`].
    pub fn new(pool: &Pool<B>, name: impl Into<String>, make: fn() -> T) -> Result<Self, Error> {
        let ctor = Ctor { func: construct::<T>, context: make as usize };
        let args = CacheArgs::new(name, size_of::<T>() as u32).ctor(ctor);
        Ok(Self { cache: Cache::create(pool, args)? })
    }

    /// Returns the cache's id, for statistics.
    pub fn id(&self) -> CacheId {
        self.cache.id()
    }

    /// Takes an object as its last user left it, or as constructed.
    pub fn get(&self) -> Option<Object<T, B>> {
        let inner = &self.cache.inner;
        let place = inner.machine.with_cpu(|cpu| self.cache.place(cpu))??;
        Some(Object { place, inner: Arc::clone(inner) })
    }
}

impl<T, B: Backend> fmt::Debug for ConstructedCache<T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cache.fmt(f)
    }
}

fn construct<T>(place: NonNull<u8>, make: usize) {
    // SAFETY: `ConstructedCache::new` passes a `fn() -> T` of this `T` as the context.
    let make = unsafe { core::mem::transmute::<usize, fn() -> T>(make) };
    // SAFETY: the place is an object of a cache for `T`: large enough, aligned, and free.
    unsafe { place.cast::<T>().write(make()) };
}

/// A `T` in an object of a cache; dropping it drops the value and frees the object.
pub struct Object<T, B: Backend = Slub> {
    place: NonNull<T>,
    inner: Arc<Inner<B>>,
}

// SAFETY: owns its `T` as a `Box<T>` does; the machine is shared and `Sync`.
unsafe impl<T: Send, B: Backend> Send for Object<T, B> {}
// SAFETY: shares its `T` as a `Box<T>` does.
unsafe impl<T: Sync, B: Backend> Sync for Object<T, B> {}

impl<T, B: Backend> Deref for Object<T, B> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the place holds a valid `T` that we own.
        unsafe { self.place.as_ref() }
    }
}

impl<T, B: Backend> DerefMut for Object<T, B> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the place holds a valid `T` that we own, borrowed exclusively.
        unsafe { self.place.as_mut() }
    }
}

impl<T: fmt::Debug, B: Backend> fmt::Debug for Object<T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T, B: Backend> Drop for Object<T, B> {
    fn drop(&mut self) {
        // SAFETY: the place holds a valid `T` that nobody uses after this.
        unsafe { self.place.drop_in_place() };
        let inner = &self.inner;
        let address = self.place.as_ptr().cast::<u8>();
        inner.machine.wait_for_cpu(|cpu| cpu.free_address(inner.id, address, Site(0)));
    }
}
