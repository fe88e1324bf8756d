//! `slablab kernel boot`: boots a kernel, runs a command in it, and shows the results.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use slablab_host::shell;
use slablab_lab::guest;
use slablab_report::Flame;
use slablab_trace::ImportOptions;
use slablab_vm::{Accel, Data, Initramfs, Kernel, KernelBuilder, Machine, Need, job_output};

use super::options::{BuilderArgs, GuestArgs, InstallArgs, SpecArgs};
use crate::answers::kernel::BootAnswer;
use crate::cli::{AnswerArgs, OutputArgs};
use crate::cmd::outputs::check_folder;
use crate::output::{give, write_whole};
use crate::progress::Progress;

/// Boot a kernel and run a command in it
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
                        slablab kernel boot slob --cpus 4 -- hackbench -g 4 -l 100\n  \
                        slablab kernel boot debian:7.3/arm64-16k --record t.parquet -- hackbench -g 2 -l 50\n  \
                        slablab kernel boot build:6.12/slub --flame flame.svg -- hackbench -g 10 -l 40")]
pub(crate) struct Args {
    /// The kernel: an allocator, debian:6.12, debian:7.3/arm64-16k, build:6.12/slub_tiny, or a path
    #[arg(value_name = "KERNEL")]
    kernel: String,
    /// The command in the guest, word by word, or a line for its shell as one word [default: show memory and slabs]
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
    /// Put a module of kernel/modules into /lib/modules; may be given several times
    #[arg(long = "module", value_name = "NAME")]
    modules: Vec<String>,
    /// Put a program of this machine into /bin, with its libraries; may be given several times
    #[arg(long = "with", value_name = "PROGRAM")]
    programs: Vec<String>,
    /// Give up when the guest is silent for this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120,
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    silence: u64,
    /// Give up when the command takes longer than this
    #[arg(long, value_name = "SECONDS", default_value_t = 600,
          value_parser = clap::value_parser!(u64).range(1..=604_800))]
    limit: u64,
    /// Record the kernel's allocations from its boot on into this trace; takes 192 MiB more memory for each CPU
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Draw where the kernel spends its time meanwhile into this file (SVG), with its stacks in FILE.folded
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    flame: Option<PathBuf>,
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

/// Runs `slablab kernel boot`.
pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let data = Data::find()?;
    let spec = args.spec.named(&data, &args.kernel)?;
    args.modules.iter().try_for_each(|name| data.module(name).map(|_| ()))?;
    let mut job = job(args)?;
    if args.record.is_some() {
        job = guest::from_boot_job(&job);
    }
    let mut needs = spec.needs();
    if args.flame.is_some() {
        job = guest::profiled_job(&job);
        needs.push(Need::PROFILE);
    }
    // This is checked before a boot that takes minutes.
    for (name, file) in [("--record", &args.record), ("--flame", &args.flame)] {
        file.iter().try_for_each(|file| check_folder(name, file))?;
    }
    let mut bar = Progress::default();
    let mut builder = args.install.open(&args.builder.places(), &needs, &mut bar)?;
    args.builder.set_jobs(&mut builder);
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
        // They come before the requested ones, so that trace_buf_size can be set.
        let ours = guest::from_boot_arguments(&machine.kernel);
        machine.arguments.splice(0..0, ours);
    }
    // Files that were not requested go with the folder, but a console that shows trouble is kept.
    let kept = match &args.output {
        Some(folder) => folder.clone(),
        None => tempfile::Builder::new().prefix("slablab-boot-").tempdir()?.keep(),
    };
    let progress = Progress::spinner(&format!("{} under {}", machine.name(), accel.name()));
    let boot = machine.boot(accel, &kept, &builder.interrupt)?;
    drop(progress);
    let files = match (&args.record, &args.flame) {
        (Some(trace), _) => record(trace, boot.files, args.output.is_some(), &mut bar)?,
        (None, Some(graph)) => flame(graph, &machine, accel, boot.files)?,
        (None, None) => boot.files,
    };
    let booted = BootAnswer {
        kernel: machine.name(),
        release: machine.kernel.release().to_owned(),
        accel: accel.name().into(),
        emulated: accel.is_emulated(),
        accel_why,
        rows: boot.rows,
        files: files.into_iter().map(|(_, path)| path).collect(),
        console: job_output(&fs::read(&boot.console)?),
    };
    give(&booted, output, &AnswerArgs::default())?;
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

/// Draws the flame graph of a guest's samples; returns the files that are left, the graph and its stacks among them.
fn flame(
    graph: &Path,
    machine: &Machine,
    accel: Accel,
    files: Vec<(String, PathBuf)>,
) -> Result<Vec<(String, PathBuf)>> {
    let (stacks, mut others): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|(name, _)| name == guest::STACKS);
    let (_, path) = stacks.first().context("the guest sent no samples")?;
    let text =
        fs::read_to_string(path).with_context(|| format!("{}: cannot read", path.display()))?;
    let (folded, samples) = guest::fold(&text);
    if samples == 0 {
        bail!("{}: perf took no sample; give the command more to do", machine.name());
    }
    let title = format!("{} {}, {}", machine.name(), machine.kernel.release(), accel.name());
    let mut flame = Flame::new(title, "samples", "perf record -e cpu-clock:k -a -g");
    flame.add_folded(&folded);
    let stacks = graph.with_extension("folded");
    write_whole(graph, flame.svg().as_bytes())?;
    write_whole(&stacks, folded.as_bytes())?;
    others.push(("flame graph".to_owned(), graph.to_owned()));
    others.push(("folded stacks".to_owned(), stacks));
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
    if args.flame.is_some() {
        initramfs.tool("perf")?;
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
