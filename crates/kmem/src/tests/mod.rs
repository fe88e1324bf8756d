//! Tests across modules: one conformance suite that every backend passes.

pub(crate) mod conformance;
