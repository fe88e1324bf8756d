//! The module in memory: loading it, finding what is in it, running it.

use std::ffi::{CStr, CString, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

use super::bytes;
use crate::params::Declared;
use crate::steps::Step;

/// A module that was loaded; it stays until the process ends.
#[derive(Debug)]
pub(crate) struct Module {
    handle: usize,
    base: u64,
}

/// What `struct kernel_param` in `moduleparam.h` looks like.
#[repr(C)]
struct Param {
    name: u64,
    kind: u64,
    arg: u64,
    ops: u64,
    elements_max: u32,
    perm: u32,
    elements: u64,
    element_bytes: u64,
}

/// What `struct kapi_step` in `runtime/steps.c` looks like.
#[repr(C)]
struct StepRecord {
    operation: u32,
    flags: u32,
    index: u32,
    argument: u32,
    name: *const c_char,
    path: *const c_char,
    data: *const u8,
    len: u64,
    a: u64,
    b: u64,
}

static MODULE: OnceLock<Module> = OnceLock::new();

/// Returns the module, once it is loaded.
pub(crate) fn loaded() -> Option<&'static Module> {
    MODULE.get()
}

/// Loads a module and points its jumps at `functions`, in their order.
pub(crate) fn load(path: &Path, functions: &[usize]) -> Result<&'static Module, String> {
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|e| e.to_string())?;
    // SAFETY: the file was compiled by us; it has no constructors of its own.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if handle.is_null() {
        return Err(last_error());
    }
    let mut module = Module { handle: handle as usize, base: 0 };
    let table = module.find(c"kapi_table").ok_or("it has no table of the host's functions")?;
    module.base = base_of(table).ok_or("its load address is not known")?;
    let bytes: Vec<u8> = functions.iter().flat_map(|f| f.to_ne_bytes()).collect();
    // SAFETY: the table was assembled with one word for each function of the same list.
    unsafe { bytes::write(table, &bytes) };
    Ok(MODULE.get_or_init(|| module))
}

fn last_error() -> String {
    // SAFETY: no argument.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "unknown error".into();
    }
    // SAFETY: the loader's message is a C string until its next call.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

fn base_of(address: u64) -> Option<u64> {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: `info` is written by the call.
    let found = unsafe { libc::dladdr(address as *const c_void, info.as_mut_ptr()) };
    // SAFETY: zeroed, which is a valid value, or written.
    let info = unsafe { info.assume_init() };
    (found != 0).then_some(info.dli_fbase as u64)
}

impl Module {
    /// Finds a symbol's address. What the libraries beneath a module have is not the module's: with AddressSanitizer
    /// the C library is among them, whose `init_module` is a system call.
    pub(crate) fn find(&self, name: &CStr) -> Option<u64> {
        // SAFETY: the handle is of a library that is never unloaded.
        let at = unsafe { libc::dlsym(self.handle as *mut c_void, name.as_ptr()) } as u64;
        let is_own = || self.base == 0 || base_of(at) == Some(self.base);
        (at != 0 && is_own()).then_some(at)
    }

    /// Returns where it was loaded.
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// Sets a variable of the runtime.
    pub(crate) fn set(&self, name: &CStr, bytes: &[u8]) {
        let at = self.find(name).unwrap_or_else(|| panic!("the runtime has no {name:?}"));
        // SAFETY: the caller passes as many bytes as the variable has.
        unsafe { bytes::write(at, bytes) };
    }

    /// Calls a function without arguments.
    pub(crate) fn call(&self, name: &CStr) -> Option<i64> {
        type Function = unsafe extern "C" fn() -> i32;
        let at = self.find(name)?;
        // SAFETY: the function is declared so, or returns nothing, which is then not looked at.
        let function = unsafe { std::mem::transmute::<u64, Function>(at) };
        // SAFETY: the module runs; the process is its own.
        Some(i64::from(unsafe { function() }))
    }

    /// Calls a function of the runtime that takes a path and a text.
    pub(crate) fn call_file(&self, name: &CStr, path: &str, text: &str) -> i64 {
        type Function = unsafe extern "C" fn(*const c_char, *const u8, u64) -> i64;
        let at = self.find(name).unwrap_or_else(|| panic!("the runtime has no {name:?}"));
        let path = CString::new(path).unwrap_or_default();
        let text = CString::new(text).unwrap_or_default();
        // SAFETY: the runtime's functions take a path, or a path, a text and its length.
        let function = unsafe { std::mem::transmute::<u64, Function>(at) };
        let len = text.as_bytes().len() as u64;
        // SAFETY: both strings hold for the call.
        unsafe { function(path.as_ptr(), text.as_ptr().cast(), len) }
    }

    /// Hands a step to the runtime, which has copied what it keeps when it returns.
    pub(crate) fn call_step(&self, index: u32, step: &Step) {
        type Function = unsafe extern "C" fn(*const StepRecord);
        let at = self.find(c"kapi_step").expect("the runtime has it");
        let text = |text: &str| CString::new(text).unwrap_or_default();
        // Behind `&` a step may take as long as the process: its texts stay, too.
        let (name, path) = (text(&step.name).into_raw(), text(&step.path).into_raw());
        let data: &'static [u8] = step.data.clone().leak();
        let record = StepRecord {
            operation: step.operation as u32,
            flags: u32::from(step.background),
            index,
            argument: step.argument as u32,
            name,
            path,
            data: data.as_ptr(),
            len: data.len() as u64,
            a: step.a,
            b: step.b,
        };
        // SAFETY: the runtime's function takes such a record.
        let function = unsafe { std::mem::transmute::<u64, Function>(at) };
        // SAFETY: the record holds for the call, its texts for ever.
        unsafe { function(&raw const record) };
    }

    fn params(&self) -> &[Param] {
        let (Some(start), Some(stop)) =
            (self.find(c"kapi_params_start"), self.find(c"kapi_params_stop"))
        else {
            return &[];
        };
        let (start, stop) = (word(start), word(stop));
        if start == 0 {
            return &[];
        }
        let count = (stop - start) as usize / size_of::<Param>();
        // SAFETY: the linker says where the section begins and ends; all in it are such records.
        unsafe { std::slice::from_raw_parts(start as *const Param, count) }
    }

    /// Returns the parameters that the module declares.
    pub(crate) fn declared(&self) -> Vec<Declared> {
        let text = |at| String::from_utf8_lossy(&bytes::string(at, 256).unwrap_or_default()).into();
        let declared = |p: &Param| Declared {
            name: text(p.name),
            kind: text(p.kind),
            elements_max: p.elements_max,
            element_bytes: p.element_bytes,
        };
        self.params().iter().map(declared).collect()
    }

    /// Writes a parameter's variable.
    pub(crate) fn set_param(&self, index: usize, bytes: &[u8], elements: u32) {
        let param = &self.params()[index];
        // SAFETY: `params::plan` checked the length against the variable's.
        unsafe { bytes::write(param.arg, bytes) };
        if param.elements != 0 && elements != 0 {
            // SAFETY: the module says that this counts the elements.
            unsafe { bytes::write(param.elements, &elements.to_ne_bytes()) };
        }
    }

    /// Makes copies of texts that live as long as the process, and points a parameter's at them.
    pub(crate) fn set_param_texts(&self, index: usize, texts: &[String]) {
        let leak =
            |text: &String| CString::new(text.as_str()).unwrap_or_default().into_raw() as u64;
        let pointers: Vec<u8> = texts.iter().flat_map(|t| leak(t).to_ne_bytes()).collect();
        self.set_param(index, &pointers, texts.len() as u32);
    }

    /// Lets the module's own function set a parameter; returns what it returns.
    pub(crate) fn set_param_by_callback(&self, index: usize, text: &str) -> i32 {
        type Set = unsafe extern "C" fn(*const c_char, *const Param) -> i32;
        let param = &self.params()[index];
        let set = word(param.ops + 8);
        let text = CString::new(text).unwrap_or_default();
        // SAFETY: `struct kernel_param_ops` has the set function in its second word.
        let set = unsafe { std::mem::transmute::<u64, Set>(set) };
        // SAFETY: text and record hold for the call.
        unsafe { set(text.as_ptr(), param) }
    }
}

fn word(address: u64) -> u64 {
    let mut word = [0; 8];
    bytes::read(address, &mut word);
    u64::from_ne_bytes(word)
}

/// Formats the `struct va_format` at an address; returns the length of the whole.
pub(crate) fn format_nested(buf: &mut [u8], va_format: u64) -> usize {
    type Function = unsafe extern "C" fn(*mut u8, u64, u64) -> i32;
    let Some(at) = loaded().and_then(|module| module.find(c"kapi_format_va")) else { return 0 };
    // SAFETY: the runtime's function has this type.
    let function = unsafe { std::mem::transmute::<u64, Function>(at) };
    // SAFETY: the buffer holds for the call; the module vouches for the record.
    let len = unsafe { function(buf.as_mut_ptr(), buf.len() as u64, va_format) };
    len.max(0) as usize
}

/// Lets the module's shrinkers free memory; returns how many objects they freed.
pub(crate) fn reclaim(gfp: u32, priority: u32) -> u64 {
    type Function = unsafe extern "C" fn(u32, u32) -> u64;
    let Some(at) = loaded().and_then(|module| module.find(c"kapi_reclaim")) else { return 0 };
    // SAFETY: the runtime's function has this type.
    let function = unsafe { std::mem::transmute::<u64, Function>(at) };
    // SAFETY: takes numbers only.
    unsafe { function(gfp, priority) }
}

/// Tells those who registered for it that memory is out; returns how many pages they gave.
pub(crate) fn out_of_memory() -> u64 {
    type Function = unsafe extern "C" fn() -> u64;
    let Some(at) = loaded().and_then(|module| module.find(c"kapi_out_of_memory")) else { return 0 };
    // SAFETY: the runtime's function has this type.
    let function = unsafe { std::mem::transmute::<u64, Function>(at) };
    // SAFETY: it takes nothing.
    unsafe { function() }
}

/// Lets the runtime take off its lists what is armed in memory that is freed at `site`.
pub(crate) fn forget(address: u64, bytes: u64, site: u64) {
    type Function = unsafe extern "C" fn(u64, u64, u64);
    static FORGET: OnceLock<Option<u64>> = OnceLock::new();
    let Some(at) = *FORGET.get_or_init(|| loaded()?.find(c"kapi_forget")) else { return };
    // SAFETY: the runtime's function has this type.
    let function = unsafe { std::mem::transmute::<u64, Function>(at) };
    // SAFETY: takes numbers only.
    unsafe { function(address, bytes, site) }
}

/// Advances a counter of the module, as the timer interrupt does.
pub(crate) fn store(address: u64, value: u64) {
    // SAFETY: `address` is the runtime's `jiffies`, an aligned 64-bit variable that C reads as
    // volatile.
    let word = unsafe { std::sync::atomic::AtomicU64::from_ptr(address as *mut u64) };
    word.store(value, std::sync::atomic::Ordering::Relaxed);
}
