//! `slablab insmod`: a kernel module's source as a process of its own.
//!
//! The log goes to standard output as it comes, in `dmesg`'s form, and findings after it; the
//! result of init is printed on standard error in insmod's words. Exit status: 0 init succeeded and
//! nothing was found, 1 init failed or something was found (a finding, a crash, no end in time), 2
//! the module could not be started.

mod memory;
mod names;
mod session;
mod steps;
mod symbols;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use slablab_host::TemporaryFolder;
use slablab_kapi::steps::{Step, usages};
use slablab_kapi::toolchain::{self, Built, Flavor, Request};
use slablab_kapi::{Image, Job, Version, host};
use slablab_kmem::BackendKind;

use super::allocators::allocator;
use super::outputs::{check_folder, check_replaced};
use super::size::parse_bytes;
use crate::cli::{AnswerArgs, Format, OutputArgs};
use crate::output::give;
use crate::progress::Progress;
use crate::say::say;
use names::Names;
use session::{Live, Session};

/// What these commands print as JSON.
#[cfg(feature = "manual")]
pub(super) const SCHEMAS: &[crate::schema::Published] = {
    use crate::schema::Published;
    &[
        Published::answer::<symbols::Symbols>(),
        Published::answer::<symbols::Modinfo>(),
        Published::answer::<Session>(),
    ]
};

#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  slablab insmod memmax.c mode=2 --memory 256M\n  \
                        slablab insmod demo.c size=64 --check 2 --cat demo\n  \
                        slablab insmod demo.c --explain demo.html\n  \
                        slablab insmod scull --do 'write /dev/scull0 hello' --do 'read /dev/scull0'")]
pub(crate) struct Args {
    /// The module: FILE.c, or a folder with its sources and Kbuild
    #[arg(value_name = "FILE.c|DIR", required_unless_present_any = ["list_symbols", "list_steps", "child"])]
    source: Option<PathBuf>,
    /// The module of a folder whose Makefile makes several
    #[arg(long, value_name = "NAME")]
    module: Option<String>,
    /// Parameters of the module
    #[arg(value_name = "PARAM=VALUE")]
    params: Vec<String>,
    /// The allocator behind kmalloc and kmem_cache
    #[arg(long, value_name = "NAME", default_value = "slub", value_parser = allocator())]
    allocator: BackendKind,
    /// CPUs of the simulated machine
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    cpus: u32,
    /// Memory of the simulated machine
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = parse_bytes)]
    memory: u64,
    /// What is checked: 0 nothing, 1 invalid frees, 2 also leaks, out-of-bounds writes, locks that are left or were not
    /// taken, and sleeping in atomic context, with call sites
    #[arg(long, value_name = "LEVEL", default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=2))]
    check: u8,
    /// Read a file of the module after init: NAME under /proc, or /dev/NAME
    #[arg(long, value_name = "NAME")]
    cat: Vec<String>,
    /// Write to a file of the module after init, before any --cat
    #[arg(long, value_name = "NAME=TEXT")]
    write: Vec<String>,
    /// Use a file of the module after init, as a process: `write /dev/demo hello`, `read /dev/demo`, `open a /dev/demo
    /// rw nonblock` (`slablab insmod --steps` lists all)
    #[arg(long = "do", value_name = "STEP")]
    steps: Vec<String>,
    /// Take more steps from a file, one a line
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Print the steps that --do and --script take
    #[arg(long = "steps")]
    list_steps: bool,
    /// Wait this long after init, so that threads and timers of the module can run
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = parse_seconds)]
    wait: f64,
    /// Whether to run the module's exit function at the end, or to leave the module loaded
    #[arg(long, value_name = "WHEN", value_enum, num_args = 0..=1, require_equals = true,
          default_value_t = Rmmod::Yes, default_missing_value = "yes")]
    rmmod: Rmmod,
    /// Stop the module after this long and say where it was; 0 for never
    #[arg(long, value_name = "SECONDS", default_value_t = 120.0, value_parser = parse_seconds)]
    timeout: f64,
    /// Draw what the module did with memory, in a page that opens in a browser: caches, slabs with their objects by call
    /// site, addresses over time, and what was left
    #[arg(long, value_name = "FILE.html", conflicts_with_all = ["modinfo", "list_symbols", "list_steps"])]
    explain: Option<PathBuf>,
    /// The kernel version that the module is built for [default: 6.1, or else the newest that it compiles for]
    #[arg(long, value_name = "A.B[.C]")]
    kernel_version: Option<Version>,
    /// Build the module with AddressSanitizer
    #[arg(long)]
    asan: bool,
    /// Print addresses as they are for %p, as kernels before 4.15 did
    #[arg(long)]
    no_hash_pointers: bool,
    /// Print the module's metadata, as modinfo does, and do not run it
    #[arg(long)]
    modinfo: bool,
    /// Print the functions, variables and macros that modules can use
    #[arg(long)]
    list_symbols: bool,
    /// Be the process that runs a module
    #[arg(long, hide = true, value_name = "JOB")]
    child: Option<PathBuf>,
}

/// Whether the module's exit is run; words for each would make the help twice as long.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum Rmmod {
    Yes,
    No,
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|s| (0.0..=86_400.0).contains(s));
    seconds.ok_or_else(|| format!("{text:?} is not a number of seconds from 0 to 86400"))
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    if let Some(job) = &args.child {
        slablab_kapi::child_main(job)?;
        return Ok(ExitCode::SUCCESS);
    }
    let whole = AnswerArgs { all: true, ..AnswerArgs::default() };
    if args.list_symbols {
        give(&symbols::Symbols::new(), output, &whole)?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.list_steps {
        print_steps();
        return Ok(ExitCode::SUCCESS);
    }
    let source = args.source.as_deref().expect("clap requires it");
    if let Some(odd) = args.params.iter().find(|p| p.starts_with('=') || p.is_empty()) {
        bail!("{odd:?} is not a parameter; parameters look like name=value");
    }
    let steps = steps::read(&args.steps, args.script.as_deref())?;
    if let Some(page) = &args.explain {
        check_folder("--explain", page)?;
        check_replaced(&[("the module's source", source)], &[("--explain", page)])?;
    }
    let dir = TemporaryFolder::new("slablab-insmod-").context("cannot make a temporary folder")?;
    let flavor = if args.asan { Flavor::Asan } else { Flavor::Plain };
    let request =
        Request { source, module: args.module.as_deref(), version: args.kernel_version, flavor };
    let built = build(&request, dir.path())?;
    let image = Image::read(&built.image)?;
    if args.modinfo {
        give(&symbols::Modinfo::new(source, &built, image.info()), output, &whole)?;
        return Ok(ExitCode::SUCCESS);
    }
    say_how_it_was_built(args, &built);
    if image.info().get("license").is_none() {
        let name = &built.name;
        say(format_args!(
            "insmod: {name}: MODULE_LICENSE() is missing, which no kernel since 5.8 builds"
        ));
    }
    let job = job(args, &built, steps)?;
    let live = if output.format == Format::Table { Live::Print } else { Live::Keep };
    let mut session = Session::new(&job, Names::new(image, &built.image), live);
    let start = host::Start {
        command: &child_command()?,
        job: &job,
        dir: dir.path(),
        preload: built.preload.as_deref(),
        timeout: (args.timeout > 0.0).then(|| Duration::from_secs_f64(args.timeout)),
    };
    let (end, errors) = host::run(&start, |event| session.take(event))?;
    session.finish(&end, &errors, args.timeout);
    if let Some(page) = &args.explain {
        session.write_page(page)?;
    }
    if output.format != Format::Table {
        give(&session, output, &whole)?;
    }
    session.verdict()
}

fn print_steps() {
    for usage in usages() {
        println!("{usage}");
    }
}

/// Builds a module; says what takes its time the first time.
fn build(request: &Request<'_>, out: &Path) -> Result<Built> {
    let bar = Mutex::new(None);
    let progress = |done: usize, of: usize| {
        let mut bar = bar.lock().unwrap_or_else(PoisonError::into_inner);
        let what = "insmod: compiling the library that modules call, once for each version";
        let bar = bar.get_or_insert_with(|| {
            say(what);
            Progress::at_once("compiling the library", of as u64)
        });
        bar.set(done as u64);
    };
    Ok(toolchain::build(request, out, &progress)?)
}

/// Says what the compiler warned of, and the version where it is not that of the headers.
fn say_how_it_was_built(args: &Args, built: &Built) {
    if !built.warnings.is_empty() {
        say(built.warnings.trim_end());
    }
    if args.kernel_version.is_none() && built.version != toolchain::VERSIONS[0] {
        let (version, first) = (built.version, toolchain::VERSIONS[0]);
        say(format_args!(
            "insmod: built as for Linux {version}, for it does not compile as for {first} \
             (--kernel-version chooses)"
        ));
    }
}

fn job(args: &Args, built: &Built, steps: Vec<Step>) -> Result<Job> {
    let writes = args.write.iter().map(|write| {
        let (path, text) = write.split_once('=').with_context(|| {
            format!("--write {write}: expected NAME=TEXT, as in --write demo=clear")
        })?;
        Ok((path.to_string(), format!("{text}\n")))
    });
    Ok(Job {
        image: built.image.clone(),
        name: built.name.clone(),
        needed: built.needed.clone(),
        version: built.version,
        params: args.params.clone(),
        allocator: args.allocator.to_string(),
        cpus: args.cpus,
        memory_bytes: args.memory,
        // AddressSanitizer needs the guards between objects that the checks put there.
        check: if args.asan { args.check.max(2) } else { args.check },
        explain: args.explain.is_some(),
        writes: writes.collect::<Result<_>>()?,
        reads: args.cat.clone(),
        steps,
        wait_ms: (args.wait * 1000.0) as u64,
        rmmod: args.rmmod == Rmmod::Yes,
        plain_pointers: args.no_hash_pointers,
        asan: args.asan,
    })
}

fn child_command() -> Result<[OsString; 3]> {
    let exe = std::env::current_exe().context("the command cannot find its own file")?;
    Ok([exe.into(), "insmod".into(), "--child".into()])
}
