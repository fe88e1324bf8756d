//! How do SLAB, SLUB, SLOB and SLMB compare on message passing, by CPU count and group count?
//!
//! hackbench's groups of 20 senders and 20 receivers pass messages of 100 bytes through unix sockets; each
//! message is an `sk_buff` and a data block, allocated by one task and freed by another, often on another CPU.

use serde_json::json;
use slablab_vm::Spec;

use super::{Experiment, Load, SECONDS, SLAB_KB, Size, Tool, Variant, params};

/// Messages of each sender to each receiver, divided by the groups: with 400, SLUB takes 2 to 3 seconds in an
/// emulated guest with 2 CPUs and SLOB 5 to 15.
const LOOPS_BY_GROUPS: u32 = 400;

/// Returns the experiment for these allocators and group counts.
#[must_use]
pub fn hackbench(allocators: &[String], groups: &[u32], size: Size) -> Experiment {
    Experiment {
        name: "hackbench",
        question: "how do the allocators compare on message passing, by CPU count and group count?",
        variants: allocators.iter().map(|name| variant(name)).collect(),
        loads: groups.iter().map(|groups| load(*groups, size)).collect(),
        metrics: vec![SECONDS, SLAB_KB],
        row_params: &[],
        tools: vec![Tool::OnPath("hackbench")],
        memory_mib: 1024,
        rounds: match size {
            Size::Smoke => 2,
            Size::Normal | Size::Full => 7,
        },
        // The first run after a boot pays for page faults and for caches that fill for the first time.
        setup: "hackbench -g 1 -l 10 > /tmp/warm-up\n".into(),
        limit_seconds: 1800,
    }
}

fn variant(allocator: &str) -> Variant {
    Variant { name: allocator.into(), spec: Spec::plain(allocator), arguments: Vec::new() }
}

fn load(groups: u32, size: Size) -> Load {
    let loops = (size.scale(LOOPS_BY_GROUPS) / groups.max(1)).max(1);
    let script = format!(
        "hackbench -g {groups} -l {loops} -s 100 | tee /tmp/hackbench\n\
         seconds=$(sed -n 's/^Time: //p' /tmp/hackbench)\n\
         observe \"\\\"seconds\\\":$seconds,\\\"slab_kb\\\":$(meminfo Slab)\"\n"
    );
    Load { params: params([("groups", json!(groups)), ("loops", json!(loops))]), script }
}
