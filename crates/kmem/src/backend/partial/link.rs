//! The links between free objects: plain words, or encoded and checked when operations are checked.
//!
//! # How it works
//! A free object holds the offset of the next one, 0 at the end. From checking level 1 on, the word
//! is that offset xor a key xor its own place with the bytes reversed, so that whatever a user
//! writes there decodes to nonsense. A link that leads out of its slab, or between two objects, is a
//! finding. The list ends there, and the objects behind it are *lost*: no list has them until the
//! slab is freed.
//!
//! # Invariants
//! objects of a slab = [`State::objects`] + lost.
//!
//! Linux counterpart: `freelist_ptr`, `freelist_corrupted` in `mm/slub.c` @ 6.1
//! (`CONFIG_SLAB_FREELIST_HARDENED`).

use super::word::State;
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::links::Links;
use crate::cache::table::CacheEntry;
use crate::ids::{ObjPtr, Pfn, Site};
use crate::raw::sync::Ordering::Relaxed;

/// Any odd number will do: addresses are the same in every run, and so is this key.
const KEY: u64 = 0x9e37_79b9_7f4a_7c15;

/// What the word at `at` is combined with.
fn code(at: u64) -> u64 {
    KEY ^ at.swap_bytes()
}

/// Writes the link of a free object of a slab.
#[inline(always)]
pub(crate) fn set(cx: &Cx<'_>, cache: &CacheEntry, slab: Pfn, obj: ObjPtr, next: u64) {
    if cx.hooks.counts() {
        let (links, shift) = (&cx.core.links, Links::shift(cache));
        return links.set(links.bias(slab, shift), shift, obj, next);
    }
    store(cx, obj.get() + u64::from(cache.free_offset.get()), next);
}

/// Writes the link at `at`.
#[inline(always)]
pub(crate) fn store(cx: &Cx<'_>, at: u64, next: u64) {
    let word = if cx.hooks.checks() { next ^ code(at) } else { next };
    cx.core.arena.store(at, word);
}

/// Reads the link of a free object of a slab, whatever it is.
pub(crate) fn read(core: &Core, cache: &CacheEntry, slab: Pfn, obj: ObjPtr) -> u64 {
    if core.setup.counts() {
        return counted(core, cache, slab, obj);
    }
    let at = obj.get() + u64::from(cache.free_offset.get());
    let word = core.arena.load(at);
    if core.checked() { word ^ code(at) } else { word }
}

/// Reads the link of an object that is only counted.
#[inline(always)]
fn counted(core: &Core, cache: &CacheEntry, slab: Pfn, obj: ObjPtr) -> u64 {
    let shift = Links::shift(cache);
    core.links.next(core.links.bias(slab, shift), shift, obj)
}

/// Returns the object behind `obj` in a list, 0 at the end; from checking level 1 on as [`next_checked`].
#[inline(always)]
pub(crate) fn next(
    cx: &Cx<'_>,
    cache: &CacheEntry,
    slab: Pfn,
    obj: ObjPtr,
    before: u64,
    site: Site,
) -> u64 {
    match cx.hooks.checks() {
        true => next_checked(cx, cache, obj, before, site),
        false => unchecked(cx, cache, slab, obj),
    }
}

#[inline(always)]
fn unchecked(cx: &Cx<'_>, cache: &CacheEntry, slab: Pfn, obj: ObjPtr) -> u64 {
    match cx.hooks.counts() {
        true => counted(cx.core, cache, slab, obj),
        false => cx.core.arena.load(obj.get() + u64::from(cache.free_offset.get())),
    }
}

/// Returns the object behind `obj` in its slab's own list, 0 at the end. `None` means that the link is damaged, which is
/// a finding, and the list ends here. The `rest` objects that should follow are lost; the caller takes them out of the
/// slab's word.
#[inline(always)]
pub(crate) fn follow(
    cx: &Cx<'_>,
    cache: &CacheEntry,
    slab: Pfn,
    obj: ObjPtr,
    rest: u32,
    site: Site,
) -> Option<u64> {
    match cx.hooks.checks() {
        true => follow_checked(cx, cache, obj, rest, site),
        false => Some(unchecked(cx, cache, slab, obj)),
    }
}

#[cold]
#[inline(never)]
fn follow_checked(
    cx: &Cx<'_>,
    cache: &CacheEntry,
    obj: ObjPtr,
    rest: u32,
    site: Site,
) -> Option<u64> {
    let slab = cx.core.pages.head(obj.pfn());
    let next = read(cx.core, cache, slab, obj);
    if is_link(cx.core, cache, slab, next) {
        return Some(next);
    }
    set(cx, cache, slab, obj, 0);
    cx.core.totals[cache.id().index()].lost.fetch_add(u64::from(rest), Relaxed);
    cx.core.report_link(cache, obj, site);
    None
}

/// Returns whether `next` is the end of a list or an object of the slab.
fn is_link(core: &Core, cache: &CacheEntry, slab: Pfn, next: u64) -> bool {
    let page = core.pages.get(slab);
    let (base, size) = (slab.offset() + u64::from(page.aux.get()), u64::from(cache.size.get()));
    let objects = core.slab_objects(cache, page.order());
    next == 0
        || next.checked_sub(base).is_some_and(|at| at.is_multiple_of(size) && at / size < objects)
}

/// Reads the link of `obj`, checked: 0 for one that is damaged. `before` objects of the same
/// list came before `obj`, and are not in use.
#[cold]
pub(crate) fn next_checked(
    cx: &Cx<'_>,
    cache: &CacheEntry,
    obj: ObjPtr,
    before: u64,
    site: Site,
) -> u64 {
    let slab = cx.core.pages.head(obj.pfn());
    let next = read(cx.core, cache, slab, obj);
    if is_link(cx.core, cache, slab, next) {
        return next;
    }
    let waiting = remote_objects(cx.core, cache, slab);
    let in_use = cx.core.live_objects(cache, slab);
    let page = cx.core.pages.get(slab);
    let known = before + 1 + waiting + in_use;
    let lost = u64::from(State::load(page).objects()).saturating_sub(known);
    State::update(cx, page, |old| old.without(lost as u32));
    cx.core.totals[cache.id().index()].lost.fetch_add(lost, Relaxed);
    // From now on this is the end of the list.
    set(cx, cache, slab, obj, 0);
    cx.core.report_link(cache, obj, site);
    0
}

/// Returns the length of a slab's own list.
fn remote_objects(core: &Core, cache: &CacheEntry, slab: Pfn) -> u64 {
    let (mut at, mut count) = (State::load(core.pages.get(slab)).free(slab), 0);
    while let Some(obj) = at.filter(|_| count <= u64::from(cache.objects.get())) {
        count += 1;
        let next = read(core, cache, slab, obj);
        at = ObjPtr::new(next).filter(|_| is_link(core, cache, slab, next));
    }
    count
}
