//! A version: a kernel with its patches and boot parameters, one of several in an order.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use slablab_linux::Release;
use slablab_vm::Arch;

use crate::error::{Error, Result};
use crate::request::Request;

/// What is booted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Its name in the answer
    pub name: String,
    /// Its kernel, as `--kernels` takes it
    pub kernel: String,
    /// Patches on top of it, in their order
    pub patches: Vec<PathBuf>,
    /// Boot parameters
    pub append: String,
    /// The source, where the kernel is an allocator alone
    pub source: Option<PathBuf>,
}

impl Version {
    fn of(kernel: &str) -> Self {
        Self {
            name: kernel.to_owned(),
            kernel: kernel.to_owned(),
            patches: Vec::new(),
            append: String::new(),
            source: None,
        }
    }

    /// Returns the request for it, made of what all versions do.
    #[must_use]
    pub fn request(&self, all: &Request, runs_max: usize) -> Request {
        let mut request = Request { rounds: Some(runs_max), ..all.clone() };
        let mut set = |name: &str, value: String| {
            if !value.is_empty() {
                request.params.insert(name.to_owned(), value);
            }
        };
        set("kernels", self.kernel.clone());
        set("append", self.append.clone());
        let patches: Vec<_> = self.patches.iter().map(|path| path.display().to_string()).collect();
        set("patch", patches.join(","));
        set("source", self.source.iter().map(|path| path.display().to_string()).collect());
        request
    }
}

/// Returns a version for each kernel. `debian:6.12..7.3` stands for the stock kernels of these releases and of all between
/// them that there are; `releases` looks them up for a machine.
///
/// # Errors
///
/// If a range is none, or has fewer than two releases.
pub fn kernels(
    names: &[String],
    mut releases: impl FnMut(&'static Arch) -> Result<Vec<Release>>,
) -> Result<Vec<Version>> {
    let mut versions = Vec::new();
    for name in names {
        match name.strip_prefix("debian:").filter(|rest| rest.contains("..")) {
            Some(range) => versions.extend(in_range(name, range, &mut releases)?),
            None => versions.push(Version::of(name)),
        }
    }
    Ok(versions)
}

/// Returns the stock kernels of `FIRST..LAST[/MACHINE]`, in that order.
fn in_range(
    name: &str,
    range: &str,
    releases: &mut impl FnMut(&'static Arch) -> Result<Vec<Release>>,
) -> Result<Vec<Version>> {
    let wrong = |why: &str| Error::Request(format!("{name}: {why}"));
    let (range, machine) = range.split_once('/').map_or((range, None), |(r, m)| (r, Some(m)));
    let release = |text: &str| Release::of(text).filter(|release| release.to_string() == text);
    let ends =
        range.split_once("..").and_then(|(first, last)| Some((release(first)?, release(last)?)));
    let (first, last) =
        ends.ok_or_else(|| wrong("write a range of releases as debian:6.12..7.3"))?;
    let arch = machine.map_or(Ok(Arch::NATIVE), Arch::named)?;
    let (low, high) = (first.min(last), first.max(last));
    let mut found: Vec<Release> = releases(arch)?;
    let all: Vec<String> = found.iter().map(Release::to_string).collect();
    if let Some(missing) = [first, last].into_iter().find(|end| !found.contains(end)) {
        return Err(wrong(&format!(
            "there is no stock kernel of {missing}; there are {}",
            all.join(", ")
        )));
    }
    found.retain(|release| (low..=high).contains(release));
    if found.len() < 2 {
        return Err(wrong(&format!(
            "fewer than two stock kernels are in this range; there are {}",
            all.join(", ")
        )));
    }
    if first > last {
        found.reverse();
    }
    let kernel = |release: &Release| match machine {
        Some(machine) => Version::of(&format!("debian:{release}/{machine}")),
        None => Version::of(&format!("debian:{release}")),
    };
    Ok(found.iter().map(kernel).collect())
}

/// Returns a kernel as it is, and with each of these boot parameters.
#[must_use]
pub fn settings(kernel: &str, settings: &[String]) -> Vec<Version> {
    let with = |append: &String| Version {
        name: format!("{kernel} {append}"),
        append: append.clone(),
        ..Version::of(kernel)
    };
    std::iter::once(Version::of(kernel)).chain(settings.iter().map(with)).collect()
}

/// Returns a kernel without, with the first, with the first two, ... of the patches of a series: a folder (in the order of
/// its `series`, or of the names), or a mailbox, which is divided into files below `folder`.
///
/// # Errors
///
/// If there is no patch.
pub fn series(kernel: &str, place: &Path, folder: &Path) -> Result<Vec<Version>> {
    let patches = if place.is_dir() { in_folder(place)? } else { in_mailbox(place, folder)? };
    if patches.is_empty() {
        return Err(Error::Request(format!("{}: has no patch", place.display())));
    }
    let with = |many: usize| Version {
        name: format!("{many}: {}", subject(&patches[many - 1])),
        patches: patches[..many].to_vec(),
        ..Version::of(kernel)
    };
    Ok(std::iter::once(Version::of(kernel)).chain((1..=patches.len()).map(with)).collect())
}

/// Returns the patches of a folder.
fn in_folder(place: &Path) -> Result<Vec<PathBuf>> {
    let failed = || Error::io(place, "read the series");
    let list = place.join("series");
    if list.is_file() {
        let text = fs::read_to_string(&list).map_err(Error::io(&list, "read the series"))?;
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        return Ok(lines.filter(|line| !line.is_empty()).map(|line| place.join(line)).collect());
    }
    let mut patches = Vec::new();
    for entry in fs::read_dir(place).map_err(failed())? {
        let path = entry.map_err(failed())?.path();
        // Number 0000 of git format-patch is the letter.
        let is_letter = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("0000-cover-letter"));
        let is_patch = path.extension().is_some_and(|end| end == "patch" || end == "diff");
        patches.extend((is_patch && !is_letter).then_some(path));
    }
    patches.sort();
    Ok(patches)
}

/// Divides a mailbox into its mails with a diff.
fn in_mailbox(place: &Path, folder: &Path) -> Result<Vec<PathBuf>> {
    let text = fs::read(place).map_err(Error::io(place, "read the series"))?;
    let text = String::from_utf8_lossy(&text);
    let mut mails: Vec<String> = Vec::new();
    for line in text.split_inclusive('\n') {
        let mut words = line.split(' ');
        let is_first = words.next() == Some("From")
            && words.next().is_some_and(|word| word.contains('@') || is_commit(word));
        if is_first || mails.is_empty() {
            mails.push(String::new());
        }
        mails.last_mut().expect("one at least").push_str(line);
    }
    mails.retain(|mail| mail.lines().any(|line| line.starts_with("+++ ")));
    let folder = folder.join("patches");
    fs::create_dir_all(&folder).map_err(Error::io(&folder, "make the folder"))?;
    let mut patches = Vec::new();
    for (at, mail) in mails.iter().enumerate() {
        let path = folder.join(format!("{:04}.patch", at + 1));
        fs::write(&path, mail).map_err(Error::io(&path, "write the patch"))?;
        patches.push(path);
    }
    Ok(patches)
}

fn is_commit(word: &str) -> bool {
    word.len() >= 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the subject of a patch, without `[PATCH ...]`, or its file's name.
fn subject(patch: &Path) -> String {
    let text = fs::read(patch).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let subject = text.lines().find_map(|line| line.strip_prefix("Subject: "));
    let subject =
        subject.map(|line| match line.strip_prefix('[').and_then(|l| l.split_once("] ")) {
            Some((_, rest)) => rest,
            None => line,
        });
    let name = || patch.file_name().unwrap_or_default().to_string_lossy().into_owned();
    subject.map_or_else(name, str::to_owned)
}

/// Returns the commits of the git tree `source` from `good` to `bad`, by first parents; their source is that of `good`, which
/// is written below `folder`, with the difference of each as a patch.
///
/// # Errors
///
/// If git fails, or there is no commit between the two.
pub fn commits(
    kernel: &str,
    source: &Path,
    (good, bad): (&str, &str),
    folder: &Path,
) -> Result<Vec<Version>> {
    let git = Git { source };
    let good = git.text(&["rev-parse", "--verify", &format!("{good}^{{commit}}")])?;
    let range = format!("{good}..{bad}");
    let log = git.text(&["log", "--first-parent", "--reverse", "--format=%H %s", &range, "--"])?;
    let commits: Vec<(&str, &str)> = log.lines().filter_map(|line| line.split_once(' ')).collect();
    if commits.is_empty() {
        return Err(Error::Request(format!("{}: no commit in {range}", source.display())));
    }
    let tree = folder.join(format!("source-{}", short(&good)));
    git.write_tree(&good, &tree)?;
    let patches = folder.join("patches");
    fs::create_dir_all(&patches).map_err(Error::io(&patches, "make the folder"))?;
    let base = Version { source: Some(tree), ..Version::of(kernel) };
    let mut versions = vec![Version { name: short(&good).to_owned(), ..base.clone() }];
    for (commit, subject) in commits {
        let path = patches.join(format!("{}.patch", short(commit)));
        let difference = git.bytes(&["diff", "--binary", &good, commit])?;
        fs::write(&path, &difference).map_err(Error::io(&path, "write the difference"))?;
        let patches = if difference.is_empty() { Vec::new() } else { vec![path] };
        let name = format!("{} {subject}", short(commit));
        versions.push(Version { name, patches, ..base.clone() });
    }
    Ok(versions)
}

/// Returns the digits of a commit that one reads.
fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

/// A git tree.
struct Git<'a> {
    source: &'a Path,
}

impl Git<'_> {
    fn bytes(&self, words: &[&str]) -> Result<Vec<u8>> {
        let output = Command::new("git").arg("-C").arg(self.source).args(words).output();
        let output = output.map_err(Error::io(self.source, "run git in this folder"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let why = said.lines().last().unwrap_or("git failed").trim_start_matches("fatal: ");
            return Err(Error::Request(format!(
                "{}: git {}: {why}",
                self.source.display(),
                words[0]
            )));
        }
        Ok(output.stdout)
    }

    fn text(&self, words: &[&str]) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.bytes(words)?).trim_end().to_owned())
    }

    /// Writes the files of a commit into a folder, unless that was done before.
    fn write_tree(&self, commit: &str, tree: &Path) -> Result<()> {
        if tree.exists() {
            return Ok(());
        }
        let partial = tree.with_extension("partial");
        fs::create_dir_all(&partial).map_err(Error::io(&partial, "make the folder"))?;
        let archive = partial.with_extension("tar");
        let file = archive.display().to_string();
        self.bytes(&["archive", "--format=tar", "-o", &file, commit])?;
        let status = Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(&partial).status();
        let status = status.map_err(Error::io(&archive, "unpack the source with tar"))?;
        let _ = fs::remove_file(&archive);
        if !status.success() {
            return Err(Error::Request(format!("{}: tar failed", archive.display())));
        }
        fs::rename(&partial, tree).map_err(Error::io(tree, "name the source"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAILBOX: &str = "From 1111111111111111111111111111111111111111 Mon Sep 17 00:00:00 2001\n\
        Subject: [PATCH 0/2] letter\n\nFrom here on it is text.\n\
        From 2222222222222222222222222222222222222222 Mon Sep 17 00:00:00 2001\n\
        Subject: [PATCH v3 1/2] mm: first\n\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n\
        From me@here Mon Sep 17 00:00:00 2001\n\
        Subject: mm: second\n\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-b\n+c\n";

    fn names(versions: &[Version]) -> Vec<&str> {
        versions.iter().map(|version| version.name.as_str()).collect()
    }

    #[test]
    fn a_range_is_the_stock_kernels_that_there_are_in_its_order() {
        let there = [Release(6, 1), Release(6, 12), Release(6, 18), Release(7, 0), Release(7, 3)];
        let versions = |name: &str| kernels(&[name.to_owned()], |_| Ok(there.to_vec()));
        let names = |name: &str| {
            let versions = versions(name).unwrap();
            versions.into_iter().map(|version| version.name).collect::<Vec<_>>()
        };
        assert_eq!(names("debian:6.12..7.0"), ["debian:6.12", "debian:6.18", "debian:7.0"]);
        assert_eq!(names("debian:7.3..7.0"), ["debian:7.3", "debian:7.0"]);
        assert_eq!(names("debian:6.1..6.12/arm64"), ["debian:6.1/arm64", "debian:6.12/arm64"]);
        assert_eq!(names("debian:7.3"), ["debian:7.3"]);
        for wrong in ["debian:6.12..", "debian:a..b", "debian:6.13..6.17", "debian:6.1..7.3/vax"] {
            assert!(versions(wrong).is_err(), "{wrong}");
        }
        // A range from a release that is not there began with another.
        let said = versions("debian:9.9..1.1").unwrap_err().to_string();
        assert!(said.contains("no stock kernel of 9.9; there are 6.1, 6.12"), "{said}");
        let said = versions("debian:6.13..6.17").unwrap_err().to_string();
        assert!(said.contains("there are 6.1, 6.12, 6.18, 7.0, 7.3"), "{said}");
    }

    #[test]
    fn a_mailbox_is_a_series_and_its_letter_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let mailbox = folder.path().join("series.mbox");
        fs::write(&mailbox, MAILBOX).unwrap();
        let versions = series("slub", &mailbox, folder.path()).unwrap();
        assert_eq!(names(&versions), ["slub", "1: mm: first", "2: mm: second"]);
        let second = fs::read_to_string(&versions[2].patches[1]).unwrap();
        assert!(second.starts_with("From me@here") && second.ends_with("+c\n"), "{second}");
        fs::write(&mailbox, "no patch").unwrap();
        assert!(series("slub", &mailbox, folder.path()).is_err());
    }

    #[test]
    fn a_folder_is_a_series_in_the_order_of_its_list_or_of_the_names() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["0000-cover-letter.patch", "0002-b.patch", "0001-a.patch", "notes.txt"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let found = series("slub", folder.path(), folder.path()).unwrap();
        assert_eq!(names(&found), ["slub", "1: 0001-a.patch", "2: 0002-b.patch"]);
        fs::write(folder.path().join("series"), "# mine\n0002-b.patch\n0001-a.patch # late\n")
            .unwrap();
        let found = series("slub", folder.path(), folder.path()).unwrap();
        assert_eq!(names(&found), ["slub", "1: 0002-b.patch", "2: 0001-a.patch"]);
    }

    #[test]
    fn commits_are_the_source_of_the_good_one_and_differences() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        fs::create_dir(&tree).unwrap();
        let git = |words: &[&str]| {
            let own = ["-c", "user.name=a", "-c", "user.email=a@b", "-C", tree.to_str().unwrap()];
            let output = Command::new("git").args(own).args(words).output().unwrap();
            assert!(output.status.success(), "{output:?}");
        };
        git(&["init", "-q"]);
        for text in ["one\n", "two\n", "three\n"] {
            fs::write(tree.join("f"), text).unwrap();
            git(&["add", "f"]);
            git(&["commit", "-q", "-m", text.trim()]);
        }
        let versions = commits("slub", &tree, ("HEAD~2", "HEAD"), folder.path()).unwrap();
        assert!(names(&versions)[2].ends_with(" three"), "{versions:?}");
        let source = versions[2].source.as_ref().unwrap();
        assert_eq!(fs::read_to_string(source.join("f")).unwrap(), "one\n");
        let difference = fs::read_to_string(&versions[2].patches[0]).unwrap();
        assert!(difference.contains("+three"), "{difference}");
        let refused = |good, bad| commits("slub", &tree, (good, bad), folder.path()).unwrap_err();
        assert!(refused("nowhere", "HEAD").to_string().contains("git rev-parse"));
        assert!(refused("HEAD", "HEAD").to_string().contains("no commit in"));
    }
}
