//! Why a replay could not be done.

/// An error of this crate; its text names the place and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The trace could not be read.
    #[error(transparent)]
    Trace(#[from] slablab_trace::Error),
    /// The simulated machine could not be built.
    #[error("cannot build the simulated machine: {0}")]
    Machine(#[from] slablab_kmem::Error),
    /// The changes cannot be made.
    #[error(transparent)]
    Change(#[from] crate::change::check::ChangeError),
    /// A call site was not found.
    #[error(transparent)]
    Select(#[from] crate::change::select::SelectError),
    /// Advice about caches has no meaning where caches share pages.
    #[error(
        "{allocator} packs the objects of all caches into the same pages, so a cache of its own changes nothing; \
             ask for slab or a generation of slub"
    )]
    SharedPages {
        /// The allocator
        allocator: String,
    },
    /// A machine so small that the recorded setting fails cannot be compared with others.
    #[error(
        "{failed} allocations find no memory as recorded, so that settings cannot be compared: give more --memory, or leave \
         out --tune to ask what makes the load fit"
    )]
    TuneFails {
        /// Allocations that failed
        failed: u64,
    },
    /// A machine that is too small to be simulated.
    #[error(
        "{} are less than the smallest machine that can be simulated: ask for {}M or more",
        mib(*memory_bytes),
        memory_bytes_min.div_ceil(1 << 20)
    )]
    MachineTooSmall {
        /// The memory asked about
        memory_bytes: u64,
        /// The smallest machine
        memory_bytes_min: u64,
    },
    /// The address space of this process is limited.
    #[error(
        "cannot reserve {} of address space for the memory of the simulated machine: give less --memory, or raise the \
         limit (ulimit -v)",
        mib(*bytes)
    )]
    Reserve {
        /// The memory asked for
        bytes: u64,
    },
    /// An allocator without settings to search.
    #[error(
        "{allocator} has no settings that can be searched; ask for a generation of slub: --allocator slub"
    )]
    NoSettings {
        /// The allocator
        allocator: String,
    },
    /// A cache whose settings would be files outside of `/sys/kernel/slab`.
    #[error(
        "a cache of the trace is called {name:?}, which no directory of /sys/kernel/slab can be called, so that no setting \
         is advised: record the trace again"
    )]
    CacheName {
        /// The name
        name: String,
    },
    /// An event on a CPU that no simulated machine has
    #[error(
        "row {row}, counted from 0: the event is from CPU {cpu}, and the simulated machine has {cpus}; the trace is damaged: \
             record or import it again"
    )]
    Cpu {
        /// The row
        row: u64,
        /// Its CPU
        cpu: u16,
        /// CPUs of the machine
        cpus: u32,
    },
    /// Zones of the recorded machine that no machine has
    #[error("{found}: the trace is damaged, so record it again with `slablab record --pages`")]
    Zones {
        /// What no machine has
        found: String,
    },
    /// Zones whose tables do not fit
    #[error(
        "the page lists of the recorded machine take {}, and {} may be used: give more by --ram, or replay it on a larger \
         machine",
        mib(*bytes),
        mib(*room_bytes)
    )]
    ZonesMemory {
        /// What the tables take
        bytes: u64,
        /// What may be used
        room_bytes: u64,
    },
    /// A real kernel's replay cannot have this many caches.
    #[error("the trace has {caches} caches, and slabreplay takes 32,767")]
    TooManyCaches {
        /// Caches of the trace
        caches: usize,
    },
    /// The engine's own check found a broken invariant.
    #[error("{allocator}: after event {event}: {finding}")]
    Invalid {
        /// The allocator
        allocator: String,
        /// How many events had been replayed
        event: u64,
        /// What the check found
        finding: String,
    },
}

/// Returns bytes in MiB, rounded up to the next hundredth, so that a user who requests the printed
/// amount gets no less.
fn mib(bytes: u64) -> String {
    if bytes < (1 << 20) / 100 {
        return format!("{bytes} B");
    }
    let hundredths = u128::from(bytes) * 100;
    let hundredths = hundredths.div_ceil(1 << 20);
    format!("{}.{:02} MiB", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_that_an_error_asks_for_is_no_less_than_what_is_needed() {
        assert_eq!(mib(4 << 20), "4.00 MiB");
        assert_eq!(mib((4 << 20) + 1), "4.01 MiB");
        assert_eq!(mib(u64::MAX), "17592186044416.00 MiB");
        let error = Error::Reserve { bytes: 4_449_741 }.to_string();
        assert!(error.starts_with("cannot reserve 4.25 MiB of address space"), "{error}");
        assert_eq!((mib(1), mib(10_486)), ("1 B".into(), "0.02 MiB".into()));
    }
}
