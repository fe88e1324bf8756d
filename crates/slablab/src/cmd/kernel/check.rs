//! `slablab kernel check`: what building and booting need, and whether KVM works.

use std::process::ExitCode;

use anyhow::{Context, Result};
use schemars::JsonSchema;
use serde::Serialize;
use slablab_vm::{Error, Interrupt, Need, Spec, apt_get_install, install, missing};

use super::options::{ALLOCATORS, AccelArg, BuilderArgs};
use crate::cli::OutputArgs;
use crate::output::{self, Cell, Column, Page, Report, Table};
use crate::progress::Progress;

/// Check what building and booting need, and whether KVM works
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Install the packages that are missing with apt-get (as root)
    #[arg(short = 'y', long, visible_alias = "yes")]
    install: bool,
    #[command(flatten)]
    builder: BuilderArgs,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Checked {
    needs: Vec<Row>,
    accel: Option<String>,
    accel_why: String,
}

#[derive(Serialize, JsonSchema)]
struct Row {
    what: &'static str,
    package: &'static str,
    why: &'static str,
    found: bool,
}

impl Report for Checked {
    const SCHEMA: &'static str = "slablab.kernel-check/1";

    fn text(&self, page: &mut Page) {
        page.table(&self.csv());
        page.heading("Guests");
        let accel = self.accel.as_deref().unwrap_or("unknown");
        page.line(format!("{accel}: {}", self.accel_why));
        let lacking: Vec<_> = self.needs.iter().filter(|row| !row.found).collect();
        if !lacking.is_empty() {
            let mut packages: Vec<_> = lacking.iter().map(|row| row.package).collect();
            packages.dedup();
            page.heading("Missing");
            page.line(apt_get_install(&packages));
        }
    }

    fn csv(&self) -> Table {
        let mut table = Table::new([
            Column::name("needed", "what"),
            Column::name("found", "found"),
            Column::name("package", "package"),
            Column::name("for", "why"),
        ]);
        for row in &self.needs {
            let found = if row.found { "yes" } else { "no" };
            table.row([
                Cell::text(row.what),
                Cell::text(found),
                Cell::text(row.package),
                Cell::text(row.why),
            ]);
        }
        table
    }
}

/// Runs `slablab kernel check`; status 1 when something is missing.
pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let interrupt = Interrupt::on_signals().context("cannot handle signals")?;
    let mut needs = Spec::plain("slub").needs();
    needs.extend([Need::STOCK, Need::PROFILE]);
    let lacking = missing(&needs);
    if args.install && !lacking.is_empty() {
        install(&lacking, &interrupt)?;
    }
    let mut rows: Vec<Row> = Vec::new();
    for need in needs.iter().copied().flatten() {
        if !rows.iter().any(|row| row.what == need.what) {
            let found = need.is_met();
            rows.push(Row { what: need.what, package: need.package, why: need.why, found });
        }
    }
    let all = rows.iter().all(|row| row.found);
    let (accel, accel_why) = match all {
        true => accel(args, interrupt)?,
        false => (None, "not probed while something is missing".into()),
    };
    output::print(&Checked { needs: rows, accel, accel_why }, output, None)?;
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Returns which accelerator guests get, and why; a probe needs a kernel, which is not built for it.
fn accel(args: &Args, interrupt: Interrupt) -> Result<(Option<String>, String)> {
    let builder = args.builder.reader(interrupt)?;
    for allocator in ALLOCATORS {
        if let Some(kernel) = builder.find(&Spec::plain(allocator))? {
            let mut bar = Progress::default();
            return match AccelArg::Auto.resolve(&builder, &kernel, &mut bar) {
                Ok((accel, why)) => Ok((Some(accel.name().into()), why)),
                // What a probe finds is kept in the cache.
                Err(error) if matches!(error.downcast_ref(), Some(Error::Io { .. })) => {
                    Ok((None, format!("KVM cannot be probed: {error}")))
                }
                Err(error) => Err(error),
            };
        }
    }
    Ok((None, "no kernel is built yet to probe KVM with; see `slablab kernel build`".into()))
}
