//! The array itself, in safe code on top of [`crate::raw`].

pub(crate) mod array;
pub(crate) mod build;
pub(crate) mod cursor;
#[cfg(feature = "capi")]
mod cursor_c;
pub(crate) mod entries;
pub(crate) mod erase;
pub(crate) mod face;
pub(crate) mod find;
pub(crate) mod id;
pub(crate) mod insert;
pub(crate) mod mark;
pub(crate) mod range;
pub(crate) mod walk;
