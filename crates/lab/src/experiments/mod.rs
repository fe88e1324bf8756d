//! The experiments, one a file. To add one: write it, and put it on the list ([`experiments`]).

mod allocators;
mod audit_cache;
mod commands;
mod generations;
mod hackbench;
mod kprobes;
mod lifo;
mod locality;
mod memmax;
mod memtim;
mod modules;
mod replay;
mod script;
mod slabs;
#[cfg(test)]
mod sqrt;

use slablab_replay::nearest_name;

use crate::error::{Error, Result};
use crate::experiment::Experiment;

pub use commands::CommandVariant;

/// Returns all experiments.
pub fn experiments() -> &'static [&'static dyn Experiment] {
    &[
        &hackbench::Hackbench,
        &audit_cache::AuditCache,
        &memmax::Memmax,
        &memtim::Memtim,
        &locality::Locality,
        &lifo::Lifo,
        &kprobes::Kprobes,
        &replay::Replay,
        &generations::Generations,
        &script::Script,
        &commands::Commands,
    ]
}

/// Returns the experiment of this name.
///
/// # Errors
///
/// If there is none; the message lists them all.
pub fn find(name: &str) -> Result<&'static dyn Experiment> {
    let names = || experiments().iter().map(|experiment| experiment.about().name);
    let found = experiments().iter().copied().find(|experiment| experiment.about().name == name);
    found.ok_or_else(|| {
        let known = names().collect::<Vec<_>>().join(", ");
        Error::Request(match nearest_name(name, names()) {
            Some(meant) => format!(
                "there is no experiment '{name}'; did you mean '{meant}'? There are: {known}"
            ),
            None => format!("there is no experiment '{name}'; there are: {known}"),
        })
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::request::{Engine, Request, Scale};

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
        // A folder of something else is left as it is.
        let foreign = tempfile::tempdir().unwrap();
        std::fs::write(foreign.path().join("letter.txt"), "").unwrap();
        let error = crate::run(&sqrt::Sqrt, &plan, foreign.path(), &mut |_| ()).unwrap_err();
        assert!(error.to_string().contains("has files and no plan of the lab"), "{error}");
        assert_eq!(std::fs::read_dir(foreign.path()).unwrap().count(), 1);
    }
}
