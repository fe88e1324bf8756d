//! Decodes the records of the kmem events: their fixed fields are looked up once in the format, and
//! then read at those offsets.
//!
//! Linux counterpart: `include/trace/events/kmem.h` @ 6.1 and 6.18. `kmalloc_node` and
//! `kmem_cache_alloc_node`, gone since 6.1, count as the events without `_node`.

use std::ops::Range;

use slablab_linux::Gfp;

use super::format::{EventFormat, Form, Place};
use super::names::{Names, until_nul};
use crate::{Kind, RawEvent};

/// The events that make a trace, by name; the last two only exist before 6.1.
pub(crate) const EVENTS: [(&str, Kind); 6] = [
    ("kmalloc", Kind::Kmalloc),
    ("kfree", Kind::Kfree),
    ("kmem_cache_alloc", Kind::KmemCacheAlloc),
    ("kmem_cache_free", Kind::KmemCacheFree),
    ("kmalloc_node", Kind::Kmalloc),
    ("kmem_cache_alloc_node", Kind::KmemCacheAlloc),
];

/// Returns the kind of the kmem event called `name`.
pub(crate) fn kind_of(name: &str) -> Option<Kind> {
    EVENTS.iter().find(|(event, _)| *event == name).map(|&(_, kind)| kind)
}

/// Bits of `common_flags`: what was interrupted, or interrupts, as in `enum trace_flag_type` of
/// `include/linux/trace_events.h` @ 6.18.
const TRACE_FLAG_HARDIRQ: u64 = 0x08;
const TRACE_FLAG_SOFTIRQ: u64 = 0x10;
const TRACE_FLAG_NMI: u64 = 0x40;

/// What a thread is interrupted by when an event happens; a later one interrupts those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Thread = 0,
    SoftInterrupt = 1,
    HardInterrupt = 2,
    Nmi = 3,
}

impl Level {
    pub(crate) const COUNT: usize = 4;
}

/// Where a record says who made it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Maker {
    pid: Place,
    /// `None` where a format is not one of tracefs.
    flags: Option<Place>,
}

impl Maker {
    /// Returns where an event says it; says which field is missing otherwise.
    pub(crate) fn new(format: &EventFormat) -> Result<Maker, String> {
        let flags = number(format, "common_flags").ok();
        Ok(Maker { pid: number(format, "common_pid")?, flags })
    }

    /// Returns the thread that ran.
    #[inline]
    pub(crate) fn pid(self, record: &[u8]) -> Option<u32> {
        self.pid.signed(record).map(|pid| pid as u32)
    }

    /// Returns what made the record.
    #[inline]
    pub(crate) fn level(self, record: &[u8]) -> Level {
        let flags = self.flags.and_then(|place| place.unsigned(record)).unwrap_or(0);
        match flags {
            _ if flags & TRACE_FLAG_NMI != 0 => Level::Nmi,
            _ if flags & TRACE_FLAG_HARDIRQ != 0 => Level::HardInterrupt,
            _ if flags & TRACE_FLAG_SOFTIRQ != 0 => Level::SoftInterrupt,
            _ => Level::Thread,
        }
    }

    /// Returns whether an interrupt, hard or soft, made the record, so that the thread is only whom it interrupted.
    #[inline]
    pub(crate) fn in_interrupt(self, record: &[u8]) -> bool {
        self.level(record) != Level::Thread
    }
}

/// Where an allocation says how much it is of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    bytes_req: Place,
    bytes_alloc: Place,
    gfp: Place,
    node: Option<Place>,
    /// Whether the object is charged, by its flags or by its cache; kmalloc's flags say the same
    accounted: Option<Place>,
}

impl Sizes {
    /// Returns where an event says it; says which field is missing otherwise.
    pub(crate) fn new(format: &EventFormat) -> Result<Sizes, String> {
        Ok(Sizes {
            bytes_req: number(format, "bytes_req")?,
            bytes_alloc: number(format, "bytes_alloc")?,
            gfp: number(format, "gfp_flags")?,
            node: number(format, "node").ok(),
            accounted: number(format, "accounted").ok(),
        })
    }

    /// Returns what a record says: bytes asked for and given, flags and node; `None` when it is too short.
    #[inline(always)]
    pub(crate) fn read(&self, record: &[u8]) -> Option<(u64, u64, u32, i32)> {
        let node = match self.node {
            Some(node) => node.signed(record)? as i32,
            None => RawEvent::EMPTY.node,
        };
        let mut gfp = self.gfp.unsigned(record)? as u32;
        if self.accounted.and_then(|place| place.unsigned(record)).is_some_and(|is| is != 0) {
            gfp |= Gfp::ACCOUNT.0;
        }
        Some((self.bytes_req.unsigned(record)?, self.bytes_alloc.unsigned(record)?, gfp, node))
    }
}

/// Where an event names the cache, if it does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CacheName(Option<(Place, Form)>);

impl CacheName {
    /// Returns where an event names it; `kmalloc` and `kfree` do not.
    pub(crate) fn new(format: &EventFormat) -> CacheName {
        let field = format.field("name");
        let located = field.filter(|field| matches!(field.form, Form::DataLoc | Form::RelLoc));
        CacheName(located.map(|field| (field.place, field.form)))
    }

    /// Returns the field that begins with the name, empty where the event has none; `None` when the record is too short.
    #[inline]
    fn field(self, record: &[u8]) -> Option<&[u8]> {
        match self.0 {
            Some((place, form)) => place.located(record, form),
            None => Some(b""),
        }
    }

    /// Returns the name, empty where the event has none; `None` when the record is too short.
    pub(crate) fn read(self, record: &[u8]) -> Option<&[u8]> {
        self.field(record).map(until_nul)
    }
}

/// Returns where an event has this number; says that it has not otherwise.
pub(super) fn number(format: &EventFormat, name: &str) -> Result<Place, String> {
    let field = format.field(name);
    let number = field.filter(|f| matches!(f.place.bytes, 1 | 2 | 4 | 8)).map(|f| f.place);
    number.ok_or_else(|| format!("event {} has no usable field {name}", format.name))
}

/// Returns the words of a record in which these bytes are: bits, the lowest for the word of length and time before them. Words
/// behind the 31st are not told.
pub(super) fn words(bytes: Range<usize>) -> u32 {
    let words = bytes.start / 4..bytes.end.div_ceil(4).min(31);
    words.fold(0, |words, word| words | 2 << word)
}

fn words_of(places: &[Option<Place>]) -> u32 {
    let bytes = |place: &Place| place.offset..place.offset.saturating_add(place.bytes.max(1));
    places.iter().flatten().fold(0, |all, place| all | words(bytes(place)))
}

/// Where one kmem event keeps its fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    kind: Kind,
    pub(crate) maker: Maker,
    call_site: Place,
    ptr: Place,
    /// `None` for frees.
    sizes: Option<Sizes>,
    cache: CacheName,
}

impl Layout {
    /// Returns where the fields of a kmem event are; says which is missing otherwise.
    pub(crate) fn new(kind: Kind, format: &EventFormat) -> Result<Layout, String> {
        Ok(Layout {
            kind,
            maker: Maker::new(format)?,
            call_site: number(format, "call_site")?,
            ptr: number(format, "ptr")?,
            sizes: kind.is_alloc().then(|| Sizes::new(format)).transpose()?,
            cache: CacheName::new(format),
        })
    }

    /// Returns where a record has its thread, a word, and its object, two; `None` where they are elsewhere than usual.
    pub(super) fn who_and_what(&self) -> Option<(usize, usize)> {
        let (pid, ptr) = (self.maker.pid, self.ptr);
        let is_usual = (pid.bytes, ptr.bytes) == (4, 8)
            && [pid, ptr].iter().all(|place| place.offset.is_multiple_of(4) && place.offset < 96);
        is_usual.then_some((pid.offset, ptr.offset))
    }

    /// Returns the words of a record that have its numbers and its flags, and neither its call site nor where its cache is
    /// named: bits, as [`words`] has them.
    pub(super) fn numbers(&self) -> u32 {
        let sizes = self.sizes.map_or(0, |sizes| {
            let Sizes { bytes_req, bytes_alloc, gfp, node, accounted } = sizes;
            words_of(&[Some(bytes_req), Some(bytes_alloc), Some(gfp), node, accounted])
        });
        (sizes | words_of(&[self.maker.flags])) & !self.places()
    }

    /// Returns the words that have the call site, and where the cache is named.
    pub(super) fn places(&self) -> u32 {
        words_of(&[Some(self.call_site), self.cache.0.map(|(place, _)| place)])
    }

    /// Returns where a record has the name of its cache and the NUL behind it, empty where it has none; `None` when it is too
    /// short.
    pub(super) fn name_at(&self, record: &[u8]) -> Option<Range<usize>> {
        let Some((place, form)) = self.cache.0 else { return Some(0..0) };
        let field = place.located_at(record, form)?;
        let name = until_nul(record.get(field.clone())?).len();
        Some(field.start..field.end.min(field.start + name + 1))
    }

    /// Reads again what a record says beside time, thread and object, where it differs from that of `event` in numbers
    /// alone; `None` when it is too short.
    pub(super) fn renew(&self, record: &[u8], event: &mut RawEvent) -> Option<Level> {
        if let Some(sizes) = &self.sizes {
            (event.bytes_req, event.bytes_alloc, event.gfp, event.node) = sizes.read(record)?;
        }
        Some(self.maker.level(record))
    }

    /// Reads a record of `cpu`; `None` when it is too short.
    #[inline(always)]
    pub(crate) fn decode(
        &self,
        record: &[u8],
        time_ns: u64,
        cpu: u32,
        names: &mut Names,
    ) -> Option<RawEvent> {
        let pid = self.maker.pid(record)?;
        let ptr = self.ptr.unsigned(record)?;
        let site = names.address(self.call_site.unsigned(record)?);
        let cache = names.cache_of(site, self.cache.field(record)?);
        let RawEvent { bytes_req, bytes_alloc, gfp, node, stack, page, .. } = RawEvent::EMPTY;
        let sizes = match &self.sizes {
            Some(sizes) => sizes.read(record)?,
            None => (bytes_req, bytes_alloc, gfp, node),
        };
        let (bytes_req, bytes_alloc, gfp, node) = sizes;
        let kind = self.kind;
        // All at once, so that it is made where it is to be.
        Some(RawEvent {
            time_ns,
            cpu,
            pid,
            kind,
            ptr,
            site,
            cache,
            bytes_req,
            bytes_alloc,
            gfp,
            node,
            stack,
            page,
        })
    }
}
