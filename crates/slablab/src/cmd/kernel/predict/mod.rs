//! `slablab kernel predict`: predictions from a trace of a guest, compared with what guests then show.
//!
//! One file for each case; `site` holds what they share.

mod audit_cache;
mod ftrace_event;
mod modules;
mod site;
mod slabs;
mod trace;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use slablab_vm::{Data, Spec};

use crate::cli::OutputArgs;
use crate::schema::Published;
use site::Common;

/// What these commands print as JSON.
pub(crate) const SCHEMAS: &[Published] = &[
    Published::of::<trace::Comparison>(),
    Published::of::<site::Answer>(),
    Published::of::<slabs::Comparison>(),
    Published::of::<modules::Lanes>(),
];

/// Compare predictions from a guest's trace with what guests then show
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Status 1: a prediction is off by more than 25 % and by more than a slab.\n\n\
                        Example:\n  slablab kernel predict ftrace-event"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    case: Case,
}

/// The cases.
#[derive(Subcommand, Debug)]
enum Case {
    /// Put event fields and files back on kmalloc, as before Linux 3.10: does advise find the cache that upstream added?
    FtraceEvent(Common),
    /// Predict and measure a cache of their own for the audit contexts of forks
    AuditCache(Common),
    /// Compare the slabs of each cache in replay with the guest's own
    Slabs(slabs::Args),
    /// Replay traces in real kernels and in the models of their allocators, and compare the slabs
    Trace(trace::Args),
    /// Compare what slablab's modules print as a process and in a guest
    Modules(modules::Args),
}

/// Returns the kernels that no other command builds.
pub(super) fn specs(data: &Data) -> Vec<Spec> {
    ftrace_event::specs(data).into()
}

/// Runs `slablab kernel predict`.
pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    match &args.case {
        Case::FtraceEvent(args) => ftrace_event::run(args, output),
        Case::AuditCache(args) => audit_cache::run(args, output),
        Case::Slabs(args) => slabs::run(args, output),
        Case::Trace(args) => trace::run(args, output),
        Case::Modules(args) => modules::run(args, output),
    }
}
