//! What the rest of a machine sees of slabs: free blocks, what fails, what is stolen, and a map of page blocks.

use slablab_replay::{
    BlockFrame, PageFailure, PageMoment, PageReplay, RestOfMachine, SlabFallback, SlabsApart,
    StolenBySlabs, migrate_type, pages_of, unusable_share,
};
use slablab_report::{
    AxisScale, Cell, Item, Lines, Map, Maps, Plot, Point, Section, Series, Table, counted, field,
    human,
};

use crate::output::duration;

/// Bytes of a page of most machines, where a recording does not tell.
const PAGE_BYTES: u64 = 4 << 10;

/// The two sides of a change.
const BEFORE: &str = "as recorded";
const AFTER: &str = "changed";

/// Returns the bytes of a page.
fn page_bytes(replay: &PageReplay) -> u64 {
    if replay.page_bytes == 0 { PAGE_BYTES } else { replay.page_bytes }
}

/// Returns what is free in blocks of an order or of higher ones, in bytes.
fn free_from(replay: &PageReplay, order: u8) -> u64 {
    let Some(end) = replay.moments.last() else { return 0 };
    let small = end.free_blocks.get(..usize::from(order)).unwrap_or(&end.free_blocks);
    let pages = pages_of(&end.free_blocks).saturating_sub(pages_of(small));
    pages.saturating_mul(page_bytes(replay))
}

/// Says what a change does to the rest of the machine.
pub(crate) fn sentences(rest: &RestOfMachine) -> Vec<String> {
    let before = &rest.before;
    let Some(after) = &rest.after else { return Vec::new() };
    let order = before.block_order;
    let free = |of: &PageReplay| human(free_from(of, order) as f64, "B");
    let unusable = |of: &PageReplay| {
        let end = of.moments.last();
        let share = end.and_then(|end| unusable_share(&end.free_blocks, order));
        share.map_or("none is free".to_owned(), |share| format!("{:.1} %", 100.0 * share))
    };
    // Where page events were recorded, the machine begins with the slabs that the recorded one had.
    let left_alone = match rest.recorded {
        Some(_) => " For this, slabs from before the recording stay as they were.",
        None => "",
    };
    let blocks = format!(
        "The rest of the machine: at the end {} are free in blocks of order {order} or more instead of {}; unusable for \
         these is {} of what is free, instead of {}.{left_alone}",
        free(after),
        free(before),
        unusable(after),
        unusable(before)
    );
    let (fails, failed) = (first_failure(after), first_failure(before));
    let others = match fails == failed {
        true => format!("As with the recorded settings, {fails}."),
        false => format!("First to fail: {fails} (with the recorded settings: {failed})."),
    };
    let taken = match (stolen_count(before), stolen_count(after)) {
        (0, 0) => {
            "Slabs take no block of another migrate type, with the change or without.".to_owned()
        }
        (before, _) => {
            format!("Slabs take {}, instead of {before} with the recorded settings.", stolen(after))
        }
    };
    vec![blocks, others, taken]
}

/// Says which order found no block first, and for whom.
fn first_failure(of: &PageReplay) -> String {
    let whom = |cache: &str, program: &str| match (cache, program) {
        ("", "") => String::new(),
        ("", program) => format!(" for {program}"),
        (cache, _) => format!(" for a slab of {cache}"),
    };
    let failures = of
        .failures
        .iter()
        .map(|one: &PageFailure| (one.first_ns, one.order, whom(&one.cache, &one.program)));
    let slabs = of
        .slab_fallbacks
        .iter()
        .map(|one: &SlabFallback| (one.first_ns, one.order, whom(&one.cache, "")));
    match failures.chain(slabs).min() {
        Some((at_ns, order, whom)) => {
            format!("order {order}{whom} finds no free block after {}", duration(at_ns))
        }
        None => "each allocation finds a block".to_owned(),
    }
}

fn stolen_count(of: &PageReplay) -> u64 {
    of.stolen_by_slabs.iter().map(|one| one.count).sum()
}

/// Says how many blocks slabs took of other types, and which caches most.
fn stolen(of: &PageReplay) -> String {
    let count = counted(stolen_count(of), "block");
    match of.stolen_by_slabs.first() {
        Some(most) if !most.cache.is_empty() => {
            format!("{count} of other migrate types, most of them for {}", most.cache)
        }
        _ => format!("{count} of other migrate types"),
    }
}

/// Says how far the slabs of the replay are from those recorded.
pub(crate) fn truth(rest: &RestOfMachine) -> String {
    let Some(SlabsApart {
        recorded_pages_end, replayed_pages_end, off_share_median, slabs, ..
    }) = rest.apart
    else {
        return "The trace has no events of pages: only slabs move on this machine, and all else stays as it was told."
            .to_owned();
    };
    let bytes = |pages: u64| human(pages.saturating_mul(page_bytes(&rest.before)) as f64, "B");
    format!(
        "The replay's slabs have {} at the end where those recorded ({}) have {}; over time they are {:.1} % apart (median). \
         Slabs older than the recording stay as they were.",
        bytes(replayed_pages_end),
        counted(slabs, "slab"),
        bytes(recorded_pages_end),
        100.0 * off_share_median
    )
}

/// Makes the sections of a change.
pub(crate) fn sections(rest: &RestOfMachine) -> Vec<Section> {
    let sides: Vec<(&str, &PageReplay)> =
        [(BEFORE, Some(&rest.before)), (AFTER, rest.after.as_ref())]
            .into_iter()
            .filter_map(|(name, replay)| Some((name, replay?)))
            .collect();
    let Some(after) = &rest.after else { return Vec::new() };
    let method = format!(
        "The page events of everybody else were done again by the rules of {}, with the slabs of {} in place of those \
         recorded. {}",
        rest.before.rules,
        rest.allocator,
        truth(rest)
    );
    let how = "At the end. Unusable: the share of free memory in blocks of lower orders.";
    let over_time = format!("Unusable: for blocks of order {}.", rest.before.block_order);
    vec![
        Section::named(
            "pages",
            "Free blocks with the change",
            vec![Item::table("", how, orders(rest, after))],
        )
        .with_method(method),
        Section::named(
            "page-moments",
            "Free memory over time with the change",
            vec![Item::table("", over_time, moments(&rest.before, after))],
        ),
        Section::named("page-slabs", "Slabs on the page allocator", slab_tables(&sides)),
        Section::page("page-map", "Who has the page blocks", plots(&sides)),
    ]
}

/// A moment before and after.
type Pair<'a> = (&'a PageMoment, &'a PageMoment);

/// An order before and after.
struct OrderLine {
    order: u8,
    recorded: Option<u64>,
    before: u64,
    after: u64,
    unusable: (Option<f64>, Option<f64>),
}

fn orders(rest: &RestOfMachine, after: &PageReplay) -> Table {
    let end = |of: &PageReplay| of.moments.last().map_or(Vec::new(), |end| end.free_blocks.clone());
    let (before, after) = (end(&rest.before), end(after));
    let recorded = rest.recorded.as_ref().and_then(|of| of.moments.last()?.recorded_blocks.clone());
    let count = |blocks: &[u64], order: u8| blocks.get(usize::from(order)).copied();
    let line = |order: u8| OrderLine {
        order,
        recorded: recorded.as_ref().and_then(|blocks| count(blocks, order)),
        before: count(&before, order).unwrap_or(0),
        after: count(&after, order).unwrap_or(0),
        unusable: (unusable_share(&before, order), unusable_share(&after, order)),
    };
    let lines: Vec<OrderLine> = (0..before.len().max(after.len()) as u8).map(line).collect();
    let share = |share: Option<f64>| share.map_or(Cell::Missing, Cell::Share);
    let page_bytes = page_bytes(&rest.before);
    Table::of_fields(
        &lines,
        vec![
            field::count("order", "order", |line: &OrderLine| line.order.into()),
            field::by("block", "block_bytes", move |line: &OrderLine| {
                Cell::Bytes(page_bytes << line.order)
            })
            .where_room(),
            field::cell("recorded", "recorded_blocks", |line: &OrderLine| {
                line.recorded.map_or(Cell::Missing, Cell::Count)
            })
            .where_room(),
            field::count("before", "free_blocks_before", |line: &OrderLine| line.before),
            field::count("after", "free_blocks_after", |line: &OrderLine| line.after),
            field::cell("difference", "free_blocks_difference", |line: &OrderLine| {
                Cell::CountChange(line.before, line.after)
            }),
            field::by("unusable", "unusable_share_before", move |line: &OrderLine| {
                share(line.unusable.0)
            }),
            field::by("after", "unusable_share_after", move |line: &OrderLine| {
                share(line.unusable.1)
            }),
        ],
    )
}

fn moments(before: &PageReplay, after: &PageReplay) -> Table {
    let pairs: Vec<Pair<'_>> = before.moments.iter().zip(&after.moments).collect();
    let (page_bytes, order) = (page_bytes(before), before.block_order);
    let bytes = move |pages: u64| Cell::Bytes(pages.saturating_mul(page_bytes));
    let unusable = move |of: &PageMoment| {
        unusable_share(&of.free_blocks, order).map_or(Cell::Missing, Cell::Share)
    };
    let slabs = move |of: &PageMoment| of.slab_pages.map_or(Cell::Missing, bytes);
    Table::of_fields(
        &pairs,
        vec![
            field::ns("time", "time_ns", |pair: &Pair<'_>| pair.0.time_ns),
            field::by("free", "free_bytes_before", move |pair: &Pair<'_>| {
                bytes(pages_of(&pair.0.free_blocks))
            }),
            field::by("after", "free_bytes_after", move |pair: &Pair<'_>| {
                bytes(pages_of(&pair.1.free_blocks))
            }),
            field::by("unusable", "unusable_share_before", move |pair: &Pair<'_>| unusable(pair.0)),
            field::by("after", "unusable_share_after", move |pair: &Pair<'_>| unusable(pair.1)),
            field::by("slabs", "slab_bytes_before", move |pair: &Pair<'_>| slabs(pair.0)),
            field::by("after", "slab_bytes_after", move |pair: &Pair<'_>| slabs(pair.1)),
        ],
    )
}

/// Makes the tables of what slabs took of others, and of what they did not find.
pub(crate) fn slab_tables(sides: &[(&str, &PageReplay)]) -> Vec<Item> {
    let mut items = Vec::new();
    for (name, replay) in sides {
        let stolen = [
            field::name("cache", "cache", |one: &StolenBySlabs| &one.cache),
            field::name("asked for", "migrate_type", |one: &StolenBySlabs| &one.migrate_type),
            field::name("taken of", "fallback_type", |one: &StolenBySlabs| &one.fallback_type),
            field::count("blocks", "count", |one: &StolenBySlabs| one.count),
        ];
        let small = [
            field::name("cache", "cache", |one: &SlabFallback| &one.cache),
            field::count("order", "order", |one: &SlabFallback| one.order.into()),
            field::count("instead", "order_min", |one: &SlabFallback| one.order_min.into()),
            field::ns("first", "first_ns", |one: &SlabFallback| one.first_ns),
            field::count("slabs", "count", |one: &SlabFallback| one.count),
        ];
        items.push(Item::table(
            format!("Blocks of other types taken for slabs, {name}"),
            "",
            Table::of(&replay.stolen_by_slabs, stolen),
        ));
        items.push(Item::table(
            format!("Slabs that got smaller blocks, {name}"),
            "",
            Table::of(&replay.slab_fallbacks, small),
        ));
    }
    items
}

/// Draws fragmentation by order over time, and who has the page blocks at a few moments.
pub(crate) fn plots(sides: &[(&str, &PageReplay)]) -> Vec<Item> {
    let owners = |frame: &BlockFrame| -> Vec<(String, f64)> {
        frame.cells.iter().map(|cell| (cell.owner.name().to_owned(), cell.share)).collect()
    };
    let types = |frame: &BlockFrame| -> Vec<(String, f64)> {
        frame.cells.iter().map(|cell| (migrate_type(cell.migrate_type, None), 1.0)).collect()
    };
    let how = "A cell is as many page blocks as fit its bytes, and has the colour of who has most of it: pale where that is \
               less than 60 %. Slabs older than the recording count as others'.";
    [
        Some(fragmentation(sides)),
        maps(sides, "Owners of page blocks", how, owners),
        maps(sides, "Migrate types of page blocks", "Of several blocks the commonest type.", types),
    ]
    .into_iter()
    .flatten()
    .map(Item::Plot)
    .collect()
}

fn fragmentation(sides: &[(&str, &PageReplay)]) -> Plot {
    let mut series = Vec::new();
    for (name, replay) in sides {
        let block = replay.block_order;
        for order in [3, (3 + block) / 2, block] {
            let point = |moment: &PageMoment| {
                let y = 100.0 * unusable_share(&moment.free_blocks, order)?;
                Some(Point { x: moment.time_ns as f64 / 1e9, y, spread: None })
            };
            let points: Vec<Point> = replay.moments.iter().filter_map(point).collect();
            let name = if sides.len() > 1 {
                format!("order {order}, {name}")
            } else {
                format!("order {order}")
            };
            series.push(Series { name, points });
        }
    }
    let how =
        "The share of free memory in blocks of lower orders (the index of unusable free space).";
    let kind = Lines {
        x: ("time".to_owned(), "s".to_owned()),
        y: ("unusable of free memory".to_owned(), "%".to_owned()),
        x_scale: AxisScale::FromZero,
        y_scale: AxisScale::FromZero,
        series,
    };
    Plot::new("Fragmentation by order", how, kind)
}

fn maps(
    sides: &[(&str, &PageReplay)],
    title: &str,
    how: &str,
    cells: impl Fn(&BlockFrame) -> Vec<(String, f64)>,
) -> Option<Plot> {
    let (_, first) = sides.first()?;
    let blocks = first.frames.first()?.blocks;
    let cell_bytes = (blocks << first.block_order).saturating_mul(page_bytes(first));
    let mut maps = Vec::new();
    for (place, frame) in first.frames.iter().enumerate() {
        for (name, replay) in sides {
            let frame_of = replay.frames.get(place).unwrap_or(frame);
            let at = duration(frame.time_ns);
            let name = if sides.len() > 1 { format!("{at}, {name}") } else { at };
            maps.push(Map { name, cells: cells(frame_of) });
        }
    }
    let how = format!("{how} A cell has {}.", human(cell_bytes as f64, "B"));
    Some(Plot::new(title, how, Maps { label: "moment".to_owned(), cell_bytes, maps }))
}
