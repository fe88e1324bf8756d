//! The services that slablab takes from the operating system, each in one place for the whole tool.

mod address_space;
mod cache;
mod child;
mod embedded;
mod kernel_files;
mod key;
mod memory_limit;
mod pattern;
mod pressed;
mod printable;
mod program;
#[allow(unsafe_code, reason = "the unsafe floor, see its header")]
mod raw;
mod screen;
pub mod shell;
mod signals;
mod temporary_folder;
mod terminal;
mod whole_file;
mod workplace;

pub use address_space::address_space_bytes;
pub use cache::{CacheError, cache_folder, private_folder};
pub use child::{Child, POLL_INTERVAL, bound, bound_family};
pub use embedded::{is_unpacked, remove_unpacked, unpacked, unpacked_in};
pub use kernel_files::is_made_by_the_kernel;
pub use key::{Key, KeyHasher};
pub use memory_limit::{end_watch, memory_available_bytes, memory_room_bytes, watch_memory};
pub use pattern::Pattern;
pub use pressed::Pressed;
pub use printable::{is_obeyed, printable};
pub use program::find_program;
pub use raw::{Counted, EventCounter, run_as_others, run_when_idle, standard_output_was_closed};
pub use screen::{Control, Screen, terminal_size};
pub use signals::{Interrupt, Signals, survive_file_size_limit};
pub use temporary_folder::TemporaryFolder;
pub use terminal::Terminal;
pub use whole_file::{Access, WholeFile, folder_of, write_whole};
pub use workplace::{Workplace, remove_abandoned};
