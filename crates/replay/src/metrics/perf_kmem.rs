//! The totals and the per-call-site table of `perf kmem --caller stat`, to the last digit.
//!
//! # How it works
//! The tool perf keeps one record for each address for the life of the trace: the last call site, CPU and size
//! seen there. A free takes the size of the last allocation at its address. It counts a ping-pong against that
//! allocation's call site when its CPU differs, also when the address was freed before (the record's CPU is then
//! none).
//!
//! # Source
//! Linux counterpart: tools/perf/builtin-kmem.c @ 6.1 (behaviour). Three traits are kept on purpose. Sizes are C
//! `int`s there, so that one of 2 GiB and more counts as negative, unless [`PerfKmem::with_whole_sizes`] keeps them
//! whole. A free of an unknown address is ignored. "Cross CPU allocations" compares the requested node with the node
//! of the CPU on the machine that analyses.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

/// An allocation as perf sees it.
#[derive(Debug, Clone, Copy)]
pub struct PerfAlloc {
    /// The address of the instruction after the call
    pub call_site: u64,
    /// The address of the object
    pub ptr: u64,
    /// Bytes requested
    pub bytes_req: u64,
    /// Bytes allocated
    pub bytes_alloc: u64,
    /// The CPU that the event was recorded on
    pub cpu: u32,
    /// The requested node; -1 is any, or an event without the field
    pub node: i32,
}

/// The record that perf keeps about an address.
#[derive(Debug, Clone, Copy)]
struct Address {
    call_site: u64,
    bytes_alloc_last: i64,
    cpu: Option<u32>,
}

/// The record that perf keeps about a call site.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PerfSite {
    /// Bytes allocated, all allocations together
    pub bytes_alloc: u64,
    /// Bytes requested, all allocations together
    pub bytes_req: u64,
    /// Allocations
    pub hit: u32,
    /// Objects from here that were freed on another CPU than they were allocated on
    pub pingpong: u32,
    /// Objects from here that are alive, which perf does not print
    pub live_end: u64,
    /// Bytes allocated to these
    pub live_bytes_end: u64,
}

/// Counts like `perf kmem stat`.
#[derive(Debug)]
pub struct PerfKmem {
    addresses: HashMap<u64, Address>,
    sites: BTreeMap<u64, PerfSite>,
    totals: PerfTotals,
    node_of_cpu: Vec<i32>,
    has_whole_sizes: bool,
}

/// The summary below perf's table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PerfTotals {
    /// "Total bytes requested"
    pub bytes_requested: u64,
    /// "Total bytes allocated"
    pub bytes_allocated: u64,
    /// "Total bytes freed"
    pub bytes_freed: u64,
    /// The second number of "Cross CPU allocations"
    pub allocs: u64,
    /// The first number of "Cross CPU allocations"
    pub cross_allocs: u64,
}

impl PerfTotals {
    /// Returns "Net total bytes allocated", which perf prints only when it is positive.
    #[must_use]
    pub fn bytes_net(&self) -> Option<u64> {
        self.bytes_allocated.checked_sub(self.bytes_freed).filter(|net| *net > 0)
    }

    /// Returns "Total bytes wasted on internal fragmentation".
    #[must_use]
    pub fn bytes_wasted(&self) -> u64 {
        self.bytes_allocated.wrapping_sub(self.bytes_requested)
    }

    /// Returns "Internal fragmentation" in percent.
    #[must_use]
    pub fn frag_percent(&self) -> f64 {
        fragmentation_percent(self.bytes_requested, self.bytes_allocated)
    }
}

impl Default for PerfKmem {
    fn default() -> Self {
        Self::new(nodes_of_this_machine())
    }
}

impl PerfKmem {
    /// Starts counting, with the node of each CPU of the analysing machine (perf takes these, not the recorded
    /// machine's).
    #[must_use]
    pub fn new(node_of_cpu: Vec<i32>) -> Self {
        let (addresses, sites) = (HashMap::new(), BTreeMap::new());
        let totals = PerfTotals::default();
        Self { addresses, sites, totals, node_of_cpu, has_whole_sizes: false }
    }

    /// Counts sizes whole, not as perf's C `int`s.
    #[must_use]
    pub fn with_whole_sizes(self) -> Self {
        Self { has_whole_sizes: true, ..self }
    }

    /// Counts an allocation.
    pub fn alloc(&mut self, event: &PerfAlloc) {
        let size = |bytes: u64| match self.has_whole_sizes {
            true => bytes.cast_signed(),
            false => i64::from(bytes as i32),
        };
        let (bytes_req, bytes_alloc) = (size(event.bytes_req), size(event.bytes_alloc));
        let &PerfAlloc { call_site, cpu, .. } = event;
        let address = Address { call_site, bytes_alloc_last: bytes_alloc, cpu: Some(cpu) };
        let before = self.addresses.insert(event.ptr, address);
        before.iter().for_each(|before| self.end(before));
        let site = self.sites.entry(event.call_site).or_default();
        site.hit = site.hit.wrapping_add(1);
        add(&mut site.bytes_req, bytes_req);
        add(&mut site.bytes_alloc, bytes_alloc);
        site.live_end += 1;
        add(&mut site.live_bytes_end, bytes_alloc);
        add(&mut self.totals.bytes_requested, bytes_req);
        add(&mut self.totals.bytes_allocated, bytes_alloc);
        self.totals.allocs += 1;
        let own = self.node_of_cpu.get(event.cpu as usize).copied().unwrap_or(-1);
        if event.node != -1 && event.node != own {
            self.totals.cross_allocs += 1;
        }
    }

    /// Counts the free of the object at `ptr` on `cpu`.
    pub fn free(&mut self, ptr: u64, cpu: u32) {
        let Some(address) = self.addresses.get_mut(&ptr) else { return };
        // perf keeps 64 bits of the size, which it took as an int.
        add(&mut self.totals.bytes_freed, address.bytes_alloc_last);
        if address.cpu != Some(cpu) {
            let site = self.sites.get_mut(&address.call_site).expect("each address has its site");
            site.pingpong = site.pingpong.wrapping_add(1);
        }
        let before = *address;
        address.cpu = None;
        self.end(&before);
    }

    /// Removes an object that ends from those that are alive; an object that was freed before is not
    /// among them.
    fn end(&mut self, object: &Address) {
        if object.cpu.is_some() {
            let site = self.sites.get_mut(&object.call_site).expect("each address has its site");
            site.live_end -= 1;
            add(&mut site.live_bytes_end, -object.bytes_alloc_last);
        }
    }

    /// Returns the summary.
    #[must_use]
    pub fn totals(&self) -> PerfTotals {
        self.totals
    }

    /// Counts the free of an object without an event, on an unknown CPU.
    pub fn free_unseen(&mut self, ptr: u64) {
        let cpu = self.addresses.get(&ptr).and_then(|address| address.cpu);
        if let Some(cpu) = cpu {
            self.free(ptr, cpu);
        }
    }

    /// Returns the sites with their addresses, ascending.
    pub fn sites(&self) -> impl Iterator<Item = (u64, PerfSite)> + '_ {
        self.sites.iter().map(|(call_site, site)| (*call_site, *site))
    }
}

/// Adds a signed size to an unsigned 64-bit sum the way C does.
fn add(sum: &mut u64, size: i64) {
    *sum = sum.wrapping_add_signed(size);
}

/// Returns the share of the allocated bytes that was not requested, in percent.
pub fn fragmentation_percent(bytes_req: u64, bytes_alloc: u64) -> f64 {
    if bytes_alloc == 0 { 0.0 } else { 100.0 - 100.0 * bytes_req as f64 / bytes_alloc as f64 }
}

/// Returns the node of each CPU of this machine, -1 where sysfs does not say.
fn nodes_of_this_machine() -> Vec<i32> {
    let mut nodes = Vec::new();
    for (cpu, node) in slablab_trace::cpu_nodes() {
        nodes.resize(nodes.len().max(cpu as usize + 1), -1);
        nodes[cpu as usize] = node as i32;
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alloc(call_site: u64, ptr: u64, bytes: u64, cpu: u32) -> PerfAlloc {
        PerfAlloc { call_site, ptr, bytes_req: bytes, bytes_alloc: bytes, cpu, node: -1 }
    }

    #[test]
    fn a_second_free_counts_again_and_as_ping_pong() {
        let mut perf = PerfKmem::new(vec![0, 0]);
        perf.alloc(&alloc(1, 100, 64, 0));
        perf.free(100, 0);
        perf.free(100, 0);
        perf.free(999, 0);
        assert_eq!(perf.totals().bytes_freed, 128);
        assert_eq!(perf.sites().next().unwrap().1.pingpong, 1);
    }

    #[test]
    fn what_was_not_freed_is_alive_at_the_end() {
        let mut perf = PerfKmem::new(vec![0]);
        perf.alloc(&alloc(1, 100, 64, 0));
        perf.alloc(&alloc(1, 200, 32, 0));
        perf.free(100, 0);
        perf.free(100, 0);
        let live = |perf: &PerfKmem| -> Vec<_> {
            perf.sites().map(|(_, site)| (site.live_end, site.live_bytes_end)).collect()
        };
        assert_eq!(live(&perf), [(1, 32)]);
        // Its free was lost: the address has another object now.
        perf.alloc(&alloc(2, 200, 8, 0));
        assert_eq!(live(&perf), [(0, 0), (1, 8)]);
    }

    #[test]
    fn sizes_are_ints_as_in_perf() {
        let mut perf = PerfKmem::new(vec![0]);
        perf.alloc(&alloc(1, 100, 1 << 31, 0));
        assert_eq!(perf.totals().bytes_requested, (-(1i64 << 31)) as u64);
        perf.alloc(&alloc(1, 100, 1 << 63, 0));
        assert_eq!(perf.sites().next().unwrap().1.hit, 2);
    }

    #[test]
    fn whole_sizes_are_not_cut_to_ints() {
        let mut perf = PerfKmem::new(vec![0]).with_whole_sizes();
        perf.alloc(&alloc(1, 100, 1 << 33, 0));
        perf.free(100, 0);
        assert_eq!((perf.totals().bytes_requested, perf.totals().bytes_freed), (1 << 33, 1 << 33));
    }

    #[test]
    fn only_a_node_asked_for_can_be_crossed() {
        let mut perf = PerfKmem::new(vec![0]);
        perf.alloc(&PerfAlloc { node: 1, ..alloc(1, 1, 8, 0) });
        perf.alloc(&PerfAlloc { node: 0, ..alloc(1, 2, 8, 0) });
        perf.alloc(&alloc(1, 3, 8, 0));
        assert_eq!((perf.totals().cross_allocs, perf.totals().allocs), (1, 3));
    }
}
