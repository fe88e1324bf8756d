//! BPF without a compiler: programs are assembled from text when they are loaded.
//!
//! # How it works
//! [`Assembly`] reads the text of programs in the notation of the kernel's verifier and makes instructions of one, with names
//! for what only the running kernel knows: offsets of fields and positions of arguments, which [`Btf`] reads from
//! `/sys/kernel/btf`. [`Map`]s hold what programs and we share, and [`Program`]s are loaded and attached.
//!
//! # Invariants
//! Everything is a file descriptor, pinned nowhere: when the process ends, whatever ended it, the kernel detaches the programs
//! and frees the maps. Bad text is an error with its line, and a program that the verifier refuses one with its log.
//!
//! Linux counterpart: `Documentation/bpf/` and `include/uapi/linux/bpf.h` @ 6.18.
//!
//! Modules, lower ones first: `error`, `types`; `raw`; `map`, `ring`, `btf`; `asm`; `program`.

mod asm;
mod btf;
mod error;
mod map;
mod program;
#[allow(unsafe_code, reason = "the unsafe floor, see its header")]
mod raw;
mod ring;
pub mod types;

pub use asm::{Assembly, Names};
pub use btf::{Btf, TracepointArguments};
pub use error::Error;
pub use map::{Entries, Map, Shared};
pub use program::{Attached, Kind, Program};
pub use ring::Ring;
