//! The memory that a command may use.

use std::process::exit;

use slablab_host::{memory_available_bytes, watch_memory};

use super::size::parse_bytes;
use crate::output::bytes;
use crate::say::say;

/// The option of commands whose memory grows with what they are given.
#[derive(clap::Args, Debug, Clone, Default)]
pub(crate) struct MemoryArgs {
    /// Memory to use [default: half of what is free]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, display_order = 900)]
    ram: Option<u64>,
}

impl MemoryArgs {
    /// Ends the command with a message when it needs more memory: the kernel would end it, or another, without one.
    pub(crate) fn keep(&self) {
        let half = || Some(memory_available_bytes()? / 2);
        let Some(limit) = self.ram.or_else(half) else { return };
        let whence = if self.ram.is_some() { "--ram" } else { "half of what was free" };
        watch_memory(limit, move |_| {
            say(format_args!(
                "slablab: needs more memory than {} ({whence}): give more with --ram, or ask about a part of the trace \
                 (--time 0%,10%)",
                bytes(limit)
            ));
            exit(2)
        });
    }
}
