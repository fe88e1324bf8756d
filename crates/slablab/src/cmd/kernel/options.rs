//! The options that the sub-commands of `slablab kernel` share, and their values.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use slablab_vm::{
    Accel, AccelChoice, Data, Interrupt, Kernel, KernelBuilder, Need, Places, Spec, Step, install,
    missing, packages,
};

use crate::progress::Progress;

/// Where kernels come from and go to.
#[derive(Args, Debug, Clone)]
pub(crate) struct BuilderArgs {
    /// Linux source that an allocator alone names: a folder or a tarball [default: Debian's Linux 6.1]
    #[arg(long, value_name = "PATH")]
    pub(crate) source: Option<PathBuf>,
    /// Keep builds in this folder [default: $XDG_CACHE_HOME/slablab or ~/.cache/slablab]
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    /// Debian's archive [default: the mirror of the machine's own sources]
    #[arg(long, value_name = "URL")]
    pub(crate) mirror: Option<String>,
    /// Parallel compiler jobs [default: one for each processor]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
}

/// Whether packages may be installed.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct InstallArgs {
    /// First install the packages that are missing with apt-get (as root)
    #[arg(short, long)]
    yes: bool,
}

impl InstallArgs {
    /// Returns that packages may be installed.
    pub(in crate::cmd) fn with_yes() -> Self {
        Self { yes: true }
    }

    /// Returns a builder that stops on ctrl-C, once the machine has what `needs` name: what it lacks is installed, if
    /// that was asked for.
    pub(crate) fn open(
        &self,
        places: &Places,
        needs: &[&'static [Need]],
        bar: &mut Progress,
    ) -> Result<KernelBuilder> {
        // An unusable source is reported before anything is installed.
        KernelBuilder::new(places, Interrupt::never())?;
        let lacking = missing(needs);
        if self.yes && !lacking.is_empty() {
            let what = format!("installing {} with apt-get", packages(&lacking).join(", "));
            bar.show(&Step::Note(&what));
            bar.show(&Step::Begin(&what));
            let interrupt = Interrupt::on_signals().context("cannot handle signals")?;
            install(&lacking, &interrupt)?;
        }
        match KernelBuilder::open(places, needs) {
            Err(e) if !self.yes && !lacking.is_empty() => bail!("{e}; or give --yes, as root"),
            opened => Ok(opened?),
        }
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
    /// Returns the kernel called `name`, if its fragments agree; this is checked before anything is
    /// installed or built.
    pub(crate) fn named(&self, data: &Data, name: &str) -> Result<Spec> {
        let mut spec = Spec { own: self.config.clone(), ..Spec::named(data, name)? };
        // What all kernels have comes first.
        spec.patches.splice(..0, self.patches.iter().cloned());
        spec.flavours.extend(self.flavours.iter().cloned());
        spec.check(data)?;
        Ok(spec)
    }
}

/// Several kernels.
#[derive(Args, Debug, Clone)]
pub(crate) struct KernelsArgs {
    /// The kernels: allocators, debian:6.12, build:6.12/slub_tiny, paths [default: slab, slmb, slob, slub]
    #[arg(value_name = "KERNEL")]
    kernels: Vec<String>,
    /// Kernels in one word, between commas
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    allocators: Vec<String>,
    #[command(flatten)]
    spec: SpecArgs,
    #[command(flatten)]
    builder: BuilderArgs,
    #[command(flatten)]
    install: InstallArgs,
}

impl KernelsArgs {
    /// Returns the kernels, made where they are not there yet, once the machine has what each `needs`.
    pub(crate) fn build(
        &self,
        needs: fn(&Spec) -> Vec<&'static [Need]>,
        bar: &mut Progress,
    ) -> Result<Vec<Kernel>> {
        let data = Data::find()?;
        let names: Vec<_> = self.kernels.iter().chain(&self.allocators).cloned().collect();
        let names = or_allocators(&names);
        let specs = names.iter().map(|name| self.spec.named(&data, name));
        let specs: Vec<_> = specs.collect::<Result<_>>()?;
        let needs: Vec<_> = specs.iter().flat_map(needs).collect();
        let mut builder = self.install.open(&self.builder.places(), &needs, bar)?;
        self.builder.set_jobs(&mut builder);
        specs.iter().map(|spec| Ok(builder.build(spec, &mut |step| bar.show(&step))?)).collect()
    }
}

/// The allocators of the release that is built when no other is named.
pub(crate) const ALLOCATORS: [&str; 4] = ["slab", "slmb", "slob", "slub"];

/// The other kernels that are built, each by one name.
pub(crate) const MODERN: [&str; 6] = [
    "build:6.12/slub",
    "build:6.12/slub_dense",
    "build:6.12/slub_tiny",
    "build:7.3/slub",
    "build:7.3/slub_dense",
    "build:7.3/slub_tiny",
];

/// How a guest runs.
#[derive(Args, Debug, Clone)]
pub(crate) struct GuestArgs {
    /// Virtual CPUs
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u32).range(1..=16))]
    pub(crate) cpus: u32,
    /// How it runs: kvm, tcg (emulated), icount (emulated, instructions as time), auto: kvm if it works
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
    /// The same, counting instructions: times repeat, and tell nothing of waiting
    Icount,
}

impl From<AccelArg> for AccelChoice {
    fn from(arg: AccelArg) -> Self {
        match arg {
            AccelArg::Auto => Self::Auto,
            AccelArg::Kvm => Self::Only(Accel::Kvm),
            AccelArg::Tcg => Self::Only(Accel::Tcg),
            AccelArg::Icount => Self::Only(Accel::Icount),
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
    /// Returns where kernels come from and go to.
    pub(crate) fn places(&self) -> Places {
        let Self { source, cache, mirror, jobs: _ } = self.clone();
        Places { source, cache, mirror }
    }

    /// Returns a builder without looking at what the machine lacks.
    pub(crate) fn builder(&self, interrupt: Interrupt) -> Result<KernelBuilder> {
        let mut builder = KernelBuilder::new(&self.places(), interrupt)?;
        self.set_jobs(&mut builder);
        Ok(builder)
    }

    /// Returns one to look at what is there: no cache needs to be written.
    pub(crate) fn reader(&self, interrupt: Interrupt) -> Result<KernelBuilder> {
        Ok(KernelBuilder::reading(&self.places(), interrupt)?)
    }

    pub(crate) fn set_jobs(&self, builder: &mut KernelBuilder) {
        builder.jobs = self.jobs.map_or(builder.jobs, usize::from);
    }
}

/// Returns `names`, or all allocators.
fn or_allocators(names: &[String]) -> Vec<String> {
    if names.is_empty() { ALLOCATORS.map(str::to_owned).to_vec() } else { names.to_vec() }
}
