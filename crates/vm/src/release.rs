//! A release of Linux by its first two numbers, which tell what allocators it has.

use std::fmt;

/// `6.12` of `6.12.117+deb13-cloud-amd64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release(pub u32, pub u32);

impl Release {
    /// Returns the release that `text` begins with.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let mut numbers = text.splitn(3, |c: char| !c.is_ascii_digit());
        Some(Self(numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    }

    /// Returns which of its three forms SLUB has there: up to 6.17 a slab for each CPU, from 7.0 on sheaves, between
    /// them sheaves for two caches.
    #[must_use]
    pub fn slub(self) -> &'static str {
        match self {
            Self(..=5, _) | Self(6, ..=17) => "classic",
            Self(6, _) => "hybrid",
            _ => "sheaves",
        }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
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
        let slub =
            ["6.1", "6.17", "6.18", "6.19", "7.0"].map(|text| Release::of(text).unwrap().slub());
        assert_eq!(slub, ["classic", "classic", "hybrid", "hybrid", "sheaves"]);
    }
}
