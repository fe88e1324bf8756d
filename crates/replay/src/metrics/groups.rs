//! Holders by what people ask for: call site, cache, stack, owner, module, type, directory, program, cgroup.
//!
//! How it works: every group is a sum of the same holders ([`crate::metrics::held`]), so that all groupings have one total.
//! The stack of an allocation without one is its call site alone. Frames below the call site, which are those of the
//! allocator and of the tracer, are left out. The owner is the first frame that does not help; helpers are those of Linux,
//! those that a user names, and those that the trace itself shows to allocate for many callers.

use std::collections::BTreeMap;

use slablab_linux::{Callers, Helpers, function_of};
use slablab_trace::{Meta, Recorded, Site};

use crate::metrics::held::{Amount, Holder, Holding, Holdings, Part};

/// What holders are put together by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The function and offset that the event names
    Site,
    /// The cache
    Cache,
    /// The call stack
    Stack,
    /// The first function that does not allocate for its callers
    Owner,
    /// The module that the owner is in
    Module,
    /// The type that is allocated
    Type,
    /// The directory of the owner's source
    Directory,
    /// What the thread that allocated is called
    Program,
    /// The memory cgroup that the thread was in
    Cgroup,
}

/// What stands for a name that nothing tells.
const UNKNOWN: &str = "(not known)";
/// This stands for the kernel proper, outside of all modules.
const KERNEL: &str = "vmlinux";
/// A function that only helpers call is found in this number of steps at most.
const ROUNDS: usize = 4;

/// The names of groups.
#[derive(Debug)]
pub struct Labels<'a> {
    meta: &'a Meta,
    holdings: &'a Holdings,
    helpers: Helpers,
    /// By call site, what it allocates
    types: Vec<Option<String>>,
    /// By frame, the directory of its source
    directories: BTreeMap<String, String>,
}

impl<'a> Labels<'a> {
    /// Names groups of `holdings`, which are of the trace that `meta` is of; `more` are helpers that a user named.
    #[must_use]
    pub fn new(meta: &'a Meta, holdings: &'a Holdings, more: &[String]) -> Self {
        let (types, directories) = (Vec::new(), BTreeMap::new());
        let helpers = Helpers::known().and(more);
        let mut labels = Self { meta, holdings, helpers, types, directories };
        for _ in 0..ROUNDS {
            let mut callers = Callers::default();
            for holding in &holdings.holders {
                let frames = labels.frames(&holding.holder);
                callers.add(&labels.helpers, &frames, holding.allocated.objects);
            }
            let found: Vec<String> = callers.helpers().into_iter().map(str::to_owned).collect();
            if found.is_empty() {
                break;
            }
            labels.helpers = labels.helpers.and(found);
        }
        labels
    }

    /// Says what call sites allocate, in the order of the trace's.
    #[must_use]
    pub fn types(self, types: Vec<Option<String>>) -> Self {
        Self { types, ..self }
    }

    /// Says in which directories the source of frames is, by their names.
    #[must_use]
    pub fn directories(self, directories: BTreeMap<String, String>) -> Self {
        Self { directories, ..self }
    }

    /// Returns the frames of a holder from its call site outwards.
    #[must_use]
    pub fn frames(&self, holder: &Holder) -> Vec<&'a str> {
        self.calls(holder).map(|(name, _)| name).collect()
    }

    /// Returns the same frames with their addresses, 0 where one is not known.
    pub fn calls(&self, holder: &Holder) -> impl Iterator<Item = (&'a str, u64)> + use<'a> {
        let site = self.meta.sites.get(holder.site as usize);
        let stacks = &self.meta.stacks;
        let frames: Vec<_> = stacks.frames(holder.stack).collect();
        let name = site.map_or("", |site| &site.name);
        let is_address = |address: u64| site.is_some_and(|s| s.address == address && address != 0);
        let start = frames
            .iter()
            .position(|frame| is_address(frame.address) || frame.name == name)
            .or_else(|| {
                let function = function_of(name);
                frames.iter().position(|frame| function_of(&frame.name) == function)
            });
        let alone = frames.is_empty().then_some(match site {
            Some(site) => (site.name.as_str(), site.address),
            None => (UNKNOWN, 0),
        });
        // Where no frame is the call site (a tail call, a chain of another form) all of them are shown.
        let calls = frames.into_iter().skip(start.unwrap_or(0));
        alone.into_iter().chain(calls.map(|frame| (frame.name.as_str(), frame.address)))
    }

    /// Returns the owner of a holder.
    #[must_use]
    pub fn owner(&self, holder: &Holder) -> &'a str {
        let frames = self.frames(holder);
        frames.get(self.helpers.owner(&frames)).copied().unwrap_or(UNKNOWN)
    }

    /// Returns the owners as places in code, to look up their source.
    #[must_use]
    pub fn owners(&self) -> Vec<Site> {
        let stacks = &self.meta.stacks;
        let mut owners = BTreeMap::new();
        for holding in &self.holdings.holders {
            let name = self.owner(&holding.holder);
            let site = self.meta.sites.iter().find(|site| site.name == name);
            let frame = || stacks.frames(holding.holder.stack).find(|frame| frame.name == name);
            let address = match site {
                Some(site) => site.address,
                None => frame().map_or(0, |frame| frame.address),
            };
            owners.entry(name).or_insert(Site {
                name: name.to_owned(),
                address,
                ..Site::default()
            });
        }
        owners.into_values().collect()
    }

    /// Returns the name of the group that a holder is in.
    #[must_use]
    pub fn of(&self, by: By, holder: &Holder) -> String {
        let known = |name: Option<&String>| match name {
            Some(name) if !name.is_empty() => name.clone(),
            _ => UNKNOWN.to_owned(),
        };
        match by {
            By::Site => self
                .meta
                .sites
                .get(holder.site as usize)
                .map_or(UNKNOWN, |site| &site.name)
                .to_owned(),
            By::Cache => known(self.holdings.caches.get(holder.cache as usize)),
            By::Cgroup => known(self.holdings.cgroups.get(holder.cgroup as usize)),
            By::Program => known(self.holdings.programs.get(holder.program as usize)),
            // One owner is one function, wherever in it the call stands.
            By::Owner => function(self.owner(holder)),
            By::Module => module(self.owner(holder)),
            By::Type => known(self.types.get(holder.site as usize).and_then(Option::as_ref)),
            By::Directory => known(self.directories.get(self.owner(holder))),
            By::Stack => self.frames(holder).join(" < "),
        }
    }
}

/// Returns the function of a frame, with its module.
fn function(frame: &str) -> String {
    let function = function_of(frame);
    match frame.split_once(" [") {
        Some((_, module)) => format!("{function} [{module}"),
        None => function.to_owned(),
    }
}

/// Returns the module of a frame.
fn module(frame: &str) -> String {
    match frame.split_once(" [").and_then(|(_, rest)| rest.split_once(']')) {
        Some((module, _)) => module.to_owned(),
        None if frame.starts_with("0x") || frame == UNKNOWN => UNKNOWN.to_owned(),
        None => KERNEL.to_owned(),
    }
}

/// Holders of one name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Group {
    /// The name, one by each grouping that was asked for
    pub names: Vec<String>,
    /// The stack that has most of it at the last moment, or that allocated most: from the call site outwards
    pub stack: Vec<String>,
    /// All that was allocated
    pub allocated: Amount,
    /// What was alive at each moment
    pub live: Vec<Amount>,
    /// Objects that were freed
    pub ended: u64,
    /// How long these lived on average
    pub lifetime_mean_ns: u64,
    /// Of a portion of all objects: what all of them are, in 95 of 100 recordings, where that can be told
    pub bounds: Option<Bounds>,
}

/// Least and most of the numbers of a group, of all objects, told by a portion of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bounds {
    /// All that was allocated
    pub allocated: AmountBounds,
    /// What was alive at each moment
    pub live: Vec<AmountBounds>,
}

/// Least and most objects and bytes; `None` where they come from too few blocks of memory, from objects that are larger than one,
/// or, of what was alive, from caches many of whose frees have no event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AmountBounds {
    /// Objects
    pub objects: Option<(u64, u64)>,
    /// Bytes that they were given
    pub bytes: Option<(u64, u64)>,
}

/// What a group has in each class of blocks, in the making.
#[derive(Debug, Default)]
struct Spread {
    /// First what it allocated, then what was alive at each moment
    sums: BTreeMap<u32, Vec<Amount>>,
    /// Whether some of its objects are larger than a block
    has_large: bool,
    /// Whether frees of some of its objects have no event: then nothing tells what was alive
    has_unseen_frees: bool,
}

impl Spread {
    fn add(&mut self, part: &Part, has_unseen_frees: bool) {
        let Amount { objects, bytes, .. } = part.allocated;
        self.has_large |= Recorded::is_large(bytes / objects.max(1));
        self.has_unseen_frees |= has_unseen_frees;
        let sums = self.sums.entry(part.class).or_default();
        sums.resize(1 + part.live.len(), Amount::default());
        let amounts = [part.allocated].into_iter().chain(part.live.iter().copied());
        sums.iter_mut().zip(amounts).for_each(|(sum, amount)| sum.add(amount));
    }

    fn bounds(&self, portion: &Recorded, moments: usize) -> Bounds {
        let of = |place: usize| {
            if self.has_large || place > 0 && self.has_unseen_frees {
                return AmountBounds::default();
            }
            let amounts = || self.sums.values().filter_map(move |sums| sums.get(place));
            AmountBounds {
                objects: portion.interval_of(amounts().map(|amount| amount.objects)),
                bytes: portion.interval_of(amounts().map(|amount| amount.bytes)),
            }
        };
        Bounds { allocated: of(0), live: (1..=moments).map(of).collect() }
    }
}

/// Puts holders together by `by`, in the order of their names.
#[must_use]
pub fn groups(holdings: &Holdings, labels: &Labels<'_>, by: &[By]) -> Vec<Group> {
    let mut all: BTreeMap<Vec<String>, (Group, u64, (u64, u64))> = BTreeMap::new();
    let names_of = |holding: &Holding| -> Vec<String> {
        by.iter().map(|by| labels.of(*by, &holding.holder)).collect()
    };
    let mut names_of_holders = Vec::new();
    for holding in &holdings.holders {
        let names = names_of(holding);
        if !holdings.parts.is_empty() {
            names_of_holders.push(names.clone());
        }
        let (group, lived_ns, most) = all.entry(names).or_default();
        group.live.resize(holding.live.len(), Amount::default());
        group.live.iter_mut().zip(&holding.live).for_each(|(sum, live)| sum.add(*live));
        group.allocated.add(holding.allocated);
        group.ended += holding.ended;
        *lived_ns = lived_ns.saturating_add(holding.lived_ns);
        let rank = (holding.live.last().map_or(0, |live| live.bytes), holding.allocated.bytes);
        if group.stack.is_empty() || rank > *most {
            *most = rank;
            let frames = labels.frames(&holding.holder);
            group.stack = frames.into_iter().map(str::to_owned).collect();
        }
    }
    let mut spreads: BTreeMap<&[String], Spread> = BTreeMap::new();
    let unseen: Vec<&str> = labels
        .meta
        .caches
        .iter()
        .filter(|cache| cache.has_unseen_frees())
        .map(|cache| &*cache.name)
        .collect();
    for part in &holdings.parts {
        let holding = part.holding as usize;
        let cache = holdings.caches.get(holdings.holders[holding].holder.cache as usize);
        let is_unseen = cache.is_some_and(|cache| unseen.contains(&cache.as_str()));
        spreads.entry(&names_of_holders[holding]).or_default().add(part, is_unseen);
    }
    let portion = labels.meta.portion.as_ref().filter(|portion| portion.classes > 0);
    let bounds = |names: &[String], group: &Group| {
        Some(spreads.get(names)?.bounds(portion?, group.live.len()))
    };
    let named = all.into_iter().map(|(names, (group, lived_ns, _))| Group {
        lifetime_mean_ns: lived_ns.checked_div(group.ended).unwrap_or(0),
        bounds: bounds(&names, &group),
        names,
        ..group
    });
    named.collect()
}
