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

/// What was promised against the kernel: memory and dependent lookups, at most so many times its.
const PROMISES: [(&str, f64, f64); 12] = [
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
/// Stores and erasures take at most so many times the kernel's.
const CHANGE_MAX: f64 = 2.0;

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
        println!(
            "\nAgainst the kernel's best build, as ratios (ours / kernel), with what was promised:\n"
        );
        println!(
            "{:<16}{:>16}{:>16}{:>16}{:>16}{:>16}{:>16}",
            "keys", "memory", "chain", "insert", "erase", "ins.-random", "erase-random"
        );
        for (set, memory_max, chain_max) in PROMISES {
            let (Some(ours), Some(kernel)) = (self.find(set, "slablab"), self.find(set, "kernel"))
            else {
                continue;
            };
            let ratio =
                |op: Op| ours.ns[op as usize].zip(kernel.ns[op as usize]).map(|(a, b)| a / b);
            let cell = |ratio: Option<f64>, max: f64| match ratio {
                Some(ratio) => {
                    format!("{ratio:.3} {} {max:.3}", if ratio <= max { "<=" } else { "MISS" })
                }
                None => "-".into(),
            };
            println!(
                "{set:<16}{:>16}{:>16}{:>16}{:>16}{:>16}{:>16}",
                cell(Some(ours.bytes_per_entry / kernel.bytes_per_entry), memory_max),
                cell(ratio(Op::Chain), chain_max),
                cell(ratio(Op::Insert), CHANGE_MAX),
                cell(ratio(Op::Erase), CHANGE_MAX),
                cell(ratio(Op::InsertRandom), CHANGE_MAX),
                cell(ratio(Op::EraseRandom), CHANGE_MAX),
            );
        }
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
