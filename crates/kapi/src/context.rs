//! What the kernel keeps per thread: task, CPU, locks held, and whether sleeping is allowed.

use std::cell::Cell;

use slablab_kmem::Gfp;

use crate::event::{Event, Misuse};
use crate::ledger::finding;
use crate::nodes::kapi_nodes_for;
use crate::order::{self, How, Irqs, Wait};
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
    irqs_site: Cell<u64>,
    softirq: Cell<bool>,
    hardirq: Cell<bool>,
    /// Nested reasons for soft interrupts not to come.
    bh_off: Cell<u32>,
    readers: Cell<u32>,
    readers_site: Cell<u64>,
    /// Mutexes and write sides of semaphores held.
    locks: Cell<u32>,
    /// Where the first of them was taken.
    locks_site: Cell<u64>,
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
            irqs_site: Cell::new(0),
            softirq: Cell::new(false),
            hardirq: Cell::new(false),
            bh_off: Cell::new(0),
            readers: Cell::new(0),
            readers_site: Cell::new(0),
            locks: Cell::new(0),
            locks_site: Cell::new(0),
            constructing: Cell::new(false),
            reclaiming: Cell::new(false),
        }
    };
}

impl Context {
    /// Returns why sleeping is forbidden, and where that began: 0 if no call of the module began it.
    fn why_not_sleep(&self) -> Option<(&'static str, u64)> {
        match () {
            () if self.hardirq.get() => Some(("in the handler of an interrupt", 0)),
            () if self.softirq.get() => Some(("in a timer, tasklet or RCU callback", 0)),
            () if self.atomic.get() > 0 => {
                Some(("under a spinlock, or with preemption disabled", self.atomic_site.get()))
            }
            () if self.irqs_off.get() => Some(("with interrupts disabled", self.irqs_site.get())),
            () if self.readers.get() > 0 => {
                Some(("in an RCU read-side section", self.readers_site.get()))
            }
            () => None,
        }
    }

    /// Returns how often preemption is disabled, with Linux's bits for softirqs that are disabled or served and for an interrupt
    /// (`include/linux/preempt.h`).
    fn preempt_count(&self) -> u32 {
        const SOFTIRQ_OFFSET: u32 = 1 << 8;
        const HARDIRQ_OFFSET: u32 = 1 << 16;
        let bh_off = self.bh_off.get();
        let spins = self.atomic.get().saturating_sub(bh_off);
        spins
            + 2 * SOFTIRQ_OFFSET * bh_off
            + SOFTIRQ_OFFSET * u32::from(self.softirq.get())
            + HARDIRQ_OFFSET * u32::from(self.hardirq.get())
    }

    /// Returns what the thread's interrupts are.
    fn irqs(&self) -> Irqs {
        match () {
            () if self.hardirq.get() => Irqs::Handler,
            () if self.irqs_off.get() => Irqs::Off,
            () if self.softirq.get() => Irqs::SoftHandler,
            () if self.bh_off.get() > 0 => Irqs::SoftOff,
            () => Irqs::On,
        }
    }

    /// Returns what is held that has to be given up before a function of the module returns, as [`Self::why_not_sleep`].
    fn left(&self) -> Option<(&'static str, u64)> {
        let locked = (self.locks.get() > 0).then(|| ("with a mutex held", self.locks_site.get()));
        self.why_not_sleep().or(locked)
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
    let Some((why, began)) = CONTEXT.with(Context::why_not_sleep) else { return };
    let runtime = runtime();
    if runtime.job.check >= 2 {
        let since = if began == 0 { String::new() } else { runtime.since(began) };
        let detail = format!("{what} may sleep, {why}{since}");
        runtime.emit(&finding(Misuse::SleepInAtomic, detail, None, runtime.offset(site)));
    }
}

/// Reports that a function of the module returned with something held (check level 2), and gives that up.
pub(crate) fn returned(function: &str) {
    let left = CONTEXT.with(|c| {
        let left = c.left();
        c.atomic.set(0);
        c.irqs_off.set(false);
        c.bh_off.set(0);
        // Or grace periods would wait for a section that nobody ends.
        (0..c.readers.replace(0)).for_each(|_| slablab_rcu::leave());
        c.locks.set(0);
        left
    });
    order::returned();
    if let Some((why, began)) = left {
        report(Misuse::AtomicLeft, format!("{function} returned {why}"), began);
    }
}

/// Reports that a lock which this thread holds lies in memory that is freed, and gives that up.
pub(crate) fn frees_lock(site: u64) {
    report(Misuse::AtomicLeft, "a lock that is held is freed".into(), site);
    CONTEXT.with(|c| match c.locks.get() {
        0 => c.atomic.set(c.atomic.get().saturating_sub(1)),
        locks => c.locks.set(locks - 1),
    });
}

/// Reports that the module gives up what it has not taken.
fn not_taken(what: &str, site: u64) {
    report(Misuse::Unbalanced, what.to_string(), site);
}

/// Reports at check level 2; a site of 0 is no place in the module.
fn report(kind: Misuse, detail: String, site: u64) {
    let runtime = runtime();
    if runtime.job.check >= 2 {
        let site = (site != 0).then(|| runtime.offset(site));
        runtime.emit(&Event::Finding { kind, detail, count: 1, block: None, site });
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
    fn kapi_atomic_exit(c, site: u64) {
        match c.atomic.get().checked_sub(1) {
            Some(left) => c.atomic.set(left),
            None => not_taken("no spinlock is held, and preemption is not disabled", site),
        }
    }
    fn kapi_bh_disable(c, site: u64) {
        kapi_atomic_enter(site);
        c.bh_off.set(c.bh_off.get() + 1);
    }
    fn kapi_bh_enable(c, site: u64) {
        c.bh_off.set(c.bh_off.get().saturating_sub(1));
        kapi_atomic_exit(site);
    }
    fn kapi_lock_class(_c, address: u64, key: u64, name: u64, subclass: u32) {
        order::set_class(address, key, name, subclass);
    }
    fn kapi_lock_enter(c, address: u64, how: u32, site: u64) {
        order::uses(address, How(how), site, c.irqs());
        kapi_atomic_enter(site);
        order::takes(address, How(how), site, Wait::May);
    }
    fn kapi_lock_got(_c, address: u64, site: u64) {
        kapi_atomic_enter(site);
        order::takes(address, How(0), site, Wait::Never);
    }
    fn kapi_lock_exit(_c, address: u64, site: u64) {
        kapi_atomic_exit(site);
        order::gives(address);
    }
    fn kapi_atomic_depth(c) -> u32 { c.atomic.get() }
    fn kapi_preempt_count(c) -> u32 { c.preempt_count() }
    fn kapi_irq_save(c, site: u64) -> u64 {
        let were_off = c.irqs_off.replace(true);
        if !were_off {
            c.irqs_site.set(site);
        }
        u64::from(were_off)
    }
    fn kapi_irq_restore(c, flags: u64) { c.irqs_off.set(flags & 1 != 0) }
    fn kapi_irqs_off(c) -> i32 { i32::from(c.irqs_off.get()) }
    fn kapi_hardirq_enter(c) { c.hardirq.set(true) }
    fn kapi_hardirq_exit(c) { c.hardirq.set(false) }
    fn kapi_in_hardirq(c) -> i32 { i32::from(c.hardirq.get()) }
    fn kapi_softirq_enter(c) { c.softirq.set(true) }
    fn kapi_softirq_exit(c) { c.softirq.set(false) }
    fn kapi_in_softirq(c) -> i32 { i32::from(c.softirq.get()) }

    fn kapi_lock_wanted(_c, address: u64, how: u32, site: u64) { order::wants(address, How(how), site) }
    fn kapi_lock_taken(c, address: u64, how: u32, site: u64) {
        order::takes(address, How(how), site, Wait::Never);
        if c.locks.get() == 0 {
            c.locks_site.set(site);
        }
        c.locks.set(c.locks.get() + 1);
    }
    fn kapi_lock_given(c, address: u64) {
        order::gives(address);
        c.locks.set(c.locks.get().saturating_sub(1));
    }
    fn kapi_rcu_read_lock(c, site: u64) {
        if c.readers.get() == 0 {
            c.readers_site.set(site);
        }
        c.readers.set(c.readers.get() + 1);
        slablab_rcu::enter();
    }
    fn kapi_rcu_read_unlock(c, site: u64) {
        match c.readers.get().checked_sub(1) {
            Some(readers) => {
                c.readers.set(readers);
                slablab_rcu::leave();
            }
            None => not_taken("the thread is in no RCU read-side section", site),
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

/// Of the C runtime: a lock that nobody holds is given up.
pub(crate) extern "C" fn kapi_not_locked(site: u64) {
    not_taken("nobody holds the lock", site);
}

pub(crate) extern "C" fn kapi_might_sleep(file: u64, line: i32, site: u64) {
    if CONTEXT.with(|c| c.why_not_sleep().is_some()) {
        let file = bytes::string(file, 256).unwrap_or_default();
        may_sleep(&format!("the call at {}:{line}", String::from_utf8_lossy(&file)), site);
    }
}

/// Functions of the runtime that a header gives another name.
const NAMES: [(&str, &str); 10] = [
    ("kapi_get_user", "get_user"),
    ("kapi_put_user", "put_user"),
    ("kapi_mutex_lock", "mutex_lock"),
    ("kapi_down_read", "down_read"),
    ("kapi_down_write", "down_write"),
    ("kapi_proc_ops", "proc_create"),
    ("kapi_proc_fops", "proc_create"),
    ("kapi_class_create", "class_create"),
    ("__alloc_percpu", "alloc_percpu"),
    ("kthread_create_on_node", "kthread_create"),
];

/// Of a function of the C runtime, which `inside` lies in and the module calls at `site`.
pub(crate) extern "C" fn kapi_may_sleep(inside: u64, site: u64) {
    if CONTEXT.with(|c| c.why_not_sleep().is_some()) {
        let name = runtime().symbol(inside).map_or_else(|| "the call".into(), |(name, ..)| name);
        let known = NAMES.iter().find(|(own, _)| *own == name);
        may_sleep(&format!("{}()", known.map_or(&*name, |(_, name)| name)), site);
    }
}

/// Of a call of `name` with flags that may let it sleep.
pub(crate) extern "C" fn kapi_might_alloc(name: u64, gfp: u32, site: u64) {
    kapi_nodes_for(site);
    if Gfp(gfp).has(Gfp::DIRECT_RECLAIM) && CONTEXT.with(|c| c.why_not_sleep().is_some()) {
        let name = bytes::string(name, 256).unwrap_or_default();
        may_sleep(&format!("{}()", String::from_utf8_lossy(&name)), site);
    }
}

pub(crate) extern "C" fn kapi_cond_resched(_file: u64, _line: i32, site: u64) {
    may_sleep("schedule()", site);
    std::thread::yield_now();
}
