//! `memmax`: how large a block do kmalloc, `__get_free_pages` and vmalloc give?

use super::modules::{self, Host};
use crate::{
    Bench, Cell, Design, Engine, Error, Experiment, Metric, Nature, Observation, Request, Result,
    Setup,
};

/// The interfaces, in the order of the module's parameter `mode`.
const INTERFACES: [&str; 3] = ["kmalloc", "__get_free_pages", "vmalloc"];

/// The experiment.
pub(crate) struct Memmax;

impl Experiment for Memmax {
    fn name(&self) -> &'static str {
        "memmax"
    }

    fn question(&self) -> &'static str {
        "How large a block do kmalloc, __get_free_pages and vmalloc give?"
    }

    fn engines(&self) -> &'static [Engine] {
        &[Engine::User]
    }

    fn metrics(&self) -> Vec<Metric> {
        vec![Metric::more("bytes_max", "largest block", "B", Nature::Exact)]
    }

    fn parameters(&self) -> &'static [(&'static str, &'static str)] {
        &[modules::ALLOCATOR]
    }

    fn design(&self, request: &Request) -> Result<Design> {
        modules::allocator(request)?;
        let variants = INTERFACES.map(str::to_owned).to_vec();
        Ok(Design {
            variants,
            point_name: String::new(),
            points: vec![String::new()],
            rounds: 1,
            warmups: 0,
        })
    }

    fn prepare(&self, setup: &mut Setup<'_>) -> Result<Box<dyn Bench>> {
        Ok(Box::new(Bed {
            host: Host::build("memmax")?,
            allocator: modules::allocator(setup.request)?,
        }))
    }
}

struct Bed {
    host: Host,
    allocator: String,
}

impl Bench for Bed {
    fn observe(&mut self, cell: &Cell) -> Result<Observation> {
        let mode = INTERFACES.iter().position(|name| *name == cell.variant);
        let mode = mode
            .ok_or_else(|| Error::Request(format!("there is no interface '{}'", cell.variant)))?;
        let facts = self.host.run(cell, &self.allocator, &[format!("mode={mode}")])?;
        let last = facts.last().cloned().unwrap_or_default();
        let values = modules::numbers(&last, &["bytes_max"]);
        if values.is_empty() {
            return Err(Error::Cell {
                cell: cell.words(),
                reason: "the module named no largest block".to_owned(),
            });
        }
        let command = format!(
            "slablab insmod kernel/modules/memmax mode={mode} --allocator {} --memory 1G",
            self.allocator
        );
        Ok(Observation { values, command, ..Observation::default() })
    }
}
