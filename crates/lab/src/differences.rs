//! Differences between two results besides what was measured: the content of the input, a parameter, the
//! accelerator, the processor, the kernel, the version of slablab.
//!
//! # How it works
//! Each difference has the name of its factor. A comparison with an unnamed difference is refused; a difference
//! that was named (`--factor`) is stated in the answer. The frequency governor, the git revision and the builds of
//! a kernel are what people change between two runs, so they are stated and never refused.

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::outcome::Outcome;

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    factor: String,
    values: (String, String),
}

impl Difference {
    /// Makes one from two values; `None` when they are equal.
    fn of(factor: &str, a: &str, b: &str) -> Option<Self> {
        let value = |text: &str| if text.is_empty() { "none" } else { text }.to_owned();
        (a != b).then(|| Self { factor: factor.to_owned(), values: (value(a), value(b)) })
    }

    /// Returns it in words: `kernel (6.1.0 and 6.2.0)`.
    fn words(&self) -> String {
        format!("{} ({} and {})", self.factor, self.values.0, self.values.1)
    }
}

/// Returns the differences in the work of two results.
fn work(a: &Outcome, b: &Outcome) -> Vec<Difference> {
    let (mine, theirs) = (a.plan.work(), b.plan.work());
    let names: BTreeSet<&String> = mine.keys().chain(theirs.keys()).collect();
    let value = |work: &std::collections::BTreeMap<String, String>, name: &String| {
        let text = work.get(name).cloned().unwrap_or_default();
        // A plan of the first version knows only the name of its input.
        let both_hashed = !a.plan.input_key.is_empty() && !b.plan.input_key.is_empty();
        match (name.as_str(), text.rsplit_once(' ')) {
            ("input", Some((file, _))) if !both_hashed => file.to_owned(),
            _ => text,
        }
    };
    let same_input = !a.plan.input_key.is_empty() && a.plan.input_key == b.plan.input_key;
    names
        .into_iter()
        .filter(|name| !(same_input && *name == "input"))
        .filter_map(|name| Difference::of(name, &value(&mine, name), &value(&theirs, name)))
        .chain(Difference::of("accelerator", a.accelerator(), b.accelerator()))
        .collect()
}

/// Returns the differences between the environments of two results.
fn environment(a: &Outcome, b: &Outcome) -> Vec<Difference> {
    let pairs = a.plan.environment.factors().into_iter().zip(b.plan.environment.factors());
    pairs.filter_map(|((name, a), (_, b))| Difference::of(name, &a, &b)).collect()
}

/// Returns the differences that are stated and never refused.
fn subjects(a: &Outcome, b: &Outcome) -> Vec<Difference> {
    let (here, there) = (&a.plan.environment, &b.plan.environment);
    let build = |outcome: &Outcome| {
        outcome.build(&outcome.plan.design.variants[0]).unwrap_or("").to_owned()
    };
    [
        Difference::of("governor", &here.governor, &there.governor),
        Difference::of("git revision", &here.commit, &there.commit),
        Difference::of("kernel build", &build(a), &build(b)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Whether two results are of one host or of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hosts {
    /// All that can change a time must be equal
    One,
    /// The processor and the kernel belong to the host, which is compared only with itself
    Several,
}

/// Checks that `a` and `b` differ only in the `factors` that were named, and returns what an answer states about them.
///
/// # Errors
///
/// If there is another difference; the message names it.
pub(crate) fn check(
    a: &Outcome,
    b: &Outcome,
    hosts: Hosts,
    factors: &[String],
) -> Result<Option<String>> {
    let of_host =
        |d: &Difference| hosts == Hosts::One || !["cpu", "kernel"].contains(&d.factor.as_str());
    let found: Vec<Difference> =
        work(a, b).into_iter().chain(environment(a, b).into_iter().filter(of_host)).collect();
    let all =
        |list: &[Difference]| list.iter().map(Difference::words).collect::<Vec<_>>().join(", ");
    let unasked: Vec<Difference> =
        found.iter().filter(|d| !factors.contains(&d.factor)).cloned().collect();
    if !unasked.is_empty() {
        let names = unasked.iter().map(|d| format!("--factor {}", d.factor));
        return Err(Error::Incomparable(format!(
            "{} and {} differ in {}: a difference of the results could be due to that. Measure both alike; or, if that is \
             what you want to compare, add {}",
            a.name,
            b.name,
            all(&unasked),
            names.collect::<Vec<_>>().join(" ")
        )));
    }
    let named: Vec<Difference> = found
        .into_iter()
        .chain(if hosts == Hosts::One { subjects(a, b) } else { Vec::new() })
        .collect();
    Ok((!named.is_empty()).then(|| format!("The results differ in {}.", all(&named))))
}
