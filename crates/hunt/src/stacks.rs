//! Call stacks by number: their frames, and who of them is the owner.
//!
//! How it works: the map of stacks is read when it has new ones. Frames get their names once, by a function that the caller
//! gives; what a stack begins with, the programs and the allocator, is left out. A frame without a name may be of a module that
//! was loaded a moment ago: its stack is read anew at the next looks.

use rustc_hash::FxHashMap;
use slablab_linux::{Helpers, function_of};

use crate::Error;
use crate::companion::Companion;
use crate::object::parse_stack;
use crate::tracer::Tracer;

/// What a stack begins with that is not of the kernel's own work, and how many frames that is at most.
const TRACERS: [&str; 4] = ["bpf_prog_", "bpf_trace_run", "__bpf_trace_", "__traceiter_"];
const TRACER_FRAMES_MAX: usize = 6;

/// What allocates for a slab, and is freed with it.
const OF_THE_ALLOCATOR: [&str; 4] =
    ["alloc_slab_obj_exts", "memcg_alloc_slab_cgroups", "__alloc_empty_sheaf", "alloc_empty_sheaf"];

/// What describes an area of vmalloc, for whoever asked for the area. (A cache of its own would suit it all the same.)
const OF_VMALLOC: [&str; 2] = ["__get_vm_area_node", "alloc_vmap_area"];

/// How often a stack is read whose frames have no names.
const READINGS_MAX: u32 = 4;

/// Gives an address of the kernel's code a name, `function+0x1c [module]`.
pub type Names<'a> = &'a dyn Fn(u64) -> String;

/// A call stack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stack {
    /// Names of its frames, the owner first
    pub(crate) frames: Vec<String>,
    /// The owner: a function, with its module
    pub(crate) owner: String,
    /// Whether the allocator allocates for itself: what goes with a slab
    pub(crate) is_of_the_allocator: bool,
    /// What its objects belong to, where their number follows from that
    pub(crate) companion: Option<Companion>,
    /// How often it was read while a frame of it had no name
    unnamed: u32,
}

/// The stacks that were read.
#[derive(Debug, Default)]
pub(crate) struct Stacks {
    stacks: FxHashMap<u32, Stack>,
    names: FxHashMap<u64, String>,
    helpers: Helpers,
}

impl Stacks {
    /// Begins with what a user calls helpers, too.
    pub(crate) fn new(helpers: &[String]) -> Self {
        let helpers = Helpers::known().and(OF_VMALLOC).and(helpers);
        Self { helpers, ..Self::default() }
    }

    /// Reads the stacks that are new.
    pub(crate) fn read(&mut self, tracer: &Tracer, name: Names<'_>) -> Result<(), Error> {
        for (key, value) in tracer.stacks()?.iter() {
            let (number, frames) = parse_stack(key, value);
            if !self.has(number) {
                let before = self.stacks.get(&number).map_or(0, |stack| stack.unnamed);
                let mut stack = self.stack(&frames, name);
                stack.unnamed += if stack.unnamed > 0 { before } else { 0 };
                self.stacks.insert(number, stack);
            }
        }
        Ok(())
    }

    /// Tells whether a stack has been read, as often as it has to be.
    pub(crate) fn has(&self, number: u32) -> bool {
        let is_done = |stack: &Stack| stack.unnamed == 0 || stack.unnamed >= READINGS_MAX;
        self.stacks.get(&number).is_some_and(is_done)
    }

    /// Returns a stack; `None` where it was not kept.
    pub(crate) fn get(&self, number: u32) -> Option<&Stack> {
        self.stacks.get(&number)
    }

    fn stack(&mut self, frames: &[u64], name: Names<'_>) -> Stack {
        let names = &mut self.names;
        let mut named = |frame: &u64| match names.get(frame) {
            Some(name) => name.clone(),
            None => {
                let name = name(*frame);
                if !is_address(&name) {
                    names.insert(*frame, name.clone());
                }
                name
            }
        };
        let mut frames: Vec<String> = frames.iter().map(&mut named).collect();
        // The programs themselves stand first, with addresses that have names only where the kernel gives them some.
        let is_tracer = |frame: &String| TRACERS.iter().any(|name| frame.starts_with(name));
        let begin = frames.iter().take(TRACER_FRAMES_MAX).rposition(is_tracer);
        frames.drain(..begin.map_or(0, |at| at + 1));
        let is_own = |frame: &String| OF_THE_ALLOCATOR.contains(&function_of(frame));
        let is_of_the_allocator = frames.iter().any(is_own);
        let at = self.helpers.owner(&frames);
        let owner = frames.get(at).map(|frame| owner_name(frame)).unwrap_or_default();
        let companion = Companion::of(&frames, at);
        let frames: Vec<String> = frames.into_iter().skip(at).collect();
        let unnamed = u32::from(frames.iter().any(|frame| is_address(frame)));
        Stack { frames, owner, is_of_the_allocator, companion, unnamed }
    }
}

/// Returns whether a frame has no name.
fn is_address(frame: &str) -> bool {
    frame.starts_with("0x")
}

/// Returns a frame without its offset, with its module.
pub(crate) fn owner_name(frame: &str) -> String {
    let function = function_of(frame);
    match frame.split_once(" [") {
        Some((_, module)) => format!("{function} [{module}"),
        None => function.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_begins_at_its_owner() {
        let mut stacks = Stacks::new(&["my_alloc".to_owned()]);
        let names =
            ["0xffffffffc0001234", "bpf_trace_run6", "__kmalloc_noprof+0x1", "my_alloc+0x2 [m]"];
        let names = names.into_iter().chain(["session_open+0x3 [m]", "do_syscall_64+0x5"]);
        let names: Vec<&str> = names.collect();
        let stack = stacks.stack(&[0, 1, 2, 3, 4, 5], &|at| names[at as usize].to_owned());
        assert_eq!(stack.owner, "session_open [m]");
        assert_eq!(stack.frames, ["session_open+0x3 [m]", "do_syscall_64+0x5"]);
    }

    #[test]
    fn a_frame_without_a_name_gets_one_when_its_module_is_known() {
        let mut stacks = Stacks::default();
        let early = stacks.stack(&[1, 2], &|at| format!("{at:#x}"));
        assert_eq!((early.owner.as_str(), early.unnamed), ("0x1", 1));
        stacks.stacks.insert(7, early);
        assert!(!stacks.has(7));
        let late = stacks.stack(&[1, 2], &|at| format!("f_{at}+0x1 [m]"));
        assert_eq!((late.owner.as_str(), late.unnamed), ("f_1 [m]", 0));
        stacks.stacks.insert(7, Stack { unnamed: READINGS_MAX, ..late });
        assert!(stacks.has(7), "what stays without a name is not read for ever");
    }
}
