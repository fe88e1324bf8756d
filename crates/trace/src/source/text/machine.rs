//! Facts about its machine that a text has in comments before the events: a shell can write them where no program of
//! ours runs (`kernel/guest/record.sh`).
//!
//! # How it works
//! `# slablab WORD REST`, one fact a line: `release`, `arch`, `page_bytes`, `cpus`, `nodes`, `config SYMBOL=VALUE`; `cache NAME
//! ATTRIBUTE=VALUE...` and `alias NAME CACHE` of sysfs; `sample SECONDS` with a `slabs` line for each line of
//! `/proc/slabinfo` at that time; `living` lines of the same when no CPU kept slabs for itself, so that the
//! objects of the last sample are exact. A text without a sample at its begin has one of time 0, which the import
//! fills in.

use slablab_linux::SlabInfo;

use crate::Meta;
use crate::meta::{SlabSnapshot, SlubCache};

/// What all these lines begin with.
pub(in crate::source) const MARK: &str = "# slablab ";

/// A sample's time is told in hundredths of a second, and the reading follows.
const SAMPLE_LAG_NS: u64 = 10_000_000;

/// Takes the fact of a line, without its mark; what is not understood is passed over.
pub(super) fn note(line: &str, meta: &mut Meta) {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match word {
        "release" => meta.kernel_release = rest.to_owned(),
        "arch" => meta.arch = rest.to_owned(),
        "page_bytes" => meta.page_bytes = rest.parse().unwrap_or(0),
        "cpus" => meta.cpus = rest.parse().unwrap_or(0),
        "config" => config(rest, meta),
        "nodes" => meta.nodes = rest.parse().unwrap_or(0),
        "cache" => meta.slabs_start.get_or_insert_default().caches.extend(cache(rest)),
        "alias" => alias(rest, meta),
        "sample" => sample(rest, meta),
        "slabs" => slabs(rest, meta),
        "living" => living(rest, meta),
        _ => {}
    }
}

fn config(text: &str, meta: &mut Meta) {
    let setting = text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    meta.config.extend(setting);
}

fn cache(text: &str) -> Option<SlubCache> {
    let mut words = text.split(' ');
    let mut cache = SlubCache { name: words.next()?.to_owned(), ..SlubCache::default() };
    for (name, value) in words.filter_map(|word| word.split_once('=')) {
        match value.parse() {
            Ok(number) => _ = cache.numbers.insert(name.to_owned(), number),
            Err(_) if name == "ctor" => value.clone_into(&mut cache.ctor),
            Err(_) => {}
        }
    }
    Some(cache)
}

/// Aliases may come before their cache: sysfs lists them by name, where `:` is before all letters.
fn alias(text: &str, meta: &mut Meta) {
    let Some((alias, real)) = text.split_once(' ') else { return };
    let caches = &mut meta.slabs_start.get_or_insert_default().caches;
    if let Some(cache) = caches.iter_mut().find(|cache| cache.name == real) {
        cache.aliases.push(alias.to_owned());
    }
}

fn sample(text: &str, meta: &mut Meta) {
    let Some(at_ns) = nanoseconds(text) else { return };
    if meta.samples.is_empty() {
        meta.samples.begin(0);
    }
    let before = meta.samples.times_ns.last().copied().unwrap_or(0);
    meta.samples.begin_empty(before.max(at_ns.saturating_add(SAMPLE_LAG_NS)));
    meta.slabs_end = Some(SlabSnapshot::default());
}

fn slabs(line: &str, meta: &mut Meta) {
    let Some(end) = &mut meta.slabs_end else { return };
    end.slabinfo.push_str(line);
    end.slabinfo.push('\n');
    if let Some(line) = SlabInfo::parse(line) {
        let cache = meta.samples.note(line.name, line.active_objs, line.num_slabs);
        cache.slab_objects = line.objperslab as u32;
        cache.slab_bytes = line.pagesperslab.saturating_mul(u64::from(meta.page_bytes));
    }
}

fn living(line: &str, meta: &mut Meta) {
    if let Some(line) = SlabInfo::parse(line) {
        meta.samples.correct(line.name, line.active_objs);
    }
}

fn nanoseconds(seconds: &str) -> Option<u64> {
    let (whole, part) = seconds.split_once('.')?;
    let part: u64 = format!("{part:0<9}").parse().ok().filter(|_| part.len() <= 9)?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "filp 40 50 192 21 2 : tunables 0 0 0 : slabdata 9 9 0";

    fn noted(lines: &[&str]) -> Meta {
        let mut meta = Meta::default();
        lines.iter().for_each(|line| note(line, &mut meta));
        meta
    }

    #[test]
    fn numbers_of_a_damaged_text_do_not_overflow() {
        let most = u64::MAX;
        let line = format!(
            "slabs filp {most} {most} {most} {most} {most} : tunables 0 0 0 : slabdata {most} {most} 0"
        );
        let meta = noted(&["page_bytes 65536", "sample 18446744073.709551615", &line]);
        assert_eq!(meta.samples.caches["filp"].slab_bytes, most);
    }

    #[test]
    fn the_machine_and_its_caches_are_known() {
        let meta = noted(&[
            "release 7.3.4",
            "arch armv7l",
            "page_bytes 4096",
            "cpus 2",
            "cache :0000064 object_size=64 cpu_partial=120 ctor=init_once+0x0/0x10",
            "alias pid :0000064",
            "unheard of",
            "config CONFIG_MEMCG=y",
            "config vm.mem_profiling",
            "cpus many",
        ]);
        assert_eq!((meta.kernel_release.as_str(), meta.arch.as_str()), ("7.3.4", "armv7l"));
        assert_eq!((meta.page_bytes, meta.cpus), (4096, 0));
        assert_eq!(meta.config, [("CONFIG_MEMCG".to_owned(), "y".to_owned())].into());
        let cache = meta.slabs_start.as_ref().unwrap().cache("pid").unwrap();
        assert_eq!(cache.number("cpu_partial"), Some(120));
        assert_eq!(cache.ctor, "init_once+0x0/0x10");
    }

    #[test]
    fn samples_have_times_and_the_last_one_the_living() {
        let first = format!("slabs {LINE}");
        let last = format!("slabs {}", LINE.replace("filp 40", "filp 45"));
        let living = format!("living {}", LINE.replace("filp 40", "filp 33"));
        let meta = noted(&["page_bytes 4096", "sample 1.5", &first, "sample 2.25", &last, &living]);
        assert_eq!(meta.samples.times_ns, [0, 1_510_000_000, 2_260_000_000]);
        let filp = &meta.samples.caches["filp"];
        assert_eq!([filp.at(0), filp.at(1), filp.at(2)], [(0, 0), (40, 9), (33, 9)]);
        assert_eq!((filp.slab_objects, filp.slab_bytes), (21, 8192));
        let gone = noted(&["page_bytes 4096", "sample 1.5", &first, "sample 2.25"]);
        assert_eq!(gone.samples.caches["filp"].at(2), (0, 0), "a cache without slabs is left out");
        assert!(meta.slabs_end.unwrap().slabinfo.starts_with("filp 45"));
    }

    #[test]
    fn damaged_lines_are_passed_over() {
        let lines = ["slabs x", "living y", "sample x", "sample 1.0123456789", "alias", "cache "];
        let meta = noted(&lines);
        assert!(meta.samples.is_empty() && meta.slabs_end.is_none());
    }
}
