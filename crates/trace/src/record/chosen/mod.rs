//! Call sites, callers, and a portion of the objects with stacks, chosen by BPF: what else happens costs the workload next to
//! nothing.
//!
//! # How it works
//! Programs (`kernel/bpf/record.bpf`) look at each allocation, and push those that were chosen into a ring. They follow these
//! objects by address, so that no free of another object is recorded. Of a portion of the objects, all events are pushed.
//! [`Taking`] takes the records out, and writes them as pages of tracefs' ring buffer ([`pages::Pages`]), so that a trace is
//! made of them as of any others.
//!
//! Functions of `--callers` are looked for in the stacks of threads that are within a call of one ([`within`]). Where the kernel
//! lets no program watch their calls, allocations of one call site, at one depth of the stack, in one system call are taken to be
//! alike ([`depth`]). The first of them are looked at, later one in 256, and one in 1,024 of those that come often. Where the
//! functions are found in one, all of its kind are.
//!
//! Where the kernel has no BPF, or more is named than the programs compare with, tracefs records more than is wanted, and
//! the rest is left out afterwards ([`super::called`], [`super::paired`]).
//!
//! # Invariants
//! Nothing is pinned: when the process ends, whatever ended it, the programs go. A record that had no room is counted, and
//! so is an object that could not be followed.

mod depth;
mod pages;
mod record;
mod taking;
mod tracer;
mod within;

pub(super) use self::pages::FORMATS;
pub(super) use self::taking::{Taking, cannot};
pub(super) use self::tracer::{Tracer, Wanted};
