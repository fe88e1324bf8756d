//! The programs and files that a step needs on the machine, and the Debian packages that bring them.

use std::path::{Path, PathBuf};

use slablab_host::{Interrupt, bound, find_program};

use crate::error::{Error, Result};
use crate::run::run_logged;

/// A program or file that the machine needs: its place, and the package that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// A program's name, or a file's path.
    pub what: &'static str,
    /// The Debian package.
    pub package: &'static str,
    /// Its purpose.
    pub why: &'static str,
}

pub(crate) const fn need(what: &'static str, package: &'static str, why: &'static str) -> Need {
    Need { what, package, why }
}

/// Debian's own key.
pub(crate) const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

impl Need {
    /// The needs of a build, without the source itself.
    pub const BUILD: &[Need] = &[
        need("setpriv", "util-linux", "children that end with us"),
        need("tar", "tar", "unpacking the source"),
        need("xz", "xz-utils", "unpacking the source"),
        need("patch", "patch", "the patch series"),
        need("make", "make", "building"),
        need("gcc", "gcc", "building"),
        need("ld", "binutils", "building"),
        need("flex", "flex", "building"),
        need("bison", "bison", "building"),
        need("bc", "bc", "building"),
        need("perl", "perl-base", "building"),
        need("/usr/include/libelf.h", "libelf-dev", "building (objtool)"),
        need("/usr/include/x86_64-linux-gnu/sys/types.h", "libc6-dev", "building"),
    ];

    /// The needs of a build with the flavour `btf`.
    pub const BTF: &[Need] = &[need("pahole", "dwarves", "the kernel's types (BTF)")];

    /// The needs of a stock kernel.
    pub const STOCK: &[Need] = &[
        need("setpriv", "util-linux", "children that end with us"),
        need("tar", "tar", "unpacking packages"),
        need("dpkg-deb", "dpkg", "unpacking packages"),
        need("apt-get", "apt", "Debian's archive"),
        need(KEYRING, "debian-archive-keyring", "Debian's archive"),
    ];

    /// The needs of Debian's source.
    pub const SOURCE: &[Need] = &[
        need("setpriv", "util-linux", "children that end with us"),
        need("tar", "tar", "unpacking the source"),
        need("xz", "xz-utils", "unpacking the source"),
        need("dpkg-deb", "dpkg", "unpacking packages"),
        need("apt-get", "apt", "Debian's archive"),
        need(KEYRING, "debian-archive-keyring", "Debian's archive"),
    ];

    /// The needs of a boot.
    pub const BOOT: &[Need] = &[
        need("setpriv", "util-linux", "children that end with us"),
        need("busybox", "busybox-static", "the guest's shell"),
        need("hackbench", "rt-tests", "the load"),
        need("ldd", "libc-bin", "the libraries of what the guest runs"),
    ];

    /// The needs of a profile.
    pub const PROFILE: &[Need] = &[need("perf", "linux-perf", "profiles of a guest")];

    /// Returns whether it exists.
    #[must_use]
    pub fn is_met(&self) -> bool {
        if self.what.starts_with('/') {
            Path::new(self.what).exists()
        } else {
            find_program(self.what).is_some()
        }
    }
}

/// Returns those of `needs` that are not met.
#[must_use]
pub fn missing(needs: &[&[Need]]) -> Vec<Need> {
    let mut missing: Vec<Need> = Vec::new();
    for need in needs.iter().copied().flatten().filter(|need| !need.is_met()) {
        if !missing.contains(need) {
            missing.push(*need);
        }
    }
    missing
}

/// Fails unless all of `needs` are met.
///
/// # Errors
///
/// Returns [`Error::Missing`] with the command that installs the packages.
pub fn require(needs: &[&[Need]]) -> Result<()> {
    match missing(needs) {
        lacking if lacking.is_empty() => Ok(()),
        lacking => Err(missing_error(&lacking, "")),
    }
}

/// Returns the packages of `needs`, sorted, each once.
#[must_use]
pub fn packages(needs: &[Need]) -> Vec<&'static str> {
    let mut packages: Vec<_> = needs.iter().map(|need| need.package).collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}

/// Returns the command that installs `packages`, as this user has to type it.
#[must_use]
pub fn apt_get_install(packages: &[&str]) -> String {
    let sudo = if rustix::process::geteuid().is_root() { "" } else { "sudo " };
    format!("{sudo}apt-get install {}", packages.join(" "))
}

fn missing_error(needs: &[Need], why: &str) -> Error {
    let programs: Vec<_> = needs.iter().map(|need| need.what).collect();
    let remedy = format!("{why}Run: {}", apt_get_install(&packages(needs)));
    Error::Missing { programs: programs.join(", "), remedy }
}

/// Installs the packages of `needs` with apt-get.
///
/// # Errors
///
/// If this is not a Debian machine, we are not root, or apt-get fails: the message has the command to run.
pub fn install(needs: &[Need], interrupt: &Interrupt) -> Result<()> {
    let missing = |why: &str| missing_error(needs, why);
    if find_program("apt-get").is_none() {
        return Err(missing(
            "This is not a Debian machine: install the packages that contain them. On Debian: ",
        ));
    }
    if !rustix::process::geteuid().is_root() {
        return Err(missing(""));
    }
    let log = tempfile::NamedTempFile::new().map_err(Error::io("cannot write into", "/tmp"))?;
    let apt = |arguments: &[&str]| {
        let mut command = bound("apt-get");
        command.args(["-y", "-qq"]).args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
        run_logged("apt-get", &mut command, log.path(), interrupt, || ())
    };
    // Another process may be installing: a second `slablab`, or a fresh machine that upgrades
    // itself.
    let options = ["install", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=600"];
    let install = [&options, packages(needs).as_slice()].concat();
    // The lists of a fresh machine may be stale or absent, so it is tried once more with new ones.
    let installed = apt(&install).or_else(|error| match error {
        Error::Interrupted => Err(error),
        _ => apt(&["update"]).and_then(|()| apt(&install)),
    });
    installed.map_err(|error| match error {
        Error::Tool { why, .. } => missing(&format!("apt-get could not install them ({why}). ")),
        other => other,
    })
}

/// Returns the place of the program that `need` names.
pub(crate) fn program_of(need: &Need) -> Result<PathBuf> {
    find_program(need.what).ok_or_else(|| missing_error(&[*need], ""))
}

/// Returns the place of a program, or an error that names its package.
pub(crate) fn program(name: &str) -> Result<PathBuf> {
    find_program(name).ok_or_else(|| {
        let groups = [Need::BUILD, Need::STOCK, Need::BOOT, Need::PROFILE];
        let package = groups.concat().iter().find(|need| need.what == name).map(|n| n.package);
        let package = package.unwrap_or(name);
        Error::Missing {
            programs: name.to_owned(),
            remedy: format!("Run: {}", apt_get_install(&[package])),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_once_with_its_package() {
        const NEEDS: &[Need] = &[
            need("sh", "dash", "a test"),
            need("no-such-program", "no-such-package", "a test"),
            need("/no/such/file", "another", "a test"),
        ];
        let missing = missing(&[NEEDS, NEEDS]);
        let packages: Vec<_> = missing.iter().map(|need| need.package).collect();
        assert_eq!(packages, ["no-such-package", "another"]);
    }

    #[test]
    fn a_missing_program_is_named_with_a_remedy() {
        let error = program("no-such-program").unwrap_err().to_string();
        let sudo = if rustix::process::geteuid().is_root() { "" } else { "sudo " };
        let line = format!("Run: {sudo}apt-get install no-such-program");
        assert_eq!(error, format!("no-such-program not found. {line}"));
    }
}
