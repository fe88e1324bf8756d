//! `slablab kernel run`: an experiment of the lab in real kernels, from nothing to its table.
//!
//! How it works: the options become parameters of the experiment, which then runs as `slablab lab run NAME --engine
//! kernel --full` does.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Subcommand, ValueEnum};
use slablab_lab::{Engine, Scale};
use slablab_vm::{Data, Spec};

use super::options::{AccelArg, BuilderArgs, InstallArgs, SpecArgs, or_allocators};
use crate::cli::OutputArgs;
use crate::cmd::lab::run::{Job, measure};
use crate::progress::Progress;

/// Run an experiment: build, boot, measure and compare kernels
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Each boot is a row in FOLDER/raw.jsonl. The same command continues a run that was\n\
     interrupted; 'slablab lab compare FOLDER' and 'slablab report FOLDER' show its rows.\n\n\
                        Examples:\n  \
                        slablab kernel run hackbench --allocators slub,slob --cpus 1,2\n  \
                        slablab kernel run audit-cache --report audit-cache.html"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    experiment: Which,
}

/// The experiments.
#[derive(Subcommand, Debug)]
enum Which {
    /// How do the allocators compare on message passing?
    Hackbench(Hackbench),
    /// Would a kmem_cache of its own make fork's audit context faster?
    AuditCache(AuditCache),
    /// Which table behind get_kprobe() is fastest, by number of probes?
    Kprobes(Kprobes),
    /// What did the generations of SLUB do to slab memory?
    Generations(Generations),
    /// What does a script of your own need, by kernel and boot parameters?
    Script(Script),
}

/// Options of `generations`.
#[derive(clap::Args, Debug)]
struct Generations {
    /// The kernels; the first is the baseline
    #[arg(
        long,
        value_name = "KERNEL,..",
        value_delimiter = ',',
        default_value = "debian:6.12,debian:6.18,debian:7.3"
    )]
    kernels: Vec<String>,
    /// Memory of each guest in MiB [default: 512]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(16..=1_048_576))]
    memory: Option<u32>,
    #[command(flatten)]
    common: Common,
}

/// Options of `script`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "The script runs in busybox's shell, with loopback and a writable /tmp; what it prints goes to the console.\n\
                  `metric NAME VALUE` in it gives a value of its own.\n\n\
                  Example:\n  \
                  slablab kernel run script load.sh --kernels debian:6.12,build:6.12/slub_tiny --memory 80,32"
)]
struct Script {
    /// The script
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The kernels; the first is the baseline
    #[arg(long, value_name = "KERNEL,..", value_delimiter = ',', default_value = "slub")]
    kernels: Vec<String>,
    /// Compare with boots that have these parameters; each makes another variant of every kernel
    #[arg(long = "append", value_name = "ARGUMENTS", allow_hyphen_values = true)]
    arguments: Vec<String>,
    /// Further metrics: what the script gives by `metric`, or a field of /proc/meminfo or /proc/vmstat;
    /// NAME:more where more is better
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    metrics: Vec<String>,
    /// Put a program of this machine (a name or a path) into /bin, with its libraries; may be given several times
    #[arg(long = "with", value_name = "PROGRAM")]
    programs: Vec<String>,
    /// Memory of each guest in MiB, or that of each kernel's in the order of --kernels [default: 512]
    #[arg(long, value_name = "MIB,..", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(16..=1_048_576))]
    memory: Vec<u32>,
    #[command(flatten)]
    common: Common,
}

/// Options of `hackbench`.
#[derive(clap::Args, Debug)]
struct Hackbench {
    /// The allocators to compare, slub-tuned (SLUB as one sets it for little memory) among them; the first is the baseline
    /// [default: slab, slmb, slob, slub]
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    allocators: Vec<String>,
    /// Groups of 40 processes [default: 1 and 10, or as many as have room]
    #[arg(long, value_name = "N,..", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    groups: Vec<u32>,
    /// Memory of each guest in MiB [default: 1024]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(16..=1_048_576))]
    memory: Option<u32>,
    /// Messages of each sender to each receiver, divided by the groups [default: 400]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    loops: Option<u32>,
    #[command(flatten)]
    common: Common,
}

/// Options of `audit-cache`.
#[derive(clap::Args, Debug)]
struct AuditCache {
    /// The allocator of the kernel
    #[arg(long, value_name = "NAME", default_value = "slub")]
    allocator: String,
    /// The loads: forks (400 processes, hardly a message), pipes (20 groups of 40 that exchange messages) [default: both]
    #[arg(long, value_name = "LOAD,..", value_delimiter = ',')]
    loads: Vec<String>,
    /// Repetitions of forking 400 processes in a run [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeats: Option<u32>,
    /// Messages of each sender to each receiver of pipes [default: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    loops: Option<u32>,
    #[command(flatten)]
    common: Common,
}

/// Options of `kprobes`.
#[derive(clap::Args, Debug)]
struct Kprobes {
    /// The allocator of the kernel
    #[arg(long, value_name = "NAME", default_value = "slub")]
    allocator: String,
    /// Largest number of probes; each boot adds them by thousands [default: 6000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    probes: Option<u32>,
    #[command(flatten)]
    common: Common,
}

/// Options of every experiment.
#[derive(clap::Args, Debug)]
struct Common {
    /// Virtual CPUs
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_value = "2",
          value_parser = clap::value_parser!(u32).range(1..=16))]
    cpus: Vec<u32>,
    /// How often each variant runs [default: what the experiment asks for]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: Option<u32>,
    /// RNG seed of the random order [default: from the clock, and recorded]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// A smoke run: as little as shows that it works, instead of as many runs as the answer needs
    #[arg(long)]
    smoke: bool,
    /// The baseline: the variant that the others are compared with [default: the first]
    #[arg(long, value_name = "VARIANT")]
    baseline: Option<String>,
    /// Give up when a guest sends nothing for this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120,
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    silence: u64,
    /// Accelerator: kvm, tcg (emulation, with emulated times), or auto: kvm if a test boot works
    #[arg(long, value_enum, default_value_t = AccelArg::Auto, hide_possible_values = true)]
    accel: AccelArg,
    /// Where rows and consoles go [default: slablab-results/NAME-kernel, or the next that is free]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Also write an HTML page of the result
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    #[command(flatten)]
    spec: SpecArgs,
    #[command(flatten)]
    builder: BuilderArgs,
    #[command(flatten)]
    install: InstallArgs,
}

/// Parameters of an experiment, as they come together.
#[derive(Default)]
struct Params(BTreeMap<String, String>);

impl Params {
    /// Sets a parameter that has a value.
    fn set(&mut self, name: &str, value: Option<impl ToString>) {
        self.0.extend(value.map(|value| (name.to_owned(), value.to_string())));
    }

    /// Sets a parameter to a list that is not empty.
    fn list(&mut self, name: &str, values: &[impl ToString]) {
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        self.set(name, (!values.is_empty()).then(|| values.join(",")));
    }
}

/// Runs `slablab kernel run`.
pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let data = Data::find()?;
    let mut params = Params::default();
    let mut input = None;
    let (name, common, names) = match &args.experiment {
        Which::Hackbench(args) => {
            params.list("allocators", &args.allocators);
            params.list("groups", &args.groups);
            params.set("loops", args.loops);
            params.set("memory", args.memory);
            let kernels = or_allocators(&args.allocators);
            let kernel_of =
                |name: String| if name == "slub-tuned" { "slub".to_owned() } else { name };
            ("hackbench", &args.common, kernels.into_iter().map(kernel_of).collect())
        }
        Which::AuditCache(args) => {
            params.set("allocator", Some(&args.allocator));
            params.list("loads", &args.loads);
            params.set("repeats", args.repeats);
            params.set("loops", args.loops);
            ("audit-cache", &args.common, vec![args.allocator.clone()])
        }
        Which::Kprobes(args) => {
            params.set("allocator", Some(&args.allocator));
            params.set("probes", args.probes);
            ("kprobes", &args.common, vec![args.allocator.clone()])
        }
        Which::Generations(args) => {
            params.list("kernels", &args.kernels);
            params.set("memory", args.memory);
            ("generations", &args.common, args.kernels.clone())
        }
        Which::Script(args) => {
            params.list("kernels", &args.kernels);
            params.set("append", (!args.arguments.is_empty()).then(|| args.arguments.join(";")));
            params.list("metrics", &args.metrics);
            params.list("with", &args.programs);
            params.list("memory", &args.memory);
            input = Some(args.file.clone());
            ("script", &args.common, args.kernels.clone())
        }
    };
    // Wrong names are said before anything is installed.
    let specs = names.iter().map(|name| common.spec.named(&data, name));
    let needs = specs.collect::<Result<Vec<_>>>()?.iter().flat_map(Spec::needs).collect::<Vec<_>>();
    common.install.open(&common.builder, &needs, &mut Progress::default())?;
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    params.list("cpus", &common.cpus);
    params.list("flavour", &common.spec.flavours);
    params.set("config", path(&common.spec.config));
    let patches: Vec<_> = common.spec.patches.iter().map(|path| path.display()).collect();
    params.list("patch", &patches);
    params.set("source", path(&common.builder.source));
    params.set("cache", path(&common.builder.cache));
    params.set("mirror", common.builder.mirror.as_ref());
    params.set("jobs", common.builder.jobs);
    params.set("silence", Some(common.silence));
    params.set("accel", common.accel.to_possible_value().map(|value| value.get_name().to_owned()));
    let job = Job {
        name,
        engine: Some(Engine::Kernel),
        scale: if common.smoke { Scale::Smoke } else { Scale::Full },
        params: params.0,
        input,
        rounds: common.rounds.map(|rounds| rounds as usize),
        seed: common.seed,
        baseline: common.baseline.as_deref(),
        folder: common.output.as_deref(),
        report: common.report.as_deref(),
    };
    measure(&job, output)
}
