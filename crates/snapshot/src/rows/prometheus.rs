//! Prometheus' node_exporter: `node_slabinfo_active_objects{slab="dentry"} 41210`, one number a line.

use super::found::{Below, Found};
use super::kind::Kind;
use super::row_reader::RowReader;
use crate::entry::Entry;

pub(super) const READER: RowReader =
    RowReader { ends_anywhere: true, ..RowReader::new(Kind::Prometheus, read) };

pub(super) fn read(words: &[&str], _: Below) -> Found {
    let Some(at) = words.iter().position(|word| slabinfo(word).is_some() && word.contains('{'))
    else {
        return Found::No;
    };
    number(&words[at..]).map_or(Found::Damaged, Found::Row)
}

/// Returns a metric of slabinfo without what precedes it, by node_exporter or by `slablab watch --exporter`.
fn slabinfo(metric: &str) -> Option<&str> {
    let metric = metric.strip_prefix("slablab_").or_else(|| metric.strip_prefix("node_"))?;
    metric.strip_prefix("slabinfo_")
}

fn number(words: &[&str]) -> Option<Entry> {
    let (metric, value) = (words[0], words.get(1)?);
    let (metric, labels) = slabinfo(metric)?.split_once('{')?;
    let name = labels.split_once("slab=\"")?.1.split('"').next()?;
    let value: f64 = value.parse().ok()?;
    let value = Some(value).filter(|value| (0.0..1e18).contains(value))? as u64;
    let mut entry = Entry { name: name.to_owned(), ..Entry::default() };
    let field = match metric {
        "active_objects" => &mut entry.objects,
        "objects" => &mut entry.slots,
        "object_size_bytes" => &mut entry.object_bytes,
        "pages_per_slab" => &mut entry.pages_per_slab,
        // Objects in a slab: slabs follow from it and the objects.
        "objects_per_slab" => &mut entry.slabs,
        _ => return None,
    };
    *field = Some(value);
    Some(entry)
}
