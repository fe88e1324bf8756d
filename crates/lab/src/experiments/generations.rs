//! `generations`: what did the generations of SLUB do to slab memory?
//!
//! Stock kernels of Debian's, or any others, boot with the same memory, and pass messages: four groups of hackbench. Classic
//! SLUB (to 6.17) parks objects on the slabs of each CPU, sheaves (7.0 on) in arrays of their own. Times of an emulated
//! guest compare; with `accel=icount` they are instructions, and repeat.

use crate::error::Result;
use crate::experiment::{About, Experiment, Fixture, Setup};
use crate::experiments::slabs;
use crate::guest;
use crate::request::{Design, Engine, Request};

/// One release of each generation.
const KERNELS: [&str; 3] = ["debian:6.12", "debian:6.18", "debian:7.3"];

/// 160 tasks, 80 senders with 20 receivers each and 100 messages to each of them.
const LOAD: &str = "slabs_around hackbench -g 4 -l 100 -s 100\n";

/// The experiment.
pub(crate) struct Generations;

impl Experiment for Generations {
    fn about(&self) -> About {
        About {
            name: "generations",
            question: "What did the generations of SLUB do to slab memory, by kernel and CPU count?",
            engines: &[Engine::Kernel],
            metrics: slabs::metrics(),
            parameters: &[slabs::KERNELS, slabs::MEMORY, guest::CPUS],
        }
    }

    fn design(&self, request: &Request) -> Result<Design> {
        slabs::design(request, &recipe(request)?.0, 5)
    }

    fn prepare(&self, setup: &mut Setup<'_>) -> Result<Box<dyn Fixture>> {
        let (recipe, options) = recipe(setup.request)?;
        guest::prepare(recipe, &options, setup)
    }
}

fn recipe(request: &Request) -> Result<(guest::Recipe, guest::Options)> {
    let kernels = request.list("kernels", &KERNELS);
    slabs::recipe(request, &kernels, &[], LOAD.into(), vec!["hackbench".to_owned()])
}
