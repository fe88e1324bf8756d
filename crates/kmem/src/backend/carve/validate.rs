//! What a heap holds: pages on rings, and full pages that only the owners of blocks know.

use alloc::format;

use super::heap::{Heap, Lists};
use super::{GRANULE, HEADER};
use crate::backend::ops::{Held, Ops, Visit};
use crate::cache::core::Core;
use crate::ids::{PAGE_SIZE, Pfn};
use crate::page::Kind;

pub(super) fn walk<L: Lists>(heap: &Heap<L>, core: &Core, visit: Visit<'_>) {
    let carved = heap.carved(core);
    let mut on_rings = 0;
    for (group, lock) in heap.groups.iter().enumerate() {
        for (index, ring) in lock.lock().iter().enumerate() {
            if let Some(Pfn(page)) = ring.check(carved) {
                visit(Held::Wrong(format!("page {page}: its hint excludes what fits")));
            }
            for pfn in ring.iter() {
                on_rings += 1;
                let page = core.pages.get(pfn);
                if page.kind() != Kind::Carved || carved.is_full(pfn) {
                    visit(Held::Wrong(format!("page {} is on a ring by mistake", pfn.0)));
                }
                if Heap::<L>::group(page.cache.get()) != (group, index) {
                    visit(Held::Wrong(format!("page {} is on another ring than its place", pfn.0)));
                }
            }
        }
    }
    let (mut with_room, mut map_units) = (0, 0);
    let pages = (1..core.pages.count()).map(Pfn);
    for pfn in pages.filter(|&pfn| core.pages.get(pfn).kind() == Kind::Carved) {
        with_room += u32::from(!carved.is_full(pfn));
        map_units += u64::from(carved.map_units(pfn));
        let free = u64::from(carved.map(pfn).count()) * GRANULE;
        visit(Held::Page(pfn));
        visit(Held::Bytes { held: PAGE_SIZE, live: 0, free, metadata: 0 });
    }
    if with_room != on_rings {
        visit(Held::Wrong(format!("{with_room} pages have room, {on_rings} are on rings")));
    }
    let indexes = (0..core.setup.cpus).map(|cpu| heap.ops(core.carved_index(cpu)));
    let blocks = indexes
        .fold(0u64, |sum, ops| sum.wrapping_add(ops.allocs.get()).wrapping_sub(ops.frees.get()));
    let metadata = if heap.has_maps { map_units * 2 } else { blocks * HEADER };
    // Objects that wait are neither live nor free yet.
    let waiting = heap.waiting.lock().iter(&core.arena).map(|block| heap.bytes_at(core, block));
    let metadata = metadata + waiting.sum::<u64>();
    visit(Held::Bytes { held: 0, live: core.carved_bytes(), free: 0, metadata });
}
