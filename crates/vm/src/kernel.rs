//! A kernel: built from a patched tree and a configuration, once, and kept.
//!
//! # How it works
//!
//! `make O=PARTIAL` out of tree, with the folder renamed to its key at the end. A build that was stopped is
//! taken up where it was: Kbuild records each command after it succeeded, and makes anew what has no record.
//!
//! # Invariants
//!
//! - The key has everything that goes into a build: tree, merged configuration, compiler and linker version.
//! - Time stamp, user and host in the image are constants, so that equal keys are equal images.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::child::{bound, bound_family, output, run_logged};
use crate::key::Mixer;
use crate::tree::{Nursery, Tree};
use crate::{Config, Data, Error, Interrupt, Key, Need, Result, Source, Step, Store, tools};

/// Megabytes that a build takes (the base configuration: 190 MB; debugging doubles it).
const BUILD_MIB: u64 = 600;

/// Lines that `make` prints for the base configuration; the next build learns from the last.
const STEPS_FIRST_GUESS: u64 = 1200;

/// What is needed to make kernels: where from, where to, and whether to go on.
#[derive(Debug)]
pub struct Workshop {
    /// Configuration, patches, modules, guest
    pub data: Data,
    /// The source
    pub source: Source,
    /// The cache
    pub store: Store,
    /// Set when somebody asks us to stop
    pub interrupt: Interrupt,
    /// Compilers at a time
    pub jobs: usize,
}

/// Which kernel to build.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spec {
    /// `slab`, `slub`, `slob` or `slmb`: fragment `allocator-NAME.config`
    pub allocator: String,
    /// Further fragments, such as `debug`
    pub flavours: Vec<String>,
    /// A fragment of the user's
    pub own: Option<PathBuf>,
    /// Patches on top of the series
    pub patches: Vec<PathBuf>,
}

impl Spec {
    /// Returns the plain kernel with this allocator.
    #[must_use]
    pub fn plain(allocator: &str) -> Self {
        Self { allocator: allocator.into(), flavours: vec![], own: None, patches: vec![] }
    }

    /// Returns the name: `slub`, `slmb+debug`, `slub+my-change` with `my-change.patch`.
    #[must_use]
    pub fn name(&self) -> String {
        let mut parts = vec![self.allocator.clone()];
        parts.extend(self.flavours.iter().cloned());
        let stem = |path: &PathBuf| path.file_stem().map(|s| s.to_string_lossy().into_owned());
        parts.extend(self.own.iter().chain(&self.patches).filter_map(stem));
        parts.join("+")
    }
}

/// What is known of a built kernel; `kernel.json` in its folder.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Built {
    release: String,
    compiler: String,
    build_seconds: f64,
    make_lines: u64,
}

/// A built kernel.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// What was asked for
    pub spec: Spec,
    /// Its key
    pub key: Key,
    /// Its build folder
    pub folder: PathBuf,
    /// The source tree it was built from
    pub(crate) tree: PathBuf,
    built: Built,
}

impl Kernel {
    /// Returns the image that boots.
    #[must_use]
    pub fn image(&self) -> PathBuf {
        self.folder.join("arch/x86/boot/bzImage")
    }

    /// Returns the release, as `uname -r` prints it.
    #[must_use]
    pub fn release(&self) -> &str {
        &self.built.release
    }

    /// Returns the compiler it was built with.
    #[must_use]
    pub fn compiler(&self) -> &str {
        &self.built.compiler
    }

    /// Returns how long the last, unbroken part of the build took.
    #[must_use]
    pub fn build_seconds(&self) -> f64 {
        self.built.build_seconds
    }

    /// Returns the modules that were built with the kernel itself.
    ///
    /// # Errors
    ///
    /// When the list is not readable.
    pub fn own_modules(&self) -> Result<Vec<PathBuf>> {
        let list = self.folder.join("modules.order");
        let text = fs::read_to_string(&list).map_err(Error::io("cannot read", &list))?;
        let objects = text.lines().map(|line| line.trim().trim_end_matches(".ko"));
        Ok(objects
            .map(|line| self.folder.join(format!("{}.ko", line.trim_end_matches(".o"))))
            .collect())
    }

    fn at(spec: &Spec, key: Key, folder: PathBuf, tree: PathBuf) -> Result<Self> {
        let file = folder.join("kernel.json");
        let text = fs::read(&file).map_err(Error::io("cannot read", &file))?;
        let built = serde_json::from_slice(&text).map_err(|e| {
            Error::io("cannot read; remove its folder to build anew", &file)(e.into())
        })?;
        Ok(Self { spec: spec.clone(), key, folder, tree, built })
    }
}

impl Workshop {
    /// Returns a workshop with as many jobs as the machine has processors.
    #[must_use]
    pub fn new(data: Data, source: Source, store: Store, interrupt: Interrupt) -> Self {
        let jobs = thread::available_parallelism().map_or(1, NonZero::get);
        Self { data, source, store, interrupt, jobs }
    }

    /// Installs what `needs` and the source name and this machine lacks, and returns a workshop that stops on
    /// ctrl-C, with Linux from `source` or Debian's package, and `cache` or the default one.
    ///
    /// # Errors
    ///
    /// When something is missing and cannot be installed, or the cache cannot be written.
    pub fn open(
        source: Option<&Path>,
        cache: Option<PathBuf>,
        needs: &[&[Need]],
        watch: &mut dyn FnMut(Step<'_>),
    ) -> Result<Self> {
        let interrupt = Interrupt::on_signals()?;
        // A source that is none is said before anything is installed.
        let own = source.map(Source::at).transpose()?;
        let debian: &[&[Need]] = if own.is_some() { &[] } else { &[Need::SOURCE] };
        let lacking = tools::missing(&[needs, debian].concat());
        if !lacking.is_empty() {
            let packages: Vec<_> = lacking.iter().map(|need| need.package).collect();
            watch(Step::Begin(&format!("installing {}", packages.join(", "))));
            tools::install(&lacking, &interrupt)?;
        }
        let source = own.map_or_else(Source::debian, Ok)?;
        let store = Store::open(cache.unwrap_or_else(Store::default_root))?;
        Ok(Self::new(Data::find()?, source, store, interrupt))
    }

    /// Returns the kernel, built when it is not in the store.
    ///
    /// # Errors
    ///
    /// Everything that can be wrong with a source, patch, configuration, compiler or disk.
    pub fn build(&self, spec: &Spec, watch: &mut dyn FnMut(Step<'_>)) -> Result<Kernel> {
        let config = Config::new(&self.data, &spec.allocator, &spec.flavours, spec.own.as_deref())?;
        let tree = self.nursery().prepare(&spec.patches, &self.interrupt, watch)?;
        let compiler = compiler()?;
        let key = kernel_key(&tree, &config, &compiler);
        let folder = self.store.get_or_make("kernels", &key, &self.interrupt, |partial| {
            self.store.need_space(BUILD_MIB)?;
            self.make(spec, &tree, &config, &compiler, partial, watch)
        })?;
        Kernel::at(spec, key, folder, tree.path)
    }

    /// Returns the kernel if it is in the store.
    ///
    /// # Errors
    ///
    /// When source or configuration cannot be read.
    pub fn find(&self, spec: &Spec) -> Result<Option<Kernel>> {
        let config = Config::new(&self.data, &spec.allocator, &spec.flavours, spec.own.as_deref())?;
        let Some(tree) = self.nursery().find(&spec.patches)? else {
            return Ok(None);
        };
        let key = kernel_key(&tree, &config, &compiler()?);
        match self.store.get("kernels", &key) {
            Some(folder) => Kernel::at(spec, key, folder, tree.path).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the source tree with the series and `further` patches if it is in the store.
    ///
    /// # Errors
    ///
    /// When the source or a patch cannot be read.
    pub fn tree(&self, further: &[PathBuf]) -> Result<Option<PathBuf>> {
        Ok(self.nursery().find(further)?.map(|tree| tree.path))
    }

    fn nursery(&self) -> Nursery<'_> {
        Nursery { store: &self.store, data: &self.data, source: &self.source }
    }

    fn make(
        &self,
        spec: &Spec,
        tree: &Tree,
        config: &Config,
        compiler: &str,
        partial: &Path,
        watch: &mut dyn FnMut(Step<'_>),
    ) -> Result<()> {
        let name = spec.name();
        let merged = partial.join("merged.config");
        fs::write(&merged, config.text()).map_err(Error::io("cannot write", &merged))?;
        watch(Step::Begin(&format!("configuring {name}")));
        let mut allcfg = std::ffi::OsString::from("KCONFIG_ALLCONFIG=");
        allcfg.push(&merged);
        let mut configure = make(&tree.path, partial);
        configure.arg(allcfg).arg("allnoconfig");
        run_logged(&mut configure, &partial.with_extension("log"), &self.interrupt, || ())?;
        let dot_config = partial.join(".config");
        let text =
            fs::read_to_string(&dot_config).map_err(Error::io("cannot read", &dot_config))?;
        config.check_taken(&text)?;

        watch(Step::Begin(&format!("building {name}")));
        let started = Instant::now();
        let log = partial.with_extension("log");
        let mut lines = LineCounter::new(&log);
        let expected = self.steps_of_last_build();
        let mut build = make(&tree.path, partial);
        build.arg(format!("-j{}", self.jobs)).args(["bzImage", "modules"]);
        run_logged(&mut build, &log, &self.interrupt, || {
            let done = lines.count();
            watch(Step::Parts(done, expected.max(done)));
        })?;
        let release = partial.join("include/config/kernel.release");
        let release = fs::read_to_string(&release).map_err(Error::io("cannot read", &release))?;
        let built = Built {
            release: release.trim().to_owned(),
            compiler: compiler.to_owned(),
            build_seconds: started.elapsed().as_secs_f64(),
            make_lines: lines.count(),
        };
        let file = partial.join("kernel.json");
        let json = serde_json::to_vec_pretty(&built).expect("strings and numbers");
        fs::write(&file, json).map_err(Error::io("cannot write", &file))
    }

    /// Returns how many lines the largest build in the store printed: that is what 100 % will be.
    fn steps_of_last_build(&self) -> u64 {
        let kernels = fs::read_dir(self.store.root().join("kernels")).into_iter().flatten();
        let built = |folder: PathBuf| -> Option<Built> {
            serde_json::from_slice(&fs::read(folder.join("kernel.json")).ok()?).ok()
        };
        let lines = kernels.flatten().filter_map(|entry| Some(built(entry.path())?.make_lines));
        lines.max().unwrap_or(STEPS_FIRST_GUESS)
    }
}

/// Returns `make` for an out-of-tree build of `tree` in `folder`, at low priority, reproducible.
pub(crate) fn make(tree: &Path, folder: &Path) -> Command {
    let mut command = bound_family("nice");
    command.args(["-n", "10", "make", "-C"]).arg(tree);
    let mut out = std::ffi::OsString::from("O=");
    out.push(folder);
    command.arg(out).args([
        "ARCH=x86_64",
        "KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970",
        "KBUILD_BUILD_USER=slablab",
        "KBUILD_BUILD_HOST=slablab",
    ]);
    command.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").env("LC_ALL", "C");
    command
}

/// Returns what compiles and links, with versions.
fn compiler() -> Result<String> {
    let mut names = Vec::new();
    for program in ["gcc", "ld"] {
        let path = tools::program(program)?;
        let text = output(bound(path).arg("--version"))?;
        names.push(text.lines().next().unwrap_or_default().to_owned());
    }
    Ok(names.join(", "))
}

fn kernel_key(tree: &Tree, config: &Config, compiler: &str) -> Key {
    let mut mixer = Mixer::new("kernel");
    mixer.mix(tree.key.as_str());
    mixer.mix(config.text());
    mixer.mix(compiler);
    mixer.key()
}

/// Counts the lines of a growing file, reading only what is new.
#[derive(Debug)]
struct LineCounter {
    path: PathBuf,
    offset: u64,
    lines: u64,
}

impl LineCounter {
    fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), offset: 0, lines: 0 }
    }

    fn count(&mut self) -> u64 {
        let mut new = Vec::new();
        let read = |new: &mut Vec<u8>| -> std::io::Result<usize> {
            let mut file = fs::File::open(&self.path)?;
            file.seek(SeekFrom::Start(self.offset))?;
            file.read_to_end(new)
        };
        // A log that cannot be read costs the progress bar, not the build.
        if let Ok(n) = read(&mut new) {
            self.offset += n as u64;
            self.lines += new.iter().filter(|byte| **byte == b'\n').count() as u64;
        }
        self.lines
    }
}
