//! What the experiments with a trace share: the file and the allocators.

use std::path::Path;

use slablab_kmem::BackendKind;

use crate::error::{Error, Result};
use crate::request::Request;

/// Returns the trace that the request names.
///
/// # Errors
///
/// If it names none; the message has an example.
pub(super) fn input<'a>(request: &'a Request, experiment: &str) -> Result<&'a Path> {
    request.input.as_deref().ok_or_else(|| {
        Error::Request(format!(
            "{experiment} in the engine 'user' needs a trace: slablab lab run {experiment} --engine user --input TRACE"
        ))
    })
}

/// Returns the allocator of this name.
///
/// # Errors
///
/// If there is none.
pub(super) fn kind(name: &str) -> Result<BackendKind> {
    BackendKind::ALL.iter().copied().find(|kind| kind.name() == name).ok_or_else(|| {
        let known: Vec<&str> = BackendKind::ALL.iter().map(|kind| kind.name()).collect();
        Error::Request(format!("there is no allocator '{name}'; there are: {}", known.join(", ")))
    })
}
