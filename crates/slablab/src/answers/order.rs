//! Whether a driver's block of pages can be had, over a recording, and which function to call.

use serde::Serialize;
use slablab_replay::{OrderCall, OrderMoment, OrderRoom, TraceFacts};
use slablab_report::{
    AxisScale, Cell, Document, Item, Lines, Plot, Point, Section, Series, Table, counted, field,
};

use super::trace::{facts, source};
use crate::output::{Answer, bytes, duration};

/// A recording that is shorter says nothing of a week.
const LONG_NS: u64 = 86_400 * 1_000_000_000;

/// What `slablab fit --order` answers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct OrderAnswer {
    pub(crate) file: String,
    /// The file whose free lists the machine begins with; absent where they are those recorded
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) aged: Option<String>,
    #[serde(flatten)]
    pub(crate) room: OrderRoom,
    /// What was replayed
    pub(crate) trace: TraceFacts,
}

impl Answer for OrderAnswer {
    const SCHEMA: &'static str = "slablab.order/1";

    fn document(&self) -> Document {
        let Self { file, room, trace, .. } = self;
        let block = bytes(room.block_bytes);
        let how = "At once: before the kernel has to wait for reclaim or compaction. Contiguous: also for a device.";
        let over_time = format!(
            "Blocks of {block} that could be had one after the other, and single pages if none of them is taken. Recorded: all \
             that lay in the kernel's free lists, those below watermarks among them."
        );
        let plot = Plot::new(format!("Blocks of {block} over time"), &over_time, self.lines());
        Document {
            title: format!("Blocks of {block}: {file}"),
            question: format!("Can a block of {block} be had, and what is to be called?"),
            answers: [self.verdict(), self.fewest(), self.advice()]
                .into_iter()
                .chain(self.lacks())
                .collect(),
            sections: vec![
                Section::first(
                    "calls",
                    "",
                    vec![Item::table("What gives so much memory", "", self.calls())],
                )
                .with_method(how),
                Section::named(
                    "moments",
                    "Over time",
                    vec![Item::table("", &over_time, self.moments())],
                ),
                Section::page("plot", "Over time", vec![plot.into()]),
            ],
            source: source(file, trace, None),
            notes: vec![self.truth()],
            facts: facts(file, trace, None),
            ..Document::default()
        }
    }
}

impl OrderAnswer {
    fn is_beyond(&self) -> bool {
        self.room.order > self.room.max_order
    }

    fn moments_len(&self) -> u64 {
        self.room.moments.len() as u64
    }

    /// Says whether a block can be had.
    fn verdict(&self) -> String {
        let OrderRoom { order, block_bytes, max_order, moments, .. } = &self.room;
        let block = bytes(*block_bytes);
        if self.is_beyond() {
            let largest = bytes(block_bytes >> (order - max_order));
            return format!(
                "No block of {block} (order {order}) exists on this machine: the page allocator's largest has {largest} \
                 (order {max_order})."
            );
        }
        let has = moments.iter().filter(|moment| moment.blocks > 0).count() as u64;
        let of = counted(self.moments_len(), "moment");
        match moments.iter().find(|moment| moment.blocks == 0) {
            None => {
                format!("A block of {block} (order {order}) could be had at once at each of {of}.")
            }
            Some(_) if has == 0 => format!(
                "A block of {block} (order {order}) could be had at once at none of {of}: an allocation waits for reclaim or \
                 compaction, or fails if it must not wait."
            ),
            Some(first) => format!(
                "A block of {block} (order {order}) could be had at once at {has} of {of}, and first not after {}: then an \
                 allocation waits for reclaim or compaction, or fails if it must not wait.",
                duration(first.time_ns)
            ),
        }
    }

    /// Says when fewest could be had, and how many at the end.
    fn fewest(&self) -> String {
        let (Some(least), Some(end)) = (self.room.least(), self.room.moments.last()) else {
            return "No moment was looked at.".to_owned();
        };
        if self.is_beyond() {
            return format!(
                "vmalloc needs {}; at the end {} could be had at once.",
                counted(1 << self.room.order, "single page"),
                counted(end.pages, "page")
            );
        }
        format!(
            "Fewest could be had after {}: {}. At the end it was {}, one after the other.",
            duration(least.time_ns),
            counted(least.blocks, "block"),
            counted(end.blocks, "block")
        )
    }

    /// Says what to call.
    fn advice(&self) -> String {
        let all = self.moments_len();
        let of = |name: &str| {
            self.room.calls.iter().find(|call| call.call == name).map_or(0, |call| call.moments)
        };
        if self.room.is_always_there() {
            return "Call kmalloc if the memory has to be contiguous, and kvmalloc if not: that also works on a machine that has \
                    no such block left."
                .to_owned();
        }
        let contiguous = match self.is_beyond() {
            true => "For a device that needs contiguous memory, reserve it at boot (CMA).",
            false => {
                "For a device that needs contiguous memory, allocate it when the driver is loaded and keep it, or reserve it \
                 at boot (CMA)."
            }
        };
        let call = match (of("vmalloc"), self.room.is_beyond_kvmalloc()) {
            // A call that cannot give it is none to advise.
            (0, _) => {
                let least = counted(1 << self.room.order, "page");
                return format!(
                    "Nothing that the kernel has can be called for it: {least} were free at none of {}. Ask for less, or in \
                     parts. {contiguous}",
                    counted(all, "moment")
                );
            }
            (had, true) => format!(
                "Call vmalloc, as kvmalloc refuses {} and more: {}.",
                bytes(1 << 31),
                self.pages_had(had)
            ),
            (had, false) => format!("Call kvmalloc: {}.", self.pages_had(had)),
        };
        format!("{call} {contiguous}")
    }

    /// Says at how many moments the pages for vmalloc could be had.
    fn pages_had(&self, had: u64) -> String {
        match self.moments_len() {
            all if had == all => "the pages for it could be had at each moment".to_owned(),
            all => format!("the pages for it could be had at {had} of {}", counted(all, "moment")),
        }
    }

    /// Says for how long nothing is known.
    fn lacks(&self) -> Option<String> {
        let length_ns = self.room.moments.last()?.time_ns;
        (length_ns < LONG_NS && self.aged.is_none()).then(|| {
            format!(
                "The recording has {}: what a week leaves of such blocks it cannot tell. Record for a day, or begin with the \
                 free lists of a machine that has run for long (--aged).",
                duration(length_ns)
            )
        })
    }

    /// Says what the answer rests on.
    fn truth(&self) -> String {
        if let Some(aged) = &self.aged {
            return format!(
                "The machine begins with the free lists of {aged}; only the trace's slabs move, and all else stays as it was \
                 told."
            );
        }
        let fit = self.room.fit.as_ref().map_or_else(
            || "The recording has no free blocks to compare with.".to_owned(),
            |fit| {
                format!(
                    "Free blocks of the model are {:.1} % off those recorded (median of {}).",
                    100.0 * fit.off_share_median,
                    counted(fit.moments, "moment")
                )
            },
        );
        match self.room.is_start_recorded {
            true => fit,
            false => format!(
                "{fit} It does not say what was free when it began: the machine began empty."
            ),
        }
    }

    fn calls(&self) -> Table {
        let all = self.moments_len();
        Table::of_fields(
            &self.room.calls,
            vec![
                field::name("function", "call", |call: &OrderCall| call.call),
                field::text("contiguous", "is_contiguous", |call: &OrderCall| {
                    if call.is_contiguous { "yes" } else { "no" }.to_owned()
                }),
                field::count("at once, moments", "moments", |call: &OrderCall| call.moments),
                field::by("of", "moments_all", move |_: &OrderCall| Cell::Count(all)),
            ],
        )
    }

    fn moments(&self) -> Table {
        Table::of_fields(
            &self.room.moments,
            vec![
                field::ns("time", "time_ns", |moment: &OrderMoment| moment.time_ns),
                field::count("blocks", "blocks", |moment: &OrderMoment| moment.blocks),
                field::count("single pages", "pages", |moment: &OrderMoment| moment.pages),
                field::cell("recorded blocks", "recorded_blocks", |moment: &OrderMoment| {
                    moment.recorded_blocks.map_or(Cell::Missing, Cell::Count)
                })
                .where_room(),
            ],
        )
    }

    fn lines(&self) -> Lines {
        let moments = &self.room.moments;
        let point = |moment: &OrderMoment, y: u64| Point {
            x: moment.time_ns as f64,
            y: y as f64,
            spread: None,
        };
        let had = moments.iter().map(|moment| point(moment, moment.blocks)).collect();
        let recorded: Vec<Point> = moments
            .iter()
            .filter_map(|moment| Some(point(moment, moment.recorded_blocks?)))
            .collect();
        let series = [("could be had", had), ("recorded, below watermarks too", recorded)];
        let series = series.into_iter().filter(|(_, points)| !points.is_empty());
        Lines {
            x: ("time in the trace".to_owned(), "ns".to_owned()),
            y: ("blocks".to_owned(), String::new()),
            x_scale: AxisScale::Linear,
            y_scale: AxisScale::FromZero,
            series: series.map(|(name, points)| Series { name: name.to_owned(), points }).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use slablab_trace::Meta;

    use super::*;

    /// kvmalloc was advised for 2 GiB, which it refuses, and where the pages for it could not be had at any moment.
    #[test]
    fn a_call_that_cannot_give_the_block_is_not_advised() {
        let advice = |order: u8, kvmalloc: u64, vmalloc: u64| {
            let call = |call, moments| OrderCall { call, is_contiguous: false, moments };
            let room = OrderRoom {
                order,
                block_bytes: 4096 << order,
                max_order: 10,
                moments: vec![OrderMoment::default(); 4],
                calls: vec![call("kvmalloc", kvmalloc), call("vmalloc", vmalloc)],
                ..OrderRoom::default()
            };
            let trace = TraceFacts::new(&Meta::default());
            OrderAnswer { file: String::new(), aged: None, room, trace }.advice()
        };
        assert!(
            advice(12, 4, 4).starts_with("Call kvmalloc: the pages for it could be had at each")
        );
        assert!(
            advice(18, 3, 3).starts_with("Call kvmalloc: the pages for it could be had at 3 of 4")
        );
        let vmalloc = advice(19, 0, 3);
        assert!(
            vmalloc.starts_with("Call vmalloc, as kvmalloc refuses 2.00 GiB and more"),
            "{vmalloc}"
        );
        let nothing = advice(12, 0, 0);
        assert!(
            nothing.starts_with("Nothing that the kernel has can be called for it"),
            "{nothing}"
        );
    }
}
