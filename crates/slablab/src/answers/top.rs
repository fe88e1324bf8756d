//! What the kernel's slabs did while `top` looked.

use serde::Serialize;
use slablab_report::{Cell, Document, Item, Section, Table, counted, field};
use slablab_trace::{LiveFrame, LiveRow};

use crate::cmd::top::view::{By, SortBy, View, events_lost_mean};
use crate::output::{Answer, bytes, thousands};

/// What `slablab top --once` says.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct TopAnswer {
    by: By,
    sort: SortBy,
    sources: String,
    seconds: f64,
    traced_seconds: f64,
    events_lost: u64,
    /// Whether all allocations were counted, so that rates are right even where events were lost.
    allocs_counted: bool,
    rows: Vec<LiveRow>,
}

impl TopAnswer {
    pub(crate) fn new(view: &View, frame: &LiveFrame, sources: String) -> Self {
        Self {
            by: view.by,
            sort: view.sort,
            sources,
            seconds: frame.elapsed.as_secs_f64(),
            traced_seconds: frame.traced.as_secs_f64(),
            events_lost: frame.lost,
            allocs_counted: frame.is_counted,
            rows: view.rows(frame).into_iter().cloned().collect(),
        }
    }

    /// Says what was lost, how much was allocated or is held, and what grows.
    fn sentences(&self) -> Vec<String> {
        if self.rows.is_empty() {
            return vec![
                "Nothing was allocated or measured, or no name has the text of --filter."
                    .to_owned(),
            ];
        }
        let mut sentences = Vec::new();
        if self.events_lost > 0 {
            let so = events_lost_mean(self.allocs_counted);
            sentences.push(format!("{} were lost: {so}.", counted(self.events_lost, "event")));
        }
        sentences.extend(self.unsorted());
        sentences.extend(self.rates());
        sentences.extend(self.levels());
        sentences.extend(self.growth());
        sentences
    }

    /// Says that the column to sort by has no values.
    fn unsorted(&self) -> Option<String> {
        let has_value = |row: &LiveRow| self.sort.cell(row) != Cell::Missing;
        let is_known = self.sort == SortBy::Name || self.rows.iter().any(has_value);
        let usual = self.by.usual_sort().head();
        (!is_known).then(|| {
            let (noun, head) = (self.by.noun(), self.sort.head());
            format!(
                "'{head}' is not known of any {noun} here: rows are sorted by {usual} and name."
            )
        })
    }

    fn rates(&self) -> Option<String> {
        let sum =
            |rate: fn(&LiveRow) -> Option<f64>| self.rows.iter().filter_map(rate).sum::<f64>();
        let rate = |row: &LiveRow| row.allocs_per_second.unwrap_or(0.0);
        let most = self.rows.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
        let share = rate(most) / sum(|row| row.allocs_per_second);
        let told = |name: &Option<String>| {
            name.as_deref().filter(|name| !name.is_empty()).map(str::to_owned)
        };
        let owner = told(&most.owner).map(|owner| format!(", most of them for {owner}"));
        let program = told(&most.program).map(|program| format!(", most in {program}"));
        (rate(most) > 0.0).then(|| {
            format!(
                "{} objects a second are allocated, {} a second; {} allocates {:.0} % of the objects{}{}.",
                thousands(sum(|row| row.allocs_per_second).round() as u64),
                bytes(sum(|row| row.bytes_per_second) as u64),
                most.name,
                share * 100.0,
                owner.unwrap_or_default(),
                program.unwrap_or_default()
            )
        })
    }

    fn levels(&self) -> Option<String> {
        let level = |row: &LiveRow| row.slab_bytes.or(row.live_bytes);
        let sum: u64 = self.rows.iter().filter_map(level).sum();
        let most = self.rows.iter().max_by_key(|row| level(row))?;
        let held = level(most)?;
        let what = if most.slab_bytes.is_some() { "slabs" } else { "live objects" };
        let count = self.rows.iter().filter(|row| level(row).is_some()).count() as u64;
        Some(format!(
            "{} have {} in {what}; {} has most, {}.",
            counted(count, self.by.noun()),
            bytes(sum),
            most.name,
            bytes(held)
        ))
    }

    fn growth(&self) -> Option<String> {
        let growing = self.rows.iter().filter(|row| row.grows_on);
        let names: Vec<_> = growing.map(|row| row.name.as_str()).collect();
        let first = names.first()?;
        Some(format!(
            "{} grew at each of the last ten looks, {first} among them: a possible leak, or a cache that is being \
             filled.",
            counted(names.len() as u64, self.by.noun())
        ))
    }

    fn table(&self) -> Table {
        let mut fields = vec![field::name(self.by.noun(), "name", |row: &LiveRow| &row.name)];
        for (at, number) in self.by.numbers().into_iter().enumerate() {
            let cell = move |row: &LiveRow| number.cell(row);
            let field = field::by(number.head(), number.key(), cell);
            let is_known = self.rows.iter().any(|row| number.cell(row) != Cell::Missing);
            let is_wanted = at < self.by.numbers_always() || number == self.sort;
            fields.push(match (is_known, is_wanted) {
                (true, true) => field,
                (true, false) => field.where_room(),
                (false, _) => field.as_data(),
            });
        }
        let share = |share: Option<f64>| share.map_or(Cell::Missing, Cell::Share);
        if self.rows.iter().any(|row| row.program.is_some()) {
            let program = |row: &LiveRow| row.program.clone().unwrap_or_default();
            fields.push(field::text("program", "program", program));
            fields.push(
                field::by("of it", "program_share", move |row: &LiveRow| share(row.program_share))
                    .on_page(),
            );
        }
        if self.rows.iter().any(|row| row.owner.is_some()) {
            let owner = |row: &LiveRow| row.owner.clone().unwrap_or_default();
            fields.push(field::text("owner", "owner", owner));
            fields.push(
                field::by("of it", "owner_share", move |row: &LiveRow| share(row.owner_share))
                    .on_page(),
            );
        }
        if self.rows.iter().any(|row| row.grows_on) {
            fields.push(field::text("grows on", "grows_on", |row| {
                if row.grows_on { "yes".to_owned() } else { String::new() }
            }));
        }
        fields.push(field::name(self.by.place(), "place", |row| &row.place));
        Table::of_fields(&self.rows, fields)
    }
}

impl Answer for TopAnswer {
    const SCHEMA: &'static str = "slablab.top/1";

    fn document(&self) -> Document {
        let noun = self.by.noun();
        let how =
            "Rates are those of the whole time; growth is that of live bytes since the first look.";
        let rows = Item::table(format!("By {noun}"), how, self.table());
        Document {
            title: format!("Slabs now, by {noun}"),
            question: format!("Which {noun} allocates and holds most now?"),
            answers: self.sentences(),
            sections: vec![Section::first(self.by.plural(), "", vec![rows])],
            source: format!("From {:.1} s of looking, by {}.", self.seconds, self.sources),
            ..Document::default()
        }
    }
}
