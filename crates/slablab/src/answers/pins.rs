//! Slabs by how full they are, and whose objects keep the sparse ones.

use serde::Serialize;
use slablab_replay::{CacheOccupancy, Occupancy, PinGroup, TraceFacts};
use slablab_report::{
    BarGroup, Bars, Cell, Document, Item, Plot, Section, Table, counted, field, human,
};

use super::trace::{facts, source};
use crate::output::{Answer, duration, upper_first};

/// The picture has as many caches as this.
const CACHES_DRAWN: usize = 12;

/// What `slablab stat --pins` answers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct PinsAnswer {
    /// The allocator under which the objects lie as they do
    pub(crate) allocator: String,
    /// What the groups are made by
    pub(crate) by: Vec<String>,
    /// Those that keep sparse slabs, by name and cache
    pub(crate) pins: Vec<PinLine>,
    /// The caches of whose objects the trace saw one that is alive
    pub(crate) caches: Vec<CacheLine>,
    /// Bytes of the sparse slabs without an object that is older than the trace
    pub(crate) bytes_free_if_gone: u64,
    /// Bytes of slabs of other caches
    pub(crate) unseen_slab_bytes: u64,
    #[serde(skip)]
    pub(crate) view: PinsView,
}

/// What people see beside the numbers.
#[derive(Debug)]
pub(crate) struct PinsView {
    pub(crate) file: String,
    pub(crate) trace: Box<TraceFacts>,
    /// The moment, by the trace's clock, and in words
    pub(crate) end_ns: u64,
    pub(crate) when: String,
    pub(crate) has_stacks: bool,
    pub(crate) remarks: Vec<String>,
}

/// Objects of one name and cache that keep sparse slabs.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct PinLine {
    /// Its name, one for each of `by`
    pub(crate) names: Vec<String>,
    pub(crate) cache: String,
    /// The stack of most of its objects: from the call site outwards
    pub(crate) stack: Vec<String>,
    /// Its objects in sparse slabs
    pub(crate) objects: u64,
    /// Sparse slabs with one of these
    pub(crate) slabs: u64,
    /// Of these, those that have no object of others
    pub(crate) slabs_alone: u64,
    /// Bytes of these, which come free if its objects go
    pub(crate) bytes_free_if_gone: u64,
    /// Bytes that come free if its objects in these lie side by side elsewhere
    pub(crate) bytes_free_if_moved: u64,
    /// Age of its oldest object in a sparse slab
    pub(crate) age_max_ns: u64,
    pub(crate) age_median_ns: u64,
}

/// How full the slabs of a cache are.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct CacheLine {
    pub(crate) cache: String,
    pub(crate) slab_bytes: u64,
    pub(crate) objects_per_slab: u64,
    /// Objects in use
    pub(crate) objects: u64,
    /// Of these, those that are older than the trace
    pub(crate) objects_older: u64,
    pub(crate) slabs: u64,
    /// Slabs without an object in use
    pub(crate) slabs_empty: u64,
    /// Slabs with up to a quarter in use
    pub(crate) slabs_to_quarter: u64,
    pub(crate) slabs_to_half: u64,
    pub(crate) slabs_to_three_quarters: u64,
    pub(crate) slabs_fuller: u64,
    /// Slabs that are sparse: up to a quarter in use, or one object of several
    pub(crate) slabs_sparse: u64,
    /// Slabs that would do for the objects
    pub(crate) slabs_dense: u64,
}

impl CacheLine {
    fn new(cache: &CacheOccupancy) -> Self {
        let [slabs_to_quarter, slabs_to_half, slabs_to_three_quarters, slabs_fuller] =
            cache.by_fill;
        Self {
            cache: cache.cache.clone(),
            slab_bytes: cache.slab_bytes,
            objects_per_slab: cache.objects_per_slab,
            objects: cache.objects,
            objects_older: cache.objects_older,
            slabs: cache.slabs,
            slabs_empty: cache.slabs_empty,
            slabs_to_quarter,
            slabs_to_half,
            slabs_to_three_quarters,
            slabs_fuller,
            slabs_sparse: cache.slabs_sparse,
            slabs_dense: cache.slabs_dense(),
        }
    }

    /// Returns the bytes of slabs that the objects would not need.
    fn spare_bytes(&self) -> u64 {
        self.slabs.saturating_sub(self.slabs_dense) * self.slab_bytes
    }

    fn bars(&self) -> BarGroup {
        let parts = [
            ("none in use", self.slabs_empty),
            ("up to 1/4", self.slabs_to_quarter),
            ("up to 1/2", self.slabs_to_half),
            ("up to 3/4", self.slabs_to_three_quarters),
            ("fuller", self.slabs_fuller),
        ];
        let bar = |(name, slabs): (&str, u64)| (name.to_owned(), (slabs * self.slab_bytes) as f64);
        BarGroup { name: self.cache.clone(), bars: parts.into_iter().map(bar).collect() }
    }
}

impl PinsAnswer {
    /// Makes the answer of groups of one kind.
    pub(crate) fn new(
        by: Vec<String>,
        occupancy: &Occupancy,
        groups: Vec<PinGroup>,
        view: PinsView,
    ) -> Self {
        let age = |time_ns: u64| view.end_ns.saturating_sub(time_ns);
        let line = |group: PinGroup| PinLine {
            names: group.names,
            cache: group.cache,
            stack: group.stack,
            objects: group.objects,
            slabs: group.slabs,
            slabs_alone: group.slabs_alone,
            bytes_free_if_gone: group.bytes_alone,
            bytes_free_if_moved: group.bytes_elsewhere,
            age_max_ns: age(group.time_oldest_ns),
            age_median_ns: age(group.time_median_ns),
        };
        let mut caches: Vec<_> = occupancy.caches.iter().map(CacheLine::new).collect();
        caches.sort_by(|a, b| {
            b.spare_bytes().cmp(&a.spare_bytes()).then_with(|| a.cache.cmp(&b.cache))
        });
        let of = |cache: u32| occupancy.caches[cache as usize].slab_bytes;
        let known = occupancy.sparse.iter().filter(|slab| slab.older == 0);
        Self {
            allocator: occupancy.allocator.clone(),
            by,
            pins: groups.into_iter().map(line).collect(),
            caches,
            bytes_free_if_gone: known.map(|slab| of(slab.cache)).sum(),
            unseen_slab_bytes: occupancy.unseen_slab_bytes,
            view,
        }
    }

    fn sentences(&self) -> Vec<String> {
        let bytes = |n: u64| human(n as f64, "B");
        let sum = |of: fn(&CacheLine) -> u64| self.caches.iter().map(of).sum::<u64>();
        let held = sum(|cache| cache.slabs * cache.slab_bytes);
        let dense = sum(|cache| cache.slabs_dense * cache.slab_bytes);
        let sparse = sum(|cache| cache.slabs_sparse);
        let sparse_bytes = sum(|cache| cache.slabs_sparse * cache.slab_bytes);
        let mut sentences = vec![format!(
            "{}, {} of {} hold {}; {} would do for the objects in use.",
            upper_first(&self.view.when),
            counted(sum(|cache| cache.slabs), "slab"),
            counted(self.caches.len() as u64, "cache"),
            bytes(held),
            bytes(dense)
        )];
        if sparse == 0 {
            sentences.push(
                "No slab is sparse: none is kept by a quarter of its objects or less.".to_owned(),
            );
            return sentences;
        }
        sentences.push(format!(
            "{} of {} {} sparse: at most a quarter of {} is in use.",
            counted(sparse, "slab"),
            bytes(sparse_bytes),
            if sparse == 1 { "is" } else { "are" },
            if sparse == 1 { "it" } else { "each" },
        ));
        let rest = match sparse_bytes > self.bytes_free_if_gone {
            true => "; the rest is kept by older ones too",
            false => "",
        };
        sentences.push(format!(
            "{} would come free if the objects went that the trace saw allocated there{rest}.",
            bytes(self.bytes_free_if_gone)
        ));
        if let Some(most) = self.pins.first().filter(|most| most.bytes_free_if_gone > 0) {
            let short = |name: &String| name.split(" < ").take(3).collect::<Vec<_>>().join(" < ");
            sentences.push(format!(
                "Most is kept by {}: {} in {} of {}, {}; the oldest is {} old.",
                most.names.iter().map(short).collect::<Vec<_>>().join(", "),
                counted(most.objects, "object"),
                counted(most.slabs, "slab"),
                most.cache,
                bytes(most.bytes_free_if_gone),
                duration(most.age_max_ns)
            ));
        }
        sentences
    }

    /// Says what sparse slabs hold at the end, if that is at least `bytes_min`.
    pub(super) fn note(&self, bytes_min: u64) -> Option<String> {
        let free = self.bytes_free_if_gone;
        (free >= bytes_min).then(|| {
            format!(
                "Sparse slabs hold {} at the end: --show pins says whose objects keep them.",
                human(free as f64, "B")
            )
        })
    }

    /// Returns who keeps sparse slabs, as a section of another answer.
    pub(super) fn section(&self) -> Section {
        let pins = Item::table("", HOW, self.pins_table());
        let title = "Whose objects keep sparse slabs at the end";
        Section::named("pins", title, vec![pins, self.picture().into()])
    }

    fn pins_table(&self) -> Table {
        let mut fields = Vec::new();
        for (place, by) in self.by.iter().enumerate() {
            fields.push(field::text_by(by, by, move |line: &PinLine| line.names[place].clone()));
        }
        if !self.by.iter().any(|by| by == "cache") {
            fields.push(field::name("cache", "cache", |line: &PinLine| &line.cache));
        }
        fields.extend([
            field::bytes("free if gone", "bytes_free_if_gone", |line: &PinLine| {
                line.bytes_free_if_gone
            }),
            field::bytes("if moved", "bytes_free_if_moved", |line: &PinLine| {
                line.bytes_free_if_moved
            })
            .where_room(),
            field::count("objects", "objects", |line: &PinLine| line.objects),
            field::count("slabs", "slabs", |line: &PinLine| line.slabs),
            field::count("alone", "slabs_alone", |line: &PinLine| line.slabs_alone).where_room(),
            field::ns("oldest", "age_max_ns", |line: &PinLine| line.age_max_ns),
            field::ns("median age", "age_median_ns", |line: &PinLine| line.age_median_ns)
                .where_room(),
        ]);
        Table::of_fields(&self.pins, fields)
    }

    fn caches_table(&self) -> Table {
        let share = |line: &CacheLine| {
            Cell::Share(line.objects as f64 / (line.slabs * line.objects_per_slab).max(1) as f64)
        };
        let fields = vec![
            field::name("cache", "cache", |line: &CacheLine| &line.cache),
            field::bytes("held", "held_bytes", |line: &CacheLine| line.slabs * line.slab_bytes),
            field::bytes("to spare", "spare_bytes", CacheLine::spare_bytes),
            field::cell("in use", "in_use_share", share),
            field::count("slabs", "slabs", |line: &CacheLine| line.slabs),
            field::count("empty", "slabs_empty", |line: &CacheLine| line.slabs_empty).where_room(),
            field::count("to 1/4", "slabs_to_quarter", |line: &CacheLine| line.slabs_to_quarter),
            field::count("to 1/2", "slabs_to_half", |line: &CacheLine| line.slabs_to_half)
                .where_room(),
            field::count("to 3/4", "slabs_to_three_quarters", |line: &CacheLine| {
                line.slabs_to_three_quarters
            })
            .where_room(),
            field::count("fuller", "slabs_fuller", |line: &CacheLine| line.slabs_fuller)
                .where_room(),
            field::count("older objects", "objects_older", |line: &CacheLine| line.objects_older)
                .on_page(),
            field::count("objects", "objects", |line: &CacheLine| line.objects).on_page(),
            field::count("per slab", "objects_per_slab", |line: &CacheLine| line.objects_per_slab)
                .on_page(),
        ];
        Table::of_fields(&self.caches, fields)
    }

    fn picture(&self) -> Plot {
        let bars = Bars {
            label: "cache".to_owned(),
            quantity: ("memory in slabs".to_owned(), "B".to_owned()),
            groups: self.caches.iter().take(CACHES_DRAWN).map(CacheLine::bars).collect(),
        };
        let how = "By the share of a slab's objects that is in use; the caches with most to spare.";
        Plot::new("How full slabs are", how, bars)
    }
}

/// What the columns of the first table are.
const HOW: &str = "Free if gone: bytes of sparse slabs in which all objects are of this row. If moved: the same, less what they \
                   need side by side.";

impl Answer for PinsAnswer {
    const SCHEMA: &'static str = "slablab.pins/1";

    fn document(&self) -> Document {
        let PinsView { file, trace, has_stacks, remarks, .. } = &self.view;
        let mut notes = remarks.clone();
        let guess = match self.caches.iter().any(|cache| cache.objects_older > 0) {
            true => " Where objects lie that are older than the trace is the model's guess.",
            false => "",
        };
        notes.push(format!(
            "The objects lie as in a replay under {}, whose slabs are those of the recorded kernel but for a few.{guess}",
            self.allocator
        ));
        if !has_stacks {
            notes.push(
                "This trace has no call stacks (record --stacks makes some): a call site stands for its stack."
                    .to_owned(),
            );
        }
        if self.unseen_slab_bytes > 0 {
            notes.push(format!(
                "Slabs of other caches, of whose objects the trace saw none, hold {}.",
                human(self.unseen_slab_bytes as f64, "B")
            ));
        }
        let pins = Item::table("", HOW, self.pins_table());
        let caches = Item::table("", "", self.caches_table());
        let picture = Section::page("fill", "How full slabs are", vec![self.picture().into()]);
        Document {
            title: format!("Who keeps sparse slabs in {file}"),
            question: format!("Whose objects keep sparse slabs, by {}?", self.by.join(" and ")),
            answers: self.sentences(),
            sections: vec![
                Section::first("pins", "", vec![pins]),
                Section::first("caches", "Caches by what they have to spare", vec![caches]),
                picture,
            ],
            source: source(file, trace, None),
            notes,
            facts: facts(file, trace, None),
            ..Document::default()
        }
    }
}
