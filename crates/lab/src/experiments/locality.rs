//! `locality`: why does a 40-byte kmalloc object scatter while a 32-byte one, or one from its own cache, stays dense?
//!
//! kmalloc puts both into shared caches, 40 bytes into that for 64, where holes that other objects left are filled
//! first; a cache of its own begins with empty slabs. The module first fills and half frees the shared cache.

use slablab_report::{AddressPanel, Addresses, Plot, Section};

use super::allocators::{ALLOCATOR, allocator};
use super::modules::{self, Host, LogLine};
use crate::error::Result;
use crate::experiment::{About, Experiment, Fixture, Observation, Setup};
use crate::outcome::Outcome;
use crate::parameter::{Kind, Parameter};
use crate::plan::Cell;
use crate::request::{Design, Engine, Metric, Nature, Request, Scale};

/// The sources: their names in the rows, and the module's names for them.
const SOURCES: [(&str, &str, &str); 4] = [
    ("kmalloc 40", "kmalloc", "40"),
    ("kmalloc 32", "kmalloc", "32"),
    ("own cache 40", "cache", "40"),
    ("own cache 32", "cache", "32"),
];
/// Objects of each kind.
const OBJECTS: u32 = 200;

const CHURN: Parameter = Parameter::new(
    "churn",
    Kind::Number(0, 10_000_000),
    "objects to allocate before, half of them freed",
)
.or("2000");

/// The experiment.
pub(crate) struct Locality;

impl Experiment for Locality {
    fn about(&self) -> About {
        let exact = |key, name| Metric::less(key, name, "", Nature::Exact);
        About {
            name: "locality",
            question: "Why does a 40-byte kmalloc object scatter while a 32-byte one, or one from its own cache, stays dense?",
            engines: &[Engine::User],
            metrics: vec![
                Metric::less(
                    "walk_ns_per_node",
                    "time per node of a list walk",
                    "ns",
                    Nature::Sampled,
                ),
                exact("lines", "cache lines touched"),
                exact("pages", "pages touched"),
                Metric::more("near", "objects right behind the one before", "", Nature::Exact),
                Metric::less("span", "from the first object to the last", "B", Nature::Exact),
            ],
            parameters: &[ALLOCATOR, CHURN],
        }
    }

    fn design(&self, request: &Request) -> Result<Design> {
        allocator(request)?;
        CHURN.number(request)?;
        let rounds = if request.scale == Scale::Full { 31 } else { 7 };
        Ok(Design::without_points(SOURCES.map(|(name, _, _)| name), rounds, 1))
    }

    fn prepare(&self, setup: &mut Setup<'_>) -> Result<Box<dyn Fixture>> {
        Ok(Box::new(ListWalk {
            host: Host::build("locality", setup.request)?,
            churn: CHURN.number(setup.request)?,
        }))
    }

    fn sections(&self, outcome: &Outcome) -> Vec<Section> {
        let panel = |variant: &String| {
            let row = outcome.rows.iter().find(|row| row.variant == *variant)?;
            let addresses =
                row.detail["offsets"].as_array()?.iter().filter_map(serde_json::Value::as_u64);
            Some(AddressPanel { name: variant.clone(), addresses: addresses.collect() })
        };
        let panels: Vec<AddressPanel> =
            outcome.plan.design.variants.iter().filter_map(panel).collect();
        if panels.iter().all(|panel| panel.addresses.is_empty()) {
            return Vec::new();
        }
        let how = "Offsets from the least address, in the order of allocation; all on one scale.";
        let map = Plot::new(format!("Where {OBJECTS} objects lie"), how, Addresses { panels });
        vec![Section::new(
            "Where the objects lie",
            "From the module's own log: the distance of each object to the one before.",
            vec![map.into()],
        )]
    }
}

struct ListWalk {
    host: Host,
    churn: u64,
}

impl Fixture for ListWalk {
    fn observe(&mut self, cell: &Cell) -> Result<Observation> {
        let source = SOURCES.iter().find(|(name, _, _)| *name == cell.variant);
        let (_, source, size) =
            source.ok_or_else(|| modules::failed(cell, "there is no such source"))?;
        let params =
            [format!("objects={OBJECTS}"), format!("churn={}", self.churn), "verbose=1".to_owned()];
        let facts = self.host.run(cell, &params)?;
        let own = |fact: &&LogLine| {
            fact.get("source").is_some_and(|s| s == source)
                && fact.get("size").is_some_and(|s| s == size)
        };
        let own: Vec<&LogLine> = facts.iter().filter(own).collect();
        let mut observation =
            Observation { command: self.host.command(&params), ..Observation::default() };
        for fact in &own {
            observation.values.extend(modules::numbers(fact, &["lines", "pages", "near", "span"]));
            if let Some(walk_ns) = modules::number(fact, "walk_ns_median") {
                observation
                    .values
                    .insert("walk_ns_per_node".to_owned(), walk_ns / f64::from(OBJECTS));
            }
        }
        if observation.values.len() < 5 {
            return Err(modules::failed(cell, "the module said too little of this source"));
        }
        observation.detail = serde_json::json!({ "offsets": offsets(&own) });
        Ok(observation)
    }
}

/// Returns the offset of each object from the lowest, computed from the distances to the previous
/// ones.
fn offsets(facts: &[&LogLine]) -> Vec<i64> {
    let mut offsets = vec![0i64];
    for delta in facts.iter().filter_map(|fact| fact.get("delta")?.parse::<i64>().ok()) {
        offsets.push(offsets[offsets.len() - 1] + delta);
    }
    let least = offsets.iter().copied().min().unwrap_or(0);
    offsets.iter().map(|offset| offset - least).collect()
}
