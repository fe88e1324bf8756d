//! Commands that ask traces a question: they find the traces, ask each of them, and add the answers up.
//!
//! # How it works
//! [`Traces`] are what the command line names: one trace or recording, or the traces of files, folders and patterns. One
//! trace is asked as it is, or the part of it that is selected. Of several, as many are asked at once as there are
//! processors, and each result is kept in the folder of `--resume`.

pub(crate) mod args;
mod each;
pub(crate) mod inputs;
mod parallel;

use std::path::Path;

use anyhow::{Result, bail};
use serde::Serialize;
use serde::de::DeserializeOwned;
use slablab_replay::{Origin, SiteNames};
use slablab_trace::TraceReader;

use super::filter::FilterArgs;
use super::import;
use crate::progress::Progress;
use args::ManyArgs;
pub(crate) use each::Question;
use inputs::{Found, Input};

/// The traces that a question is about.
pub(crate) struct Traces<'a> {
    named: Vec<&'a Path>,
    resume: Option<&'a Path>,
    remarks: Vec<String>,
    source: Source,
}

enum Source {
    One(Box<TraceReader>),
    Several(Found),
}

impl<'a> Traces<'a> {
    /// Opens what `first` and `many` name: the part of one trace that `filter` selects, or several traces.
    ///
    /// # Errors
    ///
    /// If one cannot be read, if a part of several is asked for, or if they do not add up.
    pub(crate) fn open(
        first: &'a Path,
        many: &'a ManyArgs,
        filter: &FilterArgs,
    ) -> Result<Traces<'a>> {
        let Some(several) = many.with(first)? else {
            let source = Source::One(Box::new(import::open(first, filter)?));
            return Ok(Self { named: vec![first], resume: None, remarks: Vec::new(), source });
        };
        args::refuse(&[(args::FILTERS, !filter.is_empty())])?;
        let found = inputs::find(&several.paths, several.damaged)?;
        check_portions(&found)?;
        let remarks = inputs::remarks(&found);
        let source = match &found[..] {
            [only] => Source::One(Box::new(import::open(&only.path, filter)?)),
            _ => Source::Several(found),
        };
        Ok(Self { named: several.paths, resume: several.resume, remarks, source })
    }

    /// As [`Traces::open`], for questions that need the lifetimes of objects.
    ///
    /// # Errors
    ///
    /// As there, and if frees were not recorded.
    pub(crate) fn open_with_lifetimes(
        first: &'a Path,
        many: &'a ManyArgs,
        filter: &FilterArgs,
    ) -> Result<Traces<'a>> {
        if many.with(first)?.is_none() {
            let source = Source::One(Box::new(import::open_with_lifetimes(first, filter)?));
            return Ok(Self { named: vec![first], resume: None, remarks: Vec::new(), source });
        }
        let traces = Self::open(first, many, filter)?;
        match &traces.source {
            Source::One(trace) => import::check_lifetimes(trace.path(), trace.meta())?,
            Source::Several(found) => {
                if let Some((input, lack)) =
                    found.iter().find_map(|input| Some((input, input.lack.as_ref()?)))
                {
                    bail!("{}: {lack} Leave it out", input.path.display());
                }
            }
        }
        Ok(traces)
    }

    /// Returns their names as they were given.
    pub(crate) fn name(&self) -> String {
        let names: Vec<_> = self.named.iter().map(|path| path.display().to_string()).collect();
        names.join(", ")
    }

    /// Returns the trace, if it is one.
    pub(crate) fn one(&self) -> Option<&TraceReader> {
        match &self.source {
            Source::One(trace) => Some(trace),
            Source::Several(_) => None,
        }
    }

    /// Returns the traces, if they are several.
    pub(crate) fn several(&self) -> &[Input] {
        match &self.source {
            Source::One(_) => &[],
            Source::Several(found) => found,
        }
    }

    /// Returns the release and the bytes of a page of each recorded kernel.
    pub(crate) fn kernels(&self) -> Vec<(&str, u64)> {
        match &self.source {
            Source::One(trace) => {
                vec![(&trace.meta().kernel_release, inputs::page_bytes(trace.meta()))]
            }
            Source::Several(found) => {
                found.iter().map(|input| (input.release.as_str(), input.page_bytes)).collect()
            }
        }
    }

    /// Returns by what their call sites are joined.
    pub(crate) fn site_names(&self) -> SiteNames {
        inputs::site_names(self.several())
    }

    /// Returns what a reader should know of them: which are the same recording, and which were left out.
    pub(crate) fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }

    /// Asks each trace: `answer` gets a function that reports the rows done, `take` gets each result, in the order in
    /// which they are ready.
    ///
    /// # Errors
    ///
    /// The first of `answer`, with the name of the trace.
    pub(crate) fn each<T: Serialize + DeserializeOwned>(
        &self,
        question: &Question<'_>,
        answer: impl Fn(&TraceReader, &mut dyn FnMut(u64)) -> Result<T> + Sync,
        mut take: impl FnMut(&Origin, T) + Send,
    ) -> Result<()> {
        match &self.source {
            Source::One(trace) => {
                let events = trace.meta().events * question.passes;
                let progress = Progress::new(question.doing, events);
                let one = answer(trace, &mut |done| progress.set(done));
                take(&Origin::default(), one.map_err(|error| each::naming(self.named[0], error))?);
                Ok(())
            }
            Source::Several(found) => {
                let question = Question { resume: self.resume, ..question.clone() };
                let of_one = |input: &Input, progress: &mut dyn FnMut(u64)| {
                    let trace = input.open()?.decoded_without_pid(question.events_decoded)?;
                    Ok((input.origin.clone(), answer(&trace, progress)?))
                };
                each::each(found, &question, of_one, |(origin, one)| take(&origin, one))
            }
        }
    }
}

/// Refuses recordings of all objects beside samples, and samples of several portions: their numbers do not add up.
fn check_portions(inputs: &[Input]) -> Result<()> {
    let Some((first, rest)) = inputs.split_first() else { return Ok(()) };
    let words = |input: &Input| {
        let objects = match input.one_in {
            Some(one_in) => format!("the objects of 1 in {one_in} blocks of memory"),
            None => "all objects".to_owned(),
        };
        format!("{} has {objects}", input.path.display())
    };
    match rest.iter().find(|input| input.one_in != first.one_in) {
        Some(other) => bail!(
            "{}, and {}: their numbers do not add up; give recordings of the same portion",
            words(first),
            words(other)
        ),
        None => Ok(()),
    }
}
