//! What the machine says of its memory in all: `/proc/meminfo`, `/proc/vmstat`, the OOM killer's "Mem-Info", node_exporter.

use crate::entry::Machine;
use crate::line::{count, kibibytes as kibibytes_of, size};

/// Bytes of a page, in which vmstat and the OOM killer count, unless the text tells another size.
const PAGE_BYTES: u64 = 4 << 10;

/// What a line says of the machine.
pub(crate) struct Line {
    pub(crate) machine: Machine,
    /// The two halves of slabs were counted in pages
    pub(crate) is_in_pages: bool,
}

impl Machine {
    /// Returns it with the halves of slabs that were counted in pages, whose size is this one.
    pub(crate) fn with_pages_of(self, page_bytes: u64) -> Self {
        let scaled = |half: Option<u64>| half?.checked_mul(page_bytes)?.checked_div(PAGE_BYTES);
        Self {
            reclaimable_bytes: scaled(self.reclaimable_bytes),
            unreclaimable_bytes: scaled(self.unreclaimable_bytes),
            ..self
        }
    }
}

/// Returns what the words say, if they say anything of it.
pub(crate) fn read(words: &[&str]) -> Option<Line> {
    let mut machine = Machine::default();
    let mut is_in_pages = false;
    for (at, word) in words.iter().enumerate() {
        let next = || words.get(at + 1).copied();
        // A node's lines have no place here: their sum is that of the machine.
        if *word == "Node" {
            break;
        }
        if words[at..].starts_with(&["Total", "Size"]) {
            machine.caches_bytes = slabtop_total(&words[at..]);
        }
        // A label of a metric may have a colon.
        let plain = word.split('{').next().unwrap_or(word);
        if let Some((name, value)) = plain.split_once(':') {
            match value {
                "" => kibibytes(&mut machine, name, next(), words.get(at + 2).copied()),
                pages => is_in_pages |= in_pages(&mut machine, name, pages),
            }
        } else if let Some(value) = next() {
            is_in_pages |= in_pages(&mut machine, word.strip_prefix("nr_").unwrap_or(""), value);
            exported(&mut machine, word, value);
        }
    }
    (!machine.is_empty()).then_some(Line { machine, is_in_pages })
}

/// Takes `Total Size (% used) : 1681083.55K / 3255397.62K (51.6%)` at the head of slabtop.
fn slabtop_total(words: &[&str]) -> Option<u64> {
    let colon = words.iter().position(|word| word.ends_with(':'))?;
    let [active, "/", total, ..] = &words[colon + 1..] else { return None };
    kibibytes_of(active)?;
    Some((kibibytes_of(total)? * 1024.0) as u64)
}

/// Takes `Slab: 752028 kB`, and what people make of it: `734 MB`, `11.4G`.
fn kibibytes(machine: &mut Machine, name: &str, value: Option<&str>, unit: Option<&str>) {
    let Some(field) = field(machine, name) else { return };
    *field = match (value, unit) {
        (Some(value), Some("kB" | "KB" | "KiB")) => {
            count(value).and_then(|kb| kb.checked_mul(1024))
        }
        // What people make of it.
        (Some(value), Some(unit @ ("MB" | "MiB" | "GB" | "GiB"))) => {
            size(&format!("{value}{unit}"))
        }
        (Some(value), _) if value.ends_with(['K', 'M', 'G', 'i', 'B']) => size(value),
        _ => None,
    };
}

/// Takes `slab_unreclaimable:195718`; returns whether it was one.
fn in_pages(machine: &mut Machine, name: &str, pages: &str) -> bool {
    let field = match name {
        "slab_reclaimable" => &mut machine.reclaimable_bytes,
        "slab_unreclaimable" => &mut machine.unreclaimable_bytes,
        _ => return false,
    };
    *field = count(pages).and_then(|pages| pages.checked_mul(PAGE_BYTES));
    field.is_some()
}

/// Takes `node_memory_Slab_bytes 7.7e+08`.
fn exported(machine: &mut Machine, word: &str, value: &str) {
    let word = word.split('{').next().unwrap_or(word);
    let word = word.strip_prefix("slablab_").or_else(|| word.strip_prefix("node_")).unwrap_or("");
    let name = word.strip_prefix("memory_").and_then(|name| name.strip_suffix("_bytes"));
    let Some(field) = name.and_then(|name| field(machine, name)) else { return };
    let value = value.parse::<f64>().ok().filter(|value| (0.0..1e18).contains(value));
    *field = value.map(|value| value as u64);
}

fn field<'a>(machine: &'a mut Machine, name: &str) -> Option<&'a mut Option<u64>> {
    Some(match name {
        "MemTotal" => &mut machine.memory_bytes,
        "Slab" => &mut machine.slab_bytes,
        "SReclaimable" => &mut machine.reclaimable_bytes,
        "SUnreclaim" => &mut machine.unreclaimable_bytes,
        _ => return None,
    })
}
