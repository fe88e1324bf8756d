//! Results of `slablab kernel run`, read as an outcome of the lab.

use std::collections::BTreeMap;
use std::path::Path;

use slablab_klab::{Header, Observation, read_raw};

use crate::journal::SCHEMA;
use crate::{Design, Engine, Environment, Error, Metric, Nature, Outcome, Plan, Result, Row};

/// Reads the folder of a kernel run.
///
/// # Errors
///
/// If its rows cannot be read, or there are none.
pub(super) fn outcome(folder: &Path) -> Result<Outcome> {
    let unreadable = |reason: String| Error::Unreadable { path: folder.to_owned(), reason };
    let (header, observations) =
        read_raw(&folder.join("raw.jsonl")).map_err(|e| unreadable(e.to_string()))?;
    if observations.is_empty() {
        return Err(unreadable("has no rows yet".to_owned()));
    }
    let metric = |(key, unit, direction): &(String, String, _)| Metric {
        key: key.clone(),
        name: key.replace('_', " "),
        unit: unit.clone(),
        direction: *direction,
        nature: Nature::Sampled,
    };
    let design = Design {
        variants: header.variants.clone(),
        point_name: "load".to_owned(),
        points: vec![String::new()],
        rounds: header.rounds as usize,
        warmups: 0,
    };
    let metrics = header.metrics.iter().map(metric).collect();
    let mut plan = Plan::of_foreign(&header.experiment, &header.question, design, metrics);
    plan.seed = header.seed;
    plan.params = BTreeMap::from([("command".to_owned(), header.command.join(" "))]);
    plan.environment = Environment {
        cpu: header.host_cpu.clone(),
        cpus: header.host_cpus,
        kernel: header.host_release.clone(),
        ..Environment::default()
    };
    let rows =
        observations.iter().enumerate().map(|(cell, o)| row(cell, o, &header, &plan)).collect();
    let name =
        folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Ok(Outcome::new(name, plan, rows))
}

fn row(cell: usize, observation: &Observation, header: &Header, plan: &Plan) -> Row {
    let params = observation.params.iter().map(|(key, value)| format!(", {key} {value}"));
    Row {
        schema: SCHEMA.to_owned(),
        experiment: header.experiment.clone(),
        engine: Engine::Kernel,
        cell,
        round: observation.round as usize,
        warmup: false,
        variant: observation.variant.clone(),
        point: format!("{} CPUs{}", observation.cpus, params.collect::<String>()),
        values: observation.metrics.clone(),
        parts: Vec::new(),
        detail: serde_json::json!({ "emulated": header.emulated }),
        command: String::new(),
        started_unix_ms: header.began_unix_seconds * 1_000,
        took_ms: 0,
        load: 0.0,
        environment: plan.environment.clone(),
    }
}
