//! Answers that a result folder keeps, so that `slablab report` makes a page or a mail of them at any time.
//!
//! # How it works
//! The folder has the JSON of the answer in [`FILE`], as `--format json` prints it.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};
use slablab_lab::Request;
use slablab_report::Fact;

use crate::output::{Answer, json_text, own_command, write_whole};

/// The file of the answer in its result folder.
const FILE: &str = "answer.json";

/// How an answer was obtained.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct Obtained {
    /// What is known of parameters, machine and kernels
    facts: Vec<NamedFact>,
    /// The command that repeats it
    command: String,
}

/// A fact and its name.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
struct NamedFact {
    name: String,
    value: String,
}

impl Obtained {
    /// Returns how this process obtains it, with what is known of it.
    pub(crate) fn now(facts: impl IntoIterator<Item = Fact>) -> Self {
        let named = |Fact { name, value }| NamedFact { name, value };
        Self { facts: facts.into_iter().map(named).collect(), command: own_command() }
    }

    /// Returns the facts as a document has them.
    pub(crate) fn facts(&self) -> Vec<Fact> {
        self.facts.iter().map(|fact| Fact::new(fact.name.clone(), &fact.value)).collect()
    }

    /// Returns the commands that repeat it, as a document has them.
    pub(crate) fn repeat(&self) -> Vec<String> {
        vec![self.command.clone()]
    }
}

/// Returns what was asked of an experiment, as facts.
pub(crate) fn given(request: &Request) -> Vec<Fact> {
    let params = request.params.iter();
    let params = params.map(|(name, value)| Fact::new(format!("parameter {name}"), value));
    let input = request.input.iter().map(|file| Fact::new("input", file.display().to_string()));
    params.chain(input).collect()
}

/// Keeps an answer in its result folder.
///
/// # Errors
///
/// If the folder cannot be written.
pub(crate) fn keep<A: Answer>(answer: &A, folder: &Path) -> Result<()> {
    write_whole(&folder.join(FILE), json_text(A::SCHEMA, answer)?.as_bytes())
}

/// Returns the file with the answer that a folder keeps.
pub(crate) fn file(folder: &Path) -> Option<PathBuf> {
    Some(folder.join(FILE)).filter(|file| file.is_file())
}
