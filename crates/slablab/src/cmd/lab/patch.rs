//! `slablab lab run patch`: from a load to a patch that was measured. Records the load in a guest, makes the patch that
//! gives a call site a cache of its own, builds the kernel with it, and compares what guests hold with the prediction.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use slablab_csource::Tree;
use slablab_lab::patched::{measure, predict, record};
use slablab_lab::{Outcome, Plan, Request, Wanted, guest, plan, run as carry_out};
use slablab_linux::Release;
use slablab_report::Fact;
use slablab_trace::TraceReader;
use slablab_vm::{Data, Kernel, KernelBuilder, Spec};

use super::bars::Bars;
use super::request::{RequestArgs, install};
use super::result::ResultArgs;
use crate::answers::comparison::guests;
use crate::answers::kept::{Obtained, keep};
use crate::answers::patched::PatchedAnswer;
use crate::cli::OutputArgs;
use crate::cmd::allocators::AllocatorArgs;
use crate::cmd::code::Code;
use crate::cmd::kernel::options::InstallArgs;
use crate::cmd::patch::answer as patch_of;
use crate::cmd::question::QuestionArgs;
use crate::output::{give, write_whole};
use crate::progress::Progress;
use crate::say::say;

/// The name by which it is run.
pub(super) const NAME: &str = "patch";
/// The folder below that of the result with the boots that are compared.
const MEASURED: &str = "measured";

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
    let params = request.params.iter();
    let params = params.map(|(name, value)| Fact::new(format!("parameter {name}"), value));
    let mut facts: Vec<Fact> = params.collect();
    facts.extend(request.input.iter().map(|file| Fact::new("input", file.display().to_string())));
    let wanted = Wanted::take(&mut request)?;
    let folder = result.output.clone().unwrap_or_else(|| PathBuf::from("slablab-results/patch"));
    let kernels = format!("{},{}", wanted.kernel, wanted.recorded);
    // What both kernels need is there before anything is recorded.
    let both = match wanted.kernel == wanted.recorded {
        true => request.clone(),
        false => with_kernels(&request, kernels),
    };
    install(installs, experiment, &plan(experiment, &both)?)?;
    let mut bars = Bars::new(NAME);
    let trace = match &wanted.trace {
        Some(trace) => trace.clone(),
        None => {
            begin(&folder, args, &wanted)?;
            record(&request, &wanted, &folder, &mut |stage| bars.show(&stage))?
        }
    };
    drop(bars);
    let question = QuestionArgs::of(&trace);
    let reader = question.open()?;
    let made = letter(&request, &wanted, &question, &reader)?;
    fs::create_dir_all(&folder).with_context(|| format!("{}: cannot make", folder.display()))?;
    let file = folder.join(format!("{}.patch", made.structure));
    write_whole(&file, made.letter.as_bytes())?;
    say(format_args!("slablab: the patch is in {}", file.display()));
    let predicted = predict(&reader, made.site, &made.structure)?;

    let patched = format!("{}+{}", wanted.kernel, file.display());
    let mut request = with_kernels(&request, format!("{},{patched}", wanted.kernel));
    let rows = folder.join(MEASURED);
    // A result that exists keeps its order.
    if let Some(there) = Plan::read(&rows)? {
        request.seed = there.seed;
    }
    let planned = plan(experiment, &request)?;
    let mut bars = Bars::new(NAME);
    carry_out(experiment, &planned, &rows, &mut |stage| bars.show(&stage))?;
    drop(bars);
    let outcome = Outcome::read(&rows)?;
    facts.extend(guests(&outcome));
    let effect = measure(&outcome, &made.structure, predicted)?;
    let kernel = kernel(&request, &patched)?;
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
    keep(&answer, &folder)?;
    give(&answer, output, &result.answer())?;
    say(format_args!("slablab: the rows are in {}", rows.display()));
    Ok(if answer.holds { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Refuses to go on with the recording of another command.
fn begin(folder: &Path, args: &RequestArgs, wanted: &Wanted) -> Result<()> {
    let file = folder.join("asked.txt");
    let asked = format!("{}\n{}\n", args.load_of_guests(), wanted.recorded);
    match fs::read_to_string(&file) {
        Ok(there) if there != asked => bail!(
            "{}: holds the recording of another load or kernel: name another folder with -o",
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
        let kernel = kernel(request, &wanted.kernel)?;
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

/// Returns a kernel, built if it is not in the cache.
fn kernel(request: &Request, name: &str) -> Result<Kernel> {
    let mut bar = Progress::default();
    let spec = Spec::named(&Data::find()?, name)?;
    let builder = KernelBuilder::open(&guest::places(request)?, &spec.needs())?;
    Ok(builder.build(&spec, &mut |step| bar.show(&step))?)
}
