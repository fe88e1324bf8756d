//! `slablab lab compare`: the difference, its size and its certainty.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use slablab_lab::{
    Asked, CsvText, Outcome, compare_hosts, compare_runs, compare_variants, measured, sides,
};
use slablab_report::{ComparisonRow, Comparisons};
use slablab_stats::{Direction, Pairing, Question, Verdict, compare};

use crate::answers::comparison::CompareAnswer;
use crate::cli::{AnswerArgs, OutputArgs};
use crate::cmd::report;
use crate::output::give;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "One RESULT: its variants with each other. Two: the second with the first. The verdict is 'faster',\n\
                        'slower' (or 'smaller', 'better', ...), 'no difference shown', or 'undecided' after too few runs.\n\n\
                        Examples:\n  \
                        slablab lab compare slablab-results/hackbench-user\n  \
                        slablab lab compare before/ after/ --fail-on-regression\n  \
                        slablab lab compare hackbench-before.txt hackbench-after.txt\n  \
                        slablab lab compare --csv times.csv --columns kmalloc,kmem_cache --unit s"
)]
pub(crate) struct Args {
    /// Result folders of 'slablab lab run'; or files that hackbench, perf stat, perf bench, time or hyperfine wrote, tables, one
    /// value a line
    #[arg(value_name = "RESULT", required_unless_present = "csv", conflicts_with = "csv")]
    results: Vec<PathBuf>,
    /// Compare two columns of this file; its first row names them; - is standard input
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// The columns of one table: baseline, candidate; by default the first two with numbers
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    columns: Vec<String>,
    /// The unit of values that have none; by default what stands in parentheses behind columns' names
    #[arg(long, value_name = "UNIT")]
    unit: Option<String>,
    /// What values without a name measure, as the answer calls it; or which of a file's metrics to compare
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    /// More is better: a throughput
    #[arg(long)]
    more_is_better: bool,
    /// The values of a row, or at one place of two files, belong together: compare them as pairs
    #[arg(long)]
    paired: bool,
    /// The baseline: the variant that the others are compared with [default: the first]
    #[arg(long, value_name = "VARIANT", conflicts_with = "csv")]
    baseline: Option<String>,
    /// Compare the variants within each host, over all hosts together
    #[arg(long, conflicts_with_all = ["csv", "baseline"])]
    by_host: bool,
    /// Compare results although they differ in this: input, kernel, cpu, scale, a parameter ...; may be given several times
    #[arg(long = "factor", value_name = "NAME", conflicts_with_all = ["csv", "baseline"])]
    factors: Vec<String>,
    /// Show a difference when p is below this; intervals have the confidence 1 - P
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    alpha: f64,
    /// Exit with 1 when a candidate is shown to be worse, and with 2 when too few runs leave that undecided
    #[arg(long)]
    fail_on_regression: bool,
    #[command(flatten)]
    answer: AnswerArgs,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let outputs = args.answer.outputs();
    let outputs =
        outputs.iter().filter_map(|(name, path)| Some((*name, path.map(PathBuf::as_path)?)));
    let inputs: Vec<PathBuf> = args.results.iter().chain(&args.csv).cloned().collect();
    report::check_replaces_no_result(&inputs, &outputs.collect::<Vec<_>>())?;
    let question = Question {
        direction: if args.more_is_better {
            Direction::MoreIsBetter
        } else {
            Direction::LessIsBetter
        },
        alpha: args.alpha,
    };
    // A pipe or a device is a file, too.
    let are_files = args.csv.is_some()
        || args
            .results
            .iter()
            .any(|result| result.exists() && !result.is_dir() || result == Path::new("-"));
    let answer = match (&args.csv, &args.results[..]) {
        (Some(file), _) => of_csv(args, file, &question)?,
        (None, [file]) if are_files && !args.columns.is_empty() => of_csv(args, file, &question)?,
        (None, _) if are_files => of_files(args, &question)?,
        (None, _) => of_results(args, &question)?,
    };
    give(&answer, output, &args.answer)?;
    if !args.fail_on_regression {
        return Ok(ExitCode::SUCCESS);
    }
    if answer.verdicts().any(|verdict| verdict == Verdict::Worse) {
        return Ok(ExitCode::from(1));
    }
    if are_files && answer.verdicts().next().is_none() {
        bail!("--fail-on-regression: nothing could be tested; the answer says what that takes");
    }
    if answer.verdicts().any(|verdict| verdict == Verdict::Undecided) {
        bail!("--fail-on-regression: too few runs to decide; the answer says how many it takes");
    }
    Ok(ExitCode::SUCCESS)
}

impl Args {
    /// Returns what is said of values that other programs measured.
    fn asked(&self) -> Asked<'_> {
        Asked {
            metric: self.metric.as_deref(),
            unit: self.unit.as_deref(),
            direction: self.more_is_better.then_some(Direction::MoreIsBetter),
            is_paired: self.paired,
        }
    }

    /// Refuses what the lab's own results tell, or what they do not have.
    fn refuse_of_results(&self) -> Result<()> {
        let given = [
            ("--columns", !self.columns.is_empty()),
            ("--unit", self.unit.is_some()),
            ("--metric", self.metric.is_some()),
            ("--more-is-better", self.more_is_better),
            ("--paired", self.paired),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => bail!(
                "{option} is about files of other programs: a result of the lab tells its metrics, units, directions and \
                 pairs itself; leave {option} out"
            ),
            None => Ok(()),
        }
    }
}

fn of_results(args: &Args, question: &Question) -> Result<CompareAnswer> {
    args.refuse_of_results()?;
    let outcomes: Vec<Outcome> = args
        .results
        .iter()
        .map(|folder| Outcome::read(folder))
        .collect::<slablab_lab::Result<_>>()?;
    if args.by_host {
        let across = compare_hosts(&outcomes, &args.factors, question)?;
        return Ok(CompareAnswer::of_hosts(&outcomes, across));
    }
    match &outcomes[..] {
        [one] => {
            let sides = compare_variants(one, args.baseline.as_deref(), question)?;
            Ok(CompareAnswer::of_run(one, &sides))
        }
        [_, _] if args.baseline.is_some() => bail!("--baseline goes with one result"),
        [a, b] => Ok(CompareAnswer::of_runs(a, b, compare_runs(a, b, &args.factors, question)?)),
        more => bail!("{} results: compare one or two, or any number with --by-host", more.len()),
    }
}

/// Compares what other programs measured.
fn of_files(args: &Args, question: &Question) -> Result<CompareAnswer> {
    if args.by_host || !args.factors.is_empty() {
        bail!("--by-host and --factor go with results of `slablab lab run`");
    }
    if let Some(folder) = args.results.iter().find(|result| result.is_dir()) {
        bail!(
            "{}: is a result of the lab, which has no metric in common with files",
            folder.display()
        );
    }
    if !args.columns.is_empty() {
        bail!("--columns are of one table: name one file, whose columns are compared");
    }
    let read = |path: &PathBuf| Ok((path.display().to_string(), measured(path)?));
    let mut files: Vec<_> = args.results.iter().map(read).collect::<slablab_lab::Result<_>>()?;
    if let Some(baseline) = &args.baseline {
        let is_it = |sample: &slablab_lab::Sample| sample.variant == *baseline;
        let [(name, only)] = &mut files[..] else { bail!("--baseline goes with one result") };
        if !only.samples.iter().any(is_it) {
            bail!("{name}: has no variant '{baseline}'");
        }
        only.samples.sort_by_key(|sample| !is_it(sample));
    }
    let sides = sides(&files).and_then(|sides| sides.asked(&args.asked()));
    let sides = sides.map_err(anyhow::Error::msg)?;
    let names: Vec<String> = files.into_iter().map(|(name, _)| name).collect();
    CompareAnswer::of_measured(&names, sides, question)
}

fn of_csv(args: &Args, file: &Path, question: &Question) -> Result<CompareAnswer> {
    let columns = match &args.columns[..] {
        [] => None,
        [baseline, candidate] => Some((baseline.as_str(), candidate.as_str())),
        more => bail!(
            "--columns takes two names, the baseline's and the candidate's; here are {}",
            more.len()
        ),
    };
    let text = CsvText::read(file)?;
    if columns.is_none() && text.has_variants() {
        let name = file.display().to_string();
        let sides = sides(&[(name.clone(), text.measured()?)]);
        let sides =
            sides.and_then(|sides| sides.asked(&args.asked())).map_err(anyhow::Error::msg)?;
        return CompareAnswer::of_measured(&[name], sides, question);
    }
    let mut pair = text.pair(columns)?;
    let unit = args.unit.clone().or_else(|| pair.take_unit()).unwrap_or_default();
    let design =
        if args.paired || pair.is_counted { Pairing::Paired } else { Pairing::Independent };
    let comparison = compare(&pair.baseline.values, &pair.candidate.values, design, question)
        .map_err(|e| anyhow::anyhow!("{}: {e}", file.display()))?;
    let row =
        ComparisonRow { point: String::new(), candidate: pair.candidate.name.clone(), comparison };
    let table = Comparisons {
        metric: args.metric.clone().unwrap_or_else(|| "value".to_owned()),
        unit,
        baseline: pair.baseline.name.clone(),
        point: String::new(),
        rows: vec![row],
    };
    Ok(CompareAnswer::of_pair(&pair, table, &file.display().to_string()))
}
