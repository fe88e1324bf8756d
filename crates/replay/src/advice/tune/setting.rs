//! A setting of the slab allocator, and what has to be typed for it.
//!
//! Linux counterpart: `Documentation/admin-guide/kernel-parameters.txt`, `/sys/kernel/slab` in `mm/slub.c`, `mm/Kconfig`
//! @ 6.1, 6.12 and 7.3. The names that begin with `slub_` are understood by all of these; those that begin with `slab_` by
//! 6.12 and later.

use std::collections::BTreeMap;

use serde::Serialize;
use slablab_host::shell;
use slablab_kmem::{BackendKind, Tunables};
use slablab_linux::Release;
use slablab_trace::Meta;

use crate::change::changes::{Changes, Sharing};
use crate::change::merging::KernelMerging;
use crate::plan::ReplayPlan;

/// The settings that differ from the recorded kernel's; none by default.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Setting {
    /// The allocator that the kernel is configured with
    pub configured: Configured,
    /// `slab_max_order`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_max: Option<u8>,
    /// `slab_min_objects`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_objects: Option<u32>,
    /// Whether caches that are alike share slabs (`slab_merge`)
    pub merging: Merge,
    /// Full sheaves that a barn takes, and empty ones: constants of the source
    #[serde(skip_serializing_if = "Option::is_none")]
    pub barn_sheaves: Option<u32>,
    /// Settings of all caches
    pub every: CacheSetting,
    /// Settings of single caches, by name, instead of `every`
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub caches: BTreeMap<String, CacheSetting>,
}

/// Which allocator the kernel is configured with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Configured {
    /// The recorded one
    #[default]
    Recorded,
    /// `CONFIG_SLUB_TINY`
    SlubTiny,
}

/// Whether merging is turned on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Merge {
    /// As recorded
    #[default]
    Recorded,
    /// `slab_merge`
    On,
}

/// The settings of a cache: files under `/sys/kernel/slab`, and what the source says of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CacheSetting {
    /// Objects kept in a CPU's partial slabs
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_partial: Option<u32>,
    /// Empty slabs that a node keeps
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_partial: Option<u32>,
    /// Objects in a sheaf, in percent of what `calculate_sheaf_capacity()` returns
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sheaf_percent: Option<u32>,
}

impl CacheSetting {
    /// Returns the values that are set, by the name of their file.
    fn files(self) -> impl Iterator<Item = (&'static str, u32)> {
        let files = [("cpu_partial", self.cpu_partial), ("min_partial", self.min_partial)];
        files.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }

    fn tunables(self) -> Tunables {
        let percent = self.sheaf_percent.map(|percent| ("sheaf_percent", percent));
        let all = self.files().chain(percent);
        all.fold(Tunables::default(), |all, (name, value)| all.with(name, value))
    }
}

/// The words to type for a setting.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Typed {
    /// Words for the kernel's command line
    pub command_line: Vec<String>,
    /// Lines of shell, as root, after each boot
    pub shell: Vec<String>,
    /// Lines of the kernel's configuration
    pub kconfig: Vec<String>,
    /// Changes of the kernel's source, which nothing else sets
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub source: Vec<String>,
}

impl Setting {
    /// Returns whether it is the recorded one.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether it takes effect in a running kernel.
    #[must_use]
    pub fn needs_no_boot(&self) -> bool {
        let Self { every, caches, .. } = self.clone();
        let in_source = caches.values().chain([&every]).any(|one| one.sheaf_percent.is_some());
        !in_source && *self == Self { every, caches, ..Self::default() }
    }

    /// Returns the allocator that a kernel with this setting has.
    pub(crate) fn allocator(&self, recorded: BackendKind) -> BackendKind {
        match self.configured {
            Configured::Recorded => recorded,
            Configured::SlubTiny => BackendKind::SlubTiny,
        }
    }

    /// Returns the plan of a replay with this setting under the recorded allocator.
    pub(crate) fn plan(&self, recorded: BackendKind, base: &ReplayPlan, meta: &Meta) -> ReplayPlan {
        let merges = match self.configured {
            // SLUB_TINY selects SLAB_MERGE_DEFAULT.
            Configured::SlubTiny => KernelMerging::of(meta) == KernelMerging::Off,
            Configured::Recorded => self.merging == Merge::On,
        };
        let own = self.caches.iter().map(|(name, cache)| (name.clone(), cache.tunables()));
        let barns = self.barn_sheaves.map(|sheaves| ("barn_sheaves", sheaves));
        let every = barns
            .into_iter()
            .fold(self.every.tunables(), |all, (name, value)| all.with(name, value));
        let changes = Changes {
            sharing: if merges { Sharing::Merged } else { Sharing::Recorded },
            tunables: every,
            cache_tunables: own.collect(),
            order_max: self.order_max,
            min_objects: self.min_objects,
            ..Changes::default()
        };
        ReplayPlan { allocators: vec![self.allocator(recorded)], changes, ..base.clone() }
    }

    /// Returns what has to be typed for it in a kernel of this release.
    #[must_use]
    pub fn typed(&self, release: &str) -> Typed {
        let prefix = if Release::of(release).is_some_and(Release::has_slab_parameters) {
            "slab"
        } else {
            "slub"
        };
        let orders =
            [("max_order", self.order_max.map(u32::from)), ("min_objects", self.min_objects)];
        let orders = orders.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let mut command_line: Vec<_> =
            orders.map(|(name, value)| format!("{prefix}_{name}={value}")).collect();
        if self.merging == Merge::On {
            command_line.push("slab_merge".to_owned());
        }
        let every = self.every.files().map(|(name, value)| {
            format!("for f in /sys/kernel/slab/*/{name}; do echo {value} > \"$f\"; done")
        });
        let caches = self.caches.iter().flat_map(|(cache, setting)| {
            // A value to which all caches are set needs no second line.
            let differs = |one: &(&str, u32)| !self.every.files().any(|every| every == *one);
            let line = move |(name, value)| format!("echo {value} > {}", file(cache, name));
            setting.files().filter(differs).map(line)
        });
        let kconfig = match self.configured {
            Configured::Recorded => Vec::new(),
            Configured::SlubTiny => {
                ["CONFIG_EXPERT=y", "CONFIG_SLUB_TINY=y"].map(str::to_owned).into()
            }
        };
        Typed { command_line, shell: every.chain(caches).collect(), kconfig, source: self.source() }
    }

    /// Returns what has to be changed in `mm/slub.c`.
    fn source(&self) -> Vec<String> {
        let barns = self.barn_sheaves.map(|sheaves| {
            format!("#define MAX_FULL_SHEAVES {sheaves} and #define MAX_EMPTY_SHEAVES {sheaves}")
        });
        let capacity = |percent: u32| match percent {
            0 => "0, so that there are no sheaves".to_owned(),
            percent => format!("{percent} % of its capacity"),
        };
        let every = self
            .every
            .sheaf_percent
            .map(|percent| format!("calculate_sheaf_capacity() returns {}", capacity(percent)));
        let caches = self.caches.iter().filter_map(|(cache, setting)| {
            let percent = setting.sheaf_percent.filter(|_| *setting != self.every)?;
            Some(format!("for {cache:?} it returns {}", capacity(percent)))
        });
        barns.into_iter().chain(every).chain(caches).collect()
    }

    /// Describes it in as few words as a table has room for; `+2` stands for two caches with numbers
    /// of their own.
    #[must_use]
    pub fn short(&self) -> String {
        let mut words = Vec::new();
        words.extend((self.configured == Configured::SlubTiny).then(|| "SLUB_TINY".to_owned()));
        words.extend(self.order_max.map(|order| format!("max_order={order}")));
        words.extend(self.min_objects.map(|objects| format!("min_objects={objects}")));
        words.extend((self.merging == Merge::On).then(|| "merge".to_owned()));
        words.extend(self.barn_sheaves.map(|sheaves| format!("barn={sheaves}")));
        words.extend(self.every.sheaf_percent.map(|percent| format!("sheaf={percent}%")));
        words.extend(self.every.files().map(|(name, value)| format!("{name}={value}")));
        if !self.caches.is_empty() {
            words.push(format!("+{}", self.caches.len()));
        }
        if words.is_empty() { "as recorded".to_owned() } else { words.join(" ") }
    }
}

/// Returns the path of a cache's file as a word of the shell; sysfs also has `!` where a name has a slash.
fn file(cache: &str, name: &str) -> String {
    shell::word(&format!("/sys/kernel/slab/{}/{name}", cache.replace('/', "!")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_what_one_types() {
        let every = CacheSetting { cpu_partial: Some(0), ..CacheSetting::default() };
        let dentry =
            CacheSetting { cpu_partial: Some(120), min_partial: Some(0), sheaf_percent: None };
        let own = CacheSetting { min_partial: Some(9), ..every };
        let setting = Setting {
            order_max: Some(1),
            min_objects: Some(4),
            merging: Merge::On,
            every,
            caches: [("dentry".to_owned(), dentry), ("a b".to_owned(), own)].into(),
            ..Setting::default()
        };
        let typed = setting.typed("6.12.117-amd64");
        assert_eq!(typed.command_line, ["slab_max_order=1", "slab_min_objects=4", "slab_merge"]);
        assert_eq!(
            typed.shell,
            [
                "for f in /sys/kernel/slab/*/cpu_partial; do echo 0 > \"$f\"; done",
                "echo 9 > '/sys/kernel/slab/a b/min_partial'",
                "echo 120 > /sys/kernel/slab/dentry/cpu_partial",
                "echo 0 > /sys/kernel/slab/dentry/min_partial",
            ]
        );
        assert_eq!(setting.typed("6.1.0").command_line[0], "slub_max_order=1");
        assert_eq!(setting.typed("").command_line[0], "slub_max_order=1");
        assert_eq!(setting.short(), "max_order=1 min_objects=4 merge cpu_partial=0 +2");
        assert!(!setting.needs_no_boot());
        assert!(Setting { every, ..Setting::default() }.needs_no_boot());
    }

    #[test]
    fn sheaves_are_set_in_the_source() {
        let percent =
            |percent| CacheSetting { sheaf_percent: Some(percent), ..CacheSetting::default() };
        let setting = Setting {
            barn_sheaves: Some(2),
            every: percent(50),
            caches: [("filp".to_owned(), percent(0)), ("dentry".to_owned(), percent(200))].into(),
            ..Setting::default()
        };
        let typed = setting.typed("7.3.4");
        assert!(typed.command_line.is_empty() && typed.shell.is_empty());
        assert_eq!(
            typed.source,
            [
                "#define MAX_FULL_SHEAVES 2 and #define MAX_EMPTY_SHEAVES 2",
                "calculate_sheaf_capacity() returns 50 % of its capacity",
                "for \"dentry\" it returns 200 % of its capacity",
                "for \"filp\" it returns 0, so that there are no sheaves",
            ]
        );
        assert_eq!(setting.short(), "barn=2 sheaf=50% +2");
        assert!(!Setting { every: percent(50), ..Setting::default() }.needs_no_boot());
    }
}
