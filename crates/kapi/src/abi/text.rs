//! Printing: formats and text that come from C.

use std::ffi::{c_char, c_void};
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use crate::context;
use crate::event::{Event, Misuse};
use crate::format::{ArgKind, Args, Memory, format};
use crate::ledger::BLOCKS;
use crate::raw::call::{self, Fetch};
use crate::raw::{bytes, module};
use crate::runtime::{lock, runtime};

/// The arguments of a printing function, with the C function that takes the next one.
struct CArgs {
    list: *mut c_void,
    fetch: Fetch,
}

impl Args for CArgs {
    fn next(&mut self, kind: ArgKind) -> u64 {
        call::fetch(self.fetch, self.list, kind as i32)
    }
}

/// The memory of this process, which a call of the module prints.
struct Process {
    site: u64,
}

/// `%s` reads no further: a longer string would not fit the log.
const STRING_MAX: usize = 64 << 10;

static HASH: LazyLock<RandomState> = LazyLock::new(RandomState::new);

impl Memory for Process {
    fn string(&self, address: u64, max: usize) -> Option<Vec<u8>> {
        look("`%s`", address, self.site);
        if address < 4096 { None } else { bytes::string(address, max.min(STRING_MAX)) }
    }

    fn bytes(&self, address: u64, len: usize) -> Option<Vec<u8>> {
        look("printing", address, self.site);
        let mut buf = vec![0; len];
        bytes::read(address, &mut buf).then_some(buf)
    }

    fn nested(&self, address: u64) -> Vec<u8> {
        let mut buf = vec![0_u8; 1024];
        let len = module::format_nested(&mut buf, address);
        buf.truncate(len.min(1023));
        buf
    }

    fn symbol(&self, address: u64) -> Option<(String, u64, u64)> {
        runtime().symbol(address)
    }

    fn hashed(&self, address: u64) -> u64 {
        let runtime = runtime();
        if runtime.job.plain_pointers || !runtime.job.version.hashes_pointers() {
            return address;
        }
        HASH.hash_one(address) & 0xffff_ffff
    }
}

pub(crate) extern "C" fn kapi_format(
    buf: *mut c_char,
    size: u64,
    fmt: u64,
    list: *mut c_void,
    fetch: Fetch,
    site: u64,
) -> i32 {
    let fmt = bytes::string(fmt, STRING_MAX).unwrap_or_else(|| b"(efault)".to_vec());
    let text = format(&fmt, &mut CArgs { list, fetch }, &Process { site });
    bytes::put_text(buf as u64, size, &text);
    i32::try_from(text.len()).unwrap_or(i32::MAX)
}

/// Reports that a call of the module at `site` reads what is freed (check level 2).
fn look(what: &str, address: u64, site: u64) {
    let found = BLOCKS.get().and_then(|blocks| lock(blocks).freed_at(address));
    let Some((block, at)) = found else { return };
    let runtime = runtime();
    let site = runtime.symbol(site).map(|_| runtime.offset(site));
    let detail = format!("{what} of a block that is freed, from its byte {at} on");
    let kind = Misuse::ReadAfterFree;
    runtime.emit(&Event::Finding { kind, detail, count: 1, block: Some(block), site });
}

/// The function `name` of the runtime reads at an address, for the call of the module at `site`.
pub(crate) extern "C" fn kapi_reads(name: u64, address: u64, site: u64) {
    if runtime().job.check >= 2 {
        let name = bytes::string(name, 64).unwrap_or_default();
        look(&format!("{}()", String::from_utf8_lossy(&name)), address, site);
    }
}

pub(crate) extern "C" fn kapi_log(text: *const u8, len: u64) {
    runtime().log.write(bytes::text(text, len), |event| runtime().emit(&event));
}

/// The runtime found something wrong at `site`; `kind` is of `enum kapi_misuse` (`runtime/host.h`).
pub(crate) extern "C" fn kapi_misuse(kind: u32, text: u64, len: u64, site: u64) {
    let mut buf = vec![0; len as usize];
    bytes::read(text, &mut buf);
    let detail = String::from_utf8_lossy(&buf).into_owned();
    let kind = match kind {
        0 => Misuse::Left,
        1 => Misuse::Reference,
        _ => Misuse::ObjectState,
    };
    let runtime = runtime();
    if runtime.job.check > 0 {
        let site = Some(runtime.offset(site));
        runtime.emit(&Event::Finding { kind, detail, count: 1, block: None, site });
    }
}

/// A step of a process is done; what it returned, and what it read.
pub(crate) extern "C" fn kapi_step_done(index: u32, result: i64, data: u64, len: u64) {
    if let Some(step) = runtime().job.steps.get(index as usize) {
        context::returned(&step.text);
    }
    let mut buf = vec![0; len as usize];
    bytes::read(data, &mut buf);
    runtime().emit(&Event::StepEnd { index, result, data: buf });
}

pub(crate) extern "C" fn kapi_output(text: *const u8, len: u64) {
    let text = String::from_utf8_lossy(bytes::text(text, len)).into_owned();
    runtime().emit(&Event::Text { text });
}

pub(crate) extern "C" fn kapi_stop(why: *const u8, len: u64) -> ! {
    runtime().stop(bytes::text(why, len))
}
