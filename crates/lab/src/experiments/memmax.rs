//! `memmax`: how large a block do kmalloc, `__get_free_pages` and vmalloc give?

use super::allocators::{ALLOCATOR, allocator};
use super::modules::{self, Host, INTERFACES};
use crate::error::Result;
use crate::experiment::{About, Experiment, Fixture, Observation, Setup};
use crate::plan::Cell;
use crate::request::{Design, Engine, Metric, Nature, Request};

/// The experiment.
pub(crate) struct Memmax;

impl Experiment for Memmax {
    fn about(&self) -> About {
        About {
            name: "memmax",
            question: "How large a block do kmalloc, __get_free_pages and vmalloc give?",
            engines: &[Engine::User],
            metrics: vec![Metric::more("bytes_max", "largest block", "B", Nature::Exact)],
            parameters: &[ALLOCATOR],
        }
    }

    fn design(&self, request: &Request) -> Result<Design> {
        allocator(request)?;
        Ok(Design::without_points(INTERFACES, 1, 0))
    }

    fn prepare(&self, setup: &mut Setup<'_>) -> Result<Box<dyn Fixture>> {
        Ok(Box::new(LargestBlocks { host: Host::build("memmax", setup.request)? }))
    }
}

struct LargestBlocks {
    host: Host,
}

impl Fixture for LargestBlocks {
    fn observe(&mut self, cell: &Cell) -> Result<Observation> {
        // The module counts the interfaces in this order.
        let mode = INTERFACES.iter().position(|name| *name == cell.variant);
        let mode = mode.ok_or_else(|| modules::failed(cell, "there is no such interface"))?;
        let params = [format!("mode={mode}")];
        let facts = self.host.run(cell, &params)?;
        let values = facts.last().map(|fact| modules::numbers(fact, &["bytes_max"]));
        let values = values.filter(|values| !values.is_empty());
        Ok(Observation {
            values: values
                .ok_or_else(|| modules::failed(cell, "the module named no largest block"))?,
            command: self.host.command(&params),
            ..Observation::default()
        })
    }
}
