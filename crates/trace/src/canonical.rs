//! Types as Clang prints them, and whether they contain pointers: what allocation tokens are made of.
//!
//! # How it works
//! A type's name is followed through `typedef` to what it is, and printed without `struct`, `union` and `enum`, with
//! qualifiers: `file`, `unsigned long`, `const char *`. A structure without a name has that of its `typedef`. Members are
//! looked through, and members of members, until one is a pointer.
//!
//! # Invariants
//! A type that Clang could print in another way (a pointer to a function or an array, a structure without any name) has no
//! name here. A structure that the file only declares leaves it open whether there is a pointer, as it does for Clang.
//!
//! Linux counterpart: Clang 22, `clang/lib/AST/InferAlloc.cpp`; `slablab_linux::alloc_token` makes the token.

use std::collections::HashSet;

use addr2line::gimli;
use gimli::{AttributeValue, Dwarf, EndianSlice, RunTimeEndian, Unit, UnitOffset};

type Bytes<'data> = EndianSlice<'data, RunTimeEndian>;
type Entry<'a, 'b, 'data> = gimli::DebuggingInformationEntry<'a, 'b, Bytes<'data>>;

/// Longest chain of names and pointers that is followed.
const DEEP_MAX: usize = 32;

/// Structures that are looked through for a pointer; a file that is not a compiler's may have any number in each other.
const STRUCTURES_MAX: usize = 512;

/// What a call site allocates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllocatedType {
    /// Its name in C: `struct file`, `char`, `struct page *`
    pub name: String,
    /// What Clang calls it, if that is known
    pub canonical: Option<String>,
    /// Whether it contains a pointer; `None` where a part of it is only declared
    pub has_pointers: Option<bool>,
}

/// Looks at the types of one unit of debug information.
pub(crate) struct Canonical<'a, 'data> {
    pub(crate) dwarf: &'a Dwarf<Bytes<'data>>,
    pub(crate) unit: &'a Unit<Bytes<'data>>,
}

impl<'data> Canonical<'_, 'data> {
    /// Returns what Clang calls a type; `None` of `void`, and where that is not known.
    pub(crate) fn name(&self, at: UnitOffset) -> Option<String> {
        self.printed(at, DEEP_MAX)
    }

    /// Returns whether a type contains a pointer; `None` where it is not known.
    pub(crate) fn has_pointers(&self, at: UnitOffset) -> Option<bool> {
        let mut seen = Seen::default();
        match self.find_pointer(at, &mut seen) {
            true => Some(true),
            false => (!seen.is_open).then_some(false),
        }
    }

    fn printed(&self, mut at: UnitOffset, deep: usize) -> Option<String> {
        let (mut qualifiers, mut alias) = (Qualifiers::default(), None);
        for _ in 0..deep {
            let entry = self.unit.entry(at).ok()?;
            match entry.tag() {
                gimli::DW_TAG_typedef => alias = self.own_name(&entry),
                gimli::DW_TAG_const_type => qualifiers.is_const = true,
                gimli::DW_TAG_volatile_type => qualifiers.is_volatile = true,
                gimli::DW_TAG_restrict_type => return None,
                gimli::DW_TAG_pointer_type => {
                    let to = match self.type_of(&entry) {
                        Some(to) => self.pointee(to, deep.checked_sub(1)?)?,
                        None => "void".to_owned(),
                    };
                    let star = if to.ends_with('*') { "*" } else { " *" };
                    return Some(format!("{to}{star}{}", qualifiers.behind()));
                }
                gimli::DW_TAG_base_type => {
                    let name = self.own_name(&entry)?;
                    let name = slablab_linux::clang_number(&name);
                    return Some(format!("{}{name}", qualifiers.before()));
                }
                gimli::DW_TAG_structure_type
                | gimli::DW_TAG_union_type
                | gimli::DW_TAG_enumeration_type => {
                    let name = self.own_name(&entry).or(alias)?;
                    return Some(format!("{}{name}", qualifiers.before()));
                }
                _ => return None,
            }
            at = self.type_of(&entry)?;
        }
        None
    }

    /// Returns the name of what a pointer leads to, which may be `const void`.
    fn pointee(&self, at: UnitOffset, deep: usize) -> Option<String> {
        let entry = self.unit.entry(at).ok()?;
        let is_void = entry.tag() == gimli::DW_TAG_const_type && self.type_of(&entry).is_none();
        if is_void { Some("const void".to_owned()) } else { self.printed(at, deep) }
    }

    fn find_pointer(&self, mut at: UnitOffset, seen: &mut Seen) -> bool {
        for _ in 0..DEEP_MAX {
            let Ok(entry) = self.unit.entry(at) else { return seen.is_not_known() };
            match entry.tag() {
                gimli::DW_TAG_pointer_type => return true,
                // It is a number, but meant to be a pointer.
                gimli::DW_TAG_typedef if self.own_name(&entry).as_deref() == Some("uintptr_t") => {
                    return true;
                }
                gimli::DW_TAG_structure_type | gimli::DW_TAG_union_type => {
                    return self.find_in_members(&entry, seen);
                }
                gimli::DW_TAG_base_type | gimli::DW_TAG_enumeration_type => return false,
                _ => match self.type_of(&entry) {
                    Some(of) => at = of,
                    None => return seen.is_not_known(),
                },
            }
        }
        seen.is_not_known()
    }

    fn find_in_members(&self, structure: &Entry<'_, '_, 'data>, seen: &mut Seen) -> bool {
        if structure.attr(gimli::DW_AT_declaration).ok().flatten().is_some() {
            return seen.is_not_known();
        }
        if !seen.structures.insert(structure.offset()) {
            return false;
        }
        if seen.structures.len() > STRUCTURES_MAX {
            return seen.is_not_known();
        }
        let Ok(mut tree) = self.unit.entries_tree(Some(structure.offset())) else {
            return seen.is_not_known();
        };
        let Ok(root) = tree.root() else { return seen.is_not_known() };
        let mut members = root.children();
        while let Ok(Some(member)) = members.next() {
            let entry = member.entry();
            let of = (entry.tag() == gimli::DW_TAG_member).then(|| self.type_of(entry)).flatten();
            if of.is_some_and(|of| self.find_pointer(of, seen)) {
                return true;
            }
        }
        false
    }

    fn type_of(&self, entry: &Entry<'_, '_, 'data>) -> Option<UnitOffset> {
        match entry.attr_value(gimli::DW_AT_type).ok()?? {
            AttributeValue::UnitRef(at) => Some(at),
            _ => None,
        }
    }

    fn own_name(&self, entry: &Entry<'_, '_, 'data>) -> Option<String> {
        let name = entry.attr_value(gimli::DW_AT_name).ok()??;
        let name = self.dwarf.attr_string(self.unit, name).ok()?;
        Some(String::from_utf8_lossy(&name).into_owned())
    }
}

/// What was looked through in search of a pointer.
#[derive(Default)]
struct Seen {
    structures: HashSet<UnitOffset>,
    /// Whether a part is only declared
    is_open: bool,
}

impl Seen {
    fn is_not_known(&mut self) -> bool {
        self.is_open = true;
        false
    }
}

/// What qualifies a type.
#[derive(Default)]
struct Qualifiers {
    is_const: bool,
    is_volatile: bool,
}

impl Qualifiers {
    fn before(&self) -> &'static str {
        match (self.is_const, self.is_volatile) {
            (false, false) => "",
            (true, false) => "const ",
            (false, true) => "volatile ",
            (true, true) => "const volatile ",
        }
    }

    fn behind(&self) -> &'static str {
        self.before().trim_end()
    }
}
