//! Where `slablab insmod` keeps what it compiles: code that runs later must lie where only its user can put it.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

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

/// It was said once the module was compiled, seconds after the command began; and without a terminal nothing told for more
/// than a minute how far the library was.
#[test]
fn the_first_run_says_at_once_what_it_compiles_and_the_second_compiles_nothing() {
    let cache = tempfile::tempdir().unwrap();
    fs::set_permissions(cache.path(), Permissions::from_mode(0o700)).unwrap();
    let broken = cache.path().join("broken.c");
    fs::write(&broken, "#error on purpose\n").unwrap();
    let run = |module: &Path| {
        let mut command = slablab();
        command.env("XDG_CACHE_HOME", cache.path()).arg("insmod").arg(module);
        command.args(["--kernel-version", "6.12"]).output().expect("slablab was built")
    };
    let said = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let message = "compiling the library that modules call, once for each version";
    let refused = said(&run(&broken));
    let share = "slablab: compiling the library, 0 %";
    let places = [message, share, "on purpose"].map(|part| refused.find(part));
    assert!(places[0].is_some() && places.is_sorted(), "{refused}");
    let (first, second) = (run(Path::new(MODULE)), run(Path::new(MODULE)));
    assert!(said(&first).contains(message), "{}", said(&first));
    assert!(said(&first).contains(share), "{}", said(&first));
    assert!(!said(&second).contains("compiling"), "{}", said(&second));
    assert_eq!(first.stdout.len(), second.stdout.len());
}

/// The files of `folder`, with those of the folders in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// A full disk or a loss of power leaves files that exist but are empty. They used to be trusted for ever, and the linker's
/// complaints about them were blamed on the module.
#[test]
fn files_of_the_cache_that_were_emptied_are_made_anew() {
    let cache = tempfile::tempdir().unwrap();
    fs::set_permissions(cache.path(), Permissions::from_mode(0o700)).unwrap();
    let run = || without_a_home("XDG_CACHE_HOME", cache.path());
    let first = run();
    let end_of = |name: &'static str| move |path: &&PathBuf| path.to_str().unwrap().ends_with(name);
    let kept = |path: &PathBuf| path.ends_with("kept");
    for (name, left) in
        [(".so", 0), (".so", 5_000), (".o", 0), (".o", 1_000_000), ("/linux/slab.h", 0), (".c", 10)]
    {
        let all = files(cache.path());
        if name == ".o" {
            // The library is read only where the module is not kept.
            let mut folders = all.iter().filter_map(|path| path.parent().map(PathBuf::from));
            fs::remove_dir_all(folders.find(kept).unwrap()).unwrap();
        }
        let damaged = all.iter().find(end_of(name)).unwrap();
        let whole = fs::read(damaged).unwrap();
        assert!(whole.len() > left, "{}", damaged.display());
        File::options().write(true).open(damaged).unwrap().set_len(left as u64).unwrap();
        let again = run();
        let said = String::from_utf8_lossy(&again.stderr);
        assert_eq!(again.status.code(), first.status.code(), "{}: {said}", damaged.display());
        assert!(fs::read(damaged).unwrap().len() > left, "{}", damaged.display());
    }
}

#[test]
fn what_a_killed_command_left_in_the_cache_is_removed() {
    let cache = tempfile::tempdir().unwrap();
    fs::set_permissions(cache.path(), Permissions::from_mode(0o700)).unwrap();
    let run = || without_a_home("XDG_CACHE_HOME", cache.path());
    let _ = run();
    let own = cache.path().join("slablab");
    let kapi = fs::read_dir(&own).unwrap().next().unwrap().unwrap().path();
    let left = [own.join("kapiAbCd12"), kapi.join("build-AbCd12")];
    for folder in &left {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("part"), "").unwrap();
        let then = SystemTime::now() - Duration::from_secs(3600);
        File::open(folder).unwrap().set_modified(then).unwrap();
    }
    let _ = run();
    assert_eq!(left.each_ref().map(|folder| folder.exists()), [false, false]);
}
