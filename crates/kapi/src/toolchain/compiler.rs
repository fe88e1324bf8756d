//! The system's C compiler, with the options that kernel source needs.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use slablab_host::{Access, KeyHasher, write_whole};

use super::sources::{SourceFile, Sources};
use super::{files, kept, missing, stubs};
use crate::error::Error;
use crate::job::{NEEDED_EXIT, NEEDED_INIT, Version};

/// How a module is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Flavor {
    /// As the kernel does.
    Plain,
    /// With AddressSanitizer.
    Asan,
}

/// Options that make C the kernel's C, old modules' included: inline functions as before C99, errors
/// of today that were warnings then, and nothing assumed that the kernel does not grant.
const DIALECT: [&str; 23] = [
    "-nostdinc",
    "-std=gnu11",
    "-fgnu89-inline",
    "-O2",
    "-g",
    "-fPIC",
    "-fno-strict-aliasing",
    "-fno-strict-overflow",
    "-fno-common",
    "-fno-omit-frame-pointer",
    "-fno-optimize-sibling-calls",
    // Two calls that are one would have one line.
    "-fno-crossjumping",
    "-fno-tree-tail-merge",
    // What a call writes through a null pointer is what a developer wants to see crash.
    "-fno-ipa-modref",
    "-fno-stack-protector",
    "-fno-delete-null-pointer-checks",
    "-fno-builtin-sprintf",
    "-fno-builtin-snprintf",
    "-Werror=implicit-function-declaration",
    "-Wno-error=int-conversion",
    "-Wno-error=incompatible-pointer-types",
    "-Wno-error=implicit-int",
    "-Wno-format",
];

/// Since then a plain `char` has no sign, on any machine.
const UNSIGNED_CHAR_SINCE: Version = Version::new(6, 2, 0);

/// Since then, at the latest, variables on the stack begin as zero where the source gives them no value, as distributions
/// have it; the first compiler that can do so.
const STACK_ZERO_SINCE: Version = Version::new(6, 1, 0);
const STACK_ZERO_GCC: u32 = 12;

/// The kernel has no floating point.
#[cfg(target_arch = "x86_64")]
const MACHINE: &[&str] = &[
    "-mno-sse",
    "-mno-mmx",
    "-mno-sse2",
    "-mno-80387",
    // The first instruction of each function does nothing, so that a probe's breakpoint can stand there.
    "-fpatchable-function-entry=1",
    "-fcf-protection=none",
];
#[cfg(not(target_arch = "x86_64"))]
const MACHINE: &[&str] = &[];

/// A C compiler and where its and our headers are.
#[derive(Debug)]
pub(super) struct Compiler {
    program: String,
    dir: PathBuf,
    own_include: PathBuf,
    flavor: Flavor,
    asan: Option<PathBuf>,
}

impl Compiler {
    /// Finds the compiler: `$CC`, or `cc`. `progress` is told that the runtime is going to be compiled, if not even its
    /// sources are there.
    pub(super) fn find(
        flavor: Flavor,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Self, Error> {
        let program =
            std::env::var("CC").ok().filter(|cc| !cc.is_empty()).unwrap_or_else(|| "cc".into());
        let mut compiler =
            Self { program, dir: PathBuf::new(), own_include: PathBuf::new(), flavor, asan: None };
        compiler.own_include = compiler.file_name("include")?;
        if flavor == Flavor::Asan {
            let library = compiler.file_name("libasan.so")?;
            if !library.is_absolute() {
                let what = "is not installed; install it (Debian: libasan8) or leave --asan out";
                return Err(Error::Source { path: library, what: what.into() });
            }
            compiler.asan = Some(library.canonicalize().unwrap_or(library));
        }
        if !files::are_unpacked()? {
            progress(0, files::runtime_source_count());
        }
        compiler.dir = files::unpacked()?;
        Ok(compiler)
    }

    fn file_name(&self, name: &str) -> Result<PathBuf, Error> {
        let output =
            self.run(Command::new(&self.program).arg(format!("-print-file-name={name}")))?;
        Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
    }

    /// Returns the compiler's first number, which is in the name of the folder of its headers: `lib/gcc/MACHINE/12/include`.
    fn major(&self) -> u32 {
        let folder = self.own_include.parent().and_then(Path::file_name);
        let version = folder.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        version.split('.').next().and_then(|major| major.parse().ok()).unwrap_or(0)
    }

    /// Returns the program of the compiler's binutils that changes object files.
    fn objcopy(&self) -> Result<PathBuf, Error> {
        let output = self.run(Command::new(&self.program).arg("-print-prog-name=objcopy"))?;
        Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
    }

    fn run(&self, command: &mut Command) -> Result<Output, Error> {
        let wrong = |error| Error::NoCompiler { compiler: self.program.clone(), error };
        command.env("LC_ALL", "C").output().map_err(wrong)
    }

    /// What has to be loaded before a module of this flavor.
    pub(super) fn preload(&self) -> Option<PathBuf> {
        self.asan.clone()
    }

    fn command(&self, version: Version, includes: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        let Version(code) = version;
        command
            .args(DIALECT)
            .args(MACHINE)
            .arg("-isystem")
            .arg(&self.own_include)
            .args(includes.iter().map(|folder| include(&self.dir.join(folder))))
            .args(["-include", "linux/kconfig.h", "-D__KERNEL__", "-DMODULE"])
            .arg(format!("-DLINUX_VERSION_CODE={code}"))
            .arg(format!("-DUTS_RELEASE=\"{version}-slablab\""));
        if version >= UNSIGNED_CHAR_SINCE {
            command.arg("-funsigned-char");
        }
        if version >= STACK_ZERO_SINCE && self.major() >= STACK_ZERO_GCC {
            command.arg("-ftrivial-auto-var-init=zero");
        }
        if self.flavor == Flavor::Asan {
            command.arg("-fsanitize=address");
        }
        command
    }

    /// Compiles one file of the module `name`; returns the compiler's warnings.
    pub(super) fn compile_module(
        &self,
        file: &SourceFile,
        name: &str,
        version: Version,
        object: &Path,
    ) -> Result<String, Error> {
        let mut command = self.command(version, &["brings", "include"]);
        command
            .args(&file.flags)
            .arg(format!("-DKBUILD_MODNAME=\"{name}\""))
            .arg(format!("-DKBUILD_BASENAME=\"{name}\""))
            .args(["-MD", "-c", "-o"])
            .arg(object)
            .arg(&file.path);
        let output = self.run(&mut command)?;
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            return Ok(message);
        }
        Err(Error::Compile { path: file.path.clone(), message: message.trim_end().into() })
    }

    /// Returns the folder of modules that were compiled.
    pub(super) fn kept_folder(&self) -> PathBuf {
        self.dir.join("kept")
    }

    /// Removes what commands left that were killed while they compiled.
    pub(super) fn remove_abandoned(&self) {
        files::remove_abandoned(&self.dir);
    }

    /// Returns a name for what would be made of a module's sources.
    pub(super) fn key(&self, sources: &Sources, versions: &[Version]) -> Result<String, Error> {
        let mut hasher = KeyHasher::new("kapi module");
        hasher.update(self.run(Command::new(&self.program).arg("--version"))?.stdout);
        hasher.update(&sources.name);
        for &version in versions {
            hasher.update(format!("{:?}", self.command(version, &["brings", "include"])));
        }
        for file in &sources.files {
            hasher.update(file.path.as_os_str().as_encoded_bytes());
            hasher.update(file.flags.join("\n"));
            hasher.update_file(&file.path).map_err(Error::io(&file.path))?;
        }
        Ok(hasher.finish().to_string())
    }

    /// Returns the files that a module's sources included, but for ours and the compiler's, which are in its key.
    pub(super) fn included(&self, out: &Path) -> Vec<PathBuf> {
        let rules = fs::read_dir(out).into_iter().flatten().flatten().map(|entry| entry.path());
        let rules = rules.filter(|path| path.extension().is_some_and(|extension| extension == "d"));
        let paths =
            rules.flat_map(|rule| kept::included(&fs::read_to_string(rule).unwrap_or_default()));
        let others = paths
            .filter(|path| !path.starts_with(&self.dir) && !path.starts_with(&self.own_include));
        let mut others: Vec<_> = others.collect();
        others.sort();
        others.dedup();
        others
    }

    /// Compiles the runtime's files, as many at once as there are processors; `progress` hears of each.
    fn compile_runtime(
        &self,
        version: Version,
        work: &Path,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Vec<PathBuf>, Error> {
        let files: Vec<PathBuf> = files::runtime_sources(&self.dir).collect();
        let parts: Vec<PathBuf> = files
            .iter()
            .map(|file| work.join(file.file_stem().unwrap_or_default()).with_extension("o"))
            .collect();
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        progress(0, files.len());
        let compile_some = || -> Result<(), Error> {
            while let Some(i) =
                Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&i| i < files.len())
            {
                let mut command = self.command(version, &["include"]);
                // The runtime is itself what string functions are made of.
                command.args(["-ffreestanding", "-DKBUILD_MODNAME=\"kapi\"", "-DKAPI_RUNTIME"]);
                command.args(["-c", "-o"]).arg(&parts[i]).arg(&files[i]);
                self.succeed(&mut command, &files[i])?;
                progress(done.fetch_add(1, Ordering::Relaxed) + 1, files.len());
            }
            Ok(())
        };
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(compile_some)).collect();
            workers.into_iter().try_for_each(|worker| worker.join().expect("it does not panic"))
        })?;
        Ok(parts)
    }

    /// Returns where the compiled runtime and the jumps of this source are kept.
    fn runtime_object(&self, version: Version, jumps: &str) -> Result<PathBuf, Error> {
        let mut hasher = KeyHasher::new("kapi runtime");
        hasher.update(self.run(Command::new(&self.program).arg("--version"))?.stdout);
        hasher.update(format!("{:?}", self.command(version, &["include"])));
        hasher.update(jumps);
        hasher.update("what it defines is weak");
        Ok(self.dir.join(format!("runtime-{}.o", hasher.finish())))
    }

    /// Tells `progress` that the runtime is going to be compiled, if it is not there.
    pub(super) fn announce_runtime(
        &self,
        version: Version,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<(), Error> {
        if !self.runtime_object(version, &stubs::source())?.exists() {
            progress(0, files::runtime_source_count());
        }
        Ok(())
    }

    /// Returns the compiled runtime and jumps, compiling them if that was not done before.
    pub(super) fn runtime(
        &self,
        version: Version,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<PathBuf, Error> {
        let source = stubs::source();
        let object = self.runtime_object(version, &source)?;
        if checksum(&object).is_some_and(|sum| {
            fs::read_to_string(beside(&object)).is_ok_and(|recorded| recorded == sum)
        }) {
            return Ok(object);
        }
        let work = files::workplace(&self.dir).map_err(Error::io(&self.dir))?;
        let assembled = |name: &str, source: &str| -> Result<PathBuf, Error> {
            let file = work.path().join(format!("{name}.s"));
            fs::write(&file, source).map_err(Error::io(&file))?;
            let part = work.path().join(format!("{name}.o"));
            let mut command = Command::new(&self.program);
            self.succeed(command.arg("-c").arg("-o").arg(&part).arg(&file), &file)?;
            Ok(part)
        };
        // Code stands in the order of the parts.
        let mut parts = vec![assembled("begin", &mark("kapi_runtime_begin"))?];
        parts.extend(self.compile_runtime(version, work.path(), progress)?);
        parts.push(assembled("end", &mark("kapi_runtime_end"))?);
        parts.push(assembled("jumps", &source)?);
        let whole = work.path().join("runtime.o");
        let mut command = Command::new(&self.program);
        command.args(["-nostdlib", "-r", "-o"]).arg(&whole).args(&parts);
        self.succeed(&mut command, &whole)?;
        // A module may bring a function of the library along: then its own is taken, by the runtime too.
        // What it asks for is not weak: the linker refuses names that are defined nowhere.
        let names = work.path().join("defined");
        fs::write(&names, missing::defined(&whole)?).map_err(Error::io(&names))?;
        let mut command = Command::new(self.objcopy()?);
        command.arg(format!("--weaken-symbols={}", names.display())).arg(&whole);
        self.succeed(&mut command, &whole)?;
        let sum = checksum(&whole).unwrap_or_default();
        fs::rename(&whole, &object).map_err(Error::io(&object))?;
        let record = beside(&object);
        write_whole(&record, sum.as_bytes(), Access::Umask).map_err(Error::io(&record))?;
        Ok(object)
    }

    /// Makes one object of a module that another one needs, the `index`-th that is loaded: what it does not export is
    /// its own, and its init and exit have names of their own.
    pub(super) fn join(
        &self,
        objects: &[PathBuf],
        exports: &BTreeSet<String>,
        index: usize,
        out: &Path,
    ) -> Result<PathBuf, Error> {
        let whole = out.join(format!("needed{index}.o"));
        let mut command = Command::new(&self.program);
        command.args(["-nostdlib", "-r", "-o"]).arg(&whole).args(objects);
        self.succeed(&mut command, &whole)?;
        let own = [("init_module", NEEDED_INIT), ("cleanup_module", NEEDED_EXIT)];
        let mut names: String = exports.iter().map(|name| format!("{name}\n")).collect();
        let mut command = Command::new(self.objcopy()?);
        for (name, ours) in own {
            command.arg(format!("--redefine-sym={name}={ours}{index}"));
            names += &format!("{name}\n{ours}{index}\n");
        }
        let list = out.join("exports");
        fs::write(&list, names).map_err(Error::io(&list))?;
        command.arg(format!("--keep-global-symbols={}", list.display()));
        command.arg("--rename-section=.modinfo=.needed.modinfo").arg(&whole);
        self.succeed(&mut command, &whole)?;
        Ok(whole)
    }

    fn succeed(&self, command: &mut Command, path: &Path) -> Result<(), Error> {
        let output = self.run(command)?;
        if output.status.success() {
            return Ok(());
        }
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(Error::Compile { path: path.into(), message })
    }

    /// Links a module with the runtime and nothing else; returns what is to be said of weak names that nothing defines.
    pub(super) fn link(
        &self,
        name: &str,
        objects: &[PathBuf],
        runtime: &Path,
        image: &Path,
    ) -> Result<String, Error> {
        let linker = |wanted: &[String]| {
            let mut command = Command::new(&self.program);
            command.args(["-shared", "-nostdlib", "-Wl,-z,defs", "-Wl,-Bsymbolic", "-Wl,-z,now"]);
            // Among wanted names none is weak: the linker says where each is used.
            command.args(wanted.iter().map(|name| format!("-Wl,--undefined={name}")));
            command.arg("-o").arg(image).args(objects).arg(runtime).args(&self.asan);
            self.run(&mut command)
        };
        let output = linker(&[])?;
        if output.status.success() {
            let undefined = missing::weak(image, objects)?;
            if undefined.is_empty() {
                return Ok(String::new());
            }
            let message = String::from_utf8_lossy(&linker(&undefined)?.stderr).into_owned();
            let told = missing::told(name, &missing::symbols(&message), objects)?;
            // The second link left no image.
            linker(&[])?;
            return Ok(told);
        }
        let message = String::from_utf8_lossy(&output.stderr);
        let error = |message| Error::Link { module: name.into(), message };
        let missing = missing::symbols(&message);
        if missing.is_empty() {
            return Err(error(message.trim_end().to_string()));
        }
        let list: Vec<_> = missing.iter().map(|one| format!("  {one}")).collect();
        Err(error(format!(
            "not provided here:\n{}\n`slablab insmod --list-symbols` prints what is",
            list.join("\n")
        )))
    }
}

/// Returns where the checksum of an object is recorded that was made before: one that was cut or emptied since, by a full
/// disk or a loss of power, would be a link error of the module.
fn beside(object: &Path) -> PathBuf {
    object.with_extension("sum")
}

/// Returns the checksum of a file, if there is one.
fn checksum(file: &Path) -> Option<String> {
    let mut hasher = KeyHasher::new("object");
    hasher.update_file(file).ok()?;
    Some(hasher.finish().to_string())
}

/// Returns the option for a folder of headers.
fn include(folder: &Path) -> OsString {
    let mut option = OsString::from("-I");
    option.push(folder);
    option
}

/// Returns the assembly of a name for a place in the code.
fn mark(name: &str) -> String {
    format!(
        ".text\n.globl {name}\n.hidden {name}\n{name}:\n.section .note.GNU-stack,\"\",@progbits\n"
    )
}
