//! `slablab kernel build`: builds kernels, or finds them in the cache.

use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;
use slablab_vm::{Data, Kernel, Need};

use super::options::{self, SpecArgs, WorkshopArgs};
use crate::cli::OutputArgs;
use crate::output::{self, Cell, Column, Page, Report, Table};
use crate::progress::StepBar;

/// Build kernels, or find them in the cache
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Allocators to build a kernel for [default: all]
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    allocators: Vec<String>,
    #[command(flatten)]
    spec: SpecArgs,
    #[command(flatten)]
    workshop: WorkshopArgs,
}

#[derive(Serialize)]
struct Built {
    kernels: Vec<Row>,
}

#[derive(Serialize)]
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

    fn text(&self, page: &mut Page) {
        page.table(&self.csv());
    }

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
    let data = Data::find()?;
    let allocators = options::allocators(&args.allocators, &data);
    args.spec.check(&data, &allocators)?;
    let mut bar = StepBar::default();
    let workshop = args.workshop.open(&[Need::BUILD], &mut bar)?;
    let mut kernels = Vec::new();
    for allocator in allocators {
        let spec = args.spec.spec(&allocator);
        kernels.push(Row::of(&workshop.build(&spec, &mut |step| bar.show(&step))?));
    }
    bar.clear();
    output::print(&Built { kernels }, output, None)?;
    Ok(ExitCode::SUCCESS)
}
