//! Walks what sheaves hold of a cache, and checks it against their limits.

use alloc::format;

use super::sheaf::Sheaf;
use super::state::Sheaves;
use crate::backend::ops::{Held, Visit};
use crate::cache::core::Core;
use crate::cache::table::CacheEntry;
use crate::ids::NodeId;

impl Sheaves {
    pub(in crate::backend) fn walk(&self, core: &Core, cache: &CacheEntry, visit: Visit<'_>) {
        let (id, arena, capacity) = (cache.id(), &core.arena, self.capacity(cache.id()));
        for node in (0..core.setup.nodes).map(NodeId) {
            let cpus = || (0..core.setup.cpus).filter(|&cpu| core.setup.node_of(cpu) == node);
            let mut parked = 0;
            for cpu in cpus().map(|cpu| self.at(core.cpu_cache_index(cpu, id))) {
                if let Some(main) = cpu.main_if_any() {
                    parked += check_sheaf(core, cache, main, cpu.size(), capacity, visit);
                }
                if let Some(spare) = cpu.spare() {
                    parked += check_sheaf(core, cache, spare, spare.size(arena), capacity, visit);
                }
                if let Some(sheaf) = Sheaf::at(cpu.rcu_free.get()) {
                    check_sheaf(core, cache, sheaf, sheaf.size(arena), capacity, visit);
                }
            }
            let barn = self.barn(core, id, node);
            let lists = barn.lists();
            for sheaf in lists.full.iter(arena).map(Sheaf::of) {
                parked += check_sheaf(core, cache, sheaf, sheaf.size(arena), capacity, visit);
            }
            for sheaf in lists.empty.iter(arena).map(Sheaf::of) {
                check_sheaf(core, cache, sheaf, sheaf.size(arena), 0, visit);
            }
            let sheaves = 2 * cpus().count() as u64 + u64::from(barn.sheaves_max());
            let most = u64::from(capacity) * sheaves;
            if parked > most {
                let cache = id.index();
                visit(Held::Wrong(format!(
                    "cache {cache}, node {}: {parked} objects are parked, more than {most}",
                    node.0
                )));
            }
        }
        for sheaf in self.waiting.lock().iter(arena).map(Sheaf::of) {
            if sheaf.cache(arena) == id {
                check_sheaf(core, cache, sheaf, sheaf.size(arena), capacity, visit);
            }
        }
    }
}

/// Checks that a sheaf holds at most `most` objects, all of its cache; returns how many.
fn check_sheaf(
    core: &Core,
    cache: &CacheEntry,
    sheaf: Sheaf,
    size: u32,
    most: u32,
    visit: Visit<'_>,
) -> u64 {
    if size > most || sheaf.cache(&core.arena) != cache.id() {
        let of = sheaf.cache(&core.arena);
        visit(Held::Wrong(format!(
            "a sheaf of {of:?} holds {size} objects, at most {most} of {:?}",
            cache.id()
        )));
        return 0;
    }
    for obj in (0..size).map(|i| sheaf.object(&core.arena, i)) {
        if core.object_at(obj).is_none_or(|(id, _, _)| id != cache.id()) {
            visit(Held::Wrong(format!("a sheaf holds {obj}, which is not of its cache")));
        }
    }
    visit(Held::Free(u64::from(size)));
    u64::from(size)
}
