//! Parameters and inputs of experiments that take an allocator or a trace by name.

use std::path::Path;

use slablab_kmem::BackendKind;

use crate::error::{Error, Result};
use crate::parameter::{Kind, Parameter};
use crate::request::{Engine, Request};

/// The parameter that picks the allocator where it is not what is compared.
pub(super) const ALLOCATOR: Parameter =
    Parameter::new("allocator", Kind::Text, "slab, slub, slob or slmb")
        .or("slub")
        .of_engine(Engine::User);

/// The parameter that picks the allocators where they are what is compared.
pub(super) const ALLOCATORS: Parameter =
    Parameter::new("allocators", Kind::Names, "which are compared").or("slab,slub,slob,slmb");

/// Returns the allocator that the request names.
pub(super) fn allocator(request: &Request) -> Result<BackendKind> {
    kind(ALLOCATOR.text(request))
}

/// Returns the allocator of this name.
pub(super) fn kind(name: &str) -> Result<BackendKind> {
    name.parse().map_err(|error: slablab_kmem::Error| Error::Request(error.to_string()))
}

/// Returns the kinds of the allocators that are compared.
///
/// # Errors
///
/// If there is none of a name.
pub(super) fn kinds(request: &Request) -> Result<Vec<String>> {
    let names = ALLOCATORS.list(request);
    names.iter().try_for_each(|name| kind(name).map(|_| ()))?;
    Ok(names)
}

/// Returns the trace that the request names.
pub(super) fn input<'a>(request: &'a Request, experiment: &str) -> Result<&'a Path> {
    request.input.as_deref().ok_or_else(|| {
        Error::Request(format!(
            "{experiment} in the engine 'user' needs a trace: slablab lab run {experiment} --engine user --input TRACE"
        ))
    })
}
