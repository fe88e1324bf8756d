//! What a format takes: arguments one by one, and the memory that pointers lead to.

/// How an argument is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum ArgKind {
    /// An `int`, or what is promoted to it.
    Int = 0,
    /// A `long`.
    Long = 1,
    /// A `long long`.
    LongLong = 2,
    /// A pointer.
    Pointer = 3,
}

/// The arguments that follow the format.
pub(crate) trait Args {
    /// Takes the next one.
    fn next(&mut self, kind: ArgKind) -> u64;
}

/// What a format needs to know of the process.
pub(crate) trait Memory {
    /// Reads up to `max` bytes of a C string; `None` if the pointer leads nowhere.
    fn string(&self, address: u64, max: usize) -> Option<Vec<u8>>;
    /// Reads `len` bytes; `None` if the pointer leads nowhere.
    fn bytes(&self, address: u64, len: usize) -> Option<Vec<u8>>;
    /// Formats the `struct va_format` at an address.
    fn nested(&self, address: u64) -> Vec<u8>;
    /// Names an address: symbol, offset, size.
    fn symbol(&self, address: u64) -> Option<(String, u64, u64)>;
    /// What `%p` prints for an address.
    fn hashed(&self, address: u64) -> u64;
}

/// What `%s` prints for a pointer.
pub(super) fn string(address: u64, max: usize, memory: &dyn Memory) -> Vec<u8> {
    match address {
        0 => b"(null)".to_vec(),
        _ => memory.string(address, max).unwrap_or_else(|| b"(efault)".to_vec()),
    }
}
