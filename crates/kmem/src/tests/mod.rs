//! Tests across modules: suites that every backend passes, and what users know from Linux.

mod caches;
pub(crate) mod conformance;
mod counted;
mod linux;
mod marathon;
mod misuse;
mod pages;
mod readers;
mod statistics;
mod threads;
