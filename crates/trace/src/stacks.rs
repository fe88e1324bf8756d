//! Call stacks of a trace: each once, as a list of frames from the allocation outwards.
//!
//! How it works: stacks share their outer frames, so they are kept as a tree whose nodes are a frame and the node of its
//! caller. A stack is the node of its innermost frame, and a trace's column `stack` has its number.
//!
//! Invariants: the node of a caller has a smaller number than those it called, which a reader checks: so a walk outwards ends.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use slablab_linux::STACK_FRAMES_MAX;

use crate::NONE;

/// A place in a function that a stack goes through.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Frame {
    /// `symbol+0x1c [module]`, as a call site has it; the address where no symbol is known.
    pub name: String,
    /// The return address, 0 when the source gave only a name, or it was left out.
    #[serde(skip_serializing_if = "crate::samples::is_zero")]
    pub address: u64,
}

/// The stacks of a trace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stacks {
    /// The frames, each once.
    pub(crate) frames: Vec<Frame>,
    /// Of each node: that of its caller plus 1, 0 for none; and its frame.
    nodes: Vec<(u32, u32)>,
    /// Of each stack: the node of its innermost frame.
    ends: Vec<u32>,
    /// Allocations without a stack.
    #[serde(skip_serializing_if = "crate::samples::is_zero")]
    pub allocs_without: u64,
    /// The numbers of stacks that the source calls cut, or that had more frames than are kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cut: Vec<u32>,
}

impl Stacks {
    /// Returns how many stacks there are; the column `stack` holds smaller numbers only.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the frames of a stack from the allocation outwards; none of [`NONE`].
    pub fn frames(&self, stack: u32) -> impl Iterator<Item = &Frame> {
        self.places(stack).map(|frame| &self.frames[frame as usize])
    }

    /// Returns the numbers of a stack's frames from the allocation outwards; equal frames of a trace have equal numbers.
    pub fn places(&self, stack: u32) -> impl Iterator<Item = u32> {
        let end = self.ends.get(stack as usize).copied();
        let nodes = std::iter::successors(end, |node| self.nodes[*node as usize].0.checked_sub(1));
        nodes.map(|node| self.nodes[node as usize].1)
    }

    /// Returns the frame with this number.
    pub fn frame(&self, place: u32) -> &Frame {
        &self.frames[place as usize]
    }

    /// Returns how many different frames there are.
    pub fn frames_len(&self) -> usize {
        self.frames.len()
    }

    /// Tells whether outer frames of a stack are missing.
    pub fn is_cut(&self, stack: u32) -> bool {
        self.cut.binary_search(&stack).is_ok()
    }

    /// Says what no writer leaves behind.
    pub(crate) fn damage(&self) -> Option<String> {
        let (frames, nodes) = (self.frames.len() as u64, self.nodes.len() as u64);
        let is_sound = |(number, &(caller, frame)): (u64, &(u32, u32))| {
            u64::from(caller) <= number && u64::from(frame) < frames
        };
        if !(0..).zip(&self.nodes).all(is_sound) {
            return Some("has a stack whose frames are not there".to_owned());
        }
        let has_end = self.ends.iter().all(|end| u64::from(*end) < nodes);
        (!has_end || !self.cut.is_sorted()).then(|| "has a stack that is not there".to_owned())
    }
}

/// Whether a stack has its outermost frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// It has.
    Whole,
    /// It was cut.
    Cut,
}

/// The stacks of a trace that is being made.
#[derive(Debug, Default, Clone)]
pub(crate) struct StackList {
    frames: Vec<Frame>,
    known: FxHashMap<Frame, u32>,
    tree: StackTree,
}

impl StackList {
    /// Returns the number of a stack, whose frames come from the allocation outwards.
    pub(crate) fn add(&mut self, frames: impl IntoIterator<Item = Frame>, extent: Extent) -> u32 {
        let mut number = |frame: Frame| {
            let next = self.frames.len() as u32;
            *self.known.entry(frame).or_insert_with_key(|frame| {
                self.frames.push(frame.clone());
                next
            })
        };
        let frames: Vec<u32> = frames.into_iter().map(&mut number).collect();
        self.tree.add(&frames, extent)
    }

    /// Returns how many stacks there are.
    pub(crate) fn len(&self) -> usize {
        self.tree.len()
    }

    /// Returns them as a trace has them.
    pub(crate) fn finish(self) -> Stacks {
        self.tree.finish(self.frames)
    }
}

/// Gives equal stacks one number. Frames are numbers here; whoever adds them knows what they mean.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StackTree {
    nodes: Vec<(u32, u32)>,
    ends: Vec<u32>,
    cut: Vec<bool>,
    /// By a node's caller and frame, its number
    known: FxHashMap<(u32, u32), u32>,
    /// By a stack's end, and whether it was cut, its number
    stacks: FxHashMap<(u32, bool), u32>,
}

impl StackTree {
    /// Returns the number of a stack, whose frames come from the allocation outwards; [`NONE`] of no frames. What is further
    /// out than [`STACK_FRAMES_MAX`] is cut.
    pub(crate) fn add(&mut self, frames: &[u32], extent: Extent) -> u32 {
        let kept = &frames[..frames.len().min(STACK_FRAMES_MAX)];
        let is_cut = extent == Extent::Cut || kept.len() < frames.len();
        let mut caller = 0;
        for frame in kept.iter().rev() {
            let next = self.nodes.len() as u32;
            let node = *self.known.entry((caller, *frame)).or_insert(next);
            if node == next {
                self.nodes.push((caller, *frame));
            }
            caller = node + 1;
        }
        let Some(end) = caller.checked_sub(1) else { return NONE };
        let next = self.ends.len() as u32;
        let stack = *self.stacks.entry((end, is_cut)).or_insert(next);
        if stack == next {
            self.ends.push(end);
            self.cut.push(is_cut);
        }
        stack
    }

    /// Returns how many stacks there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns how many nodes and stacks there are.
    pub(crate) fn reach(&self) -> (usize, usize) {
        (self.nodes.len(), self.ends.len())
    }

    /// Returns what was added since it reached that far, for [`StackTree::grow`].
    pub(crate) fn since(&self, (nodes, stacks): (usize, usize)) -> StackTree {
        StackTree {
            nodes: self.nodes[nodes..].to_vec(),
            ends: self.ends[stacks..].to_vec(),
            cut: self.cut[stacks..].to_vec(),
            ..StackTree::default()
        }
    }

    /// Appends what was added to another that was equal. Nothing may be added here otherwise.
    pub(crate) fn grow(&mut self, added: StackTree) {
        self.nodes.extend(added.nodes);
        self.ends.extend(added.ends);
        self.cut.extend(added.cut);
    }

    /// Returns the frames of a stack from the allocation outwards, and how much of it there is.
    pub(crate) fn stack(&self, stack: u32) -> (Vec<u32>, Extent) {
        let end = self.ends.get(stack as usize).copied();
        let nodes = std::iter::successors(end, |node| self.nodes[*node as usize].0.checked_sub(1));
        let is_cut = self.cut.get(stack as usize).copied().unwrap_or(false);
        let extent = if is_cut { Extent::Cut } else { Extent::Whole };
        (nodes.map(|node| self.nodes[node as usize].1).collect(), extent)
    }

    /// Returns them with the frames that they mean.
    pub(crate) fn finish(self, frames: Vec<Frame>) -> Stacks {
        let cut = (0..).zip(self.cut).filter(|(_, is_cut)| *is_cut).map(|(stack, _)| stack);
        let (nodes, ends, cut) = (self.nodes, self.ends, cut.collect());
        Stacks { frames, nodes, ends, allocs_without: 0, cut }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(names: &[&str]) -> Vec<Frame> {
        names.iter().map(|name| Frame { name: (*name).to_owned(), address: 0 }).collect()
    }

    #[test]
    fn equal_stacks_have_one_number_and_come_back_as_they_went_in() {
        let mut tree = StackTree::default();
        let added = [&[2, 1, 0][..], &[1, 0], &[2, 1, 0], &[2, 0], &[]];
        let numbers = added.map(|frames| tree.add(frames, Extent::Whole));
        assert_eq!(numbers, [0, 1, 0, 2, NONE]);
        assert_eq!(tree.add(&[1, 0], Extent::Cut), 3);
        assert_eq!(tree.stack(0), (vec![2, 1, 0], Extent::Whole));
        let stacks = tree.finish(frames(&["main", "f", "g"]));
        let names =
            |stack| stacks.frames(stack).map(|frame| frame.name.as_str()).collect::<Vec<_>>();
        assert_eq!(
            (names(0), names(1), names(2)),
            (vec!["g", "f", "main"], vec!["f", "main"], vec!["g", "main"])
        );
        assert_eq!((names(NONE).len(), stacks.is_cut(3), stacks.is_cut(1)), (0, true, false));
        let json = serde_json::to_string(&stacks).unwrap();
        assert_eq!(serde_json::from_str::<Stacks>(&json).unwrap(), stacks);
        assert_eq!(stacks.damage(), None);
    }

    #[test]
    fn a_stack_of_a_thousand_frames_is_cut_and_says_so() {
        let mut tree = StackTree::default();
        let long: Vec<u32> = (0..5_000).collect();
        let stack = tree.add(&long, Extent::Whole);
        let (frames, extent) = tree.stack(stack);
        assert_eq!((frames.len(), extent), (STACK_FRAMES_MAX, Extent::Cut));
        assert_eq!(frames[..3], [0, 1, 2]);
    }

    #[test]
    fn what_would_lead_nowhere_is_damage() {
        let sound = Stacks {
            frames: frames(&["f"]),
            nodes: vec![(0, 0)],
            ends: vec![0],
            ..Stacks::default()
        };
        assert_eq!(sound.damage(), None);
        for damaged in [
            Stacks { nodes: vec![(1, 0)], ..sound.clone() },
            Stacks { nodes: vec![(0, 1)], ..sound.clone() },
            Stacks { ends: vec![1], ..sound.clone() },
        ] {
            assert!(damaged.damage().is_some(), "{damaged:?}");
        }
    }
}
