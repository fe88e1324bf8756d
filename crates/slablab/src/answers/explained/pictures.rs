//! The pictures of what a module did with memory: bytes over time, slabs, lives of objects, addresses.

use std::collections::{BTreeMap, BTreeSet};

use slablab_report::{
    AddressPanel, Addresses, AxisScale, Extent, Item, Lifetimes, Lines, Plot, Point, Section,
    Series, SlabRow, Slabs, Span,
};

use super::numbers::{Amounts, CacheLine, Explained, Kind, Object, bytes};

/// Call sites that have a colour; the others share one.
const SITES_MAX: usize = 7;
const OTHERS: &str = "other call sites";
/// Slabs in the picture of a moment.
const SLABS_MAX: usize = 12;
/// Caches whose objects' lives are drawn, and those whose addresses are.
const LIVES_MAX: usize = 6;
const PANELS_MAX: usize = 4;
/// Objects and places of a picture of lives.
const SPANS_MAX: usize = 250;
const PLACES_MAX: usize = 120;
/// Addresses of a panel.
const ADDRESSES_MAX: usize = 500;
/// Memory that lies in no slab is grouped by as many bytes.
const PAGE_BYTES: u64 = 4096;

/// How the pictures of lives are read.
const LIVES: &str = "Each bar is an object from its allocation to its free, at its address; what it takes and did not ask for is \
                     pale. Bars that follow each other at one address are an object that was handed out again. Lines are the \
                     beginnings of slabs, and gaps between slabs are left out.";

/// Makes the sections of the pictures; one without a value is empty.
pub(super) fn sections(explained: &Explained) -> Vec<Section> {
    let Some(pictures) = Pictures::new(explained) else { return Vec::new() };
    vec![
        Section::page("bytes", "Bytes over time", vec![pictures.bytes().into()]),
        Section::page("slabs", "Slabs at the peak", pictures.slabs()),
        Section::page("lives", "Objects over time, by address", pictures.lives()),
        Section::page("addresses", "Addresses in order of allocation", pictures.addresses()),
    ]
}

struct Pictures<'a> {
    explained: &'a Explained,
    /// The call sites that have a colour
    sites: BTreeSet<&'a str>,
    /// The caches, those with most objects first
    caches: Vec<usize>,
}

impl<'a> Pictures<'a> {
    fn new(explained: &'a Explained) -> Option<Self> {
        let objects = &explained.view.objects;
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for object in objects {
            *counts.entry(&object.site).or_default() += 1;
        }
        let mut by_count: Vec<_> = counts.into_iter().collect();
        by_count.sort_by_key(|&(site, count)| (std::cmp::Reverse(count), site));
        // One further name takes the place that the word for the others would take.
        let kept = if by_count.len() == SITES_MAX + 1 { SITES_MAX + 1 } else { SITES_MAX };
        let sites = by_count.iter().take(kept).map(|&(site, _)| site).collect();
        let mut caches: Vec<usize> = (0..explained.caches.len()).collect();
        caches.sort_by_key(|&at| std::cmp::Reverse(explained.caches[at].allocations));
        (!objects.is_empty()).then_some(Self { explained, sites, caches })
    }

    fn name(&self, object: &Object) -> String {
        if self.sites.contains(&*object.site) { object.site.clone() } else { OTHERS.to_owned() }
    }

    fn cache(&self, at: usize) -> &'a CacheLine {
        &self.explained.caches[at]
    }

    fn objects_of(&self, cache: usize) -> impl Iterator<Item = &'a Object> {
        self.explained.view.objects.iter().filter(move |object| object.cache == cache)
    }

    fn bytes(&self) -> Plot {
        let series = |name: &str, of: fn(&Amounts) -> u64| Series {
            name: name.to_owned(),
            points: self
                .explained
                .view
                .curve
                .iter()
                .map(|at| Point { x: at.operation as f64, y: of(at) as f64, spread: None })
                .collect(),
        };
        let lines = Lines {
            x: ("operation".to_owned(), String::new()),
            y: ("bytes".to_owned(), "B".to_owned()),
            x_scale: AxisScale::FromZero,
            y_scale: AxisScale::FromZero,
            series: vec![
                series("asked for", |at| at.asked_bytes),
                series("taken by objects", |at| at.held_bytes),
                series("slabs and pages with an object", |at| at.pages_bytes),
            ],
        };
        let stages = self.explained.view.stages.iter();
        let stages: Vec<_> = stages.map(|(at, what)| format!("{what} operation {at}")).collect();
        let stages =
            if stages.is_empty() { String::new() } else { format!(" {}.", stages.join("; ")) };
        let how = format!(
            "Each allocation and each free is an operation.{stages} Slabs that are empty, and which the allocator keeps, are not \
             in it."
        );
        Plot::new("Bytes asked for, taken, and in slabs", how, lines)
    }

    /// Draws the slabs at the moment when the drawn objects in slabs took most bytes.
    fn slabs(&self) -> Vec<Item> {
        let moment = self.fullest();
        let mut rows = Vec::new();
        let mut more = 0;
        for (at, cache) in self.explained.caches.iter().enumerate() {
            let mut slabs: BTreeMap<u64, Vec<&Object>> = BTreeMap::new();
            for object in self.objects_of(at).filter(|object| is_live(object, moment)) {
                if let Some(slab) = object.slab {
                    slabs.entry(slab).or_default().push(object);
                }
            }
            for (number, (slab, objects)) in slabs.into_iter().enumerate() {
                match rows.len() < SLABS_MAX {
                    true => rows.push(self.row(cache, number + 1, slab, &objects)),
                    false => more += 1,
                }
            }
        }
        if rows.is_empty() {
            return Vec::new();
        }
        let left_out =
            if more > 0 { format!(" {more} more are not drawn.") } else { String::new() };
        let how = format!(
            "After {moment} operations. An object is as long as what was asked for, and pale up to where the next one begins; a \
             frame is a free object. Slabs of a cache stand in the order of their addresses.{left_out}"
        );
        vec![
            Plot::new("Slabs and the call sites of their objects", how, Slabs { slabs: rows })
                .into(),
        ]
    }

    fn row(&self, cache: &CacheLine, number: usize, slab: u64, objects: &[&Object]) -> SlabRow {
        let (slot, slab_bytes) = (cache.slot_bytes.unwrap_or(0), cache.slab_bytes.unwrap_or(0));
        let places: Vec<_> =
            objects.iter().map(|object| (self.name(object), extent(object, slab))).collect();
        // Where the first object begins follows from any of them.
        let first = places.first().map_or(0, |(_, place)| place.start % slot.max(1));
        let taken: BTreeSet<u64> = places.iter().map(|(_, place)| place.start).collect();
        let free =
            |index: u64| Extent { start: first + index * slot, used_bytes: 0, room_bytes: slot };
        let free = (0..cache.objects_per_slab.unwrap_or(0)).map(free);
        SlabRow {
            name: format!("{} #{number}", cache.cache),
            bytes: slab_bytes,
            free: free.filter(|place| !taken.contains(&place.start)).collect(),
            objects: places,
        }
    }

    /// Returns after how many operations the drawn objects in slabs took most bytes.
    fn fullest(&self) -> u64 {
        let mut changes: BTreeMap<u64, i128> = BTreeMap::new();
        let objects = &self.explained.view.objects;
        for object in objects.iter().filter(|object| object.slab.is_some()) {
            *changes.entry(object.got + 1).or_default() += i128::from(object.held_bytes);
            if let Some(gave) = object.gave {
                *changes.entry(gave + 1).or_default() -= i128::from(object.held_bytes);
            }
        }
        let (mut held, mut most, mut at) = (0, 0, 0);
        for (operation, change) in changes {
            held += change;
            if held > most {
                (most, at) = (held, operation);
            }
        }
        at
    }

    fn lives(&self) -> Vec<Item> {
        let drawn = self.caches.iter().take(LIVES_MAX);
        let plots = drawn.filter_map(|&cache| self.lives_of(cache)).map(Item::from);
        std::iter::once(Item::Text(LIVES.to_owned())).chain(plots).collect()
    }

    fn lives_of(&self, at: usize) -> Option<Plot> {
        let cache = self.cache(at);
        let regions = Regions::of(self.objects_of(at), PLACES_MAX);
        let mut spans: Vec<Span> = Vec::new();
        let mut left_out = 0;
        for object in self.objects_of(at) {
            let Some(start) = regions.offset(object).filter(|_| spans.len() < SPANS_MAX) else {
                left_out += 1;
                continue;
            };
            let end = object.gave.unwrap_or(self.explained.operations);
            let place = Extent {
                start,
                used_bytes: object.asked_bytes.min(object.held_bytes),
                room_bytes: object.held_bytes,
            };
            let time = (object.got as f64, end as f64);
            spans.push(Span { name: self.name(object), time, place });
        }
        if spans.is_empty() {
            return None;
        }
        let how = match left_out {
            0 => String::new(),
            more => format!("{more} more objects are not drawn."),
        };
        let what = match (cache.kind, cache.slot_bytes) {
            (Kind::Other, _) | (_, None) => String::new(),
            (_, Some(slot)) => format!(", {} an object", bytes(slot)),
        };
        let title = format!("{}{what}", cache.cache);
        let time = ("operation".to_owned(), String::new());
        let end = self.explained.operations as f64;
        Some(Plot::new(title, how, Lifetimes { time, end, spans, borders: regions.borders() }))
    }

    fn addresses(&self) -> Vec<Item> {
        let with_slabs = self.caches.iter().filter(|&&at| self.cache(at).slot_bytes.is_some());
        let panels: Vec<AddressPanel> = with_slabs
            .take(PANELS_MAX)
            .map(|&at| {
                let objects: Vec<_> = self.objects_of(at).take(ADDRESSES_MAX).collect();
                let regions = Regions::of(objects.iter().copied(), usize::MAX);
                let addresses = objects.iter().filter_map(|object| regions.offset(object));
                AddressPanel { name: self.cache(at).cache.clone(), addresses: addresses.collect() }
            })
            .filter(|panel| panel.addresses.len() > 1)
            .collect();
        if panels.is_empty() {
            return Vec::new();
        }
        let how = "The panels have one scale: a steeper run has larger steps from object to object. A run that goes down again \
                   takes objects that were freed, the last one first. Gaps between slabs are left out.";
        vec![Plot::new("Where each allocation lies", how, Addresses { panels }).into()]
    }
}

fn is_live(object: &Object, operation: u64) -> bool {
    object.got < operation && object.gave.is_none_or(|gave| gave >= operation)
}

/// Returns where in a slab an object lies.
fn extent(object: &Object, slab: u64) -> Extent {
    Extent {
        start: object.address.saturating_sub(slab),
        used_bytes: object.asked_bytes.min(object.held_bytes),
        room_bytes: object.held_bytes,
    }
}

/// The slabs of some objects, side by side in the order of their addresses.
struct Regions {
    /// By its address: its end as far as it was used, and where it is drawn
    regions: BTreeMap<u64, (u64, u64)>,
}

impl Regions {
    /// Takes the first slabs, up to a number of places where objects lie, and at least one.
    fn of<'a>(objects: impl Iterator<Item = &'a Object>, places_max: usize) -> Self {
        let mut regions: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        let mut places: BTreeSet<u64> = BTreeSet::new();
        for object in objects {
            let start = Self::start(object);
            let end = object.address + object.held_bytes;
            let is_full = places.len() >= places_max && !places.contains(&object.address);
            if is_full && !regions.contains_key(&start) {
                continue;
            }
            places.insert(object.address);
            let region = regions.entry(start).or_default();
            region.0 = region.0.max(end);
        }
        let mut offset = 0;
        for (start, (end, drawn_at)) in &mut regions {
            *drawn_at = offset;
            offset += *end - start;
        }
        Self { regions }
    }

    fn start(object: &Object) -> u64 {
        let page = object.address & !(PAGE_BYTES - 1);
        object.slab.unwrap_or(page)
    }

    /// Returns where an object is drawn, if its slab is.
    fn offset(&self, object: &Object) -> Option<u64> {
        let start = Self::start(object);
        let (_, drawn_at) = self.regions.get(&start)?;
        Some(drawn_at + (object.address - start))
    }

    fn borders(&self) -> Vec<u64> {
        self.regions.values().map(|(_, drawn_at)| *drawn_at).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(address: u64, slab: Option<u64>, got: u64, gave: Option<u64>) -> Object {
        Object {
            cache: 0,
            address,
            slab,
            asked_bytes: 40,
            held_bytes: 64,
            site: "f".into(),
            got,
            gave,
        }
    }

    #[test]
    fn slabs_stand_side_by_side_and_what_was_not_used_is_left_out() {
        let objects = [
            object(0x9000, Some(0x8000), 0, None),
            object(0x1000, Some(0x1000), 1, None),
            object(0x1040, Some(0x1000), 2, None),
        ];
        let regions = Regions::of(objects.iter(), 10);
        assert_eq!(regions.borders(), [0, 0x80]);
        let offsets: Vec<_> = objects.iter().map(|object| regions.offset(object)).collect();
        assert_eq!(offsets, [Some(0x1080), Some(0), Some(0x40)]);
        let few = Regions::of(objects.iter(), 1);
        assert_eq!(few.offset(&objects[1]), None);
    }

    #[test]
    fn the_fullest_moment_lies_between_allocations_and_frees() {
        let objects = vec![
            object(0x1000, Some(0x1000), 0, Some(3)),
            object(0x1040, Some(0x1000), 1, Some(2)),
            object(0x1080, Some(0x1000), 4, None),
            object(0x8000, None, 5, None),
            object(0x9000, None, 6, None),
        ];
        let mut explained = Explained::default();
        explained.view.objects = objects;
        let pictures = Pictures::new(&explained).unwrap();
        assert_eq!(pictures.fullest(), 2);
        let live = |moment| explained.view.objects.iter().filter(|o| is_live(o, moment)).count();
        assert_eq!((live(2), live(3), live(5), live(7)), (2, 1, 1, 3));
    }
}
