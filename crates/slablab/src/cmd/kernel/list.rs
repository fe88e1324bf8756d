//! `slablab kernel list`: lists kernels, experiments, modules and patches.

use std::process::ExitCode;

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use slablab_lab::{About, Engine, Experiment, experiments};
use slablab_vm::{Arch, Data, Interrupt, KernelBuilder, Linux, Origin, Release, Series, Spec};

use super::options::{ALLOCATORS, BuilderArgs, MODERN};
use crate::cli::OutputArgs;
use crate::output::{self, Cell, Column, Page, Report, Table};

/// List kernels, experiments, modules and patches
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    builder: BuilderArgs,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Listing {
    kernels: Vec<KernelRow>,
    flavours: Vec<String>,
    experiments: Vec<ExperimentRow>,
    modules: Vec<String>,
    patches: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct KernelRow {
    kernel: String,
    /// What SLUB it has; an allocator of its own otherwise
    allocator: String,
    machine: &'static str,
    cached: bool,
    release: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct ExperimentRow {
    name: &'static str,
    question: &'static str,
}

impl Report for Listing {
    const SCHEMA: &'static str = "slablab.kernel-list/2";

    fn text(&self, page: &mut Page) {
        page.heading("Kernels");
        page.table(&self.csv());
        page.line("stock kernels (debian:RELEASE[/MACHINE]) are listed once Debian's lists were read for one");
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
        let names = ["kernel", "allocator", "machine", "cached", "release"];
        let mut table = Table::new(names.map(|name| Column::name(name, name)));
        for row in &self.kernels {
            table.row([
                Cell::text(&row.kernel),
                Cell::text(&row.allocator),
                Cell::text(row.machine),
                Cell::text(if row.cached { "yes" } else { "no" }),
                row.release.clone().map_or(Cell::Missing, Cell::Text),
            ]);
        }
        table
    }
}

/// Runs `slablab kernel list`.
pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let builder = args.builder.reader(Interrupt::never())?;
    let data = &builder.data;
    let series = Series::read(data, Release(6, 1))?;
    let patches = series.patches().iter().filter_map(|path| path.file_stem());
    let in_kernels = experiments().iter().filter(|e| e.about().engines.contains(&Engine::Kernel));
    let row = |e: &&dyn Experiment| {
        let About { name, question, .. } = e.about();
        ExperimentRow { name, question }
    };
    let listing = Listing {
        kernels: kernels(&builder, data)?,
        flavours: data.flavours(),
        experiments: in_kernels.map(row).collect(),
        modules: data.modules().iter().map(|module| module.name().to_owned()).collect(),
        patches: patches.map(|name| name.to_string_lossy().into_owned()).collect(),
    };
    output::print(&listing, output, None)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the kernels that are built, and the stock ones as far as Debian's lists were read.
fn kernels(builder: &KernelBuilder, data: &Data) -> Result<Vec<KernelRow>> {
    let plain = ALLOCATORS.iter().chain(&MODERN).map(|name| Spec::named(data, name));
    let mut specs: Vec<_> = plain.collect::<Result<_, _>>()?;
    // With flavours there are many; those that are built are listed.
    let mut flavoured: Vec<_> = builder.built().into_iter().map(|kernel| kernel.spec).collect();
    flavoured.retain(|spec| !spec.flavours.is_empty());
    flavoured.sort_by_key(Spec::name);
    specs.append(&mut flavoured);
    let mut rows = Vec::new();
    for spec in specs {
        let slub = |release: Release| format!("slub {}", release.slub());
        let allocator = match &spec.origin {
            Origin::Build(Linux::Debian(release), allocator) if allocator == "slub" => {
                slub(*release)
            }
            Origin::Build(_, allocator) if allocator == "slub" => slub(Release(6, 1)),
            Origin::Build(_, allocator) => allocator.clone(),
            _ => String::new(),
        };
        // Without a compiler none is found, and none is built.
        let kernel = builder.find(&spec).ok().flatten();
        rows.push(KernelRow {
            kernel: spec.name(),
            allocator,
            machine: spec.arch().name,
            cached: kernel.is_some(),
            release: kernel.map(|kernel| kernel.release().to_owned()),
        });
    }
    for stock in builder.stocks() {
        let name = match stock.arch == Arch::NATIVE {
            true => format!("debian:{}", stock.release),
            false => format!("debian:{}/{}", stock.release, stock.arch.name),
        };
        rows.push(KernelRow {
            kernel: name,
            allocator: format!("slub {}", stock.release.slub()),
            machine: stock.arch.name,
            cached: stock.folder.is_some(),
            release: Some(stock.version),
        });
    }
    Ok(rows)
}
