//! Tests across modules: one conformance suite that every backend passes.

mod conformance;
