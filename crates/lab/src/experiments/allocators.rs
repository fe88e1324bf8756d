//! What the experiments share that take an allocator or a trace by name.

use std::path::Path;

use slablab_kmem::BackendKind;

use crate::error::{Error, Result};
use crate::request::Request;

/// The parameter that picks the allocator where it is not what is compared.
pub(super) const ALLOCATOR: (&str, &str) =
    ("allocator", "slab, slub, slob or slmb; slub by default");

/// Returns the allocator that the request asks for.
pub(super) fn allocator(request: &Request) -> Result<BackendKind> {
    kind(request.param(ALLOCATOR.0, "slub"))
}

/// Returns the allocator of this name.
pub(super) fn kind(name: &str) -> Result<BackendKind> {
    name.parse().map_err(|error: slablab_kmem::Error| Error::Request(error.to_string()))
}

/// Returns the names of the allocators that are compared unless others are asked for.
pub(super) fn usual_names() -> Vec<&'static str> {
    BackendKind::USUAL.iter().map(|kind| kind.name()).collect()
}

/// Returns the trace that the request names.
pub(super) fn input<'a>(request: &'a Request, experiment: &str) -> Result<&'a Path> {
    request.input.as_deref().ok_or_else(|| {
        Error::Request(format!(
            "{experiment} in the engine 'user' needs a trace: slablab lab run {experiment} --engine user --input TRACE"
        ))
    })
}
