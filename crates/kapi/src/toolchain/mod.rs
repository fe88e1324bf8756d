//! From C source to a module that can be loaded: the system's compiler, our headers, our runtime.
//!
//! # How it works
//! Headers and runtime are part of the command; they are unpacked once into a folder of the user's
//! cache that is named after their contents. The runtime and the jumps are compiled once for each
//! compiler, version and set of flags, and kept there. A module is compiled against them and linked
//! with nothing else (`-nostdlib -z defs`), so that whatever is missing is an error that names it. The result is kept
//! as well, until its sources change.
//!
//! A module that uses what others export is linked with those that are found beside it (`needs`).
//!
//! Without a version that of the headers (6.1) is tried first, then the newest, then older ones: what a module
//! was written for shows in what it compiles against.

mod compiler;
mod files;
mod kept;
mod license;
mod missing;
mod needs;
mod sources;
mod stubs;

use std::path::{Path, PathBuf};

pub use compiler::Flavor;
pub use files::{HeaderItem, clean, header_items, include_folder};

use crate::error::Error;
use crate::job::Version;
use compiler::Compiler;
use license::License;
use sources::Sources;

/// Versions that are tried when none is asked for: that of the headers, the newest, then older ones.
pub const VERSIONS: [Version; 8] = [
    Version::new(6, 1, 0),
    Version::new(7, 3, 0),
    Version::new(5, 4, 0),
    Version::new(4, 4, 0),
    Version::new(3, 10, 0),
    Version::new(3, 2, 0),
    Version::new(2, 6, 32),
    Version::new(2, 6, 9),
];

/// A module, compiled and linked.
#[derive(Debug)]
pub struct Built {
    /// The shared object.
    pub image: PathBuf,
    /// The module's name.
    pub name: String,
    /// The kernel it was compiled for.
    pub version: Version,
    /// What the compiler had to say although it went through.
    pub warnings: String,
    /// The modules that it needs, in the order of their inits.
    pub needed: Vec<String>,
    /// What has to be loaded before it (AddressSanitizer's runtime).
    pub preload: Option<PathBuf>,
}

/// What is to be built.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// A file, or a folder.
    pub source: &'a Path,
    /// Which module of a folder that makes several.
    pub module: Option<&'a str>,
    /// The kernel that it is compiled for; `None` for the first of [`VERSIONS`] that it compiles for.
    pub version: Option<Version>,
    /// How.
    pub flavor: Flavor,
}

/// Compiles a module from a file or a folder into `out`. `progress` is told when the library is compiled first, which is
/// done once for each version: how many of its files are done, and how many there are.
///
/// # Errors
/// [`Error::Source`] for a path that holds no module, [`Error::Compile`] and [`Error::Link`] with the
/// tools' own messages, [`Error::NoCompiler`].
pub fn build(
    request: &Request<'_>,
    out: &Path,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Built, Error> {
    let sources = Sources::find(request.source, request.module)?;
    let compiler = Compiler::find(request.flavor, progress)?;
    let asked = request.version.map(|version| vec![version]);
    let versions = asked.unwrap_or_else(|| VERSIONS.to_vec());
    let image = out.join(format!("{}.so", sources.name));
    let kept_in = compiler.kept_folder();
    let key = compiler.key(&sources, &versions)?;
    let built = |version, warnings, needed| Built {
        image: image.clone(),
        name: sources.name.clone(),
        version,
        warnings,
        needed,
        preload: compiler.preload(),
    };
    compiler.remove_abandoned();
    if let Some(record) = kept::find(&kept_in, &key, &image) {
        return Ok(built(record.version, record.warnings, record.needed));
    }
    // Before the module, which takes a while as well.
    compiler.announce_runtime(versions[0], progress)?;
    let mut first_error = None;
    for version in versions {
        match compile(&compiler, &sources, version, out, "") {
            Ok((objects, mut warnings)) => {
                let runtime = compiler.runtime(version, progress)?;
                let mut loading = Loading {
                    compiler: &compiler,
                    version,
                    out,
                    runtime,
                    before: Vec::new(),
                    names: Vec::new(),
                };
                loading.add_needs_of(&sources, &objects, &[])?;
                let Loading { runtime, before, names, .. } = loading;
                let objects = [objects, before].concat();
                warnings += &compiler.link(&sources.name, &objects, &runtime, &image)?;
                let included = compiler.included(out);
                let record = kept::Record::new(version, &warnings, &names, &image, &included);
                if let Some(record) = record {
                    kept::keep(&kept_in, &key, &image, &record);
                }
                return Ok(built(version, warnings, names));
            }
            Err(error @ Error::Compile { .. }) => first_error = first_error.or(Some(error)),
            Err(error) => return Err(error),
        }
    }
    Err(first_error.expect("there is a version to try"))
}

fn compile(
    compiler: &Compiler,
    sources: &Sources,
    version: Version,
    out: &Path,
    prefix: &str,
) -> Result<(Vec<PathBuf>, String), Error> {
    let mut objects = Vec::new();
    let mut warnings = String::new();
    for (i, file) in sources.files.iter().enumerate() {
        let object = out.join(format!("{prefix}{i}.o"));
        warnings += &compiler.compile_module(file, &sources.name, version, &object)?;
        objects.push(object);
    }
    Ok((objects, warnings))
}

/// Modules that are loaded before the one that is asked for.
struct Loading<'a> {
    compiler: &'a Compiler,
    version: Version,
    out: &'a Path,
    runtime: PathBuf,
    /// An object of each, in the order of their inits.
    before: Vec<PathBuf>,
    /// Their names.
    names: Vec<String>,
}

impl Loading<'_> {
    /// Compiles what a module needs, each behind its own needs. `way` has the modules that need this one, each the next.
    fn add_needs_of(
        &mut self,
        sources: &Sources,
        objects: &[PathBuf],
        way: &[&str],
    ) -> Result<(), Error> {
        let way = [way, &[sources.name.as_str()]].concat();
        let license = License::read(objects)?;
        license.check_kernels(sources, objects)?;
        let missing = missing::undefined(objects, &self.runtime)?;
        if missing.is_empty() {
            return Ok(());
        }
        for needed in needs::providers(sources, &missing)? {
            let used = needed.exports.iter().filter(|export| missing.contains(&export.name));
            license.check_modules(sources, self.version, used)?;
            let name = &needed.sources.name;
            if let Some(at) = way.iter().position(|on_way| on_way == name) {
                return Err(circle(&needed.sources, &way[at..]));
            }
            if self.names.contains(name) {
                continue;
            }
            let prefix = format!("{name}-");
            let (compiler, out) = (self.compiler, self.out);
            let (objects, _) = compile(compiler, &needed.sources, self.version, out, &prefix)?;
            self.add_needs_of(&needed.sources, &objects, &way)?;
            let joined = compiler.join(&objects, &needed.names(), self.before.len(), out)?;
            self.before.push(joined);
            self.names.push(name.clone());
        }
        Ok(())
    }
}

/// Says that modules need each other, which no order of loading allows.
fn circle(first: &Sources, names: &[&str]) -> Error {
    let way = [names, &names[..1]].concat().join(" needs ");
    let path = first.files.first().map_or_else(PathBuf::new, |file| file.path.clone());
    let what = format!(
        "{way}: none of them can be loaded first, and depmod refuses such a circle; move what both use into a module of its own"
    );
    Error::Source { path, what }
}
