//! Tests across modules: suites that every backend passes, and what users know from Linux.

pub(crate) mod conformance;
mod linux;
mod misuse;
mod threads;
