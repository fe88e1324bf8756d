//! Maps: tables in the kernel that programs write and we read.
//!
//! How it works: a [`Map`] of the kind hash is preallocated, so that a program that runs inside an allocation allocates nothing.
//! A [`Shared`] map is an array of one value that is mapped into our memory, as a compiler's global variables
//! are. A hash map is read in batches, which costs a system call for thousands of entries.
//!
//! Linux counterpart: `kernel/bpf/hashtab.c`, `arraymap.c` and `syscall.c` @ 6.18.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64};

use crate::error::Error;
use crate::raw::{Attributes, SharedMemory, call, call_for_fd};

const MAP_CREATE: i32 = 0;
const MAP_UPDATE: i32 = 2;
const MAP_DELETE: i32 = 3;
const MAP_LOOKUP_BATCH: i32 = 24;
const TYPE_HASH: u32 = 1;
const TYPE_ARRAY: u32 = 2;
const TYPE_PERCPU_ARRAY: u32 = 6;
pub(crate) const TYPE_RING: u32 = 27;
const FLAG_MMAPABLE: u32 = 1 << 10;
const PAGE_BYTES: usize = 4096;

/// Entries that one call reads.
const BATCH: usize = 4096;

/// A hash table.
#[derive(Debug)]
pub struct Map {
    name: &'static str,
    fd: OwnedFd,
    key_bytes: usize,
    value_bytes: usize,
    entries_max: usize,
}

/// The keys and values that were in a map, one after the other.
#[derive(Debug, Clone)]
pub struct Entries {
    keys: Vec<u8>,
    values: Vec<u8>,
    key_bytes: usize,
    value_bytes: usize,
}

impl Map {
    /// Makes an empty map with room for `entries_max`.
    ///
    /// # Errors
    /// When the kernel refuses it: for lack of a right or of memory.
    pub fn hash(
        name: &'static str,
        key_bytes: usize,
        value_bytes: usize,
        entries_max: usize,
    ) -> Result<Self, Error> {
        let fd = create(name, TYPE_HASH, [key_bytes, value_bytes, entries_max], 0)?;
        Ok(Self { name, fd, key_bytes, value_bytes, entries_max })
    }

    /// Makes an array of one entry, which each CPU has for itself.
    ///
    /// # Errors
    /// When the kernel refuses it: for lack of a right or of memory.
    pub fn of_each_cpu(name: &'static str, value_bytes: usize) -> Result<Self, Error> {
        let fd = create(name, TYPE_PERCPU_ARRAY, [4, value_bytes, 1], 0)?;
        Ok(Self { name, fd, key_bytes: 4, value_bytes, entries_max: 1 })
    }

    /// Returns the entries that it has room for.
    #[must_use]
    pub fn entries_max(&self) -> usize {
        self.entries_max
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// When the map is full.
    ///
    /// # Panics
    /// When key or value have another length than the map's.
    pub fn set(&self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        assert_eq!((key.len(), value.len()), (self.key_bytes, self.value_bytes));
        let attributes = Attributes::new().u32(0, self.raw_fd()).input(8, key).input(16, value);
        self.told(call(MAP_UPDATE, &mut { attributes })).map(drop)
    }

    /// Takes a key out; returns whether it was there.
    ///
    /// # Errors
    /// When the kernel refuses the call.
    ///
    /// # Panics
    /// When the key has another length than the map's.
    pub fn remove(&self, key: &[u8]) -> Result<bool, Error> {
        assert_eq!(key.len(), self.key_bytes);
        let attributes = Attributes::new().u32(0, self.raw_fd()).input(8, key);
        match call(MAP_DELETE, &mut { attributes }) {
            Ok(_) => Ok(true),
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(false),
            Err(error) => self.told(Err(error)),
        }
    }

    /// Returns what is in the map. What comes or goes meanwhile may be missing, and nothing is there twice.
    ///
    /// # Errors
    /// When the kernel refuses the call.
    pub fn entries(&self) -> Result<Entries, Error> {
        let (key_bytes, value_bytes) = (self.key_bytes, self.value_bytes);
        let mut all = Entries { keys: Vec::new(), values: Vec::new(), key_bytes, value_bytes };
        let mut batch = BATCH.min(self.entries_max);
        let mut keys = vec![0; batch * key_bytes];
        let mut values = vec![0; batch * value_bytes];
        // The kernel's own mark of how far it is: a bucket's number.
        let (mut from, mut to) = ([0; 4], [0; 4]);
        let mut is_first = true;
        loop {
            let attributes = Attributes::new()
                .output(8, &mut to)
                .output(16, &mut keys)
                .output(24, &mut values)
                .u32(32, batch as u32)
                .u32(36, self.raw_fd());
            let mut attributes = if is_first { attributes } else { attributes.input(0, &from) };
            let result = call(MAP_LOOKUP_BATCH, &mut attributes);
            let count = (attributes.read_u32(32) as usize).min(batch);
            let code = result.as_ref().err().and_then(io::Error::raw_os_error);
            if code == Some(libc::ENOSPC) {
                // A bucket has more entries than the buffers: nothing was read.
                batch *= 2;
                keys.resize(batch * key_bytes, 0);
                values.resize(batch * value_bytes, 0);
                continue;
            }
            let is_last = code == Some(libc::ENOENT);
            if !is_last {
                self.told(result)?;
            }
            all.keys.extend_from_slice(&keys[..count * key_bytes]);
            all.values.extend_from_slice(&values[..count * value_bytes]);
            if is_last {
                return Ok(all);
            }
            (from, is_first) = (to, false);
        }
    }

    pub(crate) fn raw_fd(&self) -> u32 {
        self.fd.as_raw_fd().cast_unsigned()
    }

    fn told<T>(&self, result: io::Result<T>) -> Result<T, Error> {
        result.map_err(|source| Error::Map { name: self.name, source })
    }
}

impl Entries {
    /// Returns keys with their values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], &[u8])> {
        let keys = self.keys.chunks_exact(self.key_bytes);
        keys.zip(self.values.chunks_exact(self.value_bytes))
    }
}

/// One value that programs and we share.
#[derive(Debug)]
pub struct Shared {
    fd: OwnedFd,
    memory: SharedMemory,
}

impl Shared {
    /// Makes a value of `bytes` zeros.
    ///
    /// # Errors
    /// When the kernel refuses it: for lack of a right or of memory.
    pub fn new(name: &'static str, bytes: usize) -> Result<Self, Error> {
        let bytes = bytes.next_multiple_of(PAGE_BYTES);
        let fd = create(name, TYPE_ARRAY, [4, bytes, 1], FLAG_MMAPABLE)?;
        let memory = SharedMemory::map(fd.as_fd(), bytes);
        Ok(Self { memory: memory.map_err(|source| Error::Map { name, source })?, fd })
    }

    /// Returns the value as words of 64 bits.
    #[must_use]
    pub fn words(&self) -> &[AtomicU64] {
        self.memory.words()
    }

    /// Returns the value as words of 32 bits.
    #[must_use]
    pub fn halves(&self) -> &[AtomicU32] {
        self.memory.halves()
    }

    pub(crate) fn raw_fd(&self) -> u32 {
        self.fd.as_raw_fd().cast_unsigned()
    }
}

impl AsFd for Map {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Makes a map of keys, values and entries as large as said.
pub(crate) fn create(
    name: &'static str,
    kind: u32,
    [key_bytes, value_bytes, entries]: [usize; 3],
    flags: u32,
) -> Result<OwnedFd, Error> {
    let told = |source| Error::Map { name, source };
    let size = |bytes: usize| u32::try_from(bytes).map_err(|e| told(io::Error::other(e)));
    let mut attributes = Attributes::new()
        .u32(0, kind)
        .u32(4, size(key_bytes)?)
        .u32(8, size(value_bytes)?)
        .u32(12, size(entries)?)
        .u32(16, flags)
        .name(28, name);
    call_for_fd(MAP_CREATE, &mut attributes).map_err(told)
}
