//! The guest's first file system: init, a shell, the programs of a job with their libraries, the job.
//!
//! # How it works
//! While the kernel unpacks the archive, it needs memory for both. For a guest with little memory, large files are
//! compressed one by one and named in `packed`, except busybox, which is needed to unpack them. Init unpacks them
//! once the archive's memory is free.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use slablab_host::bound;

use crate::cpio::Archive;
use crate::data::Data;
use crate::error::{Error, Result};
use crate::run::output;
use crate::tools;

/// Larger programs, in bytes, are stripped of symbols: a debug build of slablab has 100 MB.
const STRIP_ABOVE_BYTES: u64 = 8 << 20;

/// Files of more bytes than this are compressed.
const PACK_ABOVE_BYTES: usize = 64 << 10;

/// How files lie in the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    /// Uncompressed
    None,
    /// Large ones compressed
    Large,
}

/// The files of the archive: guest path to content.
#[derive(Debug, Clone)]
pub struct Initramfs {
    files: BTreeMap<String, Content>,
    /// Where the programs of a guest of another architecture lie
    userland: Option<PathBuf>,
}

#[derive(Debug, Clone)]
enum Content {
    /// A file of this machine
    Copy(PathBuf),
    /// A program of this machine, stripped if it is large
    Program(PathBuf),
    /// A text of ours
    Text(String),
}

impl Initramfs {
    /// Returns one with init, busybox and `job`, a script for busybox's shell that can use the definitions of
    /// `guest/*.sh`; programs come from this machine, or from `userland`.
    pub(crate) fn new(data: &Data, job: &str, userland: Option<&Path>) -> Result<Self> {
        let mut files = BTreeMap::new();
        files.insert("init".into(), Content::Program(data.guest("init")));
        for script in data.guest_scripts() {
            let name = script.file_name().unwrap_or_default().to_string_lossy();
            files.insert(format!("lib/{name}"), Content::Copy(script.clone()));
        }
        files.insert("job".into(), Content::Text(job.into()));
        let mut initramfs = Self { files, userland: userland.map(Path::to_owned) };
        initramfs.tool("busybox")?;
        Ok(initramfs)
    }

    /// Adds a program that lies on the PATH, with its libraries, as `bin/NAME`; for a guest of another architecture
    /// there are busybox and hackbench.
    ///
    /// # Errors
    ///
    /// If it is missing, or one of its libraries is.
    pub fn tool(&mut self, name: &str) -> Result<()> {
        let Some(userland) = &self.userland else {
            return self.program(name, &tools::program(name)?);
        };
        let places = ["usr/bin", "bin"].map(|place| userland.join(place).join(name));
        let program =
            places.into_iter().find(|path| path.is_file()).ok_or_else(|| foreign(name))?;
        self.files.insert(format!("bin/{name}"), Content::Copy(program));
        if name == "busybox" {
            return Ok(());
        }
        // Only its own machine's loader could tell which of them it needs; together they have 4 MB.
        for place in ["usr/lib", "lib"] {
            for folder in fs::read_dir(userland.join(place)).into_iter().flatten().flatten() {
                for library in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
                    let name = library.file_name().to_string_lossy().into_owned();
                    self.files.insert(format!("lib/{name}"), Content::Copy(library.path()));
                }
            }
        }
        Ok(())
    }

    /// Adds a program by its name on the PATH, or by its path.
    ///
    /// # Errors
    ///
    /// Fails as [`Initramfs::tool`] and [`Initramfs::program`] do.
    pub fn tool_or_path(&mut self, program: &str) -> Result<()> {
        match Path::new(program).file_name().and_then(|name| name.to_str()) {
            Some(name) if program.contains('/') => self.program(name, Path::new(program)),
            _ => self.tool(program),
        }
    }

    /// Adds the program `path` of this machine with its libraries, as `bin/NAME`.
    ///
    /// # Errors
    ///
    /// If it or one of its libraries is missing, or it cannot run in the guest.
    pub fn program(&mut self, name: &str, path: &Path) -> Result<()> {
        fs::metadata(path).map_err(Error::io("no such program", path))?;
        if self.userland.is_some() && !read(path)?.starts_with(b"#!") {
            return Err(foreign(&path.display().to_string()));
        }
        self.files.insert(format!("bin/{name}"), Content::Program(path.to_owned()));
        for (guest_path, library) in libraries(path)? {
            self.files.insert(guest_path, Content::Copy(library));
        }
        Ok(())
    }

    /// Adds a file of this machine as `guest_path`.
    pub fn file(&mut self, guest_path: &str, path: &Path) {
        self.files.insert(guest_path.into(), Content::Copy(path.to_owned()));
    }

    /// Writes the archive.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or the archive cannot be written.
    pub(crate) fn write(&self, path: &Path, packing: Packing) -> Result<()> {
        let failed = || Error::io("cannot write the guest's first file system", path);
        let file = File::create(path).map_err(failed())?;
        let mut archive = Archive::new(BufWriter::new(file));
        self.write_folders(&mut archive).map_err(failed())?;
        archive.device("dev/console", (5, 1)).map_err(failed())?;
        let mut packed = String::new();
        for (guest_path, content) in &self.files {
            let (bytes, mode) = match content {
                // Libraries are executable too, because the kernel executes the loader.
                Content::Copy(from) => (read(from)?, 0o755),
                Content::Program(from) => (read_stripped(from)?, 0o755),
                Content::Text(text) => (text.clone().into_bytes(), 0o644),
            };
            let is_packed = packing == Packing::Large
                && guest_path != "bin/busybox"
                && bytes.len() > PACK_ABOVE_BYTES;
            if is_packed {
                let bytes = gzip(&bytes).map_err(failed())?;
                archive.file(&format!("{guest_path}.gz"), mode, &bytes).map_err(failed())?;
                packed.push_str(&format!("/{guest_path}\n"));
            } else {
                archive.file(guest_path, mode, &bytes).map_err(failed())?;
            }
        }
        if !packed.is_empty() {
            archive.file("packed", 0o644, packed.as_bytes()).map_err(failed())?;
        }
        archive.finish().map_err(failed())?;
        Ok(())
    }

    /// Writes every folder that a file lies in, parents first, and those that init mounts on.
    fn write_folders(&self, archive: &mut Archive<impl io::Write>) -> io::Result<()> {
        let mut folders: Vec<&str> = vec!["dev", "proc", "sys", "tmp"];
        for path in self.files.keys() {
            folders.extend(path.match_indices('/').map(|(at, _)| &path[..at]));
        }
        folders.sort_unstable();
        folders.dedup();
        folders.into_iter().try_for_each(|folder| archive.folder(folder))
    }
}

fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn foreign(program: &str) -> Error {
    Error::Config {
        place: program.to_owned(),
        why: "a guest of another architecture has busybox, hackbench and scripts, not this machine's programs".into(),
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(Error::io("cannot read", path))
}

/// Returns a program, without its symbols if it is large.
fn read_stripped(path: &Path) -> Result<Vec<u8>> {
    let size = fs::metadata(path).map_err(Error::io("cannot read", path))?.len();
    if size <= STRIP_ABOVE_BYTES {
        return read(path);
    }
    let copy = tempfile::NamedTempFile::new().map_err(Error::io("cannot write into", "/tmp"))?;
    output("strip", bound(tools::program("strip")?).arg("-o").arg(copy.path()).arg(path))?;
    read(copy.path())
}

/// Returns the libraries of a program, as pairs of guest path and path on this machine; none for a
/// static program.
fn libraries(program: &Path) -> Result<Vec<(String, PathBuf)>> {
    let listing = Command::new(tools::program("ldd")?)
        .arg(program)
        .env("LC_ALL", "C")
        .output()
        .map_err(Error::io("cannot list the libraries of", program))?;
    parse_ldd(&String::from_utf8_lossy(&listing.stdout)).map_err(|library| Error::Missing {
        programs: format!("library {library} of {}", program.display()),
        remedy: "Install the package that brings it".into(),
    })
}

/// Reads the output of `ldd`; `Err` has the name of a library that is not found.
fn parse_ldd(listing: &str) -> std::result::Result<Vec<(String, PathBuf)>, String> {
    let mut libraries = Vec::new();
    for line in listing.lines().map(str::trim) {
        // "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x...)", "/lib64/ld-linux-x86-64.so.2 (0x...)"
        let (name, target) = line.split_once(" => ").unwrap_or((line, line));
        if target.starts_with("not found") {
            return Err(name.to_owned());
        }
        let Some((path, _)) = target.rsplit_once(" (") else { continue };
        if !path.starts_with('/') {
            continue;
        }
        // The loader's path is written into every program; all others are found in LD_LIBRARY_PATH.
        let guest_path = match name.strip_prefix('/') {
            Some(loader) => loader.rsplit_once(" (").map_or(loader, |(path, _)| path).to_owned(),
            None => format!("lib/{name}"),
        };
        libraries.push((guest_path, path.into()));
    }
    Ok(libraries)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Initramfs {
        /// Returns one without any file.
        pub(crate) fn empty() -> Self {
            Self { files: BTreeMap::new(), userland: None }
        }
    }

    #[test]
    fn ldd_is_understood() {
        let listing = "\tlinux-vdso.so.1 (0x00007f1)\n\
            \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f2)\n\
            \t/lib64/ld-linux-x86-64.so.2 (0x00007f3)\n";
        let expected = [
            ("lib/libc.so.6".to_owned(), PathBuf::from("/lib/x86_64-linux-gnu/libc.so.6")),
            ("lib64/ld-linux-x86-64.so.2".to_owned(), "/lib64/ld-linux-x86-64.so.2".into()),
        ];
        assert_eq!(parse_ldd(listing).unwrap(), expected);
        assert_eq!(parse_ldd("\tnot a dynamic executable\n").unwrap(), []);
        assert_eq!(parse_ldd("\tlibx.so => not found\n").unwrap_err(), "libx.so");
    }

    #[test]
    fn parents_come_before_their_files() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("initrd");
        let files = BTreeMap::from([("a/b/c".into(), Content::Text("x".into()))]);
        Initramfs { files, userland: None }.write(&path, Packing::None).unwrap();
        let bytes = fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let at = |name: &str| text.find(name).unwrap_or_else(|| panic!("{name}"));
        assert!(at("a\0") < at("a/b\0") && at("a/b\0") < at("a/b/c\0"));
    }

    #[test]
    fn a_packed_archive_names_its_large_files_and_keeps_busybox_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("initrd");
        let large = || Content::Text("x".repeat(PACK_ABOVE_BYTES + 1));
        let files = [
            ("bin/busybox", large()),
            ("lib/libc.so.6", large()),
            ("job", Content::Text("y".into())),
        ];
        let files = files.map(|(name, content)| (name.to_owned(), content)).into();
        Initramfs { files, userland: None }.write(&path, Packing::Large).unwrap();
        let bytes = fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(bytes.len() < 2 * PACK_ABOVE_BYTES);
        assert!(text.contains("lib/libc.so.6.gz\0") && text.contains("\0/lib/libc.so.6\n"));
        assert!(text.contains("bin/busybox\0") && text.contains("job\0"));
    }
}
