//! The event: what a row of a trace is, alone ([`Event`]) and by the column ([`Batch`]), and what a
//! source gives before pointers have become slots ([`RawEvent`]).

use crate::page_event::RawPage;

/// Stands for "none" in the columns `object`, `site`, `cache` and `stack`.
pub const NONE: u32 = u32::MAX;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// `kmem:kmalloc`
    Kmalloc = 0,
    /// `kmem:kfree`
    Kfree = 1,
    /// `kmem:kmem_cache_alloc`
    KmemCacheAlloc = 2,
    /// `kmem:kmem_cache_free`
    KmemCacheFree = 3,
    /// The object's address was allocated again without a free in between (bulk frees, `kfree_rcu`
    /// batches and lost events leave none): the importer puts this row right before that allocation.
    ImplicitFree = 4,
    /// The recorded kernel had fewer objects of the cache in use than the events tell, so that one was freed unseen:
    /// the oldest without a visible free, or, without an object, one that is older than the trace.
    EstimatedFree = 5,
}

impl Kind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Kind; 6] = {
        use Kind::*;
        [Kmalloc, Kfree, KmemCacheAlloc, KmemCacheFree, ImplicitFree, EstimatedFree]
    };

    /// Returns the name it has in the `kind` column: the tracepoint's own, or `implicit_free`.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Kmalloc => "kmalloc",
            Kind::Kfree => "kfree",
            Kind::KmemCacheAlloc => "kmem_cache_alloc",
            Kind::KmemCacheFree => "kmem_cache_free",
            Kind::ImplicitFree => "implicit_free",
            Kind::EstimatedFree => "estimated_free",
        }
    }

    /// Returns the kind with that name.
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns whether an object begins to live here.
    pub const fn is_alloc(self) -> bool {
        matches!(self, Kind::Kmalloc | Kind::KmemCacheAlloc)
    }

    /// Returns whether an object ceases to live here.
    pub const fn is_free(self) -> bool {
        !self.is_alloc()
    }
}

/// Declares the columns of a trace, as fields of [`Event`] and as columns of [`Batch`] and [`Columns`].
macro_rules! columns {
    ($($(#[$doc:meta])* $field:ident: $type:ty,)*) => {
        /// A row of a trace.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Event {
            $($(#[$doc])* pub $field: $type,)*
        }

        /// Consecutive rows of a trace by the column. All columns have the same length.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct Batch {
            $($(#[$doc])* pub $field: Vec<$type>,)*
        }

        /// Rows of a [`Batch`] by the column. In a loop over a range of them the compiler sees once that all
        /// columns are long enough, and not again at each row.
        #[derive(Debug, Clone, Copy)]
        pub struct Columns<'a> {
            $($(#[$doc])* pub $field: &'a [$type],)*
        }

        impl Batch {
            /// Returns an empty batch with memory for `rows` rows.
            pub(crate) fn with_capacity(rows: usize) -> Batch {
                Batch { $($field: Vec::with_capacity(rows),)* }
            }

            /// Returns the columns of the first `rows` rows.
            ///
            /// # Panics
            /// When `rows` is greater than [`Batch::len`].
            #[inline(always)]
            pub fn columns(&self, rows: usize) -> Columns<'_> {
                Columns { $($field: &self.$field[..rows],)* }
            }

            /// Appends a row.
            pub fn push(&mut self, event: &Event) {
                $(self.$field.push(event.$field);)*
            }

            /// Appends rows, column by column: row by row each column would be looked at for room.
            pub(crate) fn extend(&mut self, events: &[Event]) {
                $(self.$field.extend(events.iter().map(|event| event.$field));)*
            }

            /// Removes all rows and keeps the memory.
            pub fn clear(&mut self) {
                $(self.$field.clear();)*
            }
        }

        impl Columns<'_> {
            /// Returns row `row`.
            ///
            /// # Panics
            /// When there is no such row.
            #[inline(always)]
            pub fn event(&self, row: usize) -> Event {
                Event { $($field: self.$field[row],)* }
            }
        }
    };
}

columns! {
    /// Nanoseconds of the trace's clock (its zero is arbitrary). Never decreases from row to row.
    time_ns: u64,
    /// The CPU it happened on.
    cpu: u16,
    /// The thread it happened in, 0 for the idle task.
    pid: u32,
    /// What happened.
    kind: Kind,
    /// The object's slot, below [`Meta::object_slots`](crate::Meta::object_slots); it is used again after the free.
    /// [`NONE`]: free of an address never seen allocated, free of NULL, or an allocation that failed.
    object: u32,
    /// The call site: index into [`Meta::sites`](crate::Meta::sites), or [`NONE`].
    site: u32,
    /// The cache: index into [`Meta::caches`](crate::Meta::caches), or [`NONE`] (always for kmalloc).
    cache: u32,
    /// Bytes asked for; 0 for frees.
    bytes_req: u64,
    /// Bytes given by the recorded kernel; 0 for frees.
    bytes_alloc: u64,
    /// gfp flags as the recorded kernel numbers them; 0 for frees.
    gfp: u32,
    /// NUMA node asked for, -1 for any, and for frees.
    node: i16,
    /// The call stack: number in [`Meta::stacks`](crate::Meta::stacks), or [`NONE`].
    stack: u32,
}

impl Batch {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.kind.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.kind.is_empty()
    }

    /// Returns the rows one by one.
    pub fn events(&self) -> impl ExactSizeIterator<Item = Event> {
        let columns = self.columns(self.len());
        (0..self.len()).map(move |row| columns.event(row))
    }
}

/// Nothing that the allocators give is as large as this; a greater size is a damaged record.
const BYTES_MAX: u64 = 1 << 40;

/// An event as a source gives it: with the pointer's address, and site and cache as indices into the
/// source's own [`Names`](crate::Names).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawEvent {
    /// Nanoseconds of the source's clock.
    pub time_ns: u64,
    /// The CPU it happened on.
    pub cpu: u32,
    /// The thread it happened in.
    pub pid: u32,
    /// What happened; never [`Kind::ImplicitFree`].
    pub kind: Kind,
    /// The object's address; 0 for a failed allocation or a free of NULL.
    pub ptr: u64,
    /// The call site: index into [`Names::sites`](crate::Names::sites), or [`NONE`].
    pub site: u32,
    /// The cache: index into [`Names::caches`](crate::Names::caches), or [`NONE`].
    pub cache: u32,
    /// Bytes asked for; 0 for frees.
    pub bytes_req: u64,
    /// Bytes given; 0 for frees.
    pub bytes_alloc: u64,
    /// gfp flags; 0 for frees.
    pub gfp: u32,
    /// NUMA node asked for, -1 for any or when the event has no such field.
    pub node: i32,
    /// The call stack: number in [`Names`](crate::Names), or [`NONE`].
    pub stack: u32,
    /// Of an event of the page allocator what it says of its pages: `ptr` is then their number, or
    /// [`NO_PAGE`](crate::NO_PAGE), and `kind`, site, cache and sizes say nothing.
    pub page: Option<RawPage>,
}

/// The kernel's `ZERO_SIZE_PTR`, what kmalloc(0) returns.
pub(crate) const ZERO_SIZE_PTR: u64 = 16;

impl Event {
    /// A free without an object, a thread or a call site at time 0, to be filled in.
    pub const EMPTY: Event = Event {
        time_ns: 0,
        cpu: 0,
        pid: 0,
        kind: Kind::Kfree,
        object: NONE,
        site: NONE,
        cache: NONE,
        bytes_req: 0,
        bytes_alloc: 0,
        gfp: 0,
        node: -1,
        stack: NONE,
    };

    /// Returns it as a source that has its object at `ptr` gives it.
    pub(crate) fn to_raw(self, ptr: u64) -> RawEvent {
        let Event { time_ns, pid, kind, site, cache, bytes_req, bytes_alloc, gfp, stack, .. } =
            self;
        let (cpu, node, page) = (u32::from(self.cpu), i32::from(self.node), None);
        RawEvent {
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
        }
    }
}

impl RawEvent {
    /// Stands for the recorder's threads where their own events are not left out; no process has this number.
    pub(crate) const RECORDER_PID: u32 = u32::MAX;

    /// An event without an object, to be filled in.
    pub(crate) const EMPTY: RawEvent = RawEvent {
        time_ns: 0,
        cpu: 0,
        pid: 0,
        kind: Kind::Kfree,
        ptr: 0,
        site: NONE,
        cache: NONE,
        bytes_req: 0,
        bytes_alloc: 0,
        gfp: 0,
        node: -1,
        stack: NONE,
        page: None,
    };

    /// Returns whether it gave or took memory: not an allocation that failed or of no bytes, nor a free of what these give.
    #[inline]
    pub(crate) fn has_object(&self) -> bool {
        let has_address = self.ptr != 0 && self.ptr != ZERO_SIZE_PTR;
        has_address && (self.bytes_req > 0 || !self.kind.is_alloc())
    }

    /// Returns why it cannot have happened on a machine of `cpus` CPUs.
    pub(crate) fn beyond_linux(&self, cpus: u32) -> Option<&'static str> {
        if self.cpu >= cpus {
            return Some("CPU number beyond the machine");
        }
        if let Some(page) = &self.page {
            return page.beyond_linux();
        }
        if self.bytes_req > BYTES_MAX || self.bytes_alloc > BYTES_MAX {
            return Some("size of more than 1 TiB");
        }
        if self.kind.is_alloc() && self.ptr != 0 && self.bytes_req > self.bytes_alloc {
            return Some("more bytes requested than allocated");
        }
        i16::try_from(self.node).is_err().then_some("NUMA node number beyond the machine")
    }

    /// Returns it as a row whose object is in the slot `object`. CPU and node must have been checked.
    pub(crate) fn to_row(self, object: u32) -> Event {
        let RawEvent {
            time_ns, pid, kind, site, cache, bytes_req, bytes_alloc, gfp, stack, ..
        } = self;
        let (cpu, node) = (self.cpu as u16, self.node as i16);
        Event {
            time_ns,
            cpu,
            pid,
            kind,
            object,
            site,
            cache,
            bytes_req,
            bytes_alloc,
            gfp,
            node,
            stack,
        }
    }
}
