//! What index should map probe addresses to probes: 64-bucket hash, 512-bucket hash, XArray, XArray behind a
//! small cache?
//!
//! Takes the kernel's function list, shuffles it with a fixed seed, and adds and enables one kprobe event after
//! another; every so many it writes down the seconds since the first and the free memory, and times a fixed
//! number of system calls whose functions carry probes by now.
//!
//! Jump optimisation is switched off: an optimised probe does not look its address up.

use serde_json::json;
use slablab_stats::Direction;
use slablab_vm::Spec;

use super::{Experiment, Load, Metric, SECONDS, Size, Tool, Variant, params};

/// The values of the boot parameter `kprobe_table`, today's first.
const TABLES: [&str; 4] = ["hash64", "hash512", "xarray", "xarray_cache"];

/// Returns the experiment in a kernel with this allocator.
#[must_use]
pub fn kprobes(allocator: &str, size: Size) -> Experiment {
    let variants = TABLES.map(|table| Variant {
        name: table.into(),
        spec: Spec::plain(allocator),
        arguments: vec![format!("kprobe_table={table}")],
    });
    let (most, step) = match size {
        Size::Smoke => (200, 100),
        Size::Normal => (6_000, 1_000),
        Size::Full => (32_000, 1_000),
    };
    let hits_ns = Metric { key: "hit_seconds", unit: "s", direction: Direction::LessIsBetter };
    let free = Metric { key: "mem_free_kb", unit: "kB", direction: Direction::MoreIsBetter };
    Experiment {
        name: "kprobes",
        question: "which table behind get_kprobe() is fastest, by number of probes?",
        variants: variants.into(),
        loads: vec![Load {
            params: params([("most", json!(most))]),
            script: format!("kprobes {most} {step}\n"),
        }],
        metrics: vec![SECONDS, hits_ns, free],
        row_params: &["probes"],
        tools: vec![Tool::OnPath("hackbench")],
        memory_mib: 3072,
        rounds: match size {
            Size::Smoke => 2,
            Size::Normal | Size::Full => 7,
        },
        setup: String::new(),
        limit_seconds: 3600,
    }
}
