//! tracefs: found, or mounted when it is not; an instance of our own in it, removed when dropped.
//!
//! # How it works
//! An instance is a directory under `instances/`; making it makes ring buffers and control files of its
//! own, so that other users' tracing is not disturbed. It is called `slablab-PID`, in a PID namespace of its own
//! `slablab-PID-NAMESPACE`. An instance whose process is gone (it was killed) is removed when the next one is made.
//! Probes belong to the whole kernel, in a group with the instance's name, and are removed likewise.
//!
//! Linux counterpart: `kernel/trace/trace.c`, `Documentation/trace/ftrace.rst` @ 6.18.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::mount::MountFlags;
use slablab_host::shell;

use super::machine;
use crate::source::format::EventFormat;
use crate::source::kmem;
use crate::source::page_format::PageFormat;
use crate::{Error, PageKind};

/// Where tracefs belongs, and where older systems have it.
const MOUNT_POINT: &str = "/sys/kernel/tracing";
const MOUNT_POINTS: [&str; 2] = [MOUNT_POINT, "/sys/kernel/debug/tracing"];

const INSTANCE_PREFIX: &str = "slablab-";

/// The link of the initial PID namespace (`PROC_PID_INIT_INO` of `include/linux/proc_ns.h` @ 6.18).
const INITIAL_NAMESPACE: &str = "pid:[4026531836]";

/// How often we try to remove a probe, ten milliseconds apart.
const PROBE_REMOVALS: u32 = 20;

/// What a thread of ours writes to be known by.
const MARK: &str = "slablab's own thread";

/// A mounted tracefs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tracefs {
    pub(crate) root: PathBuf,
}

impl Tracefs {
    /// Returns the tracefs that is mounted, if one is and this user may look into it.
    pub(crate) fn mounted() -> Option<Tracefs> {
        let usable = |root: &&&str| Path::new(root).join("events").is_dir();
        MOUNT_POINTS.iter().find(usable).map(|root| Tracefs { root: root.into() })
    }

    /// Returns the mounted tracefs, or mounts it.
    pub(crate) fn find_or_mount() -> Result<Tracefs, Error> {
        if let Some(tracefs) = Tracefs::mounted() {
            return Ok(tracefs);
        }
        if !Path::new(MOUNT_POINT).is_dir() {
            let what = format!("this kernel has no tracefs ({MOUNT_POINT} does not exist)");
            let remedy = "boot one built with CONFIG_FTRACE=y and CONFIG_EVENT_TRACING=y";
            return Err(Error::CannotRecord { what, remedy: remedy.into() });
        }
        rustix::mount::mount("tracefs", MOUNT_POINT, "tracefs", MountFlags::empty(), None)
            .map_err(|e| refused(Path::new(MOUNT_POINT), "mount tracefs at", &e.into()))?;
        Tracefs::mounted().ok_or_else(|| Error::CannotRecord {
            what: format!("tracefs is mounted at {MOUNT_POINT}, but has no events"),
            remedy: "boot a kernel built with CONFIG_EVENT_TRACING=y".into(),
        })
    }

    /// Reads a control file that is not an instance's.
    pub(super) fn read(&self, name: &str) -> Result<String, Error> {
        read(&self.root.join(name))
    }

    /// Returns the names of the kmem events that this kernel has.
    pub(crate) fn kmem_events(&self) -> Vec<&'static str> {
        let exists = |name: &&str| self.root.join("events/kmem").join(name).is_dir();
        kmem::EVENTS.map(|(name, _)| name).into_iter().filter(exists).collect()
    }

    /// Returns the kinds of the page allocator's events that the kernel has.
    pub(super) fn page_events(&self) -> Vec<PageKind> {
        let exists = |kind: &PageKind| self.root.join("events").join(kind.path()).is_dir();
        PageKind::recorded().filter(exists).collect()
    }

    /// Returns whether events are on already, for somebody else. Whoever turns `record-cmd` off turns it off for
    /// all events that are on, in whatever instance (`trace_event_enable_cmd_record`).
    pub(crate) fn in_use(&self) -> bool {
        let instances =
            std::fs::read_dir(self.root.join("instances")).into_iter().flatten().flatten();
        let roots = instances.map(|instance| instance.path()).chain([self.root.clone()]);
        // What cannot be read may be in use.
        let mut lists = roots.map(|root| read(&root.join("set_event")));
        lists.any(|list| list.map_or(true, |events| !events.is_empty()))
    }

    /// Removes the probes of recorders of this PID namespace that were killed, and what has the name of ours.
    fn remove_abandoned_probes(&self) {
        let (prefix, suffix) = (probe_group(INSTANCE_PREFIX), probe_group(&namespace_suffix()));
        let defined = self.read("dynamic_events").or_else(|_| self.read("kprobe_events"));
        let defined = defined.unwrap_or_default();
        // A line is `r256:GROUP/EVENT FUNCTION ...`.
        let names = defined.lines().filter_map(|line| line.split_once(':')?.1.split(' ').next());
        let is_abandoned = |name: &&str| {
            let owner = name.split('/').next().and_then(|group| owner_of(group, &prefix, &suffix));
            owner.is_some_and(|pid| pid == std::process::id() || is_gone(pid))
        };
        if machine::proc_is_ours() {
            names.filter(is_abandoned).for_each(|path| self.remove_probe(path));
        }
    }

    /// Defines a probe.
    pub(super) fn define_probe(&self, definition: &str) -> std::io::Result<()> {
        // Before 5.0 there are kprobes alone.
        let mut files = ["dynamic_events", "kprobe_events"].iter().map(|name| self.root.join(name));
        let file = files.find(|file| file.exists()).ok_or(std::io::ErrorKind::NotFound)?;
        File::options().append(true).open(file)?.write_all(definition.as_bytes())
    }

    /// Removes a probe, `GROUP/EVENT`, which may be in use for a moment longer; says so when somebody else goes on using it.
    pub(super) fn remove_probe(&self, path: &str) {
        let definition = format!("-:{path}");
        let mut tries = 0;
        while let Err(error) = self.define_probe(&definition) {
            tries += 1;
            if error.kind() != std::io::ErrorKind::ResourceBusy {
                return;
            }
            if tries == PROBE_REMOVALS {
                let _ = writeln!(
                    std::io::stderr(),
                    "slablab: cannot remove the probe {path}: {error}; \
                     remove it with echo {} >> {}",
                    shell::word(&definition),
                    shell::path(&self.root.join("dynamic_events"))
                );
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Returns the instances of recorders that were killed.
    pub(crate) fn abandoned_instances(&self) -> Vec<PathBuf> {
        abandoned(&self.root.join("instances"))
    }

    /// Takes over the instance of a recorder that was killed, which is gone when this is dropped.
    pub(super) fn adopt(&self, root: &Path) -> Option<Instance> {
        let is_abandoned = self.abandoned_instances().iter().any(|path| path == root);
        is_abandoned.then(|| Instance { root: root.to_owned() })
    }

    /// Makes an instance for this process.
    pub(crate) fn instance(&self) -> Result<Instance, Error> {
        let instances = self.root.join("instances");
        remove_abandoned(&instances);
        self.remove_abandoned_probes();
        let own = format!("{INSTANCE_PREFIX}{}{}", std::process::id(), namespace_suffix());
        let root = instances.join(own);
        std::fs::create_dir(&root).map_err(|e| refused(&root, "make the trace instance", &e))?;
        Ok(Instance { root })
    }
}

/// Returns what the group of an instance's probes is called: a name of C, which has no `-`.
fn probe_group(instance: &str) -> String {
    instance.replace('-', "_")
}

/// Returns the process that a name is of: the number between the prefix and the suffix of its namespace.
fn owner_of(name: &str, prefix: &str, suffix: &str) -> Option<u32> {
    name.strip_prefix(prefix)?.strip_suffix(suffix)?.parse().ok()
}

fn is_gone(pid: u32) -> bool {
    !Path::new(&format!("/proc/{pid}")).exists()
}

/// Returns what the names of instances of this PID namespace end with.
fn namespace_suffix() -> String {
    let link = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let link = link.to_string_lossy();
    let digits = link.trim_matches(|c: char| !c.is_ascii_digit());
    if link == INITIAL_NAMESPACE || digits.is_empty() {
        String::new()
    } else {
        format!("-{digits}")
    }
}

/// Removes the instances of recorders of this PID namespace that were killed.
fn remove_abandoned(instances: &Path) {
    for path in abandoned(instances) {
        // Losing a race against another recorder that does the same is as good as winning it.
        let _ = std::fs::remove_dir(path);
    }
}

/// Returns the instances of recorders of this PID namespace that were killed: they trace on, into their buffers.
fn abandoned(instances: &Path) -> Vec<PathBuf> {
    if !machine::proc_is_ours() {
        return Vec::new();
    }
    let suffix = namespace_suffix();
    let entries = std::fs::read_dir(instances).into_iter().flatten().flatten();
    let is_abandoned = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.and_then(|name| owner_of(name, INSTANCE_PREFIX, &suffix)).is_some_and(is_gone)
    };
    entries.map(|entry| entry.path()).filter(is_abandoned).collect()
}

/// An instance of our own. Its events are off and it is gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Instance {
    root: PathBuf,
}

impl Instance {
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Returns what the group of this instance's probes is called.
    pub(super) fn probe_group(&self) -> String {
        probe_group(&self.root.file_name().unwrap_or_default().to_string_lossy())
    }

    /// Returns whether another recorder has removed it.
    pub(super) fn is_gone(&self) -> bool {
        !self.root.exists()
    }

    /// Reads a control file.
    pub(crate) fn read(&self, name: &str) -> Result<String, Error> {
        read(&self.path(name))
    }

    /// Writes a control file.
    pub(crate) fn write(&self, name: &str, value: &str) -> Result<(), Error> {
        let path = self.path(name);
        File::options()
            .write(true)
            .open(&path)
            .and_then(|mut file| file.write_all(value.as_bytes()))
            .map_err(|e| refused(&path, "write", &e))
    }

    /// Writes a control file that not every kernel has.
    pub(crate) fn write_if_there(&self, name: &str, value: &str) -> Result<(), Error> {
        if self.path(name).exists() { self.write(name, value) } else { Ok(()) }
    }

    /// Writes a mark of this thread into the ring buffer, where the kernel allows it.
    pub(crate) fn mark_thread(&self) {
        let marker = File::options().write(true).open(self.path("trace_marker"));
        let _ = marker.and_then(|mut marker| marker.write_all(MARK.as_bytes()));
    }

    /// Returns the threads that wrote a mark, and empties the ring buffer. Nothing else may be in it.
    pub(crate) fn take_marks(&self) -> Result<Vec<u32>, Error> {
        let text = self.read("trace")?;
        let trace = self.path("trace");
        // That the file is opened to be truncated is what empties the buffer.
        File::create(&trace).map_err(|e| refused(&trace, "empty", &e))?;
        Ok(text.lines().filter(|line| line.ends_with(MARK)).filter_map(thread_of).collect())
    }

    /// Returns the format of an event, as in `kmem/kfree`.
    pub(crate) fn event_format(&self, event: &str) -> Result<EventFormat, Error> {
        let text = self.event_format_text(event)?;
        EventFormat::parse(&text).map_err(|what| self.unknown(&format_of(event), &what))
    }

    /// Returns the text of an event's format.
    pub(super) fn event_format_text(&self, event: &str) -> Result<String, Error> {
        self.read(&format_of(event))
    }

    /// Returns the shape of the ring buffer's pages.
    pub(crate) fn page_format(&self) -> Result<PageFormat, Error> {
        let (page, event) = self.page_texts()?;
        PageFormat::parse(&page, &event).map_err(|what| self.unknown("events/header_page", &what))
    }

    /// Returns the texts that describe the ring buffer's pages, and the records in them.
    pub(super) fn page_texts(&self) -> Result<(String, String), Error> {
        // The page description is the instance's own (its sub-buffers may have another size).
        let top = self.root.ancestors().nth(2).unwrap_or(&self.root);
        let text = |name: &str| match self.path(name) {
            own if own.exists() => read(&own),
            _ => read(&top.join(name)),
        };
        Ok((text("events/header_page")?, text("events/header_event")?))
    }

    pub(crate) fn unknown(&self, name: &str, what: &str) -> Error {
        Error::CannotRecord {
            what: format!("{}: {what}", self.path(name).display()),
            remedy: "record with `perf kmem record` and use `slablab import`".into(),
        }
    }
}

/// Returns where the format of an event is.
fn format_of(event: &str) -> String {
    format!("events/{event}/format")
}

/// Returns the thread of a line of `trace`: `COMM-TID [CPU] ...`, maybe with `(TGID)` before the CPU.
fn thread_of(line: &str) -> Option<u32> {
    let who = line.split(" [").next()?.split(" (").next()?;
    who.trim_end().rsplit_once('-')?.1.parse().ok()
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = self.write("tracing_on", "0");
        let _ = self.write("events/enable", "0");
        let removed = std::fs::remove_dir(&self.root);
        // One that was taken over may have been removed by another recorder that clears what is left behind.
        let is_left = |error: &std::io::Error| error.kind() != std::io::ErrorKind::NotFound;
        if let Some(error) = removed.err().filter(is_left) {
            let place = self.root.display();
            let _ = writeln!(
                std::io::stderr(),
                "slablab: {place}: cannot remove: {error}; remove it with rmdir {}",
                shell::path(&self.root)
            );
        }
    }
}

/// Reads a control file. `events/header_page` gives its text only to the first read, so that one has
/// to be large (the standard library begins with a small one).
fn read(path: &Path) -> Result<String, Error> {
    let mut text = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    let mut file = File::open(path).map_err(|e| refused(path, "open", &e))?;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(String::from_utf8_lossy(&text).into_owned()),
            Ok(bytes) => text.extend_from_slice(&buffer[..bytes]),
            Err(error) => return Err(refused(path, "read", &error)),
        }
    }
}

/// Says what the kernel refused, and what to do about it.
pub(super) fn refused(path: &Path, doing: &str, error: &std::io::Error) -> Error {
    let what = format!("cannot {doing} {}: {error}", path.display());
    let remedy = match error.kind() {
        std::io::ErrorKind::PermissionDenied => {
            "recording the kernel needs root: run it again with sudo, or read another's trace"
        }
        std::io::ErrorKind::OutOfMemory => "ask for less with --buffer",
        _ => "see what `slablab doctor` says",
    };
    Error::CannotRecord { what, remedy: remedy.into() }
}
