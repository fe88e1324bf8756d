//! Measures the probe tables: time and memory by the number of probes, and how the promises stand.
//!
//! `kprobes [--rounds N] [--probes N] [--csv FILE] [--svg PREFIX]`. Addresses are those of the kernel's functions; more
//! probes than functions go to places inside them, as kprobes may.

use bench_xarray::keys::{Random, kernel_text};
use bench_xarray::measure::thread_ns;
use slablab_kprobe::{CachedTree, Hash64, Hash512, HashResizing, Probe, ProbeTable, Tree};
use slablab_report::{Lines, Palette, Place, Plot, Point, Series, Width};
use slablab_xarray::pin;

const COUNTS: [usize; 9] = [1000, 2000, 4000, 8000, 12_000, 16_000, 20_000, 24_000, 32_000];
/// The number of probes that promises were made for.
const PROMISED: usize = 20_000;
/// Lookups a measurement, but fewer where each takes microseconds.
const LOOKUPS: usize = 200_000;

/// Nanoseconds and bytes of one table with one number of probes.
#[derive(Debug, Clone, Default)]
struct Row {
    table: &'static str,
    probes: usize,
    /// Shortest and longest round of each pattern of [`PATTERNS`].
    ns: [(f64, f64); 5],
    bytes: usize,
}

const PATTERNS: [&str; 5] = ["uniform hits", "64 hot", "200 hot", "misses", "20 bytes before"];

struct Patterns {
    addresses: Vec<u64>,
    lookups: [Vec<u64>; 5],
}

fn patterns(count: usize, text: &[u64]) -> Patterns {
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
    let n = LOOKUPS;
    let mut draw = |from: &[u64], plus: u64| -> Vec<u64> {
        (0..n).map(|_| from[random.below(from.len() as u64) as usize] + plus).collect()
    };
    let hot = |k: usize| &addresses[..k.min(count)];
    let lookups = [
        draw(&addresses, 0),
        draw(hot(64), 0),
        draw(hot(200), 0),
        draw(&addresses, 3),
        draw(&addresses, 24),
    ];
    Patterns { addresses, lookups }
}

fn measure<T: ProbeTable>(patterns: &Patterns, row: &mut Row) {
    let table = T::new();
    for &address in &patterns.addresses {
        // Places in one function may coincide with those in another.
        let _ = table.register(Probe::new(address));
    }
    row.table = T::NAME;
    row.probes = patterns.addresses.len();
    row.bytes = table.table_bytes();
    for (i, lookups) in patterns.lookups.iter().enumerate() {
        let is_slow = T::NAME.contains("64 buckets") || (T::NAME.contains("512") && i == 4);
        let lookups = &lookups[..if is_slow { LOOKUPS / 20 } else { LOOKUPS }];
        let run = || {
            let start = thread_ns();
            std::hint::black_box(match i {
                4 => find_all_before(&table, lookups),
                _ => find_all(&table, lookups),
            });
            (thread_ns() - start) as f64 / lookups.len() as f64
        };
        run();
        let ns = run();
        let (least, most) = row.ns[i];
        row.ns[i] = if most == 0.0 { (ns, ns) } else { (least.min(ns), most.max(ns)) };
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
    rows.iter().for_each(print_row);
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
    let patterns = patterns(count, text);
    let mut rows = vec![Row::default(); 5];
    for _ in 0..rounds {
        measure::<Hash64>(&patterns, &mut rows[0]);
        measure::<Hash512>(&patterns, &mut rows[1]);
        measure::<HashResizing>(&patterns, &mut rows[2]);
        measure::<Tree>(&patterns, &mut rows[3]);
        measure::<CachedTree>(&patterns, &mut rows[4]);
    }
    rows
}

fn print_row(row: &Row) {
    let times: String =
        PATTERNS.iter().zip(row.ns).map(|(name, ns)| format!("  {name} {:.1}", ns.0)).collect();
    let bytes = row.bytes as f64 / row.probes as f64;
    println!("{:>6} {:<18} {bytes:>6.1} B{times}", row.probes, row.table);
}

fn verdicts(rows: &[Row]) {
    let of = |name: &str| {
        rows.iter().find(|row| row.probes == PROMISED && row.table == name).expect("measured")
    };
    let (cached, tree) = (of(CachedTree::NAME), of(Tree::NAME));
    let (small, large, resizing) = (of(Hash64::NAME), of(Hash512::NAME), of(HashResizing::NAME));
    let verdict = |what: &str, got: f64, ok: bool, promise: &str| {
        println!("{:<70}{got:>8.2}  {} {promise}", what, if ok { "holds:" } else { "MISSED:" });
    };
    println!("\nAt 20,000 probes:\n");
    let ratio = large.ns[0].0 / cached.ns[0].0;
    verdict("uniform hits, 512-bucket hash over cached XArray", ratio, ratio >= 5.0, "at least 5");
    let ratio = small.ns[0].0 / cached.ns[0].0;
    verdict("uniform hits, 64-bucket hash over cached XArray", ratio, ratio >= 50.0, "at least 50");
    let others =
        [small, large, resizing, tree].map(|row| row.ns[1].0).into_iter().fold(f64::MAX, f64::min);
    let ratio = cached.ns[1].0 / others;
    verdict(
        "64 hot, cached XArray over the quickest other table",
        ratio,
        ratio <= 1.0,
        "at most 1",
    );
    let ratio = tree.bytes as f64 / small.bytes as f64;
    verdict("memory, XArray over links and 64 buckets", ratio, ratio <= 2.5, "at most 2.5");
    let ratio = tree.bytes as f64 / large.bytes as f64;
    verdict("memory, XArray over links and 512 buckets", ratio, ratio <= 2.5, "at most 2.5");
    let ratio = resizing.ns[4].0 / tree.ns[4].0;
    verdict(
        "20 bytes before an address, resizing hash over XArray",
        ratio,
        true,
        "(nothing promised)",
    );
    let ratio = tree.ns[0].0 / resizing.ns[0].0;
    verdict("uniform hits, XArray over resizing hash", ratio, true, "(nothing promised)");
}

fn as_csv(rows: &[Row]) -> String {
    let mut text = String::from("probes,table,pattern,ns,ns_longest_round,table_bytes\n");
    for row in rows {
        for (name, ns) in PATTERNS.iter().zip(row.ns) {
            let table = row.table.replace(',', "");
            text +=
                &format!("{},{table},{name},{:.2},{:.2},{}\n", row.probes, ns.0, ns.1, row.bytes);
        }
    }
    text
}

fn charts(rows: &[Row], prefix: &str) {
    let tables = [Hash64::NAME, Hash512::NAME, HashResizing::NAME, Tree::NAME, CachedTree::NAME];
    let lines =
        |title: &str, y: (&str, &str), value: &dyn Fn(&Row) -> (f64, Option<(f64, f64)>)| Lines {
            title: title.into(),
            how: "addresses of the kernel's functions; shortest of the rounds, bars to the longest"
                .into(),
            x: ("probes".into(), String::new()),
            y: (y.0.into(), y.1.into()),
            x_place: Place::Log2,
            y_place: Place::Log10,
            series: tables
                .map(|name| Series {
                    name: name.into(),
                    points: rows
                        .iter()
                        .filter(|row| row.table == name)
                        .map(|row| {
                            let (y, spread) = value(row);
                            Point { x: row.probes as f64, y, spread }
                        })
                        .collect(),
                    ..Series::default()
                })
                .into(),
        };
    let charts = [
        (
            "time",
            lines("Finding a probe, uniform hits", ("per lookup, less is better", "ns"), &|row| {
                (row.ns[0].0, Some(row.ns[0]))
            }),
        ),
        (
            "hot",
            lines(
                "Finding a probe, 64 of them hot",
                ("per lookup, less is better", "ns"),
                &|row| (row.ns[1].0, Some(row.ns[1])),
            ),
        ),
        (
            "memory",
            lines("Memory of the table", ("less is better", "bytes"), &|row| {
                (row.bytes as f64, None)
            }),
        ),
    ];
    for (name, chart) in charts {
        let svg = Plot::Lines(chart).svg(Width::Wide, &mut Palette::default());
        write(
            &format!("{prefix}{name}.svg"),
            &svg.unwrap_or_else(|error| usage(&error.to_string())),
        );
    }
}
