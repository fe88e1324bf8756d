//! `lifo`: does an allocator give back the object that was freed last?

use super::allocators::{ALLOCATORS, kinds};
use super::modules::{self, Host};
use crate::error::Result;
use crate::experiment::{About, Experiment, Fixture, Observation, Setup};
use crate::parameter::{Kind, Parameter};
use crate::plan::Cell;
use crate::request::{Design, Engine, Metric, Nature, Request};

const SIZES: Parameter =
    Parameter::new("sizes", Kind::Numbers(1, 4096), "bytes of an object").or("32,64,200,1024");

/// The experiment.
pub(crate) struct Lifo;

impl Experiment for Lifo {
    fn about(&self) -> About {
        About {
            name: "lifo",
            question: "In which order does each allocator reuse objects: the last freed first?",
            engines: &[Engine::User],
            metrics: vec![
                Metric::more(
                    "in_lifo_order",
                    "last freed, first reused (1: yes, 0: no)",
                    "",
                    Nature::Exact,
                ),
                Metric::more("reused", "freed objects that were reused", "", Nature::Exact),
            ],
            parameters: &[ALLOCATORS, SIZES],
        }
    }

    fn design(&self, request: &Request) -> Result<Design> {
        let points = SIZES.numbers(request)?.iter().map(u64::to_string).collect();
        Ok(Design::at_points(kinds(request)?, ("bytes", points), 1, 0))
    }

    fn prepare(&self, setup: &mut Setup<'_>) -> Result<Box<dyn Fixture>> {
        Ok(Box::new(ReuseOrder { host: Host::build("lifo", setup.request)? }))
    }
}

struct ReuseOrder {
    host: Host,
}

impl Fixture for ReuseOrder {
    fn observe(&mut self, cell: &Cell) -> Result<Observation> {
        let params = [format!("size={}", cell.point)];
        let host = self.host.under(&cell.variant);
        let facts = host.run(cell, &params)?;
        let summary = facts
            .iter()
            .rfind(|fact| fact.contains_key("order"))
            .ok_or_else(|| modules::failed(cell, "the module did not say the order"))?;
        let mut values = modules::numbers(summary, &["reused"]);
        values.insert("in_lifo_order".to_owned(), f64::from(u8::from(summary["order"] == "lifo")));
        Ok(Observation {
            values,
            detail: serde_json::json!({ "order": summary["order"] }),
            command: host.command(&params),
            ..Observation::default()
        })
    }
}
