//! vmalloc as users know it, with and without real mappings.

use crate::{CpuId, FindingKind, Gfp, Machine, MemorySource, Order, Site, Slub};

const SITE: Site = Site(9);
const MIB: u64 = 1 << 20;

fn machine(source: MemorySource) -> Machine<Slub> {
    Machine::builder().memory_bytes(64 * MIB).memory(source).build().unwrap()
}

#[test]
fn far_beyond_the_largest_kmalloc() {
    let machine = machine(MemorySource::Anonymous);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    assert!(cpu.kmalloc(5 * MIB, Gfp::KERNEL, SITE).is_none());
    let area = cpu.vmalloc(48 * MIB, Gfp::KERNEL, SITE).unwrap();
    assert!(cpu.vmalloc(48 * MIB, Gfp::KERNEL, SITE).is_none(), "pages are out");
    assert!(cpu.vmalloc(65 * MIB, Gfp::KERNEL, SITE).is_none(), "more than there is");
    assert!(cpu.vmalloc(0, Gfp::KERNEL, SITE).is_none());
    assert!(cpu.vmalloc(u64::MAX, Gfp::KERNEL, SITE).is_none());
    assert!(machine.validate().is_ok());
    cpu.vfree(area, SITE);
    let balance = machine.validate();
    assert!(balance.is_ok(), "{:?}", balance.errors);
    assert!(cpu.vmalloc(48 * MIB, Gfp::KERNEL, SITE).is_some());
}

#[test]
fn scattered_pages_read_as_one() {
    let machine = machine(MemorySource::Mapped);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    // Every other page stays taken, so that no two of the area are neighbours.
    let pages: alloc::vec::Vec<_> =
        (0..64).map(|_| cpu.alloc_pages(Order(0), Gfp::KERNEL).unwrap()).collect();
    pages.iter().step_by(2).for_each(|&pfn| cpu.free_pages(pfn, Order(0), SITE));
    let area = cpu.vzalloc(8 * 4096, Gfp::KERNEL, SITE).unwrap();
    let page = |i| machine.vmalloc_to_page(crate::VmPtr::new(area.get() + i * 4096)).unwrap();
    assert!((0..7).any(|i| page(i).0 + 1 != page(i + 1).0));
    // What is written through the pages is read through the area, and back.
    for i in 0..8 {
        machine.core.arena.store(page(i).offset() + 8, 1000 + i);
    }
    let base = machine.vm_address(area).unwrap();
    for i in 0..8 {
        assert_eq!(crate::raw::vmap::peek(base, i * 4096 + 8, 8 * 4096), 1000 + i);
    }
    cpu.vfree(area, SITE);
    assert!(machine.validate().is_ok());
}

#[test]
fn areas_are_aligned_as_asked() {
    let machine = machine(MemorySource::Mapped);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    for shift in [3, 12, 13, 16, 22] {
        let area = cpu.vmalloc_aligned(5000, 1 << shift, Gfp::KERNEL, SITE).unwrap();
        let address = machine.vm_address(area).unwrap().as_ptr().addr();
        assert!(address.is_multiple_of((1 << shift).max(4096)), "{address:#x} at shift {shift}");
    }
    assert!(cpu.vmalloc_aligned(5000, 1 << 23, Gfp::KERNEL, SITE).is_none());
    assert!(machine.validate().is_ok());
}

#[test]
fn guard_pages_and_lazy_purge() {
    let machine = machine(MemorySource::Anonymous);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let first = cpu.vmalloc(4096, Gfp::KERNEL, SITE).unwrap();
    let second = cpu.vmalloc(4096, Gfp::KERNEL, SITE).unwrap();
    assert_eq!(second.get() - first.get(), 2 * 4096, "a guard page lies between");
    assert_eq!(machine.vm_areas().len(), 2);
    cpu.vfree(first, SITE);
    let third = cpu.vmalloc(4096, Gfp::KERNEL, SITE).unwrap();
    assert_ne!(third, first, "addresses wait for the purge");
    assert_eq!(machine.vmalloc_purge(), 2);
    assert_eq!(cpu.vmalloc(4096, Gfp::KERNEL, SITE), Some(first));
}

#[test]
fn the_purge_comes_by_itself() {
    let machine = machine(MemorySource::Anonymous);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    for _ in 0..10_000 {
        let area = cpu.vmalloc(300_000, Gfp::KERNEL, SITE).unwrap();
        assert!(area.get() < 256 * MIB);
        cpu.vfree(area, SITE);
    }
}

#[test]
fn vfree_of_what_is_none_is_reported_once() {
    let machine = machine(MemorySource::Anonymous);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let area = cpu.vmalloc(8192, Gfp::KERNEL, SITE).unwrap();
    cpu.vfree(crate::VmPtr::new(area.get() + 4096), SITE);
    cpu.vfree(area, SITE);
    cpu.vfree(area, SITE);
    let findings = machine.take_findings();
    assert_eq!(findings.len(), 2);
    assert!(findings.iter().all(|f| f.kind == FindingKind::ForeignPointer && f.site == SITE));
}

#[test]
fn pages_of_the_caller_are_mapped_in_any_order_and_stay_his() {
    let machine = machine(MemorySource::Mapped);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let pages = [0, 1].map(|_| cpu.alloc_pages(Order(0), Gfp::KERNEL).unwrap());
    let mapped = [pages[1], pages[0], pages[1]];
    let area = cpu.vmap(&mapped, SITE).unwrap();
    let base = machine.vm_address(area).unwrap();
    for (i, page) in mapped.into_iter().enumerate() {
        machine.core.arena.store(page.offset() + 8, 7 + i as u64);
        assert_eq!(crate::raw::vmap::peek(base, i as u64 * 4096 + 8, 3 * 4096), 7 + i as u64);
        let at = crate::VmPtr::new(area.get() + i as u64 * 4096);
        assert_eq!(machine.vmalloc_to_page(at), Some(page));
    }
    assert_eq!(crate::raw::vmap::peek(base, 8, 3 * 4096), 9, "the first and the last are one page");
    assert!(machine.validate().is_ok());
    assert_eq!(cpu.vfree(area, SITE), 0);
    pages.iter().for_each(|&pfn| cpu.free_pages(pfn, Order(0), SITE));
    assert!(machine.validate().is_ok());
    assert_eq!((cpu.vmap(&[], SITE), machine.take_findings().len()), (None, 0));
}
