//! `slablab kernel build`: builds kernels, or finds them in the cache.

use std::process::ExitCode;

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use slablab_vm::{Kernel, Spec};

use super::options::KernelsArgs;
use crate::cli::OutputArgs;
use crate::output::{self, Cell, Column, Report, Table};
use crate::progress::Progress;

/// Build kernels, or find them in the cache
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    kernels: KernelsArgs,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Built {
    kernels: Vec<Row>,
}

#[derive(Serialize, JsonSchema)]
struct Row {
    name: String,
    release: String,
    key: String,
    build_seconds: f64,
    image: String,
}

impl Row {
    fn of(kernel: &Kernel) -> Self {
        Self {
            name: kernel.spec.name(),
            release: kernel.release().to_owned(),
            key: kernel.key.to_string(),
            build_seconds: kernel.build_seconds(),
            image: kernel.image().display().to_string(),
        }
    }
}

impl Report for Built {
    const SCHEMA: &'static str = "slablab.kernel-build/1";

    fn csv(&self) -> Table {
        let mut table = Table::new([
            Column::name("kernel", "kernel"),
            Column::name("release", "release"),
            Column::number("built in", "build_seconds"),
            Column::name("image", "image"),
        ]);
        for row in &self.kernels {
            let seconds = Cell::Number(row.build_seconds, 0);
            table.row([
                Cell::text(&row.name),
                Cell::text(&row.release),
                seconds,
                Cell::text(&row.image),
            ]);
        }
        table
    }
}

/// Runs `slablab kernel build`.
pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let mut bar = Progress::default();
    let (_, kernels) = args.kernels.build(Spec::needs_to_make, &mut bar)?;
    bar.clear();
    let built = Built { kernels: kernels.iter().map(Row::of).collect() };
    output::print(&built, output, None)?;
    Ok(ExitCode::SUCCESS)
}
