//! What a heap holds: pages on rings, and full pages that only the owners of blocks know.

use alloc::format;

use super::heap::{Heap, Lists};
use super::{CarvedPages, GRANULE, HEADER};
use crate::backend::ops::Ops;
use crate::ids::{Order, PAGE_SIZE, Pfn};
use crate::machine::core::Core;
use crate::machine::validate::Audit;
use crate::page::Kind;

pub(super) fn audit<L: Lists>(heap: &Heap<L>, core: &Core, audit: &mut Audit) {
    let mut on_rings = 0;
    for (group, lock) in heap.groups.iter().enumerate() {
        for (index, ring) in lock.lock().iter().enumerate() {
            if let Some((pfn, what)) = ring.check(&heap.carved) {
                audit.error(format!("page {}: {what}", pfn.0));
            }
            for pfn in ring.iter() {
                on_rings += 1;
                let page = core.pages.get(pfn);
                if page.kind() != Kind::Carved || CarvedPages::is_full(&core.pages, pfn) {
                    audit.error(format!("page {} is on a ring by mistake", pfn.0));
                }
                if Heap::<L>::group(page.next.get()) != (group, index) {
                    audit.error(format!("page {} is on another ring than its place", pfn.0));
                }
            }
        }
    }
    let (mut carved, mut with_room) = (0, 0);
    for pfn in (1..core.pages.count()).map(Pfn) {
        if core.pages.get(pfn).kind() != Kind::Carved {
            continue;
        }
        audit.see(pfn, Order(0), "carved page");
        let free = heap.carved.free(pfn);
        carved += 1;
        with_room += u32::from(!CarvedPages::is_full(&core.pages, pfn));
        audit.bytes(PAGE_SIZE, 0, u64::from(free) * GRANULE, 0);
    }
    if with_room != on_rings {
        audit.error(format!("{with_room} of {carved} pages have room, {on_rings} are on rings"));
    }
    let cells = (0..core.setup.cpus).map(|cpu| heap.ops(core.carved_cell(cpu)));
    let blocks = cells
        .fold(0u64, |sum, ops| sum.wrapping_add(ops.allocs.get()).wrapping_sub(ops.frees.get()));
    audit.bytes(0, core.carved_bytes(), 0, blocks * HEADER);
}
