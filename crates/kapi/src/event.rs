//! What the child tells the parent, one JSON object a line.
//!
//! Addresses inside the module are offsets from its load address, so that the parent can name them.

use serde::{Deserialize, Serialize};

/// Where in a module's life something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Before init: loading and parameters.
    Load,
    /// In init.
    Init,
    /// After init: its threads, timers and files.
    Live,
    /// In exit.
    Exit,
}

/// A kind of misuse that a check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Misuse {
    /// Memory is live after exit.
    Leak,
    /// A cache exists after exit.
    CacheLeak,
    /// A cache was destroyed with objects live.
    CacheBusy,
    /// Memory was freed twice.
    DoubleFree,
    /// Bytes behind a block were written.
    Overflow,
    /// A pointer into a block, not to its start, was freed.
    InteriorFree,
    /// What was freed was never allocated.
    ForeignFree,
    /// Memory was freed by the wrong function, to the wrong cache or with the wrong order.
    WrongFree,
    /// A call that may sleep was made where sleeping is forbidden.
    SleepInAtomic,
    /// Init, exit or a function of a file returned with a lock held, or with preemption or interrupts disabled.
    AtomicLeft,
    /// Something was given up that was not taken: a lock, disabled preemption, a read-side section.
    Unbalanced,
    /// Memory was written to after it was freed.
    WriteAfterFree,
    /// Memory was printed, or given to a user, after it was freed.
    ReadAfterFree,
    /// Something that calls into the module, or stands for it, is there after exit, or in memory that was freed.
    Left,
    /// Two locks were taken in both orders.
    LockOrder,
    /// A lock was taken by the thread that holds it.
    LockTwice,
    /// A reference was taken from zero, given up at zero, or is left.
    Reference,
    /// An object whose life is followed (`debug_object_init()`) was used in a state that does not allow it.
    ObjectState,
    /// The allocator's own data are inconsistent.
    Damage,
}

/// A block of memory, as a finding describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Its address.
    pub address: u64,
    /// Bytes asked for.
    pub bytes: u64,
    /// What it was allocated by: `kmalloc`, a cache's name, `pages`, `vmalloc`.
    pub from: String,
    /// Offset in the module of the call that allocated it.
    pub site: u64,
    /// Offset in the module of the call that freed it before.
    pub freed: Option<u64>,
}

/// A cache that memory came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheSeen {
    /// The name that the module gave it, or that of kmalloc's cache.
    pub name: String,
    /// The cache whose slabs it uses: another one where the two were merged.
    pub slabs_of: String,
    /// Whether the module created it.
    pub is_own: bool,
    /// Bytes that a caller may use of an object.
    pub object_bytes: u64,
    /// Bytes from an object to the next one.
    pub slot_bytes: u64,
    /// Bytes of a slab.
    pub slab_bytes: u64,
    /// Objects of a slab.
    pub objects_per_slab: u64,
}

/// Where memory lies that a module got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// In a slab.
    Slab {
        /// The cache, by the number of its [`Event::Cache`], from 0.
        cache: u32,
        /// The slab's address.
        slab: u64,
    },
    /// Elsewhere.
    Other {
        /// What it came from: `kmalloc`, `pages`, `vmalloc`, or a cache of an allocator without slabs.
        name: String,
        /// Bytes that it takes.
        held_bytes: u64,
    },
}

/// How a run ended early.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// `BUG()`.
    Bug,
    /// `panic()`, or `do_exit()` where it is not allowed.
    Panic,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The module is in memory.
    Loaded {
        /// Its load address.
        base: u64,
    },
    /// A line of the log, or the beginning of one.
    Line {
        /// When, in nanoseconds since the machine's start.
        time_ns: u64,
        /// Level, 0 to 7.
        level: u8,
        /// The text without level and newline.
        text: String,
        /// Whether the line ends here.
        ends: bool,
    },
    /// More of the line before.
    More {
        /// The text.
        text: String,
        /// Whether the line ends here.
        ends: bool,
    },
    /// The parameters were refused: the module was not started.
    Refused {
        /// What is wrong, and what would be right.
        message: String,
    },
    /// A part of the module's life begins.
    Stage(Stage),
    /// Init returned.
    Init {
        /// Its value.
        result: i64,
        /// The module whose init it was, by its place among those that the module needs; `None` for the module itself.
        needed: Option<u32>,
    },
    /// A file of the module was opened; its text follows.
    File {
        /// Its path.
        path: String,
    },
    /// Text of the file.
    Text {
        /// The text; invalid UTF-8 is replaced.
        text: String,
    },
    /// The file was read or written to its end.
    FileEnd {
        /// 0, or the error as the kernel numbers it (negative).
        result: i64,
    },
    /// A step begins.
    Step {
        /// Its place in the job's.
        index: u32,
    },
    /// A step is done.
    StepEnd {
        /// Its place in the job's.
        index: u32,
        /// What the call returned; an error as the kernel numbers it (negative).
        result: i64,
        /// What was read.
        data: Vec<u8>,
    },
    /// Exit returned.
    Exited,
    /// The module is in use, so that exit is not run.
    InUse {
        /// How often.
        users: u32,
    },
    /// A check found something.
    Finding {
        /// What.
        kind: Misuse,
        /// In words, without the block and the sites; `{@1c}` stands for an offset in the module, that of a return address.
        detail: String,
        /// How many of the same kind from the same place.
        count: u64,
        /// The block, where there is one.
        block: Option<Block>,
        /// Offset in the module of the call that the check stopped.
        site: Option<u64>,
    },
    /// The module, or the host, stopped itself.
    Fault {
        /// How.
        kind: FaultKind,
    },
    /// A signal stopped the module. Written by the signal handler.
    Crash {
        /// The signal.
        signal: i32,
        /// The address it was about.
        address: u64,
        /// Where the module was, as an offset; `None` outside of it.
        pc: Option<u64>,
        /// Return addresses inside the module, innermost first, as offsets.
        frames: Vec<u64>,
    },
    /// Where the module was when its time was over. Written by the signal handler.
    Hang {
        /// As of a crash.
        pc: Option<u64>,
        /// As of a crash.
        frames: Vec<u64>,
    },
    /// What is allocated at the end.
    Totals {
        /// Bytes that the module's allocations hold.
        live_bytes: u64,
        /// Bytes that slabs hold.
        slab_bytes: u64,
    },
    /// The first memory of a cache comes next. This event and the four behind it are told only if memory is to be explained.
    Cache(CacheSeen),
    /// The module got memory.
    Got {
        /// The CPU.
        cpu: u32,
        /// The address.
        address: u64,
        /// Bytes asked for.
        bytes: u64,
        /// Offset in the module of the call.
        site: u64,
        /// Where it lies.
        from: Origin,
    },
    /// The module gives memory back, which it may not have.
    Gave {
        /// The CPU.
        cpu: u32,
        /// The address.
        address: u64,
        /// Offset in the module of the call.
        site: u64,
    },
    /// A block has another size, at the same address.
    Resized {
        /// The address.
        address: u64,
        /// Bytes asked for.
        bytes: u64,
    },
    /// A block of pages became blocks of one page each.
    Split {
        /// The address.
        address: u64,
    },
    /// The child is done.
    Done,
}
