//! Stored results of any kind: what `slablab report RESULT...` reads.
//!
//! # How it works
//! A folder is a run of the lab; the schema of a JSON file tells what it is.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use slablab_host::shell;
use slablab_lab::{Error, Outcome, Result, compare_variants};
use slablab_replay::Replay;
use slablab_report::{Document, Flame, Item, Section};
use slablab_stats::Question;

use super::bisect::BisectAnswer;
use super::comparison::CompareAnswer;
use super::kept;
use super::patched::PatchedAnswer;
use super::replay::ReplayAnswer;
use crate::output::Answer;

/// The schema of `slablab replay --format json` that can be read.
const REPLAY: &str = "slablab.replay/1";
/// The file that makes a folder a bisection.
const BISECTION: &str = "bisect.json";
/// The beginning of a Parquet file, which a trace is.
const PARQUET: &[u8] = b"PAR1";

/// Makes the document of a result folder, a JSON result, or a file of folded stacks (`*.folded`).
///
/// # Errors
///
/// If there is no such file, it is empty, it is of another kind or version, or its numbers allow no comparison.
pub(crate) fn document(place: &Path) -> Result<Document> {
    if let Some(kept) = kept::file(place) {
        return document(&kept);
    }
    if place.is_dir() {
        if place.join(BISECTION).exists() {
            return Err(Error::Unreadable {
                path: place.to_owned(),
                reason: "is a bisection without an answer: give the same 'slablab lab bisect' again, which goes on".to_owned(),
            });
        }
        let outcome = Outcome::read(place)?;
        let sides = compare_variants(&outcome, None, &Question::default())?;
        return Ok(CompareAnswer::of_run(&outcome, &sides).document());
    }
    let bytes = fs::read(place).map_err(|cause| Error::Io {
        path: place.to_owned(),
        doing: "read the result",
        cause,
    })?;
    let unreadable = |reason: String| Error::Unreadable { path: place.to_owned(), reason };
    if bytes.starts_with(PARQUET) {
        return Err(unreadable(format!(
            "is a trace and not a result; 'slablab replay {} --report FILE' makes a page of it",
            shell::path(place)
        )));
    }
    let text = String::from_utf8(bytes).map_err(|_| {
        unreadable("is not a text; give the output of 'slablab replay --format json'".to_owned())
    })?;
    if text.trim().is_empty() {
        return Err(unreadable("is empty".to_owned()));
    }
    if place.extension().is_some_and(|e| e == "folded") {
        return folded(&text, &place.display().to_string()).map_err(&unreadable);
    }
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|e| {
        unreadable(format!(
            "line {}, column {}: not JSON ({e}); give the output of 'slablab replay --format json', a folder of \
             'slablab lab run', or folded stacks in a file named *.folded",
            e.line(),
            e.column()
        ))
    })?;
    match value["schema"].as_str() {
        Some(REPLAY) => {
            let file = value["file"].as_str().unwrap_or("a trace").to_owned();
            let replay =
                Replay::deserialize(&value).map_err(|e| unreadable(format!("is damaged: {e}")))?;
            Ok(ReplayAnswer::stored(&replay, &file))
        }
        Some(BisectAnswer::SCHEMA) => kept_answer::<BisectAnswer>(&value).map_err(unreadable),
        Some(PatchedAnswer::SCHEMA) => kept_answer::<PatchedAnswer>(&value).map_err(unreadable),
        Some(other) => Err(unreadable(format!(
            "its schema is {other}; this slablab makes reports of {REPLAY} and of runs of the lab"
        ))),
        None => Err(unreadable("has no schema; it is not a result of slablab".to_owned())),
    }
}

/// Makes the document of an answer that was kept.
fn kept_answer<A: Answer + DeserializeOwned>(
    value: &serde_json::Value,
) -> std::result::Result<Document, String> {
    A::deserialize(value).map(|answer| answer.document()).map_err(|e| format!("is damaged: {e}"))
}

/// Makes the document of folded stacks in `file`.
fn folded(text: &str, file: &str) -> std::result::Result<Document, String> {
    let mut flame = Flame::new("Where the weight is", "", "Folded stacks as they were given.");
    let bad = flame.add_folded(text);
    if flame.weight() == 0 {
        return Err("has no stacks; each line is 'outer;inner 12'".to_owned());
    }
    let mut items = vec![Item::Flame(flame)];
    if bad > 0 {
        items.push(Item::Text(format!("{bad} lines were not stacks and are not shown.")));
    }
    let sections = vec![Section::page("stacks", file, items)];
    Ok(Document { title: file.to_owned(), sections, ..Document::default() })
}

/// Puts several reports into one; the parts of each keep the name of their report.
pub(crate) fn join(documents: Vec<Document>) -> Document {
    let mut documents = documents;
    if documents.len() == 1 {
        return documents.remove(0);
    }
    let titles: Vec<&str> = documents.iter().map(|d| d.title.as_str()).collect();
    let mut whole = Document { title: titles.join("; "), ..Document::default() };
    for document in documents {
        let title = document.title;
        whole
            .answers
            .extend(document.answers.into_iter().map(|answer| format!("{title}: {answer}")));
        for mut section in document.sections {
            section.title = format!("{title}: {}", section.title);
            whole.sections.push(section);
        }
        for mut fact in document.facts {
            fact.name = format!("{title}: {}", fact.name);
            whole.facts.push(fact);
        }
        whole.repeat.extend(document.repeat);
    }
    whole
}
