//! `hackbench`: how do the allocators compare on message passing, by group count? In real kernels.

use slablab_klab::hackbench;

use super::kernel;
use crate::{Bench, Design, Engine, Error, Experiment, Metric, Request, Result, Scale};

/// The allocators that have a kernel.
const ALLOCATORS: [&str; 4] = ["slab", "slub", "slob", "slmb"];

/// The experiment.
pub(crate) struct Hackbench;

impl Experiment for Hackbench {
    fn name(&self) -> &'static str {
        "hackbench"
    }

    fn question(&self) -> &'static str {
        "How do SLAB, SLUB, SLOB and SLMB compare on message passing, by the number of groups?"
    }

    fn engines(&self) -> &'static [Engine] {
        &[Engine::Kernel]
    }

    fn metrics(&self) -> Vec<Metric> {
        let any = hackbench(&["slub".to_owned()], &[1], slablab_klab::Size::Smoke);
        kernel::metrics(
            &any,
            &[("seconds", "time per run"), ("slab_kb", "memory in slabs after the run")],
        )
    }

    fn parameters(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("allocators", "which ones, by comma; all by default"),
            ("groups", "groups of 40 processes, by comma; 1,10 by default"),
            kernel::CPUS,
        ]
    }

    fn design(&self, request: &Request) -> Result<Design> {
        kernel::cpus(request)?;
        groups(request)?;
        let variants = request.list("allocators", &ALLOCATORS);
        if let Some(wrong) = variants.iter().find(|name| !ALLOCATORS.contains(&name.as_str())) {
            return Err(Error::Request(format!(
                "there is no allocator '{wrong}'; there are: {}",
                ALLOCATORS.join(", ")
            )));
        }
        let rounds = if request.scale == Scale::Full { 31 } else { 2 };
        // One boot goes through all group counts.
        Ok(Design {
            variants,
            point_name: "groups".to_owned(),
            points: vec![String::new()],
            rounds,
            warmups: 0,
        })
    }

    fn prepare(&self, request: &Request, design: &Design) -> Result<Box<dyn Bench>> {
        let experiment = hackbench(&design.variants, &groups(request)?, kernel::size(request));
        kernel::prepare(experiment, request, "groups")
    }
}

fn groups(request: &Request) -> Result<Vec<u32>> {
    let number = |text: String| match text.parse() {
        Ok(groups) if (1..=1000).contains(&groups) => Ok(groups),
        _ => Err(Error::Request(format!("groups={text}: numbers from 1 to 1000 are needed"))),
    };
    request.list("groups", &["1", "10"]).into_iter().map(number).collect()
}
