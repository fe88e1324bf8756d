//! The errors of operations on arrays.

/// Why an operation did not happen. The array is unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A node could not be allocated under the given [`crate::Gfp`]. Linux: `-ENOMEM`.
    #[error("no memory for a node of the array")]
    NoMemory,
    /// The entry cannot be stored, the range is reversed, or the array does not hand out ids. Linux: `-EINVAL`.
    #[error("the entry, the range or the kind of array does not fit the operation")]
    Invalid,
    /// The index is taken, or no id within the limit is free. Linux: `-EBUSY`.
    #[error("the index is taken, or no id within the limit is free")]
    Busy,
}

impl Error {
    /// Returns the positive errno that Linux has for it.
    #[must_use]
    pub const fn errno(self) -> i32 {
        match self {
            Self::NoMemory => libc::ENOMEM,
            Self::Invalid => libc::EINVAL,
            Self::Busy => libc::EBUSY,
        }
    }
}

/// The result of an operation on an array.
pub type Result<T> = std::result::Result<T, Error>;
