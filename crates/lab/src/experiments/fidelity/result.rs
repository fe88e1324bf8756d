//! The result of a kernel and its model: how far they are apart, what the limits are, and how it is shown.

use serde::{Deserialize, Serialize};
use slablab_kmem::{BackendKind, Tunables};
use slablab_replay::{BytesAt, CachePair, Fidelity as Pair, PathPair};
use slablab_report::{
    AxisScale, Cell as TableCell, Item, Lines, Plot, Point, Section, Series, Table, counted, field,
    human,
};
use slablab_vm::{Accel, Kernel};

use crate::experiment::Finding;
use crate::journal::Row;
use crate::outcome::Outcome;

/// Caches that are off by more than the first share are named, and those beyond the second are counted apart.
const APART_SHARES: (f64, f64) = (0.02, 0.05);
/// At most this number of them is named in a sentence; the table has all.
const NAMED_MAX: usize = 5;

/// Differences outside the limits, and their reasons: `ALLOCATOR: WHAT: WHY`.
const DIFFERS: &str = include_str!("differs.txt");

/// A kernel that is compared with its model.
pub(super) struct Guest {
    pub(super) name: String,
    pub(super) kind: BackendKind,
    /// What is set of the model
    pub(super) tunables: Tunables,
    pub(super) kernel: Kernel,
    pub(super) accel: Accel,
    /// Why it runs under this accelerator
    pub(super) why: String,
}

/// The errors that a model may have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Limits {
    /// Bytes in slabs at the moments: in the median, and at worst
    pub(super) off_shares_max: (f64, f64),
    /// Caches with equally many slabs at the end, and with about as many: at least this share of
    /// them
    pub(super) caches_shares_min: (f64, f64),
    /// Each path that the kernel counts
    pub(super) path_share_max: f64,
}

impl Limits {
    pub(super) fn of(allocator: BackendKind) -> Self {
        // The number of objects parked for each CPU depends more on the moment than slabs on a list
        // do.
        let parks = matches!(allocator, BackendKind::Slab | BackendKind::SlubSheaves);
        Self {
            off_shares_max: if parks { (0.03, 0.08) } else { (0.02, 0.05) },
            caches_shares_min: (0.90, 0.97),
            path_share_max: 0.02,
        }
    }
}

/// The result of a kernel and its model; a row keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PairResult {
    pub(super) model: String,
    pub(super) release: String,
    pub(super) events: u64,
    pub(super) replay_ns: u64,
    /// How much more memory slabs had after the module was gone than before it came
    pub(super) left_kb: i64,
    pub(super) limits: Option<Limits>,
    /// The shares of caches that have equally many slabs at the end, and about as many
    pub(super) caches_shares: (f64, f64),
    /// What is not compared, and why
    pub(super) notes: Vec<String>,
    pub(super) pair: Pair,
}

/// Returns the results that the rows of a run keep.
pub(super) fn results(outcome: &Outcome) -> impl Iterator<Item = (&Row, PairResult)> {
    let read = |row: &Row| PairResult::deserialize(&row.detail["fidelity"]).ok();
    outcome.rows.iter().filter_map(move |row| Some((row, read(row)?)))
}

impl PairResult {
    pub(super) fn values(&self) -> Vec<(&'static str, f64)> {
        let (median, most) = self.pair.off_shares();
        let end = self.pair.moments.last();
        let mut values = vec![
            ("kernel_bytes_end", end.map_or(0, |end| end.kernel_bytes) as f64),
            ("model_bytes_end", end.map_or(0, |end| end.model_bytes) as f64),
            ("off_percent_median", 100.0 * median),
            ("off_percent_max", 100.0 * most),
        ];
        // SLOB and SLMB have no slabs for each cache.
        if !self.pair.caches.is_empty() {
            values.push(("caches_equal_percent", 100.0 * self.caches_shares.0));
            values.push(("caches_within_percent", 100.0 * self.caches_shares.1));
        }
        values.extend(self.paths_off().map(|off| ("paths_off_percent_max", 100.0 * off)));
        values
    }

    fn paths_off(&self) -> Option<f64> {
        self.pair.paths.iter().map(PathPair::off_share).reduce(f64::max)
    }

    /// Returns the numbers that are outside the limits.
    fn outside(&self) -> Vec<&'static str> {
        let Some(limits) = self.limits else { return Vec::new() };
        let Limits { off_shares_max, caches_shares_min, path_share_max } = limits;
        let (median, most) = self.pair.off_shares();
        let caches = self.caches_shares;
        [
            ("bytes", median > off_shares_max.0 || most > off_shares_max.1),
            ("slabs", caches.0 < caches_shares_min.0 || caches.1 < caches_shares_min.1),
            ("paths", self.paths_off().unwrap_or(0.0) > path_share_max),
        ]
        .into_iter()
        .filter_map(|(what, is_outside)| is_outside.then_some(what))
        .collect()
    }

    /// States how far the model is from the kernel, and whether that is within the limits.
    pub(super) fn finding(&self, kernel: &str) -> Finding {
        let (median, most) = self.pair.off_shares();
        let (median, most) = (median * 100.0, most * 100.0);
        let end = self.pair.moments.last().map_or(0, |end| end.kernel_bytes) as f64;
        let off = match self.pair.moments.len() {
            0 | 1 => format!("{most:.1} %"),
            moments => format!("{median:.1} % (median of {moments} moments), {most:.1} % at most"),
        };
        let caches = match self.pair.caches.len() {
            0 => String::new(),
            all => {
                let equal = self.pair.caches.iter().filter(|cache| cache.off_slabs() == 0).count();
                format!("; {equal} of {} have as many slabs", counted(all as u64, "cache"))
            }
        };
        let outside: Vec<_> =
            self.outside().into_iter().map(|what| (what, reason(&self.model, what))).collect();
        let limits: String = outside
            .iter()
            .map(|(what, why)| {
                format!(
                    " Outside the limits: {what}: {}.",
                    why.unwrap_or("the reason is not known")
                )
            })
            .collect();
        Finding {
            sentence: format!(
                "{kernel} (Linux {}): {} in slabs at the end, and {} is off by {off}{caches}.{}{limits}",
                self.release,
                human(end, "B"),
                self.model,
                self.apart()
            ),
            holds: outside.iter().all(|(_, why)| why.is_some()),
        }
    }

    /// Names the caches that differ by more than a slab and by more than a share of the kernel's slabs.
    fn apart(&self) -> String {
        let beyond = |share| {
            let is_beyond =
                move |pair: &&CachePair| pair.off_slabs() > 1 && pair.off_share() > share;
            self.pair.caches.iter().filter(is_beyond).collect::<Vec<_>>()
        };
        let (apart, far) = (beyond(APART_SHARES.0), beyond(APART_SHARES.1));
        if apart.is_empty() {
            return String::new();
        }
        let name = |pair: &&CachePair| {
            format!("{} ({} slabs, model {})", pair.cache, pair.kernel_slabs, pair.model_slabs)
        };
        let names: Vec<_> = apart.iter().take(NAMED_MAX).map(name).collect();
        let rest = match apart.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            rest => format!(" and {rest} more"),
        };
        format!(
            " More than 2 % and a slab apart: {}; more than 5 %: {}. They are {}{rest}.",
            counted(apart.len() as u64, "cache"),
            far.len(),
            names.join(", ")
        )
    }

    /// Returns both curves, the caches and the paths of the pair called `of`.
    pub(super) fn sections(&self, of: &str) -> Vec<Section> {
        let line = |name: &str, bytes: fn(&BytesAt) -> u64| Series {
            name: name.to_owned(),
            points: self
                .pair
                .moments
                .iter()
                .map(|at| Point { x: at.time_ns as f64, y: bytes(at) as f64, spread: None })
                .collect(),
        };
        let lines = Lines {
            x: ("time in the trace".to_owned(), "ns".to_owned()),
            y: ("memory in slabs".to_owned(), "B".to_owned()),
            x_scale: AxisScale::Linear,
            y_scale: AxisScale::FromZero,
            series: vec![line("kernel", |at| at.kernel_bytes), line("model", |at| at.model_bytes)],
        };
        let how = "Bytes in slabs after the same events, in the kernel (/proc/slabinfo, or Slab in /proc/meminfo where \
                   caches share pages) and in the model.";
        let mut sections = Vec::new();
        if self.pair.moments.len() > 1 {
            let plot = Plot::new(format!("Memory in slabs over time{of}"), how, lines);
            sections.push(Section::page("moments", plot.title.clone(), vec![plot.into()]));
        }
        let mut caches = vec![Item::table("", "", self.caches())];
        caches.extend(self.notes.iter().map(|note| Item::Text(note.clone())));
        let how = "At the end, those that differ most first; and the most by which the two differ at any moment.";
        sections.push(
            Section::named("caches", format!("Slabs of each cache{of}"), caches).with_method(how),
        );
        let how = "How often each path was taken, summed over the caches, where the kernel counts (CONFIG_SLUB_STATS).";
        let paths = vec![Item::table("", "", self.paths())];
        sections.push(Section::named("paths", format!("Paths{of}"), paths).with_method(how));
        sections
    }

    fn caches(&self) -> Table {
        let fields = [
            field::name("cache", "cache", |pair: &slablab_replay::CachePair| &pair.cache),
            field::count("slabs, kernel", "kernel_slabs", |pair| pair.kernel_slabs),
            field::count("slabs, model", "model_slabs", |pair| pair.model_slabs),
            field::bytes("held, kernel", "kernel_bytes", |pair| pair.kernel_bytes),
            field::bytes("held, model", "model_bytes", |pair| pair.model_bytes),
            field::cell("off by", "off_share", |pair| TableCell::Share(pair.off_share())),
            field::count("slabs off, most", "off_slabs_max", |pair| pair.off_slabs_max),
        ];
        Table::of(&self.pair.caches, fields)
    }

    fn paths(&self) -> Table {
        let fields = [
            field::name("path", "path", |pair: &PathPair| &pair.path),
            field::count("kernel", "kernel", |pair| pair.kernel),
            field::count("model", "model", |pair| pair.model),
            field::cell("off by", "off_share", |pair| TableCell::Share(pair.off_share())),
        ];
        Table::of(&self.pair.paths, fields)
    }
}

/// Returns why an allocator's model is outside a limit, if a reason is listed.
fn reason(allocator: &str, what: &str) -> Option<&'static str> {
    DIFFERS.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let rest = line.strip_prefix(allocator)?.strip_prefix(": ")?;
        rest.strip_prefix(what)?.strip_prefix(": ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a pair with these bytes in the kernel and in the model, these slabs of a cache and this
    /// path.
    fn pair(
        model: &str,
        bytes: &[(u64, u64)],
        slabs: &[(u64, u64)],
        path: (u64, u64),
    ) -> PairResult {
        let moment = |(at, (kernel_bytes, model_bytes)): (usize, &(u64, u64))| BytesAt {
            event: at as u64,
            time_ns: at as u64,
            kernel_bytes: *kernel_bytes,
            model_bytes: *model_bytes,
        };
        let cache = |(kernel_slabs, model_slabs): &(u64, u64)| CachePair {
            cache: "c".into(),
            kernel_slabs: *kernel_slabs,
            model_slabs: *model_slabs,
            kernel_bytes: kernel_slabs * 4096,
            model_bytes: model_slabs * 4096,
            off_slabs_max: kernel_slabs.abs_diff(*model_slabs),
        };
        let pair = Pair {
            moments: bytes.iter().enumerate().map(moment).collect(),
            caches: slabs.iter().map(cache).collect(),
            paths: vec![PathPair { path: "p".into(), kernel: path.0, model: path.1 }],
        };
        PairResult {
            model: model.into(),
            release: "6.1".into(),
            events: 1,
            replay_ns: 1,
            left_kb: 0,
            limits: Some(Limits::of(model.parse().unwrap())),
            caches_shares: (pair.caches_within(0), pair.caches_within(1)),
            notes: Vec::new(),
            pair,
        }
    }

    #[test]
    fn what_is_outside_its_limit_is_named_and_parked_slabs_have_wider_ones() {
        let same = [(100, 100); 3];
        let slabs = [(5, 5)];
        assert!(pair("slub", &same, &slabs, (100, 100)).outside().is_empty());
        let off = [(1000, 1025); 3];
        assert_eq!(pair("slub", &off, &slabs, (100, 100)).outside(), ["bytes"]);
        assert!(pair("slab", &off, &slabs, (100, 100)).outside().is_empty());
        assert_eq!(pair("slub", &same, &[(5, 7)], (100, 103)).outside(), ["slabs", "paths"]);
    }

    #[test]
    fn caches_that_differ_by_more_than_two_percent_and_a_slab_are_named() {
        let slabs = [(100, 100), (3, 4), (100, 97), (100, 110), (0, 2)];
        let sentence = pair("slub", &[(100, 100); 3], &slabs, (1, 1)).finding("k").sentence;
        let apart = "More than 2 % and a slab apart: 3 caches; more than 5 %: 2. They are c (100 slabs, model 97), \
                     c (100 slabs, model 110), c (0 slabs, model 2).";
        assert!(sentence.contains(apart), "{sentence}");
        let many = pair("slub", &[(100, 100); 3], &[(10, 12); 7], (1, 1)).finding("k").sentence;
        assert!(many.contains("7 caches") && many.contains(" and 2 more."), "{many}");
        let same = pair("slub", &[(100, 100); 3], &[(3, 4), (100, 99)], (1, 1)).finding("k");
        assert!(!same.sentence.contains("apart"), "{}", same.sentence);
    }

    #[test]
    fn a_difference_holds_only_with_its_reason() {
        let off = |model| pair(model, &[(1000, 1900); 3], &[(5, 5)], (1, 1)).finding("k");
        let known = off("slmb");
        assert!(known.holds && known.sentence.contains("Outside the limits: bytes: in the patch"));
        let unknown = off("slub");
        assert!(
            !unknown.holds && unknown.sentence.contains("the reason is not known"),
            "{unknown:?}"
        );
    }

    #[test]
    fn what_differs_is_a_line_of_an_allocator() {
        for line in DIFFERS.lines().filter(|line| !line.starts_with('#')) {
            let (allocator, rest) = line.split_once(": ").unwrap();
            let (what, why) = rest.split_once(": ").unwrap();
            allocator.parse::<BackendKind>().unwrap();
            assert_eq!(reason(allocator, what), Some(why));
        }
        assert_eq!(reason("slub", "bytes"), None);
    }
}
