//! The kernel's memory, read piece by piece.
//!
//! # How it works
//! Programs in `kernel/bpf/census.bpf` copy what is asked for. Each call reads one structure, or the structures of a list.
//!
//! # Invariants
//! Nothing is written to the kernel's structures, and no lock is taken. An address that leads nowhere is `None`.
//!
//! Linux counterpart: `bpf_probe_read_kernel` @ 6.12 and later.

use std::cell::Cell;
use std::fs;
use std::sync::atomic::Ordering;

use slablab_bpf::{Assembly, Btf, Kind, Map, Names, Program, Shared};

use crate::error::Error;

const PROGRAMS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernel/census.bpf"));

/// Bytes of a structure in a list that are read.
pub(crate) const RECORD_BYTES: usize = 128;
/// Structures of a list that one call reads.
const RECORDS: usize = 512;
/// The longest piece that is read at once.
pub(crate) const COPY_MAX: usize = 1024;
/// Free objects that one call counts. The verifier follows each of them, and 2,048 are too many for it.
const FREELIST_MAX: usize = 1024;

/// Words of `io`: see the programs.
#[derive(Clone, Copy)]
enum Io {
    First = 0,
    Link = 1,
    Inner = 2,
    Stop = 3,
    Most = 4,
    Read = 5,
    Next = 6,
    Failed = 7,
    Random = 8,
    IsHidden = 9,
}

/// Caches that are read at most.
const CACHES_MAX: usize = 1 << 16;

/// What reads the kernel's memory.
#[derive(Debug)]
pub(crate) struct Memory {
    io: Shared,
    records: Shared,
    /// Of a kernel that has an iterator of caches
    caches: Option<Program>,
    /// The head of the kernel's own list of caches, where there is no iterator and its place is told
    list_head: Option<u64>,
    copy: Program,
    walk: Program,
    freelist: Program,
    place: Program,
    /// Holds the entries whose places tell where CPUs have their variables
    _places: Map,
    calls: Cell<u64>,
}

/// How the structures of a list are linked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Links {
    /// Where in a structure the link is
    pub(crate) link: u64,
    /// Where in the next structure it leads to
    pub(crate) inner: u64,
    /// The link that ends the list, besides 0
    pub(crate) stop: u64,
}

/// A piece of memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece(Vec<u8>);

impl Piece {
    /// Returns the word at an offset; 0 beyond the end.
    pub(crate) fn u64(&self, at: u64) -> u64 {
        let bytes = self.0.get(at as usize..).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
    }

    /// Returns the half word at an offset; 0 beyond the end.
    pub(crate) fn u32(&self, at: u64) -> u32 {
        let bytes = self.0.get(at as usize..).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |bytes| u32::from_ne_bytes(*bytes))
    }

    /// Returns the text that begins here.
    pub(crate) fn text(&self) -> String {
        let text = self.0.split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(text).into_owned()
    }
}

impl Memory {
    /// Loads the programs.
    pub(crate) fn open(btf: &Btf) -> Result<Self, Error> {
        let (io, records) =
            (Shared::new("io", 4096)?, Shared::new("records", RECORDS * RECORD_BYTES)?);
        let places = Map::of_each_cpu("places", 8)?;
        let mut names = Names::default();
        names.value("io", &io);
        names.value("records", &records);
        names.map("places", &places);
        names.number("copy.max", COPY_MAX as i64);
        names.number("record.bytes", RECORD_BYTES as i64);
        names.number("records.bytes", (RECORDS * RECORD_BYTES) as i64);
        names.number("freelist.max", FREELIST_MAX as i64);
        let iterator = btf.function("bpf_iter_kmem_cache").map(|(id, _)| id);
        if iterator.is_some() {
            names.number("iter.meta", btf.offset("bpf_iter__kmem_cache", "meta")?);
            names.number("iter.cache", btf.offset("bpf_iter__kmem_cache", "s")?);
            names.number("iter.seq", btf.offset("bpf_iter_meta", "seq")?);
        }
        let assembly = Assembly::parse(PROGRAMS)?;
        let load = |kind, name: &str, id| -> Result<Program, Error> {
            Ok(Program::load(kind, name, id, &assembly.program(name, &names)?)?)
        };
        Ok(Self {
            list_head: if iterator.is_none() { address_of("slab_caches") } else { None },
            caches: iterator.map(|id| load(Kind::Iterator, "caches", id)).transpose()?,
            copy: load(Kind::Call, "copy", 0)?,
            walk: load(Kind::Call, "walk", 0)?,
            freelist: load(Kind::Call, "freelist", 0)?,
            place: load(Kind::Call, "place", 0)?,
            _places: places,
            io,
            records,
            calls: Cell::new(0),
        })
    }

    /// Returns how often programs were run.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.get()
    }

    /// Returns the addresses of all caches; `list` is where a cache has the link to the next one.
    pub(crate) fn caches(&self, list: u64) -> Result<Vec<u64>, Error> {
        let Some(caches) = &self.caches else { return self.caches_of_list(list) };
        let words = caches.iterate()?;
        let word = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
        Ok(words.chunks_exact(8).map(word).collect())
    }

    /// Follows the kernel's own list of caches, where its place is told.
    fn caches_of_list(&self, list: u64) -> Result<Vec<u64>, Error> {
        let head = self.list_head.ok_or(Error::NoIterator)?;
        let (mut all, mut at) = (Vec::new(), head);
        while all.len() < CACHES_MAX {
            // A cache that is destroyed at this moment leads nowhere.
            let Some(link) = self.copy(at, 8)? else { break };
            at = link.u64(0);
            if at == head {
                break;
            }
            all.push(at.wrapping_sub(list));
        }
        Ok(all)
    }

    /// Reads `bytes` bytes.
    pub(crate) fn copy(&self, address: u64, bytes: usize) -> Result<Option<Piece>, Error> {
        self.set(Io::First, address);
        self.set(Io::Most, bytes as u64);
        let is_read = self.run(&self.copy)?;
        Ok(is_read.then(|| self.piece(0, bytes)))
    }

    /// Reads the structures of a list from `first` on, at most `most`. Returns whether the list has ended in order, too.
    pub(crate) fn walk(
        &self,
        first: u64,
        links: Links,
        most: usize,
    ) -> Result<(Vec<Piece>, bool), Error> {
        let mut all: Vec<Piece> = Vec::new();
        let mut from = first;
        while all.len() < most {
            self.set(Io::First, from);
            self.set(Io::Link, links.link);
            self.set(Io::Inner, links.inner);
            self.set(Io::Stop, links.stop);
            let is_read = self.run(&self.walk)?;
            let count = (self.get(Io::Read) as usize / RECORD_BYTES).min(RECORDS);
            all.extend((0..count).map(|at| self.piece(at * RECORD_BYTES, RECORD_BYTES)));
            let next = self.get(Io::Next);
            if !is_read {
                return Ok((all, false));
            }
            if next == 0 || next == links.stop {
                return Ok((all, true));
            }
            from = next.wrapping_sub(links.inner);
        }
        Ok((all, false))
    }

    /// Counts free objects from `first` on, at most `most`; `None` where the list led nowhere. `link` is where their links
    /// are, and `random` what these are mixed with.
    pub(crate) fn free_objects(
        &self,
        first: u64,
        link: u64,
        random: Option<u64>,
        most: u64,
    ) -> Result<Option<u64>, Error> {
        self.set(Io::Link, link);
        self.set(Io::Random, random.unwrap_or(0));
        self.set(Io::IsHidden, random.is_some().into());
        let (mut from, mut count) = (first, 0);
        while from != 0 && count < most {
            self.set(Io::First, from);
            self.set(Io::Most, most - count);
            if !self.run(&self.freelist)? {
                return Ok(None);
            }
            count += self.get(Io::Read);
            from = self.get(Io::Next);
        }
        Ok(Some(count))
    }

    /// Returns what is added to the address of a variable that each CPU has to find that of this CPU; `None` if there is no
    /// such CPU. `places` is where a map has the address of its entries before this is added.
    pub(crate) fn of_cpu(&self, cpu: u32, places: u64) -> Result<Option<u64>, Error> {
        self.set(Io::First, cpu.into());
        if !self.run(&self.place)? {
            return Ok(None);
        }
        let (map, entry) = (self.get(Io::Read), self.get(Io::Next));
        let begin = self.copy(map + places, 8)?;
        Ok(begin.map(|begin| entry.wrapping_sub(begin.u64(0))))
    }

    fn run(&self, program: &Program) -> Result<bool, Error> {
        self.set(Io::Failed, 0);
        self.calls.set(self.calls.get() + 1);
        program.run()?;
        Ok(self.get(Io::Failed) == 0)
    }

    fn get(&self, word: Io) -> u64 {
        self.io.words()[word as usize].load(Ordering::Relaxed)
    }

    fn set(&self, word: Io, value: u64) {
        self.io.words()[word as usize].store(value, Ordering::Relaxed);
    }

    fn piece(&self, at: usize, bytes: usize) -> Piece {
        let words = &self.records.words()[at / 8..(at + bytes).div_ceil(8)];
        let mut all: Vec<u8> =
            words.iter().flat_map(|word| word.load(Ordering::Relaxed).to_ne_bytes()).collect();
        all.truncate(bytes);
        Piece(all)
    }
}

/// Returns where a variable of the kernel is, if that tells (`CONFIG_KALLSYMS_ALL`).
fn address_of(symbol: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/kallsyms").ok()?;
    let of_line = |line: &str| {
        let mut words = line.split_whitespace();
        let (address, _kind, name) = (words.next()?, words.next()?, words.next()?);
        (name == symbol && words.next().is_none()).then(|| u64::from_str_radix(address, 16).ok())?
    };
    text.lines().find_map(of_line).filter(|address| *address != 0)
}
