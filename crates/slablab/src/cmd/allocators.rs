//! Values of `--allocator` and `--allocators`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use slablab_kmem::BackendKind;

/// Returns the parser of an allocator's name.
pub(super) fn allocator() -> impl TypedValueParser<Value = BackendKind> {
    let names = BackendKind::ALL.iter().map(|kind| kind.name());
    PossibleValuesParser::new(names).try_map(|name| name.parse::<BackendKind>())
}

/// Returns each allocator once, in the order in which they were first named.
pub(super) fn distinct(kinds: &[BackendKind]) -> Vec<BackendKind> {
    let is_first = |(place, kind): &(usize, &BackendKind)| !kinds[..*place].contains(kind);
    kinds.iter().enumerate().filter(is_first).map(|(_, kind)| *kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allocator_named_twice_is_one_column() {
        let (slub, slab) = (BackendKind::Slub, BackendKind::Slab);
        assert_eq!(distinct(&[slub, slab, slub]), [slub, slab]);
    }
}
