//! `slablab kernel profile`: a flame graph of a kernel under hackbench, for each allocator.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use schemars::JsonSchema;
use serde::Serialize;
use slablab_lab::guest::{ProfileLoad, profile};
use slablab_report::Flame;
use slablab_vm::{Need, Spec};

use super::options::{GuestArgs, KernelsArgs};
use crate::cli::OutputArgs;
use crate::output::{self, Cell, Column, Report, Table};
use crate::progress::Progress;

/// Draw a flame graph of a kernel under hackbench
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Groups of 40 processes
    #[arg(long, value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    groups: u32,
    /// Messages of each sender to each receiver
    #[arg(long, value_name = "N", default_value_t = 40,
          value_parser = clap::value_parser!(u32).range(1..))]
    loops: u32,
    /// Write NAME.svg, NAME.folded and the consoles into this folder
    #[arg(short, long, value_name = "DIR", default_value = "slablab-profile")]
    output: PathBuf,
    #[command(flatten)]
    guest: GuestArgs,
    #[command(flatten)]
    kernels: KernelsArgs,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Profiled {
    accel: &'static str,
    profiles: Vec<Row>,
}

#[derive(Serialize, JsonSchema)]
struct Row {
    kernel: String,
    samples: u64,
    flame_graph: PathBuf,
    folded: PathBuf,
}

impl Report for Profiled {
    const SCHEMA: &'static str = "slablab.kernel-profile/1";

    fn csv(&self) -> Table {
        let mut table = Table::new([
            Column::name("kernel", "kernel"),
            Column::number("samples", "samples"),
            Column::name("flame graph", "flame_graph"),
        ]);
        for row in &self.profiles {
            table.row([
                Cell::text(&row.kernel),
                Cell::Count(row.samples),
                Cell::text(row.flame_graph.display().to_string()),
            ]);
        }
        table
    }
}

/// Runs `slablab kernel profile`.
pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let mut bar = Progress::default();
    let needs = |spec: &Spec| [spec.needs(), vec![Need::PROFILE]].concat();
    let (builder, kernels) = args.kernels.build(needs, &mut bar)?;
    let (accel, _) = args.guest.accel.resolve(&builder, &kernels[0], &mut bar)?;
    bar.clear();
    let cpus = args.guest.cpus;
    fs::create_dir_all(&args.output)
        .with_context(|| format!("{}: cannot make the folder", args.output.display()))?;
    let mut profiles = Vec::new();
    for kernel in &kernels {
        let name = kernel.spec.name();
        let _progress = Progress::spinner(&format!("{name} under {}", accel.name()));
        let load = ProfileLoad { groups: args.groups, loops: args.loops };
        let folder = args.output.join(name.replace([':', '/'], "-"));
        let profile = profile(&builder, kernel, cpus, load, accel, &folder)?;
        let title = format!("{name} {}, {cpus} CPUs, {}", kernel.release(), accel.name());
        let how = format!(
            "perf record -e cpu-clock:k -a -g, hackbench -g {} -l {}",
            args.groups, args.loops
        );
        let mut flame = Flame::new(title, "samples", how);
        flame.add_folded(&profile.folded);
        let file = |ending: &str| args.output.join(format!("{name}.{ending}"));
        let (flame_graph, folded) = (file("svg"), file("folded"));
        output::write_whole(&flame_graph, flame.svg().as_bytes())?;
        output::write_whole(&folded, profile.folded.as_bytes())?;
        profiles.push(Row { kernel: name, samples: profile.samples, flame_graph, folded });
    }
    output::print(&Profiled { accel: accel.name(), profiles }, output, None)?;
    Ok(ExitCode::SUCCESS)
}
