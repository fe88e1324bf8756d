//! kmalloc's objects by Clang's tokens of their types: what is in each partition, what would level them, and which types
//! share one.

use serde::Serialize;
use slablab_replay::{
    Leveled, PartitionBy, PartitionCost, TokenPartition, TypeHeld, TypedPartitions,
};
use slablab_report::{Cell, Document, Fact, Item, Section, Table, counted, field, short};

use super::partition::all_bytes;
use super::trace::{facts, sampled, source};
use crate::output::Answer;

/// What `slablab partition --by typed:N` answers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct TypedAnswer {
    pub(crate) file: String,
    /// Where the types come from
    pub(crate) from: TypesFrom,
    /// The type that was asked for
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) with: Option<String>,
    /// The tokens beside every other way
    pub(crate) ways: Vec<Way>,
    #[serde(flatten)]
    pub(crate) cost: PartitionCost,
}

/// Where types come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum TypesFrom {
    /// The types of the variables that results are assigned to
    DebugInformation,
    /// What functions return and take, and sizes: the likeliest
    Btf,
}

/// What a way to keep objects apart costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct Way {
    /// The way
    pub(crate) way: String,
    /// Bytes held at the peak, with the structures of added caches; the median over seeds
    pub(crate) held_bytes_peak: u64,
    /// Bytes held at the end
    pub(crate) held_bytes_end: u64,
    /// Slabs, the most at once
    pub(crate) slabs_peak: u64,
    /// Caches beyond the recorded ones
    pub(crate) caches_added: u64,
}

impl Way {
    /// Returns no partition, the one that was asked for, and the others.
    pub(crate) fn of_all(asked: &PartitionCost, others: &[PartitionCost]) -> Vec<Self> {
        let none = Self {
            way: "none, as recorded".to_owned(),
            held_bytes_peak: all_bytes(&asked.recorded),
            held_bytes_end: asked.recorded.held_bytes.end,
            slabs_peak: asked.recorded.slabs.peak,
            caches_added: 0,
        };
        let way = |cost: &PartitionCost| Self {
            way: match cost.by {
                PartitionBy::Typed { tokens } => format!("typed:{tokens}"),
                PartitionBy::Random { copies } => format!("random:{copies}"),
                PartitionBy::Buckets => "buckets".to_owned(),
                PartitionBy::Site => "site".to_owned(),
                PartitionBy::Type => "type".to_owned(),
            },
            held_bytes_peak: cost.range(all_bytes).median,
            held_bytes_end: cost.range(|one| one.held_bytes.end).median,
            slabs_peak: cost.range(|one| one.slabs.peak).median,
            caches_added: cost.range(|one| one.caches_added).median,
        };
        std::iter::once(none).chain(std::iter::once(asked).chain(others).map(way)).collect()
    }
}

impl TypedAnswer {
    /// Returns what the partitions have.
    pub(crate) fn partitions(&self) -> &TypedPartitions {
        self.cost.divided.as_ref().expect("a partition by tokens has them")
    }

    /// Returns the type that was asked for, if the trace has it.
    pub(crate) fn asked(&self) -> Option<&TypeHeld> {
        self.partitions().named(self.with.as_deref()?)
    }
}

impl Answer for TypedAnswer {
    const SCHEMA: &'static str = "slablab.partition-typed/1";

    fn document(&self) -> Document {
        let Self { file, cost, .. } = self;
        let partitions = self.partitions();
        let mut facts = facts(file, &cost.trace, None);
        facts.push(Fact::new("allocator", &cost.allocator));
        let divided = Item::table("", "", table_of_partitions(&partitions.partitions));
        let how = "Objects, slabs and what they hold are each cache's most at once, added up; live bytes are means over time.";
        let first = match self.asked() {
            Some(one) => Section::first("shared", "", vec![table_of_sharing(partitions, one)]),
            None => Section::first("partitions", "", vec![divided.clone()]).with_method(how),
        };
        let mut sections = vec![first];
        if self.asked().is_some() {
            let title = "What each partition has";
            sections.push(Section::named("partitions", title, vec![divided]).with_method(how));
        }
        sections.extend([
            Section::named("ways", "Beside other ways", vec![table_of_ways(&self.ways)]),
            Section::named("levels", "What would level them", vec![table_of_levels(partitions)]),
            Section::named("moves", "Types to move", vec![table_of_moves(partitions)]),
            Section::named("types", "Types", vec![table_of_types(&partitions.types)]),
        ]);
        Document {
            title: format!("Objects of kmalloc by Clang's tokens, for the load of {file}"),
            question: "What is in each partition, and how even are they?".to_owned(),
            answers: self.sentences(),
            sections,
            source: source(file, &cost.trace, None),
            notes: sampled(&cost.trace).into_iter().chain(self.notes()).collect(),
            facts,
            ..Document::default()
        }
    }
}

impl TypedAnswer {
    fn sentences(&self) -> Vec<String> {
        match self.asked() {
            Some(one) => vec![sharing(self.partitions(), one), self.without_type()],
            // So few objects with a type do not tell the price of all.
            None if self.is_mostly_untyped() => {
                vec![self.without_type(), self.price(), self.skew(), self.leveling()]
            }
            None => vec![self.price(), self.skew(), self.leveling(), self.without_type()],
        }
    }

    /// Returns whether more than half of the bytes are of objects whose type is not known.
    fn is_mostly_untyped(&self) -> bool {
        self.partitions().untyped.bytes_mean > self.partitions().types_bytes
    }

    fn price(&self) -> String {
        let was = all_bytes(&self.cost.recorded);
        let now = self.cost.range(all_bytes).median;
        let more = (now as f64 / was.max(1) as f64 - 1.0) * 100.0;
        let random = self.ways.iter().find(|way| way.way.starts_with("random:"));
        let random = random.map_or_else(String::new, |way| {
            format!("; {} holds {}", way.way, bytes(way.held_bytes_peak))
        });
        format!(
            "{} holds {} at the peak instead of {}, {more:+.1} %{random}.",
            self.cost.allocator,
            bytes(now),
            bytes(was)
        )
    }

    fn skew(&self) -> String {
        let all = self.partitions();
        let Some(now) = all.levels.first().filter(|_| all.types_bytes > 0) else {
            return "No object of a known type lives long enough to have bytes on average."
                .to_owned();
        };
        format!(
            "Of {} that have a type, the fullest of {} partitions has {}: {:.1} times an even share, and {:.1} is the least.",
            bytes(all.types_bytes),
            now.tokens,
            bytes(now.most_bytes),
            now.skew,
            all.skew_least
        )
    }

    /// Says what would level the partitions, if anything does.
    fn leveling(&self) -> String {
        let all = &self.partitions().levels;
        let Some((now, others)) = all.split_first() else { return String::new() };
        let better: Vec<_> = others.iter().filter(|one| one.skew < now.skew - 0.05).collect();
        let same = better.iter().filter(|one| one.tokens == now.tokens);
        let fewer = better.iter().filter(|one| one.tokens != now.tokens);
        let fewer = fewer.min_by(|a, b| a.skew.total_cmp(&b.skew));
        let said: Vec<_> = same.chain(fewer).map(|one| level(one)).collect();
        match said.is_empty() {
            true => "No salt, other number or move of a type levels them.".to_owned(),
            false => format!("What levels them: {}.", said.join("; ")),
        }
    }

    fn without_type(&self) -> String {
        let untyped = self.partitions().untyped;
        if untyped.allocs == 0 {
            return "The type of every object is known.".to_owned();
        }
        let all = self.partitions().types_bytes + untyped.bytes_mean;
        format!(
            "{} ({:.0} % of the live bytes) have no known type: partition 0 has them, as Clang does with a call without one.",
            counted(untyped.sites, "call site"),
            untyped.bytes_mean as f64 * 100.0 / all.max(1) as f64
        )
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![match self.from {
            TypesFrom::DebugInformation => {
                "A type is that of the variable that gets the object; Clang looks at sizeof in the call first.".to_owned()
            }
            TypesFrom::Btf => {
                "Types are guesses by BTF: a structure of the right size that the function returns or takes. Debug \
                 information (--vmlinux FILE) tells them."
                    .to_owned()
            }
        }];
        let open = self.partitions().untyped.sites_open;
        if open > 0 {
            notes.push(format!(
                "The type of {} is known by name only: it is declared elsewhere, or Clang may print it in another way.",
                counted(open, "call site")
            ));
        }
        notes
    }
}

fn bytes(n: u64) -> String {
    short(n as f64, "B")
}

/// Names a change that levels partitions, and the skew that it leads to.
fn level(one: &Leveled) -> String {
    let how = match (one.salt, one.moves.as_slice()) {
        (Some(salt), _) => format!("the salt {salt}"),
        (None, []) => format!("typed:{}", one.tokens),
        (None, [first]) => format!("moving {}", first.name),
        (None, [first, others @ ..]) => {
            format!("moving {} and {}", first.name, counted(others.len() as u64, "other type"))
        }
    };
    format!("{how} ({:.1})", one.skew)
}

/// Says with what a type shares its partition.
fn sharing(all: &TypedPartitions, one: &TypeHeld) -> String {
    let others: Vec<&TypeHeld> = all.sharing(one).filter(|other| *other != one).collect();
    let in_slabs = others.iter().filter(|other| one.shares_slabs(other)).count();
    format!(
        "{} ({}) is in partition {} with {}, {} of them in the same slabs{}.",
        one.name,
        if one.has_pointers { "with pointers" } else { "without pointers" },
        one.partition,
        counted(others.len() as u64, "other type"),
        in_slabs,
        if one.partition == 0 { ", and with all that has no type" } else { "" }
    )
}

fn pointers(has_pointers: bool) -> &'static str {
    if has_pointers { "yes" } else { "no" }
}

fn table_of_partitions(all: &[TokenPartition]) -> Table {
    Table::of(
        all,
        [
            field::text("partition", "partition", |row: &TokenPartition| {
                format!("{:02}", row.partition)
            }),
            field::text("pointers", "has_pointers", |row: &TokenPartition| {
                pointers(row.has_pointers).to_owned()
            }),
            field::count("types", "types", |row: &TokenPartition| row.types),
            field::count("sites", "sites", |row: &TokenPartition| row.sites).where_room(),
            field::count("allocations", "allocs", |row: &TokenPartition| row.allocs).on_page(),
            field::count("objects", "objects_peak", |row: &TokenPartition| row.objects_peak),
            field::count("objects, end", "objects_end", |row: &TokenPartition| row.objects_end)
                .on_page(),
            field::bytes("live, mean", "bytes_mean", |row: &TokenPartition| row.bytes_mean),
            field::count("slabs", "slabs_peak", |row: &TokenPartition| row.slabs_peak),
            field::count("slabs, end", "slabs_end", |row: &TokenPartition| row.slabs_end).on_page(),
            field::bytes("held", "held_bytes_peak", |row: &TokenPartition| row.held_bytes_peak),
            field::bytes("held, end", "held_bytes_end", |row: &TokenPartition| row.held_bytes_end)
                .on_page(),
        ],
    )
}

fn classes(one: &TypeHeld) -> String {
    one.classes.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

fn table_of_sharing(all: &TypedPartitions, one: &TypeHeld) -> Item {
    let others: Vec<&TypeHeld> = all.sharing(one).filter(|other| *other != one).collect();
    let fields = vec![
        field::text("type", "type", |row: &&TypeHeld| row.name.clone()),
        field::text_by("slabs", "shares_slabs", |row: &&TypeHeld| {
            if one.shares_slabs(row) { "shared" } else { "apart" }.to_owned()
        }),
        field::text("classes", "classes", |row| classes(row)),
        field::count("sites", "sites", |row| row.sites),
        field::count("allocations", "allocs", |row| row.allocs),
        field::bytes("live, mean", "bytes_mean", |row| row.bytes_mean),
    ];
    Item::table("", "", Table::of_fields(&others, fields))
}

fn table_of_types(all: &[TypeHeld]) -> Item {
    let fields = [
        field::text("type", "type", |row: &TypeHeld| row.name.clone()),
        field::text("hashed name", "canonical", |row: &TypeHeld| row.canonical.clone()).on_page(),
        field::text("partition", "partition", |row: &TypeHeld| format!("{:02}", row.partition)),
        field::text("pointers", "has_pointers", |row: &TypeHeld| {
            pointers(row.has_pointers).to_owned()
        }),
        field::text("classes", "classes", classes),
        field::count("sites", "sites", |row: &TypeHeld| row.sites),
        field::count("allocations", "allocs", |row: &TypeHeld| row.allocs),
        field::count("objects, end", "objects_end", |row: &TypeHeld| row.objects_end).where_room(),
        field::bytes("live, mean", "bytes_mean", |row: &TypeHeld| row.bytes_mean),
    ];
    Item::table("", "", Table::of(all, fields))
}

fn table_of_ways(all: &[Way]) -> Item {
    let fields = [
        field::text("kept apart by", "way", |row: &Way| row.way.clone()),
        field::bytes("held, peak", "held_bytes_peak", |row: &Way| row.held_bytes_peak),
        field::bytes("held, end", "held_bytes_end", |row: &Way| row.held_bytes_end),
        field::count("slabs", "slabs_peak", |row: &Way| row.slabs_peak),
        field::count("more caches", "caches_added", |row: &Way| row.caches_added),
    ];
    let how = "The structures of added caches count at the peak.";
    Item::table("", how, Table::of(all, fields))
}

fn table_of_levels(all: &TypedPartitions) -> Item {
    let change = |row: &Leveled| match (row.salt, row.moves.len()) {
        (Some(salt), _) => format!("salt {salt}"),
        (None, 0) => "tokens".to_owned(),
        (None, moves) => counted(moves as u64, "move"),
    };
    let fields = [
        field::text("change", "change", change),
        field::count("partitions", "tokens", |row: &Leveled| row.tokens.into()),
        field::bytes("fullest", "most_bytes", |row| row.most_bytes),
        field::cell("of an even share", "skew", |row| Cell::Number(row.skew, 2)),
        field::count("types, most", "most_types", |row| row.most_types),
    ];
    let how = "A salt is added to each name as #NUMBER before it is hashed: Clang has no option for it. Objects without a type \
               count in none of these.";
    Item::table("", how, Table::of(&all.levels, fields))
}

fn table_of_moves(all: &TypedPartitions) -> Item {
    let moves: Vec<_> = all.levels.iter().flat_map(|one| &one.moves).collect();
    let fields = vec![
        field::text("type", "type", |row: &&slablab_replay::Moved| row.name.clone()),
        field::text("from", "from", |row| format!("{:02}", row.from)),
        field::text("to", "to", |row| format!("{:02}", row.to)),
    ];
    Item::table("", "", Table::of_fields(&moves, fields))
}
