//! `make` for an out-of-tree build, run by a user without privileges.
//!
//! # How it works
//! The makefiles of a kernel or a module are programs that run with the rights of the user who builds. If that is root, the
//! build runs as the owner of the cache folder, or as `nobody` where root owns it. It has no capabilities and a home folder
//! of its own. It runs in a mount namespace where the source tree (read-only), the build folder and the module lie below
//! `/mnt`, because `nobody` cannot reach root's cache folder by its own path. Some systems do not let root make such a
//! namespace, as many containers do not; there the build runs as root, and the user is told.
//!
//! # Invariants
//! - A build that root starts cannot write outside its build folder, its module's folder and world-writable folders.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use slablab_host::{Interrupt, bound, bound_family};

use crate::error::Result;
use crate::run::{output, run_logged};

/// The numbers of `nobody` and `nogroup` (Debian Policy 9.2.2).
const NOBODY: (u32, u32) = (65_534, 65_534);

/// Mounts tree, build folder and module ($3 to $5) below `/mnt`, and runs the rest as user $1 and group $2.
const CONFINE: &str = r#"
set -e
umask 022
place=$(mktemp -d)
mount -t tmpfs -o mode=755 slablab "$place"
mkdir "$place/tree" "$place/build" "$place/module" "$place/home"
chown "$1:$2" "$place/home"
mount --bind -o ro "$3" "$place/tree"
mount --bind "$4" "$place/build"
mount --bind "$5" "$place/module"
mount --move "$place" /mnt
rmdir "$place"
user=$1 group=$2
shift 5
export HOME=/mnt/home
exec setpriv --reuid "$user" --regid "$group" --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs -- "$@"
"#;

/// The folders of a build.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Folders<'a> {
    /// The source tree
    pub(crate) tree: &'a Path,
    /// Where the kernel is built, or was
    pub(crate) build: &'a Path,
    /// The module that is built, if it is one
    pub(crate) module: Option<&'a Path>,
}

/// The user who runs `make`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum User {
    /// The user who started slablab, who is not root
    Ourselves,
    /// The user and group with these numbers
    Confined(u32, u32),
    /// root, and the reason
    Root(String),
}

impl User {
    /// Returns the user who builds in the cache folder `store`.
    pub(crate) fn of(store: &Path) -> Self {
        if !rustix::process::geteuid().is_root() {
            return Self::Ourselves;
        }
        let owner = fs::metadata(store).map(|found| (found.uid(), found.gid()));
        let (uid, gid) = owner.ok().filter(|(uid, _)| *uid != 0).unwrap_or(NOBODY);
        let folders = Folders { tree: store, build: store, module: None };
        match output("unshare", confined(bound("unshare"), (uid, gid), folders).arg("true")) {
            Ok(_) => Self::Confined(uid, gid),
            Err(error) => Self::Root(error.to_string()),
        }
    }

    /// Returns `make` for `folders`, at low priority and reproducible.
    ///
    /// # Errors
    ///
    /// If the folders cannot be given to the user who builds.
    pub(crate) fn make(&self, folders: Folders<'_>, interrupt: &Interrupt) -> Result<Command> {
        let mut places = folders;
        let mut command = match *self {
            Self::Confined(uid, gid) => {
                places = Folders {
                    tree: Path::new("/mnt/tree"),
                    build: Path::new("/mnt/build"),
                    module: folders.module.map(|_| Path::new("/mnt/module")),
                };
                let own = folders.module.unwrap_or(folders.build);
                let mut chown = bound("chown");
                chown.arg("-hR").arg(format!("{uid}:{gid}")).arg(own);
                run_logged("chown", &mut chown, &own.with_extension("log"), interrupt, || ())?;
                let mut command = confined(bound_family("unshare"), (uid, gid), folders);
                command.arg("nice");
                command
            }
            Self::Ourselves | Self::Root(_) => bound_family("nice"),
        };
        command.args(["-n", "10", "make", "-C"]).arg(places.tree);
        command.arg(assignment("O", places.build)).args([
            "ARCH=x86_64",
            "KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970",
            "KBUILD_BUILD_USER=slablab",
            "KBUILD_BUILD_HOST=slablab",
        ]);
        command.args(places.module.map(|module| assignment("M", module)));
        command.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").env("LC_ALL", "C");
        Ok(command)
    }
}

/// Appends the arguments to `unshare` that make the namespace; the program that runs in it comes
/// next.
fn confined(mut unshare: Command, (uid, gid): (u32, u32), folders: Folders<'_>) -> Command {
    unshare.args(["--mount", "--propagation", "private", "sh", "-c", CONFINE, "sh"]);
    unshare.args([uid.to_string(), gid.to_string()]);
    unshare.args([folders.tree, folders.build, folders.module.unwrap_or(folders.build)]);
    unshare
}

/// Returns `NAME=PATH`.
fn assignment(name: &str, path: &Path) -> OsString {
    let mut text = OsString::from(name);
    text.push("=");
    text.push(path);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_that_root_starts_cannot_write_where_root_can() {
        let dir = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let path = dir.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let (tree, build) = (folder("tree"), folder("build"));
        let rules = "allnoconfig:\n\
            \tid -u > $(O)/user\n\
            \t! touch no && ! touch /etc/slablab-test && touch $(O)/yes $$HOME/yes\n";
        fs::write(tree.join("Makefile"), rules).unwrap();
        let user = User::of(dir.path());
        let folders = Folders { tree: &tree, build: &build, module: None };
        let mut make = user.make(folders, &Interrupt::never()).unwrap();
        let made = run_logged(
            "make",
            make.arg("allnoconfig"),
            &dir.path().join("log"),
            &Interrupt::never(),
            || (),
        );
        let name = fs::read_to_string(build.join("user")).unwrap();
        match user {
            User::Confined(uid, _) => {
                made.unwrap();
                assert_ne!(uid, 0);
                assert_eq!(name.trim(), uid.to_string());
                assert!(build.join("yes").exists());
            }
            User::Ourselves => assert_ne!(name.trim(), "0"),
            User::Root(why) => assert!(!why.is_empty()),
        }
    }
}
