//! The statistics behind a verdict: pure mathematics, no input, no output.
