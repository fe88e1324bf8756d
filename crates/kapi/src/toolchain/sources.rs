//! Which files make a module: one file, or a folder with what its Kbuild or Makefile says.
//!
//! # How it works
//! GNU make reads the file, as a kernel's build does: with `KERNELRELEASE`, `src` and `obj` set, so that conditions,
//! variables and functions mean what they mean there. Then it prints the variables that make a module, and no rule of
//! the file is run. (`$(shell ...)` is, as in a build.) Flags of the module are passed on, apart from those that choose a
//! machine or make errors of warnings: headers and compiler are not a kernel's.
//!
//! Linux counterpart: `scripts/Makefile.build` and `scripts/Makefile.lib` @ 6.1.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::Error;

/// A file of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceFile {
    pub(super) path: PathBuf,
    /// Of `ccflags-y`, `EXTRA_CFLAGS` and the file's own `CFLAGS_name.o`.
    pub(super) flags: Vec<String>,
}

/// What a folder's rules are in.
const RULES: [&str; 2] = ["Kbuild", "Makefile"];

/// A module's sources.
#[derive(Debug)]
pub(super) struct Sources {
    /// The module's name: the file's, with underscores for dashes.
    pub(super) name: String,
    pub(super) files: Vec<SourceFile>,
}

impl Sources {
    /// Finds the module at a path; in a folder that makes several, the one of this name.
    pub(super) fn find(path: &Path, module: Option<&str>) -> Result<Self, Error> {
        let wrong = |what: &str| Error::Source { path: path.into(), what: what.into() };
        let meta = fs::metadata(path).map_err(Error::io(path))?;
        if meta.is_dir() {
            return Self::of_folder(path, module);
        }
        if module.is_some() {
            return Err(wrong("is one module; --module chooses one of a folder"));
        }
        if path.extension().is_none_or(|e| e != "c") {
            return Err(wrong("is no C source; give FILE.c, or a folder with a module's sources"));
        }
        let path = path.canonicalize().map_err(Error::io(path))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let file = SourceFile { path: path.clone(), flags: Vec::new() };
        Ok(Self { name: stem.replace('-', "_"), files: vec![file] })
    }

    /// Whether a folder says which modules it makes.
    pub(super) fn has_rules(dir: &Path) -> bool {
        RULES.iter().any(|name| dir.join(name).is_file())
    }

    /// Finds the module of a folder that a file belongs to: as the folder's rules say, and the file alone where they make
    /// none, as those of a kernel's `lib` do without its configuration.
    pub(super) fn with_file(dir: &Path, file: &Path) -> Result<Option<Self>, Error> {
        let mut makes_any = false;
        for name in RULES.into_iter().filter(|name| dir.join(name).is_file()) {
            for module in modules(dir, name)? {
                makes_any = true;
                let sources = module.sources(dir);
                let sources = sources.ok().filter(|s| s.files.iter().any(|own| own.path == file));
                if sources.is_some() {
                    return Ok(sources);
                }
            }
        }
        if makes_any { Ok(None) } else { Self::find(file, None).map(Some) }
    }

    fn of_folder(dir: &Path, wanted: Option<&str>) -> Result<Self, Error> {
        let wrong = |what: String| Error::Source { path: dir.into(), what };
        let dir = dir.canonicalize().map_err(Error::io(dir))?;
        for name in RULES {
            if !dir.join(name).is_file() {
                continue;
            }
            let modules = modules(&dir, name)?;
            let list = || {
                let names: Vec<_> = modules.iter().map(|module| module.name.as_str()).collect();
                names.join(", ")
            };
            match (modules.as_slice(), wanted) {
                ([], _) => {}
                ([module], None) => return module.sources(&dir),
                (several, None) => {
                    let first = &several[0].name;
                    let list = list();
                    return Err(wrong(format!(
                        "its {name} makes several modules ({list}); choose one, as in --module {first}"
                    )));
                }
                (_, Some(wanted)) => match modules.iter().find(|module| module.is_called(wanted)) {
                    Some(module) => return module.sources(&dir),
                    None => {
                        let list = list();
                        return Err(wrong(format!("its {name} makes {list}, and no {wanted}")));
                    }
                },
            }
        }
        let files = c_files(&dir)?;
        match files.as_slice() {
            [] => Err(wrong("holds no C source".into())),
            [one] if wanted.is_none() => Self::find(one, None),
            _ if wanted.is_some() => {
                Err(wrong("holds no Kbuild or Makefile with obj-m to choose from".into()))
            }
            _ => Err(wrong(
                "holds several C sources and no Kbuild or Makefile with obj-m; give one as FILE.c"
                    .into(),
            )),
        }
    }
}

pub(super) fn c_files(dir: &Path) -> Result<Vec<PathBuf>, Error> {
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

/// What make is told: the variables of a kernel's build, the module's file, and what to print of it.
const PRINT: &str = "\
kapi-print:
\t@:
include $(KAPI_FILE)
kapi-modules := $(sort $(filter %.o,$(obj-m)))
$(foreach m,$(kapi-modules:.o=),$(info kapi module $(m))\\
$(foreach o,$(or $(strip $($(m)-objs) $($(m)-y) $($(m)-m)),$(m).o),$(info kapi object $(o))\\
$(info kapi flags $(ccflags-y) $(EXTRA_CFLAGS) $(CFLAGS_$(o)))))
";

/// A module as its Kbuild or Makefile says.
#[derive(Debug, Default)]
struct ModuleRules {
    name: String,
    /// Its objects, each with the flags that it is compiled with, as a shell would read them.
    objects: Vec<(String, String)>,
}

/// Asks make for the modules that a file of `dir` makes.
fn modules(dir: &Path, file: &str) -> Result<Vec<ModuleRules>, Error> {
    let wrong = |what: String| Error::Source { path: dir.join(file), what };
    let mut child = Command::new("make")
        .args(["--silent", "--no-print-directory", "--no-builtin-rules", "-f", "-", "kapi-print"])
        .arg(format!("KAPI_FILE={file}"))
        .current_dir(dir)
        // The file may set these itself.
        .envs(["src", "obj", "M", "KBUILD_EXTMOD", "PWD"].map(|name| (name, dir)))
        .envs([("KERNELRELEASE", "6.1.0"), ("VERSION", "6"), ("PATCHLEVEL", "1")])
        .envs([("CONFIG_MODULES", "y"), ("LC_ALL", "C")])
        // What a make that started this command was told is not for this one: `make -n`, `make M=elsewhere`.
        .env_remove("MAKEFLAGS")
        .env_remove("MAKEOVERRIDES")
        .env_remove("MAKEFILES")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| {
            wrong(format!("cannot be read without make ({error}); install make, or give FILE.c"))
        })?;
    let mut input = child.stdin.take().expect("it was asked for");
    // Make that ends before it has read all says why on standard error.
    let _ = input.write_all(PRINT.as_bytes());
    drop(input);
    let output = child.wait_with_output().map_err(|error| wrong(error.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_string();
        return Err(wrong(format!("cannot be read: {said}")));
    }
    let mut modules: Vec<ModuleRules> = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Some((what, value)) = line.strip_prefix("kapi ").and_then(|line| line.split_once(' '))
        else {
            continue;
        };
        match (what, modules.last_mut()) {
            ("module", _) => {
                modules.push(ModuleRules { name: value.into(), ..ModuleRules::default() });
            }
            ("object", Some(module)) => module.objects.push((value.into(), String::new())),
            ("flags", Some(module)) => {
                if let Some((_, flags)) = module.objects.last_mut() {
                    *flags = value.into();
                }
            }
            _ => {}
        }
    }
    Ok(modules)
}

impl ModuleRules {
    /// Whether it has this name, with dashes or with the underscores that a loaded module has for them.
    fn is_called(&self, name: &str) -> bool {
        self.name.replace('-', "_") == name.trim_end_matches(".ko").replace('-', "_")
    }

    fn sources(&self, dir: &Path) -> Result<Sources, Error> {
        let mut files = Vec::new();
        for (object, flags) in &self.objects {
            let stem = object.strip_suffix(".o").unwrap_or(object);
            let path = dir.join(format!("{stem}.c"));
            if !path.is_file() {
                let what = "is named by the module's Kbuild or Makefile, but is not there".into();
                return Err(Error::Source { path, what });
            }
            let flags = shlex::split(flags).ok_or_else(|| Error::Source {
                path: path.clone(),
                what: format!("gets flags that no shell can read: {flags}"),
            })?;
            files.push(SourceFile { path, flags: kept(flags) });
        }
        Ok(Sources { name: self.name.replace('-', "_"), files })
    }
}

/// Returns the flags that hold for another compiler with other headers as well.
fn kept(flags: Vec<String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut flags = flags.into_iter();
    while let Some(flag) = flags.next() {
        // These have their value behind them, or in the next word.
        let with_value = ["-D", "-U", "-I", "-include", "-isystem", "-iquote", "-imacros"];
        if with_value.contains(&flag.as_str()) {
            kept.extend([Some(flag), flags.next()].into_iter().flatten());
        } else if ["-D", "-U", "-I", "-W", "-f", "-O"].iter().any(|kind| flag.starts_with(kind))
            && !flag.starts_with("-Werror")
        {
            kept.push(flag);
        }
    }
    kept
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
        let sources = Sources::find(dir.path(), None).unwrap();
        assert_eq!(sources.name, "my_mod");
        let include = format!("-I{}/x", dir.path().canonicalize().unwrap().display());
        assert_eq!(sources.files[0].flags, ["-DDEBUG", &include]);
        let names: Vec<_> = sources.files.iter().filter_map(|f| f.path.file_name()).collect();
        assert_eq!(names, ["one.c", "two.c"]);
    }

    fn of_makefile(rules: &str) -> Result<Sources, Error> {
        let dir = tempfile::tempdir().unwrap();
        for name in ["one.c", "two.c"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        fs::write(dir.path().join("Makefile"), rules).unwrap();
        Sources::find(dir.path(), None)
    }

    #[test]
    fn variables_conditions_and_functions_mean_what_make_says() {
        let rules = "NAME := my\nSRCS := one.c two.c\nobj-m := $(NAME).o\nobj-m += my.o\n\
                     $(NAME)-objs = $(SRCS:.c=.o)\nifeq ($(NEVER),y)\nccflags-y += -DNEVER\nendif\n\
                     all:\n\t$(MAKE) -C /lib/modules/none modules\n";
        let sources = of_makefile(rules).unwrap();
        assert_eq!((sources.name.as_str(), sources.files.len()), ("my", 2));
        assert!(sources.files.iter().all(|file| file.flags.is_empty()));
        let guarded =
            "ifneq ($(KERNELRELEASE),)\nobj-m := one.o\nelse\n$(error no kernel)\nendif\n";
        assert_eq!(of_makefile(guarded).unwrap().name, "one");
    }

    #[test]
    fn flags_are_read_as_a_shell_reads_them_and_a_files_own_are_its_own() {
        let rules = "obj-m := my.o\nmy-y := one.o two.o\n\
                     ccflags-y := -DNAME=\\\"a\\ b\\\" -Werror -m32 -include $(src)/one.c\nCFLAGS_two.o := -DTWO\n";
        let files = of_makefile(rules).unwrap().files;
        assert_eq!(files[0].flags[..2], ["-DNAME=\"a b\"", "-include"]);
        assert_eq!((files[0].flags.len(), files[1].flags.len()), (3, 4));
        assert_eq!(files[1].flags[3], "-DTWO");
    }

    /// Under `make src=elsewhere test` the folder of another build was the module's.
    #[test]
    fn a_make_around_the_command_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("one.c"), "").unwrap();
        fs::write(dir.path().join("Kbuild"), "obj-m := one.o\nccflags-y := -I$(src)\n").unwrap();
        let own = std::env::current_exe().unwrap();
        let name = "toolchain::sources::tests::a_make_around_the_command_changes_nothing";
        if std::env::var_os("MAKELEVEL").is_none() {
            let rule = format!("all:\n\t@{} --exact {name}\n", own.display());
            fs::write(dir.path().join("Outer"), rule).unwrap();
            let mut outer = Command::new("make");
            let outer = outer.args(["-f", "Outer", "src=elsewhere", "obj-m=other.o"]);
            assert!(outer.current_dir(dir.path()).output().unwrap().status.success());
        }
        let files = Sources::find(dir.path(), None).unwrap().files;
        let own = format!("-I{}", dir.path().canonicalize().unwrap().display());
        assert_eq!((files.len(), &files[0].flags[..]), (1, &[own][..]));
    }

    #[test]
    fn a_makefile_that_make_refuses_is_refused_in_its_words() {
        let error = of_makefile("obj-m := one.o\nifeq (a\n").unwrap_err().to_string();
        assert!(error.contains("Makefile") && error.contains("cannot be read"), "{error}");
    }

    #[test]
    fn what_is_no_module_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let error = Sources::find(dir.path(), None).unwrap_err().to_string();
        assert!(error.ends_with("holds no C source"), "{error}");
        fs::write(dir.path().join("a.c"), "").unwrap();
        assert_eq!(Sources::find(dir.path(), None).unwrap().name, "a");
        fs::write(dir.path().join("b.c"), "").unwrap();
        assert!(Sources::find(dir.path(), None).is_err());
        fs::write(dir.path().join("Kbuild"), "obj-m = c.o\n").unwrap();
        assert!(Sources::find(dir.path(), None).unwrap_err().to_string().contains("c.c"));
    }
}
