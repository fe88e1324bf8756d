//! The settings that the recorded kernel has.

use slablab_kmem::BackendKind;
use slablab_linux::Release;
use slablab_trace::Meta;

use crate::advice::tune::setting::{CacheSetting, Configured, Merge, Setting};
use crate::change::merging::KernelMerging;
use crate::engine::caches::lacks_cpu_partial;
use crate::error::Error;

/// The settings to try: those made at boot or in the configuration, and those of caches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Space {
    /// Settings of the machine, those of caches left as recorded; the recorded one first
    pub(crate) boots: Vec<Setting>,
    /// Settings of a cache, for the settings of the machine that let caches be set; the recorded one first
    pub(crate) pairs: Vec<CacheSetting>,
    /// Settings of the machine that are tried with every setting of caches, beside the recorded one
    pub(crate) boots_kept: usize,
}

/// Settings of the machine that are kept of a kernel's own.
pub(super) const BOOTS_KEPT: usize = 2;
/// What is tried of sheaves: their capacities in percent of Linux's, and the sheaves that a barn takes.
const SHEAF_PERCENTS: [u32; 6] = [0, 25, 50, 75, 200, 400];
const BARNS: [u32; 4] = [0, 2, 5, 20];

impl Space {
    /// Lists the settings of a kernel with this allocator.
    pub(crate) fn of(meta: &Meta, kind: BackendKind) -> Result<Self, Error> {
        use BackendKind::{Slub, SlubHybrid, SlubSheaves, SlubTiny};
        let orders: &[(Option<u8>, Option<u32>)] = match kind {
            Slub | SlubHybrid => &[
                (None, None),
                (None, Some(1)),
                (None, Some(4)),
                (Some(2), None),
                (Some(1), None),
                (Some(1), Some(1)),
                (Some(0), None),
            ],
            // Linux 7.3 no longer has `slab_min_objects`.
            SlubSheaves => &[(None, None), (Some(2), None), (Some(1), None), (Some(0), None)],
            SlubTiny => &[(None, None), (Some(0), None)],
            _ => return Err(Error::NoSettings { allocator: kind.name().to_owned() }),
        };
        let merging: &[Merge] = match KernelMerging::of(meta) {
            KernelMerging::Off => &[Merge::Recorded, Merge::On],
            _ => &[Merge::Recorded],
        };
        let boot = |merging: Merge| {
            let setting = Setting { merging, ..Setting::default() };
            orders.iter().map(move |&(order_max, min_objects)| Setting {
                order_max,
                min_objects,
                ..setting.clone()
            })
        };
        let mut boots: Vec<Setting> = merging.iter().flat_map(|merging| boot(*merging)).collect();
        let has_tiny = Release::of(&meta.kernel_release).is_none_or(Release::has_slub_tiny);
        if kind != SlubTiny && has_tiny {
            let tiny = Setting { configured: Configured::SlubTiny, ..Setting::default() };
            boots.extend([tiny.clone(), Setting { order_max: Some(0), ..tiny }]);
        }
        let pair = |cpu_partial, min_partial| CacheSetting {
            cpu_partial,
            min_partial,
            ..CacheSetting::default()
        };
        let pairs = match kind {
            Slub | SlubHybrid if !lacks_cpu_partial(meta) => [None, Some(0), Some(8), Some(480)]
                .into_iter()
                .flat_map(|cpu| [pair(cpu, None), pair(cpu, Some(0))])
                .collect(),
            Slub | SlubHybrid | SlubSheaves => {
                [None, Some(0), Some(2), Some(20)].map(|min| pair(None, min)).into()
            }
            // It has no files under /sys/kernel/slab.
            _ => vec![CacheSetting::default()],
        };
        Ok(Self { boots, pairs, boots_kept: BOOTS_KEPT })
    }

    /// Lists capacities of sheaves and limits of barns, all with all: constants of the kernel's source.
    pub(crate) fn of_sheaves() -> Self {
        let barns = BARNS.map(|barn| Setting { barn_sheaves: Some(barn), ..Setting::default() });
        let percents = SHEAF_PERCENTS.map(|percent| CacheSetting {
            sheaf_percent: Some(percent),
            ..CacheSetting::default()
        });
        Self {
            boots: std::iter::once(Setting::default()).chain(barns).collect(),
            pairs: std::iter::once(CacheSetting::default()).chain(percents).collect(),
            boots_kept: BARNS.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(release: &str, kind: BackendKind) -> Space {
        let meta = Meta { kernel_release: release.to_owned(), ..Meta::default() };
        Space::of(&meta, kind).unwrap()
    }

    #[test]
    fn a_kernel_is_asked_for_what_it_has() {
        let old = space("6.1.0", BackendKind::Slub);
        assert!(old.boots[0].is_recorded() && old.pairs[0] == CacheSetting::default());
        assert!(old.boots.iter().all(|boot| boot.configured == Configured::Recorded));
        let new = space("7.3.4", BackendKind::SlubSheaves);
        assert!(new.boots.iter().any(|boot| boot.configured == Configured::SlubTiny));
        assert!(new.boots.iter().all(|boot| boot.min_objects.is_none()));
        assert!(new.pairs.iter().all(|pair| pair.cpu_partial.is_none()));
        let none = Space::of(&Meta::default(), BackendKind::Slab).unwrap_err();
        assert!(none.to_string().contains("slab"), "{none}");
    }
}
