//! Recognises reports in a guest's console: panics, warnings, lock reports, memory reports, stalls.
//!
//! The numbers of a guest that printed one of these are not to be trusted, whatever its job
//! returned.
//!
//! Linux counterpart: `kernel/panic.c`, `lib/bug.c`, `kernel/locking/lockdep.c`, `mm/kasan/report.c`,
//! `mm/page_poison.c`, `mm/slub.c`, `kernel/rcu/tree_stall.h`, `kernel/hung_task.c` @ 6.1 and 7.3, which
//! print these messages.

use std::fmt;

/// The trouble of a guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// Which kind of trouble.
    pub kind: TroubleKind,
    /// The line that showed it, or what the tool waited for.
    pub line: String,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.line)
    }
}

/// The kinds of trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TroubleKind {
    /// `Kernel panic - not syncing`
    Panic,
    /// An oops: a bad access, a general protection fault
    Oops,
    /// An oops by a breakpoint that the kernel does not know: one of its own, taken back, that an emulator kept
    Breakpoint,
    /// `BUG()`, and other reports that call themselves a bug
    Bug,
    /// `WARN_ON()`
    Warning,
    /// A report of lockdep, or of a lock used in the wrong context
    Lockdep,
    /// A report of KASAN, KFENCE or UBSAN
    Sanitizer,
    /// A slab, a page or a list found corrupted
    Corruption,
    /// A stalled RCU, a soft lockup, a hung task
    Stall,
    /// Out of memory: a process was killed
    OutOfMemory,
    /// The job itself failed
    Job,
    /// Nothing arrived for too long
    Hang,
    /// QEMU ended before the guest said that it was done
    LostConsole,
    /// QEMU could not run the guest at all
    Emulator,
}

impl TroubleKind {
    /// Returns the name that error messages put before the line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Panic => "kernel panic",
            Self::Oops => "kernel oops",
            Self::Breakpoint => "unknown breakpoint",
            Self::Bug => "kernel bug",
            Self::Warning => "kernel warning",
            Self::Lockdep => "lock report",
            Self::Sanitizer => "sanitizer report",
            Self::Corruption => "memory corruption",
            Self::Stall => "stall",
            Self::OutOfMemory => "out of memory",
            Self::Job => "the job failed",
            Self::Hang => "hang",
            Self::LostConsole => "lost console",
            Self::Emulator => "emulator",
        }
    }
}

/// Texts of kernel messages and their kind; the first that matches counts, so special ones come before general ones.
const SIGNS: &[(&str, TroubleKind)] = &[
    ("BUG: KASAN", TroubleKind::Sanitizer),
    ("BUG: KFENCE", TroubleKind::Sanitizer),
    ("UBSAN:", TroubleKind::Sanitizer),
    ("WARNING: possible circular locking", TroubleKind::Lockdep),
    ("WARNING: possible recursive locking", TroubleKind::Lockdep),
    ("WARNING: possible irq lock inversion", TroubleKind::Lockdep),
    ("WARNING: inconsistent lock state", TroubleKind::Lockdep),
    ("WARNING: bad unlock balance", TroubleKind::Lockdep),
    ("WARNING: held lock freed", TroubleKind::Lockdep),
    ("WARNING: lock held when returning", TroubleKind::Lockdep),
    ("WARNING: suspicious RCU usage", TroubleKind::Lockdep),
    ("WARNING: Nested lock was not taken", TroubleKind::Lockdep),
    ("WARNING: bad contention", TroubleKind::Lockdep),
    ("still has locks held!", TroubleKind::Lockdep),
    ("-safe -> ", TroubleKind::Lockdep),
    ("INFO: trying to register non-static key", TroubleKind::Lockdep),
    ("BUG: sleeping function called", TroubleKind::Lockdep),
    ("BUG: scheduling while atomic", TroubleKind::Lockdep),
    ("BUG: Invalid wait context", TroubleKind::Lockdep),
    ("BUG: spinlock", TroubleKind::Lockdep),
    ("BUG: using smp_processor_id() in preemptible", TroubleKind::Lockdep),
    ("BUG: MAX_LOCK", TroubleKind::Lockdep),
    ("BUG: MAX_STACK_TRACE_ENTRIES", TroubleKind::Lockdep),
    ("BUG: soft lockup", TroubleKind::Stall),
    ("BUG: workqueue lockup", TroubleKind::Stall),
    ("detected stall", TroubleKind::Stall),
    ("self-detected stall", TroubleKind::Stall),
    ("rcu_sched kthread starved", TroubleKind::Stall),
    ("blocked for more than", TroubleKind::Stall),
    ("list_add corruption", TroubleKind::Corruption),
    ("list_del corruption", TroubleKind::Corruption),
    ("pagealloc: memory corruption", TroubleKind::Corruption),
    ("pagealloc: single bit error", TroubleKind::Corruption),
    ("BUG: Bad page", TroubleKind::Corruption),
    ("Slab corruption", TroubleKind::Corruption),
    ("double free detected", TroubleKind::Corruption),
    ("Kernel panic - not syncing", TroubleKind::Panic),
    ("Out of memory: Killed process", TroubleKind::OutOfMemory),
    ("BUG: kernel NULL pointer", TroubleKind::Oops),
    ("BUG: unable to handle", TroubleKind::Oops),
    ("Oops: int3", TroubleKind::Breakpoint),
    // Linux 6.1 does not put `Oops: ` before it.
    ("int3: 0000 [#", TroubleKind::Breakpoint),
    ("Oops: ", TroubleKind::Oops),
    ("general protection fault", TroubleKind::Oops),
    ("kernel BUG at", TroubleKind::Bug),
    // SLUB: "BUG kmalloc-64 (Not tainted): Redzone overwritten"
    ("BUG ", TroubleKind::Corruption),
    ("BUG: ", TroubleKind::Bug),
    ("WARNING: CPU:", TroubleKind::Warning),
];

/// Returns the trouble that a line of a console reports, if any.
pub(crate) fn trouble_in(line: &str) -> Option<Trouble> {
    let message = kernel_message(line)?;
    let known = SIGNS.iter().find(|(sign, _)| message.contains(sign)).map(|(_, kind)| *kind);
    // Linux 7 prints the place before the CPU; 6.1 and 6.12 the other way round.
    let is_warning = || message.contains("WARNING: ") && message.contains(", CPU#");
    let kind = known.or_else(|| is_warning().then_some(TroubleKind::Warning))?;
    Some(Trouble { kind, line: message.to_owned() })
}

/// Returns the message of a line that the kernel printed, `[ 1.234567] message`; a line that a job
/// prints on the console proves nothing.
fn kernel_message(line: &str) -> Option<&str> {
    let (stamp, message) = line.trim().strip_prefix('[')?.split_once(']')?;
    let stamp = stamp.trim();
    let is_stamp = !stamp.is_empty() && stamp.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    is_stamp.then_some(message.trim())
}

/// Returns the part of a console after the kernel handed over to init and before it went down.
#[must_use]
pub fn job_output(console: &[u8]) -> String {
    let text = String::from_utf8_lossy(console);
    let begin = text.find("as init process").and_then(|at| Some(at + text[at..].find('\n')? + 1));
    let tail = &text[begin.unwrap_or(0)..];
    let is_end = |line: &&str| line.contains("reboot: ") || line.contains("ACPI: PM: Preparing");
    let lines = tail.lines().map(|line| line.trim_end_matches('\r')).filter(|line| !is_end(line));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jobs_output_is_cut_out_of_the_console() {
        let console = b"[ 0.1] boot\r\n[ 0.2] Run /init as init process\r\nhello\r\n[ 0.3] x\r\n\
            [ 0.4] ACPI: PM: Preparing to enter system sleep state S5\r\n[ 0.5] reboot: machine restart\r\n";
        assert_eq!(job_output(console), "hello\n[ 0.3] x");
    }

    fn kind(line: &str) -> Option<TroubleKind> {
        trouble_in(line).map(|trouble| trouble.kind)
    }

    #[test]
    fn each_kind_of_report_is_known() {
        use TroubleKind::*;
        let lines = [
            ("[    1.000000] Kernel panic - not syncing: Attempted to kill init!", Panic),
            ("[    1.000000] BUG: kernel NULL pointer dereference, address: 0", Oops),
            ("[    1.000000] Oops: 0002 [#1] SMP", Oops),
            ("[    1.272668] Oops: int3: 0000 [#1] SMP NOPTI", Breakpoint),
            ("[    1.272668] int3: 0000 [#1] PREEMPT SMP NOPTI", Breakpoint),
            ("[    1.000000] kernel BUG at mm/slmb.c:123!", Bug),
            ("[    1.000000] WARNING: CPU: 0 PID: 1 at mm/slmb.c:1 f+0x1/0x2", Warning),
            ("[    1.000000] WARNING: possible recursive locking detected", Lockdep),
            ("[    1.000000] WARNING: kworker/0:1/9 still has locks held!", Lockdep),
            ("[    1.000000] BUG: sleeping function called from invalid context at a.c:1", Lockdep),
            ("[    1.000000] BUG: KASAN: slab-out-of-bounds in f+0x1/0x2", Sanitizer),
            ("[    1.000000] BUG kmalloc-64 (Not tainted): Right Redzone overwritten", Corruption),
            ("[    1.000000] list_del corruption. prev->next should be x, but was y", Corruption),
            ("[   99.000000] watchdog: BUG: soft lockup - CPU#1 stuck for 22s!", Stall),
            ("[   99.000000] rcu: INFO: rcu_sched self-detected stall on CPU", Stall),
            ("[    9.000000] Out of memory: Killed process 9 (hackbench)", OutOfMemory),
        ];
        for (line, expected) in lines {
            assert_eq!(kind(line), Some(expected), "{line}");
        }
    }

    #[test]
    fn a_warning_of_linux_7_is_seen() {
        for line in [
            "[    1.000000] WARNING: mm/slub.c:1 at f+0x1/0x2, CPU#0: insmod/61",
            "[    1.000000] WARNING: at f+0x1/0x2, CPU#0: insmod/61",
        ] {
            assert_eq!(kind(line), Some(TroubleKind::Warning), "{line}");
        }
    }

    #[test]
    fn a_healthy_console_is_healthy() {
        let lines = [
            "[    0.000000] Kernel command line: panic=-1 oops=panic",
            "[    0.100000] DEBUG_LIST is on",
            "Running in process mode with 4 groups",
            // The kernel did not print this: a job may print anything.
            "WARNING: CPU: 0 PID: 1",
            "",
        ];
        for line in lines {
            assert_eq!(kind(line), None, "{line}");
        }
    }
}
