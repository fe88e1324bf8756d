//! Debian's archive, read through an apt state that only this tool uses.
//!
//! # How it works
//! `CACHE/debian/ARCH` has a list of sources, lists, a cache and a configuration; `apt-get` and `apt-cache` get that
//! configuration after the machine's own, whose sources, preferences and hooks it replaces. The mirror is the one that
//! the machine's own sources name, or one that the user names; suites are added. apt verifies each list by Debian's
//! key and each package by its list. Lists are read anew when they are older than a day, or lack the requested
//! package.
//!
//! # Invariants
//! - Nothing of the machine's own apt is written.
//! - A suite that cannot be had is left out: a mirror may be in the middle of its update.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use slablab_host::{Interrupt, bound, bound_family};

use crate::error::{Error, Result};
use crate::run::{output, run_logged};
use crate::step::Step;
use crate::store::Store;
use crate::tools::KEYRING;

/// The suites that have kernels from 6.1 on.
const SUITES: [&str; 5] = ["bookworm", "bookworm-backports", "trixie", "trixie-backports", "sid"];

/// The suites on the mirror of security updates.
const SECURITY_SUITES: [&str; 2] = ["bookworm-security", "trixie-security"];

/// The age at which lists are read anew.
const LISTS_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Megabytes that the lists of an architecture take, with apt's own files for them (measured: 187).
const LISTS_MIB: u64 = 300;

/// Debian's archive for one architecture.
#[derive(Debug)]
pub(crate) struct Archive<'a> {
    store: &'a Store,
    interrupt: &'a Interrupt,
    folder: PathBuf,
    /// Whether the lists were read anew by this process
    is_fresh: bool,
    /// What was wrong when they were read
    trouble: Option<String>,
}

/// A package before its download.
#[derive(Debug)]
pub(crate) struct Package {
    /// The file's name, with the version
    pub(crate) file: String,
    size_bytes: u64,
}

impl<'a> Archive<'a> {
    /// Returns the archive for the architecture `debian`, at `mirror` or the one of the machine's own sources.
    pub(crate) fn open(
        store: &'a Store,
        interrupt: &'a Interrupt,
        debian: &str,
        mirror: Option<&str>,
    ) -> Result<Self> {
        let folder = store.root().join("debian").join(debian);
        let mirrors = match mirror {
            // A line end or a blank in it would be another line, or an option, of the list of sources.
            Some(mirror) if mirror.contains(|c: char| c.is_whitespace() || c.is_control()) => {
                return Err(Error::Missing {
                    programs: format!("a mirror, as {mirror:?} is not an address"),
                    remedy: "Write --mirror URL without blanks".into(),
                });
            }
            Some(mirror) => vec![mirror.trim_end_matches('/').to_owned()],
            None => machines_mirrors(Path::new("/etc/apt"))?,
        };
        for place in ["lists/partial", "cache/archives/partial"] {
            let place = folder.join(place);
            fs::create_dir_all(&place).map_err(Error::io("cannot make the folder", &place))?;
        }
        let sources = folder.join("sources.list");
        let text = sources_list(&mirrors);
        let is_another = fs::read_to_string(&sources).map_or(true, |there| there != text);
        let archive = Self { store, interrupt, folder, is_fresh: false, trouble: None };
        if is_another {
            // Lists of another mirror are not valid for this one.
            let _ = fs::remove_file(archive.stamp());
            fs::write(&sources, text).map_err(Error::io("cannot write", &sources))?;
        }
        let file = archive.folder.join("apt.conf");
        fs::write(&file, archive.configuration(debian))
            .map_err(Error::io("cannot write", &file))?;
        Ok(archive)
    }

    /// Returns the names of packages that begin with `prefix` and that `wanted` accepts; the lists are read
    /// anew when there is none, or when they are old.
    pub(crate) fn names(
        &mut self,
        prefix: &str,
        wanted: impl Fn(&str) -> bool,
        watch: &mut dyn FnMut(Step<'_>),
    ) -> Result<Vec<String>> {
        let age = fs::metadata(self.stamp()).and_then(|meta| meta.modified()).ok();
        let age = age.and_then(|time| time.elapsed().ok());
        if age.is_none_or(|age| age > LISTS_AGE) {
            self.update(watch)?;
        }
        let mut names = self.known_names(prefix, &wanted)?;
        if names.is_empty() && !self.is_fresh {
            self.update(watch)?;
            names = self.known_names(prefix, &wanted)?;
        }
        Ok(names)
    }

    /// Returns the same from the present lists.
    pub(crate) fn known_names(
        &self,
        prefix: &str,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<String>> {
        let text = self.ask("apt-cache", &["pkgnames", prefix])?;
        Ok(text.lines().filter(|name| wanted(name)).map(str::to_owned).collect())
    }

    /// Returns what was wrong when the lists were read.
    pub(crate) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Downloads packages and unpacks them into the folder `into`: from each, only the files that match
    /// its pattern.
    pub(crate) fn unpack(
        &self,
        packages: &[(&str, &str)],
        into: &Path,
        watch: &mut dyn FnMut(Step<'_>),
    ) -> Result<()> {
        let place = into.join("deb");
        fs::create_dir_all(&place).map_err(Error::io("cannot make the folder", &place))?;
        let log = into.with_extension("log");
        for (name, pattern) in packages {
            let package = self.package(name)?;
            let mib = package.size_bytes >> 20;
            // The space is for the package and the files from it.
            self.store.need_space(3 * mib + 1)?;
            watch(Step::Begin(&format!("downloading {name}")));
            let file = place.join(&package.file);
            let mut download = self.apt("apt-get");
            download.args(["download", name]).current_dir(&place);
            self.run(&mut download, &log, || {
                let done = fs::metadata(&file).map_or(0, |meta| meta.len());
                watch(Step::Parts(done, package.size_bytes));
            })?;
            watch(Step::Begin(&format!("unpacking {name}")));
            let script = r#"set -e; dpkg-deb --fsys-tarfile "$1" > tar
                tar -xf tar --wildcards --no-wildcards-match-slash --no-anchored "$2"; rm tar "$1""#;
            let mut unpack = bound_family("sh");
            unpack.args(["-c", script, "sh"]).arg(&file).arg(pattern).current_dir(into);
            run_logged("dpkg-deb", &mut unpack, &log, self.interrupt, || ())?;
        }
        fs::remove_dir(&place).map_err(Error::io("cannot remove", &place))
    }

    /// Returns the name and the size of the file of package `name`.
    pub(crate) fn package(&self, name: &str) -> Result<Package> {
        let text = self.ask("apt-get", &["download", "--print-uris", name])?;
        // 'URI' FILE SIZE HASH
        let mut words = text.lines().last().unwrap_or_default().split_whitespace().skip(1);
        let package = words.next().zip(words.next().and_then(|size| size.parse().ok()));
        let (file, size_bytes) = package.ok_or_else(|| Error::Config {
            place: name.to_owned(),
            why: "apt-get does not say where it is".into(),
        })?;
        Ok(Package { file: file.to_owned(), size_bytes })
    }

    /// Returns the output of one of apt's programs.
    fn ask(&self, program: &str, arguments: &[&str]) -> Result<String> {
        output(program, self.apt(program).args(arguments)).map_err(|error| {
            let why = error.to_string();
            let said = why.split("E: ").nth(1).and_then(|text| text.lines().next());
            Error::Config { place: program.to_owned(), why: said.unwrap_or(&why).to_owned() }
        })
    }

    fn update(&mut self, watch: &mut dyn FnMut(Step<'_>)) -> Result<()> {
        self.is_fresh = true;
        self.store.need_space(LISTS_MIB)?;
        watch(Step::Begin("reading the lists of Debian's archive"));
        let log = self.folder.join("update.log");
        let updated = self.run(self.apt("apt-get").arg("update"), &log, || ());
        let text = fs::read_to_string(&log).unwrap_or_default();
        // Without a network apt-get reports success, and warns.
        let failed = ["E: ", "W: "]
            .iter()
            .find_map(|sign| text.lines().find_map(|line| line.strip_prefix(sign)));
        self.trouble = failed.map(str::to_owned);
        let has_come = |line: &str| {
            line.starts_with("Hit:")
                || line.strip_prefix("Fetched ").is_some_and(|rest| !rest.starts_with("0 B"))
        };
        if text.lines().any(has_come) {
            return fs::write(self.stamp(), "")
                .map_err(Error::io("cannot write into", &self.folder));
        }
        match updated {
            Err(Error::Interrupted) => Err(Error::Interrupted),
            Err(error) => {
                self.trouble.get_or_insert(error.to_string());
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Runs apt; an error is its first line that reports one.
    fn run(&self, apt: &mut Command, log: &Path, tick: impl FnMut()) -> Result<()> {
        run_logged("apt-get", apt, log, self.interrupt, tick).map_err(|error| match error {
            Error::Tool { program, why, log } => {
                let text = fs::read_to_string(&log).unwrap_or_default();
                let said =
                    text.lines().find_map(|line| line.strip_prefix("E: ")).map(str::to_owned);
                Error::Tool { program, why: said.unwrap_or(why), log }
            }
            other => other,
        })
    }

    fn apt(&self, program: &str) -> Command {
        let mut command = bound(program);
        command.arg("-c").arg(self.folder.join("apt.conf")).env("LC_ALL", "C");
        command
    }

    fn stamp(&self) -> PathBuf {
        self.folder.join("updated")
    }

    fn configuration(&self, debian: &str) -> String {
        let at = self.folder.display();
        format!(
            "#clear APT::Architectures;\n#clear APT::Update;\n#clear DPkg;\n\
             APT::Architecture \"{debian}\";\nAPT::Architectures {{ \"{debian}\"; }};\nAPT::Sandbox::User \"\";\n\
             Acquire::Languages \"none\";\nAcquire::Retries \"2\";\n\
             Dir::Etc::sourcelist \"{at}/sources.list\";\nDir::Etc::sourceparts \"/dev/null\";\n\
             Dir::Etc::preferences \"/dev/null\";\nDir::Etc::preferencesparts \"/dev/null\";\n\
             Dir::State::status \"/dev/null\";\nDir::State::lists \"{at}/lists\";\nDir::Cache \"{at}/cache\";\n\
             Dir::Cache::archives \"archives\";\nDir::Cache::pkgcache \"pkgcache.bin\";\n\
             Dir::Cache::srcpkgcache \"srcpkgcache.bin\";\n"
        )
    }
}

/// Returns the text of a list of sources with all suites at `mirrors`.
fn sources_list(mirrors: &[String]) -> String {
    let mut text = String::new();
    for mirror in mirrors {
        let suites = if mirror.ends_with("-security") { &SECURITY_SUITES[..] } else { &SUITES };
        for suite in suites {
            text.push_str(&format!(
                "deb [target=Packages signed-by={KEYRING}] {mirror} {suite} main\n"
            ));
        }
    }
    text
}

/// Returns the mirrors of Debian and of its security updates that the sources in the folder `apt` name.
fn machines_mirrors(apt: &Path) -> Result<Vec<String>> {
    let parts = fs::read_dir(apt.join("sources.list.d")).into_iter().flatten().flatten();
    let mut mirrors = Vec::new();
    for file in parts.map(|entry| entry.path()).chain([apt.join("sources.list")]) {
        let text = fs::read_to_string(file).unwrap_or_default();
        let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        let words = lines.flat_map(str::split_whitespace).map(|word| word.trim_end_matches('/'));
        let is_debian = |word: &&str| {
            word.contains(":/") && (word.ends_with("/debian") || word.ends_with("/debian-security"))
        };
        mirrors.extend(words.filter(is_debian).map(str::to_owned));
    }
    mirrors.sort();
    mirrors.dedup();
    if mirrors.iter().any(|mirror| mirror.ends_with("/debian")) {
        return Ok(mirrors);
    }
    Err(Error::Missing {
        programs: "a mirror of Debian in apt's sources".into(),
        remedy: "Name one with --mirror URL, or a kernel of your own by its path".into(),
    })
}

/// Returns the numbers of a version, by which versions are sorted: 6.12.117+deb13 comes after 6.12.94+deb13.1.
pub(crate) fn numbers(version: &str) -> Vec<u64> {
    let digits = version.split(|c: char| !c.is_ascii_digit());
    digits.filter_map(|digits| digits.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_is_that_of_the_machines_own_sources() {
        let dir = tempfile::tempdir().unwrap();
        let error = machines_mirrors(dir.path()).unwrap_err().to_string();
        assert!(error.contains("--mirror URL"), "{error}");
        let line =
            "# deb file:/old/debian x main\ndeb [arch=amd64] file:/mirror/debian/ bookworm main\n";
        fs::write(dir.path().join("sources.list"), line).unwrap();
        fs::create_dir(dir.path().join("sources.list.d")).unwrap();
        let other =
            "Types: deb\nURIs: file:/mirror/debian-security\nSuites: x\n\nURIs: file:/other/debs\n";
        fs::write(dir.path().join("sources.list.d/x.sources"), other).unwrap();
        let mirrors = machines_mirrors(dir.path()).unwrap();
        assert_eq!(mirrors, ["file:/mirror/debian", "file:/mirror/debian-security"]);
        let list = sources_list(&mirrors);
        assert_eq!(list.lines().count(), SUITES.len() + SECURITY_SUITES.len());
        assert!(list.contains("] file:/mirror/debian-security trixie-security main\n"), "{list}");
    }

    #[test]
    fn versions_are_sorted_by_their_numbers() {
        let mut versions = ["6.12.90+deb12.1", "6.12.117+deb12", "6.12.9+deb13", "6.12.117+deb13"];
        versions.sort_by_key(|version| numbers(version));
        assert_eq!(
            versions,
            ["6.12.9+deb13", "6.12.90+deb12.1", "6.12.117+deb12", "6.12.117+deb13"]
        );
    }

    #[test]
    fn a_mirror_that_is_not_there_is_trouble_and_not_an_empty_archive() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(Some(dir.path())).unwrap();
        let (interrupt, mirror) = (Interrupt::never(), format!("file:{}/no", dir.path().display()));
        let mut archive = Archive::open(&store, &interrupt, "amd64", Some(&mirror)).unwrap();
        assert_eq!(archive.names("linux-", |_| true, &mut |_| ()).unwrap(), [""; 0]);
        assert!(
            archive
                .trouble()
                .is_some_and(|trouble| trouble.contains("does not have a Release file"))
        );
    }
}
