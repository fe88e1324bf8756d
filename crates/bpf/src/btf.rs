//! The kernel's types: where fields are, and which arguments a tracepoint has.
//!
//! # How it works
//! A tracepoint `x` has a type `btf_trace_x`, a pointer to a function of its arguments behind one of the kernel's own. Names
//! of arguments are not there, but their types are, and those tell which is which.

use std::collections::HashMap;
use std::fs;

use crate::error::Error;
use crate::types::{ALIASES_MAX, Types, kind};

const PATH: &str = "/sys/kernel/btf/vmlinux";

/// The types of a kernel, found by name.
#[derive(Debug)]
pub struct Btf {
    types: Types,
    /// Ids of what has a name
    named: HashMap<(u8, u32), Vec<u32>>,
}

/// The arguments of a tracepoint, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracepointArguments {
    /// The type that a program for it is loaded with
    pub type_id: u32,
    /// What each is called in C, without `const`: `long unsigned int`, `size_t`, `struct kmem_cache *`
    pub types: Vec<String>,
}

impl Btf {
    /// Reads the types of the running kernel.
    ///
    /// # Errors
    /// When the kernel offers none, or they make no sense.
    pub fn running() -> Result<Self, Error> {
        let wrong = |what: String| Error::Types { path: PATH.to_owned(), what };
        let bytes = fs::read(PATH).map_err(|error| wrong(error.to_string()))?;
        Self::parse(&bytes).ok_or_else(|| wrong("they are of a form that is not known".to_owned()))
    }

    /// Reads types; `None` if the bytes are none, or of a kind that is not known.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let types = Types::parse(bytes)?;
        let mut named: HashMap<_, Vec<u32>> = HashMap::new();
        for (id, one) in (1..).zip(&types) {
            if one.name != 0 {
                named.entry((one.kind, hash(types.text(one.name)))).or_default().push(id);
            }
        }
        Some(Self { types, named })
    }

    /// Returns where a field is, in bytes from the start of its structure: `kernfs_node`, `id`. Fields of a nameless
    /// structure or union in it count as its own.
    ///
    /// # Errors
    /// When this kernel has no such field.
    pub fn offset(&self, structure: &str, field: &str) -> Result<i64, Error> {
        let missing = || Error::Missing(format!("struct {structure} with a field {field}"));
        let of = self.named(kind::STRUCT, structure);
        let bits = of.into_iter().find_map(|id| self.bits_of(id, field, ALIASES_MAX));
        bits.map(|bits| i64::from(bits / 8)).ok_or_else(missing)
    }

    /// Returns the id of a structure.
    ///
    /// # Errors
    /// When this kernel has no such structure.
    pub fn structure(&self, name: &str) -> Result<u32, Error> {
        let ids = self.named(kind::STRUCT, name);
        ids.first().copied().ok_or_else(|| Error::Missing(format!("struct {name}")))
    }

    /// Returns a value of an enumeration, whatever that is called.
    ///
    /// # Errors
    /// When this kernel has no such value.
    pub fn enumerator(&self, name: &str) -> Result<i64, Error> {
        let all = self.types.iter().filter(|one| one.kind == kind::ENUM);
        let value = all.flat_map(|one| &one.parts).find(|part| self.types.text(part.name) == name);
        let value = value.map(|part| i64::from(part.type_or_value.cast_signed()));
        value.ok_or_else(|| Error::Missing(format!("enumerator {name}")))
    }

    /// Returns the id of a function, and how many arguments it has.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<(u32, usize)> {
        let id = *self.named(kind::FUNCTION, name).first()?;
        let prototype = self.types.get(self.types.get(id)?.size_or_type)?;
        Some((id, prototype.parts.len()))
    }

    /// Returns the arguments of a tracepoint.
    ///
    /// # Errors
    /// When this kernel has no such tracepoint.
    pub fn tracepoint(&self, name: &str) -> Result<TracepointArguments, Error> {
        let missing = || Error::Missing(format!("tracepoint {name}"));
        let ids = self.named(kind::TYPEDEF, &format!("btf_trace_{name}"));
        let type_id = *ids.first().ok_or_else(missing)?;
        let pointer = self.types.resolve(type_id).filter(|(_, one)| one.kind == kind::POINTER);
        let (_, function) = pointer
            .and_then(|(_, pointer)| self.types.resolve(pointer.size_or_type))
            .ok_or_else(missing)?;
        // The first argument is the tracepoint's own, which programs do not get.
        let arguments = function.parts.iter().skip(1);
        let types = arguments.map(|part| self.in_c(part.type_or_value, ALIASES_MAX)).collect();
        Ok(TracepointArguments { type_id, types })
    }

    fn bits_of(&self, structure: u32, field: &str, depth: usize) -> Option<u32> {
        let (_, one) = self.types.resolve(structure)?;
        if depth == 0 || !matches!(one.kind, kind::STRUCT | kind::UNION) {
            return None;
        }
        one.parts.iter().find_map(|part| {
            let bits = if one.has_bit_fields { part.offset & 0xff_ffff } else { part.offset };
            match self.types.text(part.name) {
                "" => Some(bits + self.bits_of(part.type_or_value, field, depth - 1)?),
                name => (name == field).then_some(bits),
            }
        })
    }

    /// Returns the ids of one kind that have a name.
    fn named(&self, kind: u8, name: &str) -> Vec<u32> {
        let ids = self.named.get(&(kind, hash(name))).map_or(&[][..], Vec::as_slice);
        let is_it =
            |id: &u32| self.types.get(*id).is_some_and(|one| self.types.text(one.name) == name);
        ids.iter().copied().filter(is_it).collect()
    }

    /// Returns a type as C calls it, without what only qualifies it.
    fn in_c(&self, id: u32, depth: usize) -> String {
        let Some(one) = self.types.get(id) else { return "void".to_owned() };
        let name = self.types.text(one.name);
        match one.kind {
            _ if depth == 0 => "?".to_owned(),
            kind::POINTER => match self.in_c(one.size_or_type, depth - 1) {
                to if to.ends_with('*') => to + "*",
                to => to + " *",
            },
            kind::STRUCT => format!("struct {name}"),
            kind::UNION => format!("union {name}"),
            kind::TYPEDEF | kind::INT => name.to_owned(),
            kind::TYPEDEF..=kind::RESTRICT | kind::TYPE_TAG => {
                self.in_c(one.size_or_type, depth - 1)
            }
            _ => name.to_owned(),
        }
    }
}

/// Returns a number by which a name is found quickly.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types one after the other, by hand.
    fn sample() -> Vec<u8> {
        let strings = b"\0task\0comm\0pid\0btf_trace_x\0size_t\0";
        let at = |name: &str| {
            let text = strings.windows(name.len()).position(|part| part == name.as_bytes());
            text.unwrap() as u32
        };
        let head = |name: u32, kind: u8, count: u32, size_or_type: u32| {
            [name, u32::from(kind) << 24 | count, size_or_type]
        };
        let mut words = Vec::new();
        // 1: int size_t; 2: a nameless union with pid; 3: struct task with comm, and the union at byte 8
        words.extend(head(at("size_t"), kind::INT, 0, 8));
        words.push(0);
        words.extend(head(0, kind::UNION, 1, 8));
        words.extend([at("pid"), 1, 0]);
        words.extend(head(at("task"), kind::STRUCT, 2, 16));
        words.extend([at("comm"), 1, 0, 0, 2, 64]);
        // 4: struct task *; 5: void (*)(void *, size_t, struct task *), 6 points to it, 7 is the tracepoint's name
        words.extend(head(0, kind::POINTER, 0, 3));
        words.extend(head(0, kind::PROTOTYPE, 3, 0));
        words.extend([0, 4, 0, 1, 0, 4]);
        words.extend(head(0, kind::POINTER, 0, 5));
        words.extend(head(at("btf_trace_x"), kind::TYPEDEF, 0, 6));
        let types = words.len() as u32 * 4;
        let header = [0x0001_eb9f, 24, 0, types, types, strings.len() as u32];
        let bytes = header.into_iter().chain(words).flat_map(u32::to_le_bytes);
        bytes.chain(strings.iter().copied()).collect()
    }

    #[test]
    fn fields_and_arguments_are_found() {
        let btf = Btf::parse(&sample()).unwrap();
        assert_eq!(btf.offset("task", "comm").unwrap(), 0);
        assert_eq!(btf.offset("task", "pid").unwrap(), 8);
        btf.offset("task", "tgid").unwrap_err();
        assert_eq!(btf.structure("task").unwrap(), 3);
        btf.structure("thread").unwrap_err();
        let types = ["size_t", "struct task *"].map(str::to_owned).to_vec();
        assert_eq!(btf.tracepoint("x").unwrap(), TracepointArguments { type_id: 7, types });
        btf.tracepoint("y").unwrap_err();
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
                    _ = (btf.offset("task", "pid"), btf.tracepoint("x"), btf.enumerator("x"));
                }
            }
        }
    }

    #[test]
    fn the_running_kernel_knows_its_tracepoints() {
        let Ok(btf) = Btf::running() else { return println!("SKIPPED: no BTF") };
        let types = btf.tracepoint("kmalloc").unwrap().types;
        assert_eq!(types[0], "long unsigned int");
        assert!(types.contains(&"gfp_t".to_owned()), "{types:?}");
        assert!(btf.offset("task_struct", "comm").unwrap() > 0);
    }
}
