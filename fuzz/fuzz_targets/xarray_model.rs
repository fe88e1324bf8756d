//! Bytes become operations on an array and on a map of ranges; they must agree after each.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/xarray/tests/model/model.rs"]
mod model;

use model::Op;

/// Six bytes an operation: kind, two of index, its shape, a value, an order.
fn op(bytes: &[u8]) -> Op {
    let small = u64::from(u16::from_le_bytes([bytes[1], bytes[2]]));
    let index = match bytes[3] % 6 {
        0 => small % 200,
        1 => small,
        2 => small << 12,
        3 => small << 40,
        4 => small.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        _ => u64::MAX - small % 70,
    };
    let (value, extra) = (usize::from(bytes[4] % 9), bytes[5]);
    match bytes[0] % 32 {
        0..10 => Op::Store(index, value),
        10..15 => Op::Erase(index),
        15 => Op::Insert(index, value),
        16 => Op::Exchange(index, value, usize::from(extra % 9)),
        17 => Op::Reserve(index),
        18 => Op::Release(index),
        19..23 => Op::Mark(index, usize::from(extra % 3)),
        23 => Op::Unmark(index, usize::from(extra % 3)),
        24..27 => Op::StoreOrder(index, u32::from(extra % 64), value),
        27 => Op::StoreRange(index, u64::from(extra) * 30, value),
        28 => Op::EraseRange(index, u64::from(extra)),
        29 => Op::FailAfter(u64::from(extra % 12)),
        30 => Op::Clear,
        _ => Op::Erase(index),
    }
}

fuzz_target!(|data: &[u8]| {
    model::run(data.chunks_exact(6).take(200).map(op).collect());
});
