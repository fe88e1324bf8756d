//! Slab memory by release: what stock kernels hold after a boot and after three loads.
//!
//! # How it works
//! Each kernel has a result folder of its own below that of the history. The experiment `load` makes it, with all loads in
//! turn in each boot. A folder that is whole is not measured again, so that a new release costs its own boots only. Kernels
//! are not interleaved: slab memory of a guest does not depend on how busy the host is, as times do, which are left out.
//!
//! # Invariants
//! A kernel that was left out keeps the reason in its folder, and is tried again only when the file is gone.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use slablab_host::{Access, write_whole};
use slablab_linux::Release;

use crate::error::{Error, Result};
use crate::experiments::find;
use crate::journal::{FILE, Journal};
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::planning::plan;
use crate::request::Request;
use crate::run::{Stage, run};

/// Boots of each kernel unless another number is asked for.
pub const BOOTS: usize = 5;
/// The loads in the order in which each boot runs them.
pub const LOADS: [&str; 4] = ["boot", "hackbench", "files", "sockets"];

/// The file with the reason why a kernel was left out.
const LEFT_OUT: &str = "left-out.txt";
/// How kernels are named: `debian:6.12` and `debian:6.12/arm64`.
const STOCK: &str = "debian:";

/// What a stock kernel holds in slabs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Held {
    /// The kernel, as `--kernels` takes it
    pub kernel: String,
    /// The machine it was built for
    pub machine: String,
    /// Its release: `7.3`
    pub release: String,
    /// Its version: `7.3.4+deb13-cloud-amd64`; empty where it was left out
    pub version: String,
    /// `Slab` of `/proc/meminfo` after each load, in KiB: a value for each boot
    pub slab_kb: BTreeMap<String, Vec<f64>>,
    /// Why it was left out
    pub left_out: Option<String>,
}

/// Returns the kernels that lack boots in `root`.
///
/// # Errors
///
/// If a kernel is not a stock kernel, or a folder cannot be read.
pub fn lacking(root: &Path, kernels: &[String], boots: usize) -> Result<Vec<String>> {
    let mut lacking = Vec::new();
    for kernel in kernels {
        let folder = root.join(folder(kernel)?);
        let is_whole = folder.join(LEFT_OUT).exists()
            || (folder.exists() && Journal::read(&folder)?.len() >= boots);
        if !is_whole {
            lacking.push(kernel.clone());
        }
    }
    Ok(lacking)
}

/// Measures `kernels`, or goes on with what was interrupted, and adds them to the history in `root`.
///
/// # Errors
///
/// If the folder cannot be written, a kernel is not a stock kernel, or the machine cannot build or boot one. A kernel
/// that does not boot is left out.
pub fn fill(
    root: &Path,
    kernels: &[String],
    asked: &Request,
    progress: &mut dyn FnMut(Stage<'_>),
) -> Result<()> {
    let experiment = find("load")?;
    for kernel in kernels {
        let folder = root.join(folder(kernel)?);
        let mut request = of_kernel(asked, kernel);
        // A result that exists keeps its order.
        if let Some(there) = Plan::read(&folder)? {
            request.seed = there.seed;
        }
        match run(experiment, &plan(experiment, &request)?, &folder, progress) {
            Ok(_) => {}
            Err(error) if does_not_boot(&error) => {
                // A folder without a row is not a result.
                if Journal::read(&folder).is_ok_and(|rows| rows.is_empty()) {
                    let _ = Plan::remove(&folder);
                    let _ = fs::remove_file(folder.join(FILE));
                }
                let path = folder.join(LEFT_OUT);
                let why = format!("{}\n", reason(&error.to_string()));
                fs::create_dir_all(&folder)
                    .and_then(|()| write_whole(&path, why.as_bytes(), Access::Umask))
                    .map_err(Error::io(&path, "write why a kernel is left out"))?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Returns whether it is the kernel that does not boot, and not that there is none of this name.
fn does_not_boot(error: &Error) -> bool {
    use slablab_vm::Error as Vm;
    matches!(error, Error::Vm(Vm::Guest { .. } | Vm::Results { .. }) | Error::Cell { .. })
}

/// Returns what the guest itself said of its end, or else the first line of an error.
fn reason(error: &str) -> &str {
    let mut lines = error.lines().map(str::trim);
    let own = lines.clone().find_map(|line| line.strip_prefix("slablab: "));
    own.or_else(|| lines.next()).unwrap_or_default()
}

/// Returns the request of one kernel, made of what is asked of all.
#[must_use]
pub fn of_kernel(asked: &Request, kernel: &str) -> Request {
    let mut request = asked.clone();
    request.params.insert("kernels".to_owned(), kernel.to_owned());
    request
}

/// Reads the kernels of a history: those of a machine together, in the order of their releases.
///
/// # Errors
///
/// If a folder cannot be read, or is none of the lab.
pub fn read(root: &Path) -> Result<Vec<Held>> {
    let mut all = Vec::new();
    let entries = fs::read_dir(root).map_err(Error::io(root, "read the history"))?;
    for entry in entries {
        let folder = entry.map_err(Error::io(root, "read the history"))?.path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(kernel) = kernel(&name).filter(|_| folder.is_dir()) else { continue };
        all.extend(held(kernel, &folder)?);
    }
    all.sort_by_key(|held| (held.machine.clone(), Release::of(&held.release)));
    Ok(all)
}

/// Reads what a kernel holds; `None` where its first boot is not over.
fn held(kernel: String, folder: &Path) -> Result<Option<Held>> {
    let rest = kernel.strip_prefix(STOCK).unwrap_or(&kernel);
    let (release, machine) = rest.split_once('/').unwrap_or((rest, "amd64"));
    let mut held = Held {
        machine: machine.to_owned(),
        release: release.to_owned(),
        version: String::new(),
        slab_kb: BTreeMap::new(),
        left_out: fs::read_to_string(folder.join(LEFT_OUT)).ok().map(|why| why.trim().to_owned()),
        kernel,
    };
    if held.left_out.is_some() {
        return Ok(Some(held));
    }
    if fs::metadata(folder.join(FILE)).map_or(0, |file| file.len()) == 0 {
        return Ok(None);
    }
    let outcome = Outcome::read(folder)?;
    for row in &outcome.rows {
        held.version = row.detail["kernel"].as_str().unwrap_or_default().to_owned();
        let load = row.point.split(',').next().unwrap_or_default();
        let mut add = |load: &str, key: &str| {
            if let Some(value) = row.values.get(key) {
                held.slab_kb.entry(load.to_owned()).or_default().push(*value);
            }
        };
        add(load, "slab_kb");
        // All loads of a boot say what the boot left.
        if load == LOADS[1] {
            add(LOADS[0], "slab_boot_kb");
        }
    }
    Ok(Some(held))
}

/// Returns the name of the folder of a stock kernel: `7.3-arm64`.
fn folder(kernel: &str) -> Result<PathBuf> {
    let name = kernel.strip_prefix(STOCK).map(|rest| rest.replace('/', "-"));
    let name = name.filter(|name| self::kernel(name).as_deref() == Some(kernel));
    name.map(PathBuf::from).ok_or_else(|| {
        Error::Request(format!("{kernel}: a history is of stock kernels, such as debian:7.3/arm64"))
    })
}

/// Returns the kernel whose folder has this name.
fn kernel(name: &str) -> Option<String> {
    let (release, machine) = match name.split_once('-') {
        Some((release, machine)) => (release, Some(machine)),
        None => (name, None),
    };
    let is_release = Release::of(release).is_some_and(|known| known.to_string() == release);
    is_release.then(|| match machine {
        Some(machine) => format!("{STOCK}{release}/{machine}"),
        None => format!("{STOCK}{release}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stock_kernel_has_a_folder_and_the_folder_its_kernel() {
        for (kernel, name) in [("debian:7.3", "7.3"), ("debian:6.12/arm64-16k", "6.12-arm64-16k")] {
            assert_eq!(folder(kernel).unwrap(), PathBuf::from(name));
            assert_eq!(self::kernel(name).as_deref(), Some(kernel));
        }
        for other in
            ["build:7.3/slub", "slub", "debian:", "debian:7.3.4", "debian:../7.3", "x/bzImage"]
        {
            assert!(folder(other).is_err(), "{other}");
        }
        assert_eq!(self::kernel("README.md"), None);
    }

    #[test]
    fn the_reason_is_what_the_guest_said() {
        let error = "guest debian:6.1: lost console: QEMU ended; the last lines:\n  slablab: no virtio console\n  reboot";
        assert_eq!(reason(error), "no virtio console");
        assert_eq!(reason("it panics\nat once"), "it panics");
    }

    #[test]
    fn a_kernel_that_was_left_out_is_listed_with_its_reason() {
        let root = tempfile::tempdir().unwrap();
        for name in ["7.3-arm64", "6.12", "7.3", "boots"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        fs::write(root.path().join("6.12").join(LEFT_OUT), "it panics\n").unwrap();
        let all = read(root.path()).unwrap();
        assert_eq!(all.len(), 1, "{all:?}");
        assert_eq!((all[0].release.as_str(), all[0].machine.as_str()), ("6.12", "amd64"));
        assert_eq!(all[0].left_out.as_deref(), Some("it panics"));
    }
}
