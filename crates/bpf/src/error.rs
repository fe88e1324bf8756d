//! What can go wrong between a program's text and its run in the kernel.

use std::io;

/// A program, a map or a type that is not to be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text of a program is wrong.
    #[error("line {line} of the BPF programs: {what}: {text}")]
    Text {
        /// Line, from 1
        line: usize,
        /// What is wrong with it
        what: String,
        /// The line
        text: String,
    },
    /// The kernel refuses a program.
    #[error("the kernel refuses the BPF program for {name} ({source}); its verifier says: {log}")]
    Verifier {
        /// What the program is attached to
        name: String,
        /// The last lines of the verifier's log
        log: String,
        /// The system's error
        source: io::Error,
    },
    /// The kernel refuses to attach a program.
    #[error("the BPF program for {name} cannot be attached: {source}")]
    Attach {
        /// What it is for
        name: String,
        /// The system's error
        source: io::Error,
    },
    /// The kernel refuses a map, or an operation on it.
    #[error("the BPF map {name}: {source}")]
    Map {
        /// The map
        name: &'static str,
        /// The system's error
        source: io::Error,
    },
    /// The kernel's types cannot be read.
    #[error("{path}: cannot read the kernel's types: {what}")]
    Types {
        /// The file
        path: String,
        /// What is wrong with it
        what: String,
    },
    /// A type or a field is not in this kernel.
    #[error("this kernel's types have no {0}")]
    Missing(String),
}
