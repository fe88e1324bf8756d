//! The child process: boots a machine, loads a module, and runs its init and exit.
//!
//! # How it works
//! Boot the machine, load the module, set parameters, init, files, exit, last checks. Everything is
//! told to the parent as it happens, so that whatever stops the module, the parent knows what came
//! before.

use std::ffi::CString;
use std::path::Path;
use std::time::Duration;

use slablab_kmem::{Backend, BackendKind, WithBackend};

use crate::context;
use crate::error::Error;
use crate::event::{Block, Event, Misuse, Stage};
use crate::image::Image;
use crate::job::{Job, NEEDED_EXIT, NEEDED_INIT};
use crate::krefs;
use crate::ledger::BLOCKS;
use crate::machine::engine::Engine;
use crate::machine::handle::cache_handle;
use crate::nodes;
use crate::params::{self, Write as ParamWrite};
use crate::raw::asan;
use crate::raw::module::{self, Module};
use crate::raw::system::end_with_parent;
use crate::raw::{crash, shared};
use crate::runtime::{self, emit, lock, runtime};
use crate::symbols;

/// Ticks a second, as `CONFIG_HZ` in `include/linux/kconfig.h`.
const HZ: u64 = 250;
/// `INITIAL_JIFFIES`: five minutes before the counter wraps at 32 bits.
const INITIAL_JIFFIES: u64 = (300 * HZ as u32).wrapping_neg() as u64;
/// Runs a job that the parent wrote to a file; reports on standard output.
///
/// # Errors
/// If the job cannot be read, or the machine or the module cannot be set up.
pub fn main(job: &Path) -> Result<(), Error> {
    end_with_parent();
    let text = std::fs::read_to_string(job).map_err(Error::io(job))?;
    let job: Job = serde_json::from_str(&text).map_err(|e| Error::Child(e.to_string()))?;
    let kind: BackendKind =
        job.allocator.parse().map_err(|e: slablab_kmem::Error| Error::Child(e.to_string()))?;
    let image = Image::read(&job.image)?;
    runtime::start(job, image)?;
    kind.dispatch(Run).map_err(Error::Child)
}

struct Run;

impl WithBackend for Run {
    type Output = Result<(), String>;

    fn run<B: Backend>(self) -> Self::Output {
        let job = &runtime().job;
        let engine = shared::install(Box::new(Engine::<B>::boot(job)?));
        let module = module::load(&job.image, &symbols::addresses::<B>())?;
        emit(&Event::Loaded { base: module.base() });
        // AddressSanitizer has a handler of its own for crashes, which says more.
        crash::watch(module.base(), runtime().image.text(), !job.asan);
        if let Some(blocks) = &engine.ledger {
            let _ = BLOCKS.set(blocks);
            nodes::watch();
        }
        set_variables(engine, module);
        module.call(c"kapi_runtime_start");
        emit(&Event::Stage(Stage::Load));
        if let Err(message) = set_params(module, &job.params) {
            emit(&Event::Refused { message });
            emit(&Event::Done);
            return Ok(());
        }
        live(engine, module, job);
        while job.asan && asan::is_reporting() {
            // Another thread's fault: the report ends the process.
            std::thread::park();
        }
        emit(&Event::Done);
        Ok(())
    }
}

/// Init, files, exit, last checks.
fn live<B: Backend>(engine: &Engine<B>, module: &Module, job: &Job) {
    emit(&Event::Stage(Stage::Init));
    let held = engine.live_bytes();
    let (needed, failed) = init_needed(module);
    let failed_at = failed.and_then(|_| u32::try_from(needed).ok());
    let mut result = failed.or_else(|| module.call(c"init_module"));
    if result.is_none_or(|result| result == 0) {
        // Suites of KUnit, as the kernel runs them: once the module is there.
        result = module.call(c"kapi_run_suites").filter(|&result| result != 0).or(result);
    }
    context::returned("init");
    emit(&Event::Init { result: result.unwrap_or(0), needed: failed_at });
    let stays = result.is_none_or(|result| result >= 0);
    if stays {
        emit(&Event::Stage(Stage::Live));
        for (path, text) in &job.writes {
            file(module, c"kapi_write_file", path, text);
        }
        steps(module, job);
        std::thread::sleep(Duration::from_millis(job.wait_ms));
        for path in &job.reads {
            file(module, c"kapi_read_file", path, "");
        }
        if !job.rmmod {
            return;
        }
        if let Some(users) = users(module, job) {
            emit(&Event::InUse { users });
            return;
        }
        emit(&Event::Stage(Stage::Exit));
        module.set(c"kapi_exits", &1_u32.to_ne_bytes());
        module.call(c"cleanup_module");
        context::returned("exit");
        emit(&Event::Exited);
    }
    exit_needed(module, needed);
    if job.check > 0 {
        module.call(c"kapi_tell_callbacks");
    }
    module.call(c"kapi_settle_frees");
    if job.check > 0 {
        module.call(c"kapi_tell_all");
    }
    last_checks(engine, held);
}

/// Returns how often a module is in use, if it is; then no kernel unloads it.
fn users(module: &Module, job: &Job) -> Option<u32> {
    let users = module.call(c"kapi_users").and_then(|users| u32::try_from(users).ok());
    let users = users.filter(|&users| users > 0)?;
    if job.check > 0 {
        module.call(c"kapi_tell_users");
    }
    Some(users)
}

/// Runs init of the modules that this one needs. Returns how many are there, and the result of one that failed.
fn init_needed(module: &Module) -> (usize, Option<i64>) {
    let mut count = 0;
    while let Some(result) = module.call(&needed(NEEDED_INIT, count)) {
        if result != 0 {
            return (count, Some(result));
        }
        count += 1;
    }
    (count, None)
}

/// Runs their exits, the last one's first.
fn exit_needed(module: &Module, count: usize) {
    for index in (0..count).rev() {
        module.call(&needed(NEEDED_EXIT, index));
    }
}

fn needed(name: &str, index: usize) -> CString {
    CString::new(format!("{name}{index}")).expect("it has no zero in it")
}

/// What processes do with the module's files; they end before exit.
fn steps(module: &Module, job: &Job) {
    for (index, step) in job.steps.iter().enumerate() {
        let index = index as u32;
        emit(&Event::Step { index });
        module.call_step(index, step);
    }
    if !job.steps.is_empty() {
        module.call(c"kapi_steps_end");
    }
}

fn file(module: &Module, operation: &std::ffi::CStr, path: &str, text: &str) {
    let short = path.strip_prefix("/proc/").unwrap_or(path);
    emit(&Event::File { path: path.into() });
    let result = module.call_file(operation, short, text);
    context::returned(path);
    emit(&Event::FileEnd { result });
}

fn last_checks<B: Backend>(engine: &Engine<B>, held_before: u64) {
    if let Some(ledger) = &engine.ledger {
        krefs::tell_left(|address| lock(ledger).is_live_at(address));
    }
    for event in engine.final_findings() {
        emit(&event);
    }
    for &handle in lock(&engine.caches).iter().filter(|_| engine.ledger.is_some()) {
        let name = cache_handle(handle).name.to_string_lossy();
        let detail = format!("cache `{name}` was not destroyed");
        let (kind, site) = (Misuse::CacheLeak, Some(cache_handle(handle).site));
        emit(&Event::Finding { kind, detail, count: 1, block: None, site });
    }
    engine.machine.check_free_objects();
    for found in engine.machine.take_findings() {
        use slablab_kmem::FindingKind;
        // The cache that still has objects was reported when it was destroyed; asking for more than
        // there can be is how one finds out how much there is.
        let reported = found.kind == FindingKind::DestroyWithObjects && engine.ledger.is_some();
        if !reported && found.kind != FindingKind::BadSize {
            emit(&from_machine(engine, &found));
        }
    }
    emit(&Event::Totals {
        live_bytes: engine.live_bytes().saturating_sub(held_before),
        slab_bytes: engine.machine.gauges().slab_bytes,
    });
}

/// Turns what the machine's own checks found into an event.
fn from_machine<B: Backend>(engine: &Engine<B>, found: &slablab_kmem::Finding) -> Event {
    use slablab_kmem::FindingKind;
    let kind = match found.kind {
        FindingKind::DoubleFree => Misuse::DoubleFree,
        FindingKind::WrongCache | FindingKind::BadOrder => Misuse::WrongFree,
        FindingKind::InteriorPointer => Misuse::InteriorFree,
        FindingKind::ForeignPointer => Misuse::ForeignFree,
        FindingKind::OverflowRight | FindingKind::OverflowLeft => Misuse::Overflow,
        FindingKind::WriteAfterFree => Misuse::WriteAfterFree,
        FindingKind::DestroyWithObjects => Misuse::CacheBusy,
        _ => Misuse::Damage,
    };
    // The machine keeps the low half of a call site.
    let base = module::loaded().map_or(0, Module::base);
    let offset = |site: slablab_kmem::Site| u64::from(site.0.wrapping_sub(base as u32));
    let after_free = kind == Misuse::WriteAfterFree;
    let known = matches!(kind, Misuse::Overflow | Misuse::WriteAfterFree);
    let object = found.object.zip(found.site_allocated).filter(|_| known);
    let block = object.map(|(object, site)| Block {
        address: engine.address(Some(object)),
        bytes: engine.bytes_asked(object),
        from: found.cache.clone(),
        site: offset(site),
        freed: found.site_before.filter(|_| after_free).map(offset),
    });
    let (cache, at) = (&found.cache, found.offset);
    let detail = match (found.kind, &block) {
        (FindingKind::OverflowRight, Some(Block { bytes, .. })) => {
            format!("byte {at} of a block of {bytes} bytes was written")
        }
        (FindingKind::OverflowLeft, _) => {
            format!("cache {cache}: a byte before an object was written: {}", found.detail)
        }
        (FindingKind::WriteAfterFree, _) => {
            format!("byte {at} of a free object was written: {}", found.detail)
        }
        _ => format!("cache {cache}: {}", found.detail),
    };
    // The write itself is somewhere between the free and the next allocation: that call is not to blame.
    let site = (found.site.0 != 0 && !after_free).then(|| offset(found.site));
    Event::Finding { kind, detail, count: 1, block, site }
}

fn set_params(module: &Module, values: &[String]) -> Result<(), String> {
    let declared = module.declared();
    for (index, write) in params::plan(&declared, values)? {
        match write {
            ParamWrite::Bytes { bytes, elements } => module.set_param(index, &bytes, elements),
            ParamWrite::Texts(texts) => module.set_param_texts(index, &texts),
            ParamWrite::Callback(text) => {
                let result = module.set_param_by_callback(index, &text);
                if result < 0 {
                    let name = &declared[index].name;
                    return Err(format!(
                        "parameter `{name}`: the module refuses `{text}` ({result})"
                    ));
                }
            }
        }
    }
    Ok(())
}

fn set_variables<B: Backend>(engine: &Engine<B>, module: &Module) {
    let job = &runtime().job;
    let pages = job.memory_bytes / slablab_kmem::PAGE_SIZE;
    let end = engine.page_offset() + job.memory_bytes;
    for (name, value) in [
        (c"kapi_page_offset", engine.page_offset()),
        (c"kapi_vmalloc_start", 0),
        (c"kapi_vmalloc_end", 0x7fff_ffff_f000),
        (c"mem_map", engine.pages.base()),
        (c"max_mapnr", pages),
        (c"max_pfn", pages),
        (c"num_physpages", pages),
        (c"totalram_pages", pages),
        (c"high_memory", end),
    ] {
        module.set(name, &value.to_ne_bytes());
    }
    module.set(c"kapi_check", &u32::from(job.check).to_ne_bytes());
    module.set(c"nr_cpu_ids", &job.cpus.to_ne_bytes());
    let khz = cpu_khz();
    module.set(c"cpu_khz", &khz.to_ne_bytes());
    module.set(c"tsc_khz", &khz.to_ne_bytes());
    module.set(c"kapi_module_name", &name_bytes(&job.name));
    let jiffies = module.find(c"jiffies").expect("the runtime defines it");
    module::store(jiffies, INITIAL_JIFFIES); // before anything can look at it
    std::thread::spawn(move || tick(jiffies));
}

fn name_bytes(name: &str) -> [u8; 56] {
    let mut bytes = [0; 56];
    let len = name.len().min(bytes.len() - 1);
    bytes[..len].copy_from_slice(&name.as_bytes()[..len]);
    bytes
}

/// The timer interrupt: advances jiffies, without drift.
fn tick(jiffies: u64) {
    loop {
        let ticks = runtime().start.elapsed().as_nanos() as u64 / (1_000_000_000 / HZ);
        module::store(jiffies, INITIAL_JIFFIES + ticks);
        let next = Duration::from_nanos((ticks + 1) * (1_000_000_000 / HZ));
        std::thread::sleep(next.saturating_sub(runtime().start.elapsed()));
    }
}

/// The processor's clock as /proc/cpuinfo has it, 1 GHz if it does not say.
fn cpu_khz() -> u32 {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("cpu MHz"));
    let mhz = line.and_then(|line| line.split(':').nth(1)?.trim().parse::<f64>().ok());
    mhz.map_or(1_000_000, |mhz| (mhz * 1000.0) as u32)
}
