//! Values of `--allocator` and `--allocators`.

use anyhow::{Result, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use slablab_kmem::BackendKind;
use slablab_trace::Meta;

/// Returns the parser of an allocator's name.
pub(super) fn allocator() -> impl TypedValueParser<Value = BackendKind> {
    let names = BackendKind::ALL.iter().map(|kind| kind.name());
    PossibleValuesParser::new(names).try_map(|name| name.parse::<BackendKind>())
}

/// The allocator that a question is about.
#[derive(clap::Args, Debug, Default)]
pub(super) struct AllocatorArgs {
    /// Answer for this allocator [default: the recorded kernel's, or slub; of several traces slub]
    #[arg(long, short_alias = 'a', alias = "allocators", value_name = "NAME", value_parser = allocator(),
          hide_possible_values = true)]
    allocator: Option<BackendKind>,
}

impl AllocatorArgs {
    /// Returns the allocator for a trace.
    pub(super) fn of(&self, meta: &Meta) -> BackendKind {
        let recorded = || BackendKind::of_release(&meta.kernel_release);
        self.allocator.or_else(recorded).unwrap_or(BackendKind::Slub)
    }

    /// Refuses an allocator that was named and has no sheaves for all caches.
    pub(super) fn check_has_sheaves(&self) -> Result<()> {
        let other = self.allocator.filter(|kind| *kind != BackendKind::SlubSheaves);
        other.map_or(Ok(()), |kind| {
            bail!("--sheaves: {} has no sheaves for all caches; leave --allocator out", kind.name())
        })
    }

    /// Returns the allocator for several traces.
    pub(super) fn of_many(&self) -> BackendKind {
        self.allocator.unwrap_or(BackendKind::Slub)
    }
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
