//! What a failed allocation gives back.

use core::fmt;

/// An allocation that found no memory, with the value that it was for.
pub struct OutOfMemory<T>(pub T);

impl<T> fmt::Debug for OutOfMemory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutOfMemory").finish_non_exhaustive()
    }
}

impl<T> fmt::Display for OutOfMemory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the pool's memory is used up")
    }
}

impl<T> core::error::Error for OutOfMemory<T> {}
