//! `slablab lab run patch`: from a load to a patch that was measured. Records the load in a guest, makes the patch that
//! gives a call site a cache of its own, builds the kernel with it, and compares what guests hold with the prediction.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use slablab_csource::Tree;
use slablab_lab::patched::{build, measure, predict, record};
use slablab_lab::{Outcome, Plan, Request, Stage, Wanted, plan, run as carry_out};
use slablab_linux::Release;
use slablab_trace::TraceReader;

use super::bars::Bars;
use super::request::{RequestArgs, install};
use super::result::ResultArgs;
use crate::answers::comparison::guests;
use crate::answers::kept::{Obtained, given, keep};
use crate::answers::patched::PatchedAnswer;
use crate::cli::OutputArgs;
use crate::cmd::allocators::AllocatorArgs;
use crate::cmd::code::Code;
use crate::cmd::helpers::HelperArgs;
use crate::cmd::kernel::options::InstallArgs;
use crate::cmd::patch::answer as patch_of;
use crate::cmd::question::QuestionArgs;
use crate::output::{give, write_whole};
use crate::progress::Progress;
use crate::say::say;

/// The name by which it is run.
pub(super) const NAME: &str = "patch";
/// The file below the result folder that says what was recorded.
const ASKED: &str = "asked.txt";

/// Records, patches, builds, boots and compares.
///
/// # Errors
///
/// If no patch can be made for the call site (nothing is built then), or a kernel cannot be built or booted.
pub(super) fn run(
    args: &RequestArgs,
    installs: &InstallArgs,
    result: &ResultArgs,
    output: &OutputArgs,
) -> Result<ExitCode> {
    let (experiment, mut request) = args.of(NAME)?;
    let mut facts = given(&request);
    let wanted = Wanted::take(&mut request)?;
    let folder = result.output.clone().unwrap_or_else(|| PathBuf::from("slablab-results/patch"));
    // What both kernels need is there before anything is recorded.
    let both = match wanted.kernel == wanted.recorded {
        true => request.clone(),
        false => with_kernels(&request, format!("{},{}", wanted.kernel, wanted.recorded)),
    };
    let planned = plan(experiment, &both)?;
    install(installs, experiment, &planned)?;
    let mut bars = Bars::new(NAME);
    let trace = match &wanted.trace {
        Some(trace) => trace.clone(),
        None => {
            begin(&folder, &planned, &wanted)?;
            record(&request, &wanted, &folder, &mut |stage| bars.show(&stage))?
        }
    };
    drop(bars);
    let question = QuestionArgs::of(&trace);
    let opened = question.open()?;
    let owned = HelperArgs::default().owned(&opened)?;
    let reader = owned.as_ref().unwrap_or(&opened);
    let made = letter(&request, &wanted, &question, reader)?;
    let file = folder.join(format!("{}.patch", made.structure));
    fs::create_dir_all(&folder).with_context(|| format!("{}: cannot make", folder.display()))?;
    write_letter(&file, &made.letter)?;
    let predicted = predict(reader, made.site, &made.structure)?;

    let patched = format!("{}+{}", wanted.kernel, file.display());
    let mut request = with_kernels(&request, format!("{},{patched}", wanted.kernel));
    // Each patch of a folder has its boots in a folder of its own.
    let rows = folder.join(&made.structure);
    // A result that exists keeps its order.
    if let Some(there) = Plan::read(&rows)? {
        request.seed = there.seed;
    }
    let mut bars = Bars::new(NAME);
    let planned = plan(experiment, &request)?;
    carry_out(experiment, &planned, &rows, &mut |stage| bars.show(&stage))?;
    let kernel = build(&request, &patched, &mut |step| bars.show(&Stage::Setup(step)))?;
    drop(bars);
    let outcome = Outcome::read(&rows)?;
    facts.extend(guests(&outcome));
    let effect = measure(&outcome, &made.structure, predicted)?;
    let answer = PatchedAnswer {
        site: made.name,
        structure: made.structure,
        recorded: reader.meta().kernel_release.clone(),
        kernel: wanted.kernel.clone(),
        release: kernel.release().to_owned(),
        patch: file.display().to_string(),
        build_seconds: kernel.build_seconds(),
        warnings: kernel.warnings().map(<[String]>::to_vec),
        holds: effect.holds(),
        off_share: effect.off_share(),
        effect,
        obtained: Obtained::now(facts),
    };
    keep(&answer, &rows)?;
    give(&answer, output, &result.answer())?;
    say(format_args!("slablab: the rows are in {}", rows.display()));
    Ok(if answer.holds { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Refuses to go on with the recording of another load or kernel.
fn begin(folder: &Path, planned: &Plan, wanted: &Wanted) -> Result<()> {
    let file = folder.join(ASKED);
    let params = planned.params.iter().map(|(name, value)| format!("{name}={value}\n"));
    let (params, key) = (params.collect::<String>(), &planned.input_key);
    let asked = format!("recorded={}\n{params}input={key}\n", wanted.recorded);
    match fs::read_to_string(&file) {
        Ok(there) if there != asked => bail!(
            "{}: has the recording of another load or kernel: name another folder with -o",
            folder.display()
        ),
        Ok(_) => Ok(()),
        Err(_) => {
            fs::create_dir_all(folder)
                .with_context(|| format!("{}: cannot make", folder.display()))?;
            write_whole(&file, asked.as_bytes())
        }
    }
}

/// Writes the letter, unless it is there and differs by its date alone: the kernel with it need not be built again.
fn write_letter(file: &Path, letter: &str) -> Result<()> {
    let undated = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with("Date: ")).map(str::to_owned).collect()
    };
    if fs::read_to_string(file).is_ok_and(|there| undated(&there) == undated(letter)) {
        return Ok(());
    }
    write_whole(file, letter.as_bytes())?;
    say(format_args!("slablab: the patch is in {}", file.display()));
    Ok(())
}

fn with_kernels(request: &Request, kernels: String) -> Request {
    let mut request = request.clone();
    request.params.insert("kernels".to_owned(), kernels);
    request
}

/// A patch that applies.
struct Made {
    letter: String,
    /// The structure that gets a cache, which has its name
    structure: String,
    /// The call site, as place in the trace and by name
    site: u32,
    name: String,
}

/// Makes the patch from the source of the kernel that is measured.
fn letter(
    request: &Request,
    wanted: &Wanted,
    question: &QuestionArgs,
    trace: &TraceReader,
) -> Result<Made> {
    let code = || {
        let mut bar = Progress::default();
        let kernel = build(request, &wanted.kernel, &mut |step| bar.show(&step))?;
        let Some(folder) = kernel.tree() else {
            bail!(
                "{}: a patch needs a kernel that is built from source, such as build:6.12/slub",
                wanted.kernel
            );
        };
        let release = Release::of(kernel.release()).with_context(|| {
            format!("{}: {} is not a release of Linux", wanted.kernel, kernel.release())
        })?;
        let tree = Tree::open(folder)?;
        Ok(Some(Code { tree, release, path: folder.to_owned() }))
    };
    let answer = patch_of(question, trace, &wanted.site, &AllocatorArgs::default(), false, code)?;
    let Some(structure) = answer.structure.filter(|_| answer.applies) else {
        let why = answer.why_not.unwrap_or_else(|| "its structure is not known".to_owned());
        bail!("{}: no patch that applies is made for {}: {why}", question.file(), answer.site);
    };
    let sites = &trace.meta().sites;
    let site = sites.iter().position(|site| site.name == answer.site);
    let site = site.context("the call site is not in the trace")? as u32;
    Ok(Made { letter: answer.patch, structure, site, name: answer.site })
}
