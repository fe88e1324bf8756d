//! The children that a slot leads to.

use super::bucket::Bucket;
use super::dense::Dense;
use super::slot::{Pin, Slot, Word};
use crate::Entry;

/// The content of a slot.
#[derive(Clone, Copy)]
pub(crate) enum Child<'a> {
    Empty,
    Entry(Entry),
    Dense(&'a Dense),
    Bucket(Bucket<'a>),
}

impl Word {
    /// Returns the content that this word stands for.
    pub(crate) fn child<'a>(self, _pin: Pin<'a>) -> Child<'a> {
        if self == Word::NULL {
            Child::Empty
        } else if !self.is_node() {
            Child::Entry(self.entry())
        } else if self.is_bucket() {
            // SAFETY: the word is a bucket's and the pin keeps the bucket.
            Child::Bucket(unsafe { Bucket::from_word(self) })
        } else {
            // SAFETY: the word is a dense node's and the pin keeps the node.
            Child::Dense(unsafe { &*self.node().cast::<Dense>() })
        }
    }
}

impl Slot {
    pub(crate) fn child<'a>(&self, pin: Pin<'a>) -> Child<'a> {
        self.load().child(pin)
    }
}
