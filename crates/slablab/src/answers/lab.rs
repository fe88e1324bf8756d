//! The lab's own answers: its experiments, plans, shards and merged results.

use std::path::PathBuf;

use serde::Serialize;
use slablab_lab::guest::PARAMETERS;
use slablab_lab::{
    About, Engine, Experiment, Merged, Parameter, Plan, Preset, ShardRows, Sweep, experiments,
    presets,
};
use slablab_report::{Document, Item, Section, counted};

use crate::output::{Answer, Cell, Table, field};

/// Characters in a line of text that is shown as it is.
const LINE_CHARS: usize = 78;

/// The experiments.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct ExperimentsAnswer {
    experiments: Vec<ExperimentEntry>,
    presets: Vec<PresetEntry>,
    /// The requested one, and nothing else
    #[serde(skip)]
    only: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
struct ExperimentEntry {
    name: &'static str,
    question: &'static str,
    engines: &'static [Engine],
    metric: String,
    parameters: Vec<ParameterEntry>,
}

/// A parameter as `--set NAME=VALUE` takes it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
struct ParameterEntry {
    name: &'static str,
    /// The values that it takes: `N,...`
    values: String,
    /// "" where there is none
    default: &'static str,
    /// The default of a smoke run, where it is another
    smoke: &'static str,
    /// The engine that has it; none for all
    engine: Option<Engine>,
    help: &'static str,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
struct PresetEntry {
    name: &'static str,
    question: &'static str,
    engine: Engine,
    /// What it is short for
    runs: String,
}

impl ParameterEntry {
    fn of(parameter: &Parameter) -> Self {
        let Parameter { name, kind, default, smoke, help, engine } = *parameter;
        Self { name, values: kind.form(), default, smoke, engine, help }
    }

    /// Returns its lines in a list.
    fn lines(&self) -> Vec<String> {
        let mut about = self.help.to_owned();
        if !self.default.is_empty() {
            about += &format!(" [default: {}]", self.default);
        }
        if !self.smoke.is_empty() {
            about += &format!(" [smoke run: {}]", self.smoke);
        }
        if let Some(engine) = self.engine {
            about += &format!(" (engine {engine})");
        }
        let mut lines = vec![format!("  --set {}={}", self.name, self.values)];
        lines.extend(indented(&about, 6));
        lines
    }
}

impl ExperimentEntry {
    fn of(experiment: &dyn Experiment) -> Self {
        let About { name, question, engines, metrics, parameters } = experiment.about();
        let metric = metrics.into_iter().next().map(|metric| metric.name).unwrap_or_default();
        let guests = if engines.contains(&Engine::Kernel) { PARAMETERS } else { &[] };
        let of_guests = guests.iter().map(|parameter| parameter.of_engine(Engine::Kernel));
        let all = parameters.iter().copied().chain(of_guests);
        let parameters = all.map(|parameter| ParameterEntry::of(&parameter)).collect();
        Self { name, question, engines, metric, parameters }
    }

    fn engine_names(&self) -> String {
        self.engines.iter().map(Engine::to_string).collect::<Vec<_>>().join(", ")
    }
}

impl PresetEntry {
    fn of(preset: &Preset) -> Self {
        let Preset { name, question, experiment, engine, params, .. } = *preset;
        let set: Vec<_> =
            params.iter().map(|(key, value)| format!(" --set {key}={value}")).collect();
        let runs = format!("lab run {experiment} --engine {engine}{}", set.concat());
        Self { name, question, engine, runs }
    }
}

impl ExperimentsAnswer {
    /// Lists the experiments, or the one called `only` (by itself or by a preset) with its parameters, after the `own` ones
    /// of the preset.
    pub(crate) fn new(only: Option<&'static dyn Experiment>, own: &[Parameter]) -> Self {
        let name = only.map(|experiment| experiment.about().name);
        let is_asked = |of: &str| name.is_none_or(|name| name == of);
        let asked = experiments().iter().filter(|experiment| is_asked(experiment.about().name));
        let named = presets().iter().filter(|preset| is_asked(preset.experiment));
        let entry = |experiment: &&dyn Experiment| {
            let mut entry = ExperimentEntry::of(*experiment);
            entry.parameters.splice(..0, own.iter().map(ParameterEntry::of));
            entry
        };
        Self {
            experiments: asked.map(entry).collect(),
            presets: named.map(PresetEntry::of).collect(),
            only: name.map(str::to_owned),
        }
    }

    fn list(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for entry in &self.experiments {
            lines.push(format!("{}  ({})", entry.name, entry.engine_names()));
            lines.extend(indented(entry.question, 4));
        }
        lines
    }

    fn preset_lines(&self) -> Vec<String> {
        self.presets
            .iter()
            .flat_map(|p| [format!("{}  ({})", p.name, p.engine), format!("    {}", p.runs)])
            .collect()
    }

    fn table(&self) -> Table {
        let fields = [
            field::name("name", "name", |entry: &ExperimentEntry| entry.name),
            field::text("engines", "engines", ExperimentEntry::engine_names),
            field::name("answered by", "metric", |entry| &entry.metric),
            field::name("question", "question", |entry| entry.question),
        ];
        Table::of(&self.experiments, fields)
    }

    fn parameters(&self) -> Table {
        let rows: Vec<_> = self.experiments.iter().flat_map(|entry| &entry.parameters).collect();
        let fields = [
            field::name("parameter", "name", |of: &&ParameterEntry| of.name),
            field::name("values", "values", |of| &of.values),
            field::name("default", "default", |of| of.default),
            field::name("smoke run", "smoke", |of| of.smoke),
            field::text("engine", "engine", |of| {
                of.engine.map_or_else(String::new, |e| e.to_string())
            }),
            field::name("meaning", "help", |of| of.help),
        ];
        Table::of(&rows, fields)
    }
}

impl Answer for ExperimentsAnswer {
    const SCHEMA: &'static str = "slablab.lab.list/2";

    fn document(&self) -> Document {
        let presets = |place: fn(&str, &str, Vec<Item>) -> Section| {
            place(
                "presets",
                "Names for an experiment with parameters",
                vec![Item::Lines(self.preset_lines())],
            )
        };
        let (answers, sections) = match (&self.only, &self.experiments[..]) {
            (Some(_), [entry]) => {
                let lines = entry.parameters.iter().flat_map(ParameterEntry::lines).collect();
                let about =
                    format!("{} (engine {}): {}", entry.name, entry.engine_names(), entry.question);
                let sections = vec![
                    Section::first("parameters", "Parameters", vec![Item::Lines(lines)]),
                    presets(|name, title, items| Section::named(name, title, items)),
                    Section::data("table", "Parameters", self.parameters()),
                ];
                (vec![about], sections)
            }
            _ => {
                let sections = vec![
                    Section::first("experiments", "", vec![Item::Lines(self.list())]),
                    presets(|name, title, items| Section::named(name, title, items)),
                    Section::data("table", "Experiments", self.table()),
                ];
                let how = "'slablab lab list NAME' has the parameters of an experiment, 'slablab lab run NAME' runs it.";
                (vec![how.to_owned()], sections)
            }
        };
        Document {
            title: "Experiments of the lab".to_owned(),
            answers,
            sections,
            ..Document::default()
        }
    }
}

/// Returns text in lines that are indented by this many blanks.
fn indented(text: &str, blanks: usize) -> Vec<String> {
    let mut lines = vec![" ".repeat(blanks)];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("one line at least");
        if line.trim().is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() > LINE_CHARS {
            lines.push(format!("{}{word}", " ".repeat(blanks)));
        } else {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines
}

/// A plan that was written down.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct PlanAnswer {
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

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
struct PlannedPoint {
    point: String,
    cells: usize,
}

impl PlanAnswer {
    pub(crate) fn of(sweep: &Sweep) -> Self {
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

impl Answer for PlanAnswer {
    const SCHEMA: &'static str = "slablab.lab.planned/1";

    fn document(&self) -> Document {
        let name = if self.point_name.is_empty() { "point" } else { &self.point_name };
        let fields = [
            field::name(name, "point", |point: &PlannedPoint| &point.point),
            field::count("cells", "cells", |point| point.cells as u64),
        ];
        let table = Item::table("", "", Table::of(&self.points, fields));
        let shards = counted(self.shards_max as u64, "shard");
        Document {
            title: format!("Plan of {}", self.experiment),
            question: self.question.clone(),
            answers: vec![
                format!(
                    "{} cells: {} in {}, in the engine {}; seed {}.",
                    self.cells,
                    self.variants.join(", "),
                    counted(self.rounds as u64, "round"),
                    self.engine,
                    self.seed
                ),
                format!("The plan is in {}, for up to {shards}.", self.folder.display()),
            ],
            sections: vec![Section::first("points", "", vec![table])],
            ..Document::default()
        }
    }
}

/// A shard that was run.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct ShardAnswer {
    pub(crate) plan: PathBuf,
    pub(crate) shard: String,
    /// Where the rows of this machine are
    pub(crate) folder: PathBuf,
    pub(crate) cells: usize,
    pub(crate) done_before: usize,
    pub(crate) added: usize,
}

impl Answer for ShardAnswer {
    const SCHEMA: &'static str = "slablab.lab.shard/1";

    fn document(&self) -> Document {
        let Self { plan, shard, folder, cells, done_before, added } = self;
        let fields = [
            field::name("shard", "shard", |of: &&Self| &of.shard),
            field::count("cells", "cells", |of| of.cells as u64),
            field::count("done before", "done_before", |of| of.done_before as u64),
            field::count("added", "added", |of| of.added as u64),
            field::text("folder", "folder", |of| of.folder.display().to_string()),
        ];
        Document {
            title: format!("Shard {shard} of {}", plan.display()),
            answers: vec![
                format!(
                    "Shard {shard} has {cells} cells: {done_before} were done before, {added} rows were added in {}.",
                    folder.display()
                ),
                format!("When all shards are done: slablab lab merge {} -o RESULT", plan.display()),
            ],
            sections: vec![Section::data("shard", "", Table::of(&[self], fields))],
            ..Document::default()
        }
    }
}

/// A result that was made of shards.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct MergeAnswer {
    /// The result; none where nothing was written
    pub(crate) folder: Option<PathBuf>,
    #[serde(flatten)]
    pub(crate) merged: Merged,
}

/// This many holes and duplicates are named on the first screen; JSON has all.
const NAMED_MAX: usize = 5;

impl Answer for MergeAnswer {
    const SCHEMA: &'static str = "slablab.lab.merge/1";

    fn document(&self) -> Document {
        let Merged { cells, merged, hosts, shards, holes, duplicates } = &self.merged;
        let hosts = hosts.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let mut answers = vec![match hosts.is_empty() {
            true => format!("None of {cells} cells has a row."),
            false => format!("{merged} of {cells} cells have a row, from {hosts}."),
        }];
        answers.push(match &self.folder {
            Some(folder) => format!("The result is in {}.", folder.display()),
            None => "Nothing was written: run the missing shards, or add --partial.".to_owned(),
        });
        let torn = shards.iter().filter(|shard| shard.torn).map(|shard| {
            format!(
                "{}: the last line was cut off in the middle and does not count; run the shard again.",
                shard.folder.display()
            )
        });
        let shard_table = Item::table("", "", shard_table(shards));
        let mut sections = vec![Section::first("shards", "Shards", vec![shard_table])];
        for (name, title, named) in
            [("holes", "Cells without a row", holes), ("duplicates", "Rows left out", duplicates)]
        {
            let title = format!("{title}: {}", named.len());
            let mut lines: Vec<String> = named.iter().take(NAMED_MAX).cloned().collect();
            if named.len() > NAMED_MAX {
                lines.push(format!(
                    "... and {} more; --format json has all",
                    named.len() - NAMED_MAX
                ));
            }
            sections.push(Section::first(name, title, vec![Item::Lines(lines)]));
        }
        Document {
            title: "Merged shards".to_owned(),
            answers,
            sections,
            notes: torn.collect(),
            ..Document::default()
        }
    }
}

fn shard_table(shards: &[ShardRows]) -> Table {
    let fields = [
        field::text("shard", "shard", |shard: &ShardRows| {
            let name = shard.folder.file_name().unwrap_or_default();
            name.to_string_lossy().into_owned()
        }),
        field::name("host", "host", |shard| &shard.host),
        field::count("rows", "rows", |shard| shard.rows as u64),
        field::count("taken", "taken", |shard| shard.taken as u64),
        field::cell("torn line", "torn", |shard| Cell::text(if shard.torn { "yes" } else { "no" })),
    ];
    Table::of(shards, fields)
}
