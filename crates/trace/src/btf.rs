//! Types of the recorded kernel by its BTF: which structure a call site may allocate.
//!
//! # How it works
//! A recording tells the function and the size. BTF tells what the function returns and takes, and the
//! members of structures. A structure of exactly that size that the function returns is most likely the one. Then
//! comes one that it takes, then one that a member of those points to. Any other of that size comes last, those first
//! whose names share words with the function's.
//!
//! The types are read by [`slablab_bpf::types`].

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;

use object::read::ReadCache;
use object::{Object, ObjectSection};
use slablab_bpf::types::{ALIASES_MAX, Part, Type, Types, kind};

use crate::canonical::AllocatedType;

/// Structures that are looked through for a pointer; damaged types may have any number in each other.
const STRUCTURES_MAX: usize = 512;

/// The kernel's BTF.
#[derive(Debug)]
pub struct Btf(Types);

/// A structure that a call site may allocate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its name, without `struct`
    pub name: String,
    /// How the function is linked with it
    pub link: Link,
}

/// How a function is linked with a structure, the closest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Link {
    /// It returns a pointer to it.
    Returned,
    /// It takes a pointer to it, or a pointer to one.
    Taken,
    /// A structure that it returns or takes has a member that points to it, or that it is: `struct.member`.
    Member(String),
    /// None: it has the size.
    Size,
}

impl Btf {
    /// Returns the types of the kernel `release`: of the first of some vmlinux files that has any, or of the running
    /// kernel if that is it.
    #[must_use]
    pub fn find<'a>(vmlinux: impl IntoIterator<Item = &'a Path>, release: &str) -> Option<Self> {
        vmlinux.into_iter().find_map(Self::of_vmlinux).or_else(|| {
            let is_running = rustix::system::uname().release().to_bytes() == release.as_bytes();
            let bytes = is_running.then(|| fs::read("/sys/kernel/btf/vmlinux").ok())??;
            Self::parse(&bytes)
        })
    }

    fn of_vmlinux(path: &Path) -> Option<Self> {
        let cache = ReadCache::new(File::open(path).ok()?);
        let object = object::File::parse(&cache).ok()?;
        Self::parse(object.section_by_name(".BTF")?.data().ok()?)
    }

    /// Reads BTF; `None` if the bytes are not BTF, or have an unknown kind.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        Types::parse(bytes).map(Self)
    }

    /// Returns whether a structure has `bytes` bytes; `None` if there is none of that name.
    #[must_use]
    pub fn has_size(&self, structure: &str, bytes: u64) -> Option<bool> {
        let named = |one: &&Type| one.kind == kind::STRUCT && self.0.text(one.name) == structure;
        let mut sizes =
            self.0.iter().filter(named).map(|one| u64::from(one.size_or_type)).peekable();
        sizes.peek().is_some().then(|| sizes.any(|size| size == bytes))
    }

    /// Returns the structures of `bytes` bytes that `functions` may allocate, the likeliest first.
    #[must_use]
    pub fn candidates(&self, functions: &[&str], bytes: u64) -> Vec<Candidate> {
        let mut found: Vec<Candidate> = Vec::new();
        let mut add = |id: u32, link: Link| {
            let Some(structure) = self.structure(id) else { return };
            let name = self.0.text(structure.name);
            if u64::from(structure.size_or_type) != bytes || name.is_empty() {
                return;
            }
            match found.iter_mut().find(|known| known.name == name) {
                Some(known) => known.link = known.link.clone().min(link),
                None => found.push(Candidate { name: name.to_owned(), link }),
            }
        };
        for prototype in functions.iter().flat_map(|name| self.prototypes(name)) {
            let arguments = prototype.parts.iter().map(|part| part.type_or_value);
            let mut near = vec![(prototype.size_or_type, Link::Returned)];
            near.extend(arguments.map(|id| (id, Link::Taken)));
            for (id, link) in near {
                let Some(id) = self.pointee(id) else { continue };
                add(id, link);
                let Some(structure) = self.structure(id) else { continue };
                for member in &structure.parts {
                    let (id, name) = (member.type_or_value, self.0.text(member.name));
                    let of = format!("{}.{name}", self.0.text(structure.name));
                    add(self.pointee(id).unwrap_or(id), Link::Member(of));
                }
            }
        }
        let linked = found.len();
        for one in self.0.iter().filter(|one| one.kind == kind::STRUCT) {
            let name = self.0.text(one.name);
            let fits = u64::from(one.size_or_type) == bytes && !name.is_empty();
            if fits && !found.iter().any(|known| known.name == name) {
                found.push(Candidate { name: name.to_owned(), link: Link::Size });
            }
        }
        let words: BTreeSet<&str> = functions.iter().flat_map(|name| words(name)).collect();
        let shared = |one: &Candidate| words_shared(&words, &one.name);
        found[..linked].sort_by_key(|one| (one.link.clone(), std::cmp::Reverse(shared(one))));
        found[linked..].sort_by_key(|one| std::cmp::Reverse(shared(one)));
        found
    }

    /// Returns the structure of `bytes` bytes that these functions most likely allocate: one that they return or take, or that a
    /// member of these leads to. `None` where only the size speaks for one.
    #[must_use]
    pub fn likely(&self, functions: &[&str], bytes: u64) -> Option<AllocatedType> {
        let candidates = self.candidates(functions, bytes);
        let first = candidates.into_iter().next().filter(|one| one.link != Link::Size)?;
        let is_it = |one: &Type| {
            one.kind == kind::STRUCT
                && u64::from(one.size_or_type) == bytes
                && self.0.text(one.name) == first.name
        };
        let id = (1..).zip(&self.0).find_map(|(id, one)| is_it(one).then_some(id))?;
        Some(AllocatedType {
            name: format!("struct {}", first.name),
            canonical: Some(first.name),
            has_pointers: self.has_pointers(id, &mut BTreeSet::new()),
        })
    }

    /// Returns whether a type contains a pointer; `None` where a part of it is only declared.
    fn has_pointers(&self, mut id: u32, seen: &mut BTreeSet<u32>) -> Option<bool> {
        for _ in 0..ALIASES_MAX {
            let one = self.0.get(id)?;
            match one.kind {
                kind::POINTER => return Some(true),
                // It is a number, but meant to be a pointer.
                kind::TYPEDEF if self.0.text(one.name) == "uintptr_t" => return Some(true),
                kind::TYPEDEF..=kind::RESTRICT | kind::TYPE_TAG | kind::ARRAY => {
                    id = one.size_or_type;
                }
                kind::FORWARD => return None,
                kind::STRUCT | kind::UNION if seen.len() > STRUCTURES_MAX => return None,
                kind::STRUCT | kind::UNION if seen.insert(id) => {
                    let of = |part: &Part| self.has_pointers(part.type_or_value, seen);
                    let members: Vec<_> = one.parts.iter().map(of).collect();
                    let is_open = members.contains(&None);
                    return match members.contains(&Some(true)) {
                        true => Some(true),
                        false => (!is_open).then_some(false),
                    };
                }
                _ => return Some(false),
            }
        }
        None
    }

    /// Returns the prototypes of the functions of a name.
    fn prototypes<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Type> {
        // The compiler's clones of a function (f.isra.0, f.constprop.0) are not in BTF.
        let name = name.split('.').next().unwrap_or(name);
        let named = move |one: &&Type| one.kind == kind::FUNCTION && self.0.text(one.name) == name;
        let prototype = |function: &Type| self.0.get(function.size_or_type);
        self.0.iter().filter(named).filter_map(prototype)
    }

    /// Returns the type that a pointer, or a pointer to a pointer, leads to.
    fn pointee(&self, id: u32) -> Option<u32> {
        let (_, pointer) = self.0.resolve(id)?;
        let target = (pointer.kind == kind::POINTER).then_some(pointer.size_or_type)?;
        match self.0.resolve(target)? {
            (_, inner) if inner.kind == kind::POINTER => {
                Some(self.0.resolve(inner.size_or_type)?.0)
            }
            (id, _) => Some(id),
        }
    }

    fn structure(&self, id: u32) -> Option<&Type> {
        let (_, one) = self.0.resolve(id)?;
        (one.kind == kind::STRUCT).then_some(one)
    }
}

/// Returns the words of a C name that may say what it is about.
fn words(name: &str) -> impl Iterator<Item = &str> {
    const OF_EVERY_NAME: [&str; 8] =
        ["alloc", "new", "create", "init", "get", "do", "sys", "struct"];
    name.split(['_', '.']).filter(|word| word.len() > 1 && !OF_EVERY_NAME.contains(word))
}

/// Returns how many letters the words that both have, or that one has as a part, come to.
fn words_shared(of_functions: &BTreeSet<&str>, name: &str) -> usize {
    words(name).filter(|word| of_functions.contains(word)).map(str::len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types one after the other, by hand.
    #[derive(Default)]
    struct Builder {
        types: Vec<u8>,
        strings: Vec<u8>,
        count: u32,
    }

    impl Builder {
        fn name(&mut self, name: &str) -> u32 {
            if self.strings.is_empty() {
                self.strings.push(0);
            }
            let at = self.strings.len() as u32;
            self.strings.extend(name.bytes().chain([0]));
            at
        }

        fn add(&mut self, kind: u8, name: &str, size_or_type: u32, parts: &[(&str, u32)]) -> u32 {
            let name = if name.is_empty() { 0 } else { self.name(name) };
            let parts: Vec<_> = parts.iter().map(|(name, id)| (self.name(name), *id)).collect();
            let info = u32::from(kind) << 24 | parts.len() as u32;
            let mut words = vec![name, info, size_or_type];
            for (name, id) in parts {
                words.extend([name, id]);
                words.extend((kind == kind::STRUCT).then_some(0));
            }
            self.types.extend(words.into_iter().flat_map(u32::to_le_bytes));
            self.count += 1;
            self.count
        }

        fn bytes(&self) -> Vec<u8> {
            let (types, strings) = (self.types.len() as u32, self.strings.len() as u32);
            let header = [0x0001_eb9f, 24, 0, types, types, strings];
            let header = header.into_iter().flat_map(u32::to_le_bytes);
            header.chain(self.types.iter().copied()).chain(self.strings.iter().copied()).collect()
        }
    }

    fn sample() -> Vec<u8> {
        let mut b = Builder::default();
        let pipe_buffer = b.add(kind::STRUCT, "pipe_buffer", 40, &[]);
        let to_buffer = b.add(kind::POINTER, "", pipe_buffer, &[]);
        let pipe = b.add(kind::STRUCT, "pipe_inode_info", 160, &[("bufs", to_buffer)]);
        let to_pipe = b.add(kind::POINTER, "", pipe, &[]);
        b.add(kind::STRUCT, "unrelated", 160, &[]);
        b.add(kind::STRUCT, "pipe_like", 160, &[]);
        let prototype = b.add(kind::PROTOTYPE, "", to_pipe, &[]);
        b.add(kind::FUNCTION, "alloc_pipe_info", prototype, &[]);
        b.bytes()
    }

    #[test]
    fn what_a_function_returns_stands_first_then_members_then_names_alike() {
        let btf = Btf::parse(&sample()).unwrap();
        let names = |bytes| -> Vec<_> {
            let found = btf.candidates(&["alloc_pipe_info.constprop.0"], bytes);
            found.into_iter().map(|one| (one.name, one.link)).collect()
        };
        assert_eq!(
            names(160),
            [
                ("pipe_inode_info".to_owned(), Link::Returned),
                ("pipe_like".to_owned(), Link::Size),
                ("unrelated".to_owned(), Link::Size),
            ]
        );
        let member = Link::Member("pipe_inode_info.bufs".to_owned());
        assert_eq!(names(40), [("pipe_buffer".to_owned(), member)]);
        assert_eq!(names(41), []);
        let likely = |functions, bytes| btf.likely(functions, bytes).map(|one| one.has_pointers);
        assert_eq!(likely(&["alloc_pipe_info"], 160), Some(Some(true)));
        assert_eq!(likely(&["alloc_pipe_info"], 40), Some(Some(false)));
        assert_eq!(likely(&["unrelated"], 160), None);
    }

    #[test]
    fn cut_and_damaged_bytes_are_read_without_a_panic() {
        let good = sample();
        for end in 0..good.len() {
            _ = Btf::parse(&good[..end]);
        }
        for at in 0..good.len() {
            for value in [0, 0x7f, 0xff] {
                let mut bad = good.clone();
                bad[at] = value;
                if let Some(btf) = Btf::parse(&bad) {
                    _ = btf.candidates(&["alloc_pipe_info"], 160);
                }
            }
        }
    }

    #[test]
    fn the_running_kernel_knows_its_own_types() {
        let Ok(bytes) = fs::read("/sys/kernel/btf/vmlinux") else { return };
        let btf = Btf::parse(&bytes).expect("the kernel's BTF");
        let files = btf.prototypes("dup_fd").next().expect("dup_fd is in every kernel");
        let returned = btf.structure(btf.pointee(files.size_or_type).unwrap()).unwrap();
        assert_eq!(btf.0.text(returned.name), "files_struct");
        let bytes = u64::from(returned.size_or_type);
        let found = btf.candidates(&["dup_fd"], bytes);
        assert_eq!(found[0], Candidate { name: "files_struct".into(), link: Link::Returned });
        let likely = btf.likely(&["dup_fd"], bytes).unwrap();
        assert_eq!(
            (likely.name.as_str(), likely.has_pointers),
            ("struct files_struct", Some(true))
        );
        assert_eq!(btf.likely(&["no_such_function"], bytes), None);
    }
}
