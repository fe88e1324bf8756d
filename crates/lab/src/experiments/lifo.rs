//! `lifo`: does an allocator give back the object that was freed last?

use super::modules::{self, Host};
use crate::error::{Error, Result};
use crate::experiment::{Experiment, Fixture, Observation, Setup};
use crate::plan::Cell;
use crate::request::{Design, Engine, Metric, Nature, Request};

/// The experiment.
pub(crate) struct Lifo;

impl Experiment for Lifo {
    fn name(&self) -> &'static str {
        "lifo"
    }

    fn question(&self) -> &'static str {
        "In which order does each allocator reuse objects: the last freed first?"
    }

    fn engines(&self) -> &'static [Engine] {
        &[Engine::User]
    }

    fn metrics(&self) -> Vec<Metric> {
        vec![
            Metric::more(
                "in_lifo_order",
                "last freed, first reused (1: yes, 0: no)",
                "",
                Nature::Exact,
            ),
            Metric::more("reused", "freed objects that were reused", "", Nature::Exact),
        ]
    }

    fn parameters(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("allocators", "which ones, by comma; all by default"),
            ("sizes", "bytes of an object, by comma; 32,64,200,1024 by default"),
        ]
    }

    fn design(&self, request: &Request) -> Result<Design> {
        let variants = request.list("allocators", &modules::usual_names());
        if let Some(wrong) = variants.iter().find(|name| !modules::names().contains(&name.as_str()))
        {
            return Err(Error::Request(format!(
                "there is no allocator '{wrong}'; there are: {}",
                modules::names().join(", ")
            )));
        }
        let points = request.list("sizes", &["32", "64", "200", "1024"]);
        if let Some(wrong) =
            points.iter().find(|size| !size.parse::<u32>().is_ok_and(|n| (1..=4096).contains(&n)))
        {
            return Err(Error::Request(format!(
                "sizes={wrong}: numbers from 1 to 4096 are needed"
            )));
        }
        Ok(Design {
            variants,
            point_name: "bytes".to_owned(),
            points,
            rounds: 1,
            warmups: 0,
            points_per_cell: 1,
        })
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
        let facts = self.host.run_under(cell, &cell.variant, &params)?;
        let summary = facts
            .iter()
            .rfind(|fact| fact.contains_key("order"))
            .ok_or_else(|| modules::failed(cell, "the module did not say the order"))?;
        let mut values = modules::numbers(summary, &["reused"]);
        values.insert("in_lifo_order".to_owned(), f64::from(u8::from(summary["order"] == "lifo")));
        Ok(Observation {
            values,
            detail: serde_json::json!({ "order": summary["order"] }),
            command: self.host.command_under(&cell.variant, &params),
            ..Observation::default()
        })
    }
}
