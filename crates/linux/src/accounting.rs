//! What SLUB keeps beside a slab whose objects are accounted or profiled: a word or two for each object.
//!
//! # How it works
//! A memory cgroup is charged for an object through a pointer, and allocation profiling counts one through another. Both stand
//! in a vector with an entry for each object of the slab. Releases differ in three things: which words an entry has, whether the
//! vector may lie in the slab itself, and how a vector is kept from needing a vector itself.
//!
//! Linux counterpart: `memcg_alloc_slab_cgroups` in `mm/memcontrol.c` @ 6.1; `alloc_slab_obj_exts` in `mm/slub.c` @ 6.12.117 and
//! 7.2.13; `cache_obj_ext_size`, `alloc_slab_obj_exts_early`, `need_kmalloc_no_objext` @ 7.3.4.

use crate::gfp::Gfp;
use crate::release::Release;

/// The functions that allocate vectors: from 6.10 on, and before.
pub const VECTOR_FUNCTIONS: [&str; 2] = ["alloc_slab_obj_exts", "memcg_alloc_slab_cgroups"];

/// Which words an entry has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryWords {
    /// One for the cgroup, as there is no allocation profiling: up to 6.9
    Cgroup,
    /// Those that the kernel is built for, on or off: 6.10 to 7.2
    Built,
    /// That of the cgroup if objects of the cache may be accounted, that of profiling if it may be on: from 7.3
    Needed,
}

/// How the slabs that hold vectors are kept from having ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recursion {
    /// kmalloc's usual caches have none
    Impossible,
    /// Vectors are not profiled, but their neighbours are: a slab may hold its own vector, and is then never freed
    Flag,
    /// Vectors of kmalloc's usual caches lie in `kmalloc-no-objext-*`, whose slabs have none
    Caches,
}

/// How a release keeps vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VectorForm {
    /// Words of an entry
    pub words: EntryWords,
    /// Whether a vector lies in what a slab leaves over, or in the padding of objects, where it fits: from 7.0 on
    pub inside: bool,
    /// See [`Recursion`]
    pub recursion: Recursion,
}

/// The first stable releases that have caches for vectors.
const CACHES_SINCE: [(Release, u32); 3] =
    [(Release(6, 12), 103), (Release(6, 18), 44), (Release(7, 1), 8)];

impl VectorForm {
    /// Returns that of a kernel by its full release, such as `6.12.117+deb13-cloud-amd64`.
    #[must_use]
    pub fn of(kernel_release: &str) -> Option<Self> {
        let release = Release::of(kernel_release)?;
        let words = match release {
            Release(..=5, _) | Release(6, ..=9) => EntryWords::Cgroup,
            Release(6, _) | Release(7, ..=2) => EntryWords::Built,
            _ => EntryWords::Needed,
        };
        let patched = CACHES_SINCE.iter().any(|(since, level)| {
            release == *since && stable_level(kernel_release).is_some_and(|own| own >= *level)
        });
        let recursion = match words {
            EntryWords::Cgroup => Recursion::Impossible,
            _ if patched || release >= Release(7, 2) => Recursion::Caches,
            _ => Recursion::Flag,
        };
        Some(Self { words, inside: release >= Release(7, 0), recursion })
    }
}

/// Returns the third number of a release.
fn stable_level(kernel_release: &str) -> Option<u32> {
    let mut numbers = kernel_release.split(|c: char| !c.is_ascii_digit());
    numbers.nth(2)?.parse().ok()
}

/// Returns the flags with which a vector is allocated, of those of the allocation that needs it (`OBJCGS_CLEAR_MASK`).
#[must_use]
pub fn vector_gfp(gfp: Gfp) -> Gfp {
    let masked = Gfp::DMA | Gfp::RECLAIMABLE | Gfp::ACCOUNT | Gfp::NOFAIL;
    gfp.without(masked | Gfp::THISNODE | Gfp::COMP | Gfp::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_generation_has_its_form() {
        use EntryWords::{Built, Cgroup, Needed};
        use Recursion::{Caches, Flag, Impossible};
        for (release, words, inside, recursion) in [
            ("6.1.192", Cgroup, false, Impossible),
            ("6.9", Cgroup, false, Impossible),
            ("6.12.102", Built, false, Flag),
            ("6.12.117+deb13-cloud-amd64", Built, false, Caches),
            ("6.16.9", Built, false, Flag),
            ("6.18.44", Built, false, Caches),
            ("6.18", Built, false, Flag),
            ("7.0.3", Built, true, Flag),
            ("7.1.7", Built, true, Flag),
            ("7.1.8", Built, true, Caches),
            ("7.2.13", Built, true, Caches),
            ("7.3.4", Needed, true, Caches),
        ] {
            let form = VectorForm { words, inside, recursion };
            assert_eq!(VectorForm::of(release), Some(form), "{release}");
        }
        assert_eq!(VectorForm::of(""), None);
    }

    #[test]
    fn a_vector_is_plain_memory() {
        let gfp = Gfp::KERNEL_ACCOUNT | Gfp::RECLAIMABLE | Gfp::ZERO;
        assert_eq!(vector_gfp(gfp), Gfp::KERNEL);
        assert_eq!(vector_gfp(Gfp::ATOMIC | Gfp::DMA), Gfp::ATOMIC);
    }
}
