//! What the kernel keeps per thread: task, CPU, and whether sleeping is allowed.

use std::cell::Cell;

use crate::event::Misuse;
use crate::ledger::finding;
use crate::raw::bytes;
use crate::runtime::{runtime, warn};

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
    constructing: Cell<bool>,
    reclaiming: Cell<bool>,
}

thread_local! {
    static CONTEXT: Context = const {
        Context {
            task: Cell::new(0),
            cpu: Cell::new(0),
            atomic: Cell::new(0),
            atomic_site: Cell::new(0),
            irqs_off: Cell::new(false),
            softirq: Cell::new(false),
            readers: Cell::new(0),
            constructing: Cell::new(false),
            reclaiming: Cell::new(false),
        }
    };
}

impl Context {
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

/// Reclaims, unless this thread does so already (`PF_MEMALLOC`), is in a constructor, or may not sleep.
pub(crate) fn reclaim<R>(reclaim: impl FnOnce() -> R) -> Option<R> {
    CONTEXT.with(|c| {
        if c.constructing.get() || c.why_not_sleep().is_some() || c.reclaiming.replace(true) {
            return None;
        }
        let result = reclaim();
        c.reclaiming.set(false);
        Some(result)
    })
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

/// Reports that a function of the module returned where sleeping is forbidden (check level 2), and ends that.
pub(crate) fn returned(function: &str) {
    let left = CONTEXT.with(|c| {
        let left = c.why_not_sleep().map(|why| (why, c.atomic_site.replace(0)));
        c.atomic.set(0);
        c.irqs_off.set(false);
        c.readers.set(0);
        left
    });
    let runtime = runtime();
    if let Some((why, began)) = left.filter(|_| runtime.job.check >= 2) {
        let detail = format!("{function} returned {why}");
        runtime.emit(&finding(Misuse::AtomicLeft, detail, None, runtime.offset(began)));
    }
}

/// Makes functions with the C interface; `c` is the calling thread's state.
macro_rules! exported {
    ($(fn $name:ident($c:ident $(, $arg:ident: $type:ty)*) $(-> $result:ty)? $body:block)*) => {
        $(pub(crate) extern "C" fn $name($($arg: $type),*) $(-> $result)? { CONTEXT.with(|$c| $body) })*
    };
}

exported! {
    fn kapi_current(c) -> usize { c.task.get() }
    fn kapi_task_set(c, task: usize, cpu: i32) {
        c.task.set(task);
        c.cpu.set(cpu.unsigned_abs() % runtime().job.cpus);
    }
    fn smp_processor_id(c) -> i32 { c.cpu.get().cast_signed() }

    fn kapi_atomic_enter(c, site: u64) {
        if c.atomic.get() == 0 {
            c.atomic_site.set(site);
        }
        c.atomic.set(c.atomic.get() + 1);
    }
    fn kapi_atomic_exit(c) {
        c.atomic.set(c.atomic.get().saturating_sub(1));
        if c.atomic.get() == 0 {
            c.atomic_site.set(0);
        }
    }
    fn kapi_atomic_depth(c) -> u32 { c.atomic.get() }
    fn kapi_irq_save(c) -> u64 { u64::from(c.irqs_off.replace(true)) }
    fn kapi_irq_restore(c, flags: u64) { c.irqs_off.set(flags & 1 != 0) }
    fn kapi_irqs_off(c) -> i32 { i32::from(c.irqs_off.get()) }
    fn kapi_softirq_enter(c) { c.softirq.set(true) }
    fn kapi_softirq_exit(c) { c.softirq.set(false) }
    fn kapi_in_softirq(c) -> i32 { i32::from(c.softirq.get()) }

    fn kapi_rcu_read_lock(c) {
        c.readers.set(c.readers.get() + 1);
        slablab_rcu::enter();
    }
    fn kapi_rcu_read_unlock(c) {
        if let Some(readers) = c.readers.get().checked_sub(1) {
            c.readers.set(readers);
            slablab_rcu::leave();
        }
    }
    fn kapi_rcu_read_held(c) -> i32 { i32::from(c.readers.get() > 0) }
    fn synchronize_rcu(c, site: u64) {
        may_sleep("synchronize_rcu()", site);
        if c.readers.get() > 0 {
            warn("synchronize_rcu() in a read-side section waits for its own caller");
            runtime().stop(b"BUG");
        }
        slablab_rcu::synchronize();
    }
}

pub(crate) extern "C" fn kapi_might_sleep(file: u64, line: i32, site: u64) {
    if CONTEXT.with(|c| c.why_not_sleep().is_some()) {
        let file = bytes::string(file, 256).unwrap_or_default();
        may_sleep(&format!("the call at {}:{line}", String::from_utf8_lossy(&file)), site);
    }
}

/// Of a function of the C runtime, whose caller in the module is at `site`.
pub(crate) extern "C" fn kapi_may_sleep(name: u64, site: u64) {
    if CONTEXT.with(|c| c.why_not_sleep().is_some()) {
        let name = bytes::string(name, 256).unwrap_or_default();
        may_sleep(&format!("{}()", String::from_utf8_lossy(&name)), site);
    }
}

pub(crate) extern "C" fn kapi_cond_resched(_file: u64, _line: i32, site: u64) {
    may_sleep("schedule()", site);
    std::thread::yield_now();
}
