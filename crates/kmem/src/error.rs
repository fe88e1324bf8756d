//! What can go wrong at set-up. Running out of memory later is a `None`, not an error.

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
    /// Out of simulated memory at boot or at cache creation.
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
    /// More caches than the machine was built for.
    #[error("cache `{name}`: the machine holds {caches_max} caches at most; build it with more")]
    TooManyCaches {
        /// The cache that found no place.
        name: alloc::string::String,
        /// The limit.
        caches_max: u32,
    },
    /// Somebody else holds the CPU.
    #[error("CPU {cpu} is in use or does not exist (the machine has {cpus})")]
    CpuBusy {
        /// The CPU asked for.
        cpu: u32,
        /// CPUs of the machine.
        cpus: u32,
    },
    /// The cache is still used.
    #[error("cache `{name}`: {objects} objects are still live")]
    Busy {
        /// The cache.
        name: alloc::string::String,
        /// Live objects.
        objects: u64,
    },
    /// The CPU or its thread is in a read-side section, for the end of which it would wait.
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
    /// No allocator of this name.
    #[error("no allocator is called `{name}`; there are {known}")]
    NoBackend {
        /// The name given.
        name: alloc::string::String,
        /// The names there are.
        known: &'static str,
    },
}
