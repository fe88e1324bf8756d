//! Time and random numbers.

use std::cell::RefCell;
use std::time::{Duration, SystemTime};

use crate::raw::bytes;
use crate::raw::module;
use crate::raw::system::get_random_bytes;
use crate::runtime::runtime;

pub(crate) extern "C" fn ktime_get_ns() -> u64 {
    runtime().start.elapsed().as_nanos() as u64
}

pub(crate) extern "C" fn ktime_get_real_ns() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64)
}

/// Sleeps, whatever the task's state is.
pub(crate) extern "C" fn kapi_host_sleep(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

/// Pages that this process has in memory, as /proc/self/statm has them in its second column.
pub(crate) extern "C" fn kapi_rss_pages() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0)
}

/// Returns the address of a function of the module or the runtime, 0 if there is none.
pub(crate) extern "C" fn kapi_symbol_find(name: u64) -> u64 {
    let name = bytes::string(name, NAME_BYTES_MAX).unwrap_or_default();
    let offset = runtime().image.find(&String::from_utf8_lossy(&name));
    offset.zip(module::loaded()).map_or(0, |(offset, module)| module.base() + offset)
}

/// Bytes of a function's name at most.
const NAME_BYTES_MAX: usize = 512;

/// Writes the name of a function by its number into a buffer, and returns its address; 0 behind the last.
pub(crate) extern "C" fn kapi_symbol_at(number: u64, buffer: u64, size: u64) -> u64 {
    let found = runtime().image.function(number as usize).zip(module::loaded());
    let Some(((name, offset), module)) = found else { return 0 };
    bytes::put_text(buffer, size, name.as_bytes());
    module.base() + offset
}

/// Finds the function around an address: writes where it begins and its bytes; returns whether there is one.
pub(crate) extern "C" fn kapi_symbol_of(address: u64, start: u64, size: u64) -> bool {
    let Some((_, into, len)) = runtime().symbol(address) else { return false };
    bytes::put_pointers(start, &[address - into]);
    bytes::put_pointers(size, &[len]);
    true
}

pub(crate) extern "C" fn kapi_yield() {
    std::thread::yield_now();
}

pub(crate) extern "C" fn kapi_spin_wait(_word: u64) {
    std::hint::spin_loop();
    std::thread::yield_now();
}

/// Numbers that are fetched at once, and how many of them are left: a call of the system costs more than all else here.
const BATCH: usize = 128;

thread_local! {
    static NUMBERS: RefCell<([u64; BATCH], usize)> = const { RefCell::new(([0; BATCH], 0)) };
}

pub(crate) extern "C" fn get_random_u64() -> u64 {
    NUMBERS.with(|cell| {
        let (numbers, left) = &mut *cell.borrow_mut();
        if *left == 0 {
            get_random_bytes(numbers.as_mut_ptr().cast(), (BATCH * 8) as u64);
            *left = BATCH;
        }
        *left -= 1;
        numbers[*left]
    })
}

pub(crate) extern "C" fn get_random_u32() -> u32 {
    get_random_u64() as u32
}

pub(crate) extern "C" fn get_random_u32_below(ceil: u32) -> u32 {
    ((u64::from(get_random_u32()) * u64::from(ceil)) >> 32) as u32
}
