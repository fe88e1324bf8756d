//! Who holds the memory of a table: entries by name, copies of a cache added up, and whether the kernel gives it back.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;
use slablab_linux::KmallocCache;

use crate::entry::{Entry, Moment};
use crate::known::{Reclaim, reclaim};

/// Entries that are one to those who ask: a cache with its copies, or a call site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
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
    pub families: Vec<Family>,
}

/// Returns who holds what at a moment.
#[must_use]
pub fn holders(moment: &Moment) -> Holders {
    let mut holders = Holders::default();
    let mut places: HashMap<(String, &str), usize> = HashMap::new();
    for entry in &moment.entries {
        if is_slab_pages(entry) {
            let bytes = entry.held_bytes().unwrap_or(0);
            holders.slab_page_bytes = holders.slab_page_bytes.saturating_add(bytes);
            continue;
        }
        let family = Family {
            name: family_name(&entry.name),
            place: entry.place.clone(),
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
        };
        holders.add(&family);
        let key = (family.name.clone(), entry.place.as_str());
        match places.get(&key) {
            Some(&at) => holders.families[at].join(&family),
            None => {
                places.insert(key, holders.families.len());
                holders.families.push(family);
            }
        }
    }
    holders.sort();
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

    fn sort(&mut self) {
        self.families
            .sort_by(|a, b| b.held_bytes.cmp(&a.held_bytes).then_with(|| a.name.cmp(&b.name)));
        let wanted = u128::from(self.held_bytes) * 4 / 5;
        let mut sum = 0;
        let reaches = |family: &&Family| {
            let is_short = sum < wanted;
            sum += u128::from(family.held_bytes.unwrap_or(0));
            is_short
        };
        self.most = self.families.iter().take_while(reaches).count();
    }
}

impl Family {
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
pub fn family_name(name: &str) -> String {
    let copy = KmallocCache::parse(name).filter(|cache| cache.copy > 0);
    let number = copy.and_then(|_| name.split('-').nth(2));
    if let Some(number) = number {
        return name.replacen(number, "*", 1);
    }
    match name.split_once('(') {
        Some((cache, cgroup)) if cgroup.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("{cache}(*)")
        }
        _ => name.to_owned(),
    }
}
