//! A moment as OpenMetrics: a gauge for each number of a cache, of the machine, of a call site and of a cgroup.
//!
//! Source: OpenMetrics 1.0, <https://prometheus.io/docs/specs/om/open_metrics_spec/>.

use std::fmt::Write;

use anyhow::{Context, Result};
use slablab_snapshot::{Entry, Kind, Machine, Paste, Table};

/// A gauge of a table: its name, what it is, its label, and where its number is.
type Gauge = (&'static str, &'static str, &'static str, fn(&Entry) -> Option<u64>);

/// Gauges of a cache are called as those of node_exporter, with another first word, so that both may be read at once.
const OF_CACHES: [Gauge; 5] = [
    ("slabinfo_active_objects", "Objects that are allocated", "slab", |entry| entry.objects),
    ("slabinfo_objects", "Objects that the slabs have room for", "slab", |entry| entry.slots),
    ("slabinfo_object_size_bytes", "Bytes of an object", "slab", |entry| entry.object_bytes),
    ("slabinfo_objects_per_slab", "Objects that a slab has room for", "slab", |entry| {
        entry.slots?.checked_div(entry.slabs?)
    }),
    ("slabinfo_pages_per_slab", "Pages of a slab", "slab", |entry| entry.pages_per_slab),
];
const OF_SITES: [Gauge; 2] = [
    ("allocinfo_bytes", "Bytes that are allocated, by the line that allocates", "site", |entry| {
        entry.live_bytes
    }),
    ("allocinfo_calls", "Allocations that live, by the line that allocates", "site", |entry| {
        entry.objects
    }),
];
const OF_CGROUPS: [Gauge; 1] = [(
    "cgroup_slab_bytes",
    "Bytes in slabs that a memory cgroup is charged for",
    "cgroup",
    |entry| entry.live_bytes,
)];
/// A number of the machine: its name, and where it is.
type OfMachine = (&'static str, fn(&Machine) -> Option<u64>);

const OF_MACHINE: [OfMachine; 4] = [
    ("memory_MemTotal_bytes", |machine| machine.memory_bytes),
    ("memory_Slab_bytes", |machine| machine.slab_bytes),
    ("memory_SReclaimable_bytes", |machine| machine.reclaimable_bytes),
    ("memory_SUnreclaim_bytes", |machine| machine.unreclaimable_bytes),
];

/// Returns the metrics of a moment.
pub(super) fn of_moment(text: &str) -> Result<String> {
    let paste = Paste::read(text.as_bytes()).context("a moment is text")?;
    let mut out = String::new();
    let machine = paste.machine.last().map(|said| said.machine).unwrap_or_default();
    for (name, read) in OF_MACHINE {
        let Some(bytes) = read(&machine) else { continue };
        head(&mut out, name, "Bytes, as /proc/meminfo has them");
        let _ = writeln!(out, "slablab_{name} {bytes}");
    }
    for table in &paste.tables {
        match table.kind {
            Kind::Slabinfo => gauges(&mut out, table, &OF_CACHES),
            Kind::Allocinfo => gauges(&mut out, table, &OF_SITES),
            Kind::Cgroup => gauges(&mut out, table, &OF_CGROUPS),
            _ => {}
        }
    }
    out.push_str("# EOF\n");
    Ok(out)
}

fn gauges(out: &mut String, table: &Table, gauges: &[Gauge]) {
    for (name, help, label, read) in gauges {
        head(out, name, help);
        for entry in &table.last().entries {
            let Some(number) = read(entry) else { continue };
            let value = match entry.place.as_str() {
                "" => entry.name.clone(),
                place => format!("{place} {}", entry.name),
            };
            let _ = writeln!(out, "slablab_{name}{{{label}=\"{}\"}} {number}", escaped(&value));
        }
    }
}

fn head(out: &mut String, name: &str, help: &str) {
    let unit = if name.ends_with("_bytes") {
        format!("# UNIT slablab_{name} bytes\n")
    } else {
        String::new()
    };
    let _ = writeln!(out, "# TYPE slablab_{name} gauge\n{unit}# HELP slablab_{name} {help}.");
}

/// Escapes what ends a label.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_have_a_head_each_an_end_and_are_read_back() {
        let moment = [
            "2026-03-03T04:00:01Z",
            "Slab: 188 kB",
            "slabinfo - version: 2.1",
            "filp 800 840 192 21 1 : tunables 0 0 0 : slabdata 40 40 0 : kept",
            "4096 2 fs/b.c:7 func:two",
            "cgroup /a\"b slab_reclaimable 1 slab_unreclaimable 2",
        ]
        .join("\n");
        let text = of_moment(&moment).unwrap();
        assert!(text.ends_with("# EOF\n"));
        assert!(text.contains("slablab_slabinfo_active_objects{slab=\"filp\"} 800\n"), "{text}");
        assert!(text.contains("slablab_memory_Slab_bytes 192512\n"), "{text}");
        assert!(text.contains("slablab_allocinfo_bytes{site=\"fs/b.c:7 two\"} 4096\n"), "{text}");
        let names: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
        let mut distinct = names.clone();
        distinct.dedup();
        assert_eq!(names.len(), distinct.len());
        let back = Paste::read(text.as_bytes()).unwrap();
        let entry = &back.tables[0].last().entries[0];
        assert_eq!(
            (entry.name.as_str(), entry.objects, entry.slots),
            ("filp", Some(800), Some(840))
        );
        assert_eq!(entry.slab_bytes, Some(40 * 4096));
        assert_eq!(back.machine[0].machine.slab_bytes, Some(188 << 10));
    }
}
