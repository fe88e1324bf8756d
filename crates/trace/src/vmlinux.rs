//! The recorded kernel's debug information: from a call site to its line of source.
//!
//! # How it works
//! A call site is `symbol+0x1c`, and that is how it is found: the kernel's address at each boot is
//! random (KASLR), the distance from the symbol is not. Where a name belongs to several symbols, or to none, the
//! recorded address decides: sites whose symbol is unique tell how far the kernel was moved. DWARF then gives the
//! line of the call, and the functions inlined there; the innermost of them that stands in a source file and not in a
//! header is the one that a developer would change (`kmalloc()` itself is an inline function of a header).
//!
//! A call site is the address behind a call. So a site is taken only where the file has a call before it, and a file
//! where most sites have none is another kernel's.
//!
//! # Differences from Linux
//! Perf compares build-ids, which no recording of allocations has. Modules' own debug
//! information is not read.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};

use addr2line::Loader;
use object::read::ReadCache;
use object::{Architecture, Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

use crate::assigned::{Assigned, Sections};
use crate::canonical::AllocatedType;
use crate::{At, Error, Site};

/// Every kernel has it, in `init/main.c`: where that file lies is where the source was built.
const LANDMARK: (&str, &str) = ("start_kernel", "init/main.c");

/// A kernel with debug information.
pub struct Vmlinux {
    path: PathBuf,
    lines: Loader,
    /// First address and length, by name
    symbols: HashMap<String, Vec<(u64, u64)>>,
    /// First address and bytes
    code: Vec<(u64, Vec<u8>)>,
    is_x86_64: bool,
    /// The folder that the source was built in, with the last `/`
    root: String,
}

/// A place in the kernel's source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, from the root of the source: `kernel/trace/trace_events.c`
    pub file: String,
    /// The function, which may be inlined into the symbol's own
    pub function: String,
    /// The line, counted from 1, if the compiler said
    pub line: Option<u32>,
}

impl std::fmt::Debug for Vmlinux {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vmlinux").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Vmlinux {
    /// Returns where the vmlinux of a trace may lie: beside it, and where distributions and builds have that of the
    /// kernel `release`.
    #[must_use]
    pub fn usual_places(trace: &Path, release: &str) -> Vec<PathBuf> {
        let mut places = vec![trace.with_file_name("vmlinux")];
        // A release of a damaged trace must not lead anywhere else.
        if !release.is_empty() && !release.contains(['/', '\0']) {
            places.extend([
                format!("/usr/lib/debug/boot/vmlinux-{release}").into(),
                format!("/usr/lib/debug/lib/modules/{release}/vmlinux").into(),
                format!("/lib/modules/{release}/build/vmlinux").into(),
                format!("/boot/vmlinux-{release}").into(),
            ]);
        }
        places
    }

    /// Opens the kernel in `path`.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is not a kernel, or has no debug information.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let bad = |what: String| Error::Bad {
            path: path.to_owned(),
            at: At::File,
            what,
            remedy: "name an uncompressed vmlinux with debug information: a distribution's debug \
                     package has it, and a build with CONFIG_DEBUG_INFO_DWARF5=y"
                .to_owned(),
        };
        let file = File::open(path).map_err(|e| Error::io(path, "cannot open", e))?;
        let cache = ReadCache::new(file);
        let object =
            object::File::parse(&cache).map_err(|e| bad(format!("is not a kernel ({e})")))?;
        let mut symbols: HashMap<String, Vec<(u64, u64)>> = HashMap::new();
        for symbol in object.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text) {
            if let Ok(name) = symbol.name() {
                symbols.entry(name.to_owned()).or_default().push((symbol.address(), symbol.size()));
            }
        }
        let text = object.sections().filter(|section| section.kind() == SectionKind::Text);
        let code = text.filter_map(|text| Some((text.address(), text.data().ok()?.to_vec())));
        let mut vmlinux = Self {
            path: path.to_owned(),
            lines: Loader::new(path).map_err(|e| bad(format!("cannot be read ({e})")))?,
            code: code.collect(),
            is_x86_64: object.architecture() == Architecture::X86_64,
            symbols,
            root: String::new(),
        };
        let (landmark, file) = LANDMARK;
        let Some(&[(start, _)]) = vmlinux.symbols.get(landmark).map(Vec::as_slice) else {
            return Err(bad(format!("is not a kernel: it has no symbol {landmark}")));
        };
        let found = vmlinux.lines.find_location(start).ok().flatten();
        let Some(main) = found.and_then(|location| location.file.map(str::to_owned)) else {
            return Err(bad("has no debug information".to_owned()));
        };
        vmlinux.root = main.strip_suffix(file).unwrap_or_default().to_owned();
        Ok(vmlinux)
    }

    /// Returns where in the source each site is; `None` for one in a module, or whose symbol is not known or not
    /// unique.
    ///
    /// # Errors
    ///
    /// If this is another kernel than the sites'.
    pub fn places(&self, sites: &[Site]) -> Result<Vec<Option<Place>>, Error> {
        let calls = self.calls(sites)?;
        Ok(calls.into_iter().map(|address| self.place(address?)).collect())
    }

    /// Returns the type that each site allocates, such as `struct file`: that to which its result is assigned. `None`
    /// where that is not a pointer to a type, or not known.
    ///
    /// # Errors
    ///
    /// If this is another kernel than the sites', or has no debug information of variables.
    pub fn types(&self, sites: &[Site]) -> Result<Vec<Option<AllocatedType>>, Error> {
        let calls = self.calls(sites)?;
        let sections = Sections::read(&self.path).filter(|_| self.is_x86_64);
        let Some(assigned) = sections.as_ref().and_then(Assigned::new) else {
            return Err(Error::Bad {
                path: self.path.clone(),
                at: At::File,
                what: "does not say of what type its variables are and where they lie".to_owned(),
                remedy: "name one for x86-64 with the whole debug information: CONFIG_DEBUG_INFO_DWARF5=y without \
                         CONFIG_DEBUG_INFO_REDUCED (slablab kernel build: the flavour types)"
                    .to_owned(),
            });
        };
        let type_at = |address: u64| assigned.type_at(address, self.code_at(address));
        Ok(calls.into_iter().map(|address| type_at(address?)).collect())
    }

    /// Returns the address behind each site's call; `None` where there is none.
    fn calls(&self, sites: &[Site]) -> Result<Vec<Option<u64>>, Error> {
        let shift = self.shift(sites);
        let behind_call = |site| self.address(site, shift).filter(|at| self.is_behind_call(*at));
        let calls: Vec<_> = sites.iter().map(behind_call).collect();
        let named = sites.iter().filter(|site| in_kernel(&site.name).is_some()).count();
        let right = calls.iter().flatten().count();
        if right * 2 < named {
            return Err(Error::Bad {
                path: self.path.clone(),
                at: At::File,
                what: format!(
                    "is not the kernel of this trace: {right} of its {named} call sites are behind \
                     a call there"
                ),
                remedy: "name the vmlinux of the very build that was recorded".to_owned(),
            });
        }
        Ok(calls)
    }

    /// Returns the instructions from `address` on.
    fn code_at(&self, address: u64) -> &[u8] {
        let of = |(start, code): &'_ (u64, Vec<u8>)| {
            let at = usize::try_from(address.checked_sub(*start)?).ok()?;
            (at < code.len()).then_some(at)
        };
        let section = self.code.iter().find_map(|section| Some((of(section)?, &section.1)));
        section.map_or(&[], |(at, code)| &code[at..])
    }

    /// Returns how far the recorded kernel was moved: what most sites with a unique symbol say.
    fn shift(&self, sites: &[Site]) -> Option<u64> {
        let mut votes: BTreeMap<u64, usize> = BTreeMap::new();
        for site in sites.iter().filter(|site| site.address != 0) {
            if let Some([here]) = in_kernel(&site.name).map(|place| self.find(place)).as_deref() {
                *votes.entry(site.address.wrapping_sub(*here)).or_default() += 1;
            }
        }
        votes.into_iter().max_by_key(|(_, votes)| *votes).map(|(shift, _)| shift)
    }

    /// Returns the address of a site in this file.
    fn address(&self, site: &Site, shift: Option<u64>) -> Option<u64> {
        let recorded = Some(site.address).filter(|address| *address != 0);
        let unmoved = || Some(recorded?.wrapping_sub(shift?));
        if site.name.starts_with("0x") {
            return unmoved();
        }
        match self.find(in_kernel(&site.name)?).as_slice() {
            [one] => Some(*one),
            many => unmoved().filter(|address| many.contains(address)),
        }
    }

    /// Returns the addresses that a symbol and an offset in it may mean.
    fn find(&self, (symbol, offset): (&str, u64)) -> Vec<u64> {
        let all = self.symbols.get(symbol).map_or(&[][..], Vec::as_slice);
        let holds = |size: u64| size == 0 || offset <= size;
        all.iter().filter(|(_, size)| holds(*size)).map(|(start, _)| start + offset).collect()
    }

    /// Returns whether the instruction before `address` may be a call.
    fn is_behind_call(&self, address: u64) -> bool {
        /// The longest call: `call *disp32(base,index)` with a prefix.
        const CALL_BYTES_MAX: usize = 8;
        if !self.is_x86_64 {
            return true;
        }
        let before = self.code.iter().find_map(|(start, code)| {
            let at = usize::try_from(address.checked_sub(*start)?).ok()?;
            code.get(at.checked_sub(CALL_BYTES_MAX)?..at)
        });
        let Some(before) = before else { return false };
        let direct = before[CALL_BYTES_MAX - 5] == 0xe8;
        // The opcode is ff; its form /2 is a call.
        let indirect = before.windows(2).any(|code| code[0] == 0xff && code[1] >> 3 & 7 == 2);
        direct || indirect
    }

    /// Returns the place of the call before `address`.
    fn place(&self, address: u64) -> Option<Place> {
        let mut frames = self.lines.find_frames(address - 1).ok()?;
        let mut last = None;
        while let Ok(Some(frame)) = frames.next() {
            let function = frame.function.and_then(|name| Some(name.raw_name().ok()?.into_owned()));
            let location = frame.location.and_then(|at| Some((at.file?.to_owned(), at.line)));
            let (Some(function), Some((file, line))) = (function, location) else { continue };
            let place = Place { file: self.relative(&file), function, line };
            let is_header = place.file.ends_with(".h");
            last = Some(place);
            if !is_header {
                break;
            }
        }
        last
    }

    /// Returns a file's name from the root of the source, without detours.
    fn relative(&self, file: &str) -> String {
        let mut parts: Vec<&str> = Vec::new();
        for part in file.strip_prefix(&self.root).unwrap_or(file).split('/') {
            match part {
                "." => {}
                ".." if parts.last().is_some_and(|last| !last.is_empty()) => _ = parts.pop(),
                part => parts.push(part),
            }
        }
        parts.join("/")
    }
}

/// Returns the symbol and the offset of `symbol+0x1c`; `None` for a module's and for bare addresses.
fn in_kernel(name: &str) -> Option<(&str, u64)> {
    let (symbol, offset) = name.rsplit_once("+0x")?;
    Some((symbol, u64::from_str_radix(offset, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    /// A kernel of three files; one of them includes a header, and it is built with the linker that
    /// cargo itself needs.
    fn build(folder: &Path, debug: &str) -> PathBuf {
        let write = |name: &str, text: &str| {
            let path = folder.join("linux").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(
            "include/linux/slab.h",
            "void *__kmalloc(unsigned long);\n\
             static inline __attribute__((always_inline)) void *kmalloc(unsigned long n)\n\
             { return __kmalloc(n); }\n",
        );
        write("init/main.c", "void start_kernel(void) { }\n");
        write("mm/slab.c", "void *__kmalloc(unsigned long n) { return (void *)n; }\n");
        write(
            "net/core/sock.c",
            "#include \"../../include/linux/slab.h\"\n\
             static inline __attribute__((always_inline)) void *inner(void)\n\
             { return kmalloc(40); }\n\
             __attribute__((noinline)) void *sock_alloc(void) { void *p = inner(); return p + 1; }\n\
             struct page { long words[5]; };\n\
             struct sock { int type; struct { long a; struct page *page; } in; };\n\
             __attribute__((noinline)) struct sock *sock_open(int type)\n\
             { struct sock *sk = inner(); if (sk) sk->type = type; return sk; }\n\
             __attribute__((noinline)) int sock_fill(struct sock *sk)\n\
             { sk->in.page = inner(); return sk->type; }\n\
             typedef struct { struct sock **all; } table_t;\n\
             typedef unsigned long uintptr_t;\n\
             struct cookie { int at[2]; uintptr_t of; };\n\
             __attribute__((noinline)) table_t *table(int n) { table_t *t = inner(); t->all = 0; return t; }\n\
             __attribute__((noinline)) const char **words(int n)\n\
             { const char **w = inner(); w[n] = 0; return w; }\n\
             __attribute__((noinline)) long unsigned *bits(int n)\n\
             { long unsigned *b = inner(); b[n] = 0; return b; }\n\
             __attribute__((noinline)) struct cookie *cookie(int n)\n\
             { struct cookie *c = inner(); c->at[0] = n; return c; }\n",
        );
        let out = folder.join("vmlinux");
        let status = Command::new("cc")
            .current_dir(folder.join("linux"))
            .args(["-O1", "-fno-pie", "-no-pie", "-nostdlib", "-static", "-fcf-protection=none"])
            .args([
                debug,
                "-Wl,-e,start_kernel",
                "init/main.c",
                "mm/slab.c",
                "net/core/sock.c",
                "-o",
            ])
            .arg(&out)
            .status()
            .unwrap();
        assert!(status.success());
        out
    }

    fn site(vmlinux: &Vmlinux) -> Site {
        site_in(vmlinux, "sock_alloc")
    }

    /// Returns the site in a function as its symbol and offset: the first address behind a call.
    fn site_in(vmlinux: &Vmlinux, function: &str) -> Site {
        let [(start, size)] = vmlinux.symbols[function][..] else { panic!("one {function}") };
        let mut addresses = start..start + size;
        let address = addresses.find(|address| vmlinux.is_behind_call(*address)).unwrap();
        let name = format!("{function}+{:#x}", address - start);
        Site { name, address: address + 0x1e00_0000, ..Site::default() }
    }

    #[test]
    fn a_site_is_the_innermost_function_that_stands_in_no_header() {
        let folder = tempfile::tempdir().unwrap();
        let vmlinux = Vmlinux::open(&build(folder.path(), "-g")).unwrap();
        let symbol = site(&vmlinux);
        let raw = Site { name: format!("{:#x}", symbol.address), ..symbol.clone() };
        let module = Site { name: "f+0x10 [ext4]".into(), ..Site::default() };
        let place =
            Some(Place { file: "net/core/sock.c".into(), function: "inner".into(), line: Some(3) });
        let places = vmlinux.places(&[symbol, raw, module]).unwrap();
        assert_eq!(places, [place.clone(), place, None]);
    }

    #[test]
    fn the_type_of_a_site_is_that_of_what_its_result_is_assigned_to() {
        let folder = tempfile::tempdir().unwrap();
        let vmlinux = Vmlinux::open(&build(folder.path(), "-gdwarf-5")).unwrap();
        let of = |name: &str| vmlinux.types(&[site_in(&vmlinux, name)]).unwrap().remove(0);
        for (function, name, canonical, has_pointers) in [
            ("sock_open", "struct sock", "sock", true),
            ("sock_fill", "struct page", "page", false),
            ("table", "table_t", "table_t", true),
            ("words", "char *", "const char *", true),
            ("bits", "long unsigned int", "unsigned long", false),
            ("cookie", "struct cookie", "cookie", true),
        ] {
            let found = of(function).expect(function);
            assert_eq!((found.name.as_str(), found.has_pointers), (name, Some(has_pointers)));
            assert_eq!(found.canonical.as_deref(), Some(canonical));
        }
        assert_eq!(of("sock_alloc"), None);
        let vmlinux = Vmlinux::open(&build(folder.path(), "-g1")).unwrap();
        let error = vmlinux.types(&[site_in(&vmlinux, "sock_open")]).unwrap_err().to_string();
        assert!(error.contains("does not say of what type its variables are"), "{error}");
    }

    #[test]
    fn another_kernel_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let vmlinux = Vmlinux::open(&build(folder.path(), "-g")).unwrap();
        let wrong = |name: &str| Site { name: name.into(), ..Site::default() };
        let sites = ["sock_alloc+0x1", "sock_alloc+0x2", "vfs_read+0x20"].map(wrong);
        let error = vmlinux.places(&sites).unwrap_err().to_string();
        assert!(error.contains("is not the kernel of this trace: 0 of its 3"), "{error}");
        assert_eq!(vmlinux.places(&[wrong("f+0x10 [ext4]")]).unwrap(), [None]);
    }

    #[test]
    fn what_has_no_debug_information_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let error = Vmlinux::open(&build(folder.path(), "-g0")).unwrap_err().to_string();
        assert!(error.contains("has no debug information; name an uncompressed"), "{error}");
        let text = folder.path().join("text");
        fs::write(&text, "no kernel").unwrap();
        let error = Vmlinux::open(&text).unwrap_err().to_string();
        assert!(error.contains("is not a kernel"), "{error}");
        assert!(Vmlinux::open(&folder.path().join("none")).is_err());
    }
}
