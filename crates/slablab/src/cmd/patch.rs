//! `slablab patch`: what giving a call site a cache of its own looks like in the kernel's source.

use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};
use slablab_csource::{CachePatch, Site, Wanted};
use slablab_host::bound;
use slablab_linux::Release;
use slablab_replay::{
    Advice, AdviceList, NotTried, Worth, calls, function, merges_with, nearest_name, select_sites,
    sole_sizes,
};
use slablab_trace::{Btf, TraceReader};

use super::advise::tried;
use super::allocators::AllocatorArgs;
use super::code::{Code, CodeArgs};
use super::helpers::HelperArgs;
use super::question::QuestionArgs;
use crate::answers::letter::{Origin, Subject, frees, has_no_merge, letter};
use crate::answers::patch::{PatchAnswer, PatchFacts, skeleton};
use crate::answers::reason::why_not_tried;
use crate::answers::sources::Sources;
use crate::cli::OutputArgs;
use crate::output::give;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "With the recorded kernel's source the patch is a letter for git am. Without it, or where no such patch can be\n\
                        made, it is one to adapt: what trace and debug information do not tell, it says in words.\n\n\
                        Examples:\n  \
                        slablab patch t.parquet do_eventfd --source linux > eventfd.patch\n  \
                        slablab patch t.parquet alloc_pipe_info --vmlinux vmlinux --yes -o pipe.patch"
)]
pub(crate) struct Args {
    #[command(flatten)]
    question: QuestionArgs,
    /// The call site: a function, a place in it (kstrdup+0x38) or a pattern
    #[arg(value_name = "SITE")]
    call_site: String,
    #[command(flatten)]
    helpers: HelperArgs,
    #[command(flatten)]
    code: CodeArgs,
    #[command(flatten)]
    allocator: AllocatorArgs,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let question = &args.question;
    question.check_outputs(&[question.path()], &[])?;
    let opened = question.open()?;
    args.helpers.refuse_as_site(&args.call_site)?;
    let owned = args.helpers.owned(&opened)?;
    let trace = owned.as_ref().unwrap_or(&opened);
    let open_code = || args.code.open(Release::of(&trace.meta().kernel_release));
    let is_remedy_wanted = !args.code.is_none();
    let answer =
        answer(question, trace, &args.call_site, &args.allocator, is_remedy_wanted, open_code)?;
    give(&answer, output, &question.answer)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the patch for a call site of `trace`, by the source that `open_code` opens.
///
/// # Errors
///
/// If there is no such site, or no cache for it can be made; the message says why.
pub(super) fn answer(
    question: &QuestionArgs,
    trace: &TraceReader,
    call_site: &str,
    allocator: &AllocatorArgs,
    is_remedy_wanted: bool,
    open_code: impl FnOnce() -> Result<Option<Code>>,
) -> Result<PatchAnswer> {
    // A site that is not there is worth saying before seconds of work, not after.
    let sites = question.with_trace_name(select_sites(trace.meta(), call_site))?;
    let sources = question.sources(trace, true)?;
    let code = open_code()?;
    let list = tried(question, trace, allocator.of(trace.meta()))?;
    let made =
        Made { question, trace, sources: sources.as_ref(), code: code.as_ref(), is_remedy_wanted };
    question.with_trace_name(patch(&list, &sites, &made))
}

/// What patches are made of.
struct Made<'a> {
    question: &'a QuestionArgs,
    trace: &'a TraceReader,
    sources: Option<&'a Sources>,
    code: Option<&'a Code>,
    /// Whether the answer says how to get a patch that applies
    is_remedy_wanted: bool,
}

impl Made<'_> {
    /// Returns what is known of the code of a call site that asks for `bytes`.
    fn facts(&self, site: u32, bytes: u64, types: Option<&Btf>) -> Result<PatchFacts<'_>> {
        let meta = self.trace.meta();
        let name = &meta.sites[site as usize].name;
        let place = self.sources.and_then(|sources| sources.place(name));
        let symbol = name.split('+').next().unwrap_or_default();
        let functions = [symbol, place.map_or("", |place| &place.function)];
        let calls = calls(self.trace, site)?;
        Ok(PatchFacts {
            release: Release::of(&meta.kernel_release),
            file: self.question.file(),
            place,
            types: types.map(|btf| btf.candidates(&functions, bytes)),
            shares_with: merges_with(meta, bytes, calls.is_accounted()),
            calls,
        })
    }
}

/// Returns the patch for the best of the wanted sites.
fn patch(list: &AdviceList, sites: &[u32], made: &Made<'_>) -> Result<PatchAnswer> {
    let meta = made.trace.meta();
    let name = |site: &u32| meta.sites[*site as usize].name.as_str();
    let of_site = |advice: &Advice| {
        let is_it = |site: &&u32| advice.is_own_cache() && name(site) == advice.subject;
        sites.iter().find(is_it).copied()
    };
    let wanted = list.advice.iter().find_map(|advice| Some((advice, of_site(advice)?)));
    let Some((advice, site)) = wanted else {
        if let Some(answer) = without_prediction(list, sites, made)? {
            return Ok(answer);
        }
        let first = name(&sites[0]);
        let near = nearest_name(first, list.advice.iter().map(|a| a.subject.as_str()));
        let near = near.map_or_else(String::new, |near| format!(" (tried: {near}, ...)"));
        bail!("a cache for {first} was not tried: {}{near}", why(list, first))
    };
    if advice.worth == Worth::MayLeak {
        bail!(
            "the objects of {} grew in number to the end of the recording: a cache does not help a leak; whether it is one, \
             `slablab leaks` tells on the machine, and a longer recording",
            advice.subject
        );
    }
    let types = made.question.types(meta);
    let facts = made.facts(site, advice.object_bytes, types.as_ref())?;
    let others = sites.iter().filter(|other| **other != site).map(|site| name(site).to_owned());
    let answer = PatchAnswer {
        site: advice.subject.clone(),
        others: others.collect(),
        calls: facts.calls.clone(),
        ..PatchAnswer::default()
    };
    let with_skeleton = |answer: PatchAnswer| {
        let patch = skeleton(advice, &facts).unwrap_or_default();
        Ok(PatchAnswer { patch, ..answer })
    };
    let Some(code) = made.code else {
        let remedy = made.is_remedy_wanted.then(|| remedy(facts.release));
        return with_skeleton(PatchAnswer { remedy, ..answer });
    };
    let answer = PatchAnswer { source: Some(code.path.display().to_string()), ..answer };
    let subject =
        Subject { name: &advice.subject, bytes: advice.object_bytes, advice: Some(advice) };
    match applying(&subject, &facts, code, types.as_ref()) {
        Ok(patch) => Ok(applied(&subject, &facts, code, &patch, answer)),
        Err(why @ slablab_csource::Error::Unclear { .. }) => {
            with_skeleton(PatchAnswer { why_not: Some(why.to_string()), ..answer })
        }
        Err(why) => Err(why.into()),
    }
}

/// Returns the patch for a site whose frees are not seen, as those by `kfree_rcu()` in bulk are: the source tells of them,
/// and no figure is predicted. `None` where there is none of one size, or no source.
fn without_prediction(
    list: &AdviceList,
    sites: &[u32],
    made: &Made<'_>,
) -> Result<Option<PatchAnswer>> {
    let meta = made.trace.meta();
    let name = |site: u32| meta.sites[site as usize].name.as_str();
    let is_unseen = |site: &u32| list.not_tried.get(name(*site)) == Some(&NotTried::FreesUnseen);
    let (Some(code), Some(site)) = (made.code, sites.iter().copied().find(is_unseen)) else {
        return Ok(None);
    };
    let Some(bytes) = sole_sizes(made.trace)?[site as usize] else { return Ok(None) };
    let types = made.question.types(meta);
    let facts = made.facts(site, bytes, types.as_ref())?;
    let subject = Subject { name: name(site), bytes, advice: None };
    let patch = applying(&subject, &facts, code, types.as_ref())?;
    let answer = PatchAnswer {
        site: subject.name.to_owned(),
        calls: facts.calls.clone(),
        source: Some(code.path.display().to_string()),
        ..PatchAnswer::default()
    };
    Ok(Some(applied(&subject, &facts, code, &patch, answer)))
}

/// Returns the answer with a patch that applies.
fn applied(
    subject: &Subject<'_>,
    facts: &PatchFacts<'_>,
    code: &Code,
    patch: &CachePatch,
    answer: PatchAnswer,
) -> PatchAnswer {
    PatchAnswer {
        patch: letter(subject, facts, patch, &origin(code)),
        applies: true,
        structure: Some(patch.site.structure.clone()),
        frees: frees(patch),
        ..answer
    }
}

/// Says how to get a patch that applies.
fn remedy(release: Option<Release>) -> String {
    match release {
        Some(release) => format!(
            "With Linux's source it is a patch that git am takes: --yes downloads Debian's linux-source-{release}, --source DIR \
             names one."
        ),
        None => "With Linux's source it is a patch that git am takes: --source DIR names one."
            .to_owned(),
    }
}

/// Makes the patch from the source.
fn applying(
    subject: &Subject<'_>,
    facts: &PatchFacts<'_>,
    code: &Code,
    types: Option<&Btf>,
) -> slablab_csource::Result<CachePatch> {
    let symbol = function(subject.name);
    if subject.name.ends_with(']') {
        return Err(slablab_csource::Error::Unclear {
            place: format!("{symbol}()"),
            why: "it was recorded in a module, whose init and exit functions make and destroy its cache".into(),
        });
    }
    let is_size = |structure: &str| types?.has_size(structure, subject.bytes);
    let place = facts.place.map(|place| {
        (place.file.as_str(), place.function.as_str(), place.line.map(|line| line as usize))
    });
    let site = Site::find(&code.tree, &Wanted { symbol, place, is_size: &is_size })?;
    let mut facts = facts.clone();
    if !has_no_merge(&facts, code.release) {
        facts.shares_with = None;
    }
    CachePatch::new(&code.tree, site, &facts.flags(false))
}

/// Returns who writes the letter, by git's configuration.
fn origin(code: &Code) -> Origin {
    let git = |key: &str| {
        let output = bound("git").args(["config", key]).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (!text.is_empty()).then_some(text)
    };
    let author = match (git("user.name"), git("user.email")) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        _ => "Your Name <you@example.org>".to_owned(),
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Origin { author, seconds: now, release: code.release }
}

/// Says why a cache of its own was not tried for a call site.
fn why(list: &AdviceList, site: &str) -> String {
    if let Some(why) = list.not_tried.get(site) {
        return why_not_tried(*why).to_owned();
    }
    match list.recorded.iter().find(|known| known.site == site) {
        Some(known) if !known.cache.is_empty() => {
            format!("it allocates from the cache {}, not by kmalloc", known.cache)
        }
        _ => "it allocates nothing by kmalloc here".to_owned(),
    }
}
