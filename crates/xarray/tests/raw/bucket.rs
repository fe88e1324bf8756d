//! The models of a bucket, and the files that make one, compiled with loom's atomics.

#[path = "../../src/raw/bucket.rs"]
pub(crate) mod bucket;
#[path = "../../src/raw/keys.rs"]
mod keys;
#[path = "../../src/raw/memory.rs"]
#[allow(unreachable_pub)]
pub(crate) mod memory;
#[path = "../../src/raw/slot.rs"]
pub(crate) mod slot;

/// Stands for src/raw/sync.rs of the crate.
mod sync {
    pub(super) use loom::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, Ordering};

    macro_rules! const_fn {
        ($($function:tt)*) => { $($function)* };
    }
    pub(super) use const_fn;
}

use loom::thread;

use self::bucket::Bucket;
use crate::{Entry, Gfp};

/// Runs a model on a bucket with one entry, index 0x105, whose keys have `2^width_log2` bytes, and room for
/// `entries`.
fn model(width_log2: u32, entries: usize, writer: fn(Bucket<'_>), reader: fn(Bucket<'_>)) {
    loom::model(move || {
        let word = Bucket::create(BASE, width_log2, entries, Gfp::KERNEL).expect("memory");
        // SAFETY: it is freed at the end, when no other thread has it.
        let bucket = move || unsafe { Bucket::from_word(word) };
        bucket().fill(1, |_| (BASE | 0x105, value(0x105)));
        let writing = thread::spawn(move || writer(bucket()));
        reader(bucket());
        writing.join().expect("no panic");
        // SAFETY: a bucket's word.
        let layout = unsafe { Bucket::layout_of_bare(word) };
        let memory = std::ptr::NonNull::new(word.node().cast()).expect("an address");
        // SAFETY: this is how buckets are allocated, and both threads are through with it.
        unsafe { memory::free(memory, layout) };
    });
}

/// The bits that all indices share.
const BASE: u64 = 0;

/// The entry stored at an index names it.
fn value(index: u64) -> Entry {
    Entry::value(index as usize)
}

fn is_own_or_null(bucket: Bucket<'_>, index: u64) -> bool {
    let entry = bucket.load(index);
    entry.is_null() || entry == value(index)
}

/// A key is in two places, which are not written at once: a reader that saw one of them used to take the entry for
/// another's.
#[test]
fn a_reader_never_gets_another_keys_entry() {
    // The fingerprints of 0x105 and 0x004 are alike, as are those of an empty place and of 0x303.
    assert_eq!(0x105 ^ 0x105 >> 8, 0x104);
    for width_log2 in [1, 2, 3] {
        let add = |bucket: Bucket<'_>| {
            bucket.store(0x304, value(0x304)).expect("room");
        };
        model(width_log2, 2, add, |bucket| {
            for index in [0x304, 0x007, 0x303, 0x105] {
                assert!(is_own_or_null(bucket, index), "0x{index:x}");
            }
            assert_eq!(bucket.load(0x105), value(0x105));
        });
    }
}

#[test]
fn keys_of_one_byte_are_told_apart_from_places_without_one() {
    let add = |bucket: Bucket<'_>| {
        bucket.store(0x106, value(0x106)).expect("room");
    };
    loom::model(move || {
        let word = Bucket::create(0x100, 0, 2, Gfp::KERNEL).expect("memory");
        // SAFETY: it is never freed.
        let bucket = move || unsafe { Bucket::from_word(word) };
        bucket().fill(1, |_| (0x105, value(0x105)));
        let writing = thread::spawn(move || add(bucket()));
        assert!(is_own_or_null(bucket(), 0x100), "an empty place was taken for key 0");
        assert!(is_own_or_null(bucket(), 0x106));
        assert_eq!(bucket().load(0x105), value(0x105));
        writing.join().expect("no panic");
    });
}

#[test]
fn what_a_walk_found_is_found_by_lookups() {
    for width_log2 in [1, 2, 3] {
        let add = |bucket: Bucket<'_>| {
            bucket.store(0x304, value(0x304)).expect("room");
        };
        model(width_log2, 2, add, |bucket| {
            let next = bucket.find_next(0x106);
            assert!(matches!(next, None | Some((1, 0x304))), "{next:?}");
            if next.is_some() {
                assert_eq!(
                    bucket.load(0x304),
                    value(0x304),
                    "a walk saw the key, a lookup did not"
                );
            }
        });
    }
}

#[test]
fn an_erased_entry_is_gone_and_its_key_serves_again() {
    let change = |bucket: Bucket<'_>| {
        let number = bucket.find(0x105).expect("stored");
        bucket.replace(number, Entry::NULL);
        bucket.store(0x304, value(0x304)).expect("room");
        bucket.store(0x105, value(0x105)).expect("its slot");
        assert_eq!(bucket.len(), 2);
    };
    model(1, 2, change, |bucket| {
        let first = bucket.load(0x304);
        assert!(is_own_or_null(bucket, 0x105));
        assert!(is_own_or_null(bucket, 0x304));
        if !first.is_null() {
            assert_eq!(bucket.load(0x304), value(0x304));
        }
    });
}
