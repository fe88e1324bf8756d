//! Asks the same question of each of several traces: as many at once as there are processors.
//!
//! # How it works
//! Memory is needed for as many traces as are being replayed, and for the sum. With `--resume FOLDER` the result of
//! each trace is kept there, under the identity of the trace and of the question, and taken from there the next time.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use slablab_host::{Access, KeyHasher, write_whole};

use super::inputs::Input;
use super::parallel;
use crate::progress::Progress;

/// The question to every trace.
#[derive(Debug, Clone, Default)]
pub(crate) struct Question<'a> {
    /// The schema of a trace's stored result
    pub(crate) schema: &'static str,
    /// Everything that the answer depends on, except the trace
    pub(crate) asked: Vec<String>,
    /// The folder for the result of each trace
    pub(crate) resume: Option<&'a Path>,
    /// The work, in one word
    pub(crate) doing: &'static str,
    /// How often the rows of a trace are read
    pub(crate) passes: u64,
    /// A trace of at most this many events is decoded once for all passes
    pub(crate) events_decoded: u64,
}

/// The stored result of a trace.
#[derive(Serialize, Deserialize)]
struct Kept<T> {
    schema: String,
    /// Identity of the trace
    key: String,
    answer: T,
}

/// Asks each of `traces`: `answer` gets a function that reports the rows done, `take` gets each result, in the order
/// in which they are ready.
pub(super) fn each<T: Serialize + DeserializeOwned>(
    traces: &[Input],
    question: &Question<'_>,
    answer: impl Fn(&Input, &mut dyn FnMut(u64)) -> Result<T> + Sync,
    take: impl FnMut(T) + Send,
) -> Result<()> {
    if let Some(folder) = question.resume {
        fs::create_dir_all(folder)
            .with_context(|| format!("{}: cannot make the folder of --resume", folder.display()))?;
    }
    let events: u64 = traces.iter().map(|trace| trace.origin.events).sum();
    let progress = Progress::new(question.doing, events * question.passes);
    let (take, done) = (Mutex::new(take), AtomicU64::new(0));
    let advance = |events| progress.set(done.fetch_add(events, Relaxed) + events);
    parallel::for_each(traces, |trace| {
        let answer = of_one(trace, question, &answer, advance)?;
        take.lock().expect("no thread panics while it holds it")(answer);
        Ok(())
    })
}

/// Asks one trace, or takes its stored result; `advance` gets the further rows.
fn of_one<T: Serialize + DeserializeOwned>(
    trace: &Input,
    question: &Question<'_>,
    answer: impl Fn(&Input, &mut dyn FnMut(u64)) -> Result<T>,
    advance: impl Fn(u64),
) -> Result<T> {
    let key = &trace.origin.key;
    let kept = question.resume.map(|folder| folder.join(file_name(trace, question)));
    if let Some(answer) = kept.as_deref().and_then(|path| read(path, question.schema, key)) {
        advance(trace.origin.events * question.passes);
        return Ok(answer);
    }
    let mut before = 0;
    let mut note = |rows: u64| {
        // Each pass begins at nothing.
        advance(rows.saturating_sub(before));
        before = rows;
    };
    let answer = answer(trace, &mut note).map_err(|error| naming(&trace.path, error))?;
    let Some(path) = kept else { return Ok(answer) };
    let kept = Kept { schema: question.schema.to_owned(), key: key.clone(), answer };
    write_whole(&path, &serde_json::to_vec(&kept)?, Access::Private)
        .with_context(|| format!("{}: cannot keep the result of a trace", path.display()))?;
    Ok(kept.answer)
}

/// Returns an error that names the trace, which what is wrong with a file does already.
pub(super) fn naming(path: &Path, error: anyhow::Error) -> anyhow::Error {
    let path = path.display().to_string();
    if error.to_string().starts_with(&path) { error } else { error.context(path) }
}

/// Returns the name under which the answer to this question about this trace is kept.
fn file_name(trace: &Input, question: &Question<'_>) -> PathBuf {
    let mut hasher = KeyHasher::new(question.schema);
    let own = [&trace.origin.key, &trace.origin.host, env!("CARGO_PKG_VERSION")];
    own.iter().for_each(|piece| hasher.update(piece));
    question.asked.iter().for_each(|piece| hasher.update(piece));
    PathBuf::from(format!("{}.json", hasher.finish()))
}

/// Reads what was kept of a trace; nothing where it is not there, or not whole.
fn read<T: DeserializeOwned>(path: &Path, schema: &str, key: &str) -> Option<T> {
    let kept: Kept<T> = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    (kept.schema == schema && kept.key == key).then_some(kept.answer)
}
