//! Probes at functions that allocate or free many objects in one call, for which the kernel has no event.
//!
//! # How it works
//! Kprobe events are defined for the whole kernel, in a group of this process's own, and turned on in our
//! instance like any event. They record the array of pointers that the function was given, in parts ([`bulk::part`]). Two
//! kprobes have up to 40 pointers, and both read memory at every call. For the long arrays of `kfree_rcu` there are
//! others, at the function that frees those, which is called seldom. (512 pointers by kprobes alone took a storm of
//! processes from 1.25 to 1.40 times its untraced instructions on Linux 6.12, as was measured.) A definition that this
//! kernel refuses is tried in simpler words, and left out at last. Then nothing is recorded there, and the frees are
//! estimated, as they are where a kernel has no kprobe events at all.
//!
//! The needs of the definitions: pointers of a free need kprobe events. Pointers of an allocation are known when the
//! function returns, so they need its arguments in a return probe (6.9 on) and the fields of `struct kmem_cache` (BTF).
//! Without those of allocations the frees of caches are left out as well: on 6.1 they doubled the events that could not be
//! placed. `kfree_bulk` and `kvfree_rcu_bulk` end in `kmem_cache_free_bulk`. Where objects are freed through sheaves (6.18
//! on), `__kfree_rcu_sheaf` takes what `kfree_rcu` is given, and no event tells of it later.
//!
//! # Invariants
//! No probe is left behind, whatever ends the recording but SIGKILL, and that one's are removed by the next.
//!
//! Linux counterpart: `kernel/trace/trace_kprobe.c`, `kernel/trace/trace_probe.c` @ 6.12, `mm/slub.c` @ 6.1 to 7.3.

use super::filter::{self, Filter};
use super::machine;
use super::tracefs::{Instance, Tracefs};
use crate::source::bulk;

/// Calls of one function that a return probe follows at the same time; the kernel's own figure is twice the CPUs, which
/// callers that sleep exceed.
const RETURNS_MAX: u32 = 256;

/// An event that is wanted.
struct Wanted {
    event: String,
    function: &'static str,
    /// The field that holds the call site; `None` for a free, whose call site tells nothing of the object.
    site: Option<&'static str>,
    /// A test that the record must pass.
    test: Option<String>,
    /// Its definitions; the first one that the kernel accepts is used.
    definitions: Vec<String>,
}

/// Where the pointers begin in `struct kvfree_rcu_bulk_data` of `kernel/rcu/tree.c` @ 6.6, `mm/slab_common.c` @ 7.3: behind a
/// list head, two numbers of grace periods and the number of pointers.
const RECORDS_OFFSET: u64 = 40;

/// The probes of a recording. They are gone when this is dropped, after the instance that they are on in.
#[derive(Debug)]
pub(super) struct Probes {
    tracefs: Tracefs,
    group: String,
    /// The names of the events.
    events: Vec<String>,
    /// The functions that are probed.
    pub(super) functions: Vec<String>,
}

impl Probes {
    /// Returns no probes.
    pub(super) fn none(tracefs: &Tracefs, instance: &Instance) -> Probes {
        let (events, functions) = (Vec::new(), Vec::new());
        Probes { tracefs: tracefs.clone(), group: instance.probe_group(), events, functions }
    }

    /// Defines what this kernel allows, with the filters of `filter` in `instance`. A portion of the objects is not
    /// chosen by a filter of arrays, and SLOB frees in bulk by functions that have events: nothing is defined then.
    pub(super) fn define(tracefs: &Tracefs, instance: &Instance, filter: &Filter) -> Probes {
        let mut probes = Probes::none(tracefs, instance);
        if filter.is_of_a_portion() || machine::may_be_slob() {
            return probes;
        }
        let group = probes.group.clone();
        let knows_allocs = probes.add_one_of(instance, filter, &allocs(&group));
        for functions in frees(&group, knows_allocs) {
            probes.add_one_of(instance, filter, &functions);
        }
        probes
    }

    /// Returns how many calls the kernel passed over: the probe was busy, or too many calls had not returned.
    pub(super) fn missed(&self) -> u64 {
        let profile = self.tracefs.read("kprobe_profile").unwrap_or_default();
        let missed = |line: &str| {
            let mut words = line.split_whitespace();
            let event = words.next()?;
            // All events of a function are missed together.
            let is_ours = self.events.iter().any(|own| own == event);
            let is_first = event.ends_with("_0") || event == bulk::FREE_RCU;
            words.next_back()?.parse::<u64>().ok().filter(|_| is_ours && is_first)
        };
        profile.lines().filter_map(missed).sum()
    }

    /// Returns the events, as they are found in `events`.
    pub(super) fn paths(&self) -> impl Iterator<Item = String> + '_ {
        self.events.iter().map(|event| format!("{}/{event}", self.group))
    }

    /// Defines the events of the first of some functions that has them all: without its first the others would tell half.
    fn add_one_of(
        &mut self,
        instance: &Instance,
        filter: &Filter,
        functions: &[Vec<Wanted>],
    ) -> bool {
        functions.iter().any(|function| self.add_all(instance, filter, function))
    }

    /// Defines all events of one function; returns whether there are all.
    fn add_all(&mut self, instance: &Instance, filter: &Filter, wanted: &[Wanted]) -> bool {
        let before = self.events.len();
        let is_there = wanted.iter().all(|wanted| self.add(instance, filter, wanted));
        if !is_there {
            for event in self.events.split_off(before) {
                self.tracefs.remove_probe(&format!("{}/{event}", self.group));
            }
        } else if let Some(first) = wanted.first() {
            self.functions.push(first.function.into());
        }
        is_there
    }

    fn add(&mut self, instance: &Instance, filter: &Filter, wanted: &Wanted) -> bool {
        let defined = wanted
            .definitions
            .iter()
            .any(|definition| self.tracefs.define_probe(definition).is_ok());
        if !defined {
            return false;
        }
        self.events.push(wanted.event.clone());
        let path = format!("{}/{}", self.group, wanted.event);
        let has_name =
            || instance.event_format(&path).is_ok_and(|format| format.field("name").is_some());
        if filter.is_of_caches() && !has_name() {
            return false;
        }
        let mut tests = filter.tests(wanted.site);
        tests.extend(wanted.test.clone());
        tests.is_empty()
            || instance.write(&format!("events/{path}/filter"), &tests.join(" && ")).is_ok()
    }
}

impl Drop for Probes {
    fn drop(&mut self) {
        self.paths().for_each(|path| self.tracefs.remove_probe(&path));
    }
}

/// Returns the functions that may allocate in bulk, each with its events.
fn allocs(group: &str) -> Vec<Vec<Wanted>> {
    let functions = ["kmem_cache_alloc_bulk_noprof", "kmem_cache_alloc_bulk"];
    let events =
        |function| (0..bulk::OF_ALL).map(|part| alloc_bulk(group, function, part)).collect();
    functions.map(events).into()
}

/// Returns of each job the functions that may free in bulk, each with its events.
fn frees(group: &str, knows_allocs: bool) -> Vec<Vec<Vec<Wanted>>> {
    let rest = |wanted: fn(&str, u64) -> Wanted| {
        (bulk::OF_ALL..bulk::PARTS).map(|part| wanted(group, part)).collect()
    };
    vec![
        vec![(0..bulk::OF_ALL).map(|part| free_bulk(group, part, knows_allocs)).collect()],
        vec![rest(kvfree_rcu_bulk), rest(rcu_event)],
        vec![vec![free_rcu(group)]],
    ]
}

/// Returns the words for the pointers of a part of the array at `argument`.
fn pointers(argument: &str, part: u64) -> String {
    let (before, count) = bulk::part(part);
    format!("ptr=+{}({argument}):x64[{count}]", before * 8)
}

/// Returns the test that an array has more pointers than are before this part.
fn longer(part: u64, count: &str) -> Option<String> {
    (part > 0).then(|| format!("{count} > {}", bulk::part(part).0))
}

/// Returns the words for the call site at the entry of a function: what it will return to.
fn return_address() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" | "x86" => "site=$stack0:x64",
        "aarch64" => "site=%lr:x64",
        "riscv64" => "site=%ra:x64",
        // The function itself.
        _ => "site=%ip:x64",
    }
}

/// Where allocations in bulk are not known, what is freed of a cache in bulk is mostly what they made: of kmalloc's
/// objects alone the frees say something then.
fn free_bulk(group: &str, part: u64, knows_allocs: bool) -> Wanted {
    let function = if knows_allocs { "kmem_cache_free_bulk" } else { "kfree_bulk" };
    let event = format!("{}{part}", bulk::FREE_BULK);
    let (site, ptr) = (return_address(), pointers("$arg3", part));
    let words = format!("cache=$arg1:x64 count=$arg2:x64 {site} {ptr}");
    let begin = format!("p:{group}/{event} kmem_cache_free_bulk");
    let definitions =
        vec![format!("{begin} name=s->name:string {words}"), format!("{begin} {words}")];
    let of_kmalloc = (!knows_allocs).then(|| "cache == 0".to_owned());
    let tests: Vec<_> = of_kmalloc.into_iter().chain(longer(part, "count")).collect();
    let test = (!tests.is_empty()).then(|| tests.join(" && "));
    Wanted { event, function, site: None, test, definitions }
}

fn alloc_bulk(group: &str, function: &'static str, part: u64) -> Wanted {
    let event = format!("{}{part}", bulk::ALLOC_BULK);
    let definitions = vec![format!(
        "r{RETURNS_MAX}:{group}/{event} {function} name=s->name:string bytes_req=s->object_size bytes_alloc=s->size \
         gfp_flags=$arg2:x32 count=$arg3:x64 done=$retval {}",
        pointers("$arg4", part)
    )];
    let site = Some(filter::SITE_OF_PROBE);
    Wanted { event, function, site, test: longer(part, "count"), definitions }
}

/// What `kvfree_rcu_bulk` gives to `kfree_bulk`, which has no cache, beyond the pointers recorded there; it is given what
/// vmalloc made, too. That this kernel has BTF says that it is 6.6 or later.
fn kvfree_rcu_bulk(group: &str, part: u64) -> Wanted {
    let (event, function) = (format!("{}{part}", bulk::FREE_BULK), "kvfree_rcu_bulk");
    let (before, count) = bulk::part(part);
    let offset = RECORDS_OFFSET + before * 8;
    let definitions = vec![format!(
        "p:{group}/{event} {function} cache=\\0:x64 count=bnode->nr_records:x64 of_vmalloc=$arg3:x32 \
         ptr=+{offset}($arg2):x64[{count}]"
    )];
    let test = longer(part, "count").map(|test| format!("of_vmalloc == 0 && {test}"));
    Wanted { event, function, site: None, test, definitions }
}

/// RCU's own event for the same objects, where it is built in (CONFIG_RCU_TRACE).
fn rcu_event(group: &str, part: u64) -> Wanted {
    let (event, function) =
        (format!("{}{part}", bulk::FREE_BULK), "rcu_invoke_kfree_bulk_callback");
    let if_longer = longer(part, "nr_records").map(|test| format!(" if {test}"));
    let definitions = vec![format!(
        "e:{group}/{event} rcu.{function} cache=\\0:x64 count=$nr_records:x64 {}{}",
        pointers("$p", part),
        if_longer.unwrap_or_default()
    )];
    Wanted { event, function, site: None, test: None, definitions }
}

fn free_rcu(group: &str) -> Wanted {
    let (event, function) = (bulk::FREE_RCU.to_owned(), "__kfree_rcu_sheaf");
    let begin = format!("r{RETURNS_MAX}:{group}/{event} {function}");
    let words = "ptr=$arg2:x64 done=$retval:u8";
    let definitions =
        vec![format!("{begin} name=s->name:string {words}"), format!("{begin} {words}")];
    Wanted { event, function, site: None, test: None, definitions }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_the_pointers_behind_those_of_the_one_before() {
        let group = "slablab_4194304_4026531836";
        let all = frees(group, true);
        let parts: Vec<_> = (0..bulk::PARTS).map(bulk::part).collect();
        assert_eq!(parts.windows(2).find(|two| two[0].0 + two[0].1 != two[1].0), None);
        assert!(all[0][0][0].definitions[0].ends_with(" ptr=+0($arg3):x64[8]"));
        assert_eq!(all[0][0][1].test.as_deref(), Some("count > 8"));
        let last = all[1][0].last().unwrap();
        assert!(last.definitions[0].ends_with(" ptr=+3944($arg2):x64[64]"));
        assert_eq!(last.test.as_deref(), Some("of_vmalloc == 0 && count > 488"));
        let last = all[1][1].last().unwrap();
        assert!(last.definitions[0].ends_with(" ptr=+3904($p):x64[64] if nr_records > 488"));
        let of_kmalloc = &frees(group, false)[0][0][1].test;
        assert_eq!(of_kmalloc.as_deref(), Some("cache == 0 && count > 8"));
        // The kernel takes lines of 4,096 bytes.
        let allocs = allocs(group);
        let all =
            all.iter().chain([&allocs]).flatten().flatten().flat_map(|wanted| &wanted.definitions);
        assert!(all.map(String::len).max().unwrap() < 512);
    }
}
