//! An advice: which call sites of kmalloc should have a cache of their own, and which size class is missing; of one
//! trace, or of several with what hosts save.

use serde::Serialize;
use slablab_replay::{
    Advice, AdviceList, Allocator, Change, FleetAdvice, FleetSite, HOSTS_FOR_INTERVAL, Layout,
    WhatIf, Worth,
};
use slablab_report::{
    BarGroup, Bars, Cell, Document, Fact, Item, Plot, Section, Table, Waterfall, counted, field,
};

use super::noted::noted;
use super::pins::PinsAnswer;
use super::reason::{caveat, reason};
use super::sources::Sources;
use super::trace::{facts, sampled, source};
use super::whatif::objects;
use crate::output::{Answer, bytes};

/// Changes that have bars; the table has all.
const BARS_MAX: usize = 16;
/// Call sites that a sentence names.
const NAMED_MAX: usize = 3;
/// The sum over several traces has no noise to tell from: a page is the least that a cache saves.
const WORTH_BYTES_MIN: i64 = 4096;

/// What `slablab advise` answers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct AdviseAnswer {
    pub(crate) file: String,
    pub(crate) allocator: &'static str,
    /// The advice on one trace
    #[serde(flatten)]
    pub(crate) one: Option<AdviceList>,
    /// The advice on several traces together
    #[serde(flatten)]
    pub(crate) many: Option<FleetAdvice>,
    /// The changes, best first
    advice: Vec<AdviceRow>,
    /// Whose objects keep sparse slabs, where the trace has all objects of its slabs
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pins: Option<PinsAnswer>,
    /// Remarks about the traces
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remarks: Vec<String>,
    /// Where call sites are in the source, where that was looked up
    #[serde(skip)]
    pub(crate) sources: Option<Sources>,
    /// The trace with every advised cache, where a page wants it
    #[serde(skip)]
    pub(crate) together: Option<Together>,
}

/// A change that was tried.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
#[serde(untagged)]
enum AdviceRow {
    /// On one trace
    One(Box<ReasonedAdvice>),
    /// On several
    Many(FleetSite),
}

/// A change with its reason.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
struct ReasonedAdvice {
    #[serde(flatten)]
    advice: Advice,
    /// What it does, in sentences
    reason: String,
    /// What speaks against it, if anything does
    caveat: Option<String>,
}

/// The trace with every advised cache at once, and the objects of the best.
#[derive(Debug)]
pub(crate) struct Together {
    /// The whole trace, as recorded and with the caches
    pub(crate) what_if: WhatIf,
    /// The call site whose objects were watched
    pub(crate) best: String,
}

impl AdviseAnswer {
    /// Makes the answer of one trace; `remarks` are about others that were named.
    pub(crate) fn of_one(
        file: String,
        allocator: &'static str,
        mut list: AdviceList,
        remarks: Vec<String>,
    ) -> Self {
        let reasoned = |advice: Advice| {
            let (reason, caveat) = (reason(&advice), caveat(&advice));
            AdviceRow::One(Box::new(ReasonedAdvice { advice, reason, caveat }))
        };
        let advice = std::mem::take(&mut list.advice).into_iter().map(reasoned).collect();
        Self {
            file,
            allocator,
            one: Some(list),
            many: None,
            advice,
            remarks,
            sources: None,
            together: None,
            pins: None,
        }
    }

    /// Makes the answer of several traces; `remarks` are about the traces.
    pub(crate) fn of_many(
        file: String,
        allocator: &'static str,
        mut fleet: FleetAdvice,
        remarks: Vec<String>,
    ) -> Self {
        let advice = std::mem::take(&mut fleet.advice).into_iter().map(AdviceRow::Many).collect();
        let many = Some(fleet);
        Self {
            file,
            allocator,
            one: None,
            many,
            advice,
            remarks,
            sources: None,
            together: None,
            pins: None,
        }
    }
}

impl Answer for AdviseAnswer {
    const SCHEMA: &'static str = "slablab.advise/1";

    fn document(&self) -> Document {
        let Self { file, allocator, one, many, .. } = self;
        let (trace, fleet) = match (one, many) {
            (Some(list), _) => (&list.trace, None),
            (None, Some(many)) => (&many.trace, Some(&many.fleet)),
            (None, None) => unreachable!("an answer is of one trace or of several"),
        };
        let mut facts = facts(file, trace, fleet);
        facts.push(Fact::new("allocator", *allocator));
        let plots = self.together.iter().map(|together| self.steps(together)).chain([self.walks()]);
        let plots = plots.filter(|plot| !plot.is_empty()).map(Item::Plot);
        let table = Item::table("", COLUMNS, self.table());
        let mut sections = vec![
            Section::first("advice", "", plots.chain([table]).collect()).with_method(
                "Each change was tried by replaying the part of the trace that it can touch.",
            ),
            Section::named(
                "reasons",
                "Reasons, and what speaks against each change",
                self.reasons(),
            ),
        ];
        sections.extend(one.iter().flat_map(noted));
        sections.extend(self.pins.iter().map(PinsAnswer::section));
        sections.extend(self.together.iter().map(|together| {
            let how = format!(
                "Those of {}, the best of the call sites, in the one of eight snapshots that has most of them.",
                together.best
            );
            objects(&together.what_if, &how)
        }));
        sections.push(Section::page("source", "Where the waste comes from", self.waste()));
        Document {
            title: format!("Call sites of {file} worth a cache of their own, under {allocator}"),
            question: "Which call site should have its own cache, and what would it change?"
                .to_owned(),
            answers: self.sentences(),
            sections,
            source: source(file, trace, fleet),
            notes: sampled(trace).into_iter().chain(self.notes()).collect(),
            facts,
            ..Document::default()
        }
    }
}

/// The meaning of the table's columns.
const COLUMNS: &str = "Slot: what kmalloc allocates for an object. Lines/walk: cache lines that a walk over all objects \
    touches, in the one of eight snapshots that has most of them. While loaded: what is saved on average while at least \
    half of the objects are there.";

impl AdviceRow {
    fn change(&self) -> &Change {
        match self {
            Self::One(one) => &one.advice.change,
            Self::Many(many) => &many.change,
        }
    }

    fn subject(&self) -> &str {
        match self {
            Self::One(one) => &one.advice.subject,
            Self::Many(many) => &many.subject,
        }
    }

    /// Returns the call site, or the class with what is changed in it.
    fn name(&self) -> String {
        match self.change() {
            Change::Dedicate { .. } => self.subject().to_owned(),
            Change::Class { .. } => format!("{}, {}", self.subject(), self.change_name()),
        }
    }

    fn change_name(&self) -> String {
        match self.change() {
            Change::Dedicate { .. } => "own cache".to_owned(),
            Change::Class { bytes } => format!("class {bytes}"),
        }
    }

    fn saved_bytes_at_peak(&self) -> i64 {
        match self {
            Self::One(one) => one.advice.saved_bytes_at_peak,
            Self::Many(many) => many.saved_bytes_at_peak,
        }
    }

    fn worth(&self) -> Worth {
        match self {
            Self::One(one) => one.advice.worth,
            Self::Many(many) => match many.saved_bytes_at_peak {
                _ if many.traces_may_leak == many.traces => Worth::MayLeak,
                saved if saved >= WORTH_BYTES_MIN && many.saved_bytes_mean > 0 => {
                    Worth::SavesMemory
                }
                saved if saved < 0 => Worth::CostsMemory,
                _ => Worth::Negligible,
            },
        }
    }

    fn verdict(&self) -> &'static str {
        match self.worth() {
            Worth::SavesMemory => "saves memory",
            Worth::ImprovesLocality => "denser",
            Worth::Negligible => "negligible",
            Worth::CostsMemory => "costs memory",
            Worth::MayLeak => "may leak",
        }
    }

    fn one(&self) -> Option<&Advice> {
        match self {
            Self::One(one) => Some(&one.advice),
            Self::Many(_) => None,
        }
    }

    /// Returns how the objects lie. The objects of a class are not in a single list, and those of a site may be
    /// missing from every snapshot.
    fn lines(&self, layout: fn(&Advice) -> Layout) -> Cell {
        let walked = self.one().filter(|advice| advice.is_own_cache()).map(layout);
        match walked.filter(|layout| layout.objects_per_walk > 0) {
            Some(layout) => Cell::Count(layout.lines_per_walk),
            None => Cell::Missing,
        }
    }
}

impl AdviseAnswer {
    fn of(&self, worth: Worth) -> Vec<&AdviceRow> {
        self.advice.iter().filter(|row| row.worth() == worth).collect()
    }

    /// Says what is worth a patch, what comes closer together, and what may leak.
    fn sentences(&self) -> Vec<String> {
        let (held, when) = match (&self.one, &self.many) {
            (Some(list), _) => (list.held_bytes_peak, "at the peak"),
            (_, many) => {
                let held = many.as_ref().map_or(0, |many| many.held_bytes_peak);
                (held, "at the peaks of all traces together")
            }
        };
        let (saving, gathering) = (self.of(Worth::SavesMemory), self.of(Worth::ImprovesLocality));
        let best = saving.first().map(|best| {
            let what = match best.change() {
                Change::Dedicate { .. } => format!("a cache of its own for {}", best.subject()),
                Change::Class { bytes } => {
                    format!("a class of {bytes} B beside {}", best.subject())
                }
            };
            let saved = bytes(best.saved_bytes_at_peak().unsigned_abs());
            format!(
                "{what} saves {saved} of the {} that {} holds {when}.",
                bytes(held),
                self.allocator
            )
        });
        let mut sentences = vec![match (saving.len(), best) {
            (1, Some(best)) => {
                format!("One change saves enough memory to be worth a patch: {best}")
            }
            (n, Some(best)) => {
                format!("{n} changes save enough memory to be worth a patch; the best: {best}")
            }
            (_, None) => format!(
                "No change saves enough memory to be worth a patch; {} holds {} {when}.",
                self.allocator,
                bytes(held)
            ),
        }];
        if !gathering.is_empty() {
            let (n, cost) = (gathering.len(), "for little or no memory");
            let verb = if n == 1 { "change brings" } else { "changes bring" };
            let sites = named(&gathering);
            sentences.push(format!(
                "{n} {verb} scattered objects closer together, {cost}: caches for {sites}."
            ));
        }
        let leaks = self.of(Worth::MayLeak);
        if !leaks.is_empty() {
            sentences.push(format!(
                "The objects of {} grew in number to the end of the recording: whether they leak, which a cache does not help, \
                 slablab leaks tells.",
                named(&leaks)
            ));
        }
        sentences
    }

    /// Says what is worth making, what was not tried, and what the replay begins with.
    fn notes(&self) -> Vec<String> {
        let Some(list) = &self.one else { return self.notes_of_many() };
        let left_out = [
            (list.sites_too_small, "of less than a page at any time"),
            (list.sites_own, "of the allocator itself"),
            (list.sites_payload, "of packet data"),
            (list.sites_helper, "of helpers (by owner where there are stacks)"),
            (list.many_sizes.len() as u64, "of several sizes"),
            (list.sites_unseen, "with more than 10 % of the frees unseen"),
            (list.untried, "that promise least"),
        ];
        let left_out = left_out.iter().filter(|(sites, _)| *sites > 0);
        let left_out: Vec<_> = left_out.map(|(sites, why)| format!("{sites} {why}")).collect();
        let mut notes = self.remarks.clone();
        notes.push(format!(
            "A change is worth a patch if it saves more than {} at the peak, more than a slab, and more than its saving \
             varies by.",
            bytes(list.saving_bytes_min)
        ));
        if !left_out.is_empty() {
            notes.push(format!(
                "Not tried of {} of kmalloc: {}.",
                counted(list.sites, "call site"),
                left_out.join(", ")
            ));
        }
        if list.most_keep {
            notes.push(
                "Most call sites keep what they allocate, as in a boot: only one that never ceases to allocate is taken for \
                 a leak."
                    .to_owned(),
            );
        }
        notes.extend(self.pins.as_ref().and_then(|pins| pins.note(list.saving_bytes_min)));
        notes.push(match list.slab_bytes_before {
            0 => "The replay begins with an empty machine.".to_owned(),
            before => format!(
                "The replay begins with an empty machine, and slablab whatif with the {} of slabs that the kernel had: its \
                 peak is higher.",
                bytes(before)
            ),
        });
        notes
    }

    fn notes_of_many(&self) -> Vec<String> {
        let unseen = self.many.as_ref().map_or(0, |many| many.sites_unseen);
        let unseen = (unseen > 0).then(|| {
            let sites = counted(unseen, "call site");
            format!("Not tried, as more than 10 % of the frees were not seen: {sites}.")
        });
        let begins = "Each replay begins with an empty machine.".to_owned();
        unseen.into_iter().chain([begins]).chain(self.remarks.iter().cloned()).collect()
    }

    /// Returns the table of changes, best first; of several traces with what hosts save.
    fn table(&self) -> Table {
        let saved = |row: &AdviceRow| Cell::SignedBytes(row.saved_bytes_at_peak());
        let mut fields = vec![
            field::name("call site or class", "subject", AdviceRow::subject),
            field::by("saved, peak", "saved_bytes_at_peak", saved),
            field::text("verdict", "worth", |row: &AdviceRow| row.verdict().to_owned()),
            field::text("change", "change", AdviceRow::change_name),
            field::cell("saved, mean", "saved_bytes_mean", |row: &AdviceRow| {
                Cell::SignedBytes(match row {
                    AdviceRow::One(one) => one.advice.saved_bytes_mean,
                    AdviceRow::Many(many) => many.saved_bytes_mean,
                })
            })
            .where_room(),
            field::count("allocs", "allocs", |row: &AdviceRow| match row {
                AdviceRow::One(one) => one.advice.allocs,
                AdviceRow::Many(many) => many.allocs,
            })
            .on_page(),
            field::bytes("object", "object_bytes", |row: &AdviceRow| match row {
                AdviceRow::One(one) => one.advice.object_bytes,
                AdviceRow::Many(many) => many.object_bytes,
            })
            .on_page(),
            field::bytes("slot", "class_bytes", |row: &AdviceRow| match row {
                AdviceRow::One(one) => one.advice.class_bytes,
                AdviceRow::Many(many) => many.class_bytes,
            })
            .on_page(),
        ];
        match &self.many {
            Some(_) => fields.extend(columns_of_many()),
            None => fields.extend(self.columns_of_one()),
        }
        Table::of_fields(&self.advice, fields)
    }

    /// Returns the columns that only one trace has.
    fn columns_of_one(&self) -> Vec<field::Field<'_, AdviceRow>> {
        let of = |row: &AdviceRow, cell: fn(&Advice) -> Cell| row.one().map_or(Cell::Missing, cell);
        let column = |head, key, cell: fn(&Advice) -> Cell| {
            field::by(head, key, move |row: &AdviceRow| of(row, cell)).on_page()
        };
        let mut fields = vec![
            column("live, peak", "live_peak", |a| Cell::Count(a.live_peak)).where_room(),
            column("saved, end", "saved_bytes_end", |a| Cell::SignedBytes(a.saved_bytes_end)),
            column("while loaded", "saved_bytes_loaded", |a| {
                Cell::SignedBytes(a.saved_bytes_loaded)
            }),
            column("varies by", "saved_bytes_spread", |a| Cell::Bytes(a.saved_bytes_spread)),
            field::by("lines/walk", "lines_per_walk_before", |row: &AdviceRow| {
                row.lines(|advice| advice.before)
            })
            .on_page(),
            field::by("after", "lines_per_walk_after", |row: &AdviceRow| {
                row.lines(|advice| advice.after)
            })
            .on_page(),
            column("fast path", "fast_share_before", |a| Cell::Share(a.fast_share_before)),
            column("after", "fast_share_after", |a| Cell::Share(a.fast_share_after)),
        ];
        if let Some(sources) = &self.sources {
            let line = |row: &AdviceRow| sources.line(row.subject()).unwrap_or_default();
            fields.push(field::text_by("source", "source", line).on_page());
        }
        fields
    }

    /// Returns the reasons for each change, a paragraph each.
    fn reasons(&self) -> Vec<Item> {
        let place = |subject: &str| {
            let line = self.sources.as_ref().and_then(|sources| sources.line(subject));
            line.map_or_else(String::new, |line| format!(" ({line})"))
        };
        let of = |row: &AdviceRow| match row {
            AdviceRow::One(one) => {
                let caveat =
                    one.caveat.as_ref().map_or_else(String::new, |why| format!(" But: {why}"));
                format!("{}{}: {}{caveat}", row.name(), place(row.subject()), one.reason)
            }
            AdviceRow::Many(many) => {
                let over = &many.saved_bytes_at_peak_over_hosts;
                let on = |(host, saved): &(String, i64)| format!("{host} {}", signed(*saved));
                let on: Vec<_> = over.most_on.iter().map(on).collect();
                let worse = match over.negative {
                    0 => String::new(),
                    n => format!("; it costs memory on {}", counted(n, "host")),
                };
                format!("{}: it saves most on {}{worse}.", row.name(), on.join(", "))
            }
        };
        self.advice.iter().map(|row| Item::Text(of(row))).collect()
    }

    /// Draws what each advised cache would save, down to what all of them together leave.
    fn steps(&self, together: &Together) -> Plot {
        let saving = self.of(Worth::SavesMemory);
        let sites = saving.iter().filter(|row| matches!(row.change(), Change::Dedicate { .. }));
        let step = |row: &&AdviceRow| (row.subject().to_owned(), -row.saved_bytes_at_peak() as f64);
        let steps = sites.map(step).collect();
        let held =
            |allocators: &[Allocator]| allocators.first().map_or(0.0, |a| a.held_bytes.peak as f64);
        let WhatIf { before, after, .. } = &together.what_if;
        let (before, after) = (held(&before.allocators), held(&after.allocators));
        let waterfall = Waterfall {
            label: "call site".to_owned(),
            quantity: ("held".to_owned(), "B".to_owned()),
            ..Waterfall::new(("as recorded", before), ("all of them", after), steps)
        };
        let how = "Each step is what that cache saves alone. The last bar is a replay with all of them; the difference to \
                   the sum of the steps is in the step of the others.";
        Plot::new("Bytes held at the peak, by call site that gets a cache", how, waterfall)
    }

    /// Draws how many cache lines a walk over the objects touches, with and without each advised cache.
    fn walks(&self) -> Plot {
        let advised = self.advice.iter().filter(|row| row.worth().is_useful());
        let group = |row: &AdviceRow| {
            let advice = row.one().filter(|advice| advice.is_own_cache())?;
            let [before, after] = [advice.before, advice.after].map(|l| l.lines_per_walk);
            let bar = |name: &str, lines: u64| (name.to_owned(), lines as f64);
            let bars = vec![bar("as recorded", before), bar("changed", after)];
            (before != after).then(|| BarGroup { name: row.name(), bars })
        };
        let bars = Bars {
            label: "call site".to_owned(),
            quantity: ("cache lines".to_owned(), String::new()),
            groups: advised.filter_map(group).take(BARS_MAX).collect(),
        };
        let how = "In the one of eight snapshots that has most of them.";
        Plot::new("Cache lines that a walk over all objects touches", how, bars)
    }

    /// Draws where in the kernel's source the waste is, or says what is missing for it.
    fn waste(&self) -> Vec<Item> {
        let (Some(sources), Some(list)) = (&self.sources, &self.one) else { return Vec::new() };
        sources.flame("as recorded", &list.recorded).into_iter().chain(sources.missing()).collect()
    }
}

/// Names the first call sites, and how many more there are.
fn named(rows: &[&AdviceRow]) -> String {
    let names: Vec<_> = rows.iter().take(NAMED_MAX).map(|row| row.name()).collect();
    match rows.len().saturating_sub(NAMED_MAX) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

fn signed(n: i64) -> String {
    Cell::SignedBytes(n).short()
}

/// Returns the columns that only several traces have.
fn columns_of_many() -> Vec<field::Field<'static, AdviceRow>> {
    let column = |head, key, cell: fn(&FleetSite) -> Cell| {
        field::by(head, key, move |row: &AdviceRow| match row {
            AdviceRow::Many(many) => cell(many),
            AdviceRow::One(_) => Cell::Missing,
        })
    };
    vec![
        column("hosts", "hosts", |site| Cell::Count(site.hosts)).where_room(),
        column("median host", "host_saved_bytes_median", |site| {
            Cell::SignedBytes(site.saved_bytes_at_peak_over_hosts.median)
        })
        .where_room(),
        column("95 % interval", "interval", |site| {
            Cell::Text(match &site.saved_bytes_at_peak_over_hosts.interval {
                Some(i) => format!("{} .. {}", signed(i.low as i64), signed(i.high as i64)),
                None => format!("under {HOSTS_FOR_INTERVAL} hosts"),
            })
        })
        .where_room(),
        column("p90", "host_saved_bytes_p90", |site| {
            Cell::SignedBytes(site.saved_bytes_at_peak_over_hosts.p90)
        })
        .on_page(),
        column("hosts worse", "hosts_worse", |site| {
            Cell::Count(site.saved_bytes_at_peak_over_hosts.negative)
        })
        .on_page(),
        column("traces", "traces", |site| Cell::Count(site.traces)).on_page(),
    ]
}
