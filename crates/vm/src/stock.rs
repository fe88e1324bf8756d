//! Packages from Debian's archive: stock kernels, sources, and the programs of a guest of another architecture.
//!
//! Each is kept in the store under its package and version. Where the archive cannot be read, or has dropped a release,
//! the newest one in the store is used, with a note.

use std::fs;
use std::path::{Path, PathBuf};

use slablab_host::{Key, KeyHasher};

use crate::arch::Arch;
use crate::archive::{Archive, numbers};
use crate::builder::KernelBuilder;
use crate::error::{Error, Result};
use crate::initramfs::Initramfs;
use crate::kernel::{Built, Kernel};
use crate::source::Source;
use crate::spec::{Origin, Spec};
use crate::step::Step;
use slablab_linux::Release;

/// The packages with the image, best first: from 6.19 on `linux-image` only depends on `linux-binary`.
const IMAGE_PACKAGES: [(&str, &str); 3] =
    [("linux-binary-", ""), ("linux-image-", ""), ("linux-image-", "-unsigned")];

/// The programs of a guest, with the libraries of hackbench; and the files that are taken from each
/// package.
const USERLAND: [(&str, &str); 4] = [
    ("busybox-static", "bin/busybox"),
    ("rt-tests", "bin/hackbench"),
    ("libc6", "lib/*/*.so*"),
    ("libnuma1", "lib/*/*.so*"),
];

/// A stock kernel that exists: in the archive, as far as its lists were read, or in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stock {
    /// Its release
    pub release: Release,
    /// Its machine
    pub arch: &'static Arch,
    /// Its version, such as `6.12.117+deb13-cloud-amd64`
    pub version: String,
    /// Its folder in the store, if it has one
    pub folder: Option<PathBuf>,
}

impl KernelBuilder {
    /// Returns the newest stock kernel of `release`.
    pub(crate) fn stock(
        &self,
        spec: &Spec,
        release: Release,
        arch: &'static Arch,
        watch: &mut dyn FnMut(Step<'_>),
    ) -> Result<Kernel> {
        let of_release = |name: &str| {
            version_in(name, arch).is_some_and(|version| Release::of(version) == Some(release))
        };
        let archive = self.archive(arch.debian).and_then(|mut archive| {
            let names = archive.names("linux-", of_release, watch)?;
            Ok((archive, names))
        });
        let (archive, names) = match archive {
            Err(error @ (Error::Interrupted | Error::Full { .. })) => return Err(error),
            Err(error) => return self.fall_back(spec, &error.to_string(), watch),
            Ok(found) => found,
        };
        let newest = names.iter().max_by_key(|name| {
            let place = IMAGE_PACKAGES
                .iter()
                .rposition(|(begin, end)| name.starts_with(begin) && name.ends_with(end));
            (
                numbers(version_in(name, arch).unwrap_or_default()),
                place.map(|place| IMAGE_PACKAGES.len() - place),
            )
        });
        let Some(package) = newest else {
            let others = archive.known_names("linux-", |name| version_in(name, arch).is_some())?;
            let mut releases: Vec<_> =
                others.iter().filter_map(|name| Release::of(version_in(name, arch)?)).collect();
            releases.sort();
            releases.dedup();
            let why = match (releases.is_empty(), archive.trouble()) {
                (true, Some(trouble)) => trouble.to_owned(),
                _ => format!("Debian's archive has no image of it; it has {}", list(&releases)),
            };
            return self.fall_back(spec, &why, watch);
        };
        let version = format!("{}-{}", version_in(package, arch).unwrap_or_default(), arch.flavour);
        let key = image_key(&version);
        let folder = self.store.get_or_make_anew("images", &key, &self.interrupt, |partial| {
            archive.unpack(&[(package, "vmlinu[xz]*")], partial, watch)?;
            let places = [
                "boot/vmlinuz-V",
                "boot/vmlinux-V",
                "usr/lib/modules/V/vmlinuz",
                "usr/lib/modules/V/vmlinux",
            ];
            let mut places = places.iter().map(|place| place.replace('V', &version));
            let image = places.find(|place| partial.join(place).is_file());
            let image = image.ok_or_else(|| wrong(spec, &format!("{package} has no image")))?;
            let built = Built {
                release: version.clone(),
                compiler: "Debian's own build".into(),
                arch: arch.name.into(),
                image: image.into(),
                ..Built::default()
            };
            built.write(partial)
        })?;
        Kernel::at(spec, key, folder, None)
    }

    /// Returns the newest suitable kernel of the store, or an error that gives the reason.
    fn fall_back(&self, spec: &Spec, why: &str, watch: &mut dyn FnMut(Step<'_>)) -> Result<Kernel> {
        if let Origin::Stock(release, arch) = spec.origin
            && let Some(kernel) = self.stock_in_store(spec, release, arch)
        {
            watch(Step::Note(&format!(
                "{} is {} of the cache: {why}",
                spec.name(),
                kernel.release()
            )));
            return Ok(kernel);
        }
        let cached: Vec<_> = self.images().into_iter().map(|stock| stock.version).collect();
        Err(wrong(spec, &format!("{why}; in the cache: {}", list(&cached))))
    }

    /// Returns the newest stock kernel of `release` in the store.
    pub(crate) fn stock_in_store(
        &self,
        spec: &Spec,
        release: Release,
        arch: &Arch,
    ) -> Option<Kernel> {
        let fits = |stock: &Stock| stock.release == release && stock.arch == arch;
        let newest = self.images().into_iter().rfind(fits)?;
        Kernel::at(spec, image_key(&newest.version), newest.folder?, None).ok()
    }

    /// Returns the stock kernels of the store, oldest first.
    fn images(&self) -> Vec<Stock> {
        let known = |folder: PathBuf| {
            let built = Built::read(&folder).ok()?;
            Some(Stock {
                release: Release::of(&built.release)?,
                arch: Arch::named(&built.arch).ok()?,
                version: built.release,
                folder: Some(folder),
            })
        };
        let mut images: Vec<_> = self.store.all("images").into_iter().filter_map(known).collect();
        images.sort_by_key(|stock| numbers(&stock.version));
        images
    }

    /// Returns the newest stock kernel of each release and machine, from the store and from the lists as they were
    /// last read.
    #[must_use]
    pub fn stocks(&self) -> Vec<Stock> {
        let mut all = self.images();
        for arch in Arch::ALL {
            let lists = self.store.root().join("debian").join(arch.debian).join("updated");
            let Some(Ok(archive)) = lists.exists().then(|| self.archive(arch.debian)) else {
                continue;
            };
            let names = archive.known_names("linux-", |name| version_in(name, arch).is_some());
            for name in names.unwrap_or_default() {
                let Some(version) = version_in(&name, arch) else { continue };
                let Some(release) = Release::of(version) else { continue };
                let version = format!("{version}-{}", arch.flavour);
                all.push(Stock { release, arch, version, folder: None });
            }
        }
        // The newest of each comes first; one in the store comes before the same one in the archive.
        let place = |arch: &Arch| Arch::ALL.iter().position(|known| known == arch);
        all.sort_by_key(|stock| {
            (
                stock.release,
                place(stock.arch),
                std::cmp::Reverse(numbers(&stock.version)),
                stock.folder.is_none(),
            )
        });
        all.dedup_by_key(|stock| (stock.release, stock.arch.name));
        all
    }

    /// Returns the releases that have a stock kernel for a machine, oldest first: those of the archive and of the store.
    ///
    /// # Errors
    ///
    /// If the work was interrupted, or neither has one.
    pub fn releases(
        &self,
        arch: &'static Arch,
        watch: &mut dyn FnMut(Step<'_>),
    ) -> Result<Vec<Release>> {
        let is_image = |name: &str| version_in(name, arch).is_some();
        let names = self
            .archive(arch.debian)
            .and_then(|mut archive| archive.names("linux-", is_image, watch));
        let names = match names {
            Err(error @ (Error::Interrupted | Error::Full { .. })) => return Err(error),
            Err(error) => {
                watch(Step::Note(&format!("Only kernels of the cache are known: {error}")));
                Vec::new()
            }
            Ok(names) => names,
        };
        let of_archive = names.iter().filter_map(|name| Release::of(version_in(name, arch)?));
        let of_store = self.images().into_iter().filter(|stock| stock.arch == arch);
        let mut releases: Vec<Release> =
            of_archive.chain(of_store.map(|stock| stock.release)).collect();
        releases.sort();
        releases.dedup();
        Ok(releases)
    }

    /// Returns the downloads that are not superseded, with apt's lists.
    #[must_use]
    pub fn downloads(&self) -> Vec<PathBuf> {
        let images = self.stocks().into_iter().filter_map(|stock| stock.folder);
        images
            .chain(["sources", "userlands", "debian"].iter().flat_map(|kind| self.store.all(kind)))
            .collect()
    }

    /// Returns Debian's source of `release`: the installed package, or one of the archive.
    pub(crate) fn debian_source(
        &self,
        release: Release,
        watch: Option<&mut dyn FnMut(Step<'_>)>,
    ) -> Result<Option<Source>> {
        if let Some(source) = Source::installed(release) {
            return Ok(Some(source));
        }
        let package = format!("linux-source-{release}");
        let tarball = |folder: &Path| folder.join(format!("usr/src/{package}.tar.xz"));
        let key = |folder: &Path| {
            let mut hasher = KeyHasher::new("source of Debian's");
            hasher.update(folder.file_name().unwrap_or_default().as_encoded_bytes());
            hasher.finish()
        };
        let time = |folder: &PathBuf| fs::metadata(folder).and_then(|meta| meta.modified()).ok();
        let kept = self
            .store
            .all("sources")
            .into_iter()
            .filter(|folder| tarball(folder).is_file())
            .max_by_key(time);
        let source = |folder: PathBuf| Some(Source::tarball(tarball(&folder), key(&folder)));
        let Some(watch) = watch else { return Ok(kept.and_then(source)) };
        let fetched = self.archive("amd64").and_then(|mut archive| {
            if archive.names(&package, |name| name == package, watch)?.is_empty() {
                let all = archive
                    .known_names("linux-source-", |name| Release::of(&name[13..]).is_some())?;
                let why = match archive.trouble() {
                    Some(trouble) if all.is_empty() => trouble.to_owned(),
                    _ => format!("Debian's archive has {}", list(&all)),
                };
                return Err(Error::Config {
                    place: package.clone(),
                    why: format!(
                        "{why}; a source of your own is named by its path, or with --source"
                    ),
                });
            }
            let mut hasher = KeyHasher::new("package");
            hasher.update(archive.package(&package)?.file);
            self.store.get_or_make_anew("sources", &hasher.finish(), &self.interrupt, |partial| {
                archive.unpack(&[(&package, "linux-source-*.tar.xz")], partial, watch)
            })
        });
        match (fetched, kept) {
            (Ok(folder), _) => Ok(source(folder)),
            (Err(Error::Interrupted), _) => Err(Error::Interrupted),
            (Err(error), Some(kept)) => {
                watch(Step::Note(&format!("{package} is the one of the cache: {error}")));
                Ok(source(kept))
            }
            (Err(error), None) => Err(error),
        }
    }

    /// Returns a first file system for a guest of `kernel` that runs `job`, with busybox and the definitions of
    /// `guest/*.sh`.
    ///
    /// # Errors
    ///
    /// If busybox is missing, or the programs of another architecture cannot be had.
    pub fn initramfs(
        &self,
        kernel: &Kernel,
        job: &str,
        watch: &mut dyn FnMut(Step<'_>),
    ) -> Result<Initramfs> {
        let arch = kernel.spec.arch();
        if arch.is_native() {
            return Initramfs::new(&self.data, job, None);
        }
        let mut hasher = KeyHasher::new("userland");
        hasher.update(arch.debian);
        let userland = self.store.get_or_make_anew(
            "userlands",
            &hasher.finish(),
            &self.interrupt,
            |partial| {
                let mut archive = self.archive(arch.debian)?;
                if archive
                    .names("busybox-static", |name| name == "busybox-static", watch)?
                    .is_empty()
                {
                    let why = archive.trouble().unwrap_or("Debian's archive has no busybox-static");
                    return Err(wrong(
                        &kernel.spec,
                        &format!("the programs of its guest are not cached: {why}"),
                    ));
                }
                archive.unpack(&USERLAND, partial, watch)
            },
        )?;
        Initramfs::new(&self.data, job, Some(&userland))
    }

    fn archive(&self, debian: &str) -> Result<Archive<'_>> {
        Archive::open(&self.store, &self.interrupt, debian, self.mirror.as_deref())
    }
}

fn image_key(version: &str) -> Key {
    let mut hasher = KeyHasher::new("stock image");
    hasher.update(version);
    hasher.finish()
}

/// Returns the version in the name of a package with a stock image for `arch`: `6.12.117+deb13`.
fn version_in<'a>(package: &'a str, arch: &Arch) -> Option<&'a str> {
    IMAGE_PACKAGES.iter().find_map(|(begin, end)| {
        let version = package.strip_prefix(begin)?.strip_suffix(end)?;
        let version = version.strip_suffix(arch.flavour)?.strip_suffix('-')?;
        // This is neither linux-image-6.12-amd64, which only depends on others, nor
        // linux-image-6.12.1-rt-armmp.
        let is_whole = version.matches('.').count() >= 2
            && version.rsplit('-').next()?.starts_with(|c: char| c.is_ascii_digit());
        is_whole.then_some(version)
    })
}

fn wrong(spec: &Spec, why: &str) -> Error {
    Error::Config { place: spec.name(), why: why.to_owned() }
}

fn list(items: &[impl ToString]) -> String {
    match items {
        [] => "nothing".to_owned(),
        items => items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stock_image_is_known_by_the_name_of_its_package() {
        let version = |package, arch| version_in(package, Arch::named(arch).unwrap());
        assert_eq!(
            version("linux-image-6.12.117+deb13-cloud-amd64", "amd64"),
            Some("6.12.117+deb13")
        );
        assert_eq!(version("linux-binary-7.3.4+deb13-cloud-amd64", "amd64"), Some("7.3.4+deb13"));
        assert_eq!(version("linux-image-6.1.0-56-cloud-amd64-unsigned", "amd64"), Some("6.1.0-56"));
        assert_eq!(
            version("linux-image-6.12.117+deb13-arm64-16k", "arm64-16k"),
            Some("6.12.117+deb13")
        );
        for (package, arch) in [
            ("linux-image-6.12-cloud-amd64", "amd64"),
            ("linux-image-6.12.117+deb13-cloud-amd64-dbg", "amd64"),
            ("linux-image-6.12.117+deb13-rt-armmp", "armmp"),
            ("linux-image-6.12.117+deb13-arm64-16k", "arm64"),
        ] {
            assert_eq!(version(package, arch), None, "{package}");
        }
    }
}
