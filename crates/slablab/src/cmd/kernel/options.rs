//! The options that the sub-commands of `slablab kernel` share, and what is made of them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use slablab_vm::{
    Accel, AccelChoice, Config, Data, Interrupt, Kernel, KernelBuilder, Need, Source, Spec, Step,
    Store, install, missing, packages,
};

use crate::progress::Progress;

/// Where kernels come from and go to.
#[derive(Args, Debug, Clone)]
pub(crate) struct BuilderArgs {
    /// Linux source to build: a folder or a tarball [default: Debian's linux-source-6.1]
    #[arg(long, value_name = "PATH")]
    pub(crate) source: Option<PathBuf>,
    /// Keep builds in this folder [default: $XDG_CACHE_HOME/slablab or ~/.cache/slablab]
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    /// Parallel compiler jobs [default: one for each processor]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
}

/// Whether packages may be installed.
#[derive(Args, Debug, Clone)]
pub(crate) struct InstallArgs {
    /// First install the packages that are missing with apt-get (as root)
    #[arg(short, long)]
    yes: bool,
}

impl InstallArgs {
    /// Installs what `steps` and the source need and this machine lacks, if that was asked for.
    pub(crate) fn run(
        &self,
        builder: &BuilderArgs,
        steps: &[&'static [Need]],
        bar: &mut Progress,
    ) -> Result<()> {
        // A source that is none is said before anything is installed.
        builder.source.as_deref().map(Source::at).transpose()?;
        let lacking = missing(&builder.needs(steps));
        if self.yes && !lacking.is_empty() {
            let what = format!("installing {} with apt-get", packages(&lacking).join(", "));
            bar.show(&Step::Note(&what));
            bar.show(&Step::Begin(&what));
            let interrupt = Interrupt::on_signals().context("cannot handle signals")?;
            install(&lacking, &interrupt)?;
        }
        Ok(())
    }
}

/// Which kernel.
#[derive(Args, Debug, Clone)]
pub(crate) struct SpecArgs {
    /// Add configuration fragments of slablab, such as debug
    #[arg(long = "flavour", value_name = "NAME", value_delimiter = ',')]
    pub(crate) flavours: Vec<String>,
    /// Add a configuration fragment of your own
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Apply a patch after slablab's own; may be given several times, in order
    #[arg(long = "patch", value_name = "FILE", value_parser = slablab_vm::patch_path)]
    pub(crate) patches: Vec<PathBuf>,
}

impl SpecArgs {
    /// Fails unless all names are known and the fragments agree: said before anything is installed or built.
    pub(crate) fn check(&self, data: &Data, allocators: &[String]) -> Result<()> {
        for allocator in allocators {
            Config::new(data, allocator, &self.flavours, self.config.as_deref())?;
        }
        Ok(())
    }

    /// Returns the kernel with `allocator`.
    pub(crate) fn spec(&self, allocator: &str) -> Spec {
        Spec {
            allocator: allocator.to_owned(),
            flavours: self.flavours.clone(),
            own: self.config.clone(),
            patches: self.patches.clone(),
        }
    }
}

/// Kernels that differ in their allocator.
#[derive(Args, Debug, Clone)]
pub(crate) struct KernelsArgs {
    /// The allocators to build a kernel for [default: all]
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    allocators: Vec<String>,
    #[command(flatten)]
    spec: SpecArgs,
    #[command(flatten)]
    builder: BuilderArgs,
    #[command(flatten)]
    install: InstallArgs,
}

impl KernelsArgs {
    /// Returns the kernels, built where they are not there yet, once the machine has what `steps` need.
    pub(crate) fn build(
        &self,
        steps: &[&'static [Need]],
        bar: &mut Progress,
    ) -> Result<(KernelBuilder, Vec<Kernel>)> {
        let data = Data::find()?;
        let allocators = allocators(&self.allocators, &data);
        self.spec.check(&data, &allocators)?;
        self.install.run(&self.builder, steps, bar)?;
        let builder = self.builder.open(steps)?;
        let specs: Vec<_> = allocators.iter().map(|name| self.spec.spec(name)).collect();
        let kernels = build(&builder, &specs, bar)?;
        Ok((builder, kernels))
    }
}

/// Builds kernels, or finds them in the cache.
pub(crate) fn build(
    builder: &KernelBuilder,
    specs: &[Spec],
    bar: &mut Progress,
) -> Result<Vec<Kernel>> {
    let mut kernels = Vec::new();
    for spec in specs {
        kernels.push(builder.build(spec, &mut |step| bar.show(&step))?);
    }
    Ok(kernels)
}

/// How a guest runs.
#[derive(Args, Debug, Clone)]
pub(crate) struct GuestArgs {
    /// Virtual CPUs
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u32).range(1..=16))]
    pub(crate) cpus: u32,
    /// Accelerator: kvm, tcg (emulation, with emulated times), or auto: kvm if a test boot works
    #[arg(long, value_enum, default_value_t = AccelArg::Auto, hide_possible_values = true)]
    pub(crate) accel: AccelArg,
}

/// Which accelerator runs the guests.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccelArg {
    /// KVM if a guest that is booted to see shows that it works, else TCG
    Auto,
    /// The processor itself
    Kvm,
    /// QEMU's translator; times are emulated
    Tcg,
}

impl From<AccelArg> for AccelChoice {
    fn from(arg: AccelArg) -> Self {
        match arg {
            AccelArg::Auto => Self::Auto,
            AccelArg::Kvm => Self::Only(Accel::Kvm),
            AccelArg::Tcg => Self::Only(Accel::Tcg),
        }
    }
}

impl AccelArg {
    /// Returns the accelerator, and why it is that one; a probe of KVM boots `kernel`.
    pub(crate) fn resolve(
        self,
        builder: &KernelBuilder,
        kernel: &Kernel,
        bar: &mut Progress,
    ) -> Result<(Accel, String)> {
        let choice = AccelChoice::from(self);
        Ok(choice.resolve(builder, kernel, &mut |step| bar.show(&step))?)
    }
}

impl BuilderArgs {
    /// Returns the store.
    pub(crate) fn store(&self) -> Result<Store> {
        Ok(Store::open(self.cache.as_deref())?)
    }

    /// Returns the source; Debian's must be installed.
    fn source(&self) -> Result<Source> {
        Ok(match &self.source {
            Some(path) => Source::at(path)?,
            None => Source::debian()?,
        })
    }

    /// Returns what `steps` and the source need.
    pub(crate) fn needs(&self, steps: &[&'static [Need]]) -> Vec<&'static [Need]> {
        let mut needs = steps.to_vec();
        if self.source.is_none() {
            needs.push(Need::SOURCE);
        }
        needs
    }

    /// Returns a builder that stops on ctrl-C, once the machine has what `steps` need.
    pub(crate) fn open(&self, steps: &[&'static [Need]]) -> Result<KernelBuilder> {
        let (source, cache) = (self.source.as_deref(), self.cache.as_deref());
        let mut builder = KernelBuilder::open(source, cache, steps)?;
        self.set_jobs(&mut builder);
        Ok(builder)
    }

    /// Returns a builder without looking at what the machine lacks.
    pub(crate) fn builder(&self, interrupt: Interrupt) -> Result<KernelBuilder> {
        let mut builder =
            KernelBuilder::new(Data::find()?, self.source()?, self.store()?, interrupt);
        self.set_jobs(&mut builder);
        Ok(builder)
    }

    fn set_jobs(&self, builder: &mut KernelBuilder) {
        builder.jobs = self.jobs.map_or(builder.jobs, usize::from);
    }
}

/// Reads `1,2,4`-like lists of allocators, or all there are.
pub(crate) fn allocators(names: &[String], data: &Data) -> Vec<String> {
    if names.is_empty() { data.allocators() } else { names.to_vec() }
}

/// Returns the folder for results that was asked for, else `slablab-results/WHAT` or the next that is free.
///
/// # Errors
///
/// When the folder that was asked for is there already: no result is ever overwritten.
pub(crate) fn results_folder(asked: Option<&Path>, what: &str) -> Result<PathBuf> {
    match asked {
        Some(folder) if folder.exists() => {
            bail!("{}: is there already. Name another folder with -o", folder.display())
        }
        Some(folder) => Ok(folder.to_owned()),
        None => {
            let base = Path::new("slablab-results");
            let mut names = (2..).map(|n| base.join(format!("{what}-{n}")));
            let first = base.join(what);
            Ok(if first.exists() {
                names.find(|path| !path.exists()).unwrap_or(first)
            } else {
                first
            })
        }
    }
}
