//! Where the watched objects of a what-if lie, which the page of an advice shows.

use slablab_replay::{Allocator, WhatIf};
use slablab_report::{AddressPanel, Addresses, Plot, Section};

const BEFORE: &str = "as recorded";
const AFTER: &str = "changed";

fn pairs(what_if: &WhatIf) -> impl Iterator<Item = (&Allocator, &Allocator)> {
    what_if.before.allocators.iter().zip(&what_if.after.allocators)
}

/// Where the watched objects lie; empty where none are watched.
pub(crate) fn objects(what_if: &WhatIf, how: &str) -> Section {
    let panel = |name: &str, allocator: &Allocator| AddressPanel {
        name: format!("{}, {name}", allocator.allocator),
        addresses: allocator.watched.clone(),
    };
    let watched = pairs(what_if).filter(|(a, b)| !a.watched.is_empty() && !b.watched.is_empty());
    let panels: Vec<_> = watched.flat_map(|(a, b)| [panel(BEFORE, a), panel(AFTER, b)]).collect();
    if panels.is_empty() {
        return Section::default();
    }
    let title = "Addresses of the objects, in the order of allocation";
    let map = Plot::new(title, how, Addresses { panels });
    Section::new("Where the objects lie", "", vec![map.into()])
}
