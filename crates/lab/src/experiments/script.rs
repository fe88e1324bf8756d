//! `script`: what does a script of the user's need, by kernel and boot parameters?
//!
//! Each guest boots, runs the script in busybox's shell, and says what `Slab` was before, at the peak and after, how long
//! the script took, and the metrics that were asked for: what the script gives by `metric NAME VALUE`, or else a field of
//! `/proc/meminfo` or `/proc/vmstat` after it. A script that fails stops the run with the last lines of its console.

use std::fs;

use crate::error::{Error, Result};
use crate::experiment::{About, Experiment, Fixture, Setup};
use crate::experiments::slabs;
use crate::guest;
use crate::request::{Design, Engine, Metric, Nature, Request};

/// The experiment.
pub(crate) struct Script;

impl Experiment for Script {
    fn about(&self) -> About {
        About {
            name: "script",
            question: "What does a script of your own need, by kernel and boot parameters?",
            engines: &[Engine::Kernel],
            metrics: slabs::metrics(),
            parameters: &[
                slabs::KERNELS,
                ("append", "boot parameters of further variants, by semicolon"),
                ("metrics", "what else is compared, by comma; NAME:more where more is better"),
                ("with", "programs of this machine that the script needs, by comma"),
                slabs::MEMORY,
                guest::CPUS,
            ],
        }
    }

    fn metrics_of(&self, request: &Request) -> Result<Vec<Metric>> {
        Ok(self.about().metrics.into_iter().chain(further(request)?).collect())
    }

    fn design(&self, request: &Request) -> Result<Design> {
        slabs::design(request, &recipe(request)?.0, 5)
    }

    fn prepare(&self, setup: &mut Setup<'_>) -> Result<Box<dyn Fixture>> {
        let (recipe, options) = recipe(setup.request)?;
        guest::prepare(recipe, &options, setup)
    }
}

/// Returns the metrics that are asked for besides those of every script.
fn further(request: &Request) -> Result<Vec<Metric>> {
    let metric = |text: String| {
        let (name, more) = match text.split_once(':') {
            Some((name, "more")) => (name, true),
            Some((name, "less")) => (name, false),
            _ => (text.as_str(), false),
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_()-".contains(c);
        if name.is_empty() || !name.chars().all(is_plain) {
            let why = format!("metrics={text}: write NAME, NAME:less or NAME:more");
            return Err(Error::Request(why));
        }
        let make = if more { Metric::more } else { Metric::less };
        Ok(make(name, name, "", Nature::Sampled))
    };
    request.list("metrics", &[]).into_iter().map(metric).collect()
}

/// Returns what to boot and to run.
fn recipe(request: &Request) -> Result<(guest::Recipe, guest::Options)> {
    let path = request.input.as_deref();
    let path = path.ok_or_else(|| Error::Request("script: name the script with --input".into()))?;
    let text = fs::read_to_string(path).map_err(Error::io(path, "read the script"))?;
    let appended = request.params.get("append").map_or("", String::as_str);
    let appended = appended.split(';').map(str::trim).filter(|words| !words.is_empty());
    let appended: Vec<String> = appended.map(str::to_owned).collect();
    let further: Vec<String> = further(request)?.into_iter().map(|metric| metric.key).collect();
    // What stands between the quotation marks of a here-document is not touched by the shell.
    let job = format!(
        "cat > /tmp/script <<'END OF SCRIPT'\n{text}\nEND OF SCRIPT\nmetrics='{}'\nslabs_around run_script /tmp/script\n",
        further.join(" ")
    );
    let kernels = request.list("kernels", &["slub"]);
    let tools = request.list("with", &[]);
    let (mut recipe, options) = slabs::recipe(request, &kernels, &appended, job, tools)?;
    recipe.metrics.extend(further);
    Ok((recipe, options))
}
