//! What was alive, by owner, stack, program or other groups, with flame graphs of it.

use serde::Serialize;
use slablab_replay::{Amount, AmountBounds, Group, Holdings, Labels, TraceFacts};
use slablab_report::{Cell, Document, Flame, Item, Section, Table, counted, field, human};

use super::trace::{facts, source};
use crate::output::{Answer, duration, upper_first};

/// What `slablab stat --by` answers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct GroupsAnswer {
    /// What the groups are made by
    pub(crate) by: Vec<String>,
    /// The moments, in the order of the numbers in each group
    pub(crate) moments: Vec<MomentLine>,
    pub(crate) groups: Vec<GroupLine>,
    /// The sum of all groups
    pub(crate) total: GroupLine,
    /// Allocations whose event has no stack: their call site stands for it
    pub(crate) allocs_without_stack: u64,
    /// Allocations whose stack lacks outer frames
    pub(crate) allocs_with_cut_stack: u64,
    /// One in this many objects was recorded; the numbers are those of all of them
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) one_in: Option<u32>,
    /// What a sample does not tell of what was freed
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) doubt: Option<String>,
    #[serde(skip)]
    pub(crate) view: GroupsView,
}

/// What people see beside the numbers.
#[derive(Debug)]
pub(crate) struct GroupsView {
    pub(crate) file: String,
    pub(crate) trace: Box<TraceFacts>,
    pub(crate) flames: Vec<Flame>,
    pub(crate) is_growth: bool,
    pub(crate) has_stacks: bool,
}

/// A moment.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct MomentLine {
    /// As it was asked for
    pub(crate) name: String,
    /// Since the beginning of the trace
    pub(crate) time_ns: u64,
}

/// A group.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct GroupLine {
    /// Its name, one for each of `by`
    pub(crate) names: Vec<String>,
    /// Of the stacks in it the one that has most: from the call site outwards
    pub(crate) stack: Vec<String>,
    pub(crate) allocs: u64,
    pub(crate) bytes_alloc: u64,
    pub(crate) bytes_req: u64,
    /// Least and most of `allocs` in 95 of 100 recordings, where a portion of the objects was recorded; `null` where it
    /// cannot be told: too few blocks of memory, objects larger than one, frees without events
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) allocs_interval: Option<Option<(u64, u64)>>,
    /// The same of `bytes_alloc`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes_alloc_interval: Option<Option<(u64, u64)>>,
    /// What was alive at each moment
    pub(crate) live: Vec<LiveLine>,
    /// Objects that were freed
    pub(crate) freed: u64,
    /// How long these lived on average; absent where none was freed
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lifetime_mean_ns: Option<u64>,
    pub(crate) allocs_per_second: f64,
}

/// What was alive at a moment.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct LiveLine {
    pub(crate) objects: u64,
    pub(crate) bytes: u64,
    pub(crate) bytes_req: u64,
    /// Bytes that are charged to a memory cgroup, as far as the recording tells
    pub(crate) bytes_charged: u64,
    /// Least and most of `objects` in 95 of 100 recordings, where a portion of the objects was recorded; `null` where it
    /// cannot be told: too few blocks of memory, objects larger than one, frees without events
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) objects_interval: Option<Option<(u64, u64)>>,
    /// The same of `bytes`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes_interval: Option<Option<(u64, u64)>>,
}

impl LiveLine {
    /// Makes it of an amount of the trace, of all objects that many `times`.
    fn new(amount: &Amount, times: u64, bounds: Option<AmountBounds>) -> Self {
        Self {
            objects: amount.objects.saturating_mul(times),
            bytes: amount.bytes.saturating_mul(times),
            bytes_req: amount.bytes_req.saturating_mul(times),
            bytes_charged: amount.bytes_charged.saturating_mul(times),
            objects_interval: bounds.map(|bounds| bounds.objects),
            bytes_interval: bounds.map(|bounds| bounds.bytes),
        }
    }
}

impl GroupLine {
    fn new(group: Group, times: u64, seconds: f64) -> Self {
        let bounds = group.bounds.as_ref();
        let allocated =
            LiveLine::new(&group.allocated, times, bounds.map(|bounds| bounds.allocated));
        let live = group.live.iter().enumerate().map(|(moment, amount)| {
            LiveLine::new(amount, times, bounds.map(|bounds| bounds.live[moment]))
        });
        Self {
            names: group.names,
            stack: group.stack,
            allocs: allocated.objects,
            bytes_alloc: allocated.bytes,
            bytes_req: allocated.bytes_req,
            allocs_interval: allocated.objects_interval,
            bytes_alloc_interval: allocated.bytes_interval,
            live: live.collect(),
            freed: group.ended.saturating_mul(times),
            lifetime_mean_ns: (group.ended > 0).then_some(group.lifetime_mean_ns),
            allocs_per_second: if seconds > 0.0 { allocated.objects as f64 / seconds } else { 0.0 },
        }
    }

    fn last(&self) -> LiveLine {
        self.live.last().copied().unwrap_or_default()
    }

    /// Returns by how many bytes it grew from the first moment to the last.
    fn growth(&self) -> i64 {
        let first = self.live.first().copied().unwrap_or_default();
        self.last().bytes as i64 - first.bytes as i64
    }

    fn waste(&self) -> u64 {
        self.last().bytes.saturating_sub(self.last().bytes_req)
    }
}

impl GroupsAnswer {
    /// Makes the answer of groups; the last moment is what it is about. `total` is the group of all holders.
    pub(crate) fn new(
        by: Vec<String>,
        moments: Vec<MomentLine>,
        (groups, total): (Vec<Group>, Vec<Group>),
        holdings: &Holdings,
        (one_in, doubt): (Option<u32>, Option<String>),
        view: GroupsView,
    ) -> Self {
        let times = u64::from(one_in.unwrap_or(1));
        let seconds = view.trace.duration_ns as f64 / 1e9;
        let line = |group: Group| GroupLine::new(group, times, seconds);
        let mut groups: Vec<_> = groups.into_iter().map(line).collect();
        groups.sort_by_key(|group| {
            let by = if view.is_growth { group.growth() } else { group.last().bytes as i64 };
            std::cmp::Reverse((by, group.bytes_alloc))
        });
        Self {
            by,
            moments,
            groups,
            total: total.into_iter().next().map(line).unwrap_or_default(),
            allocs_without_stack: holdings.without_stack.saturating_mul(times),
            allocs_with_cut_stack: holdings.cut_stacks.saturating_mul(times),
            one_in,
            doubt,
            view,
        }
    }

    fn sentences(&self) -> Vec<String> {
        let bytes = |n: u64| human(n as f64, "B");
        let what = self.by.join(" and ");
        let mut sentences = Vec::new();
        sentences.extend(self.one_in.map(|one_in| {
            let how = match self.has_intervals() {
                true => ", with 95 % intervals where these can be told",
                false => "",
            };
            format!(
                "The objects of 1 in {one_in} blocks of memory were recorded: the numbers are that many times theirs{how}."
            )
        }));
        let (when, last) = (self.moments.last(), self.total.last());
        let when = when.map_or_else(String::new, |moment| {
            format!(
                "{}, {} after the first event,",
                upper_first(&moment.name),
                duration(moment.time_ns)
            )
        });
        sentences.push(format!(
            "{when} {} of what the trace saw allocated were alive, in {}.",
            bytes(last.bytes),
            counted(last.objects, "object")
        ));
        sentences.extend(self.doubt.clone());
        if self.view.is_growth {
            let growth = self.total.growth();
            let words = if growth < 0 { "fewer" } else { "more" };
            sentences
                .push(format!("That is {} {words} than before.", bytes(growth.unsigned_abs())));
        }
        if let Some(most) = self.groups.first() {
            let share = 100.0 * most.last().bytes as f64 / last.bytes.max(1) as f64;
            // Of a stack its first frames tell who.
            let short = |name: &String| name.split(" < ").take(3).collect::<Vec<_>>().join(" < ");
            let names = most.names.iter().map(short).collect::<Vec<_>>().join(", ");
            sentences.push(format!("Most by {what}: {names} ({share:.0} %)."));
        }
        if self.view.has_stacks && self.allocs_without_stack + self.allocs_with_cut_stack > 0 {
            sentences.push(format!(
                "Without a stack: {}; with one whose outer frames are missing: {}.",
                counted(self.allocs_without_stack, "allocation"),
                counted(self.allocs_with_cut_stack, "allocation")
            ));
        }
        sentences
    }

    /// Returns whether least and most are told of any group.
    fn has_intervals(&self) -> bool {
        self.total.last().bytes_interval.is_some()
    }

    fn by_cgroup(&self) -> bool {
        self.by.iter().any(|by| by == "cgroup")
    }

    fn table(&self) -> Table {
        let mut fields = Vec::new();
        for (place, by) in self.by.iter().enumerate() {
            fields.push(field::text_by(by, by, move |line: &GroupLine| line.names[place].clone()));
        }
        let moments = self.moments.iter().enumerate().rev();
        for (place, moment) in moments {
            let key = format!("live_bytes_{place}");
            fields.push(field::by(&moment.name, &key, move |line: &GroupLine| {
                Cell::Bytes(line.live.get(place).map_or(0, |live| live.bytes))
            }));
            // What the answer is about comes first, with its interval.
            if self.has_intervals() && place + 1 == self.moments.len() {
                fields.extend([
                    field::cell("low", "live_bytes_low", |line: &GroupLine| {
                        bound(line, |(low, _)| low)
                    }),
                    field::cell("high", "live_bytes_high", |line: &GroupLine| {
                        bound(line, |(_, high)| high)
                    }),
                ]);
            }
        }
        if self.view.is_growth {
            fields.push(field::cell("growth", "growth_bytes", |line: &GroupLine| {
                Cell::SignedBytes(line.growth())
            }));
        }
        if self.by_cgroup() {
            fields.push(field::bytes("charged", "live_bytes_charged", |line: &GroupLine| {
                line.last().bytes_charged
            }));
        }
        fields.extend([
            field::count("objects", "live_objects", |line: &GroupLine| line.last().objects),
            field::bytes("waste", "live_waste_bytes", GroupLine::waste).where_room(),
            field::bytes("allocated", "bytes_alloc", |line: &GroupLine| line.bytes_alloc),
            field::count("allocs", "allocs", |line: &GroupLine| line.allocs).where_room(),
            field::cell("mean life", "lifetime_mean_ns", |line: &GroupLine| {
                line.lifetime_mean_ns.map_or(Cell::Missing, Cell::Ns)
            })
            .where_room(),
            field::cell("allocs/s", "allocs_per_second", |line: &GroupLine| {
                Cell::Number(line.allocs_per_second, 1)
            })
            .on_page(),
        ]);
        Table::of_fields(&self.groups, fields)
    }
}

/// What the columns of the table are.
const HOW: &str = "Objects and waste: of the first of these moments. Waste: bytes given and not asked for. Only what the trace \
                   saw allocated counts.";

/// Returns an end of the interval of the bytes at the last moment.
fn bound(line: &GroupLine, end: fn((u64, u64)) -> u64) -> Cell {
    line.last().bytes_interval.flatten().map_or(Cell::Missing, |of| Cell::Bytes(end(of)))
}

/// What one of the columns is that groups by cgroup have.
const CHARGED: &str = "Charged: what the kernel charges to the cgroup (slab in memory.stat), of objects that are accounted.";

impl Answer for GroupsAnswer {
    const SCHEMA: &'static str = "slablab.groups/1";

    fn document(&self) -> Document {
        let GroupsView { file, trace, flames, has_stacks, .. } = &self.view;
        let how = match self.by_cgroup() {
            true => format!("{HOW} {CHARGED}"),
            false => HOW.to_owned(),
        };
        let table = Item::table("", how, self.table());
        let flames = flames.iter().cloned().map(Item::Flame).collect();
        let mut notes = Vec::new();
        if !has_stacks {
            notes.push(
                "This trace has no call stacks (record --stacks makes some): a call site stands for its stack."
                    .to_owned(),
            );
        }
        Document {
            title: format!("What was alive in {file}"),
            question: format!("What was alive, by {}?", self.by.join(" and ")),
            answers: self.sentences(),
            sections: vec![
                Section::first("groups", "", vec![table]),
                Section::page("flame", "By call stack", flames),
            ],
            source: source(file, trace, None),
            notes,
            facts: facts(file, trace, None),
            ..Document::default()
        }
    }
}

/// Draws what was alive at the last moment, its waste, and what changed since the first.
pub(crate) fn flames(
    holdings: &Holdings,
    labels: &Labels<'_>,
    moments: &[MomentLine],
    times: u64,
    is_growth: bool,
) -> Vec<Flame> {
    let when = moments.last().map_or("", |moment| &moment.name);
    let how =
        "Callers above callees, the call site last; a frame is as wide as what was alive below it.";
    let mut live = Flame::new(format!("Bytes alive {when}"), "B", how);
    let mut waste = Flame::new(format!("Of these given and not asked for, {when}"), "B", how);
    let how = "Red grew, blue shrank; a frame is as wide as the more of both moments.";
    let mut growth = Flame::of_change("What changed between the two moments", "B", how);
    for holding in &holdings.holders {
        let mut stack = labels.frames(&holding.holder);
        stack.reverse();
        let (first, last) = (holding.live.first().copied(), holding.live.last().copied());
        let (first, last) = (first.unwrap_or_default(), last.unwrap_or_default());
        if last.bytes > 0 {
            live.add(&stack, last.bytes.saturating_mul(times));
            waste.add(&stack, last.waste().saturating_mul(times));
        }
        if is_growth && first.bytes + last.bytes > 0 {
            growth.add_change(
                &stack,
                first.bytes.saturating_mul(times),
                last.bytes.saturating_mul(times),
            );
        }
    }
    let all = [live, waste, growth];
    all.into_iter().filter(|flame| flame.weight() > 0).collect()
}
