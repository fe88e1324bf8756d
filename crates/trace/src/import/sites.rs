//! Call sites get their names by their first event: a source may know more of them than it gives events of.

use super::Importer;
use crate::NONE;
use crate::source::Facts;

impl Importer {
    /// Gives a call site its final name, if it has none.
    #[inline]
    pub(super) fn name_site(&mut self, facts: &Facts, site: u32) {
        if self.sites.get(site as usize) == Some(&NONE) {
            self.add_site(facts, site as usize);
        }
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
