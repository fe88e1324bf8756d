//! Caches of values.

use core::fmt;

use alloc::string::String;
use alloc::sync::Arc;

use super::out_of_memory::OutOfMemory;
use super::raw::{Home, Object};
use super::{Pool, PoolCpu};
use crate::backend::{Backend, Slub};
use crate::cache::CacheArgs;
use crate::error::Error;
use crate::ids::CacheId;

/// A cache of `T`s. Cloning it is cheap and gives the same cache; it is destroyed with its last handle and object.
///
/// ```
/// use slablab_kmem::{Cache, Machine, Pool, Slub};
///
/// struct Request { id: u64, body: [u8; 100] }
///
/// let pool = Pool::new(Machine::<Slub>::builder().cpus(4).memory_bytes(64 << 20))?;
/// let requests = Cache::<Request>::new(&pool, "request")?;
/// let mut request = requests.alloc(Request { id: 1, body: [0; 100] }).expect("64 MiB suffice");
/// request.id += 1;
/// std::thread::spawn(move || assert_eq!(request.id, 2)).join().unwrap();
/// assert_eq!(pool.cache_stats(requests.id()).unwrap().objects_live, 0);
/// # Ok::<(), slablab_kmem::Error>(())
/// ```
pub struct Cache<T, B: Backend = Slub> {
    home: Arc<Home<T, B>>,
}

/// Returns the arguments of a cache for `T`s.
fn args<T>(name: impl Into<String>) -> Result<CacheArgs, Error> {
    let name = name.into();
    match u32::try_from(size_of::<T>()) {
        Ok(size) => Ok(CacheArgs::new(name, size)),
        Err(_) => {
            let what = "an object is larger than the largest block of pages (4 MiB)";
            Err(Error::Cache { name, what })
        }
    }
}

impl<T, B: Backend> Cache<T, B> {
    /// Creates a cache of its own for `T` (it does not merge).
    ///
    /// # Errors
    /// Fails as creating any cache does; returns [`Error::Cache`] if `T` has no size.
    pub fn new(pool: &Pool<B>, name: impl Into<String>) -> Result<Self, Error> {
        Ok(Self { home: Home::new(&pool.shared, args::<T>(name)?)? })
    }

    /// Returns the cache's id, for statistics.
    pub fn id(&self) -> CacheId {
        self.home.id
    }

    /// Moves a value into an object; waits while other threads hold every CPU.
    ///
    /// # Errors
    /// [`OutOfMemory`] gives the value back.
    pub fn alloc(&self, value: T) -> Result<Object<T, B>, OutOfMemory<T>> {
        let cpu = self.home.shared.wait_for_cpu();
        self.home.alloc_on(&cpu, value)
    }

    /// Moves a value into an object, on a CPU that this thread holds.
    ///
    /// # Errors
    /// [`OutOfMemory`] gives the value back.
    ///
    /// # Panics
    /// If the CPU is of another pool.
    pub fn alloc_on(&self, cpu: &PoolCpu<'_, B>, value: T) -> Result<Object<T, B>, OutOfMemory<T>> {
        self.home.alloc_on(cpu.ready(), value)
    }

    /// Drops an object on a CPU that this thread holds.
    ///
    /// # Panics
    /// If the CPU is of another pool.
    pub fn free_on(&self, cpu: &PoolCpu<'_, B>, object: Object<T, B>) {
        object.free_on(cpu.ready());
    }
}

impl<T, B: Backend> Clone for Cache<T, B> {
    fn clone(&self) -> Self {
        Self { home: Arc::clone(&self.home) }
    }
}

impl<T, B: Backend> fmt::Debug for Cache<T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("id", &self.id()).finish_non_exhaustive()
    }
}

/// A cache whose objects are constructed once and keep their contents from use to use, as a kmem_cache with
/// a constructor does.
///
/// ```
/// use slablab_kmem::{ConstructedCache, Machine, Pool, Slub};
///
/// let pool = Pool::new(Machine::<Slub>::builder().memory_bytes(16 << 20))?;
/// let tables = ConstructedCache::new(&pool, "table", [7u32; 64])?;
/// let mut table = tables.get().expect("16 MiB suffice");
/// table[3] = 8;
/// drop(table);
/// assert_eq!(tables.get().unwrap()[3], 8, "last in, first out, contents kept");
/// # Ok::<(), slablab_kmem::Error>(())
/// ```
///
/// One thread may find what another left in an object, so the contents have to be [`Send`]:
///
/// ```compile_fail,E0277
/// # use slablab_kmem::{ConstructedCache, Machine, Pool, Slub};
/// # use std::cell::Cell;
/// # let pool = Pool::new(Machine::<Slub>::builder()).unwrap();
/// static NUMBER: u32 = 0;
/// let cell: &'static Cell<u32> = Box::leak(Box::new(Cell::new(0)));
/// let cells = ConstructedCache::new(&pool, "cells", cell); // error: `&Cell<u32>` is not `Send`
/// ```
///
/// Contents left there must also live as long as the cache's type says:
///
/// ```compile_fail,E0597
/// # use slablab_kmem::{ConstructedCache, Machine, Object, Pool, Slub};
/// # let pool = Pool::new(Machine::<Slub>::builder()).unwrap();
/// let names = ConstructedCache::<&'static str>::new(&pool, "names", "none").unwrap();
/// {
///     let short = String::from("short");
///     let mut name: Object<&str> = names.get().unwrap(); // stays an `Object<&'static str>`
///     *name = &short; // error: `short` does not live long enough
/// }
/// println!("{}", *names.get().unwrap());
/// ```
pub struct ConstructedCache<T, B: Backend = Slub> {
    home: Arc<Home<T, B>>,
}

impl<T: Copy + Send, B: Backend> ConstructedCache<T, B> {
    /// Creates a cache whose objects start as copies of `initial`. `T` is `Copy`, for objects are forgotten,
    /// not dropped, when their slab goes.
    ///
    /// # Errors
    /// Fails as [`Cache::new`] does.
    pub fn new(pool: &Pool<B>, name: impl Into<String>, initial: T) -> Result<Self, Error> {
        Ok(Self { home: Home::constructed(&pool.shared, args::<T>(name)?, initial)? })
    }

    /// Returns the cache's id, for statistics.
    pub fn id(&self) -> CacheId {
        self.home.id
    }

    /// Takes an object as its last user left it, or as constructed; waits while other threads hold every CPU.
    /// `None` when memory is out.
    pub fn get(&self) -> Option<Object<T, B>> {
        self.home.get_on(&self.home.shared.wait_for_cpu())
    }

    /// Takes an object, as [`Self::get`] does, on a CPU that this thread holds.
    ///
    /// # Panics
    /// If the CPU is of another pool.
    pub fn get_on(&self, cpu: &PoolCpu<'_, B>) -> Option<Object<T, B>> {
        self.home.get_on(cpu.ready())
    }

    /// Drops an object on a CPU that this thread holds.
    ///
    /// # Panics
    /// If the CPU is of another pool.
    pub fn free_on(&self, cpu: &PoolCpu<'_, B>, object: Object<T, B>) {
        object.free_on(cpu.ready());
    }
}

impl<T, B: Backend> fmt::Debug for ConstructedCache<T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConstructedCache").field("id", &self.home.id).finish_non_exhaustive()
    }
}
