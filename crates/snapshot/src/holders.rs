//! Who holds the memory of a table: entries by name, copies of a cache added up, and whether the kernel gives it back.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use serde::Serialize;
use slablab_linux::KmallocCache;

use crate::entry::{Entry, Moment};
use crate::known::{Reclaim, reclaim};

/// Entries that are one to those who ask: a cache with its copies, or a call site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Family {
    /// The name, with a star for what tells copies apart
    pub name: String,
    /// Where it allocates; empty for a cache
    #[serde(skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// Its copies
    pub members: u64,
    /// Bytes that it holds, if they are known
    pub held_bytes: Option<u64>,
    /// Bytes of them that no object uses, if that is known
    pub unused_bytes: Option<u64>,
    /// Bytes that were allocated and not asked for, if that is known
    pub waste_bytes: Option<u64>,
    /// Objects, if they are known
    pub objects: Option<u64>,
    /// Bytes of an object, if they are known and the same in all copies
    pub object_bytes: Option<u64>,
    /// Whether the kernel gives it back under pressure
    pub reclaim: Reclaim,
}

/// What holds the memory of a moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Holders {
    /// Bytes held by all entries whose bytes are known, but for pages of slabs
    pub held_bytes: u64,
    /// Bytes of the pages of slabs, whose objects other entries have
    pub slab_page_bytes: u64,
    /// Bytes of them that the kernel gives back under pressure
    pub given_back_bytes: u64,
    /// Bytes of them that it keeps
    pub kept_bytes: u64,
    /// Bytes of slabs that no object uses
    pub unused_bytes: u64,
    /// Entries whose bytes are not known
    pub unknown_entries: u64,
    /// How many of the families hold four fifths of the memory
    pub most: usize,
    /// The families, the one that holds most first
    pub families: Arc<Vec<Family>>,
}

/// Returns who holds what at a moment.
#[must_use]
pub fn holders(moment: Moment) -> Holders {
    let mut holders = Holders::default();
    let family = |entry: Entry| {
        if is_slab_pages(&entry) {
            let bytes = entry.held_bytes().unwrap_or(0);
            holders.slab_page_bytes = holders.slab_page_bytes.saturating_add(bytes);
            return None;
        }
        let family = Family::of(entry);
        holders.add(&family);
        Some(family)
    };
    // A paste may have a hundred thousand entries: families take their place in memory.
    let mut families: Vec<Family> = moment.entries.into_iter().filter_map(family).collect();
    families.sort_unstable_by(Family::by_name);
    families.dedup_by(|other, first| {
        let are_one = other.name == first.name && other.place == first.place;
        if are_one {
            first.join(other);
        }
        are_one
    });
    holders.sort(families);
    holders
}

impl Holders {
    fn add(&mut self, family: &Family) {
        let Some(held_bytes) = family.held_bytes else {
            self.unknown_entries += 1;
            return;
        };
        self.held_bytes = self.held_bytes.saturating_add(held_bytes);
        self.unused_bytes = self.unused_bytes.saturating_add(family.unused_bytes.unwrap_or(0));
        let part = match family.reclaim {
            Reclaim::GivenBack => &mut self.given_back_bytes,
            Reclaim::Kept => &mut self.kept_bytes,
            Reclaim::Unknown => return,
        };
        *part = part.saturating_add(held_bytes);
    }

    fn sort(&mut self, mut families: Vec<Family>) {
        // Where sizes are not known, counts tell more than names.
        let size = |family: &Family| (family.held_bytes, family.objects);
        families.sort_unstable_by(|a, b| size(b).cmp(&size(a)).then_with(|| a.by_name(b)));
        let wanted = u128::from(self.held_bytes) * 4 / 5;
        let mut sum = 0;
        let reaches = |family: &&Family| {
            let is_short = sum < wanted;
            sum += u128::from(family.held_bytes.unwrap_or(0));
            is_short
        };
        self.most = families.iter().take_while(reaches).count();
        self.families = Arc::new(families);
    }
}

impl Family {
    fn by_name(&self, other: &Self) -> Ordering {
        self.name.cmp(&other.name).then_with(|| self.place.cmp(&other.place))
    }

    fn of(entry: Entry) -> Self {
        Self {
            members: 1,
            held_bytes: entry.held_bytes(),
            unused_bytes: entry.unused_bytes(),
            waste_bytes: entry.waste_bytes,
            objects: entry.objects,
            object_bytes: entry.object_bytes,
            reclaim: match entry.reclaimable {
                Some(true) => Reclaim::GivenBack,
                Some(false) => Reclaim::Kept,
                None if entry.place.is_empty() => reclaim(&entry.name),
                None => Reclaim::Unknown,
            },
            name: match family_name(&entry.name) {
                Cow::Owned(name) => name,
                Cow::Borrowed(_) => entry.name,
            },
            place: entry.place,
        }
    }

    fn join(&mut self, other: &Family) {
        let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        self.members += other.members;
        self.held_bytes = sum(self.held_bytes, other.held_bytes);
        self.waste_bytes = sum(self.waste_bytes, other.waste_bytes);
        self.unused_bytes = sum(self.unused_bytes, other.unused_bytes);
        self.objects = sum(self.objects, other.objects);
        if self.object_bytes != other.object_bytes {
            self.object_bytes = None;
        }
        if self.reclaim != other.reclaim {
            self.reclaim = Reclaim::Unknown;
        }
    }
}

/// Returns whether an entry of allocinfo is that of the pages of slabs, whose objects have entries of their own.
fn is_slab_pages(entry: &Entry) -> bool {
    let of_allocator =
        ["mm/slub.c:", "mm/slab.c:"].iter().any(|file| entry.place.starts_with(file));
    of_allocator
        && matches!(entry.name.as_str(), "alloc_slab_page" | "allocate_slab" | "kmem_getpages")
}

/// Returns the name of a cache with a star for what tells its copies apart: the partition of `kmalloc-rnd-03-64` and
/// `kmalloc-part-03-64`, and the cgroup of `dentry(412:app.service)`.
#[must_use]
pub(crate) fn family_name(name: &str) -> Cow<'_, str> {
    let copy = KmallocCache::parse(name).filter(|cache| cache.copy > 0);
    let number = copy.and_then(|_| name.split('-').nth(2));
    if let Some(number) = number {
        return name.replacen(number, "*", 1).into();
    }
    match name.split_once('(') {
        Some((cache, cgroup)) if cgroup.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("{cache}(*)").into()
        }
        _ => name.into(),
    }
}
