//! `slablab kernel list`: lists kernels, experiments, modules and patches.

use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;
use slablab_lab::{Engine, Experiment, experiments};
use slablab_vm::{Data, Interrupt, KernelBuilder, Series, Source, Spec};

use super::options::BuilderArgs;
use crate::cli::OutputArgs;
use crate::output::{self, Cell, Column, Page, Report, Table};

/// List kernels, experiments, modules and patches
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    builder: BuilderArgs,
}

#[derive(Serialize)]
struct Listing {
    kernels: Vec<KernelRow>,
    flavours: Vec<String>,
    experiments: Vec<ExperimentRow>,
    modules: Vec<String>,
    patches: Vec<String>,
}

#[derive(Serialize)]
struct KernelRow {
    allocator: String,
    built: bool,
    release: Option<String>,
    key: Option<String>,
}

#[derive(Serialize)]
struct ExperimentRow {
    name: &'static str,
    question: &'static str,
}

impl Report for Listing {
    const SCHEMA: &'static str = "slablab.kernel-list/1";

    fn text(&self, page: &mut Page) {
        page.heading("Kernels");
        page.table(&self.csv());
        let named = |names: &[String]| match names {
            [] => "none".to_owned(),
            names => names.join(", "),
        };
        page.line(format!("flavours: {}", named(&self.flavours)));
        page.heading("Experiments");
        let mut table =
            Table::new([Column::name("name", "name"), Column::name("question", "question")]);
        for row in &self.experiments {
            table.row([Cell::text(row.name), Cell::text(row.question)]);
        }
        page.table(&table);
        page.heading("Modules");
        page.line(named(&self.modules));
        page.heading("Patches");
        page.line(named(&self.patches));
    }

    fn csv(&self) -> Table {
        let mut table = Table::new([
            Column::name("allocator", "allocator"),
            Column::name("built", "built"),
            Column::name("release", "release"),
            Column::name("key", "key"),
        ]);
        let text = |text: &Option<String>| text.clone().map_or(Cell::Missing, Cell::Text);
        for row in &self.kernels {
            let built = if row.built { "yes" } else { "no" };
            table.row([
                Cell::text(&row.allocator),
                Cell::text(built),
                text(&row.release),
                text(&row.key),
            ]);
        }
        table
    }
}

/// Runs `slablab kernel list`.
pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let data = Data::find()?;
    let series = Series::read(&data, "6.1")?;
    let patches = series.patches().iter().filter_map(|path| path.file_stem());
    let in_kernels = experiments().iter().filter(|e| e.engines().contains(&Engine::Kernel));
    let row = |e: &&dyn Experiment| ExperimentRow { name: e.name(), question: e.question() };
    let listing = Listing {
        kernels: kernels(args, &data)?,
        flavours: data.flavours(),
        experiments: in_kernels.map(row).collect(),
        modules: data.modules().iter().map(|module| module.name().to_owned()).collect(),
        patches: patches.map(|name| name.to_string_lossy().into_owned()).collect(),
    };
    output::print(&listing, output, None)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the kernels, and which are built; without source or compiler none is.
fn kernels(args: &Args, data: &Data) -> Result<Vec<KernelRow>> {
    let builder = match (&args.builder.source, Source::debian()) {
        (None, Err(_)) => None,
        _ => Some(args.builder.builder(Interrupt::never())?),
    };
    let find = |builder: &KernelBuilder, allocator: &str| builder.find(&Spec::plain(allocator));
    let mut rows = Vec::new();
    for allocator in data.allocators() {
        let kernel = match &builder {
            Some(builder) => find(builder, &allocator)?,
            None => None,
        };
        rows.push(KernelRow {
            allocator,
            built: kernel.is_some(),
            release: kernel.as_ref().map(|kernel| kernel.release().to_owned()),
            key: kernel.as_ref().map(|kernel| kernel.key.to_string()),
        });
    }
    Ok(rows)
}
