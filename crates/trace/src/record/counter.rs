//! Counts the kernel's slab events without keeping them.
//!
//! # How it works
//! An instance of tracefs whose ring buffers are small and overwrite; the kernel's own statistics
//! (`per_cpu/cpuN/stats`) say how many events were written. The buffers are never read.

use super::tracefs::{Instance, Tracefs};
use crate::Error;

/// Kibibytes of ring buffer for each CPU: what is in them is of no interest.
const BUFFER_KIB: u32 = 64;

/// A running count of the allocations and frees that the kernel reports, all processes together.
#[derive(Debug)]
pub struct EventCounter {
    instance: Instance,
}

impl EventCounter {
    /// Starts to count.
    ///
    /// # Errors
    ///
    /// If tracefs cannot be used: it takes root.
    pub fn start() -> Result<Self, Error> {
        let tracefs = Tracefs::find_or_mount()?;
        let instance = tracefs.instance()?;
        instance.write("buffer_size_kb", &BUFFER_KIB.to_string())?;
        for event in tracefs.kmem_events() {
            instance.write(&format!("events/kmem/{event}/enable"), "1")?;
        }
        Ok(Self { instance })
    }

    /// Returns how many events there have been.
    ///
    /// # Errors
    ///
    /// If the statistics cannot be read.
    pub fn count(&self) -> Result<u64, Error> {
        let folder = self.instance.path("per_cpu");
        let cpus = std::fs::read_dir(&folder);
        let cpus = cpus.map_err(|error| super::tracefs::refused(&folder, "list", &error))?;
        let mut count = 0;
        for cpu in cpus.flatten() {
            let name = format!("per_cpu/{}/stats", cpu.file_name().to_string_lossy());
            let stats = self.instance.read(&name)?;
            let lines = stats.lines().filter_map(|line| line.split_once(": "));
            // What the buffer holds, what newer events overwrote, and what came while one was being written.
            let counted = ["entries", "overrun", "commit overrun"];
            let values = lines.filter(|(key, _)| counted.contains(key));
            count += values.filter_map(|(_, value)| value.trim().parse::<u64>().ok()).sum::<u64>();
        }
        Ok(count)
    }
}
