//! Checks that changes can be made to a trace and have an effect; if not, the error tells why.

use rustc_hash::FxHashSet;
use slablab_linux::is_kmalloc_name;
use slablab_trace::Meta;

use crate::change::changes::{Changes, Sharing};
use crate::change::merging::KernelMerging;
use crate::change::select::{nearest_name, suggestion};

/// Why changes cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// There is nothing to compare
    #[error("nothing is changed; say what should be, for instance --dedicate SITE")]
    Nothing,
    /// A site cannot allocate from two caches
    #[error("{site} is dedicated twice: to {first} and to {second}")]
    DedicatedTwice {
        /// The call site
        site: String,
        /// One cache
        first: String,
        /// The other
        second: String,
    },
    /// Only kmalloc sites can get a cache
    #[error(
        "{site} allocates from the cache {cache} already; --undedicate {cache} would undo that"
    )]
    NotKmalloc {
        /// The call site
        site: String,
        /// Its cache
        cache: String,
    },
    /// The name is taken
    #[error(
        "the recorded kernel has a cache {name} already; give the new one another name with =NAME"
    )]
    NameTaken {
        /// The name
        name: String,
    },
    /// There is no cache of that name
    #[error("the trace has no cache {name:?}{}", suggestion(nearest))]
    NoCache {
        /// The name
        name: String,
        /// The name in the trace that looks most like it
        nearest: Option<String>,
    },
    /// The recorded kernel does that already
    #[error(
        "--merge changes nothing: the recorded kernel merges caches that are alike ({names} names share {shared} caches), \
         and its events name them so; it is for the caches that --dedicate and --per-site make"
    )]
    MergedAlready {
        /// Caches that serve several names
        shared: usize,
        /// The names
        names: usize,
    },
    /// The recorded machine has such pages
    #[error("--page-size changes nothing: the recorded machine has pages of {bytes} bytes")]
    SamePages {
        /// Bytes of a page
        bytes: u64,
    },
    /// What is accounted cannot be changed so
    #[error("{what}")]
    Accounting {
        /// Why not
        what: String,
    },
    /// Impossible size classes
    #[error("size classes: {what}")]
    Classes {
        /// What is wrong with them
        what: String,
    },
}

impl Changes {
    /// Checks that the changes can be made to a trace and have an effect.
    ///
    /// # Errors
    ///
    /// The first change that cannot be made.
    pub fn check(&self, meta: &Meta) -> Result<(), ChangeError> {
        if self.is_empty() {
            return Err(ChangeError::Nothing);
        }
        if self.sharing == Sharing::Merged
            && self.dedicated.is_empty()
            && let KernelMerging::On { shared, names, .. } = KernelMerging::of(meta)
        {
            return Err(ChangeError::MergedAlready { shared, names });
        }
        let recorded: FxHashSet<&str> =
            meta.caches.iter().map(|cache| cache.name.as_str()).collect();
        let mut taken: Vec<Option<&str>> = vec![None; meta.sites.len()];
        for dedicated in &self.dedicated {
            let snapshots = || meta.slabs_start.iter().chain(&meta.slabs_end);
            if recorded.contains(dedicated.name.as_str())
                || snapshots().any(|slabs| slabs.cache(&dedicated.name).is_some())
            {
                return Err(ChangeError::NameTaken { name: dedicated.name.clone() });
            }
            for site in &dedicated.sites {
                if dedicated.sizes.is_some() {
                    continue;
                }
                let before = taken[*site as usize].replace(&dedicated.name);
                if let Some(first) = before.filter(|first| *first != dedicated.name) {
                    return Err(ChangeError::DedicatedTwice {
                        site: meta.sites[*site as usize].name.clone(),
                        first: first.to_owned(),
                        second: dedicated.name.clone(),
                    });
                }
            }
        }
        for name in self.undedicated.iter().chain(self.cache_tunables.keys()) {
            if is_kmalloc_name(name) && self.cache_tunables.contains_key(name) {
                continue;
            }
            let known = || {
                let recorded = meta.caches.iter().map(|cache| cache.name.as_str());
                recorded.chain(self.dedicated.iter().map(|dedicated| dedicated.name.as_str()))
            };
            if !known().any(|cache| cache == name) {
                let nearest = nearest_name(name, known());
                return Err(ChangeError::NoCache { name: name.clone(), nearest });
            }
        }
        self.accounting.check(meta).map_err(|what| ChangeError::Accounting { what })?;
        let bytes = self.machine_page_bytes(meta);
        if self.page_bytes.is_some() && bytes == Self::default().machine_page_bytes(meta) {
            return Err(ChangeError::SamePages { bytes });
        }
        // The limit is where kmalloc hands over to the page allocator (`KMALLOC_MAX_CACHE_SIZE`).
        self.classes.as_deref().map_or(Ok(()), |classes| check_classes(classes, 2 * bytes))
    }
}

fn check_classes(classes: &[u32], bytes_max: u64) -> Result<(), ChangeError> {
    let wrong = |what: String| Err(ChangeError::Classes { what });
    if let Some(class) = classes.iter().find(|class| **class < 8 || !class.is_multiple_of(8)) {
        return wrong(format!("{class} is none of 8, 16, 24, ..."));
    }
    if let Some(pair) = classes.windows(2).find(|pair| pair[0] >= pair[1]) {
        return wrong(format!("{} stands behind {}; they have to rise", pair[1], pair[0]));
    }
    match classes.last() {
        Some(&class) if u64::from(class) == bytes_max => Ok(()),
        _ => wrong(format!(
            "the largest has to be {bytes_max}; what is larger comes from the page allocator"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slablab_trace::{RecordedCache, Site};

    fn meta() -> Meta {
        let site = |name: &str| Site { name: name.into(), ..Site::default() };
        let cache = RecordedCache { name: "dentry".into(), ..RecordedCache::default() };
        Meta { sites: vec![site("a+0x1"), site("b+0x2")], caches: vec![cache], ..Meta::default() }
    }

    fn message(changes: &Changes) -> String {
        changes.check(&meta()).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let changes = Changes::default();
        assert!(message(&changes).starts_with("nothing is changed"));
        let twice = changes.clone().dedicate("x", vec![0]).dedicate("y", vec![0]);
        assert_eq!(message(&twice), "a+0x1 is dedicated twice: to x and to y");
        let taken = changes.clone().dedicate("dentry", vec![0]);
        assert!(message(&taken).contains("already"));
        // A cache without any event in the trace is also known.
        let known = slablab_trace::SlubCache { name: "bio".into(), ..Default::default() };
        let mut meta = meta();
        let mut snapshot = slablab_trace::SlabSnapshot::default();
        snapshot.caches = vec![known];
        meta.slabs_start = Some(snapshot);
        let error = changes.clone().dedicate("bio", vec![0]).check(&meta).unwrap_err();
        assert!(error.to_string().starts_with("the recorded kernel has a cache bio"), "{error}");
        let unknown = changes.undedicate("dentri");
        assert!(message(&unknown).ends_with("did you mean \"dentry\"?"));
    }

    #[test]
    fn size_classes_rise_in_eights_to_two_pages() {
        let classes = |list: &[u32]| Changes { classes: Some(list.to_vec()), ..Changes::default() };
        assert!(classes(&[8, 40, 8192]).check(&meta()).is_ok());
        assert!(message(&classes(&[16, 8, 8192])).contains("have to rise"));
        assert!(message(&classes(&[8, 12, 8192])).contains("12 is none of"));
        assert!(message(&classes(&[8, 64])).contains("largest"));
        assert!(message(&classes(&[])).contains("largest"));
    }
}
