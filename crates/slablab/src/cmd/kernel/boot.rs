//! `slablab kernel boot`: boots a kernel, runs a command in it, shows what came.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use slablab_host::shell;
use slablab_lab::guest;
use slablab_trace::ImportOptions;
use slablab_vm::{Data, Initramfs, Kernel, KernelBuilder, Machine, job_output};

use super::options::{BuilderArgs, GuestArgs, InstallArgs, SpecArgs};
use crate::cli::OutputArgs;
use crate::output::{self, Cell, Column, Page, Report, Table};
use crate::progress::Progress;

/// Boot a kernel and run a command in it
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
                        slablab kernel boot slob --cpus 4 -- hackbench -g 4 -l 100\n  \
                        slablab kernel boot debian:7.3/arm64-16k --record t.parquet -- hackbench -g 2 -l 50")]
pub(crate) struct Args {
    /// The kernel: an allocator, debian:6.12, debian:7.3/arm64-16k, build:6.12/slub_tiny, or a path
    #[arg(value_name = "KERNEL")]
    kernel: String,
    /// The command to run in the guest, word by word, or a line for its shell as one word [default: show memory and
    /// slabs]
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// A script for the guest's shell (busybox) instead of a command
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    script: Option<PathBuf>,
    /// Memory of the guest in MiB
    #[arg(long, value_name = "MIB", default_value_t = 1024,
          value_parser = clap::value_parser!(u32).range(16..=1_048_576))]
    memory: u32,
    /// A boot parameter; may be given several times
    #[arg(long = "append", value_name = "ARGUMENT", allow_hyphen_values = true)]
    arguments: Vec<String>,
    /// Build a module of kernel/modules and put it into /lib/modules; may be given several times
    #[arg(long = "module", value_name = "NAME")]
    modules: Vec<String>,
    /// Put a program of this machine (a name or a path) into /bin, with its libraries; may be
    /// given several times
    #[arg(long = "with", value_name = "PROGRAM")]
    programs: Vec<String>,
    /// Give up when the guest sends nothing for this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120,
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    silence: u64,
    /// Give up when the command still runs after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600,
          value_parser = clap::value_parser!(u64).range(1..=604_800))]
    limit: u64,
    /// Record the kernel's allocations from its boot to the command's end into this trace, by tracefs alone: any machine can
    /// do it; takes 192 MiB more memory for each CPU (--append trace_buf_size=64M takes
    /// another buffer than 48 MiB, 24 for other machines)
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Keep console, rows and files in this folder
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    guest: GuestArgs,
    #[command(flatten)]
    spec: SpecArgs,
    #[command(flatten)]
    builder: BuilderArgs,
    #[command(flatten)]
    install: InstallArgs,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Booted {
    kernel: String,
    release: String,
    accel: String,
    emulated: bool,
    accel_why: String,
    rows: Vec<Value>,
    files: Vec<PathBuf>,
    console: String,
}

impl Report for Booted {
    const SCHEMA: &'static str = "slablab.kernel-boot/1";

    fn text(&self, page: &mut Page) {
        let emulated = if self.emulated { ", times are emulated" } else { "" };
        page.line(format!("{} under {} ({}){emulated}", self.kernel, self.accel, self.accel_why));
        page.heading("Console");
        page.lines(&self.console);
        if !self.rows.is_empty() {
            page.heading("Rows");
            self.rows.iter().for_each(|row| page.line(row.to_string()));
        }
        if !self.files.is_empty() {
            page.heading("Files");
            self.files.iter().for_each(|path| page.line(path.display().to_string()));
        }
    }

    fn csv(&self) -> Table {
        let mut table = Table::new([Column::name("row", "row")]);
        self.rows.iter().for_each(|row| table.row([Cell::text(row.to_string())]));
        table
    }
}

/// Runs `slablab kernel boot`.
pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let data = Data::find()?;
    let spec = args.spec.named(&data, &args.kernel)?;
    args.modules.iter().try_for_each(|name| data.module(name).map(|_| ()))?;
    let mut job = job(args)?;
    if args.record.is_some() {
        job = guest::from_boot_job(&job);
    }
    let mut bar = Progress::default();
    let builder = args.install.open(&args.builder, &spec.needs(), &mut bar)?;
    let kernel = builder.build(&spec, &mut |step| bar.show(&step))?;
    let initramfs = initramfs(args, &builder, &kernel, &job, &mut bar)?;
    let (accel, accel_why) = args.guest.accel.resolve(&builder, &kernel, &mut bar)?;
    bar.clear();
    let mut machine = Machine::new(kernel, args.guest.cpus, initramfs);
    machine.memory_mib = args.memory;
    machine.arguments.clone_from(&args.arguments);
    machine.silence = Duration::from_secs(args.silence);
    machine.limit = Duration::from_secs(args.limit);
    if args.record.is_some() {
        machine.memory_mib += guest::from_boot_memory_mib(machine.cpus);
        // Before what was asked for, so that trace_buf_size can be.
        let ours = guest::from_boot_arguments(&machine.kernel);
        machine.arguments.splice(0..0, ours);
    }
    // What is not asked for goes with the folder, but a console that shows trouble is kept.
    let kept = match &args.output {
        Some(folder) => folder.clone(),
        None => tempfile::Builder::new().prefix("slablab-boot-").tempdir()?.keep(),
    };
    let progress = Progress::spinner(&format!("{} under {}", machine.name(), accel.name()));
    let boot = machine.boot(accel, &kept, &builder.interrupt)?;
    drop(progress);
    let files = match &args.record {
        Some(trace) => record(trace, boot.files, args.output.is_some(), &mut bar)?,
        None => boot.files,
    };
    let booted = Booted {
        kernel: machine.name(),
        release: machine.kernel.release().to_owned(),
        accel: accel.name().into(),
        emulated: accel.is_emulated(),
        accel_why,
        rows: boot.rows,
        files: files.into_iter().map(|(_, path)| path).collect(),
        console: job_output(&fs::read(&boot.console)?),
    };
    output::print(&booted, output, None)?;
    let is_needed =
        args.output.is_some() || booted.files.iter().any(|path| path.starts_with(&kept));
    if !is_needed {
        fs::remove_dir_all(&kept).with_context(|| format!("{}: cannot remove", kept.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes a trace of the guest's recording; returns the files that are left, the trace among them.
fn record(
    trace: &Path,
    files: Vec<(String, PathBuf)>,
    is_kept: bool,
    bar: &mut Progress,
) -> Result<Vec<(String, PathBuf)>> {
    let is_ours = |name: &str| ["recording.txt", "slabinfo.txt"].contains(&name);
    let (ours, mut others): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|(name, _)| is_ours(name));
    let recording = ours.iter().find(|(name, _)| name == "recording.txt");
    let (_, recording) = recording.context("the guest sent no recording")?;
    let options = ImportOptions::new(recording, trace);
    slablab_trace::import(&options, &mut |step| bar.step(step))?;
    bar.clear();
    if is_kept {
        others.extend(ours);
    }
    others.push(("trace".to_owned(), trace.to_owned()));
    Ok(others)
}

/// Returns the guest's script.
fn job(args: &Args) -> Result<String> {
    if let Some(path) = &args.script {
        return fs::read_to_string(path)
            .with_context(|| format!("{}: cannot read", path.display()));
    }
    if args.command.is_empty() {
        return Ok("uname -a\ngrep -E '^(Mem|Slab|SRecl|SUnre)' /proc/meminfo\n".into());
    }
    Ok(format!("{}\n", shell::line(&args.command)))
}

fn initramfs(
    args: &Args,
    builder: &KernelBuilder,
    kernel: &Kernel,
    job: &str,
    bar: &mut Progress,
) -> Result<Initramfs> {
    let mut initramfs = builder.initramfs(kernel, job, &mut |step| bar.show(&step))?;
    initramfs.tool("hackbench")?;
    if args.record.is_some() {
        guest::add_slabinfo(builder, kernel, &mut initramfs)?;
    }
    args.programs.iter().try_for_each(|program| initramfs.tool_or_path(program))?;
    for path in kernel.own_modules()? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        initramfs.file(&format!("lib/modules/{name}"), &path);
    }
    for name in &args.modules {
        let module = builder.data.module(name)?;
        let show = &mut |step: slablab_vm::Step<'_>| bar.show(&step);
        let path = builder.build_module(&module, kernel, show)?;
        initramfs.file(&format!("lib/modules/{name}.ko"), &path);
    }
    Ok(initramfs)
}
