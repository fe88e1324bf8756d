//! `audit-cache`: fork and clone allocate an audit context with kmalloc: would a kmem_cache of its own be faster?

use slablab_klab::{Size, audit_cache};

use super::kernel;
use crate::{Bench, Design, Engine, Experiment, Metric, Request, Result, Scale};

/// The experiment.
pub(crate) struct AuditCache;

impl Experiment for AuditCache {
    fn name(&self) -> &'static str {
        "audit-cache"
    }

    fn question(&self) -> &'static str {
        "fork and clone allocate an audit context with kmalloc: would a kmem_cache of its own be faster?"
    }

    fn engines(&self) -> &'static [Engine] {
        &[Engine::Kernel]
    }

    fn metrics(&self) -> Vec<Metric> {
        let names = [("seconds", "time to fork"), ("slab_kb", "memory in slabs after the run")];
        kernel::metrics(&audit_cache("slub", Size::Smoke), &names)
    }

    fn parameters(&self) -> &'static [(&'static str, &'static str)] {
        &[("allocator", "in whose kernel; slub by default"), kernel::CPUS]
    }

    fn design(&self, request: &Request) -> Result<Design> {
        kernel::cpus(request)?;
        let experiment = audit_cache("slub", Size::Smoke);
        let rounds = if request.scale == Scale::Full { 31 } else { 2 };
        let variants = experiment.variants.into_iter().map(|variant| variant.name).collect();
        Ok(Design {
            variants,
            point_name: String::new(),
            points: vec![String::new()],
            rounds,
            warmups: 0,
        })
    }

    fn prepare(&self, request: &Request, _design: &Design) -> Result<Box<dyn Bench>> {
        let allocator = request.params.get("allocator").map_or("slub", String::as_str);
        kernel::prepare(audit_cache(allocator, kernel::size(request)), request, "")
    }
}
