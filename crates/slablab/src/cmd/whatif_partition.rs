//! `slablab whatif --partition`: what keeping kmalloc's objects apart costs.

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use slablab_kmem::BackendKind;
use slablab_pages::{partition_sentence, tables};
use slablab_replay::{PartitionBy, PartitionCost, partition_cost};
use slablab_trace::TraceReader;

use super::question::QuestionArgs;
use crate::output::{Page, Report, Table};
use crate::progress::Progress;

/// Reads `random:16`, `buckets`, `site` or `type`.
pub(super) fn parse_partition(text: &str) -> Result<PartitionBy, String> {
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

/// Replays the trace with and without the partition.
pub(super) fn run(
    question: &QuestionArgs,
    trace: &TraceReader,
    kind: BackendKind,
    by: PartitionBy,
) -> Result<PartitionAnswer> {
    // Said before seconds of work.
    let types = match by {
        PartitionBy::Type => question.allocated_types(trace.meta())?,
        _ => Vec::new(),
    };
    let replays = if matches!(by, PartitionBy::Random { .. }) { 21 } else { 2 };
    let progress = Progress::new("replaying", trace.meta().events * replays);
    let mut done = 0;
    let mut note = |rows: u64| {
        done += rows;
        progress.set(done);
    };
    let cost = partition_cost(trace, kind, question.memory, by, &types, &mut note);
    let cost = question.with_trace_name(cost)?;
    Ok(PartitionAnswer { file: question.file(), cost })
}

/// What `slablab whatif --partition` says.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PartitionAnswer {
    pub(super) file: String,
    #[serde(flatten)]
    pub(super) cost: PartitionCost,
}

impl Report for PartitionAnswer {
    const SCHEMA: &'static str = "slablab.partition/1";

    fn text(&self, page: &mut Page) {
        super::replay::header(&self.file, &self.cost.trace, page);
        page.line("");
        page.paragraph(&partition_sentence(&self.cost), 0);
        page.line("");
        page.table(&self.csv());
    }

    fn csv(&self) -> Table {
        tables::partition(&self.cost)
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
