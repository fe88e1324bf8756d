//! The nodes of a module's arrays, radix trees and numbers (check level 2): what is there after exit is a leak of the call
//! that needed it.
//!
//! # How it works
//! The runtime says for which call of the module the next nodes are; the array tells of each that it makes and frees.
//!
//! Linux counterpart: objects of the cache `radix_tree_node` @ 6.1.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc;
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use slablab_xarray::{MemoryHooks, set_memory_hooks};

use crate::event::{Block, Event, Misuse};
use crate::runtime::{lock, runtime};

/// How long the end waits for nodes that readers may hold.
const READERS_WAIT: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy)]
struct Node {
    bytes: u64,
    site: u64,
}

static NODES: LazyLock<Mutex<HashMap<usize, Node>>> = LazyLock::new(Mutex::default);

thread_local! {
    static SITE: Cell<u64> = const { Cell::new(0) };
}

/// Of the C runtime: nodes and caches are for the module's call at `site` from now on.
pub(crate) extern "C" fn kapi_nodes_for(site: u64) {
    SITE.set(site);
}

/// Returns the call that the runtime is at.
pub(crate) fn site() -> u64 {
    SITE.get()
}

/// Lets the array tell of its nodes.
pub(crate) fn watch() {
    set_memory_hooks(MemoryHooks {
        made: |address, bytes| {
            let node = Node { bytes: bytes as u64, site: SITE.get() };
            lock(&NODES).insert(address, node);
        },
        freed: |address| {
            lock(&NODES).remove(&address);
        },
    });
}

/// One leak for each call whose nodes are there.
pub(crate) fn leaks() -> Vec<Event> {
    if lock(&NODES).is_empty() {
        return Vec::new();
    }
    // What was taken out of an array is freed when its readers are gone, unless one of them never goes.
    let (gone, wait) = mpsc::channel();
    std::thread::spawn(move || {
        slablab_xarray::synchronize();
        gone.send(())
    });
    let _ = wait.recv_timeout(READERS_WAIT);
    let mut sites: BTreeMap<u64, (u64, u64, usize)> = BTreeMap::new();
    for (&address, node) in lock(&NODES).iter() {
        let site = sites.entry(node.site).or_insert((0, 0, address));
        *site = (site.0 + 1, site.1 + node.bytes, site.2.min(address));
    }
    let leak = |(site, (count, bytes, address)): (u64, (u64, u64, usize))| Event::Finding {
        kind: Misuse::Leak,
        detail: format!("{bytes} bytes in {count} blocks are live after exit"),
        count,
        block: Some(Block {
            address: address as u64,
            bytes: bytes / count,
            from: "radix_tree_node".into(),
            site: runtime().offset(site),
            freed: None,
        }),
        site: None,
    };
    sites.into_iter().map(leak).collect()
}
