//! The compiled module as a file: its symbols and its metadata.

use std::fs;
use std::path::Path;

use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

use crate::error::Error;

/// A function of the module, or a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Function {
    offset: u64,
    size: u64,
    name: String,
}

/// The functions of a compiled module, by address.
#[derive(Debug, Clone, Default)]
pub struct Image {
    functions: Vec<Function>,
    variables: Vec<Function>,
    info: ModuleInfo,
}

/// What a module says of itself (`modinfo`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModuleInfo {
    /// Tags and values in the order of the source: `license`, `parm`, `parmtype`, ...
    pub tags: Vec<(String, String)>,
}

impl Image {
    /// Reads a shared object.
    ///
    /// # Errors
    /// [`Error::Io`], or [`Error::Image`] if the file is no ELF object.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let data = fs::read(path).map_err(Error::io(path))?;
        let image =
            |error: object::Error| Error::Image { path: path.into(), what: error.to_string() };
        let file = object::File::parse(&*data).map_err(image)?;
        let of_kind = |kind| -> Vec<Function> {
            file.symbols()
                .filter(|s| s.kind() == kind && s.is_definition() && s.size() > 0)
                .filter_map(|s| {
                    // The compiler's variants (walk.constprop.0, walk.cold) bear the source's name.
                    let name = s.name().ok()?.split('.').next()?.to_string();
                    Some(Function { offset: s.address(), size: s.size(), name })
                })
                .collect()
        };
        let (mut functions, variables) = (of_kind(SymbolKind::Text), of_kind(SymbolKind::Data));
        // module_init() makes an alias: the module's own name is the one to show.
        let generic = |name: &str| {
            matches!(name, "init_module" | "cleanup_module") || name.starts_with("kapi_needed_")
        };
        functions.sort_by_key(|f| (f.offset, generic(&f.name)));
        functions.dedup_by_key(|f| f.offset);
        let info = match file.section_by_name(".modinfo") {
            Some(section) => ModuleInfo::read(section.data().map_err(image)?),
            None => ModuleInfo::default(),
        };
        Ok(Self { functions, variables, info })
    }

    /// Names an offset: function, offset in it, its size.
    pub fn symbol(&self, offset: u64) -> Option<(&str, u64, u64)> {
        let next = self.functions.partition_point(|f| f.offset <= offset);
        let function = &self.functions[next.checked_sub(1)?];
        let into = offset - function.offset;
        (into <= function.size).then_some((function.name.as_str(), into, function.size))
    }

    /// Returns where the function of a name begins.
    pub(crate) fn find(&self, name: &str) -> Option<u64> {
        self.functions.iter().find(|f| f.name == name).map(|f| f.offset)
    }

    /// Returns the name and the beginning of a function by its number.
    pub(crate) fn function(&self, number: usize) -> Option<(&str, u64)> {
        self.functions.get(number).map(|f| (f.name.as_str(), f.offset))
    }

    /// Names the variable that an offset lies in.
    pub(crate) fn variable(&self, offset: u64) -> Option<&str> {
        let inside = |v: &&Function| offset.wrapping_sub(v.offset) < v.size;
        self.variables.iter().find(inside).map(|variable| variable.name.as_str())
    }

    /// Returns where its functions begin and end.
    pub fn text(&self) -> (u64, u64) {
        let start = self.functions.first().map_or(0, |f| f.offset);
        (start, self.functions.last().map_or(0, |f| f.offset + f.size))
    }

    /// Returns what the module says of itself.
    pub fn info(&self) -> &ModuleInfo {
        &self.info
    }
}

impl ModuleInfo {
    /// Reads strings `tag=value`, each ended by a zero byte.
    pub(crate) fn read(section: &[u8]) -> Self {
        let strings = section.split(|&b| b == 0).map(String::from_utf8_lossy);
        let tags = strings
            .filter_map(|s| s.split_once('=').map(|(tag, value)| (tag.into(), value.into())))
            .collect();
        Self { tags }
    }

    /// Returns the first value of a tag.
    pub fn get(&self, tag: &str) -> Option<&str> {
        self.tags.iter().find(|(t, _)| t == tag).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_become_tags() {
        let info = ModuleInfo::read(b"license=GPL\0parm=size:bytes = of a block\0\0odd\0");
        assert_eq!(info.get("license"), Some("GPL"));
        assert_eq!(info.get("parm"), Some("size:bytes = of a block"));
        assert_eq!(info.tags.len(), 2);
    }

    #[test]
    fn an_address_is_named_by_the_function_around_it() {
        let function = |offset, size, name: &str| Function { offset, size, name: name.to_string() };
        let functions = vec![function(0x100, 0x20, "first"), function(0x140, 8, "second")];
        let image = Image { functions, ..Image::default() };
        assert_eq!(image.symbol(0x100), Some(("first", 0, 0x20)));
        assert_eq!(image.symbol(0x120), Some(("first", 0x20, 0x20)));
        assert_eq!(image.symbol(0x130), None);
        assert_eq!(image.symbol(0x147), Some(("second", 7, 8)));
        assert_eq!(image.symbol(0xff), None);
    }
}
