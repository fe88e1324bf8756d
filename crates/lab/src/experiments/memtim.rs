//! `memtim`: what does a block of each size cost with kmalloc, `__get_free_pages` and vmalloc?
//!
//! A size that an interface cannot provide has no row of values, and no point in the plot.

use super::allocators::{ALLOCATOR, allocator};
use super::modules::{self, Host, INTERFACES};
use crate::error::Result;
use crate::experiment::{About, Experiment, Fixture, Observation, Setup};
use crate::parameter::{Kind, Parameter};
use crate::plan::Cell;
use crate::request::{Design, Engine, Metric, Nature, Request, Scale};

const SIZES: Parameter = Parameter::new("sizes", Kind::Numbers(1, 1 << 40), "bytes of a block")
    .or("8,64,512,4096,16384,65536,262144,1048576,4194304,16777216")
    .in_smoke("64,4096,65536");

/// The experiment.
pub(crate) struct Memtim;

impl Experiment for Memtim {
    fn about(&self) -> About {
        let cycles = |key, name| Metric::less(key, name, "cycles", Nature::Sampled);
        About {
            name: "memtim",
            question: "How many CPU cycles does a block of each size cost with kmalloc, __get_free_pages and vmalloc?",
            engines: &[Engine::User],
            metrics: vec![
                cycles("cycles_median", "cycles per allocation, median"),
                cycles("cycles_p99", "cycles per allocation, p99"),
            ],
            parameters: &[ALLOCATOR, SIZES],
        }
    }

    fn design(&self, request: &Request) -> Result<Design> {
        allocator(request)?;
        let points = SIZES.numbers(request)?.iter().map(u64::to_string).collect();
        let rounds = if request.scale == Scale::Full { 31 } else { 7 };
        Ok(Design::at_points(INTERFACES, ("bytes", points), rounds, 1))
    }

    fn prepare(&self, setup: &mut Setup<'_>) -> Result<Box<dyn Fixture>> {
        Ok(Box::new(BlockTimes { host: Host::build("memtim", setup.request)? }))
    }
}

struct BlockTimes {
    host: Host,
}

impl Fixture for BlockTimes {
    fn observe(&mut self, cell: &Cell) -> Result<Observation> {
        let params = [format!("size={}", cell.point)];
        let facts = self.host.run(cell, &params)?;
        let own = |fact: &&modules::LogLine| fact.get("interface") == Some(&cell.variant);
        let fact = facts
            .iter()
            .find(own)
            .ok_or_else(|| modules::failed(cell, "the module did not try this interface"))?;
        Ok(Observation {
            values: modules::numbers(fact, &["cycles_median", "cycles_p99"]),
            command: self.host.command(&params),
            ..Observation::default()
        })
    }
}
