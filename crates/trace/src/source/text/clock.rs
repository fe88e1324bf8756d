//! Whether the times of a text are those of a clock.
//!
//! # How it works
//! Whatever wrote the text, the events of one CPU stand in the order of their times. `perf script --deltatime`
//! prints how long each event is after the one above it instead, and there every second event is earlier than the one before
//! it on its CPU. A few such events are damage, which the sorter puts in order and counts.

use slablab_linux::CPUS_MAX;

/// How often the times went back so far.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// The last time of each CPU.
    last_ns: Vec<u64>,
    events: u64,
    backwards: u64,
}

/// Fewer events tell nothing.
const EVENTS_MIN: u64 = 32;

/// No clock goes back with one event in this many.
const BACKWARDS_PARTS: u64 = 8;

impl Clock {
    /// Takes the next event of a CPU.
    pub(super) fn note(&mut self, cpu: u32, time_ns: u64) {
        if cpu >= CPUS_MAX {
            return;
        }
        let place = cpu as usize;
        self.last_ns.resize(self.last_ns.len().max(place + 1), 0);
        self.events += 1;
        self.backwards += u64::from(time_ns < self.last_ns[place]);
        self.last_ns[place] = time_ns;
    }

    /// Returns whether the times are not those of a clock.
    pub(super) fn goes_back(&self) -> bool {
        self.events >= EVENTS_MIN && self.backwards > self.events / BACKWARDS_PARTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_told_from_times() {
        let (mut times, mut differences) = (Clock::default(), Clock::default());
        for i in 0..1_000_u64 {
            let cpu = (i % 3) as u32;
            // CPUs may be apart, and an event now and then damaged.
            times.note(cpu, if i % 20 == 7 { 1 } else { i * 10 + u64::from(cpu) * 500 });
            differences.note(cpu, i.wrapping_mul(7_919) % 1_000);
        }
        assert!(!times.goes_back() && differences.goes_back());
        assert!(!Clock::default().goes_back());
    }
}
