//! Values of `--allocator` and `--allocators`: the names, with what each is.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use slablab_kmem::BackendKind;

/// Returns the parser of an allocator's name.
pub(super) fn allocator() -> impl TypedValueParser<Value = BackendKind> {
    let names = BackendKind::ALL.iter();
    let names = names.map(|kind| PossibleValue::new(kind.name()).help(kind.about()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<BackendKind>())
}
