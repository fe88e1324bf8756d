//! Boots a guest, and returns its results.
//!
//! # How it works
//! The guest's channels end in files of a folder of its own. The tool reads what is new in them every 20
//! ms: rows are kept as they come, the console is searched for trouble. A guest that is alive sends a
//! row every five seconds.
//!
//! QEMU before 8.1 translates code without a lock on its page (mended by its commit deba78709ae8): one emulated CPU
//! can keep a breakpoint that another has just taken back. Linux writes one for a moment wherever it changes code
//! (`arch/x86/kernel/alternative.c`: static keys, which turn tracepoints on and off), and dies of one it does not
//! know. Such a guest says nothing about Linux, and is booted again.
//!
//! # Invariants
//! - A boot succeeds only if: the guest sent `end` with status 0, QEMU ended, and the console is clean.
//! - A boot returns the results of one guest, the last.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use slablab_host::{Child, Interrupt, POLL_INTERVAL};

use crate::accel::Accel;
use crate::console::{Trouble, TroubleKind, job_output, trouble_in};
use crate::error::{Error, Result};
use crate::initramfs::Packing;
use crate::machine::Machine;
use crate::qemu::{self, files};
use crate::run::check;
use crate::spec::image_memory_bytes;

/// How much longer a console is read after the first line of trouble, for the rest of the report.
const REPORT_REST: Duration = Duration::from_secs(1);

/// Lines of a console that an error shows: a job's complaint, or the head of a call trace.
const LAST_LINES: usize = 10;

/// The most that a guest may send in rows, as files, or to its console: it is read into memory, and kept on the disk.
const SENT_BYTES_MAX: u64 = 4 << 30;
/// The longest line of a guest: a console without a line break would fill memory.
const LINE_BYTES_MAX: usize = 16 << 20;

/// How many guests are booted at most, if each meets a breakpoint that QEMU should have forgotten. Fewer than one in a
/// hundred guests that only boot and run a load meets one. So three in a row mean that the load itself provokes it, as
/// a load does that turns tracepoints on and off all the time.
const GUESTS: u32 = 3;

/// The result of a boot.
#[derive(Debug, Clone)]
pub struct Boot {
    /// Rows that the job sent, in order, without those that only report that the guest is alive
    pub rows: Vec<Value>,
    /// Files that the job sent, with name and place
    pub files: Vec<(String, PathBuf)>,
    /// The console's text
    pub console: PathBuf,
}

impl Boot {
    /// Returns the rows of this kind.
    pub fn rows_of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.rows.iter().filter(move |row| row["kind"] == kind)
    }
}

impl Machine {
    /// Boots it, with its files in `folder`, and waits for its end. A guest that QEMU itself confused is booted again;
    /// its console is kept beside the new one, as `console-1.log`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Guest`] for every kind of trouble, and [`Error::Interrupted`].
    pub fn boot(&self, accel: Accel, folder: &Path, interrupt: &Interrupt) -> Result<Boot> {
        fs::create_dir_all(folder).map_err(Error::io("cannot make the folder", folder))?;
        let initrd = folder.join("initrd.cpio");
        let packing = if self.is_small() { Packing::Large } else { Packing::None };
        self.initramfs.write(&initrd, packing).inspect_err(|_| {
            // A part of the archive is useless, and may fill the disk.
            let _ = fs::remove_file(&initrd);
        })?;
        self.check_memory(&initrd).inspect_err(|_| _ = fs::remove_file(&initrd))?;
        let mut guest = 1;
        let booted = loop {
            let mut booted = self.boot_once(accel, &initrd, folder, interrupt);
            let Err(Error::Guest { trouble, console, .. }) = &mut booted else { break booted };
            let is_emulators = accel == Accel::Tcg && self.cpus > 1;
            if trouble.kind != TroubleKind::Breakpoint || !is_emulators {
                break booted;
            }
            if guest == GUESTS {
                trouble.line.push_str(
                    " (in each of three guests: QEMU before 8.1 does so; take a newer one, ",
                );
                trouble.line.push_str("a guest with one CPU, or --accel icount)");
                break booted;
            }
            let kept = folder.join(format!("console-{guest}.log"));
            if let Err(error) = fs::rename(&*console, kept) {
                break Err(Error::io("cannot rename", &*console)(error));
            }
            guest += 1;
        };
        // It has ten megabytes, which are not needed any more.
        let _ = fs::remove_file(&initrd);
        booted
    }

    fn boot_once(
        &self,
        accel: Accel,
        initrd: &Path,
        folder: &Path,
        interrupt: &Interrupt,
    ) -> Result<Boot> {
        // Files that an earlier guest left there do not belong to this one.
        for file in [files::CONSOLE, files::ROWS, files::FILES].map(|name| folder.join(name)) {
            match fs::remove_file(&file) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::io("cannot remove", &file)(e));
                }
                _ => {}
            }
        }
        let mut session = Session::new(self, folder);
        let mut child = qemu::start(self, accel, initrd, folder)?;
        let watched = session.watch(&mut child, interrupt);
        drop(child);
        watched?;
        session.into_boot()
    }
}

impl Machine {
    /// Fails if the kernel cannot even unpack itself beside `initrd`: such a guest ends without a
    /// message.
    fn check_memory(&self, initrd: &Path) -> Result<()> {
        let Some(image) = image_memory_bytes(self.kernel.image()) else { return Ok(()) };
        let files = fs::metadata(initrd).map_err(Error::io("cannot read", initrd))?.len();
        let needed_mib = image.saturating_add(files).div_ceil(1 << 20);
        if needed_mib <= u64::from(self.memory_mib) {
            return Ok(());
        }
        let why = format!(
            "{} MiB of memory are too few: the image unpacks itself below {} MiB, and its first file system has {} more. \
             Take --memory {needed_mib} at least, or a smaller kernel, such as build:6.12/slub_tiny",
            self.memory_mib,
            image.div_ceil(1 << 20),
            files.div_ceil(1 << 20),
        );
        Err(Error::Config { place: self.kernel.spec.name(), why })
    }
}

/// A running guest, as seen through its files.
struct Session<'a> {
    machine: &'a Machine,
    folder: &'a Path,
    console: Tail,
    rows: Tail,
    seen: Vec<Value>,
    last_line: String,
    trouble: Option<(Trouble, Instant)>,
    ended: bool,
}

impl<'a> Session<'a> {
    fn new(machine: &'a Machine, folder: &'a Path) -> Self {
        Self {
            machine,
            folder,
            console: Tail::new(folder.join(files::CONSOLE)),
            rows: Tail::new(folder.join(files::ROWS)),
            seen: Vec::new(),
            last_line: String::new(),
            trouble: None,
            ended: false,
        }
    }

    /// Reads the files until QEMU ends, and ends it when there is trouble.
    fn watch(&mut self, child: &mut Child, interrupt: &Interrupt) -> Result<()> {
        let started = Instant::now();
        let mut last_sign = started;
        loop {
            let ended = child.ended().map_err(Error::io("cannot wait for QEMU in", self.folder))?;
            check(interrupt)?;
            // After the end of QEMU one more look finds what it wrote last.
            if self.read()? {
                last_sign = Instant::now();
            }
            if let Some(channel) = self.overfull() {
                let line = format!(
                    "it sent more than {} GiB ({channel}); last: {}",
                    SENT_BYTES_MAX >> 30,
                    self.last()
                );
                return Err(self.fail(Trouble { kind: TroubleKind::Job, line }));
            }
            let patience = self.machine.silence;
            if ended.is_some() {
                return self.verdict();
            } else if let Some((trouble, since)) = &self.trouble {
                if since.elapsed() > REPORT_REST {
                    return Err(self.fail(trouble.clone()));
                }
            } else if last_sign.elapsed() > patience {
                let line = format!("no sign for {} s; last: {}", patience.as_secs(), self.last());
                return Err(self.fail(Trouble { kind: TroubleKind::Hang, line }));
            } else if started.elapsed() > self.machine.limit {
                let limit = self.machine.limit.as_secs();
                let line = format!("not done after {limit} s; last: {}", self.last());
                return Err(self.fail(Trouble { kind: TroubleKind::Hang, line }));
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Reads what is new; returns whether there was anything.
    fn read(&mut self) -> Result<bool> {
        let mut any = false;
        for line in self.console.lines()? {
            any = true;
            if self.trouble.is_none() {
                self.trouble = trouble_in(&line).map(|trouble| (trouble, Instant::now()));
            }
            if !line.trim().is_empty() {
                self.last_line = line;
            }
        }
        for line in self.rows.lines()? {
            any = true;
            let row: Value = serde_json::from_str(&line).map_err(|e| Error::Results {
                guest: self.machine.name(),
                why: format!("`{line}` is not a JSON object: {e}"),
                results: self.folder.join(files::ROWS),
            })?;
            if row["kind"] == "alive" {
                continue;
            }
            self.ended |= row["kind"] == "end";
            self.seen.push(row);
        }
        Ok(any)
    }

    /// Returns the channel that has more than a guest may send.
    fn overfull(&self) -> Option<&'static str> {
        let bytes = |name: &&str| fs::metadata(self.folder.join(name)).map_or(0, |file| file.len());
        [files::CONSOLE, files::ROWS, files::FILES]
            .into_iter()
            .find(|name| bytes(name) > SENT_BYTES_MAX)
    }

    /// Judges a guest whose QEMU has ended.
    fn verdict(&self) -> Result<()> {
        if let Some((trouble, _)) = &self.trouble {
            return Err(self.fail(trouble.clone()));
        }
        let Some(end) = self.seen.iter().find(|row| row["kind"] == "end") else {
            let complaint = self.emulators_complaint();
            let kind = match (&complaint, self.last_line.is_empty()) {
                (Some(_), true) => TroubleKind::Emulator,
                _ => TroubleKind::LostConsole,
            };
            let line = complaint.unwrap_or_else(|| format!("QEMU ended; last: {}", self.last()));
            return Err(self.fail(Trouble { kind, line }));
        };
        if end["status"] != 0 {
            // The first message counts, because the caller of a failed script reports it, too.
            let said = self.seen.iter().find(|row| row["kind"] == "error");
            let said = said.and_then(|row| row["message"].as_str()).map(str::to_owned);
            let line = said.unwrap_or_else(|| format!("status {}", end["status"]));
            return Err(self.fail(Trouble { kind: TroubleKind::Job, line }));
        }
        Ok(())
    }

    fn fail(&self, trouble: Trouble) -> Error {
        let console = self.folder.join(files::CONSOLE);
        let text = job_output(&fs::read(&console).unwrap_or_default());
        let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
        let last = last.iter().map(|line| (*line).to_owned()).collect();
        Error::Guest { guest: self.machine.name(), trouble, last, console }
    }

    fn last(&self) -> &str {
        if self.last_line.is_empty() {
            "nothing at all, as of a kernel without a serial console"
        } else {
            self.last_line.trim()
        }
    }

    /// Returns QEMU's own complaint, if it has one.
    fn emulators_complaint(&self) -> Option<String> {
        let text = fs::read_to_string(self.folder.join(files::EMULATOR)).ok()?;
        let mut lines = text.lines().filter(|line| !line.contains("warning:"));
        lines.next().map(str::to_owned)
    }

    /// Splits the files off their channel and returns the results of the boot.
    fn into_boot(self) -> Result<Boot> {
        let sent = self.folder.join(files::FILES);
        let bytes = fs::read(&sent).map_err(Error::io("cannot read", &sent))?;
        let place = self.folder.join("files");
        let mut files = Vec::new();
        for (name, content) in split_files(&bytes).map_err(|why| Error::Results {
            guest: self.machine.name(),
            why,
            results: sent.clone(),
        })? {
            fs::create_dir_all(&place).map_err(Error::io("cannot make the folder", &place))?;
            let path = place.join(&name);
            fs::write(&path, content).map_err(Error::io("cannot write", &path))?;
            files.push((name, path));
        }
        // Every byte is in files of their own now, or there was none.
        fs::remove_file(&sent).map_err(Error::io("cannot remove", &sent))?;
        let console = self.folder.join(files::CONSOLE);
        Ok(Boot { rows: self.seen, files, console })
    }
}

/// Takes `FILE <bytes> <name>\n<content>` apart, as often as it comes.
fn split_files(mut bytes: &[u8]) -> std::result::Result<Vec<(String, &[u8])>, String> {
    let mut files = Vec::new();
    while !bytes.is_empty() {
        let end = bytes.iter().position(|byte| *byte == b'\n').ok_or("a header without an end")?;
        let header = std::str::from_utf8(&bytes[..end]).map_err(|_| "a header that is not text")?;
        let mut words = header.splitn(3, ' ');
        let (Some("FILE"), Some(size), Some(name)) = (words.next(), words.next(), words.next())
        else {
            return Err(format!("`{header}` is not the header of a file"));
        };
        let size: usize = size.parse().map_err(|_| format!("`{header}` has no size"))?;
        if name.contains('/') || name.starts_with('.') {
            return Err(format!("`{name}` is not a plain file name"));
        }
        let rest = &bytes[end + 1..];
        let (content, others) =
            rest.split_at_checked(size).ok_or_else(|| format!("{name} is cut off"))?;
        files.push((name.to_owned(), content));
        bytes = others;
    }
    Ok(files)
}

/// A growing text file, read line by line.
struct Tail {
    path: PathBuf,
    file: Option<File>,
    rest: Vec<u8>,
}

impl Tail {
    fn new(path: PathBuf) -> Self {
        Self { path, file: None, rest: Vec::new() }
    }

    /// Returns the lines that were completed since the last call; none while there is no file.
    fn lines(&mut self) -> Result<Vec<String>> {
        if self.file.is_none() {
            match File::open(&self.path) {
                Ok(file) => self.file = Some(file),
                Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
                Err(e) => return Err(Error::io("cannot read", &self.path)(e)),
            }
        }
        if let Some(file) = &mut self.file {
            file.read_to_end(&mut self.rest).map_err(Error::io("cannot read", &self.path))?;
        }
        let mut lines = Vec::new();
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            lines.push(String::from_utf8_lossy(&line).trim_end().to_owned());
        }
        if self.rest.len() > LINE_BYTES_MAX {
            lines.push(String::from_utf8_lossy(&self.rest).into_owned());
            self.rest.clear();
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use slablab_host::KeyHasher;

    use super::*;
    use crate::initramfs::Initramfs;
    use crate::kernel::{Built, Kernel};
    use crate::spec::Spec;

    #[test]
    fn a_job_that_failed_shows_the_last_lines_of_its_console() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().to_owned();
        Built::default().write(&folder).unwrap();
        let key = KeyHasher::new("test").finish();
        let kernel =
            Kernel::at(&Spec::plain("slub"), key, folder.clone(), Some(folder.clone())).unwrap();
        let machine = Machine::new(kernel, 2, Initramfs::empty());
        let mut console = String::from("[    0.5] Run /init as init process\r\n");
        (1..=20).for_each(|i| console.push_str(&format!("line {i}\r\n")));
        console.push_str("cp: can't stat 'x': No such file or directory\r\n");
        console.push_str("[    9.0] reboot: machine restart\r\n");
        fs::write(folder.join(files::CONSOLE), console).unwrap();
        fs::write(folder.join(files::ROWS), "{\"kind\":\"end\",\"status\":3}\n").unwrap();
        let mut session = Session::new(&machine, &folder);
        assert!(session.read().unwrap());
        let error = session.verdict().unwrap_err().to_string();
        let begin = "guest slub, 2 CPUs: the job failed: status 3. The last lines of its console:\n  line 12\n";
        assert!(error.starts_with(begin), "{error}");
        assert!(
            error.contains("\n  cp: can't stat 'x': No such file or directory\nThe whole"),
            "{error}"
        );
    }

    #[test]
    fn files_come_off_their_channel_whole() {
        let sent = b"FILE 3 a.txt\nx\nyFILE 0 b\n";
        let files = split_files(sent).unwrap();
        assert_eq!(files, [("a.txt".to_owned(), &b"x\ny"[..]), ("b".to_owned(), &b""[..])]);
        for (bad, why) in [
            (&b"FILE 9 a\nx"[..], "a is cut off"),
            (b"x\n", "`x` is not the header of a file"),
            (b"FILE 0 ../a\n", "`../a` is not a plain file name"),
            (b"FILE x a\n", "`FILE x a` has no size"),
            (b"FILE 18446744073709551615 a\nx", "a is cut off"),
        ] {
            assert_eq!(split_files(bad).unwrap_err(), why);
        }
    }

    #[test]
    fn a_half_line_waits_for_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut tail = Tail::new(path.clone());
        assert!(tail.lines().unwrap().is_empty());
        let mut file = File::create(path).unwrap();
        file.write_all(b"one\ntw").unwrap();
        assert_eq!(tail.lines().unwrap(), ["one"]);
        file.write_all(b"o\r\n").unwrap();
        assert_eq!(tail.lines().unwrap(), ["two"]);
    }
}
