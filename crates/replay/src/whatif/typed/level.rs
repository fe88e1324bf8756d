//! What would level partitions by type: another number of them, a salt, or a few types moved by name.
//!
//! # How it works
//! Skew is the fullest partition's bytes over an even share of what all types have. Each proposal chooses the partitions of all
//! types anew and is judged by its skew. A type is in one partition, so that none can be below the largest type's own bytes.
//! Types are moved one by one out of the fullest partition of a half into its emptiest, each time the one that levels most.
//!
//! # Invariants
//! Types with and without pointers stay in their halves. Objects without a type stay in partition 0, whatever is proposed, and
//! count in no skew.

use serde::Serialize;
use slablab_linux::alloc_token;

use super::entry::TypeHeld;

/// Numbers of partitions that are tried.
const TOKENS: [u32; 6] = [2, 4, 8, 16, 32, 64];
/// Salts that are tried.
const SALTS: u32 = 256;
/// Types that are moved at most.
const MOVES_MAX: usize = 5;

/// A way to choose partitions, and how level they are.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Leveled {
    /// Partitions
    pub tokens: u32,
    /// What is added to each type's name, `#` and a number, before it is hashed
    #[serde(skip_serializing_if = "Option::is_none")]
    pub salt: Option<u32>,
    /// Types that go to another partition than their token says
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<Moved>,
    /// Bytes of types in the fullest partition, the mean over time
    pub most_bytes: u64,
    /// The same as a multiple of an even share
    pub skew: f64,
    /// Types in the partition that has most of them
    pub most_types: u64,
}

/// A type that goes to another partition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Moved {
    /// The type
    pub name: String,
    /// Where its token leads
    pub from: u32,
    /// Where it goes
    pub to: u32,
}

/// Returns the partitions of Clang's tokens, and what would level them: each other number, the best salt, a few moves.
pub(super) fn proposals(types: &[TypeHeld], tokens: u32) -> Vec<Leveled> {
    let now = hashed(types, tokens, None);
    let others = TOKENS.iter().filter(|other| **other != tokens);
    let others = others.map(|other| hashed(types, *other, None));
    let salts = (1..=SALTS).map(|salt| hashed(types, tokens, Some(salt)));
    let salted = salts.min_by(|a, b| a.most_bytes.cmp(&b.most_bytes));
    let mut all = vec![now];
    all.extend(others);
    all.extend(salted);
    all.push(moved(types, tokens));
    all
}

/// Returns the least skew that any choice of `tokens` partitions can have: that of the largest type alone.
pub(super) fn skew_least(types: &[TypeHeld], tokens: u32) -> f64 {
    let largest = types.iter().map(|one| one.bytes_mean).max().unwrap_or(0);
    skew(largest, types, tokens).max(1.0)
}

fn hashed(types: &[TypeHeld], tokens: u32, salt: Option<u32>) -> Leveled {
    let place = |one: &TypeHeld| match salt {
        None => alloc_token(&one.canonical, one.has_pointers, tokens.into()),
        Some(salt) => {
            alloc_token(&format!("{}#{salt}", one.canonical), one.has_pointers, tokens.into())
        }
    };
    let places: Vec<usize> = types.iter().map(|one| place(one) as usize).collect();
    judged(types, &places, tokens, salt, Vec::new())
}

fn judged(
    types: &[TypeHeld],
    places: &[usize],
    tokens: u32,
    salt: Option<u32>,
    moves: Vec<Moved>,
) -> Leveled {
    let mut counts = vec![0u64; tokens as usize];
    places.iter().for_each(|place| counts[*place] += 1);
    let most_bytes = bytes_of(types, places, tokens).into_iter().max().unwrap_or(0);
    let most_types = counts.into_iter().max().unwrap_or(0);
    Leveled { tokens, salt, moves, most_bytes, skew: skew(most_bytes, types, tokens), most_types }
}

fn bytes_of(types: &[TypeHeld], places: &[usize], tokens: u32) -> Vec<u64> {
    let mut bytes = vec![0u64; tokens as usize];
    types.iter().zip(places).for_each(|(one, place)| bytes[*place] += one.bytes_mean);
    bytes
}

fn skew(most: u64, types: &[TypeHeld], tokens: u32) -> f64 {
    let all: u64 = types.iter().map(|one| one.bytes_mean).sum();
    if all == 0 { 1.0 } else { most as f64 * f64::from(tokens) / all as f64 }
}

/// Moves types by name: as few as level most.
fn moved(types: &[TypeHeld], tokens: u32) -> Leveled {
    let mut places: Vec<usize> = types.iter().map(|one| one.partition as usize).collect();
    let mut moves: Vec<Moved> = Vec::new();
    let mut best = judged(types, &places, tokens, None, Vec::new());
    while moves.len() < MOVES_MAX {
        let Some((which, to)) = best_move(types, &places, tokens) else { break };
        let from = std::mem::replace(&mut places[which], to) as u32;
        moves.push(Moved { name: types[which].name.clone(), from, to: to as u32 });
        let now = judged(types, &places, tokens, None, moves.clone());
        // Of two partitions that are as full, the first move empties one.
        if now.most_bytes < best.most_bytes {
            best = now;
        }
    }
    best
}

/// Returns the type of the fullest partition, and the place in its half, that level most; `None` where no move helps.
fn best_move(types: &[TypeHeld], places: &[usize], tokens: u32) -> Option<(usize, usize)> {
    let bytes = bytes_of(types, places, tokens);
    let fullest = (0..bytes.len()).max_by_key(|at| (bytes[*at], std::cmp::Reverse(*at)))?;
    let half = bytes.len() / 2;
    let own_half = if fullest < half { 0..half } else { half..half * 2 };
    let emptiest = own_half.min_by_key(|at| (bytes[*at], *at))?;
    let after = |which: usize| {
        let moved = types[which].bytes_mean;
        (bytes[fullest] - moved).max(bytes[emptiest] + moved)
    };
    let here = (0..types.len()).filter(|which| places[*which] == fullest);
    let best = here.min_by_key(|which| (after(*which), types[*which].name.as_str()))?;
    (after(best) < bytes[fullest]).then_some((best, emptiest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(of: &[(&str, bool, u64)], tokens: u32) -> Vec<TypeHeld> {
        let one = |&(name, has_pointers, bytes_mean): &(&str, bool, u64)| TypeHeld {
            name: format!("struct {name}"),
            canonical: name.to_owned(),
            has_pointers,
            partition: alloc_token(name, has_pointers, tokens.into()) as u32,
            bytes_mean,
            ..TypeHeld::default()
        };
        of.iter().map(one).collect()
    }

    #[test]
    fn proposals_are_judged_by_the_fullest_partition() {
        let types = types(&[("int", false, 100), ("NoPtr", false, 60), ("WithPtr", true, 40)], 2);
        let all = proposals(&types, 2);
        // Both types without pointers are in the lower one of two.
        assert_eq!((all[0].most_bytes, all[0].skew, all[0].most_types), (160, 1.6, 2));
        assert_eq!(skew_least(&types, 2), 1.0);
        // A half has one partition: nothing can be moved, and no salt helps.
        assert_eq!(all.last().unwrap().moves, []);
        let salted = all.iter().find(|one| one.salt.is_some()).unwrap();
        assert_eq!(salted.most_bytes, 160);
        let of_four = all.iter().find(|one| one.tokens == 4).unwrap();
        let apart = alloc_token("int", false, 4) != alloc_token("NoPtr", false, 4);
        assert_eq!(of_four.most_bytes, if apart { 100 } else { 160 });
    }

    #[test]
    fn types_are_moved_within_their_half_and_only_where_it_levels() {
        let mut types = types(&[("a", true, 50), ("b", true, 40), ("c", true, 10)], 8);
        for one in &mut types {
            one.partition = 4;
        }
        let leveled = moved(&types, 8);
        assert_eq!(leveled.most_bytes, 50);
        assert!(leveled.moves.iter().all(|moved| moved.from == 4 && (5..8).contains(&moved.to)));
        // 50 bytes are one type's, which no move makes less.
        let names: Vec<&str> = leveled.moves.iter().map(|moved| moved.name.as_str()).collect();
        assert_eq!(names, ["struct a"]);
        assert_eq!(skew_least(&types, 8), 4.0);
    }
}
