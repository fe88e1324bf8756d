//! Builds each kernel and module once, and keeps it.
//!
//! # How it works
//! The build is `make O=PARTIAL` out of tree, with the folder renamed to its key at the end. A build that
//! was stopped is continued: Kbuild records each command after it succeeded, and repeats those without a
//! record.
//!
//! # Invariants
//! - The key has everything that goes into a build: tree, merged configuration, compiler and linker version.
//! - Time stamp, user and host in the image are constants, so that equal keys are equal images.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use slablab_host::{CacheError, Interrupt, Key, KeyHasher, bound};
use tempfile::TempDir;

use crate::config::Config;
use crate::data::Data;
use crate::error::{Error, Result};
use crate::kernel::{Built, Kernel};
use crate::make::{Folders, User};
use crate::module::Module;
use crate::run::{output, run_logged};
use crate::source::Source;
use crate::spec::{Linux, Origin, Spec};
use crate::step::Step;
use crate::store::Store;
use crate::tools::{self, Need};
use crate::tree::{Tree, TreeCache};
use slablab_linux::Release;

/// This file is in a build folder while another build is copied into it.
const COPYING: &str = "copying";
/// Megabytes that a build takes (the base configuration: 190 MB; debugging doubles it).
const BUILD_MIB: u64 = 600;

/// Lines that `make` prints for the base configuration; the next build learns from the last.
const STEPS_FIRST_GUESS: u64 = 1200;

/// Work that the compiler does not need to do for a kernel of the lab. The first is to remember, for its messages, where in
/// which macro each token stands. The second is to read the source once more to check its indentation. That is 8 of 100
/// instructions of a file of 7.3; the code is the same. The other two are warnings about expanded macros, which it gives
/// once it no longer knows that they are macros.
const FASTER: &str = "KCFLAGS=-ftrack-macro-expansion=0 -Wno-misleading-indentation -Wno-tautological-compare -Wno-address";

/// What is built by default: the last release with all of SLAB, SLUB and SLOB, and the one of our patches.
const DEFAULT_RELEASE: Release = Release(6, 1);

/// The places from which kernels come and to which they go, if they differ from the usual ones.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// A folder or tarball instead of Debian's Linux 6.1
    pub source: Option<PathBuf>,
    /// Another cache folder than the user's
    pub cache: Option<PathBuf>,
    /// Another mirror of Debian than the one in the machine's own sources
    pub mirror: Option<String>,
}

/// What is needed to make kernels: sources, a store, and a flag to stop.
#[derive(Debug)]
pub struct KernelBuilder {
    /// Configuration, patches, modules, guest
    pub data: Data,
    /// The cache
    pub store: Store,
    /// Set when the user or the system requests an end
    pub interrupt: Interrupt,
    /// Compilers at a time
    pub jobs: usize,
    pub(crate) mirror: Option<String>,
    /// The source instead of Debian's Linux 6.1
    source: Option<Source>,
    /// The sources that were used, whose content is read once
    sources: RefCell<BTreeMap<Linux, Source>>,
    /// A replacement for what the cache cannot take
    _scratch: Option<TempDir>,
}

impl KernelBuilder {
    /// Returns a builder with as many jobs as the machine has processors.
    ///
    /// # Errors
    ///
    /// If the source is unusable, or the cache cannot be written.
    pub fn new(places: &Places, interrupt: Interrupt) -> Result<Self> {
        Self::with(places, interrupt, None)
    }

    /// Returns a builder to look at what exists; it needs no cache that can be written.
    ///
    /// # Errors
    ///
    /// If the source is unusable, or another user owns the cache.
    pub fn reading(places: &Places, interrupt: Interrupt) -> Result<Self> {
        let scratch = tempfile::tempdir()
            .map_err(Error::io("cannot make a folder in", std::env::temp_dir()))?;
        Self::with(places, interrupt, Some(scratch))
    }

    /// Returns a builder that uses `scratch`, if given, for what the user's cache folder cannot
    /// take.
    fn with(places: &Places, interrupt: Interrupt, scratch: Option<TempDir>) -> Result<Self> {
        fn or<T>(
            found: Result<T>,
            scratch: Option<&TempDir>,
            other: impl FnOnce(&Path) -> Result<T>,
        ) -> Result<T> {
            match (found, scratch) {
                (Err(Error::Cache(CacheError::NoHome | CacheError::Io { .. })), Some(scratch)) => {
                    other(scratch.path())
                }
                (found, _) => found,
            }
        }
        Ok(Self {
            // A wrong source is reported before anything else.
            source: places.source.as_deref().map(Source::at).transpose()?,
            data: or(Data::find(), scratch.as_ref(), Data::find_in)?,
            store: or(Store::open(places.cache.as_deref()), scratch.as_ref(), |scratch| {
                Store::open(Some(scratch))
            })?,
            interrupt,
            jobs: thread::available_parallelism().map_or(1, NonZero::get),
            mirror: places.mirror.clone(),
            sources: RefCell::default(),
            _scratch: scratch,
        })
    }

    /// Returns a builder that stops on ctrl-C.
    ///
    /// # Errors
    ///
    /// Fails as [`KernelBuilder::new`] does, and if something that `needs` name is missing.
    pub fn open(places: &Places, needs: &[&'static [Need]]) -> Result<Self> {
        let interrupt =
            Interrupt::on_signals().map_err(Error::io("cannot handle signals", "/proc/self"))?;
        let builder = Self::new(places, interrupt)?;
        tools::require(needs)?;
        Ok(builder)
    }

    /// Returns the kernel, built or downloaded when it is not in the store.
    ///
    /// # Errors
    ///
    /// If anything is wrong with the archive, source, patch, configuration, compiler or disk.
    pub fn build(&self, spec: &Spec, watch: &mut dyn FnMut(Step<'_>)) -> Result<Kernel> {
        spec.check(&self.data)?;
        let linux = match &spec.origin {
            Origin::Stock(release, arch) => return self.stock(spec, *release, arch, watch),
            Origin::Image(path) => return Kernel::of_image(spec, path),
            Origin::Build(linux, _) => linux,
        };
        let source = self.source(linux, Some(watch))?.expect("it was downloaded");
        let tree = self.trees(&source).prepare(&spec.patches, &self.interrupt, watch)?;
        let config = Config::new(&self.data, spec, Some(source.release_of(&tree.path)?))?;
        let compiler = compiler()?;
        let key = kernel_key(&tree, &config, &compiler);
        let name = spec.name();
        watch(Step::Begin(&format!(
            "looking for {name}, or waiting for another run that builds it"
        )));
        let folder = self.store.get_or_make("kernels", &key, &self.interrupt, |partial| {
            self.store.need_space(BUILD_MIB)?;
            self.begin_with_unpatched(spec, partial, watch)?;
            self.make(spec, &tree, &config, &compiler, partial, watch)
        })?;
        Kernel::at(spec, key, folder, Some(tree.path))
    }

    /// Copies the build of the same kernel without further patches, if it is in the store: `make` compiles what the
    /// patches change, since a tree with further patches has the other tree's files, with their times.
    fn begin_with_unpatched(
        &self,
        spec: &Spec,
        partial: &Path,
        watch: &mut dyn FnMut(Step<'_>),
    ) -> Result<()> {
        let copying = partial.join(COPYING);
        if copying.exists() {
            // A copy that was stopped has parts of files, which `make` would take for whole ones.
            fs::remove_dir_all(partial).map_err(Error::io("cannot remove", partial))?;
            fs::create_dir(partial).map_err(Error::io("cannot make the folder", partial))?;
        }
        let is_begun = fs::read_dir(partial).is_ok_and(|mut files| files.next().is_some());
        if spec.patches.is_empty() || is_begun {
            return Ok(());
        }
        let unpatched = Spec { patches: Vec::new(), ..spec.clone() };
        let Some(base) = self.find(&unpatched)? else { return Ok(()) };
        watch(Step::Begin(&format!("copying the build of {}", unpatched.name())));
        fs::write(&copying, "").map_err(Error::io("cannot write", &copying))?;
        let mut copy = bound("cp");
        copy.args(["-a", "--reflink=auto"]).arg(base.folder.join(".")).arg(partial);
        run_logged("cp", &mut copy, &partial.with_extension("log"), &self.interrupt, || ())?;
        Built::remove(partial)?;
        fs::remove_file(&copying).map_err(Error::io("cannot remove", &copying))
    }

    /// Returns the kernel if it is in the store.
    ///
    /// # Errors
    ///
    /// If source or configuration cannot be read.
    pub fn find(&self, spec: &Spec) -> Result<Option<Kernel>> {
        let linux = match &spec.origin {
            Origin::Stock(release, arch) => return Ok(self.stock_in_store(spec, *release, arch)),
            Origin::Image(path) => return Kernel::of_image(spec, path).map(Some),
            Origin::Build(linux, _) => linux,
        };
        let Some(source) = self.source(linux, None)? else { return Ok(None) };
        let Some(tree) = self.trees(&source).find(&spec.patches)? else { return Ok(None) };
        let config = Config::new(&self.data, spec, Some(source.release_of(&tree.path)?))?;
        let key = kernel_key(&tree, &config, &compiler()?);
        let folder = self.store.get("kernels", &key);
        folder.map(|folder| Kernel::at(spec, key, folder, Some(tree.path))).transpose()
    }

    /// Returns the kernels in the store that its own names lead to today: those of another source, configuration or
    /// compiler are not among them.
    #[must_use]
    pub fn built(&self) -> Vec<Kernel> {
        let find = |folder: PathBuf| {
            let spec = Spec::named(&self.data, &Built::read(&folder).ok()?.name).ok()?;
            self.find(&spec).ok()?.filter(|kernel| kernel.folder == folder)
        };
        self.store.all("kernels").into_iter().filter_map(find).collect()
    }

    /// Returns the source. One that is not on this machine is downloaded if `watch` is given to report it.
    fn source(
        &self,
        linux: &Linux,
        watch: Option<&mut dyn FnMut(Step<'_>)>,
    ) -> Result<Option<Source>> {
        if let Some(source) = self.sources.borrow().get(linux) {
            return Ok(Some(source.clone()));
        }
        let source = match (linux, &self.source) {
            (Linux::At(path), _) => Some(Source::at(path)?),
            (Linux::Default, Some(source)) => Some(source.clone()),
            (Linux::Default, None) => self.debian_source(DEFAULT_RELEASE, watch)?,
            (Linux::Debian(release), _) => self.debian_source(*release, watch)?,
        };
        if let Some(source) = &source {
            source.key()?;
            self.sources.borrow_mut().insert(linux.clone(), source.clone());
        }
        Ok(source)
    }

    /// Returns the source tree of a kernel that is built, if it is in the store.
    ///
    /// # Errors
    ///
    /// If the source or a patch cannot be read.
    pub fn tree(&self, spec: &Spec) -> Result<Option<PathBuf>> {
        let Origin::Build(linux, _) = &spec.origin else { return Ok(None) };
        let Some(source) = self.source(linux, None)? else { return Ok(None) };
        Ok(self.trees(&source).find(&spec.patches)?.map(|tree| tree.path))
    }

    fn trees<'a>(&'a self, source: &'a Source) -> TreeCache<'a> {
        TreeCache { store: &self.store, data: &self.data, source }
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
        // The name is relative to the build folder, because make runs there.
        configure.arg(self.jobs_at_a_time());
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
        build.arg(self.jobs_at_a_time()).args([FASTER, "bzImage", "modules"]);
        run_logged("make", &mut build, &log, &self.interrupt, || {
            let done = lines.count();
            watch(Step::Parts(done, expected.max(done)));
        })?;
        let release = partial.join("include/config/kernel.release");
        let release = fs::read_to_string(&release).map_err(Error::io("cannot read", &release))?;
        let built = Built {
            name: name.clone(),
            release: release.trim().to_owned(),
            compiler: compiler.to_owned(),
            build_seconds: started.elapsed().as_secs_f64(),
            make_lines: lines.count(),
            warnings: Some(warnings(&log)?),
            ..Built::default()
        };
        built.write(partial)
    }

    /// Returns `NAME.ko` of `module` for `kernel`, built when it is not in the store.
    ///
    /// # Errors
    ///
    /// If it does not compile.
    pub fn build_module(
        &self,
        module: &Module,
        kernel: &Kernel,
        watch: &mut dyn FnMut(Step<'_>),
    ) -> Result<PathBuf> {
        let tree = kernel.tree.as_ref().ok_or_else(|| Error::Config {
            place: kernel.spec.name(),
            why: format!(
                "it was not built here, so {} cannot be built for it. Take build:RELEASE",
                module.name()
            ),
        })?;
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
            let folders = Folders { tree, build: &kernel.folder, module: Some(partial) };
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

    /// Returns the user who runs `make`, with a note when it is root.
    fn user(&self, watch: &mut dyn FnMut(Step<'_>)) -> User {
        let user = User::of(self.store.root());
        if let User::Root(why) = &user {
            watch(Step::Note(&format!("building as root, because no other user can: {why}")));
        }
        user
    }

    /// Returns how many jobs `make` runs at a time.
    fn jobs_at_a_time(&self) -> String {
        format!("-j{}", self.jobs)
    }

    /// Returns how many lines the largest build in the store printed; that number counts as 100 %.
    fn steps_of_last_build(&self) -> u64 {
        let kernels = self.store.all("kernels").into_iter();
        let lines = kernels.filter_map(|folder| Some(Built::read(&folder).ok()?.make_lines));
        lines.max().unwrap_or(STEPS_FIRST_GUESS)
    }
}

/// Returns the compiler and the linker, with versions.
fn compiler() -> Result<String> {
    let mut names = Vec::new();
    for program in ["gcc", "ld"] {
        let path = tools::program(program)?;
        let text = output(program, bound(path).arg("--version"))?;
        names.push(text.lines().next().unwrap_or_default().to_owned());
    }
    Ok(names.join(", "))
}

/// Returns the compiler's warnings in the log of a build.
fn warnings(log: &Path) -> Result<Vec<String>> {
    let text = fs::read(log).map_err(Error::io("cannot read the log", log))?;
    let text = String::from_utf8_lossy(&text);
    Ok(text.lines().filter(|line| line.contains(": warning: ")).map(str::to_owned).collect())
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
