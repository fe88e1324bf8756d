//! Readers beside a writer: lookups a second of each array, alone and while another thread stores and erases.
//!
//! `parallel [--seconds S] [--peers DIR]`. One reader, and no writer or one; half of the keys are touched by it.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bench_xarray::keys::{self, KeySet, Random};
use bench_xarray::measure::thread_ns;
use bench_xarray::peers::{Kernel, Library, Peer};
use slablab_xarray::{Entry, Flags, RawXArray, pin};

struct Keys {
    read: Vec<u64>,
    written: Vec<u64>,
    entries: Vec<u64>,
}

/// Returns CPU nanoseconds of a read and of a change.
trait Parallel: Sync {
    fn fill(&mut self, keys: &KeySet);
    fn read(&self, keys: &Keys, stop: &AtomicBool) -> u64;
    fn write(&self, keys: &Keys, stop: &AtomicBool) -> u64;
}

struct Ours(RawXArray);

impl Parallel for Ours {
    fn fill(&mut self, keys: &KeySet) {
        for &key in &keys.present {
            self.0.lock().store(key, Entry::value(key as usize >> 1)).expect("memory");
        }
    }

    fn read(&self, keys: &Keys, stop: &AtomicBool) -> u64 {
        let mut count = 0;
        while !stop.load(Ordering::Relaxed) {
            for i in 0..1024 {
                let key = keys.read[(count + i) % keys.read.len()];
                std::hint::black_box(self.0.load(key, &pin()));
            }
            count += 1024;
        }
        count as u64
    }

    fn write(&self, keys: &Keys, stop: &AtomicBool) -> u64 {
        let mut count = 0;
        while !stop.load(Ordering::Relaxed) {
            for _ in 0..64 {
                let at = count / 2 % keys.written.len();
                let key = keys.written[at];
                if count % 2 == 1 {
                    self.0
                        .lock()
                        .store(key, Entry::value(keys.entries[at] as usize >> 1))
                        .expect("memory");
                } else {
                    self.0.lock().remove(key);
                }
                count += 1;
            }
        }
        count as u64
    }
}

struct Theirs(Kernel, &'static Library);

// SAFETY: the kernel's array may be read beside one writer; that is what is measured.
unsafe impl Sync for Theirs {}

impl Theirs {
    fn array(&self) -> *mut c_void {
        self.0.array
    }
}

impl Parallel for Theirs {
    fn fill(&mut self, keys: &KeySet) {
        let entries: Vec<u64> = keys.present.iter().map(|key| key | 1).collect();
        self.0.insert(&keys.present, &entries);
    }

    fn read(&self, keys: &Keys, stop: &AtomicBool) -> u64 {
        let (keys, n) = (keys.read.as_ptr(), keys.read.len() as u64);
        // SAFETY: as kxa.c says.
        unsafe { (self.1.read_until)(self.array(), keys, n, stop.as_ptr().cast()) }
    }

    fn write(&self, keys: &Keys, stop: &AtomicBool) -> u64 {
        let (written, entries, n) =
            (keys.written.as_ptr(), keys.entries.as_ptr(), keys.written.len() as u64);
        // SAFETY: as kxa.c says.
        unsafe { (self.1.write_until)(self.array(), written, entries, n, stop.as_ptr().cast()) }
    }
}

fn run(array: &dyn Parallel, keys: &Keys, has_writer: bool, time: Duration) -> (f64, f64) {
    let stop = AtomicBool::new(false);
    let timed = |work: &dyn Fn() -> u64| {
        let start = thread_ns();
        let count = work();
        (thread_ns() - start) as f64 / count as f64
    };
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| timed(&|| array.read(keys, &stop)));
        let writer =
            scope.spawn(|| if has_writer { timed(&|| array.write(keys, &stop)) } else { 0.0 });
        std::thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        (reader.join().expect("no panic"), writer.join().expect("no panic"))
    })
}

fn main() {
    let (mut time, mut folder) = (Duration::from_secs(1), String::from("target/peer"));
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match (word.as_str(), words.next()) {
            ("--seconds", Some(s)) if s.parse::<u64>().is_ok() => {
                time = Duration::from_secs(s.parse().expect("checked"))
            }
            ("--peers", Some(dir)) => folder = dir,
            _ => {
                eprintln!("usage: parallel [--seconds S] [--peers DIR]");
                std::process::exit(2);
            }
        }
    }
    let libraries: &'static [Library] = Library::load_all(folder.as_ref()).leak();
    let Some(library) = libraries.iter().find(|library| library.name == "O3") else {
        eprintln!("parallel: no libkxa-O3.so in {folder}: run peer/build.sh first");
        std::process::exit(2);
    };
    println!(
        "{:<16}{:<12}{:>14}{:>22}{:>14}",
        "keys", "array", "read alone", "read beside a writer", "change"
    );
    for set in [keys::dense(100_000), keys::sparse(100_000, 4), keys::random(100_000)] {
        let mut random = Random(3);
        let mut read = set.present.clone();
        random.shuffle(&mut read);
        let written: Vec<u64> = read.iter().copied().step_by(2).collect();
        let entries = written.iter().map(|key| key | 1).collect();
        let keys = Keys { read, written, entries };
        let mut arrays: [(&str, Box<dyn Parallel>); 2] = [
            ("slablab", Box::new(Ours(RawXArray::new(Flags::NONE)))),
            ("kernel O3", Box::new(Theirs(Kernel::new(library), library))),
        ];
        for (name, array) in &mut arrays {
            array.fill(&set);
            let (alone, _) = run(array.as_ref(), &keys, false, time);
            let (beside, change) = run(array.as_ref(), &keys, true, time);
            println!(
                "{:<16}{name:<12}{alone:>11.1} ns{beside:>19.1} ns{change:>11.1} ns",
                set.name
            );
        }
    }
}
