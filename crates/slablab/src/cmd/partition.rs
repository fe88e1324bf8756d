//! `slablab partition`: what keeping kmalloc's objects apart costs.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::builder::NonEmptyStringValueParser;
use slablab_kmem::BackendKind;
use slablab_replay::{PartitionBy, PartitionCost, nearest_name, partition_cost};
use slablab_report::printable;
use slablab_trace::{AllocatedType, TraceReader};

use super::allocators::allocator;
use super::question::QuestionArgs;
use super::size::parse_bytes;
use crate::answers::partition::PartitionAnswer;
use crate::answers::typed::{TypedAnswer, Way};
use crate::cli::OutputArgs;
use crate::output::give;
use crate::progress::Progress;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "BY is random:N (N copies of each class by a hash of the call site, over 20 seeds), buckets (what\n\
                        memdup_user and msg_msg allocate), site (a cache for each call site), type (a cache for each\n\
                        structure, by the recorded kernel's debug information), or typed:N (N copies of each class by\n\
                        Clang's token of the type, beside all other ways).\n\n\
                        Examples:\n  \
                        slablab partition t.parquet --by random:16\n  \
                        slablab partition t.parquet --by type --vmlinux vmlinux\n  \
                        slablab partition t.parquet --by typed:16 --with file"
)]
pub(crate) struct Args {
    #[command(flatten)]
    question: QuestionArgs,
    /// Simulated memory [default: 16G, more where needed]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    memory: Option<u64>,
    /// By what objects are kept apart
    #[arg(long, value_name = "BY", value_parser = parse_partition, default_value = "random:16")]
    by: PartitionBy,
    /// With --by typed:N: which types share a partition with this one
    #[arg(long, value_name = "TYPE", value_parser = NonEmptyStringValueParser::new())]
    with: Option<String>,
    /// Replay under this allocator [default: the recorded kernel's, or slub]
    #[arg(long, short_alias = 'a', alias = "allocators", value_name = "NAME", value_parser = allocator())]
    allocator: Option<BackendKind>,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let question = &args.question;
    question.check_outputs(&[question.path()], &[])?;
    let trace = question.open()?;
    let recorded = BackendKind::of_release(&trace.meta().kernel_release);
    let kind = args.allocator.or(recorded).unwrap_or(BackendKind::Slub);
    if let PartitionBy::Typed { .. } = args.by {
        return typed(args, &trace, kind, output);
    }
    if args.with.is_some() {
        bail!("--with asks about the types of --by typed:N: name it, too");
    }
    // Said before seconds of work.
    let types = match args.by {
        PartitionBy::Type => question.allocated_types(trace.meta())?,
        _ => Vec::new(),
    };
    let costs = costs(args, &trace, kind, &[args.by], &types)?;
    for cost in costs {
        give(&PartitionAnswer { file: question.file(), cost }, output, &question.answer)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Answers for Clang's tokens, beside every other way.
fn typed(
    args: &Args,
    trace: &TraceReader,
    kind: BackendKind,
    output: &OutputArgs,
) -> Result<ExitCode> {
    let question = &args.question;
    let PartitionBy::Typed { tokens } = args.by else { unreachable!("the caller saw to it") };
    let (from, types) = question.known_or_likely_types(trace)?;
    // Random copies are a power of two.
    let copies = 1 << tokens.ilog2();
    let ways = [
        args.by,
        PartitionBy::Random { copies },
        PartitionBy::Buckets,
        PartitionBy::Site,
        PartitionBy::Type,
    ];
    let mut costs = costs(args, trace, kind, &ways, &types)?.into_iter();
    let cost = costs.next().expect("the first way is the one that was asked for");
    let ways = Way::of_all(&cost, costs.as_slice());
    let answer = TypedAnswer { file: question.file(), with: args.with.clone(), from, ways, cost };
    if let (Some(with), None) = (&args.with, answer.asked()) {
        let names = answer.partitions().types.iter().map(|one| one.canonical.as_str());
        let near = nearest_name(with, names)
            .map_or_else(String::new, |near| format!(" (there is {near})"));
        bail!(
            "{}: no call site is known to allocate a type of the name {}{near}: --show types lists all",
            question.file(),
            printable(with)
        );
    }
    give(&answer, output, &question.answer)?;
    Ok(ExitCode::SUCCESS)
}

/// Replays the trace with each of several ways to keep objects apart.
fn costs(
    args: &Args,
    trace: &TraceReader,
    kind: BackendKind,
    ways: &[PartitionBy],
    types: &[Option<AllocatedType>],
) -> Result<Vec<PartitionCost>> {
    let events = trace.meta().events;
    let replays: u64 = ways.iter().map(|by| by.replays(events)).sum();
    let progress = Progress::new("replaying", events * replays);
    let mut done = 0;
    let mut note = |rows: u64| {
        done += rows;
        progress.set(done);
    };
    let cost = |by: &PartitionBy| partition_cost(trace, kind, args.memory, *by, types, &mut note);
    let costs: Result<_, _> = ways.iter().map(cost).collect();
    args.question.with_trace_name(costs)
}

/// Reads `random:16`, `buckets`, `site`, `type` or `typed:16`.
fn parse_partition(text: &str) -> Result<PartitionBy, String> {
    match text {
        "buckets" => Ok(PartitionBy::Buckets),
        "site" => Ok(PartitionBy::Site),
        "type" => Ok(PartitionBy::Type),
        _ => {
            let copies = |word| text.strip_prefix(word).and_then(|copies| copies.parse().ok());
            let is_known = |copies: &u32| (2..=64).contains(copies);
            let random =
                copies("random:").filter(|copies| is_known(copies) && copies.is_power_of_two());
            let tokens = copies("typed:").filter(|tokens| is_known(tokens) && tokens % 2 == 0);
            match (random, tokens) {
                (Some(copies), _) => Ok(PartitionBy::Random { copies }),
                (_, Some(tokens)) => Ok(PartitionBy::Typed { tokens }),
                _ => Err("a partition is random:N (N being 2, 4, 8, 16, 32 or 64), typed:N (N even, 2 to 64), buckets, site \
                          or type"
                    .to_owned()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_named() {
        assert_eq!(parse_partition("random:16"), Ok(PartitionBy::Random { copies: 16 }));
        assert_eq!(parse_partition("site"), Ok(PartitionBy::Site));
        assert_eq!(parse_partition("typed:6"), Ok(PartitionBy::Typed { tokens: 6 }));
        for text in [
            "random",
            "random:1",
            "random:15",
            "random:x",
            "",
            "sites",
            "typed",
            "typed:3",
            "typed:66",
        ] {
            assert!(parse_partition(text).unwrap_err().contains("random:N"), "{text}");
        }
        assert_eq!(parse_partition("type"), Ok(PartitionBy::Type));
    }
}
