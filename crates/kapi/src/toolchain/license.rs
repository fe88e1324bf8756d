//! What a module's license lets it use: names that are exported to GPL modules alone, and names of a namespace.
//!
//! # How it works
//! A module's objects have its license and the namespaces that it imports in `.modinfo`. Of the kernel's own functions
//! `gpl_only.txt` lists those that are for GPL modules; of other modules', their sources tell it.
//!
//! # Differences from Linux
//! A module that names no license is told so, and may use everything. What is an inline function in our headers is not seen.
//!
//! Linux counterpart: `check_exports` in `scripts/mod/modpost.c` @ 6.12.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use object::{Object, ObjectSection};

use super::missing;
use super::needs::Export;
use super::sources::Sources;
use crate::error::Error;
use crate::image::ModuleInfo;
use crate::job::Version;

/// Licenses that make a module a GPL module (`include/linux/license.h`).
const GPL: [&str; 6] =
    ["GPL", "GPL v2", "GPL and additional rights", "Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL"];

/// Names of the kernel's own.
const GPL_ONLY: &str = include_str!("gpl_only.txt");

/// Since then names can have a namespace.
const NAMESPACES_SINCE: Version = Version::new(5, 4, 0);

/// What a module says of itself, as far as it matters to what it may use.
#[derive(Debug, Default)]
pub(super) struct License {
    /// Licenses that are not those of a GPL module.
    others: Vec<String>,
    imports: BTreeSet<String>,
}

impl License {
    /// Reads it from a module's objects.
    pub(super) fn read(objects: &[PathBuf]) -> Result<Self, Error> {
        let mut license = Self::default();
        for path in objects {
            let data = fs::read(path).map_err(Error::io(path))?;
            let image =
                |error: object::Error| Error::Image { path: path.into(), what: error.to_string() };
            let file = object::File::parse(&*data).map_err(image)?;
            let Some(section) = file.section_by_name(".modinfo") else { continue };
            for (tag, value) in ModuleInfo::read(section.data().map_err(image)?).tags {
                match &*tag {
                    "license" if !GPL.contains(&&*value) => license.others.push(value),
                    "import_ns" => {
                        license.imports.insert(value.trim_matches('"').to_owned());
                    }
                    _ => {}
                }
            }
        }
        Ok(license)
    }

    /// Refuses what the kernel has for GPL modules alone.
    ///
    /// # Errors
    /// [`Error::Link`] with the names and the places where the module uses them.
    pub(super) fn check_kernels(
        &self,
        sources: &Sources,
        objects: &[PathBuf],
    ) -> Result<(), Error> {
        if self.others.is_empty() {
            return Ok(());
        }
        let asked = missing::asked(objects)?;
        let listed = GPL_ONLY.lines().filter(|line| !line.starts_with('#'));
        let listed = listed.flat_map(str::split_whitespace);
        // Some are called by another name, which a header gives them.
        let is_asked =
            |name: &&str| asked.contains(*name) || asked.contains(&format!("kapi_{name}"));
        self.refuse_gpl_only(sources, &listed.filter(is_asked).collect::<Vec<_>>())
    }

    /// Refuses what another module exports to others only.
    ///
    /// # Errors
    /// As [`Self::check_kernels`].
    pub(super) fn check_modules<'e>(
        &self,
        sources: &Sources,
        version: Version,
        used: impl Iterator<Item = &'e Export> + Clone,
    ) -> Result<(), Error> {
        if !self.others.is_empty() {
            let gpl_only = used.clone().filter(|export| export.is_gpl_only);
            let names: Vec<_> = gpl_only.map(|export| export.name.as_str()).collect();
            self.refuse_gpl_only(sources, &names)?;
        }
        let foreign = used.filter_map(|export| {
            let namespace = export.namespace.as_ref()?;
            (version >= NAMESPACES_SINCE && !self.imports.contains(namespace))
                .then(|| format!("  {} of {namespace}", named(sources, &export.name)))
        });
        let foreign: Vec<_> = foreign.collect();
        if foreign.is_empty() {
            return Ok(());
        }
        let lines = foreign.join("\n");
        refused(
            sources,
            format!(
                "it uses names of namespaces that it does not import (MODULE_IMPORT_NS()):\n{lines}"
            ),
        )
    }

    fn refuse_gpl_only(&self, sources: &Sources, names: &[&str]) -> Result<(), Error> {
        if names.is_empty() {
            return Ok(());
        }
        let lines: Vec<_> =
            names.iter().map(|name| format!("  {}", named(sources, name))).collect();
        refused(
            sources,
            format!(
                "its license `{}` is not that of a GPL module, to which alone these are exported:\n{}\n\
                 MODULE_LICENSE() takes one of: {}",
                self.others[0],
                lines.join("\n"),
                GPL.join(", ")
            ),
        )
    }
}

fn refused(sources: &Sources, message: String) -> Result<(), Error> {
    Err(Error::Link { module: sources.name.clone(), message })
}

/// Returns a name, with the line of the module's sources that has it first.
fn named(sources: &Sources, name: &str) -> String {
    for file in &sources.files {
        let text = fs::read_to_string(&file.path).unwrap_or_default();
        let has_name = |line: &str| {
            let mut words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            words.any(|word| word == name)
        };
        if let Some(at) = text.lines().position(has_name) {
            let file = file.path.file_name().unwrap_or_default().to_string_lossy();
            return format!("{name} ({file}:{})", at + 1);
        }
    }
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_names_alone() {
        let names = GPL_ONLY.lines().filter(|line| !line.starts_with('#'));
        let names: Vec<_> = names.flat_map(str::split_whitespace).collect();
        let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        assert!(names.len() > 300 && names.iter().all(|name| is_name(name)), "{names:?}");
        assert!(names.contains(&"ktime_get") && !names.contains(&"kmalloc"));
    }
}
