//! A recording of what some functions lead to: only allocations with one of them in their call stack are kept.
//!
//! How it works: no filter of the kernel knows a stack, so that all allocations are recorded with theirs, and those of others
//! are left out here. Frees follow by [`super::paired`].

use std::ops::Range;

use super::filter::returns;
use crate::source::{Facts, Source};
use crate::{Error, NONE, RawEvent};

/// The events of a source, without allocations that none of some functions led to.
#[derive(Debug)]
pub(super) struct Called<S> {
    pub(super) source: S,
    /// The return addresses in the functions; all events are kept where there are none
    places: Vec<Range<u64>>,
    /// By stack, whether it goes through one of them
    known: Vec<bool>,
}

impl<S: Source> Called<S> {
    pub(super) fn new(source: S, places: &[Range<u64>]) -> Self {
        let places = places.iter().map(returns).collect();
        Self { source, places, known: Vec::new() }
    }
}

impl<S: Source> Source for Called<S> {
    fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
        let before = to.len();
        let goes_on = self.source.read(to)?;
        if self.places.is_empty() {
            return Ok(goes_on);
        }
        let names = &self.source.facts().names;
        for stack in self.known.len()..names.stacks.len() {
            let (frames, _) = names.stacks.stack(stack as u32);
            let is_in = |frame: &u32| {
                let address = names.sites[*frame as usize].address;
                self.places.iter().any(|at| at.contains(&address))
            };
            self.known.push(frames.iter().any(is_in));
        }
        let is_called = |event: &RawEvent| {
            let stack = Some(event.stack).filter(|stack| *stack != NONE);
            stack.is_some_and(|stack| self.known.get(stack as usize) == Some(&true))
        };
        let dropped = to.extract_if(before.., |event| event.kind.is_alloc() && !is_called(event));
        dropped.for_each(drop);
        Ok(goes_on)
    }

    fn facts(&self) -> &Facts {
        self.source.facts()
    }
}
