//! The parameters that every experiment in real kernels has: the Linux version, how it is built,
//! and how it is booted.

use std::path::PathBuf;
use std::time::Duration;

use slablab_vm::{Accel, AccelChoice, Data, KernelBuilder, Linux, Need, Origin, Places, Spec};

use crate::error::{Error, Result};
use crate::parameter::{Kind, Parameter};
use crate::request::{Engine, Request};

/// Which fragments of kernel/config are added.
const FLAVOUR: Parameter =
    Parameter::new("flavour", Kind::Names, "further fragments of kernel/config, such as debug");
/// A fragment of the user's.
const CONFIG: Parameter =
    Parameter::new("config", Kind::File, "a configuration fragment of your own");
/// Patches to apply.
const PATCH: Parameter =
    Parameter::new("patch", Kind::Names, "patches on top of kernel/patches, files in order");
/// The source.
const SOURCE: Parameter = Parameter::new(
    "source",
    Kind::File,
    "Linux to build, a folder or a tarball, in place of Debian's linux-source-6.1",
);
/// The cache folder.
const CACHE: Parameter = Parameter::new(
    "cache",
    Kind::File,
    "where builds are kept, in place of $XDG_CACHE_HOME/slablab or ~/.cache/slablab",
);
/// The number of compilers at a time.
const JOBS: Parameter = Parameter::new(
    "jobs",
    Kind::Number(1, 1024),
    "compilers at a time, in place of one for each processor",
);
/// The archive.
const MIRROR: Parameter = Parameter::new(
    "mirror",
    Kind::Text,
    "Debian's archive, in place of the mirror of the machine's own sources",
);
/// The accelerator.
const ACCEL: Parameter = Parameter::new(
    "accel",
    Kind::Word(&["auto", "kvm", "tcg", "icount"]),
    "how guests run: kvm, tcg (emulated), icount (emulated, instructions as time); auto: kvm where it works",
)
.or("auto");
/// The longest silence of a guest that is tolerated.
const SILENCE: Parameter = Parameter::new(
    "silence",
    Kind::Number(1, 86_400),
    "seconds without a sign of a guest after which it is given up",
)
.or("120");

/// The parameters of every experiment in the kernel engine.
pub const PARAMETERS: &[Parameter] =
    &[FLAVOUR, CONFIG, PATCH, SOURCE, CACHE, JOBS, MIRROR, ACCEL, SILENCE];

/// Virtual CPUs of the guests; this parameter is a point of most experiments. `CONFIG_NR_CPUS` of
/// `kernel/config/base.config` is the maximum.
pub(crate) const CPUS: Parameter =
    Parameter::new("cpus", Kind::Numbers(1, 16), "virtual CPUs of the guests")
        .or("2")
        .of_engine(Engine::Kernel);

/// The kernel of experiments that compare what one kernel does.
pub(crate) const KERNEL: Parameter = Parameter::new(
    "kernel",
    Kind::Text,
    "the kernel, one with slablab's patches: slub, build:6.1/slob",
)
.or("slub")
.of_engine(Engine::Kernel);

/// The values of these parameters in a request.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    flavours: Vec<String>,
    config: Option<PathBuf>,
    patches: Vec<PathBuf>,
    places: Places,
    jobs: Option<usize>,
    /// How guests run
    pub(crate) accel: AccelChoice,
    /// The longest a guest may be silent
    pub(crate) silence: Duration,
}

impl Options {
    /// Reads the parameters of `request`.
    ///
    /// # Errors
    ///
    /// If a value makes no sense, or there is no such patch.
    pub(crate) fn of(request: &Request) -> Result<Self> {
        let path = |parameter: &Parameter| parameter.given(request).map(PathBuf::from);
        let accel = match ACCEL.text(request) {
            "kvm" => AccelChoice::Only(Accel::Kvm),
            "tcg" => AccelChoice::Only(Accel::Tcg),
            "icount" => AccelChoice::Only(Accel::Icount),
            _ => AccelChoice::Auto,
        };
        let patches = PATCH.list(request);
        let patches = patches.iter().map(|name| slablab_vm::patch_path(name));
        let jobs = JOBS.given(request).map(|text| JOBS.read(text)).transpose()?;
        Ok(Self {
            flavours: FLAVOUR.list(request),
            config: path(&CONFIG),
            patches: patches.collect::<slablab_vm::Result<_>>()?,
            places: Places {
                source: path(&SOURCE),
                cache: path(&CACHE),
                mirror: MIRROR.given(request).map(str::to_owned),
            },
            jobs: jobs.map(|jobs| jobs as usize),
            accel,
            silence: Duration::from_secs(SILENCE.number(request)?),
        })
    }

    /// Returns the kernel called `name`, with the requested fragments and patches.
    ///
    /// # Errors
    ///
    /// If there is no such kernel, fragment or source, or fragments contradict each other.
    pub(crate) fn spec(&self, name: &str) -> Result<Spec> {
        let data = Data::find()?;
        let mut spec = Spec { own: self.config.clone(), ..Spec::named(&data, name)? };
        // What all kernels have comes first.
        spec.patches.splice(..0, self.patches.iter().cloned());
        spec.flavours.extend(self.flavours.iter().cloned());
        spec.check(&data)?;
        Ok(spec)
    }

    /// Returns the kernel called `name`, which must have slablab's own patches.
    ///
    /// # Errors
    ///
    /// Fails as [`Options::spec`] does, and if the kernel has none of them.
    pub(crate) fn patched(&self, name: &str) -> Result<Spec> {
        let spec = self.spec(name)?;
        let releases = Data::find()?.patched_releases();
        let is_patched = match &spec.origin {
            Origin::Build(Linux::Debian(release), _) => releases.contains(release),
            Origin::Build(..) => true,
            Origin::Stock(..) | Origin::Image(_) => false,
        };
        let known: Vec<_> = releases.iter().map(|release| format!("build:{release}")).collect();
        match is_patched {
            true => Ok(spec),
            false => Err(Error::Request(format!(
                "{name}: this experiment needs a kernel with slablab's patches, such as slub or {}",
                known.join(", ")
            ))),
        }
    }

    /// Returns a builder of `specs` that stops on ctrl-C.
    ///
    /// # Errors
    ///
    /// If something that building or booting needs is missing, or the cache cannot be written.
    pub(crate) fn builder<'a>(
        &self,
        specs: impl IntoIterator<Item = &'a Spec>,
    ) -> Result<KernelBuilder> {
        let needs: Vec<&[Need]> = specs.into_iter().flat_map(Spec::needs).collect();
        let mut builder = KernelBuilder::open(&self.places, &needs)?;
        builder.jobs = self.jobs.unwrap_or(builder.jobs);
        Ok(builder)
    }
}

/// Returns the places from which the kernels of `request` come and to which they go.
///
/// # Errors
///
/// If a parameter makes no sense.
pub fn places(request: &Request) -> Result<Places> {
    Options::of(request).map(|options| options.places)
}

/// Returns the requested numbers of virtual CPUs, as points.
pub(crate) fn cpus(request: &Request) -> Result<Vec<String>> {
    Ok(CPUS.numbers(request)?.iter().map(u64::to_string).collect())
}
