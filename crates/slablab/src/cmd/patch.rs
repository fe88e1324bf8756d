//! `slablab patch`: what giving a call site a cache of its own looks like in the kernel's source.

use std::process::ExitCode;

use anyhow::{Result, bail};
use slablab_linux::Release;
use slablab_replay::{Advice, AdviceList, Profile, calls, merges_with, nearest_name, select_sites};
use slablab_trace::TraceReader;

use super::advise::tried;
use super::allocators::AllocatorArgs;
use super::question::QuestionArgs;
use crate::answers::patch::{PatchAnswer, PatchFacts, skeleton};
use crate::answers::reason::why_not_tried;
use crate::answers::sources::Sources;
use crate::cli::OutputArgs;
use crate::output::give;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "The patch nearly applies: what the trace and the kernel's debug information do not tell, it says in words.\n\n\
                        Example:\n  \
                        slablab patch t.parquet alloc_pipe_info --vmlinux vmlinux > pipe.txt"
)]
pub(crate) struct Args {
    #[command(flatten)]
    question: QuestionArgs,
    /// The call site: a function, a place in it (kstrdup+0x38) or a pattern
    #[arg(value_name = "SITE")]
    call_site: String,
    #[command(flatten)]
    allocator: AllocatorArgs,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let question = &args.question;
    question.check_outputs(&[question.path()], &[])?;
    let trace = question.open()?;
    // A site that is not there is worth saying before seconds of work, not after.
    let sites = question.with_trace_name(select_sites(trace.meta(), &args.call_site))?;
    let sources = question.sources(&trace, true)?;
    let list = tried(question, &trace, args.allocator.of(trace.meta()))?;
    let answer = patch(&list, &sites, &trace, question, sources.as_ref());
    give(&question.with_trace_name(answer)?, output, &question.answer)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the patch for the best of the wanted sites.
fn patch(
    list: &AdviceList,
    sites: &[u32],
    trace: &TraceReader,
    question: &QuestionArgs,
    sources: Option<&Sources>,
) -> Result<PatchAnswer> {
    let meta = trace.meta();
    let name = |site: &u32| meta.sites[*site as usize].name.as_str();
    let of_site = |advice: &Advice| {
        let is_it = |site: &&u32| advice.is_own_cache() && name(site) == advice.subject;
        sites.iter().find(is_it).copied()
    };
    let wanted = list.advice.iter().find_map(|advice| Some((advice, of_site(advice)?)));
    let Some((advice, site)) = wanted else {
        let first = name(&sites[0]);
        let near = nearest_name(first, list.advice.iter().map(|a| a.subject.as_str()));
        let near = near.map_or_else(String::new, |near| format!(" (tried: {near}, ...)"));
        bail!("a cache for {first} was not tried: {}{near}", why(list, first))
    };
    let Profile { sizes, allocs_of_other_sizes, .. } = &advice.profile;
    if sizes.len() as u64 + allocs_of_other_sizes > 1 {
        let sizes: Vec<_> = sizes.iter().map(|size| size.bytes.to_string()).collect();
        bail!(
            "{} asks for several sizes ({}{} bytes): they come from outside, and a cache of one size would overflow with the \
             next; see who asks with `slablab stat --by owner`",
            advice.subject,
            sizes.join(", "),
            if *allocs_of_other_sizes > 0 { " and other" } else { "" }
        );
    }
    let place = sources.and_then(|sources| sources.place(&advice.subject));
    let symbol = advice.subject.split('+').next().unwrap_or_default();
    let functions = [symbol, place.map_or("", |place| &place.function)];
    let calls = calls(trace, site)?;
    let facts = PatchFacts {
        release: Release::of(&meta.kernel_release),
        file: question.file(),
        place,
        types: question.types(meta).map(|btf| btf.candidates(&functions, advice.object_bytes)),
        shares_with: merges_with(meta, advice.object_bytes, calls.is_accounted()),
        calls,
    };
    let others = sites.iter().filter(|other| **other != site).map(|site| name(site).to_owned());
    Ok(PatchAnswer {
        site: advice.subject.clone(),
        patch: skeleton(advice, &facts).unwrap_or_default(),
        others: others.collect(),
        calls: facts.calls,
    })
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
