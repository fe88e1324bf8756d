//! What a source names gets its final number. Call sites and stacks get it by their first event: a source may know more of
//! them than it gives events of.

use std::borrow::Cow;

use super::Importer;
use crate::error::At;
use crate::meta::too_many_caches;
use crate::source::{Facts, Source};
use crate::{Error, NONE, RawEvent};

impl Importer {
    /// Refuses what only a damaged or made up recording says of its machine.
    pub(super) fn check_machine(&self, source: &dyn Source) -> Result<(), Error> {
        let remedy = "correct the number of CPUs there, or record again";
        let Facts { meta, names, .. } = source.facts();
        let beyond = meta.beyond_linux().or_else(|| too_many_caches(names.caches.len()));
        beyond.map_or(Ok(()), |what| Err(Error::bad(&self.path, At::File, what, remedy)))
    }

    /// Gives the source's new caches their final names; call sites get them by their first event, for the source may know
    /// more of them than it gives events of.
    pub(super) fn name(&mut self, source: &dyn Source) {
        let names = &source.facts().names;
        self.sites.resize(names.sites.len(), NONE);
        for cache in &names.caches[self.caches.len()..] {
            self.caches.push(self.writer.cache(cache));
        }
        if let Some(population) = &mut self.population {
            population.name(self.writer.caches_mut());
        }
    }

    /// Gives the call site and the stack of an event their final names, if they have none.
    #[inline]
    pub(super) fn name_site(&mut self, facts: &Facts, event: &RawEvent) {
        if self.sites.get(event.site as usize) == Some(&NONE) {
            self.add_site(facts, event.site as usize);
        }
        if event.stack != NONE {
            self.name_stack(facts, event.stack as usize);
        }
    }

    fn name_stack(&mut self, facts: &Facts, index: usize) {
        let (names, known) = (&facts.names, self.stacks.len());
        self.stacks.resize(known.max(names.stacks.len()), NONE);
        let Some(stack) = self.stacks.get_mut(index).filter(|stack| **stack == NONE) else {
            return;
        };
        let symbols = self.symbols.as_ref().unwrap_or(&facts.symbols);
        let (frames, extent) = names.stacks.stack(index as u32);
        let sites = frames.iter().map(|frame| &names.sites[*frame as usize]);
        let named: Vec<_> = sites
            .map(|site| match site.name.as_str() {
                "" => (Cow::Owned(symbols.site_name(site.address)), site.address),
                name => (Cow::Borrowed(name), site.address),
            })
            .collect();
        let named = named.iter().map(|(name, address)| (&**name, *address));
        *stack = self.writer.stack(named, extent);
    }

    #[cold]
    fn add_site(&mut self, facts: &Facts, index: usize) {
        let site = &facts.names.sites[index];
        let symbols = self.symbols.as_ref().unwrap_or(&facts.symbols);
        self.sites[index] = match site.name.as_str() {
            "" => self.writer.site(&symbols.site_name(site.address), site.address),
            name => self.writer.site(name, site.address),
        };
    }
}
