//! `slablab partition`: what keeping kmalloc's objects apart costs.

use std::process::ExitCode;

use anyhow::Result;
use slablab_kmem::BackendKind;
use slablab_replay::{PartitionBy, partition_cost};

use super::allocators::allocator;
use super::question::QuestionArgs;
use super::size::parse_bytes;
use crate::answers::partition::PartitionAnswer;
use crate::cli::OutputArgs;
use crate::output::give;
use crate::progress::Progress;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "BY is random:N (N copies of each class by a hash of the call site, over 20 seeds), buckets (what\n\
                        memdup_user and msg_msg allocate), site (a cache for each call site), or type (a cache for each\n\
                        structure, by the recorded kernel's debug information).\n\n\
                        Examples:\n  \
                        slablab partition t.parquet --by random:16\n  \
                        slablab partition t.parquet --by type --vmlinux vmlinux"
)]
pub(crate) struct Args {
    #[command(flatten)]
    question: QuestionArgs,
    /// Memory of the simulated machine
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, default_value = "16G")]
    memory: u64,
    /// By what objects are kept apart
    #[arg(long, value_name = "BY", value_parser = parse_partition, default_value = "random:16")]
    by: PartitionBy,
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
    // Said before seconds of work.
    let types = match args.by {
        PartitionBy::Type => question.allocated_types(trace.meta())?,
        _ => Vec::new(),
    };
    let replays = if matches!(args.by, PartitionBy::Random { .. }) { 21 } else { 2 };
    let progress = Progress::new("replaying", trace.meta().events * replays);
    let mut done = 0;
    let mut note = |rows: u64| {
        done += rows;
        progress.set(done);
    };
    let cost = partition_cost(&trace, kind, args.memory, args.by, &types, &mut note);
    let cost = question.with_trace_name(cost)?;
    drop(progress);
    give(&PartitionAnswer { file: question.file(), cost }, output, &question.answer)?;
    Ok(ExitCode::SUCCESS)
}

/// Reads `random:16`, `buckets`, `site` or `type`.
fn parse_partition(text: &str) -> Result<PartitionBy, String> {
    match text {
        "buckets" => Ok(PartitionBy::Buckets),
        "site" => Ok(PartitionBy::Site),
        "type" => Ok(PartitionBy::Type),
        _ => {
            let copies = text.strip_prefix("random:").and_then(|copies| copies.parse().ok());
            match copies {
                Some(copies) if (2..=64).contains(&copies) && u32::is_power_of_two(copies) => {
                    Ok(PartitionBy::Random { copies })
                }
                _ => Err("a partition is random:N (N being 2, 4, 8, 16, 32 or 64), buckets, site or type".to_owned()),
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
        for text in ["random", "random:1", "random:15", "random:x", "", "sites"] {
            assert!(parse_partition(text).unwrap_err().contains("random:N"), "{text}");
        }
        assert_eq!(parse_partition("type"), Ok(PartitionBy::Type));
    }
}
