//! `slablab lab plan`: what a sweep will run, written down for the machines that share it.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use slablab_lab::{Engine, Plan, Sweep, find, plan};

use super::run::RequestArgs;
use crate::cli::OutputArgs;
use crate::output::{Page, Report, Table, field, print};
use crate::say::say;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "A shard is every Nth point with all variants, so what is compared runs interleaved on one machine.\n\
                        The folder, and the input where there is one, must be seen by all machines.\n\n\
                        Examples:\n  \
                        slablab lab plan hackbench --set cpus=1,2,4 -o plan/\n  \
                        slablab lab run plan/ --shard 1/3     # on one machine; 2/3 and 3/3 on others\n  \
                        slablab lab sbatch plan/              # or all of them by Slurm\n  \
                        slablab lab merge plan/ -o result/"
)]
pub(crate) struct Args {
    /// The experiment; 'slablab lab list' has them all
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    request: RequestArgs,
    /// The folder to make; the same plan may be there already
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let experiment = find(&args.name)?;
    let mut request = args.request.request(experiment)?;
    // Without --seed the plan that is there keeps its own.
    if let (None, Some(there)) = (args.request.seed, Plan::read(&args.output)?) {
        request.seed = there.seed;
    }
    let sweep = Sweep::create(&args.output, plan(experiment, &request)?)?;
    sweep.plan.summary().inspect(|summary| say(format_args!("slablab: {summary}")));
    print(&Planned::of(&sweep), output, None)?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Planned {
    folder: PathBuf,
    experiment: String,
    question: String,
    engine: Engine,
    seed: u64,
    rounds: usize,
    variants: Vec<String>,
    point_name: String,
    /// The most shards
    shards_max: usize,
    cells: usize,
    points: Vec<PlannedPoint>,
}

#[derive(Serialize, JsonSchema)]
struct PlannedPoint {
    point: String,
    cells: usize,
}

impl Planned {
    fn of(sweep: &Sweep) -> Self {
        let Plan { experiment, question, engine, seed, design, .. } = sweep.plan.clone();
        let cells = sweep.plan.cells();
        let point = |point: &String| PlannedPoint {
            point: point.clone(),
            cells: cells.iter().filter(|cell| cell.point == *point).count(),
        };
        Self {
            folder: sweep.folder.clone(),
            experiment,
            question,
            engine,
            seed,
            rounds: design.rounds,
            variants: design.variants,
            point_name: design.point_name,
            shards_max: sweep.shards_max(),
            cells: cells.len(),
            points: design.points.iter().map(point).collect(),
        }
    }
}

impl Report for Planned {
    const SCHEMA: &'static str = "slablab.lab.planned/1";

    fn text(&self, page: &mut Page) {
        page.line(format!("{} ({} engine): {}", self.experiment, self.engine, self.question));
        page.line(format!(
            "{} cells: {} in {} rounds; seed {}",
            self.cells,
            self.variants.join(", "),
            self.rounds,
            self.seed
        ));
        page.heading(&format!("Points, up to {} shards", self.shards_max));
        page.table(&self.csv());
    }

    fn csv(&self) -> Table {
        let name = if self.point_name.is_empty() { "point" } else { &self.point_name };
        let fields = [
            field::name(name, "point", |point: &PlannedPoint| &point.point),
            field::count("cells", "cells", |point| point.cells as u64),
        ];
        Table::of(&self.points, fields)
    }
}
