//! What a module did with memory: caches, call sites, slabs, and what was handed out again.
//!
//! # How it works
//! `cmd/insmod/memory.rs` collects what the module's process tells, and gives numbers and objects here. The sentences are
//! what a terminal shows; the tables and pictures that prove them are on the page.

mod numbers;
mod pictures;
mod sentences;

use slablab_kmem::KmallocConfig;
use slablab_report::{Cell, Document, Fact, Item, Section, Table, field, thousands};

pub(crate) use numbers::{Amounts, CacheLine, Explained, Kind, Object, SiteLine, Size, View};

use crate::output::own_command;

impl Explained {
    /// Returns the document.
    pub(crate) fn document(&self) -> Document {
        let View { module, facts, notes, .. } = &self.view;
        let mut sections = vec![self.caches()];
        sections.extend(pictures::sections(self));
        sections.extend([self.sites(), self.left()]);
        let mut notes = notes.clone();
        if self.view.objects_more > 0 {
            notes.push(format!(
                "The pictures of objects show the first {} allocations; numbers and tables count all.",
                thousands(self.view.objects.len() as u64)
            ));
        }
        Document {
            title: format!("{module}: what it did with memory"),
            question: "Which caches did it use, how many bytes did its objects take, and which were handed out again?"
                .to_owned(),
            answers: self.sentences(),
            sections,
            notes,
            facts: facts.iter().map(|(name, value)| Fact::new(*name, value)).collect(),
            repeat: vec![own_command()],
            ..Document::default()
        }
    }

    fn caches(&self) -> Section {
        let number = |value: Option<u64>| value.map_or(Cell::Missing, Cell::Count);
        let size = |value: Option<u64>| value.map_or(Cell::Missing, Cell::Bytes);
        let fields = vec![
            field::name("cache", "cache", |line: &CacheLine| &line.cache),
            field::text("whose", "kind", CacheLine::kind),
            field::text("asked for", "asked", CacheLine::asked),
            field::by("takes", "slot_bytes", move |line: &CacheLine| size(line.slot_bytes)),
            field::by("slab", "slab_bytes", move |line: &CacheLine| size(line.slab_bytes)),
            field::by("objects a slab", "objects_per_slab", move |line: &CacheLine| {
                number(line.objects_per_slab)
            }),
            field::count("allocations", "allocations", |line| line.allocations),
            field::count("frees", "frees", |line| line.frees),
            field::count("most at once", "live_max", |line| line.live_max),
            field::bytes("asked then", "asked_bytes_max", |line| line.asked_bytes_max),
            field::bytes("taken then", "held_bytes_max", |line| line.held_bytes_max),
            field::count("slabs", "slabs_max", |line| line.slabs_max),
            field::count("after a free", "after_free", |line| line.after_free),
            field::count("got last freed", "got_last_freed", |line| line.got_last_freed),
            field::count("left", "left", |line| line.left),
        ];
        let how = "Takes: bytes from one object to the next. Most at once: objects at the cache's own peak, with the bytes that \
                   were asked for and taken then. Slabs: most slabs with an object at once. After a free: allocations by a CPU \
                   that had freed an object of its own in this cache, which was free; got last freed: those that got the \
                   last one.";
        let mut items = vec![Item::table("", how, Table::of_fields(&self.caches, fields))];
        if self.caches.iter().any(|cache| cache.kind == Kind::Kmalloc) {
            items.push(Item::Text(rounding()));
        }
        Section::page("caches", "What memory came from", items)
    }

    fn sites(&self) -> Section {
        let freed_by = |line: &SiteLine| line.freed_by.clone().unwrap_or_default();
        let fields = vec![
            field::name("call site", "site", |line: &SiteLine| &line.site),
            field::name("cache", "cache", |line| &line.cache),
            field::count("allocations", "allocations", |line| line.allocations),
            field::bytes("asked for", "asked_bytes", |line| line.asked_bytes),
            field::bytes("taken", "held_bytes", |line| line.held_bytes),
            field::count("most at once", "live_max", |line| line.live_max),
            field::text("mostly freed by", "freed_by", freed_by),
        ];
        let how = "Bytes are sums over all allocations of the call.";
        let table = Item::table("", how, Table::of_fields(&self.sites, fields));
        Section::page("sites", "Who allocated", vec![table])
    }

    fn left(&self) -> Section {
        let left: Vec<_> = self.sites.iter().filter(|site| site.left > 0).collect();
        let fields = vec![
            field::name("call site", "site", |line: &&SiteLine| &line.site),
            field::name("cache", "cache", |line| &line.cache),
            field::count("objects", "left", |line| line.left),
            field::bytes("asked for", "left_bytes", |line| line.left_bytes),
        ];
        let table = Item::table("", "", Table::of_fields(&left, fields));
        Section::page("left", "What is left at the end", vec![table])
    }
}

/// Says how sizes are rounded.
fn rounding() -> String {
    let sizes: Vec<_> = KmallocConfig::LINUX.iter().map(|size| size.to_string()).collect();
    format!(
        "kmalloc() takes an object of the smallest of its caches that has room: they have objects of {} bytes, and what is \
         larger takes whole pages. kmem_cache_create() rounds a size up to the alignment alone, which is 8 bytes unless the \
         module asks for more. So 40 bytes take 64 in kmalloc-64, and 40 in a cache of their own.",
        sizes.join(", ")
    )
}
