//! Geometry is the kernel's own: for every cache under `/sys/kernel/slab`, object size, alignment
//! and flags give the kernel's `slab_size`, `order` and `objs_per_slab`.
//!
//! It always runs over the recorded tables, and over the running kernel where that may be read. To
//! record another machine, print the attributes named in the table's second line, tab separated.

use std::fs;

use slablab_kmem::geometry::{
    Arch, ORDER_MAX, calculate_order, min_objects, object_layout, objects_in,
};
use slablab_kmem::{CacheArgs, Ctor, Order, SlabFlags};

const COLUMNS: [&str; 14] = [
    "object_size",
    "align",
    "hwcache_align",
    "destroy_by_rcu",
    "reclaim_account",
    "cache_dma",
    "red_zone",
    "poison",
    "store_user",
    "usersize",
    "ctor",
    "slab_size",
    "order",
    "objs_per_slab",
];

/// Caches whose geometry cannot be computed from what sysfs tells, and why.
const EXPLAINED: [(&str, &str); 1] = [(
    "vm_area_struct",
    "keeps its free pointer inside (kmem_cache_args.freeptr_offset), which sysfs does not show",
)];

struct Row {
    name: String,
    values: [u32; COLUMNS.len()],
}

impl Row {
    fn get(&self, column: &str) -> u32 {
        let at = COLUMNS.iter().position(|c| *c == column).expect("a known column");
        self.values[at]
    }

    fn args(&self) -> CacheArgs {
        let mut args = CacheArgs::new(self.name.clone(), self.get("object_size"));
        args.align = self.get("align");
        for (column, flag) in [
            ("hwcache_align", SlabFlags::HWCACHE_ALIGN),
            ("destroy_by_rcu", SlabFlags::TYPESAFE_BY_RCU),
            ("reclaim_account", SlabFlags::RECLAIM_ACCOUNT),
            ("cache_dma", SlabFlags::CACHE_DMA),
            ("red_zone", SlabFlags::RED_ZONE),
            ("poison", SlabFlags::POISON),
            ("store_user", SlabFlags::STORE_USER),
        ] {
            if self.get(column) != 0 {
                args.flags |= flag;
            }
        }
        if self.get("ctor") != 0 {
            args.ctor = Some(Ctor { func: |_, _| {}, context: 0 });
        }
        args
    }
}

fn recorded(table: &str) -> Vec<Row> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let mut fields = line.split('\t');
            let name = fields.next().expect("a name").to_owned();
            let values = std::array::from_fn(|i| {
                let field = fields.next().unwrap_or_else(|| panic!("{name}: no {}", COLUMNS[i]));
                field.parse().unwrap_or_else(|_| panic!("{name}: {} is {field}", COLUMNS[i]))
            });
            Row { name, values }
        })
        .collect()
}

/// Reads the running kernel's caches; `None` where they may not be read.
fn live() -> Option<Vec<Row>> {
    let mut rows = Vec::new();
    for entry in fs::read_dir("/sys/kernel/slab").ok()? {
        let path = entry.ok()?.path();
        let read = |column: &str| fs::read_to_string(path.join(column)).ok();
        let values = COLUMNS.map(|column| match column {
            "ctor" => u32::from(read(column).is_some_and(|ctor| !ctor.trim().is_empty())),
            _ => read(column).and_then(|v| v.trim().parse().ok()).unwrap_or(0),
        });
        if values[0] == 0 {
            return None;
        }
        rows.push(Row { name: path.file_name()?.to_string_lossy().into_owned(), values });
    }
    (!rows.is_empty()).then_some(rows)
}

fn check(rows: &[Row], arch: Arch, cpus: u32) {
    let mut wrong = Vec::new();
    for row in rows {
        let layout = object_layout(arch, &row.args());
        let order =
            calculate_order(arch, layout.size, min_objects(cpus), ORDER_MAX).expect("an order");
        let pages = arch.order_in_pages(order);
        let ours = (layout.size, u32::from(pages.0), objects_in(order, layout.size));
        let kernel = (row.get("slab_size"), row.get("order"), row.get("objs_per_slab"));
        if ours != kernel {
            wrong.push((row.name.as_str(), format!("{}: ours {ours:?}, {kernel:?}", row.name)));
        }
    }
    let unexplained: Vec<_> =
        wrong.iter().filter(|(name, _)| !EXPLAINED.iter().any(|(n, _)| n == name)).collect();
    let agree = rows.len() - wrong.len();
    println!("{agree} of {} caches agree", rows.len());
    assert!(unexplained.is_empty(), "{unexplained:#?}");
    assert!(agree * 100 >= rows.len() * 98, "{agree} of {} agree: {wrong:#?}", rows.len());
}

#[test]
fn recorded_6_18() {
    let rows = recorded(include_str!("data/slab-6.18-2cpus.tsv"));
    assert!(rows.len() > 400);
    check(&rows, Arch::default(), 2);
}

#[test]
fn recorded_6_12_on_arm64_with_pages_of_16_kib() {
    let rows = recorded(include_str!("data/slab-6.12-arm64-16k-2cpus.tsv"));
    assert!(rows.len() > 250);
    check(&rows, Arch { page_order: Order(2), ..Arch::default() }, 2);
}

#[test]
fn recorded_6_12_on_armv7() {
    let rows = recorded(include_str!("data/slab-6.12-armmp-2cpus.tsv"));
    assert!(rows.len() > 200);
    check(&rows, Arch { word_bytes: 4, ..Arch::default() }, 2);
}

#[test]
fn recorded_6_12_on_riscv64() {
    let rows = recorded(include_str!("data/slab-6.12-riscv64-2cpus.tsv"));
    assert!(rows.len() > 200);
    check(&rows, Arch::default(), 2);
}

#[test]
fn running_kernel() {
    // Debug options on the command line change every size, which the flags in sysfs show. SLAB and
    // SLOB kernels have no such folder.
    let Some(rows) = live() else {
        println!("not run: /sys/kernel/slab cannot be read here (needs root and SLUB)");
        return;
    };
    let present = fs::read_to_string("/sys/devices/system/cpu/present").unwrap_or_default();
    let last = present.trim().rsplit(['-', ',']).next().and_then(|n| n.parse::<u32>().ok());
    check(&rows, Arch::default(), last.map_or(1, |n| n + 1));
}
