//! Errors of set-up. An allocation that runs out of memory later returns `None`, not an error.

use thiserror::Error;

/// Why a machine or a cache could not be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system did not give the address space for the machine's memory.
    #[error("cannot reserve {bytes} bytes of address space for the machine's memory")]
    Reserve {
        /// Bytes asked for.
        bytes: u64,
    },
    /// The machine's shape is impossible.
    #[error("machine: {what} is {value}, it has to be {expected}")]
    Machine {
        /// The parameter.
        what: &'static str,
        /// Its value.
        value: u64,
        /// What would be right.
        expected: &'static str,
    },
    /// Simulated memory ran out at boot or at cache creation.
    #[error("out of memory: the machine's {bytes} bytes do not suffice")]
    NoMemory {
        /// The machine's memory in bytes.
        bytes: u64,
    },
    /// The cache's arguments are impossible.
    #[error("cache `{name}`: {what}")]
    Cache {
        /// The cache.
        name: alloc::string::String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The machine has no place for another cache.
    #[error("cache `{name}`: the machine holds {caches_max} caches at most; build it with more")]
    TooManyCaches {
        /// The cache that found no place.
        name: alloc::string::String,
        /// The limit.
        caches_max: u32,
    },
    /// Another thread holds the CPU, or it does not exist.
    #[error("CPU {cpu} is in use or does not exist (the machine has {cpus})")]
    CpuBusy {
        /// The CPU asked for.
        cpu: u32,
        /// CPUs of the machine.
        cpus: u32,
    },
    /// The cache is still in use.
    #[error("cache `{name}`: {objects} objects are still live")]
    Busy {
        /// The cache.
        name: alloc::string::String,
        /// Live objects.
        objects: u64,
    },
    /// The CPU or its thread is in a read-side section, and the operation would wait for that
    /// section to end.
    #[error("cache `{name}`: to destroy it may wait for the read-side section that this CPU is in")]
    Reading {
        /// The cache.
        name: alloc::string::String,
    },
    /// A CPU in another thread's hands still has a part of the cache.
    #[error("cache `{name}`: CPU {cpu}, in another thread's hands, has to flush it first")]
    CpuHolds {
        /// The cache.
        name: alloc::string::String,
        /// The CPU.
        cpu: u32,
    },
    /// No allocator has this name.
    #[error("no allocator is called `{name}`; there are {known}")]
    NoBackend {
        /// The name that was given.
        name: alloc::string::String,
        /// The names that exist.
        known: &'static str,
    },
}
