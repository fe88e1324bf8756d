//! An array and a `BTreeMap` of ranges that get the same operations; allocations fail now and then.
//!
//! The property test beside it and the fuzz target `xarray_model` use it.

use std::cell::Cell;
use std::collections::BTreeMap;

use slablab_xarray::{Entry, Error, Filter, Flags, Gfp, Mark, RawXArray, pin, set_alloc_hook};

thread_local! {
    /// Allocations of this thread that still succeed.
    static ALLOCATIONS_LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
}

fn hook(_: Gfp, _: usize) -> bool {
    ALLOCATIONS_LEFT.with(|left| {
        let now = left.get();
        left.set(now.saturating_sub(u64::from(now != u64::MAX)));
        now > 0
    })
}

/// An operation with its index, and its other arguments.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    Store(u64, usize),
    Erase(u64),
    Insert(u64, usize),
    Exchange(u64, usize, usize),
    Reserve(u64),
    Release(u64),
    Mark(u64, usize),
    Unmark(u64, usize),
    StoreOrder(u64, u32, usize),
    StoreRange(u64, u64, usize),
    EraseRange(u64, u64),
    FailAfter(u64),
    Clear,
}

/// What the model knows about an entry: its range, value and marks. The key is the first index.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Known {
    last: u64,
    entry: Entry,
    marks: u8,
}

#[derive(Debug, Default)]
struct Model(BTreeMap<u64, Known>);

impl Model {
    fn find(&self, index: u64) -> Option<(u64, Known)> {
        let (&first, &known) = self.0.range(..=index).next_back()?;
        (known.last >= index).then_some((first, known))
    }

    fn load(&self, index: u64) -> Entry {
        self.find(index).map_or(Entry::NULL, |(_, known)| known.entry)
    }

    fn store(&mut self, index: u64, entry: Entry) {
        let (first, known) =
            self.find(index).unwrap_or((index, Known { last: index, entry, marks: 0 }));
        self.0.insert(first, Known { entry, ..known });
    }

    fn erase_range(&mut self, first: u64, last: u64) -> u8 {
        let mut marks = 0;
        let inside: Vec<u64> =
            self.0.range(..=last).filter(|(_, k)| k.last >= first).map(|(&f, _)| f).collect();
        for index in inside {
            let known = self.0.remove(&index).expect("just found");
            if index >= first && known.last <= last {
                marks |= known.marks;
            }
        }
        marks
    }

    fn store_run(&mut self, first: u64, last: u64, entry: Entry) {
        if let Some((outer, known)) = self.find(first)
            && known.last >= last
        {
            self.0.insert(outer, Known { entry, ..known });
            return;
        }
        let marks = self.erase_range(first, last);
        self.0.insert(first, Known { last, entry, marks });
    }
}

/// Checks everything that can be seen of the array.
fn compare(array: &RawXArray, model: &Model) {
    let guard = pin();
    assert_eq!(array.is_empty(), model.0.is_empty());
    let visible: Vec<_> = model.0.iter().filter(|(_, k)| !k.entry.is_zero()).collect();
    let all: Vec<_> = array.entries(0, u64::MAX, Filter::Present, &guard).collect();
    assert_eq!(all, visible.iter().map(|&(&f, known)| (f, known.entry)).collect::<Vec<_>>());
    let mut from = Some(0);
    for &(&first, known) in &visible {
        let found = array.find(from.expect("indices are left"), u64::MAX, Filter::Present, &guard);
        assert_eq!(found, Some((first, known.entry)));
        let before = known.last.wrapping_sub(1);
        let after = visible.iter().find(|(f, _)| **f > before).map(|&(&f, known)| (f, known.entry));
        assert_eq!(array.find_after(before, u64::MAX, Filter::Present, &guard), after);
        from = known.last.checked_add(1);
        for index in [first, known.last, first + (known.last - first) / 2] {
            assert_eq!(array.load(index, &guard), known.entry, "index {index:#x}");
            for mark in Mark::ALL {
                let expected = known.marks >> (mark as u8) & 1 != 0;
                assert_eq!(
                    array.get_mark(index, mark, &guard),
                    expected,
                    "index {index:#x} {mark:?}"
                );
            }
        }
        if first > 0 && model.find(first - 1).is_none() {
            assert_eq!(array.load(first - 1, &guard), Entry::NULL);
        }
    }
    if let Some(from) = from {
        assert_eq!(array.find(from, u64::MAX, Filter::Present, &guard), None);
    }
    for mark in Mark::ALL {
        let marked: Vec<u64> = model
            .0
            .iter()
            .filter(|(_, k)| k.marks >> (mark as u8) & 1 != 0)
            .map(|(&f, _)| f)
            .collect();
        assert_eq!(array.is_marked(mark), !marked.is_empty());
        let mut found = Vec::new();
        let mut next = array.find(0, u64::MAX, Filter::Marked(mark), &guard);
        while let Some((index, _)) = next {
            found.push(index);
            next = array.find_after(index, u64::MAX, Filter::Marked(mark), &guard);
        }
        let marked: Vec<u64> = marked.into_iter().filter(|&f| !model.load(f).is_zero()).collect();
        assert_eq!(found, marked);
        let all = array.entries(0, u64::MAX, Filter::Marked(mark), &guard).map(|(index, _)| index);
        assert_eq!(all.collect::<Vec<_>>(), marked);
    }
}

/// Lets `count` more node allocations of this thread succeed.
pub(crate) fn fail_after(count: u64) {
    set_alloc_hook(Some(hook));
    ALLOCATIONS_LEFT.set(count);
}

/// Runs the operations, and compares after each.
pub(crate) fn run(ops: Vec<Op>) {
    fail_after(u64::MAX);
    let array = RawXArray::new(Flags::NONE);
    let mut model = Model::default();
    for op in ops {
        step(&array, &mut model, &op);
        compare(&array, &model);
    }
    fail_after(u64::MAX);
}

fn step(array: &RawXArray, model: &mut Model, op: &Op) {
    let writer = array.lock();
    match *op {
        Op::Store(index, value) => {
            let old = model.load(index);
            match writer.store(index, Entry::value(value)) {
                Ok(found) => {
                    assert_eq!(found, old.visible());
                    model.store(index, Entry::value(value));
                }
                Err(error) => assert_eq!((error, old), (Error::NoMemory, Entry::NULL)),
            }
        }
        Op::Erase(index) => {
            assert_eq!(writer.remove(index), model.load(index).visible());
            model.erase_range(index, index);
        }
        Op::Insert(index, value) => match writer.insert_new(index, Entry::value(value)) {
            Ok(()) => {
                assert_eq!(model.load(index), Entry::NULL);
                model.store(index, Entry::value(value));
            }
            Err(Error::Busy) => assert_ne!(model.load(index), Entry::NULL),
            Err(error) => assert_eq!((error, model.load(index)), (Error::NoMemory, Entry::NULL)),
        },
        Op::Exchange(index, old, new) => {
            let before = model.load(index);
            match writer.compare_exchange(index, Entry::value(old), Entry::value(new)) {
                Ok(found) => {
                    assert_eq!(found, before.visible());
                    if before == Entry::value(old) {
                        model.store(index, Entry::value(new));
                    }
                }
                Err(error) => panic!("an overwrite cannot fail: {error}"),
            }
        }
        Op::Reserve(index) => match writer.reserve(index) {
            Ok(()) if model.load(index).is_null() => model.store(index, Entry::ZERO),
            Ok(()) => {}
            Err(error) => assert_eq!((error, model.load(index)), (Error::NoMemory, Entry::NULL)),
        },
        Op::Release(index) => {
            writer.release(index);
            if model.load(index).is_zero() {
                model.erase_range(index, index);
            }
        }
        Op::Mark(index, mark) | Op::Unmark(index, mark) => {
            let on = matches!(op, Op::Mark(..));
            let mark = Mark::ALL[mark];
            if on {
                writer.mark(index, mark);
            } else {
                writer.unmark(index, mark);
            }
            if let Some((first, mut known)) = model.find(index) {
                known.marks = known.marks & !(1 << mark as u8) | u8::from(on) << mark as u8;
                model.0.insert(first, known);
            }
        }
        Op::StoreOrder(index, order, value) => {
            let first = index >> order << order;
            let last = first | ((1 << order) - 1);
            match writer.store_order(index, order, Entry::value(value)) {
                Ok(old) => {
                    assert_eq!(old, model.load(first).visible());
                    model.store_run(first, last, Entry::value(value));
                }
                Err(error) => assert_eq!(error, Error::NoMemory),
            }
        }
        Op::StoreRange(first, len, value) => {
            let last = first.saturating_add(len);
            match writer.set_range(first, last, Entry::value(value)) {
                Ok(()) => {
                    let guard = pin();
                    let cut = [first, last].map(|end| model.find(end));
                    let cut = cut.into_iter().flatten().flat_map(|(f, known)| [f, known.last]);
                    for index in cut.chain([first, last, first + (last - first) / 2]) {
                        assert_eq!(array.load(index, &guard), Entry::value(value));
                    }
                }
                Err(error) => return assert_eq!(error, Error::NoMemory),
            }
            // The array alone decides in which pieces it stored the entry, so all of them are taken out
            // again.
            writer.set_range(first, last, Entry::NULL).expect("erasing needs no memory");
            model.erase_range(first, last);
        }
        Op::EraseRange(first, len) => {
            let last = first.saturating_add(len);
            writer.set_range(first, last, Entry::NULL).expect("erasing needs no memory");
            model.erase_range(first, last);
        }
        Op::FailAfter(count) => fail_after(if count > 6 { u64::MAX } else { count }),
        Op::Clear => {
            writer.clear();
            model.0.clear();
        }
    }
}
