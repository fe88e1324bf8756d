//! kmalloc's objects divided by their type, as Clang's tokens do: what is in each partition, and how even they are.
//!
//! # How it works
//! Each call site's type has a token, and with it a partition ([`slablab_linux::alloc_token`]). The trace is replayed with one
//! copy of the classes for each partition, which gives objects and slabs; what each type has alive on average gives the
//! skew, and what would level it ([`level`]).
//!
//! # Invariants
//! An object whose type is not known is in partition 0, where Clang puts a call without a type, and is counted apart: the types'
//! own numbers and the skew have none of it.
//!
//! Linux counterpart: `CONFIG_KMALLOC_PARTITION_TYPED` @ 7.2 and later, with Clang 22.
//!
//! # Differences from Linux
//! Clang takes the type that `sizeof` in the call names, and else that of a cast. Here the type is what the result is assigned
//! to. Where the two differ (`struct a *p = kmalloc(sizeof(struct b))`), and where Clang finds a type and debug information does
//! not, an object is in another partition than there.

pub(crate) mod entry;
mod held;
pub(crate) mod level;

use std::collections::BTreeMap;

use serde::Serialize;
use slablab_linux::{KmallocCache, KmallocType, alloc_token};
use slablab_trace::{AllocatedType, TraceReader};

use self::entry::{TokenPartition, TypeHeld, Untyped};
use self::held::{SiteHeld, held};
use self::level::Leveled;
use crate::change::changes::Changes;
use crate::engine::caches;
use crate::error::Error;
use crate::metrics::requests::{ClassSet, Classes, Sizes, survey};
use crate::metrics::result::Allocator;

/// What partitions by type have.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TypedPartitions {
    /// By number
    pub partitions: Vec<TokenPartition>,
    /// The types, those with most bytes first
    pub types: Vec<TypeHeld>,
    /// Objects whose type is not known: they are in partition 0
    pub untyped: Untyped,
    /// Bytes of all types, the mean over time
    pub types_bytes: u64,
    /// The least skew that any choice of as many partitions can have, as the largest type is in one of them
    pub skew_least: f64,
    /// The partitions of the tokens, and what would level them
    pub levels: Vec<Leveled>,
}

impl TypedPartitions {
    /// Returns the types that share a partition with `one`, itself among them, those with most bytes first.
    pub fn sharing<'a>(&'a self, one: &TypeHeld) -> impl Iterator<Item = &'a TypeHeld> {
        let partition = one.partition;
        self.types.iter().filter(move |other| other.partition == partition)
    }

    /// Returns the type of a name, with or without `struct`.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&TypeHeld> {
        self.types.iter().find(|one| one.name == name || one.canonical == name)
    }
}

/// Returns the size of the objects of each call site of a trace that asks kmalloc for one size only.
///
/// # Errors
/// When the trace is damaged.
pub fn sole_sizes(reader: &TraceReader) -> Result<Vec<Option<u64>>, Error> {
    let meta = reader.meta();
    let classes = Classes::new(&caches::kmalloc(meta, &Changes::default()).classes);
    let sole = |sizes: &Sizes| match sizes.by_count()[..] {
        [one] if sizes.others == 0 => Some(one.bytes),
        _ => None,
    };
    Ok(survey(reader, meta, &classes)?.sizes.iter().map(sole).collect())
}

/// Returns the token of a call site's type; `None` where Clang would have no type either, or none that is known here.
pub(crate) fn token(one: Option<&AllocatedType>, tokens: u32) -> Option<u32> {
    let one = one?;
    let token = alloc_token(one.canonical.as_deref()?, one.has_pointers?, tokens.into());
    Some(token as u32)
}

/// Sums up by partition what a trace has, and what `allocator` made of it.
pub(crate) fn typed_partitions(
    reader: &TraceReader,
    types: &[Option<AllocatedType>],
    tokens: u32,
    allocator: &Allocator,
) -> Result<TypedPartitions, Error> {
    let classes = Classes::new(&caches::kmalloc(reader.meta(), &Changes::default()).classes);
    let sites = held(reader, &classes)?;
    let typed = by_type(&sites, types, tokens, &classes);
    let untyped = without_type(&sites, types, tokens);
    Ok(TypedPartitions {
        partitions: partitions(&typed, &untyped, tokens, allocator),
        types_bytes: typed.iter().map(|one| one.bytes_mean).sum(),
        skew_least: level::skew_least(&typed, tokens),
        levels: level::proposals(&typed, tokens),
        types: typed,
        untyped,
    })
}

fn by_type(
    sites: &[SiteHeld],
    types: &[Option<AllocatedType>],
    tokens: u32,
    classes: &Classes,
) -> Vec<TypeHeld> {
    let mut all: BTreeMap<(&str, bool), (TypeHeld, ClassSet)> = BTreeMap::new();
    for (site, one) in sites.iter().zip(types).filter(|(site, _)| !site.classes.is_empty()) {
        let Some(partition) = token(one.as_ref(), tokens) else { continue };
        let Some(AllocatedType { name, canonical: Some(canonical), has_pointers }) = one else {
            continue;
        };
        let has_pointers = has_pointers.unwrap_or(false);
        let fresh = || TypeHeld {
            name: name.clone(),
            canonical: canonical.clone(),
            has_pointers,
            partition,
            ..TypeHeld::default()
        };
        // Two structures of one name are two types where only one has pointers.
        let (held, set) =
            all.entry((canonical, has_pointers)).or_insert_with(|| (fresh(), ClassSet::default()));
        held.sites += 1;
        held.allocs += site.allocs;
        held.objects_end += site.objects_end;
        held.bytes_mean += site.bytes_mean;
        site.classes.iter().for_each(|class| set.add(class));
    }
    let with_classes = |(held, set): (TypeHeld, ClassSet)| TypeHeld {
        classes: set.iter().map(|class| classes.bytes(class)).collect(),
        ..held
    };
    let mut all: Vec<TypeHeld> = all.into_values().map(with_classes).collect();
    all.sort_by(|a, b| (b.bytes_mean, &a.canonical).cmp(&(a.bytes_mean, &b.canonical)));
    all
}

fn without_type(sites: &[SiteHeld], types: &[Option<AllocatedType>], tokens: u32) -> Untyped {
    let mut all = Untyped::default();
    for (number, site) in sites.iter().enumerate().filter(|(_, site)| !site.classes.is_empty()) {
        let one = types.get(number).and_then(Option::as_ref);
        if token(one, tokens).is_none() {
            all.sites += 1;
            all.allocs += site.allocs;
            all.objects_end += site.objects_end;
            all.bytes_mean += site.bytes_mean;
            all.sites_open += u64::from(one.is_some());
        }
    }
    all
}

fn partitions(
    types: &[TypeHeld],
    untyped: &Untyped,
    tokens: u32,
    allocator: &Allocator,
) -> Vec<TokenPartition> {
    let of_caches = caches_by_copy(allocator);
    let one = |partition: u32| {
        let mut sum = of_caches.get(&partition).cloned().unwrap_or_default();
        sum.partition = partition;
        sum.has_pointers = partition >= tokens / 2;
        for one in types.iter().filter(|one| one.partition == partition) {
            sum.types += 1;
            sum.sites += one.sites;
            sum.allocs += one.allocs;
            sum.bytes_mean += one.bytes_mean;
        }
        if partition == 0 {
            sum.sites += untyped.sites;
            sum.allocs += untyped.allocs;
            sum.bytes_mean += untyped.bytes_mean;
        }
        sum
    };
    (0..tokens).map(one).collect()
}

/// Adds up what the caches of each copy of kmalloc's classes held.
fn caches_by_copy(allocator: &Allocator) -> BTreeMap<u32, TokenPartition> {
    let mut all: BTreeMap<u32, TokenPartition> = BTreeMap::new();
    for cache in &allocator.caches {
        let known = KmallocCache::parse(&cache.cache);
        let Some(known) = known.filter(|known| known.kind == KmallocType::Normal) else { continue };
        let sum = all.entry(known.copy.into()).or_default();
        sum.objects_peak += cache.objects_peak;
        sum.objects_end += cache.objects_end;
        sum.slabs_peak += cache.slabs_peak;
        sum.slabs_end += cache.slabs_end;
        sum.held_bytes_peak += cache.held_bytes_peak;
        sum.held_bytes_end += cache.held_bytes_end;
    }
    all
}
