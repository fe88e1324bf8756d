//! What the kernel keeps per thread: task, CPU, and whether sleeping is allowed.

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use crate::event::Misuse;
use crate::ledger::finding;
use crate::raw::bytes;
use crate::runtime::runtime;

thread_local! {
    static CONTEXT: Context = const { Context::new() };
}

/// One thread's state.
struct Context {
    task: Cell<usize>,
    cpu: Cell<u32>,
    /// Nested reasons not to sleep: spinlocks, disabled preemption.
    atomic: Cell<u32>,
    /// Where the outermost of them began.
    atomic_site: Cell<u64>,
    irqs_off: Cell<bool>,
    softirq: Cell<bool>,
    readers: Cell<u32>,
    phase: Cell<usize>,
    constructing: Cell<bool>,
}

impl Context {
    const fn new() -> Self {
        Self {
            task: Cell::new(0),
            cpu: Cell::new(0),
            atomic: Cell::new(0),
            atomic_site: Cell::new(0),
            irqs_off: Cell::new(false),
            softirq: Cell::new(false),
            readers: Cell::new(0),
            phase: Cell::new(0),
            constructing: Cell::new(false),
        }
    }

    fn why_not_sleep(&self) -> Option<&'static str> {
        match () {
            () if self.softirq.get() => Some("in a timer, tasklet or RCU callback"),
            () if self.atomic.get() > 0 => Some("under a spinlock, or with preemption disabled"),
            () if self.irqs_off.get() => Some("with interrupts disabled"),
            () if self.readers.get() > 0 => Some("in an RCU read-side section"),
            () => None,
        }
    }
}

/// Returns the CPU that this thread belongs to.
#[inline(always)]
pub(crate) fn cpu() -> u32 {
    CONTEXT.with(|c| c.cpu.get())
}

/// Runs a constructor of a cache.
pub(crate) fn construct(constructor: impl FnOnce()) {
    CONTEXT.with(|c| {
        c.constructing.set(true);
        constructor();
        c.constructing.set(false);
    });
}

/// Whether a constructor of a cache runs in this thread.
pub(crate) fn constructing() -> bool {
    CONTEXT.with(|c| c.constructing.get())
}

/// Reports a call that may sleep where that is forbidden (check level 2).
pub(crate) fn may_sleep(what: &str, site: u64) {
    let Some((why, began)) = CONTEXT.with(|c| Some((c.why_not_sleep()?, c.atomic_site.get())))
    else {
        return;
    };
    let runtime = runtime();
    if runtime.job.check >= 2 {
        let since = if began == 0 { String::new() } else { runtime.since(began) };
        let detail = format!("{what} may sleep, {why}{since}");
        runtime.emit(&finding(Misuse::SleepInAtomic, detail, None, runtime.offset(site)));
    }
}

pub(crate) extern "C" fn kapi_current() -> usize {
    CONTEXT.with(|c| c.task.get())
}

pub(crate) extern "C" fn kapi_task_set(task: usize, cpu: i32) {
    CONTEXT.with(|c| {
        c.task.set(task);
        c.cpu.set(cpu.unsigned_abs() % runtime().job.cpus);
    });
}

pub(crate) extern "C" fn smp_processor_id() -> i32 {
    cpu().cast_signed()
}

pub(crate) extern "C" fn kapi_atomic_enter(site: u64) {
    CONTEXT.with(|c| {
        if c.atomic.get() == 0 {
            c.atomic_site.set(site);
        }
        c.atomic.set(c.atomic.get() + 1);
    });
}

pub(crate) extern "C" fn kapi_atomic_exit() {
    CONTEXT.with(|c| {
        c.atomic.set(c.atomic.get().saturating_sub(1));
        if c.atomic.get() == 0 {
            c.atomic_site.set(0);
        }
    });
}

pub(crate) extern "C" fn kapi_atomic_depth() -> u32 {
    CONTEXT.with(|c| c.atomic.get())
}

pub(crate) extern "C" fn kapi_irq_save() -> u64 {
    CONTEXT.with(|c| u64::from(c.irqs_off.replace(true)))
}

pub(crate) extern "C" fn kapi_irq_restore(flags: u64) {
    CONTEXT.with(|c| c.irqs_off.set(flags & 1 != 0));
}

pub(crate) extern "C" fn kapi_irqs_off() -> i32 {
    CONTEXT.with(|c| i32::from(c.irqs_off.get()))
}

pub(crate) extern "C" fn kapi_softirq_enter() {
    CONTEXT.with(|c| c.softirq.set(true));
}

pub(crate) extern "C" fn kapi_softirq_exit() {
    CONTEXT.with(|c| c.softirq.set(false));
}

pub(crate) extern "C" fn kapi_in_softirq() -> i32 {
    CONTEXT.with(|c| i32::from(c.softirq.get()))
}

pub(crate) extern "C" fn kapi_might_sleep(file: u64, line: i32, site: u64) {
    if CONTEXT.with(|c| c.why_not_sleep().is_some()) {
        let file = bytes::string(file, 256).unwrap_or_default();
        may_sleep(&format!("the call at {}:{line}", String::from_utf8_lossy(&file)), site);
    }
}

pub(crate) extern "C" fn kapi_cond_resched(_file: u64, _line: i32, site: u64) {
    may_sleep("schedule()", site);
    std::thread::yield_now();
}

/// Readers inside, by the phase in which they entered; a grace period waits for both in turn.
static READERS: [AtomicI64; 2] = [AtomicI64::new(0), AtomicI64::new(0)];
static PHASE: AtomicUsize = AtomicUsize::new(0);
static GRACE: Mutex<()> = Mutex::new(());

pub(crate) extern "C" fn kapi_rcu_read_lock() {
    CONTEXT.with(|c| {
        c.readers.set(c.readers.get() + 1);
        if c.readers.get() == 1 {
            let phase = PHASE.load(Ordering::SeqCst);
            READERS[phase].fetch_add(1, Ordering::SeqCst);
            c.phase.set(phase);
        }
    });
}

pub(crate) extern "C" fn kapi_rcu_read_unlock() {
    CONTEXT.with(|c| {
        c.readers.set(c.readers.get().saturating_sub(1));
        if c.readers.get() == 0 {
            READERS[c.phase.get()].fetch_sub(1, Ordering::SeqCst);
        }
    });
}

pub(crate) extern "C" fn kapi_rcu_read_held() -> i32 {
    CONTEXT.with(|c| i32::from(c.readers.get() > 0))
}

/// Two phases: a reader that read the phase just before it changed counts in the old one, which the
/// second round waits for.
pub(crate) extern "C" fn synchronize_rcu(site: u64) {
    may_sleep("synchronize_rcu()", site);
    let _one = GRACE.lock().expect("no code panics while it waits");
    for _ in 0..2 {
        let old = PHASE.fetch_xor(1, Ordering::SeqCst);
        while READERS[old].load(Ordering::SeqCst) != 0 {
            std::thread::sleep(std::time::Duration::from_micros(20));
        }
    }
}
