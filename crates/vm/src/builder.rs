//! Builds kernels and modules, each once, and keeps them.
//!
//! # How it works
//!
//! `make O=PARTIAL` out of tree, with the folder renamed to its key at the end. A build that was stopped is
//! continued: Kbuild records each command after it succeeded, and repeats those that have no record.
//!
//! # Invariants
//!
//! - The key has everything that goes into a build: tree, merged configuration, compiler and linker version.
//! - Time stamp, user and host in the image are constants, so that equal keys are equal images.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use slablab_host::{Interrupt, Key, KeyHasher, bound};

use crate::config::Config;
use crate::data::Data;
use crate::error::{Error, Result};
use crate::kernel::{Built, Kernel, Spec};
use crate::make::{Folders, User};
use crate::module::Module;
use crate::run::{output, run_logged};
use crate::source::Source;
use crate::step::Step;
use crate::store::Store;
use crate::tools::{self, Need};
use crate::tree::{Tree, TreeCache};

/// Megabytes that a build takes (the base configuration: 190 MB; debugging doubles it).
const BUILD_MIB: u64 = 600;

/// Lines that `make` prints for the base configuration; the next build learns from the last.
const STEPS_FIRST_GUESS: u64 = 1200;

/// What is needed to make kernels: where from, where to, and whether to go on.
#[derive(Debug)]
pub struct KernelBuilder {
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

impl KernelBuilder {
    /// Returns a builder with as many jobs as the machine has processors.
    #[must_use]
    pub fn new(data: Data, source: Source, store: Store, interrupt: Interrupt) -> Self {
        let jobs = thread::available_parallelism().map_or(1, NonZero::get);
        Self { data, source, store, interrupt, jobs }
    }

    /// Returns a builder that stops on ctrl-C, with Linux from `source` or Debian's package, and `cache` or the user's
    /// cache folder.
    ///
    /// # Errors
    ///
    /// When something that `needs` and the source name is missing, or the cache cannot be written.
    pub fn open(
        source: Option<&Path>,
        cache: Option<&Path>,
        needs: &[&'static [Need]],
    ) -> Result<Self> {
        // A wrong --source is reported before missing programs.
        let own = source.map(Source::at).transpose()?;
        let debian: &[&[Need]] = if own.is_some() { &[] } else { &[Need::SOURCE] };
        tools::require(&[needs, debian].concat())?;
        let source = own.map_or_else(Source::debian, Ok)?;
        let interrupt =
            Interrupt::on_signals().map_err(Error::io("cannot handle signals", "/proc/self"))?;
        Ok(Self::new(Data::find()?, source, Store::open(cache)?, interrupt))
    }

    /// Returns the kernel, built when it is not in the store.
    ///
    /// # Errors
    ///
    /// Everything that can be wrong with a source, patch, configuration, compiler or disk.
    pub fn build(&self, spec: &Spec, watch: &mut dyn FnMut(Step<'_>)) -> Result<Kernel> {
        let config = Config::new(&self.data, &spec.allocator, &spec.flavours, spec.own.as_deref())?;
        let tree = self.trees().prepare(&spec.patches, &self.interrupt, watch)?;
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
        let Some(tree) = self.trees().find(&spec.patches)? else {
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
        Ok(self.trees().find(further)?.map(|tree| tree.path))
    }

    fn trees(&self) -> TreeCache<'_> {
        TreeCache { store: &self.store, data: &self.data, source: &self.source }
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
        let user = self.user(watch);
        let folders = Folders { tree: &tree.path, build: partial, module: None };
        let log = partial.with_extension("log");
        let mut configure = user.make(folders, &self.interrupt)?;
        // By its name in the build folder: make runs there.
        configure.arg("KCONFIG_ALLCONFIG=merged.config").arg("allnoconfig");
        run_logged("make", &mut configure, &log, &self.interrupt, || ())?;
        let dot_config = partial.join(".config");
        let text =
            fs::read_to_string(&dot_config).map_err(Error::io("cannot read", &dot_config))?;
        config.check_taken(&text)?;

        watch(Step::Begin(&format!("building {name}")));
        let started = Instant::now();
        let mut lines = LineCounter::new(&log);
        let expected = self.steps_of_last_build();
        let mut build = user.make(folders, &self.interrupt)?;
        build.arg(format!("-j{}", self.jobs)).args(["bzImage", "modules"]);
        run_logged("make", &mut build, &log, &self.interrupt, || {
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
        built.write(partial)
    }

    /// Returns `NAME.ko` of `module` for `kernel`, built when it is not in the store.
    ///
    /// # Errors
    ///
    /// When it does not compile.
    pub fn build_module(
        &self,
        module: &Module,
        kernel: &Kernel,
        watch: &mut dyn FnMut(Step<'_>),
    ) -> Result<PathBuf> {
        let files = module.files()?;
        let mut hasher = KeyHasher::new("module");
        hasher.update(kernel.key.as_str());
        for file in &files {
            hasher.update(file.file_name().unwrap_or_default().as_encoded_bytes());
            hasher.update_file(file).map_err(Error::io("cannot read", file))?;
        }
        let object = format!("{}.ko", module.name());
        let make = |partial: &Path| {
            watch(Step::Begin(&format!("building {object} for {}", kernel.spec.name())));
            for file in &files {
                let copy = partial.join(file.file_name().unwrap_or_default());
                fs::copy(file, &copy).map_err(Error::io("cannot write", &copy))?;
            }
            let folders =
                Folders { tree: &kernel.tree, build: &kernel.folder, module: Some(partial) };
            let mut command = self.user(watch).make(folders, &self.interrupt)?;
            let log = partial.with_extension("log");
            run_logged("make", command.arg("modules"), &log, &self.interrupt, || ())
        };
        let folder = self.store.get_or_make("modules", &hasher.finish(), &self.interrupt, make)?;
        let path = folder.join(&object);
        if !path.is_file() {
            return Err(Error::Config {
                place: module.folder().join("Kbuild").display().to_string(),
                why: format!("does not make {object}. Write: obj-m := {}.o", module.name()),
            });
        }
        Ok(path)
    }

    /// Returns who runs `make`, with a note when it is root.
    fn user(&self, watch: &mut dyn FnMut(Step<'_>)) -> User {
        let user = User::of(self.store.root());
        if let User::Root(why) = &user {
            watch(Step::Note(&format!("building as root, because no other user can: {why}")));
        }
        user
    }

    /// Returns how many lines the largest build in the store printed: that is what 100 % will be.
    fn steps_of_last_build(&self) -> u64 {
        let kernels = fs::read_dir(self.store.root().join("kernels")).into_iter().flatten();
        let lines =
            kernels.flatten().filter_map(|entry| Some(Built::read(&entry.path()).ok()?.make_lines));
        lines.max().unwrap_or(STEPS_FIRST_GUESS)
    }
}

/// Returns what compiles and links, with versions.
fn compiler() -> Result<String> {
    let mut names = Vec::new();
    for program in ["gcc", "ld"] {
        let path = tools::program(program)?;
        let text = output(program, bound(path).arg("--version"))?;
        names.push(text.lines().next().unwrap_or_default().to_owned());
    }
    Ok(names.join(", "))
}

fn kernel_key(tree: &Tree, config: &Config, compiler: &str) -> Key {
    let mut hasher = KeyHasher::new("kernel");
    hasher.update(tree.key.as_str());
    hasher.update(config.text());
    hasher.update(compiler);
    hasher.finish()
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
