//! What holds of every sequence of allocations and frees, under the rules of each release.

use slablab_linux::{Gfp, Release};

use super::cpu_pages::CpuPages;
use super::machine::{Ask, Given, Machine, Place};
use super::migrate::Migrate;
use super::rules::{Rules, Stealing};
use super::zone::{Marks, Way, Zone};

const PAGES: u32 = 8 << 10;
const RELEASES: [Release; 4] = [Release(6, 1), Release(6, 8), Release(6, 12), Release(7, 3)];

fn rules(release: Release) -> Rules {
    Rules::of(Some(release), 10, 9)
}

fn zone(release: Release) -> Zone {
    let mut zone = Zone::new(rules(release), PAGES);
    // What is freed last is taken first.
    for page in (0..PAGES).step_by(1 << 10).rev() {
        zone.free(page, 10, Migrate::Movable);
    }
    zone
}

fn machine(release: Release) -> Machine {
    let mut zone = zone(release);
    zone.marks = Marks { min: 60, low: 80, high: 100 };
    let place = Place { node: 0, name: "Normal".to_owned(), index: 2 };
    let cpu = || {
        let mut cpu = CpuPages::default();
        (cpu.high, cpu.high_min, cpu.high_max, cpu.batch) = (100, 100, 500, 25);
        cpu
    };
    Machine::new(vec![(place, zone)], vec![vec![cpu(), cpu()]], Vec::new())
}

/// Numbers that look drawn, the same each time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Checks that no page is twice free or in use, that all pages are there, and that what could merge has merged.
fn check(zone: &Zone, given: &[(u32, u8)], kept: u64) {
    let mut owner = vec![0u8; PAGES as usize];
    let mut fill = |page: u32, order: u8, mark: u8| {
        for page in page..page + (1 << order) {
            assert_eq!(owner[page as usize], 0, "page {page} has two owners");
            owner[page as usize] = mark;
        }
    };
    given.iter().for_each(|(page, order)| fill(*page, *order, 1));
    let mut free = 0;
    for page in 0..PAGES {
        let Some((order, migrate)) = zone.lists.block_at(page) else { continue };
        fill(page, order, 2);
        free += 1u64 << order;
        let buddy = zone.lists.block_at(page ^ 1 << order);
        let is_mergeable = buddy.is_some_and(|(of_buddy, other)| {
            of_buddy == order && (order < 9 || (migrate.is_usual() && other.is_usual()))
        });
        assert!(order == 10 || !is_mergeable, "blocks at {page} could be one");
        if zone.rules.stealing != Stealing::Mixed {
            assert_eq!(migrate, zone.block_type(page), "lists have blocks of their type only");
        }
    }
    assert_eq!(free, zone.lists.pages());
    let used: u64 = given.iter().map(|(_, order)| 1u64 << order).sum();
    assert_eq!(free + used + kept, u64::from(PAGES));
}

#[test]
fn blocks_never_overlap_and_buddies_merge_whatever_is_taken_and_freed() {
    for release in RELEASES {
        let (mut zone, mut draw) = (zone(release), Draw(7));
        let mut given = Vec::new();
        for step in 0..6_000 {
            if draw.below(100) < 52 {
                let order = draw.below(10).saturating_sub(draw.below(8)) as u8;
                let migrate = Migrate::ALL[draw.below(3) as usize];
                let way = Way { is_tidy: draw.below(4) == 0 };
                given.extend(zone.take(order, migrate, way).map(|page| (page, order)));
            } else if !given.is_empty() {
                let (page, order) = given.swap_remove(draw.below(given.len() as u64) as usize);
                let migrate = zone.block_type(page);
                zone.free(page, order, migrate);
            }
            if step % 500 == 0 {
                check(&zone, &given, 0);
            }
        }
        for (page, order) in given.drain(..) {
            let migrate = zone.block_type(page);
            zone.free(page, order, migrate);
        }
        check(&zone, &given, 0);
        assert_eq!(zone.lists.of_order(10), u64::from(PAGES >> 10), "{release:?}");
        assert!(!zone.taken.is_empty(), "{release:?}: no block of another type was taken");
    }
}

#[test]
fn what_cpus_keep_and_what_is_free_and_given_is_all_there_is() {
    for release in RELEASES {
        let (mut machine, mut draw) = (machine(release), Draw(11));
        let mut given: Vec<(Given, u8)> = Vec::new();
        for step in 0..20_000u32 {
            let cpu = draw.below(2) as u16;
            // Twice it fills up, and twice it becomes empty.
            let grows = if step / 5_000 % 2 == 0 { 70 } else { 30 };
            if draw.below(100) < grows {
                let order = draw.below(5).saturating_sub(draw.below(5)) as u8;
                let migrate = Migrate::ALL[draw.below(3) as usize];
                let gfp = if draw.below(5) == 0 { Gfp::ATOMIC } else { Gfp::KERNEL };
                let ask = Ask { cpu, order, migrate, gfp };
                given.extend(machine.allocate(&ask).map(|block| (block, order)));
            } else if !given.is_empty() {
                let (block, order) = given.swap_remove(draw.below(given.len() as u64) as usize);
                machine.free(cpu, block, order);
            }
            if step % 1_000 == 0 {
                machine.tick();
                let blocks: Vec<_> =
                    given.iter().map(|(block, order)| (block.page, *order)).collect();
                check(&machine.zones[0].1, &blocks, machine.cpu_pages());
            }
        }
        for (block, order) in given.drain(..) {
            machine.free(0, block, order);
        }
        assert!(machine.cpu_pages() > 0, "{release:?}");
        let Machine { zones, cpus, .. } = &mut machine;
        let reserved = zones[0].1.reserved;
        cpus[0].iter_mut().for_each(|cpu| cpu.drain_all(&mut zones[0].1));
        check(&zones[0].1, &[], 0);
        assert!(reserved <= 1024 && zones[0].1.lists.pages() == u64::from(PAGES), "{release:?}");
    }
}

/// Takes everything as movable pages, frees `order` and its buddy in one page block, and asks for an unmovable page.
fn asked_of_a_full_zone(release: Release, free_pages: u32) -> Zone {
    let mut zone = zone(release);
    for page in 0..PAGES {
        assert_eq!(zone.take(0, Migrate::Movable, Way::default()), Some(page));
        zone.note_movable(page, 0, true);
    }
    for page in 512..512 + free_pages {
        zone.note_movable(page, 0, false);
        zone.free(page, 0, Migrate::Movable);
    }
    assert_eq!(zone.take(0, Migrate::Unmovable, Way::default()), Some(512));
    zone
}

#[test]
fn a_page_block_changes_its_type_when_half_of_it_is_free() {
    for release in RELEASES {
        let few = asked_of_a_full_zone(release, 64);
        assert_eq!(few.block_type(512), Migrate::Movable, "{release:?}");
        // To 6.9 the free rest moves all the same, later it stays.
        let rest = few.lists.count(5, Migrate::Unmovable);
        assert_eq!(rest, u64::from(few.rules.stealing == Stealing::Mixed), "{release:?}");
        let many = asked_of_a_full_zone(release, 256);
        assert_eq!(many.block_type(512), Migrate::Unmovable, "{release:?}");
        assert_eq!(many.lists.count(7, Migrate::Unmovable), 1);
        let taken = many.taken[0];
        assert_eq!(
            (taken.migrate, taken.fallback, taken.fallback_order),
            (Migrate::Unmovable, Migrate::Movable, 8)
        );
    }
}

#[test]
fn a_movable_page_takes_the_smallest_block_where_it_cannot_have_the_page_block() {
    for release in RELEASES {
        let mut zone = zone(release);
        while zone.take(0, Migrate::Unmovable, Way::default()).is_some() {}
        zone.taken.clear();
        for page in [2048, 2049, 2050, 2051, 4096] {
            zone.free(page, 0, Migrate::Unmovable);
        }
        assert_eq!(zone.take(0, Migrate::Movable, Way { is_tidy: true }), None, "{release:?}");
        assert_eq!(zone.take(0, Migrate::Movable, Way::default()), Some(4096), "{release:?}");
        assert_eq!(zone.taken[0].fallback_order, 0);
        assert_eq!(zone.lists.count(2, Migrate::Unmovable), 1, "{release:?}");
    }
}

#[test]
fn a_cpu_gets_a_batch_and_gives_back_what_is_above_its_limit() {
    for release in RELEASES {
        let mut machine = machine(release);
        let ask = Ask { cpu: 1, order: 0, migrate: Migrate::Movable, gfp: Gfp::KERNEL };
        let first = machine.allocate(&ask).unwrap();
        assert_eq!((machine.cpu_pages(), first.page), (24, 0), "{release:?}");
        let more: Vec<_> = (0..2_000).map(|_| machine.allocate(&ask).unwrap()).collect();
        more.into_iter().for_each(|block| machine.free(1, block, 0));
        let kept = machine.cpu_pages();
        let most = if rules(release).stealing == Stealing::Mixed && release == Release(6, 1) {
            100
        } else {
            500
        };
        assert!((1..most).contains(&kept), "{release:?}: {kept}");
        assert_eq!(machine.zones[0].1.lists.pages() + kept + 1, u64::from(PAGES));
    }
}

#[test]
fn an_atomic_allocation_of_several_pages_keeps_a_page_block_below_the_watermark() {
    for (release, kept) in [(Release(6, 1), 512), (Release(7, 3), 0)] {
        let mut machine = machine(release);
        let fill = Ask { cpu: 0, order: 4, migrate: Migrate::Movable, gfp: Gfp::KERNEL };
        while machine.zones[0].1.is_above(80, 4, 2, false) {
            machine.allocate(&fill).unwrap();
        }
        let ask = Ask { cpu: 0, order: 4, migrate: Migrate::Unmovable, gfp: Gfp::ATOMIC };
        assert!(machine.allocate(&ask).is_some());
        // A zone of 16 page blocks is too small for it since Linux 6.7.
        assert_eq!(machine.zones[0].1.reserved, kept, "{release:?}");
    }
}

#[test]
fn as_many_blocks_can_be_had_as_the_kernel_gives_before_it_waits() {
    for release in RELEASES {
        for order in [4, 6, 8, 10] {
            let (mut machine, mut draw) = (machine(release), Draw(u64::from(order)));
            // Pages of all three types; some stay, so that free ones lie in blocks of all orders.
            let mut given: Vec<(Given, u8)> = Vec::new();
            for _ in 0..2_000 {
                let (of, migrate) = (draw.below(4) as u8, Migrate::ALL[draw.below(3) as usize]);
                let ask = Ask { cpu: 0, order: of, migrate, gfp: Gfp::KERNEL };
                given.extend(machine.allocate_easily(&ask).map(|block| (block, of)));
                if draw.below(3) > 0 && !given.is_empty() {
                    let (block, of) = given.swap_remove(draw.below(given.len() as u64) as usize);
                    machine.free(0, block, of);
                }
            }
            let ask = Ask { cpu: 0, order, migrate: Migrate::Unmovable, gfp: Gfp::KERNEL };
            let (room, mut blocks) = (machine.room(order), 0);
            while machine.allocate_easily(&ask).is_some() {
                blocks += 1;
                assert_eq!(machine.room(order), room - blocks, "{release:?}, order {order}");
            }
            assert_eq!(blocks, room, "{release:?}, order {order}");
            assert!(order == 10 || room > 0, "{release:?}, order {order}");
        }
    }
}
