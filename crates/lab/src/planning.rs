//! From a request to a plan: the part of an experiment that runs before anything is built or
//! measured.

use std::path::Path;

use slablab_host::KeyHasher;

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::experiment::{About, Experiment};
use crate::guest::PARAMETERS;
use crate::parameter::Parameter;
use crate::plan::{Plan, SCHEMA};
use crate::request::{Engine, Request, Scale};

/// A plan lists its runs; a larger number would take too long to be useful.
const RUNS_MAX: usize = 1_000_000;

/// Plans `experiment` as `request` says.
///
/// # Errors
///
/// If the request does not fit the experiment.
pub fn plan(experiment: &dyn Experiment, request: &Request) -> Result<Plan> {
    let About { name, question, engines, parameters, .. } = experiment.about();
    if !engines.contains(&request.engine) {
        let engines: Vec<String> = engines.iter().map(Engine::to_string).collect();
        return Err(Error::Request(format!(
            "{name} does not run in the engine {}; it runs in: {}",
            request.engine,
            engines.join(", ")
        )));
    }
    check_parameters(name, &parameters_of(parameters, request.engine), request)?;
    let mut design = experiment.design(request)?;
    if let Some(rounds) = request.rounds {
        design.rounds = rounds;
    }
    if design.variants.is_empty() || design.points.is_empty() || design.rounds == 0 {
        return Err(Error::Request(format!(
            "{name}: nothing to run: {} variants, {} points, {} rounds",
            design.variants.len(),
            design.points.len(),
            design.rounds
        )));
    }
    let cells = design.variants.len() * design.points.len();
    if design.rounds > RUNS_MAX / cells {
        return Err(Error::Request(format!(
            "{name}: {} rounds of {cells} runs are more than can be kept; {} rounds can",
            design.rounds,
            RUNS_MAX / cells
        )));
    }
    for names in [&design.variants, &design.points] {
        if let Some(twice) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name))
        {
            return Err(Error::Request(format!("{} is named twice", twice.1)));
        }
    }
    let input_key = request.input.as_deref().map_or(Ok(String::new()), content_key)?;
    let mut plan = Plan {
        schema: SCHEMA.to_owned(),
        experiment: name.to_owned(),
        question: question.to_owned(),
        engine: request.engine,
        scale: request.scale,
        params: request.params.clone(),
        input: request.input.clone(),
        input_key,
        design,
        metrics: experiment.metrics_of(request)?,
        seed: request.seed,
        environment: Environment::of_this_machine(),
    };
    // One round is enough for what is the same in every run.
    if request.rounds.is_none() && request.scale == Scale::Full && plan.design.rounds > 1 {
        plan.design.rounds = plan.design.rounds.max(plan.rounds_needed());
    }
    Ok(plan)
}

/// Returns the parameters that an experiment with `own` ones has in `engine`.
pub fn parameters_of(own: &[Parameter], engine: Engine) -> Vec<Parameter> {
    let guest = if engine == Engine::Kernel { PARAMETERS } else { &[] };
    let is_of = |parameter: &&Parameter| parameter.engine.is_none_or(|of| of == engine);
    own.iter().chain(guest).filter(is_of).copied().collect()
}

/// Refuses a parameter that is not among `known`, and a value that does not fit.
fn check_parameters(experiment: &str, known: &[Parameter], request: &Request) -> Result<()> {
    for (key, value) in &request.params {
        let Some(parameter) = known.iter().find(|parameter| parameter.name == key) else {
            let names: Vec<&str> = known.iter().map(|parameter| parameter.name).collect();
            return Err(Error::Request(format!(
                "{experiment} in the engine {} has no parameter '{key}'; it has: {}",
                request.engine,
                if names.is_empty() { "none".to_owned() } else { names.join(", ") }
            )));
        };
        parameter.check(value)?;
    }
    Ok(())
}

/// Returns a hash of the content of a file.
pub(crate) fn content_key(path: &Path) -> Result<String> {
    let mut hasher = KeyHasher::new("input of a measurement");
    hasher.update_file(path).map_err(Error::io(path, "read the input"))?;
    Ok(hasher.finish().to_string())
}
