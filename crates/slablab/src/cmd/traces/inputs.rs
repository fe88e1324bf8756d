//! The traces that the command line means: files, folders and patterns become a list, in the order
//! of their names.
//!
//! A folder means every `*.parquet` below it. In a pattern, `*` and `?` stand for parts of a name and `**` for any folders.
//! In folders named as Hive partitions, `host=NAME` names the trace's host.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Deref;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use anyhow::{Context, Result, bail};
use slablab_host::{KeyHasher, Pattern, printable};
use slablab_replay::{Changes, Origin, SiteNames};
use slablab_trace::{Checked, Meta, TraceReader};

use super::parallel;
use crate::progress::Progress;

/// One of many traces.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    pub(crate) origin: Origin,
    /// The recorded kernel's
    pub(crate) release: String,
    pub(crate) page_bytes: u64,
    /// One in this many pages was recorded, where not all were
    pub(crate) one_in: Option<u32>,
    /// Why no lifetime is known, where frees were not recorded
    pub(crate) lack: Option<String>,
}

impl Input {
    /// Opens the trace, for a thread that has a processor for itself.
    pub(crate) fn open(&self) -> Result<TraceReader> {
        Ok(TraceReader::open(&self.path)?.on_one_thread())
    }
}

/// How traces that cannot be read are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Damaged {
    /// Nothing is answered, and all of them are named.
    Refused,
    /// They are left out, and the answer names them.
    Skipped,
}

/// Traces that were found and can be read.
#[derive(Debug)]
pub(crate) struct Found {
    inputs: Vec<Input>,
    /// Those that cannot, a sentence each
    pub(crate) left_out: Vec<String>,
}

impl Deref for Found {
    type Target = [Input];

    fn deref(&self) -> &[Input] {
        &self.inputs
    }
}

/// Returns whether `paths` are more than one file.
pub(crate) fn are_several(paths: &[&Path]) -> bool {
    paths.len() > 1 || paths.iter().any(|path| path.is_dir() || is_pattern(path))
}

/// Returns the files that `paths` mean, without looking into them.
pub(crate) fn files(paths: &[&Path]) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = Vec::new();
    for path in paths {
        let before = files.len();
        if path.is_dir() {
            below(path, &mut files)?;
        } else if is_pattern(path) {
            matching(path, &mut files)?;
        } else {
            files.push((*path).to_owned());
        }
        if files.len() == before && path.join("data").is_file() {
            bail!(
                "{}: is the directory of a perf record with --threads or --kcore: record without --threads; of --kcore \
                 name {}",
                path.display(),
                path.join("data").display()
            );
        }
        if files.len() == before {
            bail!("{}: no trace is there; traces end in .parquet", path.display());
        }
    }
    files.sort();
    Ok(files)
}

/// Finds the traces that `paths` mean, and looks into each: those that are none are named before any work.
pub(crate) fn find(paths: &[&Path], damaged: Damaged) -> Result<Found> {
    let files = files(paths)?;
    let mut real: BTreeMap<PathBuf, &PathBuf> = BTreeMap::new();
    for file in &files {
        let place =
            file.canonicalize().with_context(|| format!("{}: cannot read", file.display()))?;
        match real.get(&place) {
            // A link beside its target (latest -> 2026-11-22.parquet) is not a second trace.
            Some(_) if file.is_symlink() => {}
            Some(other) if !other.is_symlink() => {
                bail!("{} is named twice, also as {}", file.display(), other.display());
            }
            _ => _ = real.insert(place, file),
        }
    }
    let mut files: Vec<PathBuf> = real.into_values().cloned().collect();
    files.sort();
    let size = |file: &PathBuf| file.metadata().map_or(0, |meta| meta.len());
    let progress = Progress::new("reading", files.iter().map(size).sum());
    let (done, looked) = (AtomicU64::new(0), Mutex::new(Vec::with_capacity(files.len())));
    parallel::for_each(&files, |file| {
        let input = look_into(file, damaged);
        looked.lock().expect("no thread panics while it holds it").push((file.clone(), input));
        progress.set(done.fetch_add(size(file), Relaxed) + size(file));
        Ok(())
    })?;
    drop(progress);
    let mut looked = looked.into_inner().expect("no thread panicked");
    looked.sort_by(|(a, _), (b, _)| a.cmp(b));
    let (mut inputs, mut errors) = (Vec::new(), Vec::new());
    for (_, input) in looked {
        match input {
            Ok(input) => inputs.push(input),
            Err(error) => errors.push(printable(&error.to_string()).into_owned()),
        }
    }
    match (&errors[..], damaged) {
        ([], _) => {}
        (_, Damaged::Skipped) if !inputs.is_empty() => {}
        ([error], _) => bail!("{error}; --skip-damaged goes on without it where there are others"),
        _ => bail!(
            "{} of {} traces cannot be read; --skip-damaged goes on with the others:\n  {}",
            errors.len(),
            files.len(),
            errors.join("\n  ")
        ),
    }
    let many = (errors.len() > 1).then(|| format!("{} damaged traces are left out.", errors.len()));
    let each = errors.into_iter().map(|error| format!("Left out: {error}."));
    let left_out = many.into_iter().chain(each).collect();
    Ok(Found { inputs, left_out })
}

fn is_pattern(path: &Path) -> bool {
    !path.exists() && path.to_string_lossy().contains(['*', '?'])
}

/// Adds every trace below `folder`. Links to folders are not followed: they may lead in a circle.
fn below(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for path in entries(folder)? {
        if path.is_dir() {
            if !path.is_symlink() {
                below(&path, files)?;
            }
        } else if is_trace(&path) {
            files.push(path);
        }
    }
    Ok(())
}

fn is_trace(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "parquet")
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = || format!("{}: cannot read the folder", folder.display());
    let paths = fs::read_dir(folder).with_context(failed)?;
    paths.map(|entry| Ok(entry.with_context(failed)?.path())).collect()
}

/// Adds every file that `pattern` matches.
fn matching(pattern: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let mut found = vec![PathBuf::new()];
    for part in pattern.components() {
        let name = part.as_os_str().to_string_lossy();
        let is_plain = !matches!(part, Component::Normal(_)) || !name.contains(['*', '?']);
        let mut next = Vec::new();
        for folder in found {
            if is_plain {
                next.push(folder.join(part));
                continue;
            }
            let place = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
            if name == "**" {
                next.push(folder.clone());
                folders_below(place, &folder, &mut next)?;
            } else if place.is_dir() {
                let fits = Pattern::new(&name);
                let names =
                    entries(place)?.into_iter().filter_map(|p| p.file_name().map(PathBuf::from));
                let fitting = names.filter(|name| fits.matches(&name.to_string_lossy()));
                next.extend(fitting.map(|name| folder.join(name)));
            }
        }
        found = next;
    }
    for path in found {
        if path.is_dir() {
            below(&path, files)?;
        } else if path.exists() {
            files.push(path);
        }
    }
    files.sort();
    files.dedup();
    Ok(())
}

/// Adds the folders below `place`, which is called `name`, however deep.
fn folders_below(place: &Path, name: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    if !place.is_dir() {
        return Ok(());
    }
    for path in entries(place)?.into_iter().filter(|path| path.is_dir()) {
        let name = name.join(path.file_name().unwrap_or_default());
        found.push(name.clone());
        folders_below(&path, &name, found)?;
    }
    Ok(())
}

fn look_into(path: &Path, damaged: Damaged) -> Result<Input> {
    let trace = TraceReader::open(path)?;
    match trace.check_sums()? {
        // Only its rows tell whether an old trace is damaged: a replay stops there, unless it has to go on.
        Checked::HasNone if damaged == Damaged::Skipped => {
            let mut rows = TraceReader::open(path)?.on_one_thread().batches();
            rows.try_for_each(|batch| batch.map(|_| ()))?;
        }
        Checked::HasNone | Checked::Sound => {}
    }
    let mut hasher = KeyHasher::new("trace");
    hasher.update_file(path).with_context(|| format!("{}: cannot read", path.display()))?;
    let meta = trace.meta();
    Ok(Input {
        origin: Origin::new(hasher.finish().to_string(), host(path, meta), meta),
        release: meta.kernel_release.clone(),
        page_bytes: page_bytes(meta),
        one_in: meta.portion.as_ref().map(|portion| portion.one_in),
        lack: meta.lacks_lifetimes(),
        path: path.to_owned(),
    })
}

/// Returns the bytes of a page of the recorded machine.
pub(super) fn page_bytes(meta: &Meta) -> u64 {
    Changes::default().machine_page_bytes(meta)
}

/// Returns by what the call sites of `inputs` are joined.
pub(crate) fn site_names(inputs: &[Input]) -> SiteNames {
    let builds: BTreeSet<&str> = inputs.iter().map(|input| input.origin.build.as_str()).collect();
    SiteNames::of_builds(builds.len())
}

/// Returns what the folders of `path` say of `name`, as `name=value`.
fn partition(path: &Path, name: &str) -> Option<String> {
    let parts = path.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
    let value = |part: String| Some(part.strip_prefix(name)?.strip_prefix('=')?.to_owned());
    parts.filter_map(value).next_back()
}

/// Returns the day of a trace: what its folder says goes before the recorder's clock; "" when neither says.
pub(crate) fn date(path: &Path, meta: &Meta) -> String {
    let of_clock =
        || meta.start_unix_ns.map_or_else(String::new, |ns| day(ns / 86_400_000_000_000));
    partition(path, "date").unwrap_or_else(of_clock)
}

/// Returns the date of a day since 1970, in UTC.
///
/// Source: H. Hinnant, chrono-Compatible Low-Level Date Algorithms: years begin in March, so that leap days come last.
fn day(days: u64) -> String {
    // Days since 0000-03-01; an era is 400 years.
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year + later)
}

/// Returns whose trace it is: what its folder says goes before what the recorder wrote.
pub(crate) fn host(path: &Path, meta: &Meta) -> String {
    match partition(path, "host") {
        Some(host) => host,
        None if meta.hostname.is_empty() => "(host not recorded)".to_owned(),
        None => meta.hostname.clone(),
    }
}

/// Says which of the traces were left out, and which are the same recording.
pub(crate) fn remarks(found: &Found) -> Vec<String> {
    let inputs = &found.inputs;
    let mut by_key: BTreeMap<&str, Vec<&Input>> = BTreeMap::new();
    for input in inputs {
        by_key.entry(&input.origin.key).or_default().push(input);
    }
    let mut groups: Vec<Vec<&Input>> =
        by_key.into_values().filter(|group| group.len() > 1).collect();
    groups.sort_by_key(|group| group[0].path.clone());
    let words = |group: &Vec<&Input>| {
        let [first, second, rest @ ..] = &group[..] else { return String::new() };
        let more =
            if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        format!(
            "{} and {}{more} are the same recording, and each of them counts.",
            first.path.display(),
            second.path.display()
        )
    };
    found.left_out.iter().cloned().chain(groups.iter().map(words)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        for (days, date) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (20_779, "2026-11-22"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(day(days), date);
        }
    }

    #[test]
    fn folders_and_patterns_find_every_trace_below_them() {
        let root = tempfile::tempdir().unwrap();
        let place = |name: &str| root.path().join(name);
        for name in [
            "host=a/date=1/x.parquet",
            "host=b/date=1/y.parquet",
            "host=b/z.parquet",
            "host=b/note.txt",
        ] {
            fs::create_dir_all(place(name).parent().unwrap()).unwrap();
            fs::write(place(name), "").unwrap();
        }
        let found = |pattern: &str| {
            let (mut files, path) = (Vec::new(), place(pattern));
            let found = if path.is_dir() { below } else { matching };
            found(&path, &mut files).unwrap();
            files.sort();
            let names = files.iter().map(|f| f.file_name().unwrap().to_string_lossy().into_owned());
            names.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(found("."), "x.parquet y.parquet z.parquet");
        assert_eq!(found("host=*/date=*/*.parquet"), "x.parquet y.parquet");
        assert_eq!(found("**/*.parquet"), "x.parquet y.parquet z.parquet");
        assert_eq!(found("host=?/z*"), "z.parquet");
        assert_eq!(found("host=*"), "x.parquet y.parquet z.parquet");
        assert_eq!(found("*/none*"), "");
        assert_eq!(partition(&place("host=a/date=1/x.parquet"), "host").as_deref(), Some("a"));
    }
}
