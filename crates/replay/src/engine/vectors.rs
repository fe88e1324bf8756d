//! Which slabs of a replay have a vector of accounting or allocation profiling, and where it lies.
//!
//! # How it works
//! The machine tells which slabs come and go. A slab of a cache whose objects are all charged gets its vector at once, as do, in
//! releases that put it inside, slabs with room for it; any other with the first object that is charged or profiled. Vectors
//! beside slabs are objects of kmalloc's, which the runner allocates and frees.
//!
//! A trace does not name the caches that charge all their objects (`SLAB_ACCOUNT`). A cache counts as one if its first event says
//! that the object is charged.
//!
//! Linux counterpart: `account_slab`, `unaccount_slab`, `alloc_slab_obj_exts_early`, `obj_exts_fit_within_slab_leftover`,
//! `calculate_sizes` in `mm/slub.c` @ 7.3.
//!
//! # Differences from Linux
//! Sheaves have no vectors, and cause none. Slabs that are older than the trace keep what they had.

use rustc_hash::FxHashMap;
use slablab_kmem::{Backend, CacheId, Gfp, KmallocType, Machine, ObjPtr, Pfn, SlabChange};
use slablab_linux::{KmallocCache, Recursion, is_kmalloc_name};
use slablab_trace::{Event, Kind, Meta, SlubCache};

use crate::change::accounting::{Accounting, is_vector_site};
use crate::change::merging::KernelMerging;
use crate::metrics::gauge::Gauge;
use crate::metrics::vectors::{VectorsOfCache, VectorsUnder};
use crate::plan::{ReplayPlan, Vectors};

/// The caches of the allocator's own structures (`SLAB_NO_OBJ_EXT`).
const EXEMPT: [&str; 2] = ["kmem_cache", "kmem_cache_node"];

/// The vector of a slab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Vector {
    /// None yet
    None,
    /// In the slab's own space
    Inside,
    /// Of before the trace: wherever it is, it is one of the older objects
    Older,
    /// An object of kmalloc's
    Beside { object: ObjPtr, bytes: u32, requested: u32 },
}

/// A slab, and its vector.
#[derive(Debug, Clone, Copy)]
struct SlabWithVector {
    cache: CacheId,
    vector: Vector,
}

/// What a cache's slabs need.
#[derive(Debug, Clone, Copy)]
struct CacheRule {
    /// Objects of a slab
    objects: u32,
    /// Bytes of an entry
    entry_bytes: u32,
    /// Whether slabs have room for their vector
    has_room: bool,
    /// Whether they have none in any case
    is_exempt: bool,
    /// Whether it is a cache of kmalloc's normal type, whose vectors lie apart
    is_kmalloc_normal: bool,
    /// Whether all objects are charged
    charges_all: bool,
}

/// A vector that is to be allocated beside a slab.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) slab: Pfn,
    pub(crate) bytes: u32,
    /// The cache that has to serve it; kmalloc's choice if `None`
    pub(crate) from: Option<CacheId>,
    /// Whether it is an object that needs a vector itself
    pub(crate) is_profiled: bool,
}

/// The vectors of a replay.
#[derive(Debug)]
pub(crate) struct VectorState<'a> {
    meta: &'a Meta,
    accounting: Accounting,
    merges: bool,
    word_bytes: u32,
    /// By call site of the trace: whether it allocates vectors
    sites: Vec<bool>,
    /// By index of the machine's cache
    rules: Vec<Option<CacheRule>>,
    slabs: FxHashMap<u32, SlabWithVector>,
    /// What the runner has yet to look at: slabs that came and went, and objects that hold vectors
    pub(crate) changes: Vec<SlabChange>,
    pub(crate) pending: Vec<ObjPtr>,
    /// Caches for vectors of kmalloc's normal type, by their objects' bytes
    apart: Vec<(u64, CacheId)>,
    /// Whether a cgroup charges objects by now
    charges: bool,
    costs: FxHashMap<CacheId, VectorsOfCache>,
    gauge: Gauge,
    /// Bytes of the objects that hold vectors, and bytes that these asked for
    pub(crate) bytes: u64,
    pub(crate) requested: u64,
    /// Bytes of all objects that ever held one
    pub(crate) given: u64,
}

/// Returns whether a replay computes vectors.
pub(crate) fn is_computed(meta: &Meta, plan: &ReplayPlan) -> bool {
    let Some(accounting) = Accounting::of(meta, plan.changes.accounting) else { return false };
    match plan.vectors {
        Vectors::Recorded => false,
        Vectors::FromBoot if plan.changes.accounting.is_none() => {
            accounting.vectors_seen && meta.samples.is_from_boot()
        }
        Vectors::FromBoot | Vectors::Computed => true,
    }
}

impl<'a> VectorState<'a> {
    pub(crate) fn of<B: Backend>(
        machine: &Machine<B>,
        meta: &'a Meta,
        plan: &ReplayPlan,
    ) -> Option<Self> {
        let accounting =
            is_computed(meta, plan).then(|| Accounting::of(meta, plan.changes.accounting))??;
        let apart = machine.caches().into_iter().filter_map(|id| {
            let known = KmallocCache::parse(&machine.cache_stats(id)?.name)?;
            (known.kind == KmallocType::NoObjExt).then_some((known.bytes, id))
        });
        let mut apart: Vec<_> = apart.collect();
        apart.sort_unstable_by_key(|(bytes, _)| *bytes);
        let recorded = Accounting::recorded(meta)?;
        Some(Self {
            meta,
            accounting,
            merges: matches!(KernelMerging::of(meta), KernelMerging::On { .. }),
            word_bytes: plan.changes.arch(meta).word_bytes,
            sites: meta.sites.iter().map(|site| is_vector_site(&site.name)).collect(),
            rules: Vec::new(),
            slabs: FxHashMap::default(),
            changes: Vec::new(),
            pending: Vec::new(),
            apart,
            // Cgroups that charge are made some time after the boot; the first recorded vector tells when, unless it is
            // profiling's.
            charges: accounting.memcg && (recorded.profiling || !recorded.memcg),
            costs: FxHashMap::default(),
            gauge: Gauge::new(meta.time_first_ns),
            bytes: 0,
            requested: 0,
            given: 0,
        })
    }

    /// Returns whether an allocation is that of a recorded vector, which is not replayed.
    #[inline]
    pub(crate) fn replaces(&mut self, event: &Event) -> bool {
        let is_vector = self.sites.get(event.site as usize).is_some_and(|is_vector| *is_vector);
        if is_vector && self.accounting.memcg {
            self.charges = true;
        }
        is_vector
    }

    /// Returns what the slabs of a cache need; `first` is the event of its first object, where that is at hand.
    fn rule<B: Backend>(
        &mut self,
        machine: &Machine<B>,
        id: CacheId,
        first: Option<&Event>,
    ) -> CacheRule {
        let index = id.index();
        if self.rules.len() <= index {
            self.rules.resize(index + 1, None);
        }
        if let Some(rule) = self.rules[index] {
            return rule;
        }
        let (rule, is_kmalloc) = self.make_rule(machine, id, first);
        // Without an event nothing tells whether a cache charges its objects.
        if is_kmalloc || first.is_some() {
            self.rules[index] = Some(rule);
        }
        rule
    }

    #[cold]
    fn make_rule<B: Backend>(
        &self,
        machine: &Machine<B>,
        id: CacheId,
        first: Option<&Event>,
    ) -> (CacheRule, bool) {
        let stats = machine.cache_stats(id).expect("a slab's cache is alive");
        let (name, accounting) = (stats.name.as_str(), &self.accounting);
        let kmalloc = KmallocCache::parse(name);
        let of_kmalloc = is_kmalloc_name(name);
        let kind = kmalloc.map(|known| known.kind);
        let is_normal = of_kmalloc && matches!(kind, None | Some(KmallocType::Normal));
        let is_apart = kind == Some(KmallocType::NoObjExt);
        // A partition's copies may be charged; the usual caches are not, where others take what is charged.
        let is_usual = kmalloc.is_some_and(|known| known.is_plain());
        let may_be_charged = accounting.memcg_possible && !is_usual && !is_apart;
        let entry_bytes = accounting.entry_bytes(may_be_charged, self.word_bytes);
        let is_charged =
            |event: &Event| event.kind == Kind::KmemCacheAlloc && Gfp(event.gfp).has(Gfp::ACCOUNT);
        let charges_all = match of_kmalloc {
            true => kind == Some(KmallocType::Cgroup),
            false => first.is_some_and(is_charged),
        };
        let size = u64::from(stats.slab_size);
        let vector = u64::from(stats.objs_per_slab) * u64::from(entry_bytes);
        let used = (u64::from(stats.objs_per_slab) * size).next_multiple_of(8);
        let fits_behind = used + vector <= stats.order.bytes();
        let fits =
            || fits_behind || self.padding(name, u64::from(stats.object_size), size) >= entry_bytes;
        let rule = CacheRule {
            objects: stats.objs_per_slab,
            entry_bytes,
            has_room: accounting.form.inside && fits(),
            is_exempt: is_apart || EXEMPT.contains(&name) || entry_bytes == 0,
            is_kmalloc_normal: is_normal,
            charges_all,
        };
        (rule, of_kmalloc)
    }

    /// Returns the bytes behind each object that alignment leaves, where vectors may use them: not where caches share slabs.
    fn padding(&self, name: &str, object_size: u64, size: u64) -> u32 {
        let mut snapshots = self.meta.slabs_start.iter().chain(&self.meta.slabs_end);
        let Some(known) = snapshots.find_map(|snapshot| snapshot.cache(name)) else { return 0 };
        let is_set = |known: &SlubCache, attribute| known.number(attribute).unwrap_or(0) > 0;
        let has_ctor = !known.ctor.is_empty();
        let is_typesafe = is_set(known, "destroy_by_rcu");
        if self.merges && !has_ctor && !is_typesafe && !is_set(known, "usersize") {
            return 0;
        }
        // Such objects have their free pointer behind them, unless their author names a place in them.
        let free_pointer = if has_ctor || is_typesafe { 8 } else { 0 };
        let used = object_size.next_multiple_of(8) + free_pointer;
        u32::try_from(size.saturating_sub(used)).unwrap_or(0)
    }

    /// Enters a slab; returns the vector that it needs at once, if it is to lie beside it.
    pub(crate) fn enter<B: Backend>(
        &mut self,
        machine: &Machine<B>,
        slab: Pfn,
        cache: CacheId,
        first: Option<&Event>,
    ) -> Option<Wanted> {
        let rule = self.rule(machine, cache, first);
        let charges = self.charges && rule.charges_all;
        let needs = !rule.is_exempt && (charges || self.accounting.profiling);
        let is_inside = needs && rule.has_room;
        let vector = if is_inside { Vector::Inside } else { Vector::None };
        self.slabs.insert(slab.0, SlabWithVector { cache, vector });
        if is_inside {
            self.cost(machine, cache, rule).inside_end += 1;
        }
        (charges && !is_inside && !rule.is_exempt).then(|| self.wanted(slab, rule))
    }

    /// Enters that a slab was there before the trace.
    pub(crate) fn enter_older(&mut self, slab: Pfn, cache: CacheId) {
        self.slabs.insert(slab.0, SlabWithVector { cache, vector: Vector::Older });
    }

    /// Returns the vector that an object's slab needs now, if it has none.
    pub(crate) fn for_object<B: Backend>(
        &mut self,
        machine: &Machine<B>,
        object: ObjPtr,
        event: &Event,
    ) -> Option<Wanted> {
        let gfp = Gfp(event.gfp);
        let is_charged = self.charges && gfp.has(Gfp::ACCOUNT);
        if !is_charged && !self.accounting.profiling {
            return None;
        }
        let (cache, slab, _) = machine.object_at(object)?;
        self.for_slab(machine, slab, cache, is_charged, Some(event))
    }

    /// Returns the vector that a slab needs now, if it has none.
    pub(crate) fn for_slab<B: Backend>(
        &mut self,
        machine: &Machine<B>,
        slab: Pfn,
        cache: CacheId,
        is_charged: bool,
        first: Option<&Event>,
    ) -> Option<Wanted> {
        if self.slabs.get(&slab.0).is_some_and(|known| known.vector != Vector::None) {
            return None;
        }
        let rule = self.rule(machine, cache, first);
        if rule.is_exempt || !(is_charged || self.accounting.profiling) {
            return None;
        }
        Some(self.wanted(slab, rule))
    }

    fn wanted(&self, slab: Pfn, rule: CacheRule) -> Wanted {
        let bytes = rule.objects * rule.entry_bytes;
        let apart = self.accounting.form.recursion == Recursion::Caches && rule.is_kmalloc_normal;
        let class = self.apart.iter().find(|(class, _)| *class >= u64::from(bytes));
        let from = class.map(|(_, id)| *id).filter(|_| apart);
        let is_profiled = self.accounting.profiling
            && self.accounting.form.recursion == Recursion::Caches
            && from.is_none();
        Wanted { slab, bytes, from, is_profiled }
    }

    /// Enters the object that holds a slab's vector. Returns `false` if the slab has one by now, or is gone.
    pub(crate) fn give<B: Backend>(
        &mut self,
        machine: &Machine<B>,
        wanted: Wanted,
        object: ObjPtr,
        bytes: u64,
        now_ns: u64,
    ) -> bool {
        let Some(slab) = self.slabs.get_mut(&wanted.slab.0) else { return false };
        if slab.vector != Vector::None {
            return false;
        }
        slab.vector = Vector::Beside { object, bytes: bytes as u32, requested: wanted.bytes };
        let cache = slab.cache;
        let rule = self.rule(machine, cache, None);
        let held_in = || {
            let id = machine.object_at(object).map(|(id, _, _)| id);
            id.and_then(|id| machine.cache_stats(id)).map_or_else(String::new, |stats| stats.name)
        };
        let cost = self.cost(machine, cache, rule);
        if cost.held_in.is_empty() {
            cost.held_in = held_in();
        }
        cost.beside_end += 1;
        cost.bytes_end += bytes;
        cost.beside_peak = cost.beside_peak.max(cost.beside_end);
        cost.bytes_peak = cost.bytes_peak.max(cost.bytes_end);
        self.bytes += bytes;
        self.given += bytes;
        self.requested += u64::from(wanted.bytes);
        self.gauge.set(now_ns, self.bytes);
        true
    }

    /// Enters that a slab is gone; returns the object that held its vector.
    pub(crate) fn leave(&mut self, slab: Pfn, now_ns: u64) -> Option<ObjPtr> {
        let SlabWithVector { cache, vector } = self.slabs.remove(&slab.0)?;
        let cost = self.costs.get_mut(&cache);
        match vector {
            Vector::None | Vector::Older => None,
            Vector::Inside => {
                if let Some(cost) = cost {
                    cost.inside_end -= 1;
                }
                None
            }
            Vector::Beside { object, bytes, requested } => {
                if let Some(cost) = cost {
                    cost.beside_end -= 1;
                    cost.bytes_end -= u64::from(bytes);
                }
                self.bytes -= u64::from(bytes);
                self.requested -= u64::from(requested);
                self.gauge.set(now_ns, self.bytes);
                Some(object)
            }
        }
    }

    fn cost<B: Backend>(
        &mut self,
        machine: &Machine<B>,
        cache: CacheId,
        rule: CacheRule,
    ) -> &mut VectorsOfCache {
        let make = || {
            let cache = machine.cache_stats(cache).map_or_else(String::new, |stats| stats.name);
            VectorsOfCache {
                cache,
                entry_bytes: rule.entry_bytes.into(),
                vector_bytes: u64::from(rule.entry_bytes) * u64::from(rule.objects),
                ..VectorsOfCache::default()
            }
        };
        self.costs.entry(cache).or_insert_with(make)
    }

    /// Returns whether slabs of before the trace need vectors that the recorded kernel did not have.
    pub(crate) fn is_new_to_older_slabs(&self) -> bool {
        let recorded = Accounting::recorded(self.meta);
        self.accounting.profiling && recorded.is_none_or(|recorded| !recorded.profiling)
    }

    /// Returns the slabs of before the trace, by rising address.
    pub(crate) fn older_slabs(&self) -> Vec<(Pfn, CacheId)> {
        let older = self.slabs.iter().filter(|(_, slab)| slab.vector == Vector::Older);
        let mut older: Vec<_> = older.map(|(pfn, slab)| (Pfn(*pfn), slab.cache)).collect();
        older.sort_unstable_by_key(|(pfn, _)| pfn.0);
        older
    }

    /// Returns the first call site that allocates vectors.
    pub(crate) fn site(&self) -> Option<usize> {
        self.sites.iter().position(|is_vector| *is_vector)
    }

    /// Returns what was counted.
    pub(crate) fn finish(self) -> VectorsUnder {
        let mut caches: Vec<_> = self.costs.into_values().collect();
        caches.sort_by(|a, b| b.bytes_end.cmp(&a.bytes_end).then_with(|| a.cache.cmp(&b.cache)));
        let (first_ns, last_ns) = (self.meta.time_first_ns, self.meta.time_last_ns);
        VectorsUnder { bytes: self.gauge.finish(first_ns, last_ns), caches }
    }
}
