//! The names by which kernels are requested.
//!
//! | name | kernel |
//! |---|---|
//! | `slub` | built from `--source` or Debian's Linux 6.1 with this allocator |
//! | `debian:6.12`, `debian:7.3/arm64-16k` | the newest stock image of that release in Debian's archive |
//! | `build:6.12/slub_tiny` | built from Debian's source package of that release |
//! | `build:6.12/slub+stats` | the same with flavours: further fragments of the configuration |
//! | `build:6.12/slub+mine.patch` | the same with a patch, a file that ends in `.patch` or `.diff` |
//! | a path | an image (bzImage), or a source folder or tarball, built with SLUB |

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::arch::Arch;
use crate::data::Data;
use crate::error::{Error, Result};
use crate::source::Source;
use crate::tools::Need;
use crate::tree::patch_path;
use slablab_linux::Release;

/// A requested kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// Its origin
    pub origin: Origin,
    /// Further fragments, such as `debug`
    pub flavours: Vec<String>,
    /// A fragment of the user's
    pub own: Option<PathBuf>,
    /// Patches on top of the series
    pub patches: Vec<PathBuf>,
}

/// The origin of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A stock image of Debian's
    Stock(Release, &'static Arch),
    /// An image of the user's
    Image(PathBuf),
    /// Built, with the fragment `allocator-NAME.config`
    Build(Linux, String),
}

/// The Linux that is built.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Linux {
    /// The one with which the builder was opened, or else Debian's 6.1
    Default,
    /// Debian's source package
    Debian(Release),
    /// A folder or a tarball
    At(PathBuf),
}

/// Returns whether a part of a name is the path of a patch.
fn is_patch(part: &str) -> bool {
    Path::new(part).extension().is_some_and(|end| end == "patch" || end == "diff")
}

impl Spec {
    /// Returns the plain kernel with this allocator.
    #[must_use]
    pub fn plain(allocator: &str) -> Self {
        Self::of(Origin::Build(Linux::Default, allocator.into()))
    }

    fn of(origin: Origin) -> Self {
        Self { origin, flavours: vec![], own: None, patches: vec![] }
    }

    /// Reads the name of a kernel.
    ///
    /// # Errors
    ///
    /// If it is not a name; the message has those that exist.
    pub fn named(data: &Data, name: &str) -> Result<Self> {
        // A path may have a plus in it.
        let split = name.split_once('+').filter(|_| !Path::new(name).exists());
        let (name, flavours) = split.unwrap_or((name, ""));
        let parts = flavours.split_terminator('+');
        let (patches, flavours): (Vec<&str>, Vec<&str>) = parts.partition(|part| is_patch(part));
        let patches = patches.into_iter().map(patch_path).collect::<Result<_>>()?;
        let flavours = flavours.into_iter().map(str::to_owned).collect();
        let wrong = |why: String| Error::Config { place: name.to_owned(), why };
        let release = |text: &str| {
            let release = Release::of(text).filter(|release| release.to_string() == text);
            release.ok_or_else(|| {
                wrong(format!("`{text}` is not a release of Linux. Write 6.12, for instance"))
            })
        };
        let allocators = data.allocators();
        let build = |linux, allocator: &str| match allocators.iter().any(|known| known == allocator)
        {
            true => Ok(Origin::Build(linux, allocator.to_owned())),
            false => Err(wrong(format!(
                "no such kernel; there are: {}, debian:RELEASE[/MACHINE], build:RELEASE[/ALLOCATOR], and the paths of \
                 images, source folders and tarballs",
                allocators.join(", ")
            ))),
        };
        let origin = if let Some(rest) = name.strip_prefix("debian:") {
            let (text, arch) = rest.split_once('/').unwrap_or((rest, Arch::NATIVE.name));
            Origin::Stock(release(text)?, Arch::named(arch)?)
        } else if let Some(rest) = name.strip_prefix("build:") {
            let (text, allocator) = rest.split_once('/').unwrap_or((rest, "slub"));
            build(Linux::Debian(release(text)?), allocator)?
        } else if allocators.iter().any(|known| known == name) || !Path::new(name).exists() {
            build(Linux::Default, name)?
        } else {
            let path = fs::canonicalize(name).map_err(Error::io("cannot resolve", name))?;
            match image_release(&path) {
                Some(_) => Origin::Image(path),
                None => {
                    Source::at(&path)?;
                    build(Linux::At(path), "slub")?
                }
            }
        };
        Ok(Self { flavours, patches, ..Self::of(origin) })
    }

    /// Returns the name: `slub`, `debian:7.3/armmp`, `build:6.12/slub_tiny+stats`, `slub+my-change` with `my-change.patch`.
    #[must_use]
    pub fn name(&self) -> String {
        let stem =
            |path: &PathBuf| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let first = match &self.origin {
            Origin::Stock(release, arch) if *arch == Arch::NATIVE => format!("debian:{release}"),
            Origin::Stock(release, arch) => format!("debian:{release}/{}", arch.name),
            Origin::Image(path) => {
                path.file_name().unwrap_or_default().to_string_lossy().into_owned()
            }
            Origin::Build(Linux::Default, allocator) => allocator.clone(),
            Origin::Build(Linux::Debian(release), allocator) => {
                format!("build:{release}/{allocator}")
            }
            Origin::Build(Linux::At(path), _) => source_name(path),
        };
        let mut parts = vec![first];
        parts.extend(self.flavours.iter().cloned());
        parts.extend(self.own.iter().chain(&self.patches).filter_map(stem));
        parts.join("+")
    }

    /// Returns the fragments of `kernel/config` that a kernel is built with, in words; `None` for one that is not built.
    #[must_use]
    pub fn configuration(&self) -> Option<String> {
        let Origin::Build(_, allocator) = &self.origin else { return None };
        let own = self.own.iter().map(|path| path.display().to_string());
        let fragments = [format!("allocator-{allocator}")].into_iter();
        let fragments = fragments.chain(self.flavours.iter().cloned()).chain(own);
        Some(format!("allnoconfig with base, {}", fragments.collect::<Vec<_>>().join(", ")))
    }

    /// Returns the machine on which it runs.
    #[must_use]
    pub fn arch(&self) -> &'static Arch {
        match &self.origin {
            Origin::Stock(_, arch) => arch,
            _ => Arch::NATIVE,
        }
    }

    /// Returns what the machine needs to build or to download it.
    #[must_use]
    pub fn needs_to_make(&self) -> Vec<&'static [Need]> {
        match &self.origin {
            Origin::Build(..) if self.flavours.iter().any(|flavour| flavour == "btf") => {
                vec![Need::BUILD, Need::BTF]
            }
            Origin::Build(..) => vec![Need::BUILD],
            Origin::Stock(..) => vec![Need::STOCK],
            Origin::Image(_) => vec![],
        }
    }

    /// Returns whether it tells too little about its caches, and can have the module `slabinfo`.
    #[must_use]
    pub fn needs_slabinfo(&self) -> bool {
        // The flavour `tiny` has no sysfs, and so no debugging of SLUB, which slabinfo and the attributes belong to.
        let without_sysfs = self.flavours.iter().any(|flavour| flavour == "tiny");
        matches!(&self.origin, Origin::Build(_, allocator)
            if ["slab", "slub_tiny"].contains(&&**allocator) || without_sysfs)
    }

    /// Returns what the machine needs to make and to boot it.
    #[must_use]
    pub fn needs(&self) -> Vec<&'static [Need]> {
        let boot = [Need::BOOT, self.arch().emulator];
        self.needs_to_make().into_iter().chain(boot).collect()
    }
}

/// Returns the release of the bzImage `path`, or `None` when it is not one.
///
/// Linux counterpart: `Documentation/arch/x86/boot.rst`, "HdrS" at 0x202, the version's offset less 0x200 at 0x20e.
pub(crate) fn image_release(path: &Path) -> Option<String> {
    let mut head = [0; 0x210];
    let mut file = File::open(path).ok()?;
    file.read_exact(&mut head).ok()?;
    if &head[0x202..0x206] != b"HdrS" {
        return None;
    }
    let offset = u16::from_le_bytes([head[0x20e], head[0x20f]]);
    file.seek(SeekFrom::Start(u64::from(offset) + 0x200)).ok()?;
    let mut text = Vec::new();
    file.take(128).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    Some(text.split([' ', '\0']).next().unwrap_or_default().to_owned())
}

/// Returns the bytes of memory below the end of what the bzImage `path` takes to unpack itself; `None` when it is not one.
///
/// Linux counterpart: `Documentation/arch/x86/boot.rst`, `pref_address` at 0x258, `init_size` at 0x260.
pub(crate) fn image_memory_bytes(path: &Path) -> Option<u64> {
    let mut head = [0; 0x264];
    File::open(path).ok()?.read_exact(&mut head).ok()?;
    let is_image = &head[0x202..0x206] == b"HdrS";
    let address = u64::from_le_bytes(head[0x258..0x260].try_into().ok()?);
    let size = u64::from(u32::from_le_bytes(head[0x260..0x264].try_into().ok()?));
    is_image.then(|| address.saturating_add(size))
}

/// Returns the name of a source: a folder's whole name, a tarball's without its endings. Folders have dots, too, as
/// `linux-source-6.12`.
fn source_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let endings = [".gz", ".xz", ".bz2", ".zst", ".tar", ".tgz"];
    let cut =
        |name: &str| endings.iter().find_map(|ending| Some(name.strip_suffix(ending)?.to_owned()));
    let whole = name.into_owned();
    std::iter::successors(Some(whole.clone()), |name| cut(name)).last().unwrap_or(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_a_name_and_its_name_leads_back() {
        let data = Data::of_the_sources();
        for name in ["slub", "debian:6.12", "debian:7.3/arm64-16k", "build:6.12/slub+stats"] {
            let spec = Spec::named(&data, name).unwrap();
            assert_eq!(spec.name(), name);
        }
        assert_eq!(Spec::named(&data, "debian:6.1/amd64").unwrap().name(), "debian:6.1");
        assert_eq!(Spec::named(&data, "build:7.3").unwrap().name(), "build:7.3/slub");
        for (wrong, part) in [
            (
                "slabb",
                "no such kernel; there are: slab, slmb, slob, slub, slub_dense, slub_tiny, debian:",
            ),
            ("build:6.12/slabb", "no such kernel"),
            ("debian:sid", "`sid` is not a release"),
            ("debian:6.12.1", "`6.12.1` is not a release"),
            ("debian:6.12/vax", "vax: no such machine; there are: amd64, arm64"),
        ] {
            let error = Spec::named(&data, wrong).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    /// So that a kernel and the same kernel with a patch are two variants of one run.
    #[test]
    fn a_patch_is_a_part_of_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let patch = folder.path().join("mine.patch");
        fs::write(&patch, "").unwrap();
        let data = Data::of_the_sources();
        let named = |end: &str| Spec::named(&data, &format!("slub+stats+{}{end}", patch.display()));
        let spec = named("").unwrap();
        assert_eq!(
            (spec.name().as_str(), &spec.flavours[..]),
            ("slub+stats+mine", &["stats".to_owned()][..])
        );
        assert_eq!(spec.patches, [fs::canonicalize(&patch).unwrap()]);
        let missing = named(".diff").unwrap_err().to_string();
        assert!(missing.contains("no such patch"), "{missing}");
    }

    #[test]
    fn a_source_with_a_dot_in_its_name_is_shown_whole() {
        for (path, name) in [
            ("/usr/src/linux-source-6.12", "linux-source-6.12"),
            ("/usr/src/linux-source-6.12.tar.xz", "linux-source-6.12"),
            ("linux-7.3.4.tgz", "linux-7.3.4"),
            ("linux", "linux"),
        ] {
            assert_eq!(source_name(Path::new(path)), name);
        }
    }

    #[test]
    fn an_image_is_known_by_its_header() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bzImage");
        let mut image = vec![0; 0x400];
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image[0x20e] = 0x10;
        image[0x210..0x21a].copy_from_slice(b"7.3.4 (me)");
        fs::write(&path, &image).unwrap();
        let spec = Spec::named(&Data::of_the_sources(), path.to_str().unwrap()).unwrap();
        assert!(matches!(spec.origin, Origin::Image(_)));
        assert_eq!(image_release(&path).unwrap(), "7.3.4");
        image[0x258..0x25c].copy_from_slice(&(16_u32 << 20).to_le_bytes());
        image[0x260..0x264].copy_from_slice(&(56_u32 << 20).to_le_bytes());
        fs::write(&path, &image).unwrap();
        assert_eq!(image_memory_bytes(&path), Some(72 << 20));
        fs::write(&path, &image[..0x200]).unwrap();
        assert_eq!((image_release(&path), image_memory_bytes(&path)), (None, None));
    }
}
