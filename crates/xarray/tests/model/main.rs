//! Runs random operations on an array and on a `BTreeMap` together; allocations fail now and then.
//! `PROPTEST_CASES` says how many sequences are tried (256).

#[path = "model.rs"]
mod model;

use model::{Op, run};
use proptest::prelude::*;
use slablab_xarray::{Entry, Error, Flags, Gfp, IdLimit, Ida, RawXArray};

/// Indices that meet: few chunks, at several scales, and the ends.
fn index() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0..200_u64,
        3 => (0..8_u64, 0..64_u64).prop_map(|(chunk, i)| chunk * 4096 + i),
        2 => (0..6_u32, 0..70_u64).prop_map(|(level, i)| (1 << (level * 11)) + i),
        1 => (0..3_u64).prop_map(|i| u64::MAX - i),
        2 => (0..40_u64).prop_map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        12 => (index(), 0..9_usize).prop_map(|(i, v)| Op::Store(i, v)),
        6 => index().prop_map(Op::Erase),
        2 => (index(), 0..9_usize).prop_map(|(i, v)| Op::Insert(i, v)),
        1 => (index(), 0..9_usize, 0..9_usize).prop_map(|(i, a, b)| Op::Exchange(i, a, b)),
        1 => index().prop_map(Op::Reserve),
        1 => index().prop_map(Op::Release),
        4 => (index(), 0..3_usize).prop_map(|(i, m)| Op::Mark(i, m)),
        2 => (index(), 0..3_usize).prop_map(|(i, m)| Op::Unmark(i, m)),
        2 => (index(), 0..16_u32, 0..9_usize).prop_map(|(i, o, v)| Op::StoreOrder(i, o, v)),
        1 => (index(), 0..64_u32, 0..9_usize).prop_map(|(i, o, v)| Op::StoreOrder(i, o, v)),
        1 => (index(), 0..9000_u64, 0..9_usize).prop_map(|(i, n, v)| Op::StoreRange(i, n, v)),
        1 => (index(), 0..300_u64).prop_map(|(i, n)| Op::EraseRange(i, n)),
        1 => (0..12_u64).prop_map(Op::FailAfter),
        1 => Just(Op::Clear),
    ]
}

/// Mostly single entries, so that nodes fill up, overflow and shrink.
fn single_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        40 => (index(), 0..9_usize).prop_map(|(i, v)| Op::Store(i, v)),
        15 => index().prop_map(Op::Erase),
        10 => (index(), 0..3_usize).prop_map(|(i, m)| Op::Mark(i, m)),
        5 => (index(), 0..3_usize).prop_map(|(i, m)| Op::Unmark(i, m)),
        1 => (index(), 0..9_u32, 0..9_usize).prop_map(|(i, o, v)| Op::StoreOrder(i, o, v)),
        1 => (index(), 0..90_u64).prop_map(|(i, n)| Op::EraseRange(i, n)),
        3 => (0..12_u64).prop_map(Op::FailAfter),
    ]
}

/// One slot of a node, with too many entries for a bucket that several slots share; other slots are used so that there
/// is a node.
fn op_in_one_slot() -> impl Strategy<Value = Op> {
    let index = || prop_oneof![9 => (0..130_u64).prop_map(|i| i * 31), 1 => (1..64_u64).prop_map(|i| i << 12)];
    prop_oneof![
        16 => (index(), 0..9_usize).prop_map(|(i, v)| Op::Store(i, v)),
        4 => index().prop_map(Op::Erase),
        6 => (index(), 0..3_usize).prop_map(|(i, m)| Op::Mark(i, m)),
        2 => (index(), 0..3_usize).prop_map(|(i, m)| Op::Unmark(i, m)),
        1 => (0..12_u64).prop_map(Op::FailAfter),
    ]
}

/// Ids near the edges of what an integer, a bitmap and a node hold, and near the largest.
fn id() -> impl Strategy<Value = u32> {
    prop_oneof![
        4 => 0..80_u32,
        2 => 1000..1100_u32,
        1 => (0..5_u32, 0..70_u32).prop_map(|(chunk, i)| chunk * 65_536 + i),
        1 => (0..70_u32).prop_map(|i| Ida::MAX - i),
    ]
}

proptest! {
    #[test]
    fn behaves_like_a_map_of_ranges(ops in prop::collection::vec(op(), 1..120)) {
        run(ops);
    }

    #[test]
    fn behaves_like_a_map_when_it_grows_and_shrinks(
        ops in prop::collection::vec(single_op(), 300..600),
    ) {
        run(ops);
    }

    #[test]
    fn behaves_like_a_map_where_buckets_are_largest(
        ops in prop::collection::vec(op_in_one_slot(), 300..600),
    ) {
        run(ops);
    }

    #[test]
    fn ids_are_the_lowest_free_ones(ops in prop::collection::vec((0..4_u8, 0..300_u32), 1..400)) {
        let array = RawXArray::new(Flags::ALLOC);
        let mut taken = std::collections::BTreeSet::new();
        for (kind, id) in ops {
            let writer = array.lock();
            if kind == 0 {
                writer.remove(u64::from(id));
                taken.remove(&id);
            } else {
                let limit = IdLimit { min: id / 2, max: id };
                let lowest = (limit.min..=limit.max).find(|id| !taken.contains(id));
                let got = writer.alloc(Entry::value(id as usize), limit);
                prop_assert_eq!(got, lowest.ok_or(Error::Busy));
                taken.extend(got.ok());
            }
        }
    }

    #[test]
    fn an_ida_gives_the_lowest_free_id_or_leaves_all_as_it_was(
        ops in prop::collection::vec((0..6_u8, id(), 0..70_u32), 1..400),
    ) {
        let (ida, mut taken) = (Ida::new(), std::collections::BTreeSet::new());
        for (kind, id, len) in ops {
            match kind {
                0 => prop_assert_eq!(ida.free(id), taken.remove(&id)),
                1 => model::fail_after(u64::from(len % 3)),
                2 => model::fail_after(u64::MAX),
                _ => {
                    let last = id.saturating_add(len).min(Ida::MAX);
                    let lowest = (id..=last).find(|id| !taken.contains(id)).ok_or(Error::Busy);
                    match ida.alloc(id..=id.saturating_add(len), Gfp::KERNEL) {
                        Err(Error::NoMemory) => {}
                        got => {
                            prop_assert_eq!(got, lowest);
                            taken.extend(got.ok());
                        }
                    }
                }
            }
            prop_assert_eq!(ida.is_empty(), taken.is_empty());
        }
        model::fail_after(u64::MAX);
        for id in taken {
            prop_assert!(ida.free(id));
        }
        prop_assert!(ida.is_empty());
    }
}
