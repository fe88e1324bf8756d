//! Which version moved a metric: the answer of a bisection.

use std::path::Path;

use serde::{Deserialize, Serialize};
use slablab_lab::bisect::{Bisect, Bisection, Compared, Decision, Step, VersionRuns};
use slablab_lab::{CacheChange, Scale};
use slablab_report::{Cell, Document, Fact, Group, Item, Plot, Section, Table, counted, field};
use slablab_stats::{Estimate, excess, median};

use super::comparison::{accelerator, kernel};
use super::kept::{Obtained, given};
use super::plots;
use crate::output::{Answer, upper_first};

/// Steps that have a sentence of their own.
const STEPS_MAX: usize = 3;

/// A version with its place.
type Row<'a> = (usize, &'a VersionRuns);

/// What `slablab lab bisect` says.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct BisectAnswer {
    #[serde(flatten)]
    found: Bisection,
    /// The result folder
    folder: String,
    /// Changes of at most this share do not matter
    ignored_share: f64,
    #[serde(flatten)]
    obtained: Obtained,
}

impl BisectAnswer {
    /// Makes the answer of what was found, with what the boots in `folder` tell of their kernels.
    ///
    /// # Errors
    ///
    /// If the rows of a version cannot be read.
    pub(crate) fn new(
        found: Bisection,
        bisect: &Bisect,
        folder: &Path,
    ) -> slablab_lab::Result<Self> {
        let outcomes = found.outcomes(folder)?;
        let folder = folder.display().to_string();
        let mut facts = vec![Fact::new("result", &folder)];
        facts.extend(given(&bisect.request));
        debug_assert_eq!(bisect.request.scale, Scale::Full);
        for (version, outcome) in &outcomes {
            // A variant with boot parameters stands behind its kernel as it is.
            let variant = outcome.plan.design.variants.last();
            let row = outcome.rows.iter().find(|row| Some(&row.variant) == variant);
            let Some(row) = row else { continue };
            let how = accelerator(row);
            if !facts.contains(&how) {
                facts.push(how);
            }
            let name = &found.versions[*version].name;
            facts.push(Fact::new(format!("kernel of {name}"), kernel(row)));
        }
        let obtained = Obtained::now(facts);
        Ok(Self { found, folder, ignored_share: bisect.ignored_share, obtained })
    }

    fn name(&self, version: usize) -> &str {
        &self.found.versions[version].name
    }

    /// Says what moved the metric, or that nothing is shown to.
    fn sentences(&self) -> Vec<String> {
        let metric = &self.found.metric;
        let Some(whole) = self.found.comparisons.first() else { return Vec::new() };
        let mut sentences = match self.found.steps.len() {
            0 => vec![self.nothing(whole)],
            many => {
                let steps = self.found.steps.iter().take(STEPS_MAX).map(|step| self.step(step));
                let more = many.saturating_sub(STEPS_MAX);
                let more = (more > 0)
                    .then(|| format!("{} more moved it.", counted(more as u64, "version")));
                (many > 1)
                    .then(|| self.in_all(whole))
                    .into_iter()
                    .chain(steps)
                    .chain(more)
                    .collect()
            }
        };
        let unusable = self.found.versions.iter().filter(|version| version.unusable.is_some());
        let unusable: Vec<_> = unusable.map(|version| version.name.as_str()).collect();
        if !unusable.is_empty() {
            sentences.push(format!(
                "Left out, as it cannot be built or booted: {}.",
                unusable.join("; ")
            ));
        }
        let booted = self.found.versions.iter().filter(|version| !version.values.is_empty());
        let boots: usize = self.found.versions.iter().map(|version| version.values.len()).sum();
        sentences.push(format!(
            "{} of {} were booted for it, {} in all; where nothing moves {metric}, a version is named with a probability of \
             at most {}.",
            booted.count(),
            counted(self.found.versions.len() as u64, "version"),
            counted(boots as u64, "boot"),
            self.found.alpha
        ));
        sentences
    }

    /// Says what several steps come to.
    fn in_all(&self, whole: &Compared) -> String {
        let steps = counted(self.found.steps.len() as u64, "version");
        format!(
            "{} is {} with {} than with {}, and {steps} moved it.",
            upper_first(&self.found.metric),
            change(whole.ratio),
            self.name(whole.to),
            self.name(whole.from)
        )
    }

    fn nothing(&self, whole: &Compared) -> String {
        let (first, last) = (self.name(whole.from), self.name(whole.to));
        let metric = &self.found.metric;
        let bound = 100.0 * excess(whole.ratio);
        match whole.decision {
            Decision::Same => {
                format!("No difference in {metric} above {bound:.2} % between {first} and {last}.")
            }
            _ => format!(
                "It cannot be told yet whether {metric} differs between {first} and {last}: after {} boots of each no \
                 difference is shown, and one of {bound:.2} % is possible; --runs gives more.",
                whole.runs
            ),
        }
    }

    fn step(&self, step: &Step) -> String {
        let Step { from, to, ratio, is_spread, .. } = *step;
        let (metric, change) = (&self.found.metric, change(ratio));
        let interval = ratio.interval;
        let interval = format!(
            "{:.1} % interval {:+.2} to {:+.2} %",
            100.0 * interval.confidence,
            100.0 * (interval.low - 1.0),
            100.0 * (interval.high - 1.0)
        );
        if is_spread {
            return format!(
                "{} is {change} from {} to {} ({interval}), in parts that are too small to be told apart.",
                upper_first(metric),
                self.name(from),
                self.name(to)
            );
        }
        let between = match to - from {
            1 => String::new(),
            many => format!(", or one of the {} before it that were left out", many - 1),
        };
        let caches = CacheChange::sentence(&step.caches);
        let caches = caches.map_or_else(String::new, |caches| format!(" {caches}"));
        format!("{} moved it{between}: {metric} is {change} ({interval}).{caches}", self.name(to))
    }

    /// Returns the caches that each step moved.
    fn caches(&self) -> Vec<Item> {
        let steps = self.found.steps.iter().filter(|step| !step.caches.is_empty());
        let how = "From slabinfo after the load, the median of the boots of each side.";
        let table = |step: &Step| {
            let title = format!("{} against {}", self.name(step.to), self.name(step.from));
            Item::table(title, how, CacheChange::table(&step.caches))
        };
        steps.map(table).collect()
    }

    /// Returns them as a section: the sentences name the caches of several steps, and a screen has no room for their tables.
    fn caches_section(&self) -> Section {
        let place = if self.found.steps.len() > 1 { Section::named } else { Section::first };
        place("caches", "Which caches moved", self.caches())
    }

    /// Returns the versions that were booted or left out.
    fn history(&self) -> Table {
        let versions = self.found.versions.iter().enumerate();
        let is_known = |row: &Row<'_>| !row.1.values.is_empty() || row.1.unusable.is_some();
        let rows: Vec<Row<'_>> = versions.filter(is_known).collect();
        let (unit, steps) = (&self.found.unit, &self.found.steps);
        let step_to = |at: usize| steps.iter().find(|step| step.to == at);
        let fields = vec![
            field::name("version", "version", |(_, version): &Row<'_>| &version.name),
            field::by("boots", "boots", |(_, version): &Row<'_>| {
                Cell::Count(version.values.len() as u64)
            }),
            field::by("median", "median", |(_, version): &Row<'_>| match &version.values[..] {
                [] => Cell::Missing,
                values => Cell::Quantity(median(&mut values.to_vec()), unit.clone()),
            }),
            field::by("moved by", "step_share", move |(at, _): &Row<'_>| match step_to(*at) {
                Some(step) => Cell::Change(step.ratio.value - 1.0),
                None => Cell::Missing,
            }),
            field::text_by("verdict", "verdict", move |(at, version): &Row<'_>| {
                match (&version.unusable, step_to(*at)) {
                    (Some(_), _) => "left out".to_owned(),
                    (None, Some(step)) if step.is_spread => "spread".to_owned(),
                    (None, Some(_)) => "moved it".to_owned(),
                    (None, None) => String::new(),
                }
            }),
        ];
        Table::of_fields(&rows, fields)
    }

    fn comparisons(&self) -> Table {
        let percent = |share: f64| Cell::Change(share - 1.0);
        let fields = vec![
            field::text_by("from", "from", |of: &Compared| self.name(of.from).to_owned()),
            field::text_by("to", "to", |of: &Compared| self.name(of.to).to_owned()),
            field::by("change", "change_share", move |of: &Compared| percent(of.ratio.value)),
            field::by("at least", "change_share_low", move |of: &Compared| {
                percent(of.ratio.interval.low)
            }),
            field::by("at most", "change_share_high", move |of: &Compared| {
                percent(of.ratio.interval.high)
            }),
            field::by("boots of each", "runs", |of: &Compared| Cell::Count(of.runs as u64)),
            field::text("verdict", "decision", |of: &Compared| {
                match of.decision {
                    Decision::Differs => "differs",
                    Decision::Same => "the same",
                    Decision::Open => "cannot tell",
                }
                .to_owned()
            }),
        ];
        Table::of_fields(&self.found.comparisons, fields)
    }

    fn plot(&self) -> Plot {
        let booted = self.found.versions.iter().filter(|version| !version.values.is_empty());
        let groups = booted
            .map(|version| Group { name: version.name.clone(), values: version.values.clone() });
        plots::strip(&self.found.metric, &self.found.unit, "", groups.collect())
    }

    fn reasons(&self) -> Vec<Item> {
        let reason = |version: &VersionRuns| Some(Item::Text(version.unusable.clone()?));
        self.found.versions.iter().filter_map(reason).collect()
    }
}

/// Says a change in words.
fn change(ratio: Estimate) -> String {
    let percent = 100.0 * (ratio.value - 1.0).abs();
    match ratio.value > 1.0 {
        true => format!("{percent:.2} % more"),
        false => format!("{percent:.2} % less"),
    }
}

impl Answer for BisectAnswer {
    const SCHEMA: &'static str = "slablab.lab.bisect/1";

    fn document(&self) -> Document {
        let how = "Versions are compared by rank tests with the interval of Hodges and Lehmann, at a part of alpha for each \
            comparison and each look. Boots of two versions take turns.";
        Document {
            title: format!("What moved {}", self.found.metric),
            question: "Which version moved it?".to_owned(),
            answers: self.sentences(),
            sections: vec![
                Section::first("history", "", vec![Item::table("", "", self.history())]),
                self.caches_section(),
                Section::named("comparisons", "What was compared", vec![Item::table("", how, self.comparisons())]),
                Section::page("plot", "Every boot", vec![self.plot().into()]),
                Section::named("left-out", "Why versions were left out", self.reasons()),
            ],
            source: format!("From {}.", self.folder),
            notes: vec![
                "Guests are compared with each other: emulated ones have other times than real machines.".to_owned(),
            ],
            facts: self.obtained.facts(),
            repeat: self.obtained.repeat(),
        }
    }
}
