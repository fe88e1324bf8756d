//! Nodes that were unlinked and are to be freed, and nodes that wait to be linked.
//!
//! Each kind of node has room for one word, which names the next. A name is the node's address with the bits that tell
//! its kind.

use std::ptr::NonNull;
use std::sync::atomic::AtomicPtr;

use slablab_rcu::{Chain, Queue, Reclaim};

use super::child::Child;
use super::slot::{Pin, Word};
use super::{Bucket, Dense, memory};

/// Nodes that are in no slot.
pub(crate) type Limbo = Chain<Node>;

/// Unlinked nodes of all arrays.
pub(crate) static UNLINKED: Queue<Node> = Queue::new(128);

/// A node's name: its word without the information for lookups.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node(Word);

impl Node {
    pub(crate) fn of(word: Word) -> Self {
        debug_assert!(word.is_node());
        Self(word.bare())
    }
}

/// SAFETY: both kinds of nodes have room for a link of their own, and may be freed on any thread.
unsafe impl Reclaim for Node {
    const CALLS_BACK: bool = false;

    fn into_raw(self) -> *mut () {
        self.0.entry().as_ptr()
    }

    unsafe fn from_raw(raw: *mut ()) -> Self {
        Self(Word::from_entry(crate::Entry::from_ptr(raw)))
    }

    unsafe fn link<'a>(self) -> &'a AtomicPtr<()> {
        let node = self.0.node();
        if self.0.is_bucket() {
            // SAFETY: the name says that it is a bucket, and the caller that it is alive.
            unsafe { &(*node.cast::<super::bucket::Header>()).limbo }
        } else {
            // SAFETY: the name says that it is a dense node, and the caller that it is alive.
            unsafe { &(*node.cast::<Dense>()).limbo }
        }
    }

    unsafe fn reclaim(self) {
        let layout = if self.0.is_bucket() {
            // SAFETY: the name says that it is a bucket, and it is not freed yet.
            unsafe { Bucket::layout_of_bare(self.0) }
        } else {
            Dense::LAYOUT
        };
        let memory = NonNull::new(self.0.node().cast()).expect("a node has an address");
        // SAFETY: nodes are allocated with this layout.
        unsafe { memory::free(memory, layout) };
    }
}

/// Takes over a dense node that was never linked, once it is filled.
pub(crate) fn push_private(nodes: &mut Limbo, word: Word, fill: impl FnOnce(&Dense)) {
    // SAFETY: no other code knows it.
    if let Child::Dense(node) = word.child(unsafe { Pin::new() }) {
        fill(node);
    }
    // SAFETY: as above.
    unsafe { nodes.push(Node::of(word)) };
}

/// Hands out the dense node taken over last.
pub(crate) fn pop_private(nodes: &mut Limbo) -> Option<Word> {
    let word = nodes.pop()?.0;
    let node = NonNull::new(word.node().cast::<Dense>())?;
    // SAFETY: `push_private` takes dense nodes only.
    let shift = unsafe { node.as_ref() }.shift();
    Some(Word::from_dense(node, shift))
}

/// Frees nodes that were never linked and were not handed out.
pub(crate) fn free_private(nodes: &mut Limbo) {
    // SAFETY: only this list ever knew them.
    unsafe { nodes.reclaim_all() };
}

/// Waits until every section that is open now has been left, and frees what was unlinked before. Linux:
/// `synchronize_rcu`.
///
/// # Panics
///
/// If called in a section: it would wait for itself.
pub fn synchronize() {
    UNLINKED.synchronize();
}
