//! Tests that go across crates: what the command prints, what the README promises, how the tree is kept.
