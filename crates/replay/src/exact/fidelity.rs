//! A compact trace in a kernel and in its model, side by side.

use serde::{Deserialize, Serialize};

use super::compact::CompactTrace;
use super::model::{CacheMoment, MachineMoment, Replayed};

/// How far the model of an allocator is from a kernel that replayed the same events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Fidelity {
    /// Bytes in slabs, moment by moment
    pub moments: Vec<BytesAt>,
    /// The caches, those that differ most at the end first; none where caches share pages
    pub caches: Vec<CachePair>,
    /// How often each path was taken, if both count it
    pub paths: Vec<PathPair>,
}

/// Bytes in slabs at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BytesAt {
    /// Events replayed
    pub event: u64,
    /// Time since the first event, in the recorded machine
    pub time_ns: u64,
    /// In the kernel
    pub kernel_bytes: u64,
    /// In the model
    pub model_bytes: u64,
}

/// A cache in the kernel and in the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CachePair {
    /// Its name in the trace
    pub cache: String,
    /// Slabs at the end, in the kernel
    pub kernel_slabs: u64,
    /// Slabs at the end, in the model
    pub model_slabs: u64,
    /// Bytes of these, in the kernel
    pub kernel_bytes: u64,
    /// Bytes of these, in the model
    pub model_bytes: u64,
    /// The most by which the slabs of the two differ at any moment
    pub off_slabs_max: u64,
}

/// A path in the kernel and in the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PathPair {
    /// The kernel's name of it
    pub path: String,
    /// How often the kernel took it
    pub kernel: u64,
    /// How often the model took it
    pub model: u64,
}

impl PathPair {
    /// Returns how far the model is off, as a share of the kernel's count.
    #[must_use]
    pub fn off_share(&self) -> f64 {
        self.kernel.abs_diff(self.model) as f64 / self.kernel.max(1) as f64
    }
}

impl CachePair {
    /// Returns by how many slabs the two differ at the end.
    #[must_use]
    pub fn off_slabs(&self) -> u64 {
        self.kernel_slabs.abs_diff(self.model_slabs)
    }

    /// Returns that as a share of the kernel's slabs.
    #[must_use]
    pub fn off_share(&self) -> f64 {
        self.off_slabs() as f64 / self.kernel_slabs.max(1) as f64
    }
}

impl Fidelity {
    /// Puts the kernel and its model side by side at `moments`. A kernel that does not tell caches apart has none in any
    /// moment; then all bytes held count.
    #[must_use]
    pub fn new(
        trace: &CompactTrace,
        moments: &[usize],
        kernel: &Replayed,
        model: &Replayed,
    ) -> Self {
        // A kernel leaves out counts of 0; the model has its own names beside the kernel's.
        let paths = kernel.paths.iter().filter_map(|(path, &kernel)| {
            Some(PathPair { path: path.clone(), kernel, model: *model.paths.get(path)? })
        });
        let paths = paths.collect();
        let (kernel, model) = (&kernel.moments, &model.moments);
        let by_cache = kernel.iter().any(|moment| !moment.caches.is_empty());
        let bytes = |machine: &MachineMoment| {
            if by_cache { machine.slab_bytes() } else { machine.held_bytes }
        };
        let pairs = moments.iter().zip(kernel.iter().zip(model));
        let moments = pairs.map(|(&moment, (kernel, model))| BytesAt {
            event: moment as u64,
            time_ns: trace.time_ns(moment),
            kernel_bytes: bytes(kernel),
            model_bytes: bytes(model),
        });
        let moments = moments.collect();
        let mut caches = Vec::new();
        for (i, cache) in trace.caches.iter().enumerate().filter(|_| by_cache) {
            let at = |machine: &MachineMoment| machine.caches.get(i).copied().unwrap_or_default();
            let end = |machines: &[MachineMoment]| machines.last().map(at).unwrap_or_default();
            let (of_kernel, of_model): (CacheMoment, CacheMoment) = (end(kernel), end(model));
            let off = |(kernel, model)| at(kernel).slabs.abs_diff(at(model).slabs);
            caches.push(CachePair {
                cache: cache.name.clone(),
                kernel_slabs: of_kernel.slabs,
                model_slabs: of_model.slabs,
                kernel_bytes: of_kernel.bytes,
                model_bytes: of_model.bytes,
                off_slabs_max: kernel.iter().zip(model).map(off).max().unwrap_or(0),
            });
        }
        caches.retain(|pair| pair.kernel_slabs + pair.model_slabs + pair.off_slabs_max > 0);
        let off = |pair: &CachePair| pair.kernel_bytes.abs_diff(pair.model_bytes);
        caches.sort_by(|a, b| off(b).cmp(&off(a)).then(a.cache.cmp(&b.cache)));
        Self { moments, caches, paths }
    }

    /// Returns the median and the largest error of the model at the moments, as shares of the kernel's bytes.
    #[must_use]
    pub fn off_shares(&self) -> (f64, f64) {
        let off = |at: &BytesAt| {
            let off = at.kernel_bytes.abs_diff(at.model_bytes) as f64;
            if off == 0.0 { 0.0 } else { off / at.kernel_bytes as f64 }
        };
        let mut shares: Vec<_> = self.moments.iter().map(off).collect();
        shares.sort_by(f64::total_cmp);
        let at = |i: usize| shares.get(i).copied().unwrap_or(0.0);
        (at(shares.len() / 2), at(shares.len().saturating_sub(1)))
    }

    /// Returns the share of caches whose slabs at the end differ between model and kernel by at most `off`.
    #[must_use]
    pub fn caches_within(&self, off: u64) -> f64 {
        let within = self.caches.iter().filter(|pair| pair.off_slabs() <= off).count();
        if self.caches.is_empty() { 1.0 } else { within as f64 / self.caches.len() as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::compact::CompactCache;

    fn moment(slabs: &[u64], held_bytes: u64) -> MachineMoment {
        let caches = slabs.iter().map(|&slabs| CacheMoment { slabs, bytes: slabs * 4096 });
        MachineMoment { caches: caches.collect(), held_bytes }
    }

    fn replayed<const N: usize>(moments: [MachineMoment; N]) -> Replayed {
        Replayed { moments: moments.into(), ..Replayed::default() }
    }

    #[test]
    fn a_path_is_compared_if_both_count_it() {
        let count = |paths: &[(&str, u64)]| Replayed {
            paths: paths.iter().map(|(path, count)| ((*path).to_owned(), *count)).collect(),
            ..Replayed::default()
        };
        let kernel = count(&[("alloc_slab", 100), ("only_here", 1)]);
        let model = count(&[("alloc_slab", 98), ("free_slab", 7)]);
        let fidelity = Fidelity::new(&trace(), &[], &kernel, &model);
        assert_eq!((fidelity.paths.len(), fidelity.paths[0].off_share()), (1, 0.02));
        assert!(Fidelity::new(&trace(), &[], &Replayed::default(), &model).paths.is_empty());
    }

    fn trace() -> CompactTrace {
        let caches = vec![CompactCache::kmalloc(8), CompactCache::kmalloc(9)];
        CompactTrace { cpus: 1, objects: 0, caches, events: Vec::new() }
    }

    #[test]
    fn caches_that_differ_most_come_first() {
        let kernel = replayed([moment(&[4, 10], 0), moment(&[2, 8], 0)]);
        let model = replayed([moment(&[4, 9], 0), moment(&[2, 6], 0)]);
        let fidelity = Fidelity::new(&trace(), &[1, 2], &kernel, &model);
        assert_eq!(fidelity.caches[0].cache, "kmalloc-16");
        assert_eq!((fidelity.caches[0].off_slabs(), fidelity.caches[0].off_slabs_max), (2, 2));
        assert_eq!((fidelity.caches_within(0), fidelity.caches_within(2)), (0.5, 1.0));
        assert_eq!(fidelity.off_shares(), (0.2, 0.2));
    }

    #[test]
    fn where_caches_share_pages_all_that_is_held_counts() {
        let (kernel, model) = (replayed([moment(&[], 8192)]), replayed([moment(&[1, 0], 4096)]));
        let fidelity = Fidelity::new(&trace(), &[1], &kernel, &model);
        assert_eq!((fidelity.caches.len(), fidelity.off_shares()), (0, (0.5, 0.5)));
    }
}
