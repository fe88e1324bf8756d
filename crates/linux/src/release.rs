//! A release of Linux by its first two numbers, which tell what allocators it has.

use core::fmt;

/// `6.12` of `6.12.117+deb13-cloud-amd64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release(pub u32, pub u32);

/// The three forms of SLUB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slub {
    /// Each CPU has a slab of each cache: up to 6.17.
    Classic,
    /// As classic, and two caches have sheaves: 6.18 and 6.19.
    Hybrid,
    /// Nearly all caches have sheaves, and no CPU has a slab: from 7.0 on.
    Sheaves,
}

impl Release {
    /// Returns the release that `text` begins with.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let mut numbers = text.splitn(3, |c: char| !c.is_ascii_digit());
        Some(Self(numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    }

    /// Returns the form that SLUB has there. Whether a kernel has SLUB is another question, see
    /// [`allocator_is_slub`](Self::allocator_is_slub).
    #[must_use]
    pub fn slub(self) -> Slub {
        match self {
            Self(..=5, _) | Self(6, ..=17) => Slub::Classic,
            Self(6, _) => Slub::Hybrid,
            _ => Slub::Sheaves,
        }
    }

    /// Returns whether the release tells that a kernel has SLUB. Up to 6.1 it may as well have SLAB or SLOB; from 6.2 on these
    /// are deprecated (SLOB left in 6.4, SLAB in 6.8).
    #[must_use]
    pub fn allocator_is_slub(self) -> bool {
        self >= Self(6, 2)
    }

    /// Returns whether it has `CONFIG_SLUB_TINY`.
    #[must_use]
    pub fn has_slub_tiny(self) -> bool {
        self >= Self(6, 2)
    }

    /// Returns whether it has SLOB.
    #[must_use]
    pub fn has_slob(self) -> bool {
        self < Self(6, 4)
    }

    /// Returns whether boot parameters begin with `slab_` instead of `slub_`.
    #[must_use]
    pub fn has_slab_parameters(self) -> bool {
        self >= Self(6, 12)
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

impl fmt::Display for Slub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Classic => "classic",
            Self::Hybrid => "hybrid",
            Self::Sheaves => "sheaves",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_the_first_two_numbers() {
        for (text, release) in
            [("6.12", Release(6, 12)), ("7.3.4+deb13-cloud-amd64", Release(7, 3))]
        {
            assert_eq!(Release::of(text), Some(release));
        }
        assert_eq!((Release::of("7"), Release::of("sid"), Release::of("")), (None, None, None));
        assert!(Release(6, 9) < Release(6, 12) && Release(6, 19) < Release(7, 0));
    }

    /// 6.1 had a form of SLUB by one function and none by another: it has the classic one, but its allocator may be another.
    #[test]
    fn slub_has_one_form_in_each_release() {
        let slub =
            ["6.1", "6.17", "6.18", "6.19", "7.0"].map(|text| Release::of(text).unwrap().slub());
        use Slub::{Classic, Hybrid, Sheaves};
        assert_eq!(slub, [Classic, Classic, Hybrid, Hybrid, Sheaves]);
        assert!(!Release(6, 1).allocator_is_slub() && Release(6, 2).allocator_is_slub());
    }
}
