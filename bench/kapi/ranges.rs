//! Times of ranges in a `BTreeMap`, for maple.sh: the same ranges and draws as `crates/kapi/tests/maple/bench.c`.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::{fs, thread};

/// Ranges by their first index: the last one, and a value.
type Ranges = BTreeMap<u64, (u64, u64)>;

struct Draws(u64);

impl Draws {
    fn draw(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % below
    }
}

fn load(ranges: &Ranges, index: u64) -> Option<(u64, u64, u64)> {
    let (&first, &(last, value)) = ranges.range(..=index).next_back()?;
    (last >= index).then_some((first, last, value))
}

/// Cuts what overlaps, and inserts unless the value is none.
fn store(ranges: &mut Ranges, first: u64, last: u64, value: Option<u64>) {
    if let Some((start, end, old)) = load(ranges, first) {
        if start < first {
            ranges.insert(start, (first - 1, old));
        } else {
            ranges.remove(&start);
        }
        if end > last {
            ranges.insert(last + 1, (end, old));
        }
    }
    while let Some((&start, &(end, old))) =
        ranges.range((Bound::Included(first), Bound::Included(last))).next()
    {
        ranges.remove(&start);
        if end > last {
            ranges.insert(last + 1, (end, old));
        }
    }
    if let Some(value) = value {
        ranges.insert(first, (last, value));
    }
}

/// Nanoseconds that this thread has had a processor, without those of other processes' turns. The kernel adds the last of
/// them up where a thread gives way.
fn spent_ns() -> u64 {
    thread::yield_now();
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux has it");
    text.split_whitespace().next().and_then(|ns| ns.parse().ok()).expect("its first number")
}

fn time(name: &str, count: u64, mut step: impl FnMut(u64, &mut Draws)) {
    let mut draws = Draws(88_172_645_463_325_252);
    let start = spent_ns();
    for i in 0..count {
        step(i, &mut draws);
    }
    println!("{name} {}", (spent_ns() - start) * 10 / count);
}

fn main() {
    let n: u64 = std::env::args().nth(1).map_or(100_000, |text| text.parse().unwrap());
    let mut ranges = Ranges::new();
    let mut sum = 0u64;
    time("append", n, |i, _| store(&mut ranges, i * 16, i * 16 + 9, Some(i)));
    time("load", 4 * n, |_, d| sum += load(&ranges, d.draw(n * 16)).map_or(0, |found| found.2));
    time("walk", 1, |_, _| sum += ranges.keys().sum::<u64>());
    time("find", 4 * n, |_, d| {
        let index = d.draw(n * 16);
        let here = load(&ranges, index).map(|found| found.2);
        sum += here.or_else(|| Some(ranges.range(index..).next()?.1.1)).unwrap_or(0);
    });
    time("overwrite", n, |i, d| {
        let first = d.draw(n) * 16;
        store(&mut ranges, first, first + 9, Some(i));
    });
    time("split", n, |i, d| {
        let first = d.draw(n * 16);
        store(&mut ranges, first, first + 3, Some(i));
    });
    time("erase", n, |_, d| {
        if let Some((first, _, _)) = load(&ranges, d.draw(n * 16)) {
            ranges.remove(&first);
        }
    });
    time("random", n, |i, d| {
        let first = d.draw(n * 16);
        let last = first + d.draw(40);
        let value = (d.draw(3) != 0).then_some(i);
        store(&mut ranges, first, last, value);
    });
    assert!(sum != 0);
}
