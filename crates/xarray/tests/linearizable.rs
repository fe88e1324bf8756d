//! Operations on one index by several threads are recorded, and checked for an order that explains their
//! results.
//!
//! Each operation is noted with a clock before and after. A history is linearizable if its operations can be
//! put into one order that agrees with real time and in which each result is that of a single cell. The search
//! is the classic one (Wing and Gong): try each operation that no other one precedes, and go on.

use std::collections::HashSet;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

use slablab_xarray::{Entry, Error, Flags, RawXArray, pin};

#[derive(Debug, Clone, Copy)]
enum Op {
    Load,
    Store(usize),
    Remove,
    Insert(usize),
    Exchange(usize, usize),
}

#[derive(Debug, Clone, Copy)]
struct Call {
    op: Op,
    /// The integer returned, 0 for none; for an insertion 1 if it happened.
    result: usize,
    begin: u64,
    end: u64,
}

/// Returns what a single cell would do: its value afterwards and the result.
fn apply(op: Op, cell: usize) -> (usize, usize) {
    match op {
        Op::Load => (cell, cell),
        Op::Store(value) => (value, cell),
        Op::Remove => (0, cell),
        Op::Insert(value) if cell == 0 => (value, 1),
        Op::Insert(_) => (cell, 0),
        Op::Exchange(old, new) if cell == old => (new, cell),
        Op::Exchange(..) => (cell, cell),
    }
}

fn is_linearizable(calls: &[Call]) -> bool {
    assert!(calls.len() <= 64);
    search(calls, 0, 0, &mut HashSet::new())
}

fn search(calls: &[Call], done: u64, cell: usize, seen: &mut HashSet<(u64, usize)>) -> bool {
    if done.count_ones() as usize == calls.len() {
        return true;
    }
    if !seen.insert((done, cell)) {
        return false;
    }
    let open = || calls.iter().enumerate().filter(|(i, _)| done >> i & 1 == 0);
    let first_end = open().map(|(_, call)| call.end).min().expect("some are left");
    open().any(|(i, call)| {
        let (next, result) = apply(call.op, cell);
        call.begin <= first_end && result == call.result && search(calls, done | 1 << i, next, seen)
    })
}

fn integer(entry: Entry) -> usize {
    entry.as_value().unwrap_or(0)
}

fn perform(array: &RawXArray, index: u64, op: Op) -> usize {
    let exchange = |entry: slablab_xarray::Result<Entry>| integer(entry.expect("memory"));
    match op {
        Op::Load => integer(array.load(index, &pin())),
        Op::Store(value) => exchange(array.lock().store(index, Entry::value(value))),
        Op::Remove => integer(array.lock().remove(index)),
        Op::Insert(value) => match array.lock().insert_new(index, Entry::value(value)) {
            Ok(()) => 1,
            Err(Error::Busy) => 0,
            Err(error) => panic!("{error}"),
        },
        Op::Exchange(old, new) => {
            exchange(array.lock().compare_exchange(index, Entry::value(old), Entry::value(new)))
        }
    }
}

/// Three threads work on one index, while a fourth makes the nodes around it grow and shrink.
fn record(index: u64, seed: u64, calls_each: usize) -> Vec<Call> {
    let array = RawXArray::new(Flags::NONE);
    let (clock, start) = (AtomicU64::new(0), Barrier::new(4));
    let tick = || clock.fetch_add(1, Ordering::SeqCst);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3_u64)
            .map(|thread| {
                let (array, start) = (&array, &start);
                let mut random = seed * 3 + thread;
                scope.spawn(move || {
                    start.wait();
                    (0..calls_each)
                        .map(|_| {
                            random = random
                                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                                .wrapping_add(thread * 2 + 1);
                            let value = (random >> 40) as usize % 3 + 1;
                            let op = match random >> 60 {
                                0..7 => Op::Load,
                                7..10 => Op::Store(value),
                                10..12 => Op::Remove,
                                12..14 => Op::Insert(value),
                                _ => Op::Exchange(value, (random >> 50) as usize % 3 + 1),
                            };
                            let begin = tick();
                            let result = perform(array, index, op);
                            Call { op, result, begin, end: tick() }
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        let neighbour = scope.spawn(|| {
            start.wait();
            for i in 0..calls_each as u64 * 4 {
                let near = index ^ (1 + i * 7 % 63);
                array.lock().store(near, Entry::value(9)).expect("memory");
                if i % 3 == 2 {
                    array.lock().remove(index ^ (1 + (i - 2) * 7 % 63));
                }
            }
        });
        neighbour.join().expect("no panic");
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    })
}

#[test]
fn histories_of_one_index_are_linearizable() {
    for seed in 0..400 {
        for index in [0, 70, 1 << 50] {
            let calls = record(index, seed, 12);
            assert!(is_linearizable(&calls), "seed {seed}, index {index}: {calls:#?}");
        }
    }
}

#[test]
fn the_checker_finds_a_stale_read() {
    let call = |op, result, begin, end| Call { op, result, begin, end };
    assert!(is_linearizable(&[call(Op::Store(1), 0, 0, 3), call(Op::Load, 0, 1, 2)]));
    assert!(!is_linearizable(&[call(Op::Store(1), 0, 0, 1), call(Op::Load, 0, 2, 3)]));
}
