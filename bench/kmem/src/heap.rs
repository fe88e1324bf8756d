//! The allocators under one face.

use slablab_kmem::{Backend, CacheId, Cpu, CpuId, Gfp, Machine, ObjPtr, Site};

/// An allocator. A `Local` is what a thread holds; `size` is the same for all objects of a run.
pub trait Heap {
    /// Its name in the results.
    const NAME: &'static str;
    /// What all threads share.
    type Shared: Sync;
    /// What each thread holds.
    type Local<'a>;
    /// Sets up for objects of `size` bytes.
    fn shared(size: usize) -> Self::Shared;
    /// Takes the place of thread number `thread`.
    fn local(shared: &Self::Shared, thread: u32) -> Self::Local<'_>;
    /// Allocates.
    fn alloc(local: &Self::Local<'_>, size: usize) -> u64;
    /// Frees.
    fn free(local: &Self::Local<'_>, object: u64);
    /// Returns the address of an object.
    fn address(local: &Self::Local<'_>, object: u64) -> *mut u64;
}

macro_rules! c_heap {
    ($name:ident, $label:literal, $malloc:path, $free:path) => {
        /// A C allocator.
        pub struct $name;

        impl Heap for $name {
            const NAME: &'static str = $label;
            type Shared = ();
            type Local<'a> = ();
            fn shared(_: usize) {}
            fn local(_: &(), _: u32) {}

            #[inline(always)]
            fn alloc(_: &(), size: usize) -> u64 {
                // `size` hides from the optimiser, so that no allocator is called with a constant.
                std::hint::black_box(unsafe { $malloc(std::hint::black_box(size)) }) as u64
            }

            #[inline(always)]
            fn free(_: &(), object: u64) {
                unsafe { $free(object as *mut _) }
            }

            #[inline(always)]
            fn address(_: &(), object: u64) -> *mut u64 {
                object as *mut u64
            }
        }
    };
}
c_heap!(Glibc, "glibc", libc::malloc, libc::free);
c_heap!(Mimalloc, "mimalloc", libmimalloc_sys::mi_malloc, libmimalloc_sys::mi_free);
c_heap!(Jemalloc, "jemalloc", tikv_jemalloc_sys::malloc, tikv_jemalloc_sys::free);

/// One of ours: kmalloc and kfree.
pub struct Ours<B>(std::marker::PhantomData<B>);

impl<B: Backend> Heap for Ours<B> {
    const NAME: &'static str = name(B::KIND);
    type Shared = Machine<B>;
    type Local<'a> = Cpu<'a, B>;

    fn shared(_: usize) -> Self::Shared {
        Machine::builder().cpus(8).memory_bytes(1 << 30).build().unwrap()
    }

    fn local(shared: &Self::Shared, thread: u32) -> Cpu<'_, B> {
        shared.cpu(CpuId(thread)).unwrap()
    }

    #[inline(always)]
    fn alloc(local: &Cpu<'_, B>, size: usize) -> u64 {
        let size = std::hint::black_box(size) as u64;
        local.kmalloc(size, Gfp::KERNEL, Site(1)).expect("enough memory").get()
    }

    #[inline(always)]
    fn free(local: &Cpu<'_, B>, object: u64) {
        local.kfree(ObjPtr::new(object).unwrap(), Site(2));
    }

    #[inline(always)]
    fn address(local: &Cpu<'_, B>, object: u64) -> *mut u64 {
        local.machine().address(ObjPtr::new(object).unwrap()).as_ptr().cast()
    }
}

/// One of ours through a cache of its own: kmem_cache_alloc and kmem_cache_free.
pub struct OursCache<B>(std::marker::PhantomData<B>);

impl<B: Backend> Heap for OursCache<B> {
    const NAME: &'static str = cache_name(B::KIND);
    type Shared = (Machine<B>, CacheId);
    type Local<'a> = (Cpu<'a, B>, CacheId);

    fn shared(size: usize) -> Self::Shared {
        let machine = Machine::builder().cpus(8).memory_bytes(1 << 30).build().unwrap();
        let args = slablab_kmem::CacheArgs::new("bench", size as u32);
        let cache = machine.cache_create(&args).unwrap();
        (machine, cache)
    }

    fn local(shared: &Self::Shared, thread: u32) -> (Cpu<'_, B>, CacheId) {
        (shared.0.cpu(CpuId(thread)).unwrap(), shared.1)
    }

    #[inline(always)]
    fn alloc(local: &(Cpu<'_, B>, CacheId), _size: usize) -> u64 {
        local.0.alloc(std::hint::black_box(local.1), Gfp::KERNEL, Site(1)).expect("memory").get()
    }

    #[inline(always)]
    fn free(local: &(Cpu<'_, B>, CacheId), object: u64) {
        local.0.free(local.1, ObjPtr::new(object).unwrap(), Site(2));
    }

    #[inline(always)]
    fn address(local: &(Cpu<'_, B>, CacheId), object: u64) -> *mut u64 {
        local.0.machine().address(ObjPtr::new(object).unwrap()).as_ptr().cast()
    }
}

const fn cache_name(kind: slablab_kmem::BackendKind) -> &'static str {
    use slablab_kmem::BackendKind::{Dense, Slab, Slmb, Slob, Slub, SlubSheaves};
    match kind {
        Slab => "slab-cache",
        Slub => "slub-cache",
        Slob => "slob-cache",
        Slmb => "slmb-cache",
        SlubSheaves => "slub-sheaves-cache",
        Dense => "dense-cache",
        _ => panic!("not measured through a cache"),
    }
}

const fn name(kind: slablab_kmem::BackendKind) -> &'static str {
    kind.name()
}
