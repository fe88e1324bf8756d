//! What only C's cursors need: errors that stay, and the protocol that answers "no memory".

use super::cursor::{Position, RESTART, State};
use super::range::Split;
use crate::raw::{Pin, Writer};
use crate::{ArrayBody, Entry, Error, Gfp, Mark};

impl State {
    /// Makes the cursor fail. Linux: `xas_set_err`.
    pub(crate) const fn set_error(&mut self, errno: i32) {
        self.node = (-(errno as isize) << 2 | 2) as usize;
    }

    fn fail(&mut self, error: Error) -> Entry {
        self.set_error(error.errno());
        Entry::NULL
    }

    /// Stores an entry at all the cursor's indices; NULL erases. Returns what was at the first. Linux:
    /// `xas_store`.
    pub(crate) fn store(&mut self, writer: &Writer<'_>, entry: Entry) -> Entry {
        if self.error() != 0 {
            return Entry::NULL;
        }
        if !entry.is_storable() {
            return self.fail(Error::Invalid);
        }
        let writer = writer.sharing(Gfp::from_bits(self.gfp));
        if self.order == 0 && entry.is_null() {
            self.load(writer.array(), writer.pin());
            return writer.erase(self.index);
        }
        match writer.exchange_order(self.index, u32::from(self.order), entry) {
            Ok(old) => {
                self.load(writer.array(), writer.pin());
                self.last = self.last.max(self.range_end());
                old
            }
            Err(error) => self.fail(error),
        }
    }

    /// Answers "no memory": returns whether to try again, now in this context. Linux: `xas_nomem`.
    pub(crate) fn nomem(&mut self, gfp: Gfp) -> bool {
        if self.error() != Error::NoMemory.errno() || self.has_retried {
            self.gfp = Gfp::NOWAIT.bits();
            self.has_retried = false;
            return false;
        }
        self.gfp = gfp.bits();
        self.has_retried = true;
        self.node = RESTART;
        true
    }

    /// Makes sure that storing at any of the cursor's indices needs no memory. Linux: `xas_create_range`.
    pub(crate) fn create_range(&mut self, writer: &Writer<'_>) {
        if self.error() != 0 {
            return;
        }
        let writer = writer.sharing(Gfp::from_bits(self.gfp));
        match writer.create_range(self.index, self.range_end()) {
            Ok(()) => {
                // From here on, as in Linux, the cursor stores at single indices.
                self.order = 0;
                self.last = self.index;
                self.found_order = 0;
                self.stand_at();
            }
            Err(error) => {
                self.fail(error);
            }
        }
    }

    /// Makes the nodes that dividing the entry of `order` around the cursor into entries of the cursor's
    /// order takes.
    pub(crate) fn prepare_split(&mut self, entry: Entry, order: u32, gfp: Gfp) -> Option<Split> {
        let split = Split::prepare(self.index, order, u32::from(self.order), entry, gfp);
        // Linux answers ENOMEM whatever the reason.
        split.inspect_err(|_| self.set_error(Error::NoMemory.errno())).ok()
    }

    fn stands(&self) -> bool {
        matches!(self.position(), Position::At | Position::Head)
    }

    /// Returns whether the entry it stands on bears the mark. Linux: `xas_get_mark`.
    pub(crate) fn get_mark(&self, array: &ArrayBody, mark: Mark, pin: Pin<'_>) -> bool {
        self.stands() && super::mark::get_mark(array, self.index, mark, pin)
    }

    /// Sets or clears a mark of the entry it stands on. Linux: `xas_set_mark`, `xas_clear_mark`.
    pub(crate) fn change_mark(&self, writer: &Writer<'_>, mark: Mark, on: bool) {
        if self.stands() {
            writer.change_mark(&writer.walk(self.index), self.index, mark, on);
        }
    }

    /// Takes all marks from the entry it stands on. Linux: `xas_init_marks`.
    pub(crate) fn init_marks(&self, writer: &Writer<'_>) {
        if self.stands() {
            writer.reset_marks(&writer.walk(self.index), self.index);
        }
    }
}
