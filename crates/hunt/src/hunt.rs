//! The hunt: looks at the programs' maps again and again, and says what was found.
//!
//! # How it works
//! A look costs next to nothing and sets the shares of the call sites anew. Every few looks the live objects are read: as
//! often as costs half a percent of a CPU at most. When their map is two thirds full, every second object of the call
//! sites that have most goes, and those that stay stand for twice as many; so a hunt of days has the memory of one of minutes.
//!
//! # Invariants
//! What the hunt could not see is counted ([`Unseen`]). An object that was forgotten by us is never one that was freed.

use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use slablab_linux::{Gfp, KmallocType};
use slablab_snapshot::{Reclaim, known};

use crate::companion::{Companion, threads};
use crate::error::Error;
use crate::finding::{Finding, Seen, Unseen};
use crate::group::{Group, Groups, Interner, Key, SETTLE_SECONDS};
use crate::object::{Cache, Comm, Object, text};
use crate::pins::{Pin, Pinned, find};
use crate::process::{CLOCK_HZ, Process, has_evidence};
use crate::sites::{LEFT, PROGRAM_LEFT, Sites, THRESHOLD_NEW, budget};
use crate::slabs::Slabs;
use crate::stacks::{Names, Stacks};
use crate::tables::Tables;
use crate::tracer::{Control, Tracer};
use crate::verdict::{Judged, SETTLED_MIN, Verdict, judge};

/// What is hunted, and with how much memory.
#[derive(Debug, Clone)]
pub struct Options {
    /// Bytes of the tables in the kernel and of what we read of them
    pub ram_bytes: usize,
    /// Functions that allocate for their callers, besides those that are known
    pub helpers: Vec<String>,
    /// Whether every object is followed, whatever that costs
    pub every: bool,
}

/// Share of the map of live objects from which it is thinned out.
const FULL: f64 = 0.66;
/// Shares of a CPU that reading the objects costs at most, and the time between two readings.
const READING_SHARE: f64 = 0.005;
const READING_MIN: Duration = Duration::from_millis(1_900);
/// And so long at most: a verdict needs several readings.
const READING_MAX: Duration = Duration::from_secs(6);
/// Bytes above which kmalloc takes whole pages.
const KMALLOC_BYTES_MAX: u32 = 8192;

/// Frees of a cache count as unseen where the addresses of one in eight of its tracked objects were allocated again.
const UNSEEN_SHARE: u64 = 8;

/// Programs of one owner that are judged together, at least.
const PROGRAMS_MIN: usize = 3;

/// A hunt that is under way.
#[derive(Debug)]
pub struct Hunt {
    tracer: Tracer,
    sites: Sites,
    stacks: Stacks,
    caches: FxHashMap<u64, Cache>,
    texts: Interner,
    pub(crate) groups: Groups,
    objects: usize,
    /// Sites whose objects were thinned out: when, in nanoseconds, and those born until then stand for twice as many
    thinned: FxHashMap<u64, Vec<u64>>,
    slabs_before: Slabs,
    slabs: Slabs,
    /// By cache, tracked objects that were freed unseen
    freed_unseen: FxHashMap<String, u64>,
    /// Threads of the machine when the hunt began
    threads_before: Option<u64>,
    pinned: FxHashMap<Key, Pinned>,
    start: Instant,
    start_ns: u64,
    /// Clock ticks since the machine started, when the hunt did
    start_clock: u64,
    looked: Instant,
    read: Option<Instant>,
    reading: Duration,
}

impl Hunt {
    /// Begins to hunt.
    ///
    /// # Errors
    /// When the kernel refuses the programs, or lacks what they need.
    pub fn start(options: &Options) -> Result<Self, Error> {
        let cpus = possible_cpus();
        let slabs_before = Slabs::now();
        let tables = Tables::of(options.ram_bytes, cpus);
        let (budget, left) =
            if options.every { (f64::INFINITY, u64::from(u32::MAX)) } else { (budget(cpus), LEFT) };
        let tracer = Tracer::start(tables, THRESHOLD_NEW, [left, PROGRAM_LEFT])?;
        let now = Instant::now();
        Ok(Self {
            sites: Sites::new(budget, left),
            stacks: Stacks::new(&options.helpers),
            caches: FxHashMap::default(),
            texts: Interner::default(),
            groups: Groups::default(),
            objects: 0,
            thinned: FxHashMap::default(),
            slabs_before: slabs_before.or_fewer(Slabs::now()),
            slabs: Slabs::default(),
            freed_unseen: FxHashMap::default(),
            threads_before: threads(),
            pinned: FxHashMap::default(),
            start: now,
            start_ns: monotonic_ns(),
            start_clock: clock_ns(rustix::time::ClockId::Boottime) / (1_000_000_000 / CLOCK_HZ),
            looked: now,
            read: None,
            reading: Duration::ZERO,
            tracer,
        })
    }

    /// Looks at what happened since the last time; wants to be called about once a second. Returns whether the objects were
    /// read; the last time they are, whatever that costs.
    ///
    /// # Errors
    /// When a map cannot be read.
    pub fn look(&mut self, name: Names<'_>, is_last: bool) -> Result<bool, Error> {
        let now = Instant::now();
        self.sites.look(&self.tracer, (now - self.looked).as_secs_f64());
        self.looked = now;
        let wait = self.reading.div_f64(READING_SHARE).min(READING_MAX).max(READING_MIN);
        if !is_last && self.read.is_some_and(|read| now - read < wait) {
            return Ok(false);
        }
        // Not by the clock: on a busy machine that runs on while others have the CPU.
        let before = cpu_ns();
        self.read_objects(name, is_last)?;
        self.read = Some(now);
        self.reading = Duration::from_nanos(cpu_ns().saturating_sub(before));
        Ok(true)
    }

    /// Returns how long the hunt lasts already.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    fn read_objects(&mut self, name: Names<'_>, is_last: bool) -> Result<(), Error> {
        let entries = self.tracer.live()?;
        let now_ns = monotonic_ns();
        let objects = entries.iter().map(|(key, value)| Object::parse(key, value));
        let mut objects: Vec<Object> = objects.map(|object| self.weighed(object)).collect();
        // What is read of a full map is a sixth of the hunt's memory.
        drop(entries);
        if objects.iter().any(|object| object.stack != 0 && !self.stacks.has(object.stack)) {
            self.stacks.read(&self.tracer, name)?;
        }
        if objects.iter().any(|one| one.cache != 0 && !self.caches.contains_key(&one.cache)) {
            for (key, value) in self.tracer.caches()?.iter() {
                let address = u64::from_ne_bytes(key.try_into().expect("eight bytes"));
                self.caches.insert(address, Cache::parse(value));
            }
        }
        if objects.len() as f64 > self.tracer.tables.live as f64 * FULL {
            self.thin_out(&mut objects, now_ns)?;
        }
        self.objects = objects.len();
        self.read_unseen(&objects)?;
        self.slabs = Slabs::now();
        if self.read.is_none() {
            self.slabs_before = std::mem::take(&mut self.slabs_before).or_fewer(Slabs::now());
        }
        let keyed: Vec<(Key, Object)> =
            objects.into_iter().map(|object| (self.key(&object, name), object)).collect();
        let now = now_ns.saturating_sub(self.start_ns) as f64 / 1e9;
        if is_last {
            self.pinned =
                find(&keyed, [&self.slabs_before, &self.slabs], |key| self.texts.text(key.cache));
        }
        let weight_max = |site, program: &Comm| self.sites.weight_max(site, program);
        self.groups.take(&keyed, self.start_ns, now, &weight_max);
        Ok(())
    }

    /// Reads how many objects of each cache were freed unseen; a class of kmalloc has the names that `objects` of it have.
    fn read_unseen(&mut self, objects: &[Object]) -> Result<(), Error> {
        let counts = self.tracer.freed_unseen()?;
        let number = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
        let counts: FxHashMap<u64, u64> =
            counts.iter().map(|(key, value)| (number(key), number(value))).collect();
        self.freed_unseen.clear();
        for object in objects {
            let cache = self.caches.get(&object.cache);
            let key = if cache.is_some() { object.cache } else { object.allocated_bytes.into() };
            let Some(count) = counts.get(&key) else { continue };
            let name = cache.map_or_else(|| kmalloc_name(object), |cache| cache.name.clone());
            self.freed_unseen.insert(name, *count);
        }
        Ok(())
    }

    /// Gives an object the weight that it has since others of its site were forgotten.
    fn weighed(&self, object: Object) -> Object {
        let times = self.thinned.get(&object.site).map_or(&[][..], Vec::as_slice);
        let halvings = times.iter().filter(|time| **time >= object.time_ns).count();
        Object { weight: object.weight * (halvings as f64).exp2(), ..object }
    }

    /// Forgets every second object of the sites that have most, until the map is half full.
    fn thin_out(&mut self, objects: &mut Vec<Object>, now_ns: u64) -> Result<(), Error> {
        let wanted = self.tracer.tables.live / 2;
        while objects.len() > wanted {
            let mut counts: FxHashMap<u64, usize> = FxHashMap::default();
            objects.iter().for_each(|object| *counts.entry(object.site).or_default() += 1);
            let Some((&site, _)) = counts.iter().max_by_key(|(site, count)| (**count, **site))
            else {
                break;
            };
            let mut at = 0usize;
            let mut failed = Ok(());
            objects.retain_mut(|object| {
                if object.site != site || failed.is_err() {
                    return true;
                }
                at += 1;
                if at.is_multiple_of(2) {
                    failed = self.tracer.forget(object.address);
                    return false;
                }
                object.weight *= 2.0;
                true
            });
            failed?;
            self.thinned.entry(site).or_default().push(now_ns);
        }
        Ok(())
    }

    fn key(&mut self, object: &Object, name: Names<'_>) -> Key {
        let owner = match self.stacks.get(object.stack) {
            Some(stack) => self.texts.number(&stack.owner),
            None => self.texts.number(&crate::stacks::owner_name(&name(object.site))),
        };
        let cache = match self.caches.get(&object.cache) {
            Some(cache) => self.texts.number(&cache.name),
            None => self.texts.number(&kmalloc_name(object)),
        };
        Key { owner, comm: object.comm, cache }
    }

    /// Says of each group what it is, the verdicts that matter most first.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        let now = self.read.map_or(0.0, |read| (read - self.start).as_secs_f64());
        let groups = self.groups.groups.iter().filter(|(_, group)| !group.births.is_empty());
        let mut findings: Vec<Finding> =
            groups.map(|(key, group)| self.finding(key, &[key.comm], group, now)).collect();
        findings.extend(self.of_several_programs(now));
        self.check(&mut findings);
        findings.sort_by(|a, b| {
            (a.verdict, &b.bytes_per_second)
                .partial_cmp(&(b.verdict, &a.bytes_per_second))
                .unwrap_or(std::cmp::Ordering::Equal)
                .then_with(|| (&a.owner, &a.program).cmp(&(&b.owner, &b.program)))
        });
        findings
    }

    /// Finds leaks by short-lived programs with names of their own: each by itself keeps too little to be told.
    fn of_several_programs(&self, now: f64) -> Vec<Finding> {
        let mut owners: FxHashMap<(u32, u32), Vec<(&Key, &Group)>> = FxHashMap::default();
        for (key, group) in self.groups.groups.iter().filter(|(_, group)| group.is_alive()) {
            owners.entry((key.owner, key.cache)).or_default().push((key, group));
        }
        let mut found = Vec::new();
        for mut groups in owners.into_values().filter(|groups| groups.len() >= PROGRAMS_MIN) {
            // What one program leaks is told as its own.
            groups.retain(|(_, group)| group.settled(now) < SETTLED_MIN);
            groups.sort_unstable_by_key(|(key, _)| key.comm);
            if groups.len() < PROGRAMS_MIN {
                continue;
            }
            let parts: Vec<&Group> = groups.iter().map(|(_, group)| *group).collect();
            let comms: Vec<Comm> = groups.iter().map(|(key, _)| key.comm).collect();
            let all = Group::together(&parts);
            let finding = self.finding(groups[0].0, &comms, &all, now);
            // What runs may yet free what it has.
            let is_told = finding.processes_running * 2 <= finding.processes;
            found.extend(Some(finding).filter(|one| one.verdict == Verdict::Leak && is_told));
        }
        found
    }

    /// Judges a group of the programs `comms`.
    fn finding(&self, key: &Key, comms: &[Comm], group: &Group, now: f64) -> Finding {
        let cache = self.texts.text(key.cache).to_owned();
        let most = |counts: &FxHashMap<u32, f64>| {
            counts.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0))).map(|(key, _)| *key)
        };
        let stack = most(&group.stacks).and_then(|number| self.stacks.get(number));
        let companion = stack.and_then(|stack| stack.companion);
        let is_given_back = companion == Some(Companion::Inode) || self.is_given_back(&cache);
        let judged = judge(group, now, is_given_back);
        let cgroup = group.cgroups.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(id, _)| *id);
        let (objects, bytes) = group.born_until(f64::INFINITY);
        let bytes_each = bytes / objects.max(1.0);
        let site =
            group.sites.iter().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(site, _)| *site);
        let names: Vec<String> = comms.iter().map(|comm| text(comm)).collect();
        let program = match &names[..] {
            [name] => name.clone(),
            names => format!("{} programs", names.len()),
        };
        let mut processes: Vec<(u32, Process)> =
            group.processes.keys().map(|id| (*id, self.process(*id, group))).collect();
        processes.sort_unstable_by_key(|(id, process)| (*process == Process::Ended, *id));
        let running = processes.iter().filter(|(_, process)| *process != Process::Ended).count();
        let judged = match judged.verdict {
            _ if stack.is_some_and(|stack| stack.is_of_the_allocator) => {
                Judged { verdict: Verdict::Population, until: None, ..judged }
            }
            Verdict::Leak
                if companion == Some(Companion::ThreadStack) && !self.threads_grew(objects) =>
            {
                Judged { verdict: Verdict::Population, until: None, ..judged }
            }
            // Not before some of them end.
            Verdict::Leak if !has_evidence(group, &processes, self.start_clock) => {
                Judged { verdict: Verdict::NotYet, until: None, ..judged }
            }
            _ => judged,
        };
        Finding {
            owner: self.texts.text(key.owner).to_owned(),
            cache,
            verdict: judged.verdict,
            told_at_seconds: judged.until,
            objects: objects.round() as u64,
            bytes: bytes.round() as u64,
            seen: group.births.len() as u64,
            per_second: judged.per_second,
            interval: judged.interval,
            bytes_per_second: judged.per_second * bytes_each,
            survival: judged.survival,
            oldest_seconds: group.births.first().map_or(0.0, |birth| now - birth.seconds),
            site_allocations_per_second: self.sites.of(site).0,
            processes: processes.len() as u64,
            processes_running: running as u64,
            process: processes.first().map(|(id, _)| *id),
            cgroup_id: cgroup.filter(|id| *id > 1),
            frees_unseen: false,
            stack: stack.map(|stack| stack.frames.clone()).unwrap_or_default(),
            program,
            programs: names.len() as u64,
        }
    }

    /// Looks at a process of a group.
    fn process(&self, id: u32, group: &Group) -> Process {
        let seconds = group.allocated.get(&id).copied().unwrap_or_default();
        Process::look(id, self.start_clock + (seconds * CLOCK_HZ as f64) as u64)
    }

    /// Says who keeps sparse slabs, those who keep most first; known after the last look.
    #[must_use]
    pub fn pins(&self) -> Vec<Pin> {
        let now_ns =
            self.start_ns + self.read.map_or(0, |read| (read - self.start).as_nanos() as u64);
        let pin = |(key, pinned): (&Key, &Pinned)| {
            let mut born = pinned.born_ns.clone();
            born.sort_unstable();
            let median = born[born.len() / 2];
            Pin {
                owner: self.texts.text(key.owner).to_owned(),
                program: text(&key.comm),
                cache: self.texts.text(key.cache).to_owned(),
                slabs: pinned.slabs,
                objects: born.len() as u64,
                bytes: pinned.bytes.round() as u64,
                median_seconds: now_ns.saturating_sub(median) as f64 / 1e9,
                cache_slabs: pinned.geometry.slabs,
                others: pinned.geometry.active.saturating_sub(pinned.followed),
                stack: self
                    .stacks
                    .get(pinned.stack)
                    .map(|one| one.frames.clone())
                    .unwrap_or_default(),
            }
        };
        let mut pins: Vec<Pin> = self.pinned.iter().map(pin).collect();
        pins.sort_by(|a, b| {
            b.bytes.cmp(&a.bytes).then_with(|| (&a.owner, &a.program).cmp(&(&b.owner, &b.program)))
        });
        pins
    }

    /// Takes verdicts back that the caches themselves contradict: their frees were not seen.
    fn check(&self, findings: &mut [Finding]) {
        let mut claimed: FxHashMap<String, (f64, u64)> = FxHashMap::default();
        // What several programs have together is among their own already.
        for finding in findings.iter().filter(|finding| finding.programs == 1) {
            let (objects, seen) = claimed.entry(finding.cache.clone()).or_default();
            *objects += finding.objects as f64;
            *seen += finding.seen;
        }
        let cpus = self.tracer.tables.cpus;
        let grows = [Verdict::Leak, Verdict::Cache];
        for finding in findings.iter_mut().filter(|finding| grows.contains(&finding.verdict)) {
            let (claimed, seen) = claimed[&finding.cache];
            let again = self.freed_unseen.get(&finding.cache).copied().unwrap_or(0);
            let (before, now) = (&self.slabs_before, &self.slabs);
            let is_unseen = again > seen / UNSEEN_SHARE;
            if before.contradicts(now, &finding.cache, claimed, cpus, is_unseen) {
                finding.verdict = Verdict::Population;
                finding.frees_unseen = true;
            }
        }
    }

    /// Tells whether there are more threads than at the beginning, enough to have these objects, or that is not known.
    fn threads_grew(&self, objects: f64) -> bool {
        let grown =
            threads().zip(self.threads_before).map(|(now, before)| now as f64 - before as f64);
        grown.is_none_or(|grown| grown >= objects / 2.0)
    }

    /// Tells whether the kernel frees objects of a cache under pressure: by what is known of it, or by its flags.
    fn is_given_back(&self, cache: &str) -> bool {
        match known(cache).map(|known| known.reclaim) {
            Some(Reclaim::GivenBack) => true,
            Some(Reclaim::Kept) => false,
            _ => self
                .caches
                .values()
                .any(|one| one.name == cache && one.flags & self.tracer.reclaim_flag != 0),
        }
    }

    /// Returns which leaks of the program that is followed least are not seen, in objects a second.
    fn unseen_leaks(&self) -> f64 {
        let heaviest = self.sites.heaviest();
        let settled = (self.elapsed().as_secs_f64() - SETTLE_SECONDS).max(1.0);
        if heaviest > 1.0 { heaviest * SETTLED_MIN as f64 / settled } else { 0.0 }
    }

    /// Returns what was seen in all.
    #[must_use]
    pub fn seen(&self) -> Seen {
        Seen {
            seconds: self.elapsed().as_secs_f64(),
            allocations: self.sites.allocations(),
            sites: self.sites.count() as u64,
            // Those of now are not counted before the next look.
            tracked: self.tracer.get(Control::Tracked).min(self.sites.allocations()),
            freed: self.tracer.get(Control::Freed),
            alive: self.objects as u64,
            alive_max: self.tracer.tables.live as u64,
            older: self.slabs_before.in_use(),
        }
    }

    /// Returns what could not be seen.
    #[must_use]
    pub fn unseen(&self) -> Unseen {
        let get = |word| self.tracer.get(word);
        Unseen {
            nested: self.tracer.misses(),
            live_full: get(Control::LiveFull),
            sites_full: get(Control::SitesCrowded),
            programs_full: self.sites.without_room(),
            programs_want_memory: self.tracer.tables.may_grow(),
            leaks_per_second: self.unseen_leaks(),
            stacks_full: get(Control::StacksFull),
            stacks_failed: get(Control::StacksFailed),
            stacks_cut: get(Control::StacksCut),
            frees: get(Control::FreesUnseen),
            unwatched: self.tracer.unwatched().to_vec(),
        }
    }
}

/// Names the cache of kmalloc that an object is in.
fn kmalloc_name(object: &Object) -> String {
    if object.allocated_bytes > KMALLOC_BYTES_MAX {
        return "kmalloc, whole pages".to_owned();
    }
    KmallocType::of(Gfp(object.gfp)).name(u64::from(object.allocated_bytes))
}

/// Returns the CPUs that the machine may have: what is counted by CPU needs a place for each.
fn possible_cpus() -> usize {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    let last = text.trim().rsplit(['-', ',']).next().and_then(|last| last.parse::<usize>().ok());
    last.map_or_else(
        || std::thread::available_parallelism().map_or(1, usize::from),
        |last| last + 1,
    )
}

/// Returns the time of the clock that programs read.
fn monotonic_ns() -> u64 {
    clock_ns(rustix::time::ClockId::Monotonic)
}

/// Returns the time that this thread had a CPU.
fn cpu_ns() -> u64 {
    clock_ns(rustix::time::ClockId::ThreadCPUTime)
}

fn clock_ns(clock: rustix::time::ClockId) -> u64 {
    let time = rustix::time::clock_gettime(clock);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}
