//! The golden case: upstream gave event fields and files caches of their own in Linux 3.10 (commit
//! d1a291437f75), and counted what that saved. A kernel with that undone records its boot; advice from the
//! trace is compared with the kernel as upstream has it.
//!
//! A field has 56 bytes, 8 less than its kmalloc class, and a file had 88 in 6.1 as released, again 8 less. (6.1.192 has
//! added a count to it, which made it 96 bytes, a class; a patch takes that back in both kernels.)
//!
//! A boot makes 2,000 fields and 900 files, which save four pages and two: too few for a measurement in pages. So the
//! load makes 3,630 more fields, with probes, and four trace instances, such as trace-cmd and `slablab record` make
//! one of; each has a file for each event.

use std::process::ExitCode;

use anyhow::{Result, bail};
use slablab_kmem::BackendKind;
use slablab_lab::guest::Recording;
use slablab_linux::KmallocType;
use slablab_replay::{Advice, AdviceList, Change, advise};
use slablab_vm::{Data, Spec};

use super::site::{Answer, Boot, Common, Line, Site, describe, held_bytes, open_trace};
use crate::answers::reason::reason;
use crate::cli::OutputArgs;

const PATCHES: &str = "6.1/optional/ftrace-event-kmalloc";

/// The functions that allocate, and the caches that upstream made for them.
const SITES: [(&str, &str); 2] = [
    ("__trace_define_field", "ftrace_event_field"),
    ("trace_create_new_event", "trace_event_file"),
];

/// Makes four trace instances, and 30 events of 120 arguments and the address: 3,800 files, 3,630 fields.
const LOAD: &str = "mkdir /sys/kernel/tracing/instances/a /sys/kernel/tracing/instances/b \
    /sys/kernel/tracing/instances/c /sys/kernel/tracing/instances/d\n\
    args=\ni=0\n\
    while [ $i -lt 120 ]; do args=\"$args a$i=%di\"; i=$((i + 1)); done\n\
    i=0\n\
    while [ $i -lt 30 ]; do\n\
    echo \"p:lab/p$i vfs_read$args\" >> /sys/kernel/tracing/kprobe_events\n\
    i=$((i + 1))\n\
    done\n";

/// How many lines of advice a developer reads.
const RANK_MOST: usize = 5;

/// Returns the kernel as upstream has it, and the one with that undone.
pub(super) fn specs(data: &Data) -> [Spec; 2] {
    let patch = |name: &str| data.patch(&format!("{PATCHES}/{name}.patch"));
    let both = vec![patch("kmem-events-first"), patch("trace-event-file-size")];
    let undone = [both.clone(), vec![patch("ftrace-event-kmalloc")]].concat();
    let flavours = vec!["events".to_owned(), "dwarf".to_owned()];
    [both, undone].map(|patches| Spec {
        flavours: flavours.clone(),
        patches,
        ..Spec::plain("slub")
    })
}

/// Runs `slablab kernel predict ftrace-event`.
pub(super) fn run(args: &Common, output: &OutputArgs) -> Result<ExitCode> {
    let (site, kernels) = Site::open(args, "ftrace-event", &specs(&Data::find()?))?;
    let (mut upstream, mut undone) = (Vec::new(), Vec::new());
    for round in 0..args.rounds {
        for (kernel, name, recordings) in
            [(&kernels[0], "upstream", &mut upstream), (&kernels[1], "undone", &mut undone)]
        {
            recordings.push(site.record(&Boot {
                name: format!("{round}-{name}"),
                kernel,
                cpus: 1,
                arguments: &["slab_nomerge"],
                load: LOAD,
                from_boot: true,
            })?);
        }
    }
    let (path, reader) = open_trace(&undone[0])?;
    let list = advise(&reader, BackendKind::Slub, 1 << 30, &mut |_| ())?;
    let mut answer = Answer {
        question: "does advice find what upstream found, and does it save what advice says?",
        facts: vec![
            format!("{}, {}", kernels[1].release(), kernels[1].spec.name()),
            describe(&path, &reader),
        ],
        lines: Vec::new(),
        notes: Vec::new(),
        trace: path,
    };
    for (function, cache) in SITES {
        let (rank, advice) = find(&list, function)?;
        let class = KmallocType::Normal.name(advice.class_bytes);
        let saved = |(undone, upstream): (&Recording, &Recording)| {
            held_bytes(undone, &[&class]) - held_bytes(upstream, &[&class, cache])
        };
        let measured = undone.iter().zip(&upstream).map(saved).collect();
        let what = format!("saved by {cache} ({} B, {class})", advice.object_bytes);
        answer.lines.push(Line::new(what, advice.saved_bytes_end, measured, 4096));
        let among = if rank <= RANK_MOST { "among" } else { "not among" };
        answer.notes.push(format!(
            "{}: line {rank} of {} by bytes saved, {among} the first {RANK_MOST}; {}",
            advice.subject,
            list.advice.len(),
            reason(advice)
        ));
    }
    answer.print(output)
}

/// Returns the advice for a cache of its own for what `function` allocates, and its rank.
fn find<'a>(list: &'a AdviceList, function: &str) -> Result<(usize, &'a Advice)> {
    let is_it = |advice: &Advice| {
        matches!(advice.change, Change::Dedicate { .. })
            && advice.subject.split('+').next() == Some(function)
    };
    match list.advice.iter().position(is_it) {
        Some(at) => Ok((at + 1, &list.advice[at])),
        None => bail!("no advice about {function}: the trace has no kmalloc there"),
    }
}
