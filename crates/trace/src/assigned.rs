//! The type that a call site allocates, from the recorded kernel's debug information: the type of the variable, or
//! of the member, to which the result is assigned.
//!
//! # How it works
//! A call leaves its result in a register. The debug information of optimised code lists the place of each
//! variable for ranges of addresses: a variable of a pointer type that begins to lie in that register where the call
//! returns has been assigned the result. The first instruction behind the call may move the register to another, or to
//! memory beside a pointer that a variable holds. Then the variable is looked for there, or the member of the structure
//! that the pointer leads to.
//!
//! # Invariants
//! A result that is not understood (another machine, an instruction of another form, `void *`) has no type;
//! nothing is guessed from sizes or names.
//!
//! Linux counterpart: `CONFIG_DEBUG_INFO_DWARF5`. `CONFIG_DEBUG_INFO_REDUCED` leaves out both variables' places and types.

use std::fs::File;
use std::path::Path;

use addr2line::{Context, gimli};
use gimli::{
    AttributeValue, Dwarf, DwarfSections, EndianSlice, Operation, RunTimeEndian, Unit, UnitOffset,
};
use object::read::ReadCache;
use object::{Object, ObjectSection};

use crate::canonical::{AllocatedType, Canonical};

type Bytes<'data> = EndianSlice<'data, RunTimeEndian>;
type Entry<'a, 'b, 'data> = gimli::DebuggingInformationEntry<'a, 'b, Bytes<'data>>;

/// Longest chain of names for one type that is followed.
const ALIASES_MAX: usize = 32;

/// The register that a call on x86-64 leaves its result in, by DWARF's number.
const RESULT: u16 = 0;

/// DWARF's numbers of the first eight registers, in the order of instructions' bits.
const REGISTERS: [u16; 8] = [0, 2, 1, 3, 7, 6, 4, 5];

/// The sections of debug information in a file.
pub(crate) struct Sections {
    sections: DwarfSections<Vec<u8>>,
    endian: RunTimeEndian,
}

impl Sections {
    /// Reads the kernel in `path`; `None` when its debug information does not tell the places of
    /// variables.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        let cache = ReadCache::new(File::open(path).ok()?);
        let object = object::File::parse(&cache).ok()?;
        let endian =
            if object.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let data = |name: &str| object.section_by_name(name).and_then(|s| s.data().ok());
        // The first is that of DWARF 5, the other that of earlier versions.
        let lists = [".debug_loclists", ".debug_loc"];
        if lists.iter().all(|name| data(name).unwrap_or_default().is_empty()) {
            return None;
        }
        let load = |id: gimli::SectionId| -> Result<_, gimli::Error> {
            Ok(data(id.name()).unwrap_or_default().to_vec())
        };
        Some(Self { sections: DwarfSections::load(load).ok()?, endian })
    }
}

/// The debug information of variables.
pub(crate) struct Assigned<'data> {
    context: Context<Bytes<'data>>,
}

impl<'data> Assigned<'data> {
    /// Begins to look at the sections; `None` when they make no sense.
    pub(crate) fn new(sections: &'data Sections) -> Option<Self> {
        let dwarf = sections.sections.borrow(|data| EndianSlice::new(data, sections.endian));
        Some(Self { context: Context::from_dwarf(dwarf).ok()? })
    }

    /// Returns the type that the result of the call before `address` is assigned to; `code` is what follows the call.
    pub(crate) fn type_at(&self, address: u64, code: &[u8]) -> Option<AllocatedType> {
        let found = self.context.find_dwarf_and_unit(address - 1).skip_all_loads()?;
        let function = Function { dwarf: found.dwarf, unit: found.unit, address };
        let variables = function.variables().unwrap_or_default();
        let of = |register: u16, at: u64| {
            // The innermost scope is the last; a variable that it only passes on as void * tells
            // nothing.
            let here = variables.iter().rev().filter(move |v| v.lies_in(register, at));
            here.map(|variable| variable.type_at)
        };
        let named = |at| function.allocated(at);
        if let Some(name) = of(RESULT, address).find_map(named) {
            return Some(name);
        }
        match Moved::by(code)? {
            Moved::ToRegister { register, bytes } => of(register, address + bytes).find_map(named),
            Moved::ToMember { register, offset } => of(register, address)
                .find_map(|at| named(function.member(function.pointee(at)?, offset)?)),
        }
    }
}

/// What the first instruction behind a call does with the result.
#[derive(Debug, PartialEq, Eq)]
enum Moved {
    ToRegister { register: u16, bytes: u64 },
    ToMember { register: u16, offset: u64 },
}

impl Moved {
    /// Reads `mov %rax,REGISTER` and `mov %rax,OFFSET(REGISTER)`: opcode 89 with a prefix of 64 bits.
    fn by(code: &[u8]) -> Option<Self> {
        let (&[prefix, 0x89, modrm], rest) = code.split_first_chunk::<3>()? else { return None };
        // Source 0 is the register that has the result.
        if !matches!(prefix, 0x48 | 0x49) || modrm & 0x38 != 0 {
            return None;
        }
        let low = usize::from(modrm & 7);
        let register = if prefix == 0x49 { 8 + low as u16 } else { REGISTERS[low] };
        let offset = match modrm >> 6 {
            3 => return Some(Self::ToRegister { register, bytes: 3 }),
            // These forms have a further byte, or no register.
            _ if low == 4 || (modrm >> 6 == 0 && low == 5) => return None,
            0 => 0,
            1 => i64::from(*rest.first()? as i8),
            _ => i64::from(i32::from_le_bytes(*rest.first_chunk()?)),
        };
        Some(Self::ToMember { register, offset: u64::try_from(offset).ok()? })
    }
}

/// A variable with a place that changes from instruction to instruction.
struct Variable {
    type_at: UnitOffset,
    /// First address, the one behind the last, register
    places: Vec<(u64, u64, u16)>,
}

impl Variable {
    fn lies_in(&self, register: u16, address: u64) -> bool {
        self.places
            .iter()
            .any(|&(begin, end, own)| own == register && begin <= address && address < end)
    }
}

/// The function, and the functions inlined into it, that a call stands in.
struct Function<'a, 'data> {
    dwarf: &'a Dwarf<Bytes<'data>>,
    unit: &'a Unit<Bytes<'data>>,
    address: u64,
}

impl<'data> Function<'_, 'data> {
    /// Returns the variables of all scopes around the call, the outermost first.
    fn variables(&self) -> gimli::Result<Vec<Variable>> {
        let mut tree = self.unit.entries_tree(None)?;
        let mut found = Vec::new();
        self.add_of(tree.root()?, &mut found)?;
        Ok(found)
    }

    fn add_of(
        &self,
        node: gimli::EntriesTreeNode<'_, '_, '_, Bytes<'data>>,
        found: &mut Vec<Variable>,
    ) -> gimli::Result<()> {
        let mut children = node.children();
        while let Some(child) = children.next()? {
            match child.entry().tag() {
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                    found.extend(self.variable(child.entry()));
                }
                gimli::DW_TAG_subprogram
                | gimli::DW_TAG_inlined_subroutine
                | gimli::DW_TAG_lexical_block
                    if self.is_around(child.entry())? =>
                {
                    self.add_of(child, found)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns whether the call stands in this scope.
    fn is_around(&self, scope: &Entry<'_, '_, 'data>) -> gimli::Result<bool> {
        let mut ranges = self.dwarf.die_ranges(self.unit, scope)?;
        while let Some(range) = ranges.next()? {
            if range.begin < self.address && self.address <= range.end {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn variable(&self, entry: &Entry<'_, '_, 'data>) -> Option<Variable> {
        let place = entry.attr_value(gimli::DW_AT_location).ok()??;
        let mut list = self.dwarf.attr_locations(self.unit, place).ok()??;
        let mut places = Vec::new();
        while let Ok(Some(place)) = list.next() {
            let mut operations = place.data.operations(self.unit.encoding());
            if let Ok(Some(Operation::Register { register })) = operations.next() {
                places.push((place.range.begin, place.range.end, register.0));
            }
        }
        let type_at = self.type_of(entry)?;
        (!places.is_empty()).then_some(Variable { type_at, places })
    }

    /// Returns the type of an entry; that of an inlined function's variable stands at its origin.
    fn type_of(&self, entry: &Entry<'_, '_, 'data>) -> Option<UnitOffset> {
        if let Some(AttributeValue::UnitRef(at)) = entry.attr_value(gimli::DW_AT_type).ok()? {
            return Some(at);
        }
        match entry.attr_value(gimli::DW_AT_abstract_origin).ok()?? {
            AttributeValue::UnitRef(origin) => {
                let origin = self.unit.entry(origin).ok()?;
                match origin.attr_value(gimli::DW_AT_type).ok()?? {
                    AttributeValue::UnitRef(at) => Some(at),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Follows names and qualifiers of a type to what it is.
    fn bare(&self, mut at: UnitOffset) -> Option<UnitOffset> {
        for _ in 0..ALIASES_MAX {
            let entry = self.unit.entry(at).ok()?;
            match entry.tag() {
                gimli::DW_TAG_typedef
                | gimli::DW_TAG_const_type
                | gimli::DW_TAG_volatile_type
                | gimli::DW_TAG_restrict_type => at = self.type_of(&entry)?,
                _ => return Some(at),
            }
        }
        None
    }

    /// Returns what a type of pointers points to, as tokens are made of it, too.
    fn allocated(&self, at: UnitOffset) -> Option<AllocatedType> {
        let name = self.name(self.pointee(at)?);
        let target = self.type_of(&self.unit.entry(self.bare(at)?).ok()?)?;
        let types = Canonical { dwarf: self.dwarf, unit: self.unit };
        let canonical = types.name(target);
        // A structure without a name may have one by `typedef`.
        let name = name.or_else(|| canonical.clone())?;
        Some(AllocatedType { name, canonical, has_pointers: types.has_pointers(target) })
    }

    /// Returns what a type of pointers points to.
    fn pointee(&self, at: UnitOffset) -> Option<UnitOffset> {
        let entry = self.unit.entry(self.bare(at)?).ok()?;
        let is_pointer = entry.tag() == gimli::DW_TAG_pointer_type;
        is_pointer.then(|| self.bare(self.type_of(&entry)?))?
    }

    /// Returns the type of the member of a structure that lies `offset` bytes behind its begin.
    fn member(&self, structure: UnitOffset, offset: u64) -> Option<UnitOffset> {
        let mut tree = self.unit.entries_tree(Some(structure)).ok()?;
        let mut members = tree.root().ok()?.children();
        while let Ok(Some(member)) = members.next() {
            let entry = member.entry();
            let place = entry.attr_value(gimli::DW_AT_data_member_location).ok().flatten();
            let begin = place.and_then(|place| place.udata_value());
            if entry.tag() != gimli::DW_TAG_member || begin.is_none_or(|begin| begin > offset) {
                continue;
            }
            let (begin, at) = (begin?, self.bare(self.type_of(entry)?)?);
            let inner = self.unit.entry(at).ok()?;
            let is_whole = begin == offset && inner.tag() == gimli::DW_TAG_pointer_type;
            if is_whole {
                return Some(at);
            }
            let bytes = inner.attr_value(gimli::DW_AT_byte_size).ok().flatten();
            let bytes = bytes.and_then(|bytes| bytes.udata_value()).unwrap_or(0);
            if inner.tag() == gimli::DW_TAG_structure_type && offset < begin + bytes {
                return self.member(at, offset - begin);
            }
        }
        None
    }

    /// Returns the name of a type: `struct file`, `char`, `char *`; `None` for `void` and for types without
    /// a name.
    fn name(&self, at: UnitOffset) -> Option<String> {
        let entry = self.unit.entry(at).ok()?;
        let keyword = match entry.tag() {
            gimli::DW_TAG_structure_type => "struct ",
            gimli::DW_TAG_union_type => "union ",
            gimli::DW_TAG_enumeration_type => "enum ",
            gimli::DW_TAG_base_type => "",
            gimli::DW_TAG_pointer_type => {
                let to = self.pointee(at).and_then(|to| self.name(to));
                return Some(format!("{} *", to.unwrap_or_else(|| "void".to_owned())));
            }
            _ => return None,
        };
        let name = entry.attr_value(gimli::DW_AT_name).ok()??;
        let name = self.dwarf.attr_string(self.unit, name).ok()?;
        Some(format!("{keyword}{}", String::from_utf8_lossy(&name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_of_the_result_is_read() {
        let to_register = |register, bytes| Some(Moved::ToRegister { register, bytes });
        let to_member = |register, offset| Some(Moved::ToMember { register, offset });
        // As the assembler writes mov %rax,%rbx; %rax,%r12; %rax,(%rbx); %rax,0x18(%rbp); %rax,0x128(%r13).
        assert_eq!(Moved::by(&[0x48, 0x89, 0xc3]), to_register(3, 3));
        assert_eq!(Moved::by(&[0x49, 0x89, 0xc4]), to_register(12, 3));
        assert_eq!(Moved::by(&[0x48, 0x89, 0x03, 0x90]), to_member(3, 0));
        assert_eq!(Moved::by(&[0x48, 0x89, 0x45, 0x18]), to_member(6, 0x18));
        assert_eq!(Moved::by(&[0x49, 0x89, 0x85, 0x28, 1, 0, 0]), to_member(13, 0x128));
        // mov %rbx,%rax; mov %rax,8(%rsp); test %rax,%rax; half an instruction.
        for code in
            [&[0x48, 0x89, 0xd8][..], &[0x48, 0x89, 0x44, 0x24, 8], &[0x48, 0x85, 0xc0], &[0x48]]
        {
            assert_eq!(Moved::by(code), None, "{code:x?}");
        }
        assert_eq!(Moved::by(&[0x48, 0x89, 0x45]), None);
    }
}
