//! fork and clone allocate an audit context with kmalloc: would a kmem_cache of its own be faster?
//!
//! One kernel image; the boot parameter `audit_cache` picks the variant, so that both run the same code at the
//! same addresses. The load is hackbench with many processes and hardly a message: what is timed is the whole
//! of it, forks included, which hackbench's own figure leaves out.

use serde_json::json;
use slablab_vm::Spec;

use super::{Experiment, Load, SECONDS, SLAB_KB, Size, Tool, Variant, params};

/// How often 10 groups (400 processes) are forked: 8 take 3 to 4 seconds in an emulated guest.
const REPEATS: u32 = 8;

/// Rounds: what the question asks for.
const ROUNDS: u32 = 31;

/// Returns the experiment in a kernel with this allocator.
#[must_use]
pub fn audit_cache(allocator: &str, size: Size) -> Experiment {
    let variants = [("kmalloc", 0), ("kmem_cache", 1)].map(|(name, value)| Variant {
        name: name.into(),
        spec: Spec::plain(allocator),
        arguments: vec!["audit=1".into(), format!("audit_cache={value}")],
    });
    let repeats = size.scale(REPEATS);
    let script = format!(
        "begin=$(now_ns)\n\
         i=0\n\
         while [ $i -lt {repeats} ]; do\n\
         hackbench -g 10 -l 1 -s 100 > /tmp/hackbench\n\
         i=$((i + 1))\n\
         done\n\
         end=$(now_ns)\n\
         observe \"\\\"seconds\\\":$(seconds $((end - begin))),\\\"slab_kb\\\":$(meminfo Slab)\"\n"
    );
    let forks = repeats * 400;
    Experiment {
        name: "audit-cache",
        question: "would a kmem_cache of its own make the audit context of fork faster?",
        variants: variants.into(),
        loads: vec![Load { params: params([("forks", json!(forks))]), script }],
        metrics: vec![SECONDS, SLAB_KB],
        row_params: &[],
        tools: vec![Tool::OnPath("hackbench")],
        memory_mib: 1024,
        rounds: match size {
            Size::Smoke => 2,
            Size::Normal | Size::Full => ROUNDS,
        },
        setup: "hackbench -g 10 -l 1 > /tmp/warm-up\n".into(),
        limit_seconds: 600,
    }
}
