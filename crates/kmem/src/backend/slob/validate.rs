//! What SLOB holds: pages on rings, and full pages that only their owners know.

use alloc::format;

use super::super::carve::{CarvedPages, GRANULE, HEADER};
use super::Slob;
use crate::backend::ops::Ops;
use crate::ids::{Order, PAGE_SIZE, Pfn};
use crate::machine::core::Core;
use crate::machine::validate::Audit;
use crate::page::Kind;

pub(super) fn audit(slob: &Slob, core: &Core, audit: &mut Audit) {
    let lists = slob.lists.lock();
    let mut on_rings = 0;
    for (index, ring) in lists.iter().enumerate() {
        for pfn in ring.iter() {
            on_rings += 1;
            let full = CarvedPages::is_full(&core.pages, pfn);
            if core.pages.get(pfn).kind() != Kind::Carved {
                audit.error(format!("page {} is on a ring and not carved", pfn.0));
            }
            if core.pages.get(pfn).next.get() as usize != index || full {
                audit.error(format!("page {} is on ring {index} by mistake", pfn.0));
            }
        }
    }
    let (mut carved, mut with_room) = (0, 0);
    for pfn in (1..core.pages.count()).map(Pfn) {
        if core.pages.get(pfn).kind() != Kind::Carved {
            continue;
        }
        audit.see(pfn, Order(0), "carved page");
        let free = slob.carved.free(pfn);
        carved += 1;
        with_room += u32::from(!CarvedPages::is_full(&core.pages, pfn));
        audit.bytes(PAGE_SIZE, 0, u64::from(free) * GRANULE, 0);
    }
    if with_room != on_rings {
        audit.error(format!("{with_room} of {carved} pages have room, {on_rings} are on rings"));
    }
    let cells = (0..core.setup.cpus).map(|cpu| slob.ops(core.carved_cell(cpu)));
    let blocks = cells
        .fold(0u64, |sum, ops| sum.wrapping_add(ops.allocs.get()).wrapping_sub(ops.frees.get()));
    audit.bytes(0, core.carved_bytes(), 0, blocks * HEADER);
}
