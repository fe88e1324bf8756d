//! Measures the probe tables: time and memory by the number of probes, and how the promises stand.
//!
//! `kprobes [--rounds N] [--probes N] [--csv FILE] [--svg PREFIX]`. Addresses are those of the kernel's functions; more
//! probes than functions go to places inside them, as kprobes may.

use bench_xarray::keys::{Random, kernel_text};
use bench_xarray::measure::thread_ns;
use slablab_kprobe::{CachedTree, Hash64, Hash512, HashResizing, Probe, ProbeTable, Tree};
use slablab_report::{AxisScale, Lines, Palette, Plot, Point, Series, Width};
use slablab_xarray::pin;

const COUNTS: [usize; 9] = [1000, 2000, 4000, 8000, 12_000, 16_000, 20_000, 24_000, 32_000];
/// The number of probes that promises were made for.
const PROMISED: usize = 20_000;
/// Lookups of a pattern, but fewer where each takes microseconds, and a few where only running is asked (`make bench-smoke`).
const LOOKUPS: usize = if cfg!(debug_assertions) { 2_000 } else { 200_000 };
/// Hot sets: a hash may suit one set and not another.
const HOT_SETS: usize = 16;
/// Runs over a list before the one that counts. A cache finds out how to spread a hot set meanwhile; the
/// first run is told, too.
const WARM_UPS: usize = 80;

/// One of [`PATTERNS`]: addresses to look up in this order, a list for each hot set, else one.
struct Pattern {
    lists: Vec<Vec<u64>>,
    find_all: Find,
}

/// What a lookup asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Find {
    At,
    /// Within the 20 bytes before the address.
    Before,
}

const PATTERNS: [&str; 5] = ["uniform hits", "64 hot", "200 hot", "misses", "20 bytes before"];
const UNIFORM: usize = 0;
const HOT: usize = 1;
const BEFORE: usize = 4;

/// Nanoseconds of a lookup in one list: of the first run, and of the shortest and longest round.
#[derive(Debug, Clone, Copy)]
struct Timing {
    first: f64,
    least: f64,
    most: f64,
}

/// One table with one number of probes: the timings of each list of each pattern, and its bytes.
#[derive(Debug, Clone, Default)]
struct Row {
    table: &'static str,
    probes: usize,
    timings: Vec<Vec<Timing>>,
    bytes: usize,
}

impl Row {
    /// Returns the mean over a pattern's lists.
    fn mean(&self, pattern: usize, of: impl Fn(&Timing) -> f64) -> f64 {
        let timings = &self.timings[pattern];
        timings.iter().map(of).sum::<f64>() / timings.len() as f64
    }

    fn ns(&self, pattern: usize) -> f64 {
        self.mean(pattern, |timing| timing.least)
    }

    fn ns_most(&self, pattern: usize) -> f64 {
        self.mean(pattern, |timing| timing.most)
    }
}

/// Returns the addresses of the probes, and what is looked up.
fn patterns(count: usize, text: &[u64]) -> (Vec<u64>, Vec<Pattern>) {
    let mut random = Random(count as u64);
    // Any of the functions; if there are too few, also places 8, 16, ... bytes into them.
    let mut addresses: Vec<u64> = text.to_vec();
    for i in 1.. {
        if addresses.len() >= count {
            break;
        }
        addresses.extend(text.iter().map(|address| address + 8 * i));
    }
    random.shuffle(&mut addresses);
    addresses.truncate(count);
    let mut draw = |from: &[u64], n: usize, plus: u64| -> Vec<u64> {
        (0..n).map(|_| from[random.below(from.len() as u64) as usize] + plus).collect()
    };
    let mut hot = |size: usize| -> Vec<Vec<u64>> {
        let sets = addresses.chunks_exact(size).cycle().take(HOT_SETS);
        sets.map(|set| draw(set, LOOKUPS / HOT_SETS, 0)).collect()
    };
    let (hot_64, hot_200) = (hot(64), hot(200));
    let pattern = |lists, find_all| Pattern { lists, find_all };
    let patterns = vec![
        pattern(vec![draw(&addresses, LOOKUPS, 0)], Find::At),
        pattern(hot_64, Find::At),
        pattern(hot_200, Find::At),
        pattern(vec![draw(&addresses, LOOKUPS, 3)], Find::At),
        pattern(vec![draw(&addresses, LOOKUPS, 24)], Find::Before),
    ];
    (addresses, patterns)
}

fn measure<T: ProbeTable>(addresses: &[u64], patterns: &[Pattern], row: &mut Row) {
    let table = T::new();
    for &address in addresses {
        // Places in one function may coincide with those in another.
        let _ = table.register(Probe::new(address));
    }
    (row.table, row.probes, row.bytes) = (T::NAME, addresses.len(), table.table_bytes());
    row.timings.resize(patterns.len(), Vec::new());
    for (pattern, timings) in patterns.iter().zip(&mut row.timings) {
        let is_slow = T::NAME.contains("64 buckets") || T::NAME.contains("512");
        for (number, list) in pattern.lists.iter().enumerate() {
            let list = &list[..if is_slow { list.len() / 20 } else { list.len() }];
            let run = || {
                let start = thread_ns();
                std::hint::black_box(match pattern.find_all {
                    Find::At => find_all(&table, list),
                    Find::Before => find_all_before(&table, list),
                });
                (thread_ns() - start) as f64 / list.len() as f64
            };
            let first = run();
            (1..if pattern.lists.len() > 1 { WARM_UPS } else { 1 }).for_each(|_| _ = run());
            let ns = run();
            match timings.get_mut(number) {
                Some(timing) => {
                    timing.first = timing.first.min(first);
                    timing.least = timing.least.min(ns);
                    timing.most = timing.most.max(ns);
                }
                None => timings.push(Timing { first, least: ns, most: ns }),
            }
        }
    }
}

/// Counts the armed probes at these addresses, each in a section of its own, as a breakpoint would. A function
/// by itself, so that nothing but the table stands in the timed loop.
#[inline(never)]
fn find_all<T: ProbeTable>(table: &T, addresses: &[u64]) -> usize {
    let is_armed = |&&address: &&u64| table.lookup(address, &pin()).is_some_and(Probe::is_enabled);
    addresses.iter().filter(is_armed).count()
}

/// As [`find_all`], for the 20 bytes before each address.
#[inline(never)]
fn find_all_before<T: ProbeTable>(table: &T, addresses: &[u64]) -> usize {
    let is_armed = |&&address: &&u64| {
        table.lookup_range(address - 20, address - 1, &pin()).is_some_and(Probe::is_enabled)
    };
    addresses.iter().filter(is_armed).count()
}

fn main() {
    let (mut rounds, mut only, mut csv, mut svg) = (5, None, None, None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().unwrap_or_else(|| usage(&format!("{word} needs a value")));
        match word.as_str() {
            "--rounds" => {
                rounds = value.parse().unwrap_or_else(|_| usage("--rounds takes a number"))
            }
            "--probes" => {
                only = Some(value.parse().unwrap_or_else(|_| usage("--probes takes a number")));
            }
            "--csv" => csv = Some(value),
            "--svg" => svg = Some(value),
            _ => usage(&format!("{word} is no option")),
        }
    }
    let Some(text) = kernel_text() else {
        usage("no kernel addresses: set SYSTEM_MAP, or read /proc/kallsyms as root")
    };
    let counts = only.map_or_else(|| COUNTS.to_vec(), |count| vec![count]);
    let rows: Vec<Row> =
        counts.iter().flat_map(|&count| measure_all(count, &text.present, rounds)).collect();
    if counts.contains(&PROMISED) {
        verdicts(&rows);
    }
    if let Some(file) = csv {
        write(&file, &as_csv(&rows));
    }
    if let Some(prefix) = svg {
        charts(&rows, &prefix);
    }
}

fn usage(problem: &str) -> ! {
    eprintln!(
        "kprobes: {problem}\nusage: kprobes [--rounds N] [--probes N] [--csv FILE] [--svg PREFIX]"
    );
    std::process::exit(2)
}

fn write(file: &str, text: &str) {
    std::fs::write(file, text).unwrap_or_else(|error| usage(&format!("{file}: {error}")));
}

/// All tables with so many probes, in rounds that alternate between them.
fn measure_all(count: usize, text: &[u64], rounds: usize) -> Vec<Row> {
    let (addresses, patterns) = patterns(count, text);
    let mut rows = vec![Row::default(); 5];
    for _ in 0..rounds {
        measure::<Hash64>(&addresses, &patterns, &mut rows[0]);
        measure::<Hash512>(&addresses, &patterns, &mut rows[1]);
        measure::<HashResizing>(&addresses, &patterns, &mut rows[2]);
        measure::<Tree>(&addresses, &patterns, &mut rows[3]);
        measure::<CachedTree>(&addresses, &patterns, &mut rows[4]);
    }
    for row in &rows {
        let times: String = (PATTERNS.iter().enumerate())
            .map(|(i, pattern)| format!("  {pattern} {:.1}", row.ns(i)))
            .collect();
        let bytes = row.bytes as f64 / row.probes as f64;
        println!("{:>6} {:<18} {bytes:>6.1} B{times}", row.probes, row.table);
    }
    rows
}

fn verdicts(rows: &[Row]) {
    let of = |name: &str| {
        rows.iter().find(|row| row.probes == PROMISED && row.table == name).expect("measured")
    };
    let (cached, tree) = (of(CachedTree::NAME), of(Tree::NAME));
    let (small, large, resizing) = (of(Hash64::NAME), of(Hash512::NAME), of(HashResizing::NAME));
    let least = |what: &dyn Fn(&Row) -> f64| {
        [small, large, resizing, tree].map(what).into_iter().fold(f64::MAX, f64::min)
    };
    let hot_ratio = |set: usize| {
        let ns = |row: &Row| row.timings[HOT][set].least;
        ns(cached) / least(&ns)
    };
    let verdict = |what: &str, got: f64, is_kept: bool, promise: &str| {
        println!("{what:<70}{got:>8.2}  {} {promise}", if is_kept { "holds:" } else { "MISSED:" });
    };
    println!("\nAt 20,000 probes:\n");
    let ratio = large.ns(UNIFORM) / cached.ns(UNIFORM);
    verdict("uniform hits, 512-bucket hash over cached XArray", ratio, ratio >= 6.0, "at least 6");
    let ratio = small.ns(UNIFORM) / cached.ns(UNIFORM);
    verdict("uniform hits, 64-bucket hash over cached XArray", ratio, ratio >= 60.0, "at least 60");
    let ratio = cached.ns(HOT) / least(&|row| row.ns(HOT));
    let what = "64 hot, cached XArray over the quickest other table, mean of 16 sets";
    verdict(what, ratio, ratio <= 1.0, "at most 1");
    let ratio = (0..HOT_SETS).map(hot_ratio).fold(0.0, f64::max);
    verdict("the same, worst of the 16 sets", ratio, ratio <= 1.0, "at most 1");
    let ratio = tree.bytes as f64 / small.bytes as f64;
    verdict("memory, XArray over links and 64 buckets", ratio, ratio <= 2.5, "at most 2.5");
    let ratio = tree.bytes as f64 / large.bytes as f64;
    verdict("memory, XArray over links and 512 buckets", ratio, ratio <= 2.5, "at most 2.5");
    println!("\nNothing was promised of these:\n");
    let first = |row: &Row| row.mean(HOT, |timing| timing.first);
    for (what, ratio) in [
        (
            "64 hot, the first 12,500 lookups: cached XArray over the quickest",
            first(cached) / least(&first),
        ),
        (
            "20 bytes before an address, resizing hash over XArray",
            resizing.ns(BEFORE) / tree.ns(BEFORE),
        ),
        ("uniform hits, XArray over resizing hash", tree.ns(UNIFORM) / resizing.ns(UNIFORM)),
    ] {
        println!("{what:<70}{ratio:>8.2}");
    }
}

fn as_csv(rows: &[Row]) -> String {
    let mut text = String::from("probes,table,pattern,ns,ns_longest_round,table_bytes\n");
    for row in rows {
        let table = row.table.replace(',', "");
        for (i, name) in PATTERNS.iter().enumerate() {
            let (least, most) = (row.ns(i), row.ns_most(i));
            text += &format!("{},{table},{name},{least:.2},{most:.2},{}\n", row.probes, row.bytes);
        }
    }
    text
}

fn charts(rows: &[Row], prefix: &str) {
    let chart = |name: &str, title: &str, y: (&str, &str), point: &dyn Fn(&Row) -> Point| {
        let series =
            [Hash64::NAME, Hash512::NAME, HashResizing::NAME, Tree::NAME, CachedTree::NAME];
        let series = series.map(|table| Series {
            name: table.into(),
            points: rows.iter().filter(|row| row.table == table).map(point).collect(),
        });
        let how =
            "addresses of the kernel's functions; shortest of the rounds, bars to the longest";
        let lines = Lines {
            x: ("probes".into(), String::new()),
            y: (y.0.into(), y.1.into()),
            x_scale: AxisScale::Log2,
            y_scale: AxisScale::Log10,
            series: series.into(),
        };
        let svg = Plot::new(title, how, lines).svg(Width::Wide, &mut Palette::default());
        let svg = svg.unwrap_or_else(|error| usage(&error.to_string()));
        write(&format!("{prefix}{name}.svg"), &svg);
    };
    let ns = |pattern: usize| {
        move |row: &Row| {
            let (y, most) = (row.ns(pattern), row.ns_most(pattern));
            Point { x: row.probes as f64, y, spread: Some((y, most)) }
        }
    };
    let bytes = |row: &Row| Point { x: row.probes as f64, y: row.bytes as f64, spread: None };
    let time = ("per lookup, less is better", "ns");
    chart("time", "Finding a probe, uniform hits", time, &ns(UNIFORM));
    chart("hot", "Finding a probe, 64 of them hot", time, &ns(HOT));
    chart("memory", "Memory of the table", ("less is better", "bytes"), &bytes);
}
