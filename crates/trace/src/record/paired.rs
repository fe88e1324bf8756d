//! A recording of some call sites has the frees of all objects: those of others are left out.
//!
//! # How it works
//! A free names its object and not who allocated it, so that no filter of the kernel can choose frees by the
//! call site of the allocation. A free is kept when the allocation of its object was read before it.
//!
//! What is not seen: when the object of a chosen call site was freed without an event, and another call site has its
//! address now.

use rustc_hash::FxHashSet;

use crate::source::{Facts, Source};
use crate::{Error, RawEvent};

/// The events of a source, without the frees of objects whose allocation it does not have.
#[derive(Debug)]
pub(super) struct Paired<S> {
    pub(super) source: S,
    live: FxHashSet<u64>,
}

impl<S: Source> Paired<S> {
    pub(super) fn new(source: S) -> Self {
        Self { source, live: FxHashSet::default() }
    }
}

impl<S: Source> Source for Paired<S> {
    fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
        let before = to.len();
        let goes_on = self.source.read(to)?;
        let mut at = 0;
        to.retain(|event| {
            at += 1;
            if at <= before || event.page.is_some() {
                return true;
            }
            if !event.kind.is_alloc() {
                return self.live.remove(&event.ptr);
            }
            // An allocation that failed has no object to be freed.
            if event.ptr != 0 {
                self.live.insert(event.ptr);
            }
            true
        });
        Ok(goes_on)
    }

    fn facts(&self) -> &Facts {
        self.source.facts()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[derive(Debug)]
    struct Events(Vec<RawEvent>, Facts);

    impl Source for Events {
        fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
            let count = self.0.len().min(2);
            to.extend(self.0.drain(..count));
            Ok(!self.0.is_empty())
        }

        fn facts(&self) -> &Facts {
            &self.1
        }
    }

    #[test]
    fn a_free_is_kept_once_behind_the_allocation_of_its_object() {
        let event = |kind, ptr| RawEvent {
            time_ns: 0,
            cpu: 0,
            pid: 0,
            kind,
            ptr,
            site: 0,
            cache: 0,
            bytes_req: 0,
            bytes_alloc: 0,
            gfp: 0,
            node: 0,
            stack: 0,
            page: None,
        };
        let events = vec![
            event(Kind::Kfree, 8),
            event(Kind::Kmalloc, 8),
            event(Kind::Kfree, 0),
            event(Kind::KmemCacheFree, 8),
            event(Kind::Kfree, 8),
        ];
        let (mut source, mut read) =
            (Paired::new(Events(events.clone(), Facts::default())), Vec::new());
        while source.read(&mut read).unwrap() {}
        assert_eq!(read, [events[1], events[3]]);
    }
}
