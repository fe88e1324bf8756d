//! A patch that was measured: the answer of `slablab lab run patch`.

use serde::{Deserialize, Serialize};
use slablab_lab::patched::{CacheEffect, Effect, OFF_SHARE_MAX};
use slablab_report::{Cell, Document, Item, Section, Table, counted, field};

use super::kept::Obtained;
use crate::output::Answer;

/// What `slablab lab run patch` says.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct PatchedAnswer {
    /// The call site that got a cache of its own
    pub(crate) site: String,
    /// The structure of its objects, and the name of the cache
    pub(crate) structure: String,
    /// Release of the kernel that recorded the load
    pub(crate) recorded: String,
    /// The kernel that was measured without and with the patch
    pub(crate) kernel: String,
    /// Its release
    pub(crate) release: String,
    /// The file with the patch, a letter for `git am`
    pub(crate) patch: String,
    /// How long the kernel with the patch took to build
    pub(crate) build_seconds: f64,
    /// What the compiler warned of in what the patch made it compile; none where that is not known
    pub(crate) warnings: Option<Vec<String>>,
    /// Whether the prediction holds
    pub(crate) holds: bool,
    /// By which share of the measured change the prediction is off
    pub(crate) off_share: Option<f64>,
    #[serde(flatten)]
    pub(crate) effect: Effect,
    #[serde(flatten)]
    pub(crate) obtained: Obtained,
}

impl PatchedAnswer {
    fn sentences(&self) -> Vec<String> {
        let effect = &self.effect;
        let interval = effect.interval.map_or_else(String::new, |interval| {
            let (low, high) = (signed(interval.low), signed(interval.high));
            format!(", {:.0} % interval {low} to {high}", 100.0 * interval.confidence)
        });
        vec![
            format!(
                "A cache of its own for {} (struct {}) was predicted to change slab memory by {}; in {} it changes by {} \
                 (median of {}{interval}).",
                self.site,
                self.structure,
                signed(effect.predicted_bytes as f64),
                self.kernel,
                signed(effect.measured_bytes),
                pairs(effect.rounds),
            ),
            self.verdict(),
            self.compiled(),
        ]
    }

    fn verdict(&self) -> String {
        if self.effect.is_merged {
            return format!(
                "The kernel merged the cache {} with another one, so that its bytes cannot be told: make it with \
                 SLAB_NO_MERGE, or boot with slab_nomerge.",
                self.structure
            );
        }
        let off = match self.off_share {
            Some(off) => format!("it is {:.1} % off", 100.0 * off),
            None => "nothing was measured to change".to_owned(),
        };
        if !self.holds {
            let most = 100.0 * OFF_SHARE_MAX;
            return format!("The prediction does not hold: {off}, where {most:.0} % are allowed.");
        }
        match self.off_share {
            Some(share) if share > OFF_SHARE_MAX => {
                format!("The prediction holds: {off}, which is at most a slab of each cache.")
            }
            _ => format!("The prediction holds: {off}."),
        }
    }

    fn compiled(&self) -> String {
        let seconds = self.build_seconds;
        let how = match self.warnings.as_deref() {
            Some([]) => "compiled without a warning".to_owned(),
            Some([first, ..]) => format!("compiled with a warning ({first})"),
            None => "compiled (its warnings were not kept)".to_owned(),
        };
        format!("The patch {how}, in {seconds:.0} s: {}.", self.patch)
    }

    fn caches(&self) -> Table {
        let fields = [
            field::name("cache", "cache", |of: &CacheEffect| &of.cache),
            field::cell("predicted", "predicted_bytes_change", |of| {
                Cell::SignedBytes(of.predicted_bytes())
            }),
            field::cell("measured", "measured_bytes_change", |of| {
                Cell::SignedBytes(of.measured_bytes())
            }),
            field::bytes("guest before", "measured_before_bytes", |of: &CacheEffect| {
                of.measured_before_bytes
            }),
            field::bytes("guest after", "measured_after_bytes", |of: &CacheEffect| {
                of.measured_after_bytes
            }),
        ];
        Table::of(&self.effect.caches, fields)
    }

    /// Says how all slabs of the guests changed, which other work moves, too.
    fn of_all_slabs(&self) -> Option<String> {
        let all = self.effect.slab_bytes.iter().copied();
        let (low, high) = (all.clone().reduce(f64::min)?, all.reduce(f64::max)?);
        Some(format!(
            "All slabs of the guests (Slab of /proc/meminfo) changed by {} to {}: other caches are in it, which differ from \
             boot to boot.",
            signed(low),
            signed(high)
        ))
    }
}

fn pairs(rounds: u64) -> String {
    format!("{} of boots", counted(rounds, "pair"))
}

fn signed(bytes: f64) -> String {
    let sign = if bytes > 0.0 { "+" } else { "" };
    format!("{sign}{}", Cell::SignedBytes(bytes.round() as i64).short())
}

impl Answer for PatchedAnswer {
    const SCHEMA: &'static str = "slablab.lab.patch/1";

    fn document(&self) -> Document {
        const HOW: &str = "Bytes of slabs at the end of the load: in the replay of the recording, and in the slabinfo of the \
            guests, the median of the boots.";
        Document {
            title: format!("A cache of its own for {}, predicted and measured", self.site),
            question: "Does the kernel do with the patch what the recording predicts?".to_owned(),
            answers: self.sentences(),
            sections: vec![Section::first(
                "caches",
                "",
                vec![Item::table("Caches that the patch changes", HOW, self.caches())],
            )],
            source: format!("From {}, recorded on {}.", self.kernel, self.recorded),
            notes: self.of_all_slabs().into_iter().collect(),
            facts: self.obtained.facts(),
            repeat: self.obtained.repeat(),
        }
    }
}
