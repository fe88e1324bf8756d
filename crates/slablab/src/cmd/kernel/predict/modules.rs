//! The modules of `kernel/modules` in user space (`slablab insmod`) and as real modules in a guest: do both
//! print the same facts?
//!
//! Times and counters of the processor differ, of course, and are left out; so is what is told of free memory.

use std::env;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use schemars::JsonSchema;
use serde::Serialize;
use slablab_vm::{Kernel, Machine, Spec};

use super::site::{Common, Site};
use crate::cli::OutputArgs;
use crate::output::{self, Cell, Column, Page, Report, Table};
use crate::progress::Progress;

/// Options of `slablab kernel predict modules`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The allocator behind both
    #[arg(long, value_name = "NAME", default_value = "slub")]
    allocator: String,
    #[command(flatten)]
    common: Common,
}

/// What is run, and with which parameters.
const RUNS: [(&str, &str); 7] = [
    ("memmax", "mode=0"),
    ("memmax", "mode=1"),
    ("memtim", "size=1000"),
    ("locality", "objects=200"),
    ("locality", "objects=200 churn=20000"),
    ("lifo", "objects=8 size=64"),
    ("xademo", "index=7,1000,0 value=70,99,1"),
];

/// Keys whose values belong to the machine and not to the allocator; `span` is how far apart pages lie.
const MEASURED: [&str; 4] = ["cycles_", "walk_ns_", "overhead", "span"];

const CPUS: u32 = 2;

/// Facts that are shown where they differ.
const SHOWN_MOST: usize = 4;

/// One run in both lanes.
#[derive(Debug, Serialize, JsonSchema)]
struct Row {
    module: &'static str,
    params: &'static str,
    facts: usize,
    same: usize,
    different: Vec<Different>,
}

/// A fact that is not the same.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct Different {
    guest: Option<String>,
    user: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Lanes {
    allocator: String,
    release: String,
    rows: Vec<Row>,
    folder: PathBuf,
}

/// Runs `slablab kernel predict modules`; status 1 when a fact differs.
pub(super) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let (site, kernels) = Site::open(&args.common, "modules", &[Spec::plain(&args.allocator)])?;
    let log = guest(&site, &kernels[0])?;
    let mut rows = Vec::new();
    for (i, (module, params)) in RUNS.into_iter().enumerate() {
        let of_guest = facts(section(&log, i), module);
        let of_user = facts(&user(&site, module, params, &args.allocator)?, module);
        if of_guest.is_empty() {
            bail!("{module} {params}: printed nothing in the guest; see {}", site.folder.display());
        }
        rows.push(compare(module, params, &of_guest, &of_user));
    }
    let same = rows.iter().all(|row| row.same == row.facts);
    let (allocator, release) = (args.allocator.clone(), kernels[0].release().to_owned());
    let lanes = Lanes { allocator, release, rows, folder: site.folder.clone() };
    output::print(&lanes, output, None)?;
    Ok(if same { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Returns the kernel's log of a guest that ran all modules, with a line `RUN i` before each.
fn guest(site: &Site, kernel: &Kernel) -> Result<String> {
    let builder = &site.builder;
    let mut job = String::new();
    for (i, (module, params)) in RUNS.into_iter().enumerate() {
        // Some refuse to stay: they are done when init is.
        job.push_str(&format!(
            "echo 'RUN {i} ' > /dev/kmsg\n\
             insmod /lib/modules/{module}.ko {params} || true\n\
             rmmod {module} 2> /dev/null || true\n"
        ));
    }
    job.push_str("dmesg > /tmp/dmesg\nsend dmesg.txt /tmp/dmesg\n");
    let mut initramfs = builder.initramfs(kernel, &job, &mut |_| ())?;
    for (module, _) in RUNS {
        let module_of = builder.data.module(module)?;
        let built = builder.build_module(&module_of, kernel, &mut |_| ())?;
        initramfs.file(&format!("lib/modules/{module}.ko"), &built);
    }
    let mut machine = Machine::new(kernel.clone(), CPUS, initramfs);
    machine.arguments.push("slab_nomerge".into());
    let _progress = Progress::spinner(&format!("modules under {}", site.accel.name()));
    let boot = machine.boot(site.accel, &site.folder.join("guest"), &builder.interrupt)?;
    let (_, path) = boot.files.first().context("the guest sent no log")?;
    Ok(std::fs::read_to_string(path)?)
}

/// Returns the part of a log that belongs to run `i`.
fn section(log: &str, i: usize) -> &str {
    let begin = log.find(&format!("RUN {i} ")).unwrap_or(log.len());
    let rest = &log[begin..];
    let end = rest.find(&format!("RUN {} ", i + 1)).unwrap_or(rest.len());
    &rest[..end]
}

/// Returns what `slablab insmod` prints.
fn user(site: &Site, module: &str, params: &str, allocator: &str) -> Result<String> {
    let folder = site.builder.data.module(module)?.folder().to_owned();
    let out = Command::new(env::current_exe()?)
        .arg("insmod")
        .arg(folder)
        .args(params.split(' '))
        .args(["--allocator", allocator, "--cpus", &CPUS.to_string(), "--memory", "1G"])
        .output()?;
    if out.status.code() == Some(2) {
        bail!("slablab insmod {module}: {}", String::from_utf8_lossy(&out.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Returns the facts of a module in a log: what stands behind `MODULE: ` and begins with `key=`, without what
/// is measured. The kernel says things of a module in the same form, but not with a `=`.
fn facts(log: &str, module: &str) -> Vec<String> {
    let sign = format!("] {module}: ");
    let is_fact = |fact: &&str| fact.split(' ').next().is_some_and(|word| word.contains('='));
    let is_kept = |word: &&str| !MEASURED.iter().any(|key| word.starts_with(key));
    let said = log.lines().filter_map(|line| Some(line.split_once(&sign)?.1));
    let kept = |fact: &str| fact.split_whitespace().filter(is_kept).collect::<Vec<_>>().join(" ");
    said.filter(is_fact).map(kept).collect()
}

fn compare(module: &'static str, params: &'static str, guest: &[String], user: &[String]) -> Row {
    let facts = guest.len().max(user.len());
    let pairs = (0..facts).map(|i| (guest.get(i), user.get(i)));
    let different = pairs.filter(|(guest, user)| guest != user);
    let different: Vec<_> = different
        .map(|(guest, user)| Different { guest: guest.cloned(), user: user.cloned() })
        .collect();
    Row { module, params, facts, same: facts - different.len(), different }
}

impl Report for Lanes {
    const SCHEMA: &'static str = "slablab.kernel-modules/1";

    fn text(&self, page: &mut Page) {
        page.line(format!(
            "the same modules in Linux {} with {} and in user space",
            self.release, self.allocator
        ));
        page.table(&self.csv());
        for row in &self.rows {
            if row.different.is_empty() {
                continue;
            }
            page.heading(&format!("{} {}: what differs", row.module, row.params));
            let said = |fact: &Option<String>| fact.clone().unwrap_or_else(|| "nothing".into());
            for different in row.different.iter().take(SHOWN_MOST) {
                page.line(format!("guest      {}", said(&different.guest)));
                page.line(format!("user space {}", said(&different.user)));
            }
        }
        page.line("");
        page.line(format!("the guest's log: {}", self.folder.display()));
    }

    fn csv(&self) -> Table {
        let mut table = Table::new([
            Column::name("module", "module"),
            Column::name("parameters", "params"),
            Column::number("facts", "facts"),
            Column::number("the same", "same"),
        ]);
        for row in &self.rows {
            table.row([
                Cell::text(row.module),
                Cell::text(row.params),
                Cell::Count(row.facts as u64),
                Cell::Count(row.same as u64),
            ]);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "[ 0.1] RUN 0 \n[ 0.2] lifo: taints kernel=yes\n\
        [ 0.2] lifo: alloc=0 reuses=7\n[ 0.3] other: x\n\
        [ 0.4] RUN 1 \n[ 0.5] memtim: size=8 cycles_mean=9 overhead=3\n";

    #[test]
    fn facts_are_those_of_the_run_without_what_is_measured() {
        assert_eq!(facts(section(LOG, 0), "lifo"), ["alloc=0 reuses=7"]);
        assert_eq!(facts(section(LOG, 1), "memtim"), ["size=8"]);
        assert!(facts(section(LOG, 2), "lifo").is_empty());
    }

    #[test]
    fn what_differs_is_kept() {
        let facts = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let row = compare("m", "", &facts("a b c"), &facts("a x c d"));
        assert_eq!((row.facts, row.same), (4, 2));
        let different = |guest: Option<&str>, user: &str| Different {
            guest: guest.map(str::to_owned),
            user: Some(user.into()),
        };
        assert_eq!(row.different, [different(Some("b"), "x"), different(None, "d")]);
    }
}
