//! A document with one of everything, from made-up but fixed numbers.

use slablab_report::{
    AddressPanel, Addresses, AxisScale, BarGroup, Bars, Cell, ComparisonRow, Comparisons, Document,
    Extent, Fact, Flame, Group, Item, Lifetimes, Lines, Plot, Point, Section, Series, SlabRow,
    Slabs, Span, Strip, Table, Waterfall, field,
};
use slablab_stats::{Pairing, Question, Rng, compare};

const ALLOCATORS: [&str; 4] = ["slab", "slub", "slob", "slmb"];

fn noisy(seed: u64, mean: f64, noise: f64, n: usize) -> Vec<f64> {
    let mut rng = Rng::new(seed);
    (0..n).map(|_| mean * (1.0 + noise * rng.normal())).collect()
}

/// Times per run of four allocators, the third far slower, the fourth with one outlier.
pub(crate) fn groups() -> Vec<Group> {
    let means = [0.1332, 0.1335, 0.1610, 0.1290];
    let mut groups: Vec<Group> = ALLOCATORS
        .iter()
        .zip(means)
        .zip(1..)
        .map(|((name, mean), seed)| Group {
            name: (*name).into(),
            values: noisy(seed, mean, 0.02, 31),
        })
        .collect();
    groups[3].values[7] = 0.175;
    groups
}

pub(crate) fn strip(groups: Vec<Group>) -> Plot {
    Plot::new(
        "hackbench, 4 groups: time of every run",
        "31 runs each, interleaved in random order. Box: quartiles; thick line: median; hollow: outliers.",
        Strip {
            label: "variant".into(),
            quantity: "time per run".into(),
            unit: "s".into(),
            groups,
        },
    )
}

/// The same runs against the first allocator.
pub(crate) fn comparisons() -> Comparisons {
    let groups = groups();
    let question = Question::default();
    let rows = groups[1..].iter().map(|group| ComparisonRow {
        point: String::new(),
        candidate: group.name.clone(),
        comparison: compare(&groups[0].values, &group.values, Pairing::Independent, &question)
            .expect("31 runs each"),
    });
    Comparisons {
        metric: "time per run".into(),
        unit: "s".into(),
        baseline: "slab".into(),
        point: String::new(),
        rows: rows.collect(),
    }
}

/// Memory over time, 2,000 points a line.
pub(crate) fn memory() -> Plot {
    let series = ALLOCATORS.iter().zip(0u32..).map(|(name, at)| {
        let mut rng = Rng::new(u64::from(at));
        let mut held = 2.0e6;
        let points = (0..2000u32).map(|i| {
            held += 9_000.0
                * (rng.normal() + 0.4 - f64::from(i) / 2_500.0)
                * (1.0 + f64::from(at) / 3.0);
            Point { x: f64::from(i) * 1e6, y: held.max(1e5), spread: None }
        });
        Series { name: (*name).into(), points: points.collect() }
    });
    Plot::new(
        "Memory held over time",
        "Pages taken from the page allocator, at 2,000 instants of the trace.",
        Lines {
            x: ("time".into(), "ns".into()),
            y: ("memory held".into(), "B".into()),
            x_scale: AxisScale::Linear,
            y_scale: AxisScale::FromZero,
            series: series.collect(),
        },
    )
}

/// Nanoseconds per lookup by number of probes.
pub(crate) fn scaling() -> Plot {
    let kinds = [("hash64", 1.0), ("hash512", 0.2), ("xarray", 0.05), ("xarray+cache", 0.04)];
    let series = kinds.map(|(name, slope)| {
        let points = [1_000.0, 2_000.0, 4_000.0, 8_000.0, 16_000.0, 32_000.0].map(|x: f64| {
            let y = 12.0 + slope * x / 16.0;
            Point { x, y, spread: Some((y * 0.93, y * 1.08)) }
        });
        Series { name: name.into(), points: points.to_vec() }
    });
    Plot::new(
        "Time per lookup by number of probes",
        "Median of 31 runs; bars: 95 % interval.",
        Lines {
            x: ("probes".into(), String::new()),
            y: ("time per lookup".into(), "ns".into()),
            x_scale: AxisScale::Log2,
            y_scale: AxisScale::Log10,
            series: series.to_vec(),
        },
    )
}

/// Waste by cache.
pub(crate) fn fragmentation() -> Plot {
    let caches =
        ["kmalloc-64", "kmalloc-192", "dentry", "a_cache_with_a_name_that_is_far_too_long"];
    let groups = caches.iter().zip(1u32..).map(|(name, i)| BarGroup {
        name: (*name).into(),
        bars: ALLOCATORS
            .iter()
            .zip(1u32..)
            .map(|(a, j)| ((*a).into(), f64::from(i * 37_000 / j)))
            .collect(),
    });
    Plot::new(
        "Memory that no object uses, by cache",
        "Slab bytes less object bytes at the peak.",
        Bars {
            label: "cache".into(),
            quantity: ("unused".into(), "B".into()),
            groups: groups.collect(),
        },
    )
}

/// Where 300 objects lie: dense, and in two kinds of scatter.
pub(crate) fn addresses() -> Plot {
    let mut rng = Rng::new(5);
    let dense = (0..300).map(|i| 0x1000 + i * 32).collect();
    let scattered = (0..300).map(|i| 0x8000 + i * 64 + 4096 * rng.below(24) as u64).collect();
    Plot::new(
        "Where 300 objects lie",
        "Offsets from the least address.",
        Addresses {
            panels: vec![
                AddressPanel { name: "kmalloc 32".into(), addresses: dense },
                AddressPanel { name: "kmalloc 40".into(), addresses: scattered },
            ],
        },
    )
}

/// Objects of 40 bytes in places of 64, in two slabs; every third is freed and handed out again.
pub(crate) fn lifetimes() -> Plot {
    let place = |i: u64| Extent { start: i * 64, used_bytes: 40, room_bytes: 64 };
    let span = |i: u64, name: &str, from: f64, to: f64| Span {
        name: name.into(),
        time: (from, to),
        place: place(i),
    };
    let mut spans: Vec<Span> =
        (0..24).map(|i| span(i, "first", i as f64, if i % 3 == 0 { 30.0 } else { 60.0 })).collect();
    spans.extend((0..24).step_by(3).map(|i| span(i, "second", 40.0 + i as f64 / 3.0, 60.0)));
    let time = ("operation".into(), String::new());
    Plot::new(
        "kmalloc-64",
        "Made up.",
        Lifetimes { time, end: 60.0, spans, borders: vec![0, 1024] },
    )
}

/// A slab that is nearly full, one with holes, and one of objects of another size.
pub(crate) fn slabs() -> Plot {
    let row = |name: &str, room: u64, used: u64, step: usize| {
        let place = |i| Extent { start: i * room, used_bytes: used, room_bytes: room };
        let all = || 0..4096 / room;
        let is_taken = |i: &u64| !i.is_multiple_of(step as u64);
        SlabRow {
            name: name.into(),
            bytes: 4096,
            objects: all()
                .filter(is_taken)
                .map(|i| (format!("site {}", i % 2), place(i)))
                .collect(),
            free: all().filter(|i| !is_taken(i)).map(place).collect(),
        }
    };
    let slabs = vec![
        row("kmalloc-64 #1", 64, 40, 20),
        row("kmalloc-64 #2", 64, 64, 2),
        row("item #1", 40, 40, 5),
    ];
    Plot::new("Slabs", "Made up.", Slabs { slabs })
}

/// The bytes that caches of their own save and cost, site by site.
pub(crate) fn waterfall() -> Plot {
    let steps =
        (0..16).map(|i| (format!("make_something_{i}+0x3{i}"), f64::from(9_000 - 1_900 * i)));
    let steps: Vec<_> = steps.map(|(name, saved)| (name, -saved)).collect();
    let plot = Waterfall::new(("as recorded", 4.1e6), ("changed", 4.14e6), steps);
    Plot::new(
        "Bytes held at the peak, by call site",
        "Each site with a cache of its own.",
        Waterfall { label: "call site".into(), quantity: ("held".into(), "B".into()), ..plot },
    )
}

/// Bytes by call site.
pub(crate) fn flame() -> Flame {
    let mut flame = Flame::new("Bytes requested by call site", "B", "Sum over the trace.");
    for i in 0..400u64 {
        let stack = [format!("net{}", i % 5), format!("layer<{}>", i % 17), format!("site_{i}")];
        flame.add(stack, 100 + (i * 7919) % 5000);
    }
    flame
}

/// A table of `rows` call sites.
pub(crate) fn sites(rows: usize) -> Item {
    let mut rng = Rng::new(9);
    let mut row =
        |i| (i, rng.below(1 << 24) as u64, rng.below(1_000_000) as u64, rng.unit(), rng.unit());
    let rows: Vec<(usize, u64, u64, f64, f64)> = (0..rows).map(&mut row).collect();
    let table = Table::of(
        &rows,
        [
            field::text("call site", "site", |(i, ..)| {
                format!("do_something_{i}+0x{:x}/0x{:x}", i * 13 % 400, i * 17 % 900)
            }),
            field::text("cache", "cache", |(i, ..)| format!("kmalloc-{}", 8 << (i % 8))),
            field::count("allocations", "allocs", |(_, _, allocs, ..)| *allocs),
            field::bytes("requested", "requested_bytes", |(_, bytes, ..)| *bytes),
            field::bytes("allocated", "allocated_bytes", |(_, bytes, ..)| bytes * 13 / 10),
            field::share("waste", "waste_share", |(.., waste, _)| *waste),
            field::cell("median lifetime", "lifetime_ns_p50", |(i, .., life)| {
                match i.is_multiple_of(7) {
                    true => Cell::Missing,
                    false => Cell::Ns((life * 1e9) as u64),
                }
            }),
        ],
    );
    Item::table("Call sites", "Requested and allocated bytes, summed over the trace.", table)
}

/// One of everything.
pub(crate) fn document(rows: usize) -> Document {
    let table = comparisons();
    let effects = table.effects().expect("times are above zero");
    let section = |title: &str, items| Section {
        title: title.into(),
        method: "Made-up numbers, to look at.".into(),
        items,
        ..Section::default()
    };
    Document {
        title: "hackbench under SLAB, SLUB, SLOB & SLMB".into(),
        question: "How do the allocators compare on message passing?".into(),
        answers: table.sentences(),
        sections: vec![
            section(
                "Comparison",
                vec![Item::Comparisons(vec![table]), effects.into(), strip(groups()).into()],
            ),
            section("Memory", vec![memory().into(), fragmentation().into(), waterfall().into()]),
            section("Scaling", vec![scaling().into()]),
            section("Addresses", vec![addresses().into(), lifetimes().into(), slabs().into()]),
            section("Call sites", vec![Item::Flame(flame()), sites(rows)]),
        ],
        facts: vec![
            Fact::new("kernel", "6.1.0-test"),
            Fact::new("command", "slablab lab run hackbench <all>"),
        ],
        ..Document::default()
    }
}
