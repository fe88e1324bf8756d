//! The lines below an entry that is open: its stack, and what its tool prints beside.

use super::Reader;
use super::led::{Open, without_lead};
use crate::rows::{Below, Found, Kind, stack};

impl Reader {
    /// Takes a line that belongs to the entry above it: a frame of its stack, or what its tool prints beside.
    pub(super) fn goes_on(&mut self, words: &[&str]) -> bool {
        let Some(Open { kind, entry, lead, .. }) = &mut self.open else { return false };
        let words = without_lead(words, lead);
        if words.is_empty() {
            return true;
        }
        if let Some(frame) = stack::frame(words) {
            entry.stack.push(frame);
            return true;
        }
        if (kind.reader().further)(words, entry) {
            return true;
        }
        // `Page allocated` begins the next page, and `Page has been migrated` is of this one.
        if matches!((kind.reader().read)(words, Below::Nothing), Found::Open(_)) {
            self.close();
            return false;
        }
        let beside: &[&str] = match kind {
            Kind::Kmemleak => &["comm", "hex", "backtrace", "age"],
            Kind::PageOwner => &["PFN", "Page", "Charged"],
            _ => &[],
        };
        let is_hex = |word: &&str| word.len() == 2 && u8::from_str_radix(word, 16).is_ok();
        // The end of `N bytes in M allocations from stack`.
        let is_end = *kind == Kind::Memleak
            && entry.stack.is_empty()
            && "allocations from stack".ends_with(&words.join(" "));
        let is_beside = is_end
            || beside.contains(&words[0].trim_end_matches(':'))
            || *kind == Kind::Kmemleak && words.iter().take(4).all(is_hex);
        if !is_beside {
            self.close();
        }
        is_beside
    }

    /// Ends the entry whose stack was read.
    pub(super) fn close(&mut self) {
        let Some(Open { kind, mut entry, stamp, .. }) = self.open.take() else { return };
        if std::mem::take(&mut self.is_listed) {
            return;
        }
        if kind == Kind::PageOwner {
            // What a head of the sorter left there.
            entry.place.clear();
        }
        if let Some(owner) = stack::owner(&entry.stack) {
            let (name, module) = owner.split_once(' ').unwrap_or((owner, ""));
            (entry.name, entry.place) = (name.to_owned(), module.to_owned());
        }
        if entry.name.is_empty() {
            entry.name = "(no stack)".to_owned();
        }
        let now = std::mem::replace(&mut self.stamp, stamp);
        self.add(kind, entry);
        self.stamp = now;
    }
}
