//! Where `slablab insmod` keeps what it compiles: code that runs later must lie where only its user can put it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use slablab_tests::slablab;

const MODULE: &str = "crates/kapi/tests/modules/page_demo.c";
const NOBODY: u32 = 65534;

/// Runs a module with no home but what the password database says.
fn without_a_home(variable: &str, folder: &Path) -> Output {
    let mut command = slablab();
    command.env_remove("HOME").env_remove("XDG_CACHE_HOME").env(variable, folder);
    command.args(["insmod", MODULE]).output().expect("slablab was built")
}

/// A folder that everybody can write to, as /tmp is.
fn shared_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o1777)).unwrap();
    folder
}

#[test]
fn the_shared_temporary_folder_is_never_the_cache() {
    let shared = shared_folder();
    let prepared = shared.path().join("slablab");
    fs::create_dir(&prepared).unwrap();
    fs::set_permissions(&prepared, Permissions::from_mode(0o777)).unwrap();
    let output = without_a_home("TMPDIR", shared.path());
    assert_eq!(fs::read_dir(&prepared).unwrap().count(), 0, "it was used: {output:?}");
}

/// Needs root, to be two users.
#[test]
fn a_cache_folder_that_another_user_prepared_is_refused() {
    let root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
    if !root {
        eprintln!("not run: only root can act as another user");
        return;
    }
    let shared = shared_folder();
    let prepared = shared.path().join("slablab");
    let made = Command::new("mkdir").arg(&prepared).uid(NOBODY).gid(NOBODY).status();
    assert!(made.is_ok_and(|status| status.success()));
    let output = without_a_home("XDG_CACHE_HOME", shared.path());
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("belongs to user 65534 and this is user 0"), "{message}");
    assert!(message.contains(prepared.to_str().unwrap()), "{message}");
    assert_eq!(message.trim().lines().count(), 1, "{message}");
    assert_eq!(fs::read_dir(&prepared).unwrap().count(), 0);
}
