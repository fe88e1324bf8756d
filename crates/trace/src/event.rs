//! The event: what a row of a trace is, alone ([`Event`]) and by the column ([`Batch`]), and what a
//! source gives before pointers have become slots ([`RawEvent`]).

/// Stands for "none" in the columns `object`, `site` and `cache`.
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
}

impl Kind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Kind; 5] =
        [Kind::Kmalloc, Kind::Kfree, Kind::KmemCacheAlloc, Kind::KmemCacheFree, Kind::ImplicitFree];

    /// Returns the name it has in the `kind` column: the tracepoint's own, or `implicit_free`.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Kmalloc => "kmalloc",
            Kind::Kfree => "kfree",
            Kind::KmemCacheAlloc => "kmem_cache_alloc",
            Kind::KmemCacheFree => "kmem_cache_free",
            Kind::ImplicitFree => "implicit_free",
        }
    }

    /// Returns the kind with that name.
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Tells whether an object begins to live here.
    pub const fn is_alloc(self) -> bool {
        matches!(self, Kind::Kmalloc | Kind::KmemCacheAlloc)
    }

    /// Tells whether an object ceases to live here.
    pub const fn is_free(self) -> bool {
        !self.is_alloc()
    }
}

/// A row of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Nanoseconds of the trace's clock (its zero is arbitrary). Never decreases from row to row.
    pub time_ns: u64,
    /// The CPU it happened on.
    pub cpu: u16,
    /// The thread it happened in, 0 for the idle task.
    pub pid: u32,
    /// What happened.
    pub kind: Kind,
    /// The object's slot, below [`Meta::object_slots`](crate::Meta::object_slots); it is used again
    /// after the free. [`NONE`]: free of an address never seen allocated, free of NULL, or an
    /// allocation that failed.
    pub object: u32,
    /// The call site: index into [`Meta::sites`](crate::Meta::sites), or [`NONE`].
    pub site: u32,
    /// The cache: index into [`Meta::caches`](crate::Meta::caches), or [`NONE`] (always for kmalloc).
    pub cache: u32,
    /// Bytes asked for; 0 for frees.
    pub bytes_req: u64,
    /// Bytes given by the recorded kernel; 0 for frees.
    pub bytes_alloc: u64,
    /// gfp flags as the recorded kernel numbers them; 0 for frees.
    pub gfp: u32,
    /// NUMA node asked for, -1 for any, and for frees.
    pub node: i16,
}

/// Consecutive rows of a trace by the column. All columns have the same length.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// See [`Event::time_ns`].
    pub time_ns: Vec<u64>,
    /// See [`Event::cpu`].
    pub cpu: Vec<u16>,
    /// See [`Event::pid`].
    pub pid: Vec<u32>,
    /// See [`Event::kind`].
    pub kind: Vec<Kind>,
    /// See [`Event::object`].
    pub object: Vec<u32>,
    /// See [`Event::site`].
    pub site: Vec<u32>,
    /// See [`Event::cache`].
    pub cache: Vec<u32>,
    /// See [`Event::bytes_req`].
    pub bytes_req: Vec<u64>,
    /// See [`Event::bytes_alloc`].
    pub bytes_alloc: Vec<u64>,
    /// See [`Event::gfp`].
    pub gfp: Vec<u32>,
    /// See [`Event::node`].
    pub node: Vec<i16>,
}

impl Batch {
    /// Returns an empty batch with memory for `rows` rows.
    pub(crate) fn with_capacity(rows: usize) -> Batch {
        Batch {
            time_ns: Vec::with_capacity(rows),
            cpu: Vec::with_capacity(rows),
            pid: Vec::with_capacity(rows),
            kind: Vec::with_capacity(rows),
            object: Vec::with_capacity(rows),
            site: Vec::with_capacity(rows),
            cache: Vec::with_capacity(rows),
            bytes_req: Vec::with_capacity(rows),
            bytes_alloc: Vec::with_capacity(rows),
            gfp: Vec::with_capacity(rows),
            node: Vec::with_capacity(rows),
        }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.kind.len()
    }

    /// Tells whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.kind.is_empty()
    }

    /// Returns the columns of the first `rows` rows.
    ///
    /// # Panics
    /// When `rows` is greater than [`Batch::len`].
    #[inline(always)]
    pub fn columns(&self, rows: usize) -> Columns<'_> {
        Columns {
            time_ns: &self.time_ns[..rows],
            cpu: &self.cpu[..rows],
            pid: &self.pid[..rows],
            kind: &self.kind[..rows],
            object: &self.object[..rows],
            site: &self.site[..rows],
            cache: &self.cache[..rows],
            bytes_req: &self.bytes_req[..rows],
            bytes_alloc: &self.bytes_alloc[..rows],
            gfp: &self.gfp[..rows],
            node: &self.node[..rows],
        }
    }

    /// Returns the rows one by one.
    pub fn events(&self) -> impl ExactSizeIterator<Item = Event> {
        let columns = self.columns(self.len());
        (0..self.len()).map(move |row| columns.event(row))
    }

    /// Appends a row.
    pub fn push(&mut self, event: &Event) {
        self.time_ns.push(event.time_ns);
        self.cpu.push(event.cpu);
        self.pid.push(event.pid);
        self.kind.push(event.kind);
        self.object.push(event.object);
        self.site.push(event.site);
        self.cache.push(event.cache);
        self.bytes_req.push(event.bytes_req);
        self.bytes_alloc.push(event.bytes_alloc);
        self.gfp.push(event.gfp);
        self.node.push(event.node);
    }

    /// Removes all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.time_ns.clear();
        self.cpu.clear();
        self.pid.clear();
        self.kind.clear();
        self.object.clear();
        self.site.clear();
        self.cache.clear();
        self.bytes_req.clear();
        self.bytes_alloc.clear();
        self.gfp.clear();
        self.node.clear();
    }
}

/// Rows of a [`Batch`] by the column. In a loop over a range of them the compiler sees once that all columns are
/// long enough, and not again at each row.
#[derive(Debug, Clone, Copy)]
pub struct Columns<'a> {
    /// See [`Event::time_ns`].
    pub time_ns: &'a [u64],
    /// See [`Event::cpu`].
    pub cpu: &'a [u16],
    /// See [`Event::pid`].
    pub pid: &'a [u32],
    /// See [`Event::kind`].
    pub kind: &'a [Kind],
    /// See [`Event::object`].
    pub object: &'a [u32],
    /// See [`Event::site`].
    pub site: &'a [u32],
    /// See [`Event::cache`].
    pub cache: &'a [u32],
    /// See [`Event::bytes_req`].
    pub bytes_req: &'a [u64],
    /// See [`Event::bytes_alloc`].
    pub bytes_alloc: &'a [u64],
    /// See [`Event::gfp`].
    pub gfp: &'a [u32],
    /// See [`Event::node`].
    pub node: &'a [i16],
}

impl Columns<'_> {
    /// Returns row `row`.
    ///
    /// # Panics
    /// When there is no such row.
    #[inline(always)]
    pub fn event(&self, row: usize) -> Event {
        Event {
            time_ns: self.time_ns[row],
            cpu: self.cpu[row],
            pid: self.pid[row],
            kind: self.kind[row],
            object: self.object[row],
            site: self.site[row],
            cache: self.cache[row],
            bytes_req: self.bytes_req[row],
            bytes_alloc: self.bytes_alloc[row],
            gfp: self.gfp[row],
            node: self.node[row],
        }
    }
}

/// An event as a source gives it: with the pointer's address, and site and cache as indices into the
/// source's own [`Tables`](crate::Tables).
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
    /// The call site: index into [`Tables::sites`](crate::Tables::sites), or [`NONE`].
    pub site: u32,
    /// The cache: index into [`Tables::caches`](crate::Tables::caches), or [`NONE`].
    pub cache: u32,
    /// Bytes asked for; 0 for frees.
    pub bytes_req: u64,
    /// Bytes given; 0 for frees.
    pub bytes_alloc: u64,
    /// gfp flags; 0 for frees.
    pub gfp: u32,
    /// NUMA node asked for, -1 for any or when the event has no such field.
    pub node: i32,
}
