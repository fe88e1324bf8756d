//! Tables of slab memory in text: which inputs are such, and what they tell.
//!
//! # How it works
//! A text is one of tables where its beginning has rows of a table and no event. An input in no known format of recordings
//! is also read to its end for tables, since a table may stand behind a long log.

use std::io::{BufRead, BufReader, IsTerminal, stdin};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result, bail};
use slablab_host::{is_made_by_the_kernel, printable};
use slablab_snapshot::{Paste, apart};
use slablab_trace::{Input, is_cache_name};

use super::filter::FilterArgs;
use super::no_table;
use crate::answers::free::FreeAnswer;
use crate::answers::holding::HoldingAnswer;
use crate::cli::{AnswerArgs, OutputArgs};
use crate::output::give;
use crate::say::say;

/// The text by which events name their call site: a text with it is a recording.
const EVENT: &str = "call_site=";

/// Facts about times that a text does not tell.
#[derive(clap::Args, Debug, Default, Clone)]
pub(crate) struct TableArgs {
    /// Read tables that are pasted into the terminal, up to Ctrl-D
    #[arg(long, conflicts_with = "trace")]
    pub(crate) paste: bool,
    /// Time between the moments of tables that tell none (60s, 5m, 1h)
    #[arg(long, value_name = "TIME", value_parser = slablab_snapshot::parse_seconds)]
    pub(crate) every: Option<f64>,
}

/// Returns whether an input is a text of tables, by its begin.
pub(crate) fn is_tables(input: &Input) -> bool {
    let Some(head) = input.head_text().filter(|head| !head.contains(EVENT)) else { return false };
    Paste::read(head.as_bytes()).is_ok_and(|paste| has_any(&paste))
}

/// Returns whether a text has something that can be answered about.
fn has_any(paste: &Paste) -> bool {
    !paste.tables.is_empty() || !paste.free.is_empty()
}

/// What a text of tables is an answer about.
pub(crate) enum TablesAnswer {
    /// What holds slab memory
    Holding(HoldingAnswer),
    /// Which blocks of pages are free, where the text tells nothing else
    Free(FreeAnswer),
}

impl TablesAnswer {
    fn new(files: Vec<String>, paste: Paste, args: &TableArgs, notes: Vec<String>) -> Self {
        if paste.tables.is_empty() {
            return Self::Free(FreeAnswer::new(files, &paste));
        }
        Self::Holding(HoldingAnswer::new(files, paste, args.every, notes))
    }

    /// Writes the answer.
    pub(crate) fn give(&self, output: &OutputArgs, args: &AnswerArgs) -> Result<()> {
        match self {
            Self::Holding(answer) => give(answer, output, args),
            Self::Free(answer) => give(answer, output, args),
        }
    }
}

/// Returns the files of tables that several paths, folders and patterns mean, in the order of their moments; nothing if
/// they mean recordings.
pub(crate) fn files(paths: &[&Path]) -> Result<Option<Vec<PathBuf>>> {
    let mut files = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => files.extend(of_folder(path)?),
            false if path.is_file() => files.push((*path).to_owned()),
            // A pattern, or what is not there: who reads recordings says that.
            false => return Ok(None),
        }
    }
    let mut recording = None;
    let mut table = None;
    for file in &files {
        let input = Input::open(file)?;
        if is_tables(&input) {
            table = table.or(Some(file));
        } else if !slablab_trace::is_text_of_no_recording(&input) {
            recording = recording.or(Some(file));
        }
    }
    match (table, recording) {
        (Some(table), Some(recording)) => bail!(
            "{} is a table of slab memory and {} is a recording: give the tables to one command and the recordings to \
             another",
            table.display(),
            recording.display()
        ),
        (None, Some(_)) => Ok(None),
        _ => Ok(Some(files).filter(|files| !files.is_empty())),
    }
}

/// Returns the tables in a folder and those below it, in the order of their names; its traces if it has any.
fn of_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let cannot = || format!("{}: cannot read", folder.display());
    let mut files = Vec::new();
    if is_made_by_the_kernel(folder) {
        bail!(
            "{}: is a folder of files that the kernel makes, and some wait for ever: name the file, such as {SLABINFO}",
            folder.display()
        );
    }
    for entry in folder.read_dir().with_context(cannot)? {
        let entry = entry.with_context(cannot)?;
        let path = entry.path();
        // A link may lead back to where it stands.
        if entry.file_type().with_context(cannot)?.is_dir() {
            let below = of_folder(&path)?;
            if let [first, ..] = &below[..]
                && is_parquet(first)
            {
                return Ok(below);
            }
            files.extend(below);
            continue;
        }
        if is_parquet(&path) {
            return Ok(vec![path]);
        }
        if path.is_file() && Input::open(&path).is_ok_and(|input| is_tables(&input)) {
            files.push(path);
        }
    }
    files.sort_by_cached_key(|file| natural(file));
    Ok(files)
}

fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "parquet")
}

/// A name in its parts, in which numbers are compared as such: `slab.2` comes before `slab.10`.
fn natural(path: &Path) -> Vec<(String, u64)> {
    let name = path.to_string_lossy();
    let mut parts: Vec<(String, u64)> = Vec::new();
    let mut rest = &name[..];
    while !rest.is_empty() {
        let words = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let digits = &rest[words..];
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        parts.push((rest[..words].to_owned(), digits[..end].parse().unwrap_or(0)));
        rest = &digits[end..];
    }
    parts
}

/// Refuses to take a part of a table.
pub(crate) fn refuse_filter(path: &Path, filter: &FilterArgs) -> Result<()> {
    if !filter.is_empty() {
        bail!("{}: a table has no events from which a part could be taken", path.display());
    }
    Ok(())
}

/// Answers about the tables of an input.
pub(crate) fn of_input(input: Input, args: &TableArgs) -> Result<TablesAnswer> {
    let path = input.path().to_owned();
    let name = path.display().to_string();
    let mut paste = read(BufReader::new(input.into_reader()), &name)?;
    if path == Path::new(SLABINFO) {
        complete(&mut paste);
    }
    let notes = doubts(&paste);
    Ok(TablesAnswer::new(vec![name], paste, args, notes))
}

/// Says that the end of a series is missing, and which size of pages was taken.
fn doubts(paste: &Paste) -> Vec<String> {
    let torn = "The last moment is not whole, as after a power cut, and was left out; `slablab watch -o` goes on behind the \
                others.";
    let pages = "Pages are counted with 4 KiB each: the text does not tell how large they are.";
    let notes = [(paste.is_torn, torn), (paste.is_page_size_taken, pages)];
    notes.iter().filter(|(is_so, _)| *is_so).map(|(_, note)| (*note).to_owned()).collect()
}

/// The caches of the running kernel.
const SLABINFO: &str = "/proc/slabinfo";

/// Adds the running machine's own facts beside its slabinfo: its memory, and which caches it counts as
/// reclaimable.
fn complete(paste: &mut Paste) {
    if let Ok(meminfo) = std::fs::read("/proc/meminfo")
        && let Ok(said) = Paste::read(&meminfo[..])
    {
        paste.machine.extend(said.machine);
    }
    let moments = paste.tables.iter_mut().flat_map(|table| &mut table.moments);
    let entries = moments.flat_map(|moment| &mut moment.entries);
    for entry in entries.filter(|entry| is_cache_name(&entry.name)) {
        let file = Path::new("/sys/kernel/slab").join(&entry.name).join("reclaim_account");
        entry.reclaimable = std::fs::read_to_string(file).ok().map(|flag| flag.trim() == "1");
    }
}

/// Times of files that are nearer than this were not written one after the other, but copied.
const APART_SECONDS_MIN: f64 = 10.0;

/// Answers about the tables of several files, whose times follow each other.
pub(crate) fn of_files(paths: &[PathBuf], args: &TableArgs) -> Result<TablesAnswer> {
    let seconds = |path: &PathBuf| {
        let written = path.metadata().ok()?.modified().ok()?;
        Some(written.duration_since(UNIX_EPOCH).ok()?.as_secs_f64())
    };
    let times: Vec<Option<f64>> = paths.iter().map(seconds).collect();
    let are_apart = times.windows(2).all(|pair| {
        pair[0].zip(pair[1]).is_some_and(|(before, after)| after - before >= APART_SECONDS_MIN)
    });
    let use_times = are_apart && args.every.is_none();
    let mut texts = Vec::with_capacity(paths.len());
    let mut notes = Vec::new();
    for (path, seconds) in paths.iter().zip(times) {
        let name = path.display().to_string();
        let mut paste = read(BufReader::new(Input::open(path)?.into_reader()), &name)?;
        paste.unread.iter_mut().for_each(|unread| unread.file = Some(name.clone()));
        let tells_none = paste.tables.iter().any(|table| table.last().time_seconds.is_none());
        if use_times && tells_none && notes.is_empty() {
            notes.push("The times are those at which the files were written.".to_owned());
        }
        texts.push((paste, seconds.filter(|_| use_times)));
    }
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let paste = Paste::joined(texts).under(&names);
    if paste.hosts.len() < 2 && paste.tables.iter().all(|table| apart(&paste, table).is_none()) {
        notes.push("The files are taken as moments of one machine.".to_owned());
    }
    notes.extend(doubts(&paste));
    Ok(TablesAnswer::new(names, paste, args, notes))
}

/// Answers about what is pasted.
pub(crate) fn of_paste(args: &TableArgs) -> Result<TablesAnswer> {
    if stdin().is_terminal() {
        say("slablab: paste the table, then press Ctrl-D");
    }
    let name = "the paste";
    let paste = read(stdin().lock(), name)?;
    let notes = doubts(&paste);
    Ok(TablesAnswer::new(vec![name.to_owned()], paste, args, notes))
}

fn read(mut text: impl BufRead, name: &str) -> Result<Paste> {
    let start =
        String::from_utf8_lossy(text.fill_buf().with_context(|| format!("{name}: cannot read"))?);
    let start: String = start.chars().take(400).collect();
    let paste = Paste::read(text).with_context(|| format!("{name}: cannot read"))?;
    if !has_any(&paste) {
        if paste.text_lines == 0 {
            bail!(
                "{name}: the text is blank; give a recording, or a text with a table of slab memory"
            );
        }
        if let Some(what) = no_table::known(&start) {
            bail!("{name}: {what}");
        }
        let has = if paste.lines == 1 { "has" } else { "have" };
        bail!(
            "{name}: {} {has} no row of a table that can be read; {READABLE}",
            lines(&paste, &start)
        );
    }
    Ok(paste)
}

/// Says how many lines there are, and how they begin.
fn lines(paste: &Paste, start: &str) -> String {
    const START_CHARS: usize = 40;
    let lines = slablab_report::counted(paste.lines, "line");
    let first = start.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let first: String = first.chars().take(START_CHARS).collect();
    match first.is_empty() {
        true => lines,
        false => format!("{lines} beginning with \"{}\"", printable(&first)),
    }
}

/// What can be read, as refusals say it.
pub(crate) const READABLE: &str = "slablab info reads one row a line. Of caches: slabinfo, slabtop, vmstat -m, crash's kmem -s, \
    the OOM killer's list, slabinfo of tools/mm, ZFS's slab, node_exporter, SLUB's message of a failed allocation, meminfo. Of \
    call sites: allocinfo, alloc_traces, kmemleak, memleak, slabratetop, perf kmem and page_owner. Of free pages: buddyinfo, \
    pagetypeinfo and the kernel's list by order";
