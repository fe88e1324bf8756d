//! What a change of accounting brings beside vectors: the structures of kmalloc's caches that come or go.

use slablab_kmem::BackendKind;
use slablab_trace::Meta;

use crate::change::changes::Changes;
use crate::engine::caches;
use crate::whatif::partition::structures_bytes;

/// Returns the bytes of the structures of the caches that a change of accounting adds; less than 0 of those that go. A replay has
/// no objects for them.
#[must_use]
pub fn accounting_structures_bytes(meta: &Meta, changes: &Changes, kind: BackendKind) -> i64 {
    let caches = |accounting| {
        let config = caches::kmalloc(meta, &Changes { accounting, ..Changes::default() });
        (config.types.len() * config.classes.len()) as i64
    };
    let more = caches(changes.accounting) - caches(Default::default());
    more * structures_bytes(meta, kind) as i64
}
