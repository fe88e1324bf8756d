//! What a heap holds: pages on rings, and full pages that only the owners of blocks know.

use alloc::format;

use super::heap::{Heap, Lists};
use super::{CarvedPages, GRANULE, HEADER};
use crate::backend::ops::{Held, Ops, Visit};
use crate::cache::core::Core;
use crate::ids::{PAGE_SIZE, Pfn};
use crate::page::Kind;

pub(super) fn walk<L: Lists>(heap: &Heap<L>, core: &Core, visit: Visit<'_>) {
    let mut on_rings = 0;
    for (group, lock) in heap.groups.iter().enumerate() {
        for (index, ring) in lock.lock().iter().enumerate() {
            if let Some((pfn, what)) = ring.check(&heap.carved) {
                visit(Held::Wrong(format!("page {}: {what}", pfn.0)));
            }
            for pfn in ring.iter() {
                on_rings += 1;
                let page = core.pages.get(pfn);
                if page.kind() != Kind::Carved || CarvedPages::is_full(&core.pages, pfn) {
                    visit(Held::Wrong(format!("page {} is on a ring by mistake", pfn.0)));
                }
                if Heap::<L>::group(page.next.get()) != (group, index) {
                    visit(Held::Wrong(format!("page {} is on another ring than its place", pfn.0)));
                }
            }
        }
    }
    let (mut carved, mut with_room) = (0, 0);
    for pfn in (1..core.pages.count()).map(Pfn) {
        if core.pages.get(pfn).kind() != Kind::Carved {
            continue;
        }
        visit(Held::Page(pfn));
        let free = heap.carved.free(pfn);
        carved += 1;
        with_room += u32::from(!CarvedPages::is_full(&core.pages, pfn));
        visit(Held::Bytes {
            held: PAGE_SIZE,
            live: 0,
            free: u64::from(free) * GRANULE,
            metadata: 0,
        });
    }
    if with_room != on_rings {
        visit(Held::Wrong(format!(
            "{with_room} of {carved} pages have room, {on_rings} are on rings"
        )));
    }
    let cells = (0..core.setup.cpus).map(|cpu| heap.ops(core.carved_cell(cpu)));
    let blocks = cells
        .fold(0u64, |sum, ops| sum.wrapping_add(ops.allocs.get()).wrapping_sub(ops.frees.get()));
    visit(Held::Bytes { held: 0, live: core.carved_bytes(), free: 0, metadata: blocks * HEADER });
}
