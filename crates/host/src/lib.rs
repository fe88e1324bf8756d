//! What slablab takes from the operating system, each thing once for the whole tool.
//!
//! | module | what it is |
//! |---|---|
//! | [`WholeFile`] | a file that is either complete or not there |
//! | [`cache_folder`] | the user's private cache folder |
//! | [`KeyHasher`], [`Key`] | the name of something cached: a hash of all that went into it |
//! | [`Interrupt`], [`Signals`] | SIGINT, SIGTERM and SIGHUP, as a flag or as an event |
//! | [`Child`] | a child process that ends when this process ends |
//! | [`unpacked`] | files that are embedded in the program, as files on disk |

mod cache;
mod child;
mod embedded;
mod key;
mod signals;
mod whole_file;

pub use cache::{CacheError, cache_folder, private_folder};
pub use child::{Child, POLL_INTERVAL, bound, bound_family};
pub use embedded::{remove_unpacked, unpacked};
pub use key::{Key, KeyHasher};
pub use signals::{Interrupt, Signals};
pub use whole_file::{Access, WholeFile, folder_of, write_whole};
