//! Runs a plan: builds what is missing, boots, and writes down what comes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use slablab_vm::{Accel, AccelChoice, Initramfs, Kernel, Machine, Step, Workshop};

use crate::raw::SCHEMA;
use crate::{
    Error, Experiment, Header, KernelNote, Observation, Plan, PlannedBoot, Raw, Result, Tool,
};

/// Where an experiment is run.
#[derive(Debug)]
pub struct Lab<'a> {
    /// What makes kernels
    pub workshop: &'a Workshop,
    /// Which accelerator
    pub accel: AccelChoice,
    /// Where results go: `raw.jsonl` and a folder for each boot
    pub folder: &'a Path,
    /// The command line, for the record
    pub command: Vec<String>,
    /// The longest a guest may be silent
    pub silence: Duration,
}

/// What is being done, for whoever shows progress.
#[derive(Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// A step of building or probing
    Step(Step<'a>),
    /// So many of so many boots are done; the next is this
    Boot(usize, usize, &'a str),
}

/// What a run leaves.
#[derive(Debug, Clone)]
pub struct Summary {
    /// The raw file
    pub raw: PathBuf,
    /// The accelerator
    pub accel: Accel,
    /// Rows written
    pub rows: usize,
}

/// Runs `plan` of `experiment`.
///
/// # Errors
///
/// When a kernel cannot be built, a guest gets into trouble, or a row cannot be written. Rows that came until
/// then are kept.
pub fn run(
    lab: &Lab<'_>,
    experiment: &Experiment,
    plan: &Plan,
    watch: &mut dyn FnMut(Progress<'_>),
) -> Result<Summary> {
    let mut kernels = Vec::new();
    for variant in &experiment.variants {
        let mut steps = |step: Step<'_>| watch(Progress::Step(step));
        kernels.push(lab.workshop.build(&variant.spec, &mut steps)?);
    }
    let mut steps = |step: Step<'_>| watch(Progress::Step(step));
    let (accel, accel_why) = lab.accel.resolve(lab.workshop, &kernels[0], &mut steps)?;
    fs::create_dir_all(lab.folder).map_err(|e| Error::Raw {
        path: lab.folder.to_owned(),
        why: format!("cannot make the folder for results: {e}"),
    })?;
    let path = lab.folder.join("raw.jsonl");
    let header = header(lab, experiment, plan, &kernels, accel, accel_why);
    let mut raw = Raw::create(&path, &header)?;
    let mut rows = 0;
    for (i, planned) in plan.boots.iter().enumerate() {
        let variant = &experiment.variants[planned.variant];
        let what = format!("{}, {} CPUs, round {}", variant.name, planned.cpus, planned.round + 1);
        watch(Progress::Boot(i, plan.boots.len(), &what));
        let machine = machine(lab, experiment, planned, &kernels[planned.variant])?;
        let folder = lab.folder.join(format!("boots/{i:03}-{}-{}cpu", variant.name, planned.cpus));
        let mut trouble = None;
        let booted = machine.boot(accel, &folder, &lab.workshop.interrupt, &mut |row| {
            if row["kind"] == "observation" && trouble.is_none() {
                let observation = observation(experiment, planned, i, row);
                match observation.and_then(|observation| raw.append(&observation)) {
                    Ok(()) => rows += 1,
                    Err(error) => trouble = Some(error),
                }
            }
            Ok(())
        });
        if let Some(error) = trouble {
            return Err(error);
        }
        booted?;
    }
    watch(Progress::Boot(plan.boots.len(), plan.boots.len(), "done"));
    Ok(Summary { raw: path, accel, rows })
}

fn machine(
    lab: &Lab<'_>,
    experiment: &Experiment,
    planned: &PlannedBoot,
    kernel: &Kernel,
) -> Result<Machine> {
    let mut initramfs = Initramfs::new(&lab.workshop.data, &job(experiment, planned))?;
    for tool in &experiment.tools {
        match tool {
            Tool::OnPath(name) => initramfs.tool(name)?,
            Tool::File(name, path) => initramfs.program(name, path)?,
        }
    }
    let mut machine = Machine::new(kernel.clone(), planned.cpus, initramfs);
    machine.memory_mib = experiment.memory_mib;
    machine.arguments.clone_from(&experiment.variants[planned.variant].arguments);
    machine.limit = Duration::from_secs(experiment.limit_seconds);
    machine.silence = lab.silence;
    Ok(machine)
}

/// Returns the shell script of a boot: set-up, then each load with its index in `$load`.
fn job(experiment: &Experiment, planned: &PlannedBoot) -> String {
    let mut job = experiment.setup.clone();
    for load in &planned.loads {
        job.push_str(&format!("load={load}\n{}", experiment.loads[*load].script));
    }
    job
}

/// Makes a row of what a guest sent.
fn observation(
    experiment: &Experiment,
    planned: &PlannedBoot,
    boot: usize,
    row: &Value,
) -> Result<Observation> {
    let variant = experiment.variants[planned.variant].name.clone();
    let bad = |why: String| Error::Plan(format!("a row from guest {variant}: {why}: {row}"));
    let load = row["load"].as_u64().and_then(|load| experiment.loads.get(load as usize));
    let mut params = load.ok_or_else(|| bad("no such load".into()))?.params.clone();
    for key in experiment.row_params {
        params.insert((*key).to_owned(), row[*key].clone());
    }
    let mut metrics = BTreeMap::new();
    for metric in &experiment.metrics {
        let value = row[metric.key].as_f64();
        let value = value.ok_or_else(|| bad(format!("no number {}", metric.key)))?;
        metrics.insert(metric.key.to_owned(), value);
    }
    let (cpus, round) = (planned.cpus, planned.round);
    Ok(Observation { variant, cpus, round, boot: boot as u32, params, metrics })
}

fn header(
    lab: &Lab<'_>,
    experiment: &Experiment,
    plan: &Plan,
    kernels: &[Kernel],
    accel: Accel,
    accel_why: String,
) -> Header {
    let note = |(variant, kernel): (&crate::Variant, &Kernel)| {
        let note = KernelNote {
            release: kernel.release().to_owned(),
            key: kernel.key.to_string(),
            compiler: kernel.compiler().to_owned(),
            arguments: variant.arguments.clone(),
        };
        (variant.name.clone(), note)
    };
    let metric = |m: &crate::Metric| (m.key.to_owned(), m.unit.to_owned(), m.direction);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Header {
        schema: SCHEMA.into(),
        experiment: experiment.name.into(),
        question: experiment.question.into(),
        variants: experiment.variants.iter().map(|variant| variant.name.clone()).collect(),
        metrics: experiment.metrics.iter().map(metric).collect(),
        row_params: experiment.row_params.iter().map(|key| (*key).to_owned()).collect(),
        seed: plan.seed,
        rounds: plan.rounds,
        accel: accel.name().into(),
        emulated: accel.is_emulated(),
        accel_why,
        command: lab.command.clone(),
        began_unix_seconds: now.as_secs(),
        host_release: rustix::system::uname().release().to_string_lossy().into_owned(),
        host_cpu: host_cpu(),
        host_cpus: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        kernels: experiment.variants.iter().zip(kernels).map(note).collect(),
    }
}

/// Returns the processor's name from `/proc/cpuinfo`.
fn host_cpu() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("model name"));
    line.and_then(|rest| rest.split_once(':')).map_or("", |(_, name)| name.trim()).to_owned()
}
