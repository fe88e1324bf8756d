//! The options of an experiment: engine, rounds, input, and its parameters.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use slablab_lab::{Engine, Experiment, Plan, Request, Scale, find, guest, parameters_of, preset};
use slablab_vm::{Arch, Spec};

use super::releases::releases;
use crate::cmd::kernel::options::InstallArgs;
use crate::progress::Progress;

/// What to measure, of an experiment.
#[derive(clap::Args, Debug, PartialEq, Default)]
pub(crate) struct RequestArgs {
    /// Where it runs: user (a process) or kernel (QEMU) [default: its first]
    #[arg(long, value_enum, value_name = "ENGINE", hide_possible_values = true)]
    engine: Option<EngineName>,
    /// A smoke run: as little as shows that it works
    #[arg(long)]
    smoke: bool,
    /// As many runs as the answer needs: the default
    #[arg(long, hide = true, conflicts_with = "smoke")]
    full: bool,
    /// Rounds, each with every variant once [default: as the answer needs]
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// RNG seed of the random order [default: from the clock]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The trace, script or file that the experiment works on
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Set a parameter; 'slablab lab list NAME' has them
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parameter)]
    params: Vec<(String, String)>,
    #[command(flatten)]
    guests: GuestParams,
}

/// Parameters of the engine kernel that have an option of their own.
#[derive(clap::Args, Debug, PartialEq, Default)]
#[command(next_help_heading = "Engine kernel (short for --set)")]
struct GuestParams {
    /// The kernels: slub, debian:6.12, debian:new (the newest), build:6.12/slub_tiny, a path
    #[arg(long, value_name = "NAME,...")]
    kernels: Option<String>,
    /// Virtual CPUs of the guests
    #[arg(long, value_name = "N,...")]
    cpus: Option<String>,
    /// Memory of the guests
    #[arg(long, value_name = "MIB,...")]
    memory: Option<String>,
    /// How guests run: kvm, tcg, icount or auto
    #[arg(long, value_name = "ACCEL")]
    accel: Option<String>,
    /// A patch on top of slablab's own; may be given several times
    #[arg(long, value_name = "FILE")]
    patch: Vec<String>,
}

impl GuestParams {
    /// Returns the given ones, by the name of the parameter.
    fn params(&self) -> impl Iterator<Item = (&'static str, String)> {
        let given = [
            ("kernels", self.kernels.clone()),
            ("cpus", self.cpus.clone()),
            ("memory", self.memory.clone()),
            ("accel", self.accel.clone()),
            ("patch", (!self.patch.is_empty()).then(|| self.patch.join(","))),
        ];
        given.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }
}

impl RequestArgs {
    /// Returns the experiment called `name`, by itself or by a preset, and what is asked of it.
    pub(crate) fn of(&self, name: &str) -> Result<(&'static dyn Experiment, Request)> {
        let engine = self.engine.map(Engine::from);
        let preset = preset(name, engine);
        let experiment = find(preset.map_or(name, |preset| preset.experiment))?;
        let about = experiment.about();
        let engine = engine.or(preset.map(|preset| preset.engine)).unwrap_or(about.engines[0]);
        let known = parameters_of(about.parameters, engine);
        let has = |name: &str| known.iter().any(|parameter| parameter.name == name);
        let mut params = BTreeMap::new();
        // An experiment that compares what one kernel does has one.
        let named = |name: &str| match name {
            "kernels" if !has("kernels") && has("kernel") => "kernel".to_owned(),
            name => name.to_owned(),
        };
        let options = self.guests.params().map(|(name, value)| (named(name), value));
        for (name, value) in self.params.iter().cloned().chain(options) {
            if params.insert(name.clone(), value).is_some() {
                bail!("--set: the parameter {name} is set twice");
            }
        }
        for (name, value) in preset.map_or(&[][..], |preset| preset.params) {
            params.entry((*name).to_owned()).or_insert_with(|| (*value).to_owned());
        }
        for name in ["kernels", "kernel"] {
            if let Some(kernels) = params.get_mut(name) {
                *kernels = with_newest(kernels)?;
            }
        }
        let request = Request {
            engine,
            scale: if self.smoke { Scale::Smoke } else { Scale::Full },
            params,
            input: self.input.clone(),
            rounds: self.rounds,
            seed: self.seed.unwrap_or_else(seed_of_the_clock),
        };
        Ok((experiment, request))
    }

    /// Returns whether it leaves engine, scale and load as they are.
    pub(super) fn is_of_given_work(&self) -> bool {
        let is_load = |(name, _): &(String, String)| name == "load";
        self.engine.is_none()
            && !self.smoke
            && self.input.is_none()
            && !self.params.iter().any(is_load)
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The engines.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum EngineName {
    /// Our library in a process
    User,
    /// A real Linux in QEMU
    Kernel,
}

impl From<EngineName> for Engine {
    fn from(name: EngineName) -> Self {
        match name {
            EngineName::User => Self::User,
            EngineName::Kernel => Self::Kernel,
        }
    }
}

/// The release of a stock kernel that stands for the newest one of Debian's archive.
const NEWEST: &str = "debian:new";

/// Returns names of kernels with the newest release in the place of `debian:new[/MACHINE]`, so that a result names what it is
/// about.
fn with_newest(kernels: &str) -> Result<String> {
    let named = |name: &str| -> Result<String> {
        let Some(rest) = name.trim().strip_prefix(NEWEST) else { return Ok(name.to_owned()) };
        let arch = match rest.strip_prefix('/') {
            Some(machine) => Arch::named(machine)?,
            None if rest.is_empty() => Arch::NATIVE,
            None => return Ok(name.to_owned()),
        };
        let newest = releases(arch)?.into_iter().max();
        let newest = newest.with_context(|| {
            format!("{name}: Debian's archive has no stock kernel, or cannot be read")
        })?;
        Ok(format!("debian:{newest}{rest}"))
    };
    Ok(kernels.split(',').map(named).collect::<Result<Vec<_>>>()?.join(","))
}

pub(super) fn parameter(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

/// Returns a seed that differs from run to run; it is recorded, so that the order can be had again.
pub(crate) fn seed_of_the_clock() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |t| t.as_nanos() as u64 % 1_000_000_007)
}

/// Installs what the kernels of `plan` need, if that was asked for; refuses a machine that lacks it, before anything is
/// built.
pub(super) fn install(
    install: &InstallArgs,
    experiment: &dyn Experiment,
    plan: &Plan,
) -> Result<()> {
    let request = plan.request();
    if request.engine == Engine::User {
        return Ok(());
    }
    let kernels = experiment.kernels(&request)?;
    let needs: Vec<_> = kernels.iter().flat_map(Spec::needs).collect();
    install.open(&guest::places(&request)?, &needs, &mut Progress::default())?;
    Ok(())
}
