//! The kernel's own array, from a shared library that peer/build.sh made.

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;

use super::Peer;

type New = unsafe extern "C" fn() -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void);
type Count = unsafe extern "C" fn() -> u64;
type Insert = unsafe extern "C" fn(*mut c_void, *const u64, *const u64, u64);
type Erase = unsafe extern "C" fn(*mut c_void, *const u64, u64);
type Hit = unsafe extern "C" fn(*mut c_void, *const u64, u64) -> u64;
type Chain = unsafe extern "C" fn(*mut c_void, u64, u64) -> u64;
type Iterate = unsafe extern "C" fn(*mut c_void) -> u64;
type Scan = unsafe extern "C" fn(*mut c_void, *const u64, u64, u64) -> u64;
type ReadUntil = unsafe extern "C" fn(*mut c_void, *const u64, u64, *const c_char) -> u64;
type WriteUntil =
    unsafe extern "C" fn(*mut c_void, *const u64, *const u64, u64, *const c_char) -> u64;

/// One build of it.
pub struct Library {
    pub name: String,
    new: New,
    free: Free,
    bytes: Count,
    insert: Insert,
    erase: Erase,
    hit: Hit,
    chain: Chain,
    iterate: Iterate,
    find: Hit,
    find_after: Hit,
    scan: Scan,
    mark: Erase,
    iterate_marked: Iterate,
    bulk: Insert,
    store_ranges: Insert,
    pub read_until: ReadUntil,
    pub write_until: WriteUntil,
}

impl Library {
    /// Loads every `libkxa-*.so` of the folder.
    pub fn load_all(folder: &Path) -> Vec<Self> {
        let mut libraries: Vec<Self> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|file| {
                let path = file.ok()?.path();
                let name = path
                    .file_name()?
                    .to_str()?
                    .strip_prefix("libkxa-")?
                    .strip_suffix(".so")?
                    .to_owned();
                Some(Self::load(&path, name))
            })
            .collect();
        libraries.sort_by(|a, b| a.name.cmp(&b.name));
        libraries
    }

    fn load(path: &Path, name: String) -> Self {
        let file = CString::new(path.to_str().expect("a plain path")).expect("no zero inside");
        // SAFETY: the library is ours and has no constructors.
        let handle = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!handle.is_null(), "{}: {}", path.display(), dl_error());
        macro_rules! function {
            ($symbol:literal, $type:ty) => {{
                // SAFETY: the handle is open, the name ends with zero.
                let address =
                    unsafe { libc::dlsym(handle, concat!($symbol, "\0").as_ptr().cast()) };
                assert!(!address.is_null(), "{} has no {}", path.display(), $symbol);
                // SAFETY: kxa.c declares it with this type.
                unsafe { std::mem::transmute::<*mut c_void, $type>(address) }
            }};
        }
        Self {
            name,
            new: function!("kxa_new", New),
            free: function!("kxa_free", Free),
            bytes: function!("kxa_bytes", Count),
            insert: function!("kxa_insert", Insert),
            erase: function!("kxa_erase", Erase),
            hit: function!("kxa_hit", Hit),
            chain: function!("kxa_chain", Chain),
            iterate: function!("kxa_iterate", Iterate),
            find: function!("kxa_find", Hit),
            find_after: function!("kxa_find_after", Hit),
            scan: function!("kxa_scan", Scan),
            mark: function!("kxa_mark", Erase),
            iterate_marked: function!("kxa_iterate_marked", Iterate),
            bulk: function!("kxa_bulk", Insert),
            store_ranges: function!("kxa_store_ranges", Insert),
            read_until: function!("kxa_read_until", ReadUntil),
            write_until: function!("kxa_write_until", WriteUntil),
        }
    }
}

fn dl_error() -> String {
    // SAFETY: called after a failure, so there is a message.
    unsafe { CStr::from_ptr(libc::dlerror()) }.to_string_lossy().into_owned()
}

pub struct Kernel {
    library: &'static Library,
    pub array: *mut c_void,
}

impl Kernel {
    pub fn new(library: &'static Library) -> Self {
        // SAFETY: as kxa.c says.
        Self { library, array: unsafe { (library.new)() } }
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        // SAFETY: ours.
        unsafe { (self.library.free)(self.array) };
    }
}

impl Peer for Kernel {
    fn name(&self) -> String {
        format!("kernel {}", self.library.name)
    }

    fn reset(&mut self) {
        // SAFETY: ours.
        unsafe { (self.library.free)(self.array) };
        // SAFETY: as kxa.c says.
        self.array = unsafe { (self.library.new)() };
    }

    fn insert(&mut self, keys: &[u64], entries: &[u64]) {
        // SAFETY: both slices have that many.
        unsafe {
            (self.library.insert)(self.array, keys.as_ptr(), entries.as_ptr(), keys.len() as u64)
        };
    }

    fn erase(&mut self, keys: &[u64]) {
        // SAFETY: as above.
        unsafe { (self.library.erase)(self.array, keys.as_ptr(), keys.len() as u64) };
    }

    fn hit(&self, keys: &[u64]) -> u64 {
        // SAFETY: as above.
        unsafe { (self.library.hit)(self.array, keys.as_ptr(), keys.len() as u64) }
    }

    fn chain(&self, key: u64, n: usize) -> u64 {
        // SAFETY: the array is ours.
        unsafe { (self.library.chain)(self.array, key, n as u64) }
    }

    fn iterate(&self) -> Option<u64> {
        // SAFETY: the array is ours.
        Some(unsafe { (self.library.iterate)(self.array) })
    }

    fn find(&self, keys: &[u64]) -> Option<u64> {
        // SAFETY: as above.
        Some(unsafe { (self.library.find)(self.array, keys.as_ptr(), keys.len() as u64) })
    }

    fn find_after(&self, keys: &[u64]) -> Option<u64> {
        // SAFETY: as above.
        Some(unsafe { (self.library.find_after)(self.array, keys.as_ptr(), keys.len() as u64) })
    }

    fn scan(&self, keys: &[u64], length: usize) -> Option<u64> {
        let (keys, n) = (keys.as_ptr(), keys.len() as u64);
        // SAFETY: as above.
        Some(unsafe { (self.library.scan)(self.array, keys, n, length as u64) })
    }

    fn iterate_marked(&mut self, keys: &[u64], time: &mut dyn FnMut(&dyn Fn() -> u64)) -> bool {
        // SAFETY: as above.
        unsafe { (self.library.mark)(self.array, keys.as_ptr(), keys.len() as u64) };
        // SAFETY: the array is ours.
        time(&|| unsafe { (self.library.iterate_marked)(self.array) });
        true
    }

    fn bulk(&mut self, keys: &[u64], entries: &[u64]) {
        let n = keys.len() as u64;
        // SAFETY: both slices have that many.
        unsafe { (self.library.bulk)(self.array, keys.as_ptr(), entries.as_ptr(), n) };
    }

    fn store_ranges(&mut self, firsts: &[u64], lasts: &[u64]) -> bool {
        let n = firsts.len() as u64;
        // SAFETY: both slices have that many.
        unsafe { (self.library.store_ranges)(self.array, firsts.as_ptr(), lasts.as_ptr(), n) };
        true
    }

    fn bytes(&self) -> Option<usize> {
        // SAFETY: no arguments. Nodes times 576.
        Some(unsafe { (self.library.bytes)() } as usize)
    }
}
