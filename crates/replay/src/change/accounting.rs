//! Whether objects are charged to memory cgroups and counted by call site, as recorded and as changes have it: what vectors lie
//! beside slabs.
//!
//! # How it works
//! The recorded kernel's configuration, the names of its kmalloc caches and the call sites of its vectors tell what was on. A
//! trace without any of these tells nothing, and then there are no vectors. The releases' forms are in [`VectorForm`].
//!
//! Linux counterpart: `mem_cgroup_kmem_disabled` in `mm/memcontrol.c`, `mem_alloc_profiling_permanently_disabled` in
//! `mm/alloc_tag.c` @ 7.3.

use slablab_kmem::KmallocType;
use slablab_linux::{EntryWords, Recursion, VECTOR_FUNCTIONS, VectorForm};
use slablab_trace::{Meta, RecordedKmalloc};

use crate::change::select::function;

/// Changes to accounting; none by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AccountingChange {
    /// Whether objects are charged to memory cgroups (`cgroup.memory=nokmem` where not)
    pub memcg: Option<bool>,
    /// Whether allocations are counted by call site (`sysctl.vm.mem_profiling=1`, or `never`)
    pub profiling: Option<bool>,
}

impl AccountingChange {
    /// Returns whether nothing is changed.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    /// Says why it cannot be made to a trace, or would change nothing.
    pub(crate) fn check(self, meta: &Meta) -> Result<(), String> {
        if self.is_none() {
            return Ok(());
        }
        let Some(recorded) = Accounting::recorded(meta) else {
            return Err("the trace does not say which release of Linux was recorded, and what accounting takes depends \
                on that: record with slablab record"
                .to_owned());
        };
        let release = &meta.kernel_release;
        match self {
            Self { memcg: Some(false), .. } if !recorded.memcg_possible => Err(format!(
                "--no-memcg changes nothing: {}",
                match recorded.is_told {
                    true => "the recorded kernel charges no object, as it has no kmalloc-cg caches",
                    false => "the trace has no slabinfo that would tell of kmalloc-cg caches",
                }
            )),
            Self { memcg: Some(true), .. } if recorded.memcg_possible => {
                Err("the recorded kernel charges objects to memory cgroups already".to_owned())
            }
            Self { profiling: Some(true), .. } if recorded.form.words == EntryWords::Cgroup => {
                Err(format!(
                    "--allocinfo: Linux counts allocations from 6.10 on, and {release} was recorded"
                ))
            }
            Self { profiling: Some(true), .. } if recorded.profiling => {
                Err("--allocinfo changes nothing: the recorded kernel counts allocations already"
                    .to_owned())
            }
            Self { profiling: Some(false), .. } if !recorded.profiling => Err(
                "--allocinfo=off changes nothing: the recorded kernel does not count allocations"
                    .to_owned(),
            ),
            _ => Ok(()),
        }
    }
}

/// What was accounted, or would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accounting {
    /// How the release keeps vectors
    pub form: VectorForm,
    /// Whether the kernel is built for memory cgroups
    pub memcg_built: bool,
    /// Whether objects may be charged to them: that was not given up at boot
    pub memcg_possible: bool,
    /// Whether objects are charged to them
    pub memcg: bool,
    /// Whether the kernel is built for allocation profiling
    pub profiling_built: bool,
    /// Whether that may be turned on: it was not given up at boot
    pub profiling_possible: bool,
    /// Whether it is on
    pub profiling: bool,
    /// Whether the trace has vectors that were allocated
    pub vectors_seen: bool,
    /// Whether the trace tells what the kernel is built for
    pub is_told: bool,
}

impl Accounting {
    /// Returns that of the recorded kernel; `None` where its release is not known.
    #[must_use]
    pub fn recorded(meta: &Meta) -> Option<Self> {
        let form = VectorForm::of(&meta.kernel_release)?;
        let kmalloc = RecordedKmalloc::of(meta);
        let has = |kind| kmalloc.types.contains(&kind);
        let config = |symbol: &str| meta.config.get(symbol).map(|value| value == "y");
        let state = meta.config.get("vm.mem_profiling");
        let vectors_seen = meta.sites.iter().any(|site| is_vector_site(&site.name));
        let profiling = state.is_some_and(|state| state.starts_with('1'));
        let memcg_built =
            config("CONFIG_MEMCG").unwrap_or(has(KmallocType::Cgroup) || vectors_seen);
        let profiling_built = config("CONFIG_MEM_ALLOC_PROFILING")
            .unwrap_or(state.is_some() || has(KmallocType::NoObjExt));
        let memcg_possible = memcg_built && has(KmallocType::Cgroup);
        let is_told = config("CONFIG_MEMCG").is_some() || !kmalloc.types.is_empty();
        Some(Self {
            form,
            memcg_built,
            memcg_possible,
            memcg: memcg_possible && vectors_seen,
            profiling_built,
            profiling_possible: profiling || has(KmallocType::NoObjExt),
            profiling,
            vectors_seen,
            is_told,
        })
    }

    /// Returns it with changes.
    #[must_use]
    pub fn with(self, change: AccountingChange) -> Self {
        let profiling = change.profiling.unwrap_or(self.profiling);
        Self {
            memcg_possible: change.memcg.unwrap_or(self.memcg_possible),
            memcg: change.memcg.unwrap_or(self.memcg),
            memcg_built: self.memcg_built || change.memcg == Some(true),
            profiling,
            profiling_built: self.profiling_built || profiling,
            profiling_possible: change.profiling.unwrap_or(self.profiling_possible),
            ..self
        }
    }

    /// Returns that of a replay.
    pub(crate) fn of(meta: &Meta, change: AccountingChange) -> Option<Self> {
        Some(Self::recorded(meta)?.with(change))
    }

    /// Returns the bytes of a vector's entry for a cache whose objects may be charged or not.
    #[must_use]
    pub fn entry_bytes(&self, may_be_charged: bool, word_bytes: u32) -> u32 {
        let words = match self.form.words {
            EntryWords::Cgroup => return word_bytes,
            EntryWords::Built => u32::from(self.memcg_built) + u32::from(self.profiling_built),
            EntryWords::Needed => u32::from(may_be_charged) + u32::from(self.profiling_possible),
        };
        8 * words
    }

    /// Changes the types that kmalloc has caches of: without charging there are no `kmalloc-cg-*`, and vectors have caches of
    /// their own where allocation profiling may be on.
    pub(crate) fn adjust(&self, change: AccountingChange, types: &mut Vec<KmallocType>) {
        let mut set = |kind, wanted: bool| {
            types.retain(|known| *known != kind);
            if wanted {
                types.push(kind);
            }
        };
        if let Some(memcg) = change.memcg {
            set(KmallocType::Cgroup, memcg);
        }
        if change.profiling.is_some() {
            let apart = self.form.recursion == Recursion::Caches && self.profiling_possible;
            set(KmallocType::NoObjExt, apart);
        }
    }
}

/// Returns whether a call site allocates vectors.
pub(crate) fn is_vector_site(site: &str) -> bool {
    let name = function(site);
    let name = name.split('.').next().unwrap_or(name);
    VECTOR_FUNCTIONS.contains(&name)
}

#[cfg(test)]
mod tests {
    use slablab_trace::{Site, SlabSnapshot};

    use super::*;

    fn meta(release: &str, caches: &[&str], config: &[(&str, &str)]) -> Meta {
        let mut slabs = SlabSnapshot::default();
        slabs.slabinfo = caches.iter().map(|name| format!("{name} 1 1 64 64 1\n")).collect();
        let config = config.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Meta {
            kernel_release: release.to_owned(),
            slabs_start: Some(slabs),
            config: config.collect(),
            sites: vec![Site { name: "alloc_slab_obj_exts.isra.0+0x58".into(), ..Site::default() }],
            ..Meta::default()
        }
    }

    #[test]
    fn a_trace_tells_what_was_on_by_its_configuration_and_its_caches() {
        let caches = ["kmalloc-64", "kmalloc-cg-64"];
        let of = Accounting::recorded(&meta("6.12.117", &caches, &[])).unwrap();
        assert!(of.memcg && of.is_told && !of.profiling && !of.profiling_built);
        let config = [("CONFIG_MEMCG", "y"), ("CONFIG_MEM_ALLOC_PROFILING", "y")];
        let both = Accounting::recorded(&meta("6.12.117", &caches, &config)).unwrap();
        assert!(both.profiling_built && !both.profiling && !both.profiling_possible);
        assert_eq!((of.entry_bytes(true, 8), both.entry_bytes(true, 8)), (8, 16));
        let on = [config[0], config[1], ("vm.mem_profiling", "1")];
        let on = Accounting::recorded(&meta("7.3.4", &["kmalloc-64"], &on)).unwrap();
        assert!(on.profiling && on.profiling_possible && !on.memcg && on.memcg_built);
        assert_eq!((on.entry_bytes(true, 8), on.entry_bytes(false, 8)), (16, 8));
        let old = Accounting::recorded(&meta("6.1.192", &caches, &[])).unwrap();
        assert_eq!((old.entry_bytes(true, 8), old.entry_bytes(true, 4)), (8, 4));
        assert!(Accounting::recorded(&meta("", &caches, &[])).is_none());
    }

    #[test]
    fn what_is_turned_off_at_boot_has_no_caches() {
        let of = Accounting::recorded(&meta("6.12.117", &["kmalloc-64", "kmalloc-cg-64"], &[]));
        let types = |change| {
            let mut types = vec![KmallocType::Reclaim, KmallocType::Cgroup];
            of.unwrap().with(change).adjust(change, &mut types);
            types
        };
        let off = AccountingChange { memcg: Some(false), profiling: None };
        assert_eq!(types(off), [KmallocType::Reclaim]);
        let on = AccountingChange { memcg: None, profiling: Some(true) };
        let expected = [KmallocType::Reclaim, KmallocType::Cgroup, KmallocType::NoObjExt];
        assert_eq!(types(on), expected);
        assert_eq!(of.unwrap().with(on).entry_bytes(true, 8), 16);
    }
}
