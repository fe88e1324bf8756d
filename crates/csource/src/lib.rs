//! Kernel source read without a compiler: which function allocates which objects, who frees them, and a patch
//! that gives them a cache of their own.
//!
//! # How it works
//! A [`Tree`] is a folder with Linux's source; only files that contain a word are read. A [`CFile`] has the
//! tokens of a file and the functions in it; preprocessor lines are left out, and of `#if ... #else` both sides are read.
//! From declarations of the form `struct T *name` follows what a variable points to. [`Site::find`] finds the allocation of
//! a function, its structure, and every place that allocates or frees one. [`CachePatch`] makes the edits, and a text for
//! `git am` of them.
//!
//! The modules, lower ones first, are `error`, `token`, `diff`; `file`; `calls`; `tree`; `types`, `kbuild`; `site`; `boot`,
//! `uses`; `patch`.
//!
//! # Invariants
//! What cannot be read is an error that says so, with file and line: a patch is never made of a guess. Any text is read
//! without a panic.
//!
//! # Differences from a compiler
//! Macros are not expanded, and scopes within a function are not told apart: a name that is declared with two structures
//! in one function has none. A `typedef` of a pointer is not followed.
#![forbid(unsafe_code)]

mod boot;
mod calls;
mod diff;
mod error;
mod file;
mod kbuild;
mod patch;
mod site;
mod token;
mod tree;
mod types;
mod uses;

pub use calls::{Allocator, Freeing};
pub use diff::{Diff, Edit, unified};
pub use error::{Error, Result};
pub use file::{CFile, Function};
pub use patch::{CachePatch, Letter};
pub use site::{At, Site, Wanted};
pub use tree::Tree;
pub use uses::{Free, Uses};
