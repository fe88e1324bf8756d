//! What happens when the operating system has no more mappings. The test is a process of its own, because
//! nothing else in it could start a thread or get memory meanwhile, and AddressSanitizer gives up (`asan.sh`
//! leaves it out).

// There is no machine under `--cfg loom`.
#![cfg(not(loom))]

use slablab_kmem::{CpuId, Gfp, Machine, MemorySource, Site, Slub};

const SITE: Site = Site(9);

/// A process may have some 65,000 mappings: areas beyond that are refused, and freed mappings can
/// be had again.
#[test]
fn more_areas_than_the_system_has_mappings() {
    let builder = Machine::<Slub>::builder().memory_bytes(512 << 20);
    let machine = builder.memory(MemorySource::Mapped).build().unwrap();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    for _ in 0..2 {
        let areas: Vec<_> =
            (0..70_000).map_while(|_| cpu.vmalloc(4096, Gfp::KERNEL, SITE)).collect();
        assert!(areas.len() > 10_000, "{} areas", areas.len());
        areas.into_iter().for_each(|area| assert_eq!(cpu.vfree(area, SITE), 4096));
    }
    assert!(machine.validate().is_ok());
    assert_eq!(machine.take_findings(), []);
}
