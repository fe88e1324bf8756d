//! What the machine says of its memory, line by line, and how large the pages are in which it counts.

use super::{Reader, TableId};
use crate::entry::Machine;
use crate::machines::SaidAt;
use crate::rows::{Kind, machine, page_owner};

impl Reader {
    /// Counts pages with the size that the kernel's lists of free blocks tell, which stand below other numbers.
    pub(super) fn count_pages(&mut self) {
        let tells = |host: usize| {
            let lists = self.free.get(&host);
            lists.is_some_and(|lists| lists.iter().any(|list| list.page_bytes.is_some()))
        };
        let of_owner = |(kind, host): &TableId| *kind == Kind::PageOwner && !tells(*host);
        self.paste.is_page_size_taken = self.tables.keys().any(of_owner)
            || self.machine.iter().any(|said| said.is_in_pages && !tells(said.host));
        for (host, lists) in &self.free {
            let Some(page_bytes) = lists.iter().find_map(|list| list.page_bytes) else { continue };
            let said = self.machine.iter_mut().filter(|said| said.host == *host);
            for said in said.filter(|said| said.is_in_pages) {
                said.machine = said.machine.with_pages_of(page_bytes);
            }
            if let Some(table) = self.tables.get_mut(&(Kind::PageOwner, *host)) {
                table.each_entry(|entry| page_owner::count_pages(entry, page_bytes));
            }
        }
    }

    /// Takes what a line says of the machine: more of the same moment, or of the next.
    pub(super) fn add_machine(&mut self, line: &machine::Line) {
        let machine::Line { machine: said, is_in_pages } = line;
        let is_in_pages = *is_in_pages;
        let (stamp, host, above) = (self.stamp, self.host, self.above.clone());
        let is_first_zone = self.zones.as_ref().is_some_and(|(zone, first)| zone == first);
        let machines = &mut self.machine;
        let says_again = |last: &Machine| {
            let fields = |m: &Machine| {
                [
                    m.memory_bytes,
                    m.slab_bytes,
                    m.reclaimable_bytes,
                    m.unreclaimable_bytes,
                    m.caches_bytes,
                ]
            };
            fields(last).iter().zip(fields(said)).any(|(a, b)| a.is_some() && b.is_some())
        };
        match machines.last_mut() {
            Some(last) if last.host == host && !says_again(&last.machine) => {
                last.machine.complete(said);
                last.is_in_pages |= is_in_pages;
            }
            // A machine has the slabs of all its nodes.
            Some(last) if last.host == host && self.zones.is_some() && !is_first_zone => {
                last.machine.add(said);
            }
            _ => machines.push(SaidAt { machine: *said, is_in_pages, stamp, host, above }),
        }
    }
}
