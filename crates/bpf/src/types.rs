//! The types of a kernel, as BTF has them: what each is made of.
//!
//! # How it works
//! The types are read once, as a list; the id of a type is its place in it. What a reader looks for in them is its own.
//!
//! # Invariants
//! Any bytes make sense: an offset beyond the sections or an unknown kind ends the reading with `None`.
//!
//! Linux counterpart: `include/uapi/linux/btf.h` and `Documentation/bpf/btf.rst` @ 6.18. Modules' own BTF is not read, nor
//! that of a machine of the other byte order.

const MAGIC: u16 = 0xeb9f;
/// Longest chain of names for one type that is followed.
pub const ALIASES_MAX: usize = 32;

/// Numbers of kinds (`BTF_KIND_*`).
pub mod kind {
    /// A number
    pub const INT: u8 = 1;
    /// A pointer
    pub const POINTER: u8 = 2;
    /// An array
    pub const ARRAY: u8 = 3;
    /// A structure
    pub const STRUCT: u8 = 4;
    /// A union
    pub const UNION: u8 = 5;
    /// An enumeration
    pub const ENUM: u8 = 6;
    /// A structure or union that is only declared
    pub const FORWARD: u8 = 7;
    /// Another name of a type; `volatile`, `const` and `restrict` follow
    pub const TYPEDEF: u8 = 8;
    /// `restrict`
    pub const RESTRICT: u8 = 11;
    /// A function, with its prototype
    pub const FUNCTION: u8 = 12;
    /// What a function returns and takes
    pub const PROTOTYPE: u8 = 13;
    /// A variable
    pub const VARIABLE: u8 = 14;
    /// A section of variables
    pub const SECTION: u8 = 15;
    /// A tag of a declaration
    pub const DECLARATION_TAG: u8 = 17;
    /// A tag of a type
    pub const TYPE_TAG: u8 = 18;
    /// An enumeration of 64-bit values
    pub const ENUM64: u8 = 19;
}

/// All types of a kernel.
pub struct Types {
    strings: Vec<u8>,
    /// By id, less 1
    types: Vec<Type>,
}

/// One type.
#[derive(Debug)]
pub struct Type {
    /// Offset of its name in the strings; 0 of a type without a name
    pub name: u32,
    /// Its number in [`kind`]
    pub kind: u8,
    /// Whether the offsets of members are in bits, with the width above them
    pub has_bit_fields: bool,
    /// Bytes of a structure; the id of the type that others refer to, and of an array's elements
    pub size_or_type: u32,
    /// What a structure, a union, a prototype or an enumeration is made of
    pub parts: Vec<Part>,
}

/// A member, an argument, or a value of an enumeration.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// Offset of its name in the strings
    pub name: u32,
    /// The type; of an enumeration the value
    pub type_or_value: u32,
    /// Bits from the start of the structure
    pub offset: u32,
}

impl std::fmt::Debug for Types {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Types").field("types", &self.types.len()).finish_non_exhaustive()
    }
}

impl Types {
    /// Reads BTF; `None` if the bytes are not BTF, or have an unknown kind.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let header = Words(bytes);
        if header.u32(0)? as u16 != MAGIC {
            return None;
        }
        let header_bytes = header.u32(4)? as usize;
        let section = |at: usize| {
            let (offset, length) = (header.u32(at)? as usize, header.u32(at + 4)? as usize);
            let start = header_bytes.checked_add(offset)?;
            bytes.get(start..start.checked_add(length)?)
        };
        let (section_of_types, strings) = (section(8)?, section(16)?.to_vec());
        let (mut types, mut at) = (Vec::new(), 0);
        while at < section_of_types.len() {
            let (one, bytes) = Type::parse(section_of_types.get(at..)?)?;
            types.push(one);
            at += bytes;
        }
        Some(Self { strings, types })
    }

    /// Returns the types in the order of their ids, which begin with 1.
    pub fn iter(&self) -> std::slice::Iter<'_, Type> {
        self.types.iter()
    }

    /// Returns a type by its id; `None` of `void`, and where there is none.
    #[must_use]
    pub fn get(&self, id: u32) -> Option<&Type> {
        self.types.get((id as usize).checked_sub(1)?)
    }

    /// Returns the name at an offset of the strings, "" where there is none.
    #[must_use]
    pub fn text(&self, offset: u32) -> &str {
        let rest = self.strings.get(offset as usize..).unwrap_or_default();
        let name = rest.split(|byte| *byte == 0).next().unwrap_or_default();
        std::str::from_utf8(name).unwrap_or_default()
    }

    /// Follows `typedef`, `const` and the like to the type itself.
    #[must_use]
    pub fn resolve(&self, mut id: u32) -> Option<(u32, &Type)> {
        for _ in 0..ALIASES_MAX {
            let one = self.get(id)?;
            if !matches!(one.kind, kind::TYPEDEF..=kind::RESTRICT | kind::TYPE_TAG) {
                return Some((id, one));
            }
            id = one.size_or_type;
        }
        None
    }
}

impl<'a> IntoIterator for &'a Types {
    type Item = &'a Type;
    type IntoIter = std::slice::Iter<'a, Type>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Type {
    /// Reads a type; returns the bytes that it takes, too.
    fn parse(bytes: &[u8]) -> Option<(Self, usize)> {
        const HEADER_BYTES: usize = 12;
        let words = Words(bytes);
        let (name, info, size_or_type) = (words.u32(0)?, words.u32(4)?, words.u32(8)?);
        let (count, kind) = ((info & 0xffff) as usize, (info >> 24 & 0x1f) as u8);
        let (fixed, each) = match kind {
            kind::INT | kind::VARIABLE | kind::DECLARATION_TAG => (4, 0),
            kind::ARRAY => (12, 0),
            kind::STRUCT | kind::UNION | kind::SECTION | kind::ENUM64 => (0, 12),
            kind::ENUM | kind::PROTOTYPE => (0, 8),
            0 | 20.. => return None,
            _ => (0, 0),
        };
        let end = HEADER_BYTES + fixed + each * count;
        if end > bytes.len() {
            return None;
        }
        let part = |i: usize| {
            let at = HEADER_BYTES + i * each;
            let offset = if each == 12 { words.u32(at + 8)? } else { 0 };
            Some(Part { name: words.u32(at)?, type_or_value: words.u32(at + 4)?, offset })
        };
        let size_or_type = if kind == kind::ARRAY { words.u32(12)? } else { size_or_type };
        let has_parts = matches!(kind, kind::STRUCT | kind::UNION | kind::PROTOTYPE | kind::ENUM);
        let parts = (0..if has_parts { count } else { 0 }).map(part).collect::<Option<_>>()?;
        Some((Self { name, kind, has_bit_fields: info >> 31 != 0, size_or_type, parts }, end))
    }
}

/// Numbers in little-endian bytes.
struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn u32(&self, at: usize) -> Option<u32> {
        let bytes = self.0.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }
}
