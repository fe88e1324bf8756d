//! Which files make a module: one file, or a folder with what its Kbuild or Makefile says.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// A module's sources.
#[derive(Debug)]
pub(super) struct Sources {
    /// The module's name: the file's, with underscores for dashes.
    pub(super) name: String,
    pub(super) files: Vec<PathBuf>,
    /// `ccflags-y` and `EXTRA_CFLAGS`, as far as they are options with a plain value.
    pub(super) flags: Vec<String>,
}

impl Sources {
    /// Finds the module at a path.
    pub(super) fn find(path: &Path) -> Result<Self, Error> {
        let wrong = |what: &str| Error::Source { path: path.into(), what: what.into() };
        let meta = fs::metadata(path).map_err(Error::io(path))?;
        if meta.is_dir() {
            return Self::of_folder(path);
        }
        if path.extension().is_none_or(|e| e != "c") {
            return Err(wrong("is no C source; give FILE.c, or a folder with a module's sources"));
        }
        let path = path.canonicalize().map_err(Error::io(path))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Self { name: stem.replace('-', "_"), files: vec![path.clone()], flags: Vec::new() })
    }

    fn of_folder(dir: &Path) -> Result<Self, Error> {
        let wrong = |what: String| Error::Source { path: dir.into(), what };
        let dir = dir.canonicalize().map_err(Error::io(dir))?;
        for name in ["Kbuild", "Makefile"] {
            let Ok(text) = fs::read_to_string(dir.join(name)) else { continue };
            let rules = Rules::read(&text);
            match rules.modules.as_slice() {
                [] => {}
                [module] => return rules.sources(&dir, module),
                many => {
                    let list = many.join(", ");
                    return Err(wrong(format!(
                        "its {name} makes several modules ({list}); give one as FILE.c"
                    )));
                }
            }
        }
        let files = c_files(&dir)?;
        match files.as_slice() {
            [] => Err(wrong("holds no C source".into())),
            [one] => Self::find(one),
            _ => Err(wrong(
                "holds several C sources and no Kbuild or Makefile with obj-m; give one as FILE.c"
                    .into(),
            )),
        }
    }
}

fn c_files(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(dir).map_err(Error::io(dir))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    // What a real build leaves behind is no source.
    let source = |path: &PathBuf| {
        path.extension().is_some_and(|e| e == "c") && !path.to_string_lossy().ends_with(".mod.c")
    };
    let mut files: Vec<_> = paths.filter(source).collect();
    files.sort();
    Ok(files)
}

/// What a Kbuild file says, as far as a plain module needs it.
#[derive(Debug, Default)]
struct Rules {
    modules: Vec<String>,
    assignments: Vec<(String, String)>,
}

impl Rules {
    fn read(text: &str) -> Self {
        let mut rules = Self::default();
        for line in text.replace("\\\n", " ").lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((name, value)) = line.split_once('=') else { continue };
            let name = name.trim_end_matches([':', '+', '?']).trim().to_string();
            if name == "obj-m" {
                let objects = value.split_whitespace().filter_map(|o| o.strip_suffix(".o"));
                rules.modules.extend(objects.map(ToString::to_string));
            }
            rules.assignments.push((name, value.trim().into()));
        }
        rules
    }

    fn values<'r>(&'r self, name: &'r str) -> impl Iterator<Item = &'r str> {
        let same = self.assignments.iter().filter(move |(n, _)| n == name);
        same.flat_map(|(_, value)| value.split_whitespace())
    }

    fn sources(&self, dir: &Path, module: &str) -> Result<Sources, Error> {
        let parts = [format!("{module}-objs"), format!("{module}-y")];
        let mut objects: Vec<_> = parts.iter().flat_map(|name| self.values(name)).collect();
        let own = format!("{module}.o");
        if objects.is_empty() {
            objects.push(&own);
        }
        let mut files = Vec::new();
        for object in objects {
            let stem = object.strip_suffix(".o").unwrap_or(object);
            let file = dir.join(format!("{stem}.c"));
            if !file.is_file() {
                let what = "is named by the module's Kbuild or Makefile, but is not there".into();
                return Err(Error::Source { path: file, what });
            }
            files.push(file);
        }
        let flags = ["ccflags-y", "EXTRA_CFLAGS"].iter().flat_map(|name| self.values(name));
        let plain = |flag: &&str| flag.starts_with("-D") && !flag.contains('$');
        let flags = flags.filter(plain).map(ToString::to_string).collect();
        Ok(Sources { name: module.replace('-', "_"), files, flags })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kbuild_file_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["one.c", "two.c", "other.c"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let rules = "# a comment\nobj-m := my-mod.o\nmy-mod-objs := one.o \\\n two.o\n\
                     ccflags-y += -DDEBUG -I$(src)/x\nKDIR ?= /lib/modules\n";
        fs::write(dir.path().join("Makefile"), rules).unwrap();
        let sources = Sources::find(dir.path()).unwrap();
        assert_eq!(sources.name, "my_mod");
        assert_eq!(sources.flags, ["-DDEBUG"]);
        let names: Vec<_> = sources.files.iter().filter_map(|f| f.file_name()).collect();
        assert_eq!(names, ["one.c", "two.c"]);
    }

    #[test]
    fn what_is_no_module_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let error = Sources::find(dir.path()).unwrap_err().to_string();
        assert!(error.ends_with("holds no C source"), "{error}");
        fs::write(dir.path().join("a.c"), "").unwrap();
        assert_eq!(Sources::find(dir.path()).unwrap().name, "a");
        fs::write(dir.path().join("b.c"), "").unwrap();
        assert!(Sources::find(dir.path()).is_err());
        fs::write(dir.path().join("Kbuild"), "obj-m = c.o\n").unwrap();
        assert!(Sources::find(dir.path()).unwrap_err().to_string().contains("c.c"));
    }
}
