//! Allocation tokens: the partition of kmalloc that Clang chooses for the type of an object.
//!
//! # How it works
//! A token is a hash of the type's name, SipHash-2-4 with a key that is part of the compiler's interface. Types that contain
//! a pointer have the upper half of the tokens, the others the lower half. The kernel takes the token for the number of the
//! partition, and partition 0 is the usual `kmalloc-64`. A call whose type the compiler does not find gets token 0, too.
//!
//! # Invariants
//! A name is what Clang prints for the canonical type, without `struct`, `union` and `enum`: `file`, `unsigned long`,
//! `char *`. A token is below the number of tokens.
//!
//! Linux counterpart: `__kmalloc_token()` in `include/linux/slab.h` with `CONFIG_KMALLOC_PARTITION_TYPED` @ 7.2 and later,
//! and `-falloc-token-max=16`; `-fsanitize=alloc-token` of Clang 22, mode `typehashpointersplit`.

/// The key of the hash, as two little-endian words.
const KEY: [u64; 2] = [0x794a_1079_ebc9_d4b5, 0xd481_8742_1b8b_ec6f];

/// What the state begins with: "somepseudorandomlygeneratedbytes".
const BEGIN: [u64; 4] =
    [0x736f_6d65_7073_6575, 0x646f_7261_6e64_6f6d, 0x6c79_6765_6e65_7261, 0x7465_6462_7974_6573];

/// Returns the token of a type among `tokens`; 0 if there is but one.
#[must_use]
pub fn alloc_token(name: &str, has_pointers: bool, tokens: u64) -> u64 {
    let half = tokens / 2;
    match half {
        0 => 0,
        _ => type_hash(name) % half + if has_pointers { half } else { 0 },
    }
}

/// Returns the hash of a type's name.
#[must_use]
pub fn type_hash(name: &str) -> u64 {
    let [a, b, c, d] = BEGIN;
    let mut state = State { a: a ^ KEY[0], b: b ^ KEY[1], c: c ^ KEY[0], d: d ^ KEY[1] };
    let mut words = name.as_bytes().chunks_exact(8);
    for word in &mut words {
        state.take(u64::from_le_bytes(word.try_into().expect("eight bytes")));
    }
    let rest = words.remainder().iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte));
    // The last word has the length, modulo 256, above the bytes that are left.
    state.take((name.len() as u64) << 56 | rest);
    state.c ^= 0xff;
    (0..4).for_each(|_| state.round());
    state.a ^ state.b ^ state.c ^ state.d
}

/// The state of SipHash.
struct State {
    a: u64,
    b: u64,
    c: u64,
    d: u64,
}

impl State {
    fn take(&mut self, word: u64) {
        self.d ^= word;
        self.round();
        self.round();
        self.a ^= word;
    }

    fn round(&mut self) {
        self.a = self.a.wrapping_add(self.b);
        self.c = self.c.wrapping_add(self.d);
        self.b = self.b.rotate_left(13) ^ self.a;
        self.d = self.d.rotate_left(16) ^ self.c;
        self.a = self.a.rotate_left(32).wrapping_add(self.d);
        self.c = self.c.wrapping_add(self.b);
        self.d = self.d.rotate_left(21) ^ self.a;
        self.b = self.b.rotate_left(17) ^ self.c;
        self.c = self.c.rotate_left(32);
    }
}

/// Returns the name that Clang has for a number's type, given GCC's: `long unsigned int` is `unsigned long` there.
#[must_use]
pub fn clang_number(name: &str) -> &str {
    match name {
        "short int" => "short",
        "long int" => "long",
        "long long int" => "long long",
        "short unsigned int" => "unsigned short",
        "long unsigned int" => "unsigned long",
        "long long unsigned int" => "unsigned long long",
        "__int128 unsigned" => "unsigned __int128",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of `clang/test/SemaCXX/alloc-token.cpp`, which the compiler guarantees to be stable.
    #[test]
    fn tokens_are_those_that_clang_publishes() {
        for (name, has_pointers, hash, token) in [
            ("int", false, 2_689_373_973_731_826_898, 2_689_373_973_731_826_898),
            ("char *", true, 2_250_492_667_400_517_147, 11_473_864_704_255_292_954),
            ("NoPtr", false, 7_465_259_095_297_095_368, 7_465_259_095_297_095_368),
            ("WithPtr", true, 11_898_882_936_532_569_145, 11_898_882_936_532_569_145),
        ] {
            assert_eq!(type_hash(name), hash, "{name}");
            assert_eq!(alloc_token(name, has_pointers, u64::MAX), token, "{name}");
            assert_eq!(alloc_token(name, has_pointers, 2), u64::from(has_pointers), "{name}");
            assert_eq!(alloc_token(name, has_pointers, 1), 0, "{name}");
        }
    }

    #[test]
    fn names_of_every_length_have_hashes_of_their_own() {
        let name = "a_name_of_a_structure_with_many_letters";
        let mut hashes: alloc::vec::Vec<u64> =
            (0..=name.len()).map(|end| type_hash(&name[..end])).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), name.len() + 1);
    }

    #[test]
    fn halves_are_for_types_with_and_without_pointers() {
        for name in ["file", "sk_buff *", "unsigned long"] {
            let (without, with) = (alloc_token(name, false, 16), alloc_token(name, true, 16));
            assert_eq!(with, without + 8);
            assert!(without < 8);
        }
    }
}
