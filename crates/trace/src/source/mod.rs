//! Where events come from. Every reader gives the same thing, [`RawEvent`](crate::RawEvent)s in time order, through
//! the same trait, and lives in a file of its own.

pub(crate) mod ahead;
pub(crate) mod build_id;
pub(crate) mod bulk;
mod bytes;
pub(crate) mod cgroup;
mod detect;
pub(crate) mod format;
pub(crate) mod kept;
pub(crate) mod kernel_stack;
pub(crate) mod kmem;
pub(crate) mod large;
mod names;
mod open;
mod page_addresses;
pub(crate) mod page_format;
pub(crate) mod page_layout;
pub(crate) mod parquet;
mod perf_data;
mod perfetto;
mod recording;
mod records;
pub(crate) mod repeats;
mod sorter;
pub(crate) mod task;
mod text;
mod trace_dat;
pub(crate) mod tracefs_raw;
mod tracing;
pub(crate) mod tsc;

pub use self::detect::is_text_of_no_recording;
pub use self::names::Names;
pub(crate) use self::open::of_parquet;
pub use self::open::{open_raw, read_raw};
pub(crate) use self::parquet::RowAddresses;
pub(crate) use self::recording::no_kmem_events;
pub use self::recording::{Facts, Format, Source};
