//! `slablab lab run history`: the table of slab memory by release, filled with the kernels that it lacks.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use slablab_lab::history::{BOOTS, fill, lacking, of_kernel, read};
use slablab_lab::plan;
use slablab_vm::Arch;

use super::bars::Bars;
use super::releases::releases;
use super::request::{RequestArgs, install};
use super::result::ResultArgs;
use crate::answers::history::HistoryAnswer;
use crate::answers::kept::given;
use crate::cli::OutputArgs;
use crate::cmd::kernel::options::InstallArgs;
use crate::output::give;
use crate::say::say;

/// The name by which it is run.
pub(super) const NAME: &str = "history";
/// The machines whose stock kernels it has unless others are named.
const MACHINES: [&str; 2] = ["amd64", "arm64"];

/// Measures the kernels that the history lacks, and prints all that it has.
///
/// # Errors
///
/// If a kernel is not a stock kernel, the folder cannot be written, or the machine cannot boot one.
pub(super) fn run(
    args: &RequestArgs,
    installs: &InstallArgs,
    result: &ResultArgs,
    output: &OutputArgs,
) -> Result<ExitCode> {
    if !args.is_of_given_work() {
        bail!("{NAME} has its own loads: take away --engine, --smoke, --input and --set load");
    }
    let (experiment, mut request) = args.of(NAME)?;
    let kernels = match request.params.remove("kernels") {
        Some(named) => named.split(',').map(|name| name.trim().to_owned()).collect(),
        None => all()?,
    };
    if kernels.is_empty() {
        bail!("Debian's archive has no stock kernel, or cannot be read: name some with --kernels");
    }
    let boots = *request.rounds.get_or_insert(BOOTS);
    let facts = given(&request);
    let folder = result.output.clone().unwrap_or_else(|| PathBuf::from("slablab-results/history"));
    let lacking = lacking(&folder, &kernels, boots)?;
    for kernel in &lacking {
        install(installs, experiment, &plan(experiment, &of_kernel(&request, kernel))?)?;
    }
    let mut bars = Bars::new(NAME);
    fill(&folder, &lacking, &request, &mut |stage| bars.show(&stage))?;
    drop(bars);
    let answer = HistoryAnswer::new(read(&folder)?, shown(&folder), facts);
    give(&answer, output, &result.answer())?;
    say(format_args!("slablab: the rows are in {}", folder.display()));
    Ok(ExitCode::SUCCESS)
}

/// Returns all stock kernels that there are for the machines.
fn all() -> Result<Vec<String>> {
    let mut kernels = Vec::new();
    for machine in MACHINES {
        let arch = Arch::named(machine)?;
        let name = |release| match arch.is_native() {
            true => format!("debian:{release}"),
            false => format!("debian:{release}/{machine}"),
        };
        kernels.extend(releases(arch)?.into_iter().map(name));
    }
    Ok(kernels)
}

fn shown(folder: &Path) -> String {
    folder.display().to_string()
}
