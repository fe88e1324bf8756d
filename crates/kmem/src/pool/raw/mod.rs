//! The pool's unsafe room: memory of a cache becomes a value, and a value memory again.
//!
//! # How it works
//! A [`Home`] is a kmem_cache made for `T`, so its objects are large enough and aligned; only this room turns
//! one into an [`Object`], after a value was moved into it or because the cache's constructor put one there.
//!
//! # Invariants
//! - The memory of an `Object<T>` holds a valid `T`, is aligned for it, and belongs to that
//!   object alone.
//! - Every object of a home with an initial value holds a valid `T`, in use or free.

use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

use alloc::boxed::Box;
use alloc::sync::Arc;

use super::out_of_memory::OutOfMemory;
use super::shared::Shared;
use crate::Gfp;
use crate::backend::{Backend, Slub};
use crate::cache::{CacheArgs, Ctor, SlabFlags};
use crate::error::Error;
use crate::front::cpu::Cpu;
use crate::ids::{CacheId, ObjPtr, Site};

/// A kmem_cache for `T`s, destroyed with its last handle and object.
#[derive(Debug)]
pub(super) struct Home<T, B: Backend> {
    pub(super) shared: Arc<Shared<B>>,
    pub(super) id: CacheId,
    /// What the constructor copies, in a constructed cache.
    initial: Option<Initial<T>>,
    /// Objects go in and come out: neither a shorter nor a longer-lived `T` will do.
    values: PhantomData<fn(T) -> T>,
}

/// A boxed value that is only copied from.
#[derive(Debug)]
struct Initial<T>(NonNull<T>);

// SAFETY: `Home::get_on` alone copies it, on any thread, and asks for `T: Send`; only the last owner drops it.
unsafe impl<T> Send for Initial<T> {}
// SAFETY: as above; it is never changed.
unsafe impl<T> Sync for Initial<T> {}

impl<T> Drop for Initial<T> {
    fn drop(&mut self) {
        // SAFETY: boxed in `Home::constructed`; the cache whose constructor reads it was not allocated from
        // since its last handle went, and is destroyed or about to be.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

impl<T, B: Backend> Home<T, B> {
    /// Creates a cache; `args` give only a name, a size and a constructor.
    ///
    /// # Errors
    /// Fails as creating any cache does.
    pub(super) fn new(shared: &Arc<Shared<B>>, args: CacheArgs) -> Result<Arc<Self>, Error> {
        Self::create(shared, args, None)
    }

    /// Creates a cache whose objects are copies of `initial` before their first use.
    ///
    /// # Errors
    /// Fails as creating any cache does.
    pub(super) fn constructed(
        shared: &Arc<Shared<B>>,
        args: CacheArgs,
        initial: T,
    ) -> Result<Arc<Self>, Error>
    where
        T: Copy + Send,
    {
        let initial = Initial(NonNull::from(Box::leak(Box::new(initial))));
        let context = initial.0.as_ptr().expose_provenance();
        Self::create(shared, args.ctor(Ctor { func: copy_initial::<T>, context }), Some(initial))
    }

    fn create(
        shared: &Arc<Shared<B>>,
        args: CacheArgs,
        initial: Option<Initial<T>>,
    ) -> Result<Arc<Self>, Error> {
        assert!(args.object_size as usize == size_of::<T>(), "a cache for another type");
        let args = args.align(align_of::<T>() as u32).flags(SlabFlags::NO_MERGE);
        shared.settle_caches();
        let id = shared.machine.cache_create(&args)?;
        let shared = Arc::clone(shared);
        Ok(Arc::new(Self { shared, id, initial, values: PhantomData }))
    }

    /// Moves a value into an object.
    ///
    /// # Errors
    /// [`OutOfMemory`] gives the value back.
    pub(super) fn alloc_on(
        self: &Arc<Self>,
        cpu: &Cpu<'_, B>,
        value: T,
    ) -> Result<Object<T, B>, OutOfMemory<T>> {
        let Some(place) = self.take_on(cpu) else { return Err(OutOfMemory(value)) };
        // SAFETY: the memory is for one `T`, is aligned, and belongs to this object alone.
        unsafe { place.write(value) };
        Ok(Object { place, home: Arc::clone(self) })
    }

    /// Takes an object with the value that is in it; `None` when memory is out.
    ///
    /// # Panics
    /// If the cache has no initial value.
    pub(super) fn get_on(self: &Arc<Self>, cpu: &Cpu<'_, B>) -> Option<Object<T, B>>
    where
        T: Copy + Send,
    {
        assert!(self.initial.is_some(), "a cache without a constructor");
        Some(Object { place: self.take_on(cpu)?, home: Arc::clone(self) })
    }

    /// Takes an object; when memory is out, looks for memory that is free but kept somewhere.
    fn take_on(&self, cpu: &Cpu<'_, B>) -> Option<NonNull<T>> {
        let machine = &self.shared.machine;
        assert!(core::ptr::eq(cpu.machine(), machine), "a CPU of another pool");
        let take = || cpu.alloc(self.id, Gfp::KERNEL, Site(0));
        let obj = take().or_else(|| {
            self.shared.reclaim(cpu);
            take()
        })?;
        let place = machine.address(obj).cast::<T>();
        debug_assert!(place.is_aligned());
        Some(place)
    }

    fn object(&self, place: NonNull<T>) -> ObjPtr {
        let address = place.as_ptr().cast_const().cast();
        self.shared.machine.object(address).expect("an object's address")
    }
}

impl<T, B: Backend> Drop for Home<T, B> {
    fn drop(&mut self) {
        self.shared.destroy(self.id);
    }
}

/// The constructor of a constructed cache.
fn copy_initial<T: Copy>(place: NonNull<u8>, initial: usize) {
    let initial = core::ptr::with_exposed_provenance::<T>(initial);
    // SAFETY: `Home::constructed` passes the address of a `T` that lives as long as the home; the home's
    // machine runs this only while the home allocates.
    let initial = unsafe { initial.read() };
    // SAFETY: the place is an object of a cache for `T`: large enough, aligned, and free.
    unsafe { place.cast::<T>().write(initial) };
}

/// A `T` in an object of a cache; dropping it drops the value and frees the object.
pub struct Object<T, B: Backend = Slub> {
    place: NonNull<T>,
    home: Arc<Home<T, B>>,
}

// SAFETY: owns its `T` as a `Box<T>` does; the machine is shared and `Sync`.
unsafe impl<T: Send, B: Backend> Send for Object<T, B> {}
// SAFETY: shares its `T` as a `Box<T>` does.
unsafe impl<T: Sync, B: Backend> Sync for Object<T, B> {}

impl<T, B: Backend> Object<T, B> {
    /// Moves the value out and frees the object.
    ///
    /// This is an associated function, as that of [`Box`], so that it hides no method of `T`.
    pub fn into_inner(object: Self) -> T {
        let (place, home) = object.into_parts();
        // SAFETY: the place holds a valid `T`, which is not used after this.
        let value = unsafe { place.read() };
        home.shared.free(home.id, home.object(place));
        value
    }

    /// Drops the value and frees the object on a CPU of the pool.
    pub(super) fn free_on(self, cpu: &Cpu<'_, B>) {
        let (place, home) = self.into_parts();
        assert!(core::ptr::eq(cpu.machine(), &home.shared.machine), "a CPU of another pool");
        let _freeing = Freeing { place, home: &home, cpu: Some(cpu) };
        // SAFETY: the place holds a valid `T`, which is not used after this.
        unsafe { place.drop_in_place() };
    }

    fn into_parts(self) -> (NonNull<T>, Arc<Home<T, B>>) {
        let object = ManuallyDrop::new(self);
        // SAFETY: the object is not used after this, nor dropped.
        (object.place, unsafe { core::ptr::read(&object.home) })
    }
}

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
        let _freeing = Freeing { place: self.place, home: &self.home, cpu: None };
        // SAFETY: the place holds a valid `T` that is not used after this.
        unsafe { self.place.drop_in_place() };
    }
}

/// Frees an object when the value in it is gone, even if dropping that panics, as a box does.
struct Freeing<'a, 'p, T, B: Backend> {
    place: NonNull<T>,
    home: &'a Home<T, B>,
    /// The CPU that it is freed on, where the caller has one
    cpu: Option<&'a Cpu<'p, B>>,
}

impl<T, B: Backend> Drop for Freeing<'_, '_, T, B> {
    fn drop(&mut self) {
        let (shared, object) = (&self.home.shared, self.home.object(self.place));
        match self.cpu {
            Some(cpu) => {
                cpu.free(self.home.id, object, Site(0));
                shared.freed();
            }
            None => shared.free(self.home.id, object),
        }
    }
}
