//! The events of a module's run: collected for JSON and CSV, printed as they come for people.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use serde::Serialize;
use slablab_kapi::host::End;
use slablab_kapi::steps::Step;
use slablab_kapi::{Block, Event, FaultKind, Job, Misuse, Stage};
use slablab_report::{Document, Item, Section, Shown, Style, Terminal};

use super::memory::Memory;
use super::names::{Names, Place};
use super::steps::{Done, error_text};
use crate::answers::explained::{Explained, View};
use crate::output::{Answer, Table, bytes, field, write_page};
use crate::say::say;

/// Whether events are printed as they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Live {
    Print,
    Keep,
}

/// What numbers of `--explain` leave out, and what they have too much.
const NODES: &str = "Nodes of XArrays, IDRs and radix trees are not in these numbers.";
const RED_ZONES: &str = "Red zones stand beside objects at this level of --check: objects take more, and slabs hold fewer. \
                         --check 1 shows those of a kernel.";

/// A module's run.
#[derive(Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(super) struct Session {
    module: String,
    kernel_version: String,
    allocator: String,
    cpus: u32,
    memory_bytes: u64,
    check: u8,
    log: Vec<Line>,
    init: Option<i64>,
    /// How often it was in use when it was to be removed, so that exit was not run.
    in_use: Option<u32>,
    exited: bool,
    files: Vec<File>,
    steps: Vec<Done>,
    findings: Vec<Finding>,
    /// How it ended early, in words.
    stopped: Option<String>,
    /// Where it was when its time was over.
    #[serde(skip)]
    hang: Option<String>,
    /// Bytes that are still allocated after exit.
    live_bytes: Option<u64>,
    /// What it did with memory, with `--explain`.
    memory: Option<Explained>,
    /// What was told of that so far.
    #[serde(skip)]
    told: Option<Memory>,
    /// The step that runs, and all of them.
    #[serde(skip)]
    step: Option<usize>,
    #[serde(skip)]
    planned: Vec<Step>,
    #[serde(skip)]
    refused: Option<String>,
    #[serde(skip)]
    stage: Stage,
    #[serde(skip)]
    open_line: bool,
    #[serde(skip)]
    names: Names,
    #[serde(skip)]
    live: Live,
    /// The modules that it needs.
    #[serde(skip)]
    needed: Vec<String>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
struct Line {
    time_ns: u64,
    level: u8,
    text: String,
}

#[derive(Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
struct File {
    path: String,
    text: String,
    result: i64,
}

#[derive(Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
struct Finding {
    kind: Misuse,
    count: u64,
    text: String,
    allocated_by: Option<String>,
    freed_by: Option<String>,
    call: Option<String>,
}

impl Session {
    pub(super) fn new(job: &Job, names: Names, live: Live) -> Self {
        Self {
            module: job.name.clone(),
            kernel_version: job.version.to_string(),
            allocator: job.allocator.clone(),
            cpus: job.cpus,
            memory_bytes: job.memory_bytes,
            check: job.check,
            log: Vec::new(),
            init: None,
            in_use: None,
            exited: false,
            files: Vec::new(),
            steps: Vec::new(),
            findings: Vec::new(),
            stopped: None,
            hang: None,
            live_bytes: None,
            memory: None,
            told: job.explain.then(Memory::default),
            step: None,
            planned: job.steps.clone(),
            refused: None,
            stage: Stage::Load,
            open_line: false,
            names,
            live,
            needed: job.needed.clone(),
        }
    }

    /// Takes what the child tells.
    pub(super) fn take(&mut self, event: Event) {
        match event {
            Event::Line { time_ns, level, text, ends } => self.line(time_ns, level, text, ends),
            Event::More { text, ends } => self.more(&text, ends),
            Event::Refused { message } => self.refused = Some(message),
            Event::Stage(stage) => {
                self.stage = stage;
                self.told.iter_mut().for_each(|told| told.stage(stage));
            }
            Event::Init { result, needed } => self.init(result, needed),
            Event::File { path } => {
                self.files.push(File { path, text: String::new(), result: 0 });
            }
            Event::Text { text } => self.text(&text),
            Event::FileEnd { result } => self.file_end(result),
            Event::Step { index } => self.step = Some(index as usize),
            Event::StepEnd { index, result, data } => self.step_end(index as usize, result, &data),
            Event::Exited => self.exited = true,
            Event::InUse { users } => self.in_use = Some(users),
            Event::Finding { kind, detail, count, block, site } => {
                self.finding(kind, &detail, count, block.as_ref(), site);
            }
            Event::Fault { kind } => {
                let what = match kind {
                    FaultKind::Bug => "BUG()",
                    FaultKind::Panic => "panic()",
                };
                self.stopped = Some(format!("{what} in {}", self.where_it_was()));
            }
            Event::Crash { signal, address, pc, frames } => {
                let place = self.place(pc, &frames);
                self.end_line();
                self.stopped =
                    Some(format!("{} at address {address:#x} {place}", signal_text(signal)));
            }
            Event::Hang { pc, frames } => self.hang = Some(self.place(pc, &frames)),
            Event::Totals { live_bytes, .. } => self.live_bytes = Some(live_bytes),
            other => {
                if let Some(told) = &mut self.told {
                    told.take(other);
                }
            }
        }
    }

    fn put(&self, text: &str) {
        if self.live == Live::Print {
            let mut out = std::io::stdout().lock();
            // A closed pipe ends the command when it next prints.
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        }
    }

    /// Ends a line of the log that is open, so that what follows begins on one of its own.
    fn end_line(&mut self) {
        if std::mem::take(&mut self.open_line) {
            self.put("\n");
        }
    }

    fn line(&mut self, time_ns: u64, level: u8, text: String, ends: bool) {
        self.end_line();
        let (seconds, micros) = (time_ns / 1_000_000_000, time_ns / 1000 % 1_000_000);
        self.put(&format!("[{seconds:5}.{micros:06}] {text}"));
        self.put(if ends { "\n" } else { "" });
        self.open_line = !ends;
        if self.live == Live::Keep {
            self.log.push(Line { time_ns, level, text });
        }
    }

    fn more(&mut self, text: &str, ends: bool) {
        self.put(text);
        self.put(if ends { "\n" } else { "" });
        self.open_line = !ends;
        if let Some(last) = self.log.last_mut() {
            last.text.push_str(text);
        }
    }

    /// Takes what init returned: its own, or that of a module that it needs.
    fn init(&mut self, result: i64, needed: Option<u32>) {
        self.end_line();
        self.init = Some(result);
        if self.live != Live::Print {
            return;
        }
        let needed = needed.and_then(|at| self.needed.get(at as usize));
        let module = needed.unwrap_or(&self.module);
        if result > 0 {
            // The kernel prints this, and goes on as well.
            say(format_args!(
                "insmod: {module}: init suspiciously returned {result}, it should be 0 or an error such as -ENOMEM"
            ));
        }
        if result < 0 {
            let why = needed.map_or(String::new(), |_| format!(", which {} needs", self.module));
            say(format_args!(
                "insmod: ERROR: could not insert module {module}.ko{why}: {}",
                error_text(result)
            ));
        }
    }

    fn text(&mut self, text: &str) {
        self.end_line();
        self.put(text);
        if let Some(file) = self.files.last_mut() {
            file.text.push_str(text);
        }
    }

    fn file_end(&mut self, result: i64) {
        let Some(file) = self.files.last_mut() else { return };
        file.result = result;
        if result < 0 && self.live == Live::Print {
            say(format_args!("insmod: {}: {}", file.path, error_text(result)));
        }
    }

    fn step_end(&mut self, index: usize, result: i64, data: &[u8]) {
        let Some(step) = self.planned.get(index) else { return };
        let done = Done::new(step, result, data);
        self.end_line();
        self.put(&done.lines());
        self.steps.push(done);
        self.step = self.step.filter(|&running| running != index);
    }

    fn finding(
        &mut self,
        kind: Misuse,
        detail: &str,
        count: u64,
        block: Option<&Block>,
        site: Option<u64>,
    ) {
        self.end_line();
        let mut text = self.names.in_text(detail);
        if let Some(block) = block {
            text += &format!("; {} of {} bytes at {:#x}", block.from, block.bytes, block.address);
        }
        let finding = Finding {
            kind,
            count,
            text,
            allocated_by: block.map(|b| self.names.name(Place::Return(b.site))),
            freed_by: block.and_then(|b| b.freed).map(|s| self.names.name(Place::Return(s))),
            call: site.map(|s| self.names.name(Place::Return(s))),
        };
        if self.is_told(&finding) {
            return;
        }
        let mut lines = format!("{}: {}\n", kind_text(kind), finding.text);
        let sites = [
            ("in", &finding.call),
            ("allocated by", &finding.allocated_by),
            ("freed before by", &finding.freed_by),
        ];
        for (what, place) in sites {
            if let Some(place) = place {
                lines += &format!("    {what} {place}\n");
            }
        }
        self.put(&lines);
        self.findings.push(finding);
    }

    /// Returns whether the same line is named already: for the same kind, or for what it left behind, memory included.
    fn is_told(&self, finding: &Finding) -> bool {
        let line = |place: &Option<String>| Some(place.as_ref()?.rsplit_once(" (")?.1.to_owned());
        let (call, by) = (line(&finding.call), line(&finding.allocated_by));
        self.findings.iter().any(|told| match finding.kind {
            Misuse::SleepInAtomic | Misuse::Left => {
                told.kind == finding.kind && call.is_some() && line(&told.call) == call
            }
            Misuse::Leak => told.kind == Misuse::Left && by.is_some() && line(&told.call) == by,
            _ => false,
        })
    }

    /// Says where the module was, and below it what called that.
    fn place(&mut self, pc: Option<u64>, frames: &[u64]) -> String {
        let (mut text, callers) = match (pc, frames) {
            (Some(pc), _) => (format!("in {}", self.names.name(Place::Instruction(pc))), frames),
            (None, [at, callers @ ..]) => {
                (format!("in a call by {}", self.names.name(Place::Return(*at))), callers)
            }
            (None, []) => ("outside of the module".into(), frames),
        };
        for &frame in callers {
            text += &format!("\n    called from {}", self.names.name(Place::Return(frame)));
        }
        text
    }

    fn where_it_was(&self) -> String {
        let step = self.step.and_then(|index| self.planned.get(index));
        match (self.stage, step) {
            (Stage::Load, _) => "loading".into(),
            (Stage::Init, _) => "init".into(),
            (Stage::Live, Some(step)) => format!("the step `{}`", step.text),
            (Stage::Live, None) => "the loaded module".into(),
            (Stage::Exit, _) => "exit".into(),
        }
    }

    /// Takes how the child ended.
    pub(super) fn finish(&mut self, end: &End, errors: &str, timeout_seconds: f64) {
        self.end_line();
        match end {
            End::Done => {}
            End::TimedOut => {
                let place = self.where_it_was();
                let hang = self.hang.take().map_or(String::new(), |hang| format!(", {hang}"));
                self.stopped = Some(format!(
                    "no end after {timeout_seconds} s in {place} (--timeout sets the limit){hang}"
                ));
            }
            End::Stopped { signal: Some(signal), .. } if self.stopped.is_none() => {
                let place = self.where_it_was();
                self.stopped = Some(format!("{} in {place}", signal_text(*signal)));
            }
            End::Stopped { status, .. } if self.stopped.is_none() => {
                let place = self.where_it_was();
                let status = status.unwrap_or_default();
                self.stopped = Some(if errors.contains("AddressSanitizer") {
                    format!("AddressSanitizer in {place}")
                } else {
                    format!("the module's process ended with status {status} in {place}")
                });
            }
            End::Stopped { .. } => {}
        }
        if !errors.is_empty() {
            say(errors.trim_end());
        }
        self.explain();
        if self.live == Live::Print {
            self.print_end();
        }
    }

    /// Makes the answer of what was told of memory, unless the module was not started.
    fn explain(&mut self) {
        let told = self.told.take().filter(|_| self.stage != Stage::Load);
        self.memory = told.map(|told| {
            let facts = vec![
                ("module", self.module.clone()),
                ("kernel version", self.kernel_version.clone()),
                ("allocator", self.allocator.clone()),
                ("CPUs", self.cpus.to_string()),
                ("memory", bytes(self.memory_bytes)),
                ("check", self.check.to_string()),
            ];
            let mut notes = vec![NODES.to_owned()];
            notes.extend((self.check >= 2).then(|| RED_ZONES.to_owned()));
            let view = View {
                module: self.module.clone(),
                facts,
                notes,
                exited: self.exited,
                ..View::default()
            };
            told.explain(&mut self.names, view)
        });
    }

    /// Prints what the page of `--explain` shows, in sentences, and writes it to `file`.
    pub(super) fn write_page(&self, file: &Path) -> Result<()> {
        let Some(memory) = &self.memory else { return Ok(()) };
        let document = memory.document();
        let sentences = Document { answers: document.answers.clone(), ..Document::default() };
        let view = Terminal { columns: None, style: Style::Plain, shown: Shown::First, rows: None };
        self.put(&slablab_report::terminal(&sentences, &view)?);
        write_page(&document, file)
    }

    fn print_end(&self) {
        if let Some(stopped) = &self.stopped {
            say(format_args!("insmod: {}: stopped by {stopped}", self.module));
        }
        if self.in_use.is_some() {
            let module = &self.module;
            say(format_args!(
                "rmmod: ERROR: Module {module} is in use: exit was not run, as no kernel would run it"
            ));
        }
        let known = self.findings.iter().any(|f| f.kind == Misuse::Leak);
        if let Some(live) = self.live_bytes.filter(|&live| live > 0 && !known && self.check < 2) {
            say(format_args!(
                "insmod: {}: {} are still allocated at the end (--check 2 names the call sites)",
                self.module,
                bytes(live)
            ));
        }
    }

    /// Returns the command's exit status.
    pub(super) fn verdict(&self) -> Result<ExitCode> {
        if let Some(message) = &self.refused {
            bail!("{}: {message}", self.module);
        }
        let started = self.stage != Stage::Load;
        if !started && self.stopped.is_some() {
            bail!("{}: {}", self.module, self.stopped.as_deref().unwrap_or_default());
        }
        let failed_file = self.files.iter().any(|file| file.result < 0)
            || self.steps.iter().any(|step| !step.good);
        let failed = self.init.is_some_and(|result| result < 0);
        let stays = self.stopped.is_some() || self.in_use.is_some();
        let wrong = failed || failed_file || stays || !self.findings.is_empty();
        Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

fn kind_text(kind: Misuse) -> &'static str {
    match kind {
        Misuse::Leak => "leak",
        Misuse::CacheLeak => "cache not destroyed",
        Misuse::CacheBusy => "cache destroyed with live objects",
        Misuse::DoubleFree => "double free",
        Misuse::Overflow => "out-of-bounds write",
        Misuse::InteriorFree => "invalid free of a pointer into a block",
        Misuse::ForeignFree => "invalid free of what was not allocated",
        Misuse::WrongFree => "mismatched free",
        Misuse::SleepInAtomic => "sleep in atomic context",
        Misuse::AtomicLeft => "lock or atomic context left",
        Misuse::Unbalanced => "unlock without a lock",
        Misuse::WriteAfterFree => "write to freed memory",
        Misuse::ReadAfterFree => "read of freed memory",
        Misuse::Left => "left behind",
        Misuse::LockOrder => "locks in both orders",
        Misuse::LockTwice => "lock taken twice",
        Misuse::Reference => "reference count",
        Misuse::ObjectState => "object in the wrong state",
        Misuse::Damage => "corruption",
    }
}

fn signal_text(signal: i32) -> String {
    let name = match signal {
        4 => "SIGILL (illegal instruction)",
        5 => "SIGTRAP (trap)",
        6 => "SIGABRT (abort)",
        7 => "SIGBUS (bus error)",
        8 => "SIGFPE (division by zero)",
        9 => "SIGKILL (killed)",
        11 => "SIGSEGV (invalid memory access)",
        other => return format!("signal {other}"),
    };
    name.into()
}

impl Answer for Session {
    const SCHEMA: &'static str = "slablab.insmod/1";

    fn document(&self) -> Document {
        let fields = [
            field::count("time", "time_ns", |line: &Line| line.time_ns),
            field::count("level", "level", |line| line.level.into()),
            field::name("text", "text", |line| &line.text),
        ];
        let log = Item::table("", "", Table::of(&self.log, fields));
        Document {
            title: format!("The log of {}", self.module),
            sections: vec![Section::first("log", "", vec![log])],
            ..Document::default()
        }
    }
}
