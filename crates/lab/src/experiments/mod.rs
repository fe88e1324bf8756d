//! The experiments, one in each file. To add one, write it and put it on the list
//! ([`experiments`]).

mod allocators;
mod audit_cache;
mod commands;
mod fidelity;
mod kprobes;
mod lifo;
pub(crate) mod load;
mod locality;
mod memmax;
mod memtim;
mod modules;
pub(crate) mod patch;
mod replay;
#[cfg(test)]
mod sqrt;
mod timed;

use slablab_replay::nearest_name;

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::parameter::Parameter;
use crate::request::Engine;

pub use commands::CommandVariant;
pub use patch::Wanted;

/// Returns all experiments.
pub fn experiments() -> &'static [&'static dyn Experiment] {
    &[
        &load::Load,
        &timed::Timed,
        &audit_cache::AuditCache,
        &memmax::Memmax,
        &memtim::Memtim,
        &locality::Locality,
        &lifo::Lifo,
        &kprobes::Kprobes,
        &replay::Replay,
        &fidelity::Fidelity,
        &commands::Commands,
    ]
}

/// A name for an experiment with some of its parameters set.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// The name
    pub name: &'static str,
    /// The question, which is narrower than the experiment's
    pub question: &'static str,
    /// The experiment
    pub experiment: &'static str,
    /// The engine in which it runs the experiment
    pub engine: Engine,
    /// Parameters that it sets
    pub params: &'static [(&'static str, &'static str)],
    /// Parameters that it has beside those of the experiment
    pub own: &'static [Parameter],
}

/// Returns all presets.
pub fn presets() -> &'static [Preset] {
    &[
        Preset {
            name: "hackbench",
            question: "How do SLAB, SLUB, SLOB and SLMB compare on message passing, by CPU count and group count?",
            experiment: "load",
            engine: Engine::Kernel,
            params: &[("load", "hackbench")],
            own: &[],
        },
        Preset {
            name: "hackbench",
            question: "How long do operations of a recorded hackbench take under SLAB, SLUB, SLOB and SLMB?",
            experiment: "timed",
            engine: Engine::User,
            params: &[],
            own: &[],
        },
        Preset {
            name: "generations",
            question: "What did the generations of SLUB do to slab memory, by kernel and CPU count?",
            experiment: "load",
            engine: Engine::Kernel,
            params: &[
                ("kernels", "debian:6.12,debian:6.18,debian:7.3"),
                ("groups", "4"),
                ("memory", "512"),
                ("first", "slab_kb"),
            ],
            own: &[],
        },
        Preset {
            name: "history",
            question: "What do stock kernels hold in slabs after a boot and three loads, release by release?",
            experiment: "load",
            engine: Engine::Kernel,
            params: &[
                ("load", "all"),
                ("groups", "10"),
                ("memory", "512"),
                ("accel", "tcg"),
                ("first", "slab_kb"),
            ],
            own: &[],
        },
        Preset {
            name: "patch",
            question: "Does a cache of its own for a call site do in a real kernel what a recording predicts?",
            experiment: "load",
            engine: Engine::Kernel,
            params: &[("kernels", "build:6.12/slub"), ("first", "slab_kb")],
            own: patch::PARAMETERS,
        },
    ]
}

/// Returns the experiment of this name.
///
/// # Errors
///
/// If there is none; the message lists them all.
pub fn find(name: &str) -> Result<&'static dyn Experiment> {
    let presets = presets().iter().map(|preset| preset.name);
    let names = || experiments().iter().map(|experiment| experiment.about().name);
    let found = experiments().iter().copied().find(|experiment| experiment.about().name == name);
    found.ok_or_else(|| {
        let mut known: Vec<&str> = names().chain(presets).collect();
        known.dedup();
        Error::Request(match (name, nearest_name(name, known.iter().copied())) {
            ("script", _) => {
                "script is now: slablab lab run load --input SCRIPT --kernels KERNEL,...".to_owned()
            }
            (_, Some(meant)) => format!(
                "there is no experiment '{name}'; did you mean '{meant}'? There are: {}",
                known.join(", ")
            ),
            (_, None) => {
                format!("there is no experiment '{name}'; there are: {}", known.join(", "))
            }
        })
    })
}

/// Returns the preset of this name in `engine`, or in the first that it has.
pub fn preset(name: &str, engine: Option<Engine>) -> Option<&'static Preset> {
    let mut named = presets().iter().filter(|preset| preset.name == name);
    named.find(|preset| engine.is_none_or(|engine| preset.engine == engine))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::request::{Request, Scale};

    #[test]
    fn a_preset_sets_parameters_that_its_experiment_has() {
        for preset in presets() {
            let about = find(preset.experiment).unwrap().about();
            assert!(about.engines.contains(&preset.engine), "{}", preset.name);
            let known = crate::parameters_of(about.parameters, preset.engine);
            for (key, value) in preset.params {
                let parameter = known.iter().find(|parameter| parameter.name == *key).unwrap();
                parameter.check(value).unwrap();
            }
        }
    }

    #[test]
    fn every_default_is_a_value_that_its_parameter_may_have() {
        for experiment in experiments() {
            let about = experiment.about();
            for parameter in about.parameters.iter().chain(crate::guest::PARAMETERS) {
                for value in [parameter.default, parameter.smoke].iter().filter(|v| !v.is_empty()) {
                    parameter.check(value).unwrap_or_else(|e| panic!("{}: {e}", about.name));
                }
            }
        }
    }

    #[test]
    fn the_example_of_contributing_is_as_printed_and_runs() {
        let text = include_str!("../../../../CONTRIBUTING.md");
        assert!(text.contains(include_str!("sqrt.rs")), "CONTRIBUTING.md does not show sqrt.rs");
        let request = Request {
            engine: Engine::User,
            scale: Scale::Full,
            params: BTreeMap::new(),
            input: None,
            rounds: Some(6),
            seed: 1,
        };
        let plan = crate::plan(&sqrt::Sqrt, &request).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let rows = crate::run(&sqrt::Sqrt, &plan, folder.path(), &mut |_| ()).unwrap();
        assert_eq!(rows, 2 * (6 + 1));
        let outcome = crate::Outcome::read(folder.path()).unwrap();
        let sides = crate::compare_variants(&outcome, None, &Default::default()).unwrap();
        assert_eq!(sides[0].comparisons.rows.len(), 1);
        // A folder with foreign files is left alone.
        let foreign = tempfile::tempdir().unwrap();
        std::fs::write(foreign.path().join("letter.txt"), "").unwrap();
        let error = crate::run(&sqrt::Sqrt, &plan, foreign.path(), &mut |_| ()).unwrap_err();
        assert!(error.to_string().contains("has files and no plan of the lab"), "{error}");
        assert_eq!(std::fs::read_dir(foreign.path()).unwrap().count(), 1);
    }
}
