//! Interprets bytes as operations on a machine, and checks each against a plain list.

use std::collections::BTreeMap;

use slablab_kmem::{
    Backend, CacheArgs, CacheId, CheckLevel, CpuId, CpuSet, Gfp, Machine, ObjPtr, Order, Pfn, Site,
    SlabFlags, VmPtr,
};

const SITE: Site = Site(1);

/// A live object: its start, its length, its owner, its token.
#[derive(Clone, Copy)]
struct Live {
    size: u64,
    owner: Owner,
    token: u8,
}

#[derive(Clone, Copy)]
enum Owner {
    Cache(CacheId),
    Kmalloc,
    Pages(Order),
}

struct Model<'m, B: Backend> {
    machine: &'m Machine<B>,
    cpus: CpuSet<'m, B>,
    caches: Vec<(CacheId, u64)>,
    live: BTreeMap<u64, Live>,
    areas: Vec<VmPtr>,
}

/// Runs one input.
pub(crate) fn run<B: Backend>(bytes: &[u8]) {
    let mut input = bytes.iter().copied();
    let level = match input.next().unwrap_or(0) % 8 {
        0 => CheckLevel::Full,
        1 | 2 => CheckLevel::Cheap,
        _ => CheckLevel::Off,
    };
    let (cpus, nodes) =
        [(1, 1), (2, 1), (4, 2), (3, 1)][usize::from(input.next().unwrap_or(0) % 4)];
    let builder = Machine::<B>::builder().cpus(cpus).nodes(nodes).memory_bytes(8 << 20);
    let machine = builder.check(level).build().expect("8 MiB are enough to boot");
    let cpus = machine.cpus().expect("nobody else holds a CPU");
    let caches = [(24, 0), (72, 64), (200, 0), (1000, 0), (3000, 16), (5000, 0)];
    let caches = caches.iter().map(|&(size, align)| {
        let args = CacheArgs::new(format!("fuzz-{size}"), size).align(align);
        let args = if size == 200 { args.flags(SlabFlags::TYPESAFE_BY_RCU) } else { args };
        (machine.cache_create(&args).expect("a plain cache"), u64::from(size))
    });
    let caches = caches.collect();
    let mut model =
        Model { machine: &machine, cpus, caches, live: BTreeMap::new(), areas: Vec::new() };
    let mut steps = 0u32;
    while let (Some(op), Some(a), Some(b)) = (input.next(), input.next(), input.next()) {
        model.step(op, a, b);
        steps += 1;
        if steps.is_multiple_of(256) {
            model.validate();
        }
    }
    model.finish();
}

impl<B: Backend> Model<'_, B> {
    fn step(&mut self, op: u8, a: u8, b: u8) {
        let cpu = CpuId(u32::from(a) % self.machine.cpu_count());
        let size = 1 + u64::from(b) * [1, 1, 5, 40][usize::from(a >> 6)];
        match op % 16 {
            0..5 => {
                let (cache, size) = self.caches[usize::from(b) % self.caches.len()];
                let got = self.cpus.cpu(cpu).alloc(cache, Gfp::KERNEL, SITE);
                self.enter(got, size, Owner::Cache(cache), op);
            }
            5..8 => {
                let got = self.cpus.cpu(cpu).kmalloc(size, Gfp::KERNEL, SITE);
                self.enter(got, size, Owner::Kmalloc, op);
            }
            8 => {
                let order = Order(b % 12);
                let got = self.cpus.cpu(cpu).alloc_pages(order, Gfp::KERNEL | Gfp::NOWARN);
                let obj = got.and_then(|pfn| ObjPtr::new(pfn.offset()));
                self.enter(obj, order.bytes(), Owner::Pages(order), op);
            }
            9..13 => self.free_one(cpu, u64::from(a) << 8 | u64::from(b)),
            13 => self.cpus.shrink(self.caches[usize::from(b) % self.caches.len()].0),
            14 => self.machine.fail_pages_after((b < 128).then_some(u64::from(b % 16))),
            _ if b.is_multiple_of(2) => {
                let got = self.cpus.cpu(cpu).vmalloc(size * 100, Gfp::KERNEL, SITE);
                self.areas.extend(got);
            }
            _ => {
                if let Some(area) = self.areas.pop() {
                    self.cpus.cpu(cpu).vfree(area, SITE);
                }
                self.cpus.cpu(cpu).tick(u64::from(a) << 32);
            }
        }
    }

    /// Enters what was allocated: it must overlap nothing, and is stamped with its token.
    fn enter(&mut self, got: Option<ObjPtr>, size: u64, owner: Owner, token: u8) {
        let Some(obj) = got else { return };
        let start = obj.get();
        if let Some((&before, live)) = self.live.range(..=start).next_back() {
            assert!(before + live.size <= start, "0x{start:x} lies in 0x{before:x}");
        }
        if let Some((&after, _)) = self.live.range(start..).next() {
            assert!(start + size <= after, "0x{start:x} reaches into 0x{after:x}");
        }
        self.stamp(start, size, token);
        self.live.insert(start, Live { size, owner, token });
    }

    fn free_one(&mut self, cpu: CpuId, which: u64) {
        if self.live.is_empty() {
            return;
        }
        let nth = which as usize % self.live.len();
        let start = *self.live.keys().nth(nth).expect("within the length");
        self.free(cpu, start);
    }

    fn free(&mut self, cpu: CpuId, start: u64) {
        let live = self.live.remove(&start).expect("an object of the model");
        self.check(start, live);
        let cpu = self.cpus.cpu(cpu);
        let obj = ObjPtr::new(start).expect("never 0");
        match live.owner {
            Owner::Cache(cache) => cpu.free(cache, obj, SITE),
            Owner::Kmalloc => cpu.kfree(obj, SITE),
            Owner::Pages(order) => cpu.free_pages(Pfn((start >> 12) as u32), order, SITE),
        }
        // The neighbour above must be undamaged.
        if let Some((&next, &live)) = self.live.range(start..).next() {
            self.check(next, live);
        }
    }

    /// Writes the token over the whole object, or its ends if it is large.
    fn stamp(&self, start: u64, size: u64, token: u8) {
        for at in places(start, size) {
            self.machine.write_byte(ObjPtr::new(at).expect("never 0"), token);
        }
    }

    fn check(&self, start: u64, live: Live) {
        for at in places(start, live.size) {
            let byte = self.machine.read_byte(ObjPtr::new(at).expect("never 0"));
            assert_eq!(byte, live.token, "0x{at:x} of the object at 0x{start:x} changed");
        }
    }

    fn validate(&self) {
        let balance = self.machine.validate();
        assert!(balance.is_ok(), "{:#?}", balance.errors);
        assert_eq!(self.machine.take_findings(), [], "nothing was misused");
    }

    fn finish(mut self) {
        self.machine.fail_pages_after(None);
        while let Some((&start, _)) = self.live.first_key_value() {
            self.free(CpuId(0), start);
        }
        let areas = std::mem::take(&mut self.areas);
        for area in areas {
            self.cpus.cpu(CpuId(0)).vfree(area, SITE);
        }
        // The newest goes first, and all again: the blocks that SLAB and sheaves have for
        // themselves are kmalloc blocks.
        let caches = self.machine.caches().repeat(2);
        caches.into_iter().rev().for_each(|cache| self.cpus.shrink(cache));
        self.cpus.cpu(CpuId(0)).rcu_barrier();
        self.validate();
        assert_eq!(self.machine.gauges().slab_bytes, 0, "shrinking leaves no slab");
        assert_eq!(self.machine.gauges().live_bytes, 0);
    }
}

/// Returns all offsets of an object of up to 5000 bytes, and the outer 64 of a larger one.
fn places(start: u64, size: u64) -> impl Iterator<Item = u64> {
    let ends = if size <= 5000 { size } else { 64 };
    (start..start + ends).chain(start + size - ends..start + size)
}
