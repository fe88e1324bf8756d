//! Atomics and the cell: from the standard library, or from loom where the models of this crate are
//! built.

#[cfg(not(all(test, loom)))]
mod real {
    pub(crate) use core::sync::atomic::{AtomicUsize, Ordering};
    #[cfg(feature = "std")]
    pub(crate) use {core::sync::atomic::AtomicPtr, std::thread::yield_now};

    /// `core`'s cell with the interface of loom's.
    #[cfg(feature = "std")]
    #[derive(Debug)]
    pub(crate) struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

    #[cfg(feature = "std")]
    impl<T> UnsafeCell<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(core::cell::UnsafeCell::new(value))
        }

        pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }
}

#[cfg(not(all(test, loom)))]
pub(crate) use real::*;

#[cfg(all(test, loom))]
pub(crate) use loom::{
    cell::UnsafeCell,
    sync::atomic::{AtomicPtr, AtomicUsize, Ordering},
    thread::yield_now,
};

/// Declares a function that is `const`, except with loom, whose atomics are made at run time.
macro_rules! const_fn {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty $body:block) => {
        #[cfg(not(all(test, loom)))]
        $(#[$meta])*
        $vis const fn $name($($arg: $type),*) -> $result $body

        #[cfg(all(test, loom))]
        $(#[$meta])*
        $vis fn $name($($arg: $type),*) -> $result $body
    };
}
pub(crate) use const_fn;
