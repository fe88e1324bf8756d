//! Reads a recording in a thread of its own, ahead of who uses its events.
//!
//! # How it works
//! The first part is read at once: with it a source knows what it will say of itself, but for names, which come with the
//! events that use them, and for what is counted. What it says at the end is there when the last part was given.
//!
//! # Invariants
//! The parts are those of the source, in its order. At most [`PARTS_MAX`] wait.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use super::names::Grown;
use super::recording::{Facts, Source};
use crate::{Error, RawEvent};

/// Parts of some thousand events that wait.
const PARTS_MAX: usize = 16;

/// A source that can be read in another thread.
pub(crate) trait Movable: Source + Send + 'static {
    /// Returns what the recording says of itself.
    fn facts_mut(&mut self) -> &mut Facts;
}

/// The events of a source.
#[derive(Debug)]
pub(crate) struct Ahead<S> {
    /// Before the first part, and behind the last
    source: Option<S>,
    thread: Option<Thread<S>>,
    /// What is known meanwhile
    facts: Facts,
}

#[derive(Debug)]
struct Thread<S> {
    parts: Receiver<Result<Part, Error>>,
    /// Parts whose events were given
    used: Sender<Vec<RawEvent>>,
    handle: JoinHandle<S>,
}

/// Events, and what they need.
#[derive(Debug)]
struct Part {
    events: Vec<RawEvent>,
    names: Grown,
    bytes_read: u64,
}

impl<S: Movable> Ahead<S> {
    pub(crate) fn new(source: S) -> Ahead<S> {
        Ahead { source: Some(source), thread: None, facts: Facts::default() }
    }

    /// Returns the source, before the first event and behind the last.
    pub(crate) fn source(&self) -> Option<&S> {
        self.source.as_ref()
    }

    /// Goes on in a thread.
    fn go_on(&mut self, mut source: S) -> Result<(), Error> {
        let facts = source.facts();
        let Facts { meta, names, other_events, bytes_read, bytes, .. } = facts;
        let (meta, names, other_events) = (meta.clone(), names.clone(), other_events.clone());
        self.facts = Facts {
            meta,
            names,
            other_events,
            bytes_read: *bytes_read,
            bytes: *bytes,
            ..Facts::default()
        };
        self.facts.symbols = std::mem::take(&mut source.facts_mut().symbols);
        let (sender, parts) = sync_channel(PARTS_MAX);
        let (used, spare) = channel();
        let read = move || {
            read_all(&mut source, &sender, &spare);
            source
        };
        let io = |e| Error::io("events".as_ref(), "cannot start a thread for", e);
        let handle = thread::Builder::new().spawn(read).map_err(io)?;
        self.thread = Some(Thread { parts, used, handle });
        Ok(())
    }

    /// Takes the source back, when all of it is read.
    fn end(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        let source = thread.handle.join();
        let mut source = source.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        source.facts_mut().symbols = std::mem::take(&mut self.facts.symbols);
        self.source = Some(source);
    }
}

/// Sends the parts of a source, as long as somebody takes them.
fn read_all<S: Source>(
    source: &mut S,
    parts: &SyncSender<Result<Part, Error>>,
    spare: &Receiver<Vec<RawEvent>>,
) {
    let mut known = source.facts().names.reach();
    loop {
        let mut events = spare.try_recv().unwrap_or_default();
        let part = match source.read(&mut events) {
            Ok(false) => return,
            Ok(true) => {
                let Facts { names, bytes_read, .. } = source.facts();
                let grown = names.since(&known);
                known = names.reach();
                Ok(Part { events, names: grown, bytes_read: *bytes_read })
            }
            Err(error) => Err(error),
        };
        let is_last = part.is_err();
        if parts.send(part).is_err() || is_last {
            return;
        }
    }
}

impl<S: Movable> Source for Ahead<S> {
    fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
        if let Some(thread) = &self.thread {
            let Ok(part) = thread.parts.recv() else {
                self.end();
                return Ok(false);
            };
            let Part { mut events, names, bytes_read } = part?;
            self.facts.names.grow(names);
            self.facts.bytes_read = bytes_read;
            if to.is_empty() {
                std::mem::swap(to, &mut events);
            } else {
                to.append(&mut events);
            }
            events.clear();
            // The thread may have read all.
            let _ = thread.used.send(events);
            return Ok(true);
        }
        let Some(mut source) = self.source.take() else { return Ok(false) };
        match source.read(to) {
            Ok(true) => self.go_on(source).map(|()| true),
            ended => {
                self.source = Some(source);
                ended
            }
        }
    }

    fn facts(&self) -> &Facts {
        self.source.as_ref().map_or(&self.facts, Source::facts)
    }

    fn is_sampled(&self) -> bool {
        self.source.as_ref().is_some_and(Source::is_sampled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Site;

    /// Ten parts, each with a call site of its own; then an error, if it has one.
    #[derive(Debug)]
    struct Parts {
        facts: Facts,
        error: Option<Error>,
    }

    impl Source for Parts {
        fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
            let site = self.facts.names.sites.len() as u32;
            if site == 10 {
                return self.error.take().map_or(Ok(false), Err);
            }
            self.facts.names.sites.push(Site::default());
            self.facts.bytes_read += 1;
            self.facts.meta.quality.null_frees += 1;
            to.push(RawEvent { site, ..RawEvent::EMPTY });
            Ok(true)
        }

        fn facts(&self) -> &Facts {
            &self.facts
        }
    }

    impl Movable for Parts {
        fn facts_mut(&mut self) -> &mut Facts {
            &mut self.facts
        }
    }

    #[test]
    fn parts_come_in_order_and_with_their_names() {
        let mut ahead = Ahead::new(Parts { facts: Facts::default(), error: None });
        let mut events = Vec::new();
        for part in 0..10 {
            assert!(ahead.read(&mut events).unwrap());
            assert_eq!((events.len(), events[part].site as usize), (part + 1, part));
            assert_eq!(ahead.facts().names.sites.len(), part + 1);
            assert_eq!(ahead.facts().bytes_read, part as u64 + 1);
        }
        assert!(ahead.source().is_none());
        assert!(!ahead.read(&mut events).unwrap() && !ahead.read(&mut events).unwrap());
        assert_eq!(ahead.facts().meta.quality.null_frees, 10);
        assert!(ahead.source().is_some());
    }

    #[test]
    fn an_error_comes_behind_the_events_before_it() {
        let error = Some(Error::Interrupted);
        let mut ahead = Ahead::new(Parts { facts: Facts::default(), error });
        let mut events = Vec::new();
        let read = std::iter::from_fn(|| Some(ahead.read(&mut events)));
        assert_eq!(read.take_while(Result::is_ok).count(), 10);
        assert_eq!(events.len(), 10);
    }
}
