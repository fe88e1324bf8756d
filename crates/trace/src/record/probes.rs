//! Probes at functions that allocate or free many objects in one call, for which the kernel has no event.
//!
//! How it works: a kprobe event is defined for the whole kernel, in a group of this process's own, and turned on in our
//! instance like any event. It records the array of pointers that the function was given ([`bulk`]); as an array of an
//! event has 64 pointers at most, further events have the next ones, filtered by how many there are. A definition that
//! this kernel refuses is tried in simpler words, and left out at last: nothing is recorded there then, and the frees are
//! estimated, as they are where a kernel has no kprobe events at all.
//!
//! What the words need: pointers of a free, kprobe events; those of an allocation, which are known when the function
//! returns, its arguments in a return probe (6.9 on) and the fields of `struct kmem_cache` (BTF). `kfree_bulk` and
//! `kvfree_rcu_bulk` end in `kmem_cache_free_bulk`. Where objects are freed through sheaves (6.18 on),
//! `__kfree_rcu_sheaf` takes what `kfree_rcu` is given, and no event tells of it later.
//!
//! Invariants: no probe is left behind, whatever ends the recording but SIGKILL, and that one's are removed by the next.
//!
//! Linux counterpart: `kernel/trace/trace_kprobe.c`, `kernel/trace/trace_probe.c` @ 6.12, `mm/slub.c` @ 6.1 to 7.3.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use super::filter::Filter;
use super::tracefs::{Instance, Tracefs};
use crate::source::bulk;

/// Where probes are defined: all that are dynamic, or before 5.0 kprobes.
const DEFINITIONS: [&str; 2] = ["dynamic_events", "kprobe_events"];

/// Calls of one function that a return probe follows at the same time; the kernel's own figure is twice the CPUs, which
/// callers that sleep exceed.
const RETURNS_MAX: u32 = 256;

/// What one probe may be called: a name, the field of its call site if it allocates, and the definitions to try.
struct Wanted {
    event: String,
    function: &'static str,
    /// The field that holds the call site; `None` for a free, whose call site tells nothing of the object.
    site: Option<&'static str>,
    /// A test that the record must pass.
    test: Option<String>,
    definitions: Vec<String>,
}

/// The probes of a recording. They are gone when this is dropped, after the instance that they are on in.
#[derive(Debug, Default)]
pub(super) struct Probes {
    /// The file that definitions are written to.
    file: PathBuf,
    group: String,
    /// The names of the events.
    events: Vec<String>,
    /// The functions that are probed.
    pub(super) functions: Vec<String>,
}

impl Probes {
    /// Defines what this kernel allows, with the filters of `filter` in `instance`. A portion of the objects is not
    /// chosen by a filter of arrays: nothing is defined then.
    pub(super) fn define(tracefs: &Tracefs, instance: &Instance, filter: &Filter) -> Probes {
        let mut files = DEFINITIONS.iter().map(|name| tracefs.root.join(name));
        let Some(file) = files.find(|file| file.exists()) else { return Probes::default() };
        let (events, functions) = (Vec::new(), Vec::new());
        let mut probes = Probes { file, group: instance.probe_group(), events, functions };
        tracefs.abandoned_probes().iter().for_each(|event| probes.remove(event));
        if filter.is_of_a_portion() {
            return probes;
        }
        // Of a function that has no first event the further ones would tell half.
        for alternatives in wanted(&probes.group) {
            for function in alternatives {
                if probes.add_all(instance, filter, &function) {
                    break;
                }
            }
        }
        probes
    }

    /// Returns the events, as they are found in `events`.
    pub(super) fn paths(&self) -> impl Iterator<Item = String> + '_ {
        self.events.iter().map(|event| format!("{}/{event}", self.group))
    }

    /// Defines all events of one function; returns whether there are all.
    fn add_all(&mut self, instance: &Instance, filter: &Filter, wanted: &[Wanted]) -> bool {
        let before = self.events.len();
        let is_there = wanted.iter().all(|wanted| self.add(instance, filter, wanted));
        if !is_there {
            for event in self.events.split_off(before) {
                self.remove(&format!("{}/{event}", self.group));
            }
        } else if let Some(first) = wanted.first() {
            self.functions.push(first.function.into());
        }
        is_there
    }

    fn add(&mut self, instance: &Instance, filter: &Filter, wanted: &Wanted) -> bool {
        let defined = wanted.definitions.iter().any(|definition| self.write(definition).is_ok());
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

    fn write(&self, definition: &str) -> std::io::Result<()> {
        let mut file = std::fs::File::options().append(true).open(&self.file)?;
        file.write_all(definition.as_bytes())
    }

    /// Removes an event, which may be in use for a moment longer.
    fn remove(&self, path: &str) {
        for _ in 0..20 {
            match self.write(&format!("-:{path}")) {
                Err(error) if error.kind() == std::io::ErrorKind::ResourceBusy => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                _ => return,
            }
        }
    }
}

impl Drop for Probes {
    fn drop(&mut self) {
        self.paths().for_each(|path| self.remove(&path));
    }
}

/// Returns what is to be probed: of each job the functions that may do it, of each of those the events.
fn wanted(group: &str) -> Vec<Vec<Vec<Wanted>>> {
    let allocs = ["kmem_cache_alloc_bulk_noprof", "kmem_cache_alloc_bulk"];
    vec![
        vec![parts(|part| free_bulk(group, part))],
        allocs.map(|function| parts(|part| alloc_bulk(group, function, part))).into(),
        vec![vec![free_rcu(group)]],
    ]
}

/// Returns the events that have all pointers together.
fn parts(wanted: impl Fn(u64) -> Wanted) -> Vec<Wanted> {
    (0..bulk::PARTS).map(wanted).collect()
}

/// Returns the words for the pointers of a part in the array at `argument`.
fn pointers(argument: &str, part: u64) -> String {
    let objects = bulk::OBJECTS_MAX;
    format!("ptr=+{}({argument}):x64[{objects}]", part * objects * 8)
}

/// Returns the test that an array has more pointers than the parts before `part`.
fn longer(part: u64) -> Option<String> {
    (part > 0).then(|| format!("count > {}", part * bulk::OBJECTS_MAX))
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

fn free_bulk(group: &str, part: u64) -> Wanted {
    let (event, function) = (format!("{}{part}", bulk::FREE_BULK), "kmem_cache_free_bulk");
    let words =
        format!("cache=$arg1:x64 count=$arg2:x64 {} {}", return_address(), pointers("$arg3", part));
    let begin = format!("p:{group}/{event} {function}");
    let definitions =
        vec![format!("{begin} name=s->name:string {words}"), format!("{begin} {words}")];
    Wanted { event, function, site: None, test: longer(part), definitions }
}

fn alloc_bulk(group: &str, function: &'static str, part: u64) -> Wanted {
    let event = format!("{}{part}", bulk::ALLOC_BULK);
    let definitions = vec![format!(
        "r{RETURNS_MAX}:{group}/{event} {function} name=s->name:string bytes_req=s->object_size bytes_alloc=s->size \
         gfp_flags=$arg2:x32 count=$arg3:x64 done=$retval {}",
        pointers("$arg4", part)
    )];
    Wanted { event, function, site: Some("__probe_ret_ip"), test: longer(part), definitions }
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
        let last = free_bulk("slablab_7", 7);
        assert_eq!(last.event, "slab_free_bulk_7");
        assert_eq!(last.test.as_deref(), Some("count > 448"));
        assert!(
            last.definitions[0].starts_with("p:slablab_7/slab_free_bulk_7 kmem_cache_free_bulk ")
        );
        assert!(last.definitions[0].ends_with("ptr=+3584($arg3):x64[64]"));
        assert_eq!(free_bulk("slablab_7", 0).test, None);
        // The longest line that the kernel takes is of 4,096 bytes, and it takes 128 arguments of 64 letters.
        let all = wanted("slablab_4194304_4026531836");
        let longest = all.iter().flatten().flatten().flat_map(|wanted| &wanted.definitions);
        assert!(longest.map(String::len).max().unwrap() < 512);
    }
}
