//! Weighted call stacks for other tools: pprof and the Firefox Profiler.
//!
//! How it works: a [`Profile`] has frames, each once, and samples: a stack of frames with a value of each type (bytes alive,
//! bytes allocated, ...) and labels. Each format is a rendering of it.

mod firefox;
mod pprof;

use std::collections::HashMap;

/// What a value of a sample counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueType {
    /// As in `inuse_space`
    pub name: String,
    /// `bytes` or `count`
    pub unit: String,
}

/// A place in a function.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Call {
    /// The function
    pub function: String,
    /// What it is in, as in `vmlinux` or `ext4`
    pub module: String,
    /// The return address; 0 where it is not known
    pub address: u64,
}

/// A stack with its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Numbers of calls, innermost first
    calls: Vec<u32>,
    /// One for each type
    values: Vec<i64>,
    /// Keys and values
    labels: Vec<(&'static str, String)>,
}

/// Weighted call stacks.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    /// What the values of each sample count; the first is what tools show at first
    pub types: Vec<ValueType>,
    /// What it is of
    pub title: String,
    /// When it was taken, in nanoseconds since 1970; 0 where that is not known
    pub time_unix_ns: u64,
    /// How long it took
    pub duration_ns: u64,
    calls: Vec<Call>,
    known: HashMap<Call, u32>,
    samples: Vec<Sample>,
}

impl Profile {
    /// Makes an empty one.
    #[must_use]
    pub fn new(title: impl Into<String>, types: Vec<ValueType>) -> Self {
        Self { title: title.into(), types, ..Self::default() }
    }

    /// Adds a stack, innermost call first.
    ///
    /// # Panics
    ///
    /// If there is not a value for each type.
    pub fn add(
        &mut self,
        stack: impl IntoIterator<Item = Call>,
        values: Vec<i64>,
        labels: Vec<(&'static str, String)>,
    ) {
        assert_eq!(values.len(), self.types.len(), "a value for each type");
        let mut number = |call: Call| {
            let next = self.calls.len() as u32;
            *self.known.entry(call).or_insert_with_key(|call| {
                self.calls.push(call.clone());
                next
            })
        };
        let calls = stack.into_iter().map(&mut number).collect();
        self.samples.push(Sample { calls, values, labels });
    }

    /// Returns how many samples there are.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }
}
