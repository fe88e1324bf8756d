//! Tables of the results, and the verdicts on what was promised.

use crate::keys::KeySet;
use crate::measure::{Op, Times};

/// One row: a peer on a key set. The kernel's builds are one row, each figure that of the best build.
struct Row {
    set: String,
    entries: usize,
    peer: String,
    ns: Vec<Option<f64>>,
    spread: Vec<Option<f64>>,
    bytes_per_entry: f64,
}

#[derive(Default)]
pub struct Results {
    rows: Vec<Row>,
}

/// What was promised against the kernel, by key set: bytes and dependent lookups, at most so many times its.
const OF_KERNEL: [(&str, f64, f64); 12] = [
    ("1 of 64", 0.25, 0.6),
    ("2 of 64", 0.25, 0.6),
    ("4 of 64", 0.25, 0.6),
    ("8 of 64", 1.0 / 3.0, 0.6),
    ("16 of 64", 0.5, 0.6),
    ("32 of 64", 0.7, 0.6),
    ("48 of 64", 1.05, 0.9),
    ("64 of 64", 1.05, 0.9),
    ("dense", 1.05, 0.9),
    ("random 62-bit", 1.0 / 40.0, 0.6),
    ("kernel text", 0.1, 0.6),
    ("page-cache runs", 1.05, 0.9),
];

/// Where JudyL takes fewer bytes an entry than this, ours may be more of its bytes.
const JUDYL_FEW_BYTES: f64 = 12.0;

/// Returns how many times a peer's time ours may be.
fn time_max(set: &str, peer: &str, op: Op) -> Option<f64> {
    let chain_max = || OF_KERNEL.iter().find(|of| of.0 == set).map(|of| of.2);
    match (peer, op) {
        ("kernel", Op::Chain) => chain_max(),
        ("kernel", Op::Iterate) => Some(1.0),
        ("kernel", Op::Insert | Op::InsertRandom | Op::Erase | Op::EraseRandom) => Some(1.1),
        ("JudyL", Op::Hit | Op::Chain) => Some(1.0),
        ("JudyL", Op::Miss | Op::Iterate) => Some(1.2),
        _ => None,
    }
}

/// Returns how many times a peer's bytes ours may be, of which an entry takes `bytes`.
fn bytes_max(set: &str, peer: &str, bytes: f64) -> Option<f64> {
    match peer {
        "JudyL" => Some(if bytes < JUDYL_FEW_BYTES { 1.3 } else { 1.1 }),
        _ => OF_KERNEL.iter().find(|of| of.0 == set).map(|of| of.1),
    }
}

/// What is promised of a key set, in the order of the columns.
const PROMISED: [Op; 8] = [
    Op::Hit,
    Op::Chain,
    Op::Miss,
    Op::Insert,
    Op::InsertRandom,
    Op::Erase,
    Op::EraseRandom,
    Op::Iterate,
];

impl Results {
    pub fn add(&mut self, set: &KeySet, names: &[String], times: Vec<Times>) {
        let row = |peer: &str, times: &[&Times], bytes: f64| {
            let best = |op| {
                let candidates = times.iter().filter_map(|t| Some((t.best(op)?, t.spread(op)?)));
                candidates.reduce(|a, b| if b.0 < a.0 { b } else { a })
            };
            Row {
                set: set.name.clone(),
                entries: set.present.len(),
                peer: peer.into(),
                ns: Op::ALL.iter().map(|&op| Some(best(op)?.0)).collect(),
                spread: Op::ALL.iter().map(|&op| Some(best(op)?.1)).collect(),
                bytes_per_entry: bytes,
            }
        };
        let kernels: Vec<&Times> = names
            .iter()
            .zip(&times)
            .filter(|(name, _)| name.starts_with("kernel"))
            .map(|(_, t)| t)
            .collect();
        for (i, (name, times)) in names.iter().zip(&times).enumerate() {
            if !name.starts_with("kernel") {
                self.rows.push(row(name, &[times], times.bytes_per_entry));
            }
            if i == 0 {
                self.rows.push(row("kernel, best build", &kernels, kernels[0].bytes_per_entry));
            }
        }
        let added = self.rows.len() - (names.len() - kernels.len() + 1);
        self.rows[added..].iter().for_each(Row::print_progress);
    }

    fn find(&self, set: &str, peer: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.set == set && row.peer.starts_with(peer))
    }

    /// Prints the verdicts.
    pub fn print(&self) {
        let (mut promises, mut missed) = (0, 0);
        let mut cell = |ratio: Option<f64>, max: Option<f64>| {
            let Some(ratio) = ratio else { return "-".into() };
            let Some(max) = max else { return format!("{ratio:.3}") };
            promises += 1;
            missed += usize::from(ratio > max);
            format!("{ratio:.3} {} {max:.3}", if ratio <= max { "<=" } else { "MISS" })
        };
        for (title, peer) in [("the kernel's best build", "kernel"), ("JudyL", "JudyL")] {
            println!("\nOurs over {title}, with the most that was promised:\n");
            let names = PROMISED.map(|op| format!("{:>17}", op.name()));
            println!("{:<16}{:>17}{}", "keys", "bytes", names.concat());
            for (set, ..) in OF_KERNEL {
                let (Some(ours), Some(theirs)) = (self.find(set, "slablab"), self.find(set, peer))
                else {
                    continue;
                };
                let (bytes, of) = (ours.bytes_per_entry, theirs.bytes_per_entry);
                let bytes = cell(Some(bytes / of), bytes_max(set, peer, of));
                let times = PROMISED.map(|op| {
                    let ratio = ours.ns[op as usize].zip(theirs.ns[op as usize]);
                    let ratio = ratio.map(|(ours, theirs)| ours / theirs);
                    format!("{:>17}", cell(ratio, time_max(set, peer, op)))
                });
                println!("{set:<16}{bytes:>17}{}", times.concat());
            }
        }
        println!("\n{} of {promises} promises are kept.", promises - missed);
    }

    /// Returns all figures: nanoseconds of the best round, and the longest round over it.
    pub fn csv(&self) -> String {
        let mut text = String::from("keys,entries,peer,operation,ns,spread,bytes_per_entry\n");
        for row in &self.rows {
            for op in Op::ALL {
                if let (Some(ns), Some(spread)) = (row.ns[op as usize], row.spread[op as usize]) {
                    text += &format!(
                        "{},{},{},{},{ns:.2},{spread:.2},{:.2}\n",
                        row.set,
                        row.entries,
                        row.peer.replace(',', ""),
                        op.name(),
                        row.bytes_per_entry
                    );
                }
            }
        }
        text
    }
}

impl Row {
    fn print_progress(&self) {
        let times: String = Op::ALL
            .iter()
            .map(|&op| match self.ns[op as usize] {
                Some(ns) => format!("  {} {ns:.1}", op.name()),
                None => format!("  {} -", op.name()),
            })
            .collect();
        println!("{:<16} {:<20} {:>8.1} B{times}", self.set, self.peer, self.bytes_per_entry);
    }
}
