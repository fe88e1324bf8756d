//! Page rows of a file: how their columns become [`PageEvent`]s.
//!
//! # How it works
//! What another program wrote anew may have slab rows and page rows in one group: each is told by its kind.

use super::file_reader::FileRows;
use super::group_rows::GroupRows;
use super::schema::PFN_COLUMN;
use crate::page_event::ORDER_MAX;
use crate::{Batch, Error, Kind, NO_BYTE, NO_PAGE, PageEvent, PageKind, RawPage};

/// Whose row it is.
#[derive(Debug, Clone, Copy)]
enum AnyKind {
    Slab(Kind),
    Page(PageKind),
}

impl AnyKind {
    fn from_name(name: &str) -> Option<AnyKind> {
        let page = || PageKind::from_name(name).map(AnyKind::Page);
        Kind::from_name(name).map(AnyKind::Slab).or_else(page)
    }
}

/// The columns that only page rows have.
#[derive(Debug, Default)]
struct PageColumns {
    order: Vec<u8>,
    migrate_type: Vec<u8>,
    fallback_order: Vec<u8>,
    fallback_type: Vec<u8>,
    change_ownership: Vec<u8>,
    pfn: Vec<u64>,
}

impl FileRows {
    /// Appends rows of a group that may have page rows: slab rows to `slabs`, and page rows to `pages`.
    pub(super) fn append_both(
        &mut self,
        rows: &GroupRows,
        slabs: &mut Batch,
        pages: &mut Vec<PageEvent>,
    ) -> Result<(), Error> {
        let mut all = Batch::default();
        self.append_numbers(rows, &mut all)?;
        self.append_names(rows, &mut all)?;
        all.kind.resize(rows.count(), Kind::Kfree);
        let mut kinds = Vec::new();
        self.names("kind", rows, None, AnyKind::from_name, &mut Vec::new(), &mut kinds)?;
        let mut of = PageColumns::default();
        let column = |name: &str, to: &mut Vec<u8>| self.integers(name, rows, Some(NO_BYTE), to);
        column("order", &mut of.order)?;
        column("migrate_type", &mut of.migrate_type)?;
        column("fallback_order", &mut of.fallback_order)?;
        column("fallback_type", &mut of.fallback_type)?;
        column("change_ownership", &mut of.change_ownership)?;
        self.integers(PFN_COLUMN, rows, Some(NO_PAGE), &mut of.pfn)?;
        // What another program wrote may be less than 0.
        of.pfn
            .iter_mut()
            .filter(|pfn| i64::try_from(**pfn).is_err())
            .for_each(|pfn| *pfn = NO_PAGE);
        let columns = all.columns(rows.count());
        for (row, kind) in kinds.into_iter().enumerate() {
            let mut event = columns.event(row);
            match kind {
                AnyKind::Slab(kind) => {
                    event.kind = kind;
                    slabs.push(&event);
                }
                AnyKind::Page(kind) => pages.push(PageEvent {
                    time_ns: event.time_ns,
                    object: event.object,
                    pid: event.pid,
                    gfp: event.gfp,
                    stack: event.stack,
                    cpu: event.cpu,
                    pfn: of.pfn[row],
                    page: RawPage {
                        kind,
                        order: of.order[row],
                        migrate_type: of.migrate_type[row],
                        fallback_order: of.fallback_order[row],
                        fallback_type: of.fallback_type[row],
                        change_ownership: of.change_ownership[row],
                    },
                }),
            }
        }
        Ok(())
    }

    /// Checks page rows against the metadata.
    pub(super) fn check_pages(&mut self, rows: &[PageEvent]) -> Result<(), Error> {
        let meta = self.meta();
        let slots = meta.pages.as_ref().map_or(0, |pages| pages.slots);
        let is_beyond = |number: u32, end: u32| number != crate::NONE && number >= end;
        let stacks = meta.stacks.len() as u32;
        for row in rows {
            let what = match row {
                row if is_beyond(row.object, slots) => {
                    "column object has a value beyond the slots of pages"
                }
                row if is_beyond(row.stack, stacks) => {
                    "column stack has a value beyond the number of stacks"
                }
                row if u32::from(row.cpu) >= meta.cpus => {
                    "column cpu has a value beyond the number of CPUs"
                }
                row if row.page.order > ORDER_MAX => "column order has a value beyond Linux",
                row if row.time_ns < self.time_ns => "column time_ns runs backwards",
                row => {
                    self.time_ns = row.time_ns;
                    continue;
                }
            };
            return Err(self.damaged(what));
        }
        Ok(())
    }

    /// Replaces `pages` by the next page rows; returns false when there are none.
    pub(super) fn read_pages_into(&mut self, pages: &mut Vec<PageEvent>) -> Result<bool, Error> {
        pages.clear();
        self.read_guarded(&mut Batch::default(), pages)
    }
}
