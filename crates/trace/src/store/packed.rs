//! Small numbers as Parquet packs them: eight by eight in as few bits as they need, and runs of one as a count.
//!
//! Counterpart: "Run Length Encoding / Bit-Packing Hybrid" of Parquet's `Encodings.md` @ 2.12.

/// Runs of one number that are shorter stay among those that are packed.
const RUN_MIN: usize = 16;

/// Appends `numbers`, each of at most `bits` bits.
pub(super) fn pack<N: Copy + Eq + Into<u32>>(numbers: &[N], bits: u32, to: &mut Vec<u8>) {
    let (mut packed, mut at) = (0, 0);
    while let Some(number) = numbers.get(at) {
        let run = numbers[at..].iter().take_while(|other| *other == number).count();
        // Only whole eights can stand before a run.
        let to_eight = (at - packed).next_multiple_of(8) - (at - packed);
        if run < RUN_MIN + to_eight {
            at += run;
            continue;
        }
        at += to_eight;
        pack_eights(&numbers[packed..at], bits, to);
        let run = run - to_eight;
        put_number((run as u64) << 1, to);
        to.extend_from_slice(&(*number).into().to_le_bytes()[..bits.div_ceil(8) as usize]);
        at += run;
        packed = at;
    }
    pack_eights(&numbers[packed..], bits, to);
}

/// Appends numbers packed; the last eight are filled up with 0.
fn pack_eights<N: Copy + Into<u32>>(numbers: &[N], bits: u32, to: &mut Vec<u8>) {
    if numbers.is_empty() {
        return;
    }
    let eights = numbers.len().div_ceil(8);
    put_number((eights as u64) << 1 | 1, to);
    let end = to.len() + eights * bits as usize;
    let (mut held, mut held_bits) = (0u64, 0);
    for number in numbers {
        held |= u64::from((*number).into()) << held_bits;
        held_bits += bits;
        if held_bits >= 32 {
            to.extend_from_slice(&(held as u32).to_le_bytes());
            held >>= 32;
            held_bits -= 32;
        }
    }
    to.extend_from_slice(&(held as u32).to_le_bytes());
    to.resize(end, 0);
}

/// Appends a number, seven bits a byte.
fn put_number(mut number: u64, to: &mut Vec<u8>) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads what was packed.
    fn unpacked(mut bytes: &[u8], bits: u32, count: usize) -> Vec<u32> {
        let mut numbers = Vec::new();
        while numbers.len() < count {
            let (mut head, mut shift) = (0u64, 0);
            while let Some((byte, rest)) = bytes.split_first() {
                bytes = rest;
                head |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte & 0x80 == 0 {
                    break;
                }
            }
            let size = match head & 1 {
                0 => bits.div_ceil(8) as usize,
                _ => (head >> 1) as usize * bits as usize,
            };
            let (part, rest) = bytes.split_at(size);
            bytes = rest;
            if head & 1 == 0 {
                let mut word = [0; 4];
                word[..size].copy_from_slice(part);
                numbers.extend(vec![u32::from_le_bytes(word); (head >> 1) as usize]);
                continue;
            }
            let bit = |at: usize| u32::from(part[at / 8] >> (at % 8) & 1);
            let number =
                |first: usize| (0..bits as usize).map(|i| bit(first + i) << i).sum::<u32>();
            numbers.extend((0..(head >> 1) as usize * 8).map(|i| number(i * bits as usize)));
        }
        assert!(bytes.is_empty());
        numbers.truncate(count);
        numbers
    }

    #[test]
    fn numbers_are_unpacked_as_they_were() {
        let mut seed = 7u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for bits in 1..=17 {
            for runs in [1, 3, 40] {
                let mut numbers: Vec<u32> = Vec::new();
                for _ in 0..200 {
                    let number = random(1 << bits) as u32;
                    numbers.extend(vec![number; 1 + random(runs) as usize]);
                }
                let mut bytes = Vec::new();
                pack(&numbers, bits, &mut bytes);
                assert_eq!(unpacked(&bytes, bits, numbers.len()), numbers, "{bits} {runs}");
            }
        }
    }

    #[test]
    fn a_run_is_a_count() {
        let mut bytes = Vec::new();
        pack(&[1u32; 100_000], 1, &mut bytes);
        assert_eq!(bytes.len(), 4);
        pack::<u32>(&[], 1, &mut bytes);
        assert_eq!(bytes.len(), 4);
    }
}
