//! Reports: the documents that `slablab_report::html` turns into pages, one file a kind of result.
//!
//! A command that has a [`slablab_replay::Replay`] in hand gives it to [`replay()`]; stored results go through
//! [`read`], which finds out what they are.

mod pair;
mod replay;
mod run;
mod stored;

pub use pair::pair;
pub use replay::{replay, site_frames, trace_facts};
pub use run::run;
pub use stored::{Stored, join, read};

use slablab_report::Fact;

use crate::Environment;

/// Returns what is known of a machine, without what is not.
fn machine(environment: &Environment) -> Vec<Fact> {
    let Environment { host, cpu, cpus, kernel, governor, commit, slablab } = environment;
    let facts = [
        ("host", host.clone()),
        ("processor", if *cpus > 0 { format!("{cpu}, {cpus} online") } else { cpu.clone() }),
        ("kernel", kernel.clone()),
        ("frequency governor", governor.clone()),
        ("git revision of the working folder", commit.clone()),
        ("slablab", slablab.clone()),
    ];
    facts
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| Fact::new(name, value))
        .collect()
}

/// How verdicts are found, for those who ask.
const VERDICTS: &str = "A difference is shown when the rank test's p, corrected for all comparisons of the metric by Holm's \
    method, is below 0.05 and the 95 % bootstrap interval of the difference of medians leaves out zero. Otherwise none is \
    shown, which is not to say that there is none. No run was left out; outliers are hollow marks.";
