//! Writes the trace of a machine of any size: `machine FILE [--cpus N] [--nodes N] [--sites N] [--caches N] [--live N]
//! [--events N] [--seed N] [--unresolved]`. Without options it is the reference machine of `bench/scale/run.py`: 512 CPUs on
//! 8 nodes, 100,000 call sites, 3,000 caches, 5 million live objects, 50 million events.
//!
//! # How it works
//! Half of the call sites allocate from kmalloc, each other one from one of the caches. A few sites allocate most, but each
//! has its turn. Three of ten objects are long-lived: their number rises to that of `--live` and stays there, as a new one
//! takes the place of one that is drawn. The others live while some twenty for each CPU are allocated. CPUs work in bursts,
//! and a third of the frees happen on another CPU than the allocation. The same words give the same file.
//!
//! # Invariants
//! Every call site and every cache allocates, where there are ten events for each; memory is that of the live objects.

use std::path::Path;

use slablab_trace::{Event, Kind, Meta, NONE, TraceWriter};

type Failure = Box<dyn std::error::Error>;

/// The size of a machine and of its trace.
struct Shape {
    cpus: u16,
    nodes: u32,
    sites: u32,
    caches: u32,
    live: u32,
    events: u64,
    seed: u64,
    /// Whether call sites are addresses, as in a recording without symbols
    unresolved: bool,
}

const REFERENCE: Shape = Shape {
    cpus: 512,
    nodes: 8,
    sites: 100_000,
    caches: 3_000,
    live: 5_000_000,
    events: 50_000_000,
    seed: 1,
    unresolved: false,
};

/// Sizes of kmalloc's requests; the first ones are more frequent.
const REQUESTS: [u32; 16] = [32, 64, 24, 16, 96, 40, 128, 192, 56, 256, 72, 512, 320, 1024, 2048, 4096];
/// Of ten objects, so many are long-lived.
const LONG_IN_TEN: u32 = 3;
/// Short-lived objects of each CPU.
const SHORT_PER_CPU: usize = 20;
const GFP_KERNEL: u32 = 0xcc0;

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let usage = "machine FILE [--cpus N] [--nodes N] [--sites N] [--caches N] [--live N] [--events N] [--seed N] [--unresolved]";
    let [file, options @ ..] = &words[..] else { return Err(usage.into()) };
    let mut shape = REFERENCE;
    let mut options = options.iter();
    while let Some(option) = options.next() {
        if option == "--unresolved" {
            shape.unresolved = true;
            continue;
        }
        let value = options.next().ok_or(usage)?;
        match option.as_str() {
            "--cpus" => shape.cpus = value.parse()?,
            "--nodes" => shape.nodes = value.parse()?,
            "--sites" => shape.sites = value.parse()?,
            "--caches" => shape.caches = value.parse()?,
            "--live" => shape.live = value.parse()?,
            "--events" => shape.events = value.parse()?,
            "--seed" => shape.seed = value.parse()?,
            _ => return Err(usage.into()),
        }
    }
    if shape.cpus == 0 || shape.sites < 2 || shape.caches == 0 || shape.live == 0 {
        return Err("a machine has a CPU, two call sites, a cache and a live object at least".into());
    }
    write(Path::new(file), &shape)
}

fn write(path: &Path, shape: &Shape) -> Result<(), Failure> {
    let mut writer = TraceWriter::create(path)?;
    for site in 0..shape.sites {
        let address = 0xffff_ffff_8100_0000 + u64::from(site) * 0x40;
        match shape.unresolved {
            true => writer.site(&format!("{address:#x}"), address),
            false => writer.site(&format!("function_{}+{:#x}", site / 3, 0x20 + site % 3 * 0x40), address),
        };
    }
    for cache in 0..shape.caches {
        writer.cache(&format!("cache_{cache}"));
    }
    let mut machine = Machine::new(shape);
    for _ in 0..shape.events {
        writer.push(&machine.step())?;
    }
    writer.finish(Meta {
        kernel_release: "6.12.0-reference".into(),
        arch: "x86_64".into(),
        cpus: u32::from(shape.cpus),
        nodes: shape.nodes,
        page_bytes: 4096,
        recorder: "bench/scale".into(),
        source: format!("seed {}, {} events", shape.seed, shape.events),
        ..Meta::default()
    })?;
    Ok(())
}

/// Numbers without a library, so that the same seed gives the same file for ever (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// Returns a number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }
}

#[derive(Clone, Copy)]
struct Object {
    slot: u32,
    site: u32,
    cpu: u16,
}

struct Machine<'a> {
    shape: &'a Shape,
    random: Random,
    time_ns: u64,
    cpu: u16,
    long: Vec<Object>,
    short: Vec<Object>,
    slots: u32,
    free_slots: Vec<u32>,
}

impl<'a> Machine<'a> {
    fn new(shape: &'a Shape) -> Self {
        let random = Random(shape.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let (long, short, free_slots) = (Vec::new(), Vec::new(), Vec::new());
        Self { shape, random, time_ns: 1_000_000_000, cpu: 0, long, short, slots: 0, free_slots }
    }

    fn step(&mut self) -> Event {
        self.time_ns += 100 + self.random.below(200);
        if self.random.below(16) == 0 {
            self.cpu = self.random.below(self.shape.cpus.into()) as u16;
        }
        if self.long.len() > self.shape.live as usize {
            let place = self.random.below(self.long.len() as u64) as usize;
            let object = self.long.swap_remove(place);
            return self.free(object);
        }
        if self.short.len() > SHORT_PER_CPU * usize::from(self.shape.cpus) {
            let place = self.random.below(self.short.len() as u64) as usize;
            let object = self.short.swap_remove(place);
            return self.free(object);
        }
        self.alloc()
    }

    fn alloc(&mut self) -> Event {
        let sites = u64::from(self.shape.sites);
        // The third power of an even draw: a thousandth of the sites makes a tenth of the allocations.
        let draw = self.random.below(1 << 20);
        let site = ((draw * draw >> 20) * draw >> 20) * sites >> 20;
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        });
        let object = Object { slot, site: site as u32, cpu: self.cpu };
        match self.random.below(10) < LONG_IN_TEN.into() {
            true => self.long.push(object),
            false => self.short.push(object),
        }
        let (cache, bytes) = self.kind(object.site);
        let given = if cache == NONE { class(bytes) } else { bytes.next_multiple_of(8) };
        let kind = if cache == NONE { Kind::Kmalloc } else { Kind::KmemCacheAlloc };
        let (bytes_req, bytes_alloc) = (bytes.into(), given.into());
        Event { kind, bytes_req, bytes_alloc, gfp: GFP_KERNEL, ..self.event(object, cache) }
    }

    fn free(&mut self, object: Object) -> Event {
        self.free_slots.push(object.slot);
        if self.random.below(3) != 0 {
            self.cpu = object.cpu;
        }
        let (cache, _) = self.kind(object.site);
        let kind = if cache == NONE { Kind::Kfree } else { Kind::KmemCacheFree };
        Event { kind, ..self.event(object, cache) }
    }

    /// Returns the cache from which a call site allocates, and what it requests.
    fn kind(&self, site: u32) -> (u32, u32) {
        let mixed = site.wrapping_mul(0x9e37_79b1) >> 8;
        match site % 2 {
            0 => (NONE, REQUESTS[(mixed % 31).min(mixed % 16) as usize]),
            _ => {
                let cache = site / 2 % self.shape.caches;
                (cache, 64 + cache.wrapping_mul(0x9e37_79b1) % 60 * 8)
            }
        }
    }

    fn event(&self, object: Object, cache: u32) -> Event {
        let (time_ns, cpu) = (self.time_ns, self.cpu);
        let pid = 1000 + u32::from(cpu);
        Event { time_ns, cpu, pid, object: object.slot, site: object.site, cache, ..Event::EMPTY }
    }
}

/// Returns the class of kmalloc that serves a request.
fn class(bytes: u32) -> u32 {
    match bytes {
        65..=96 => 96,
        129..=192 => 192,
        _ => bytes.next_power_of_two().max(8),
    }
}
