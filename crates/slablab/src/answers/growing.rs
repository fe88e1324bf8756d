//! What grows from moment to moment, in a sentence and as a table.

use slablab_host::printable;
use slablab_report::{Cell, Table, counted, field};
use slablab_snapshot::{Apart, Family, Growth, Pace, Reclaim, Rise};

use crate::output::{bytes, duration};

/// What the columns of the table are.
pub(super) const HOW: &str = "Bytes of the objects. The rate is the median slope of all pairs of moments (Theil and Sen), with \
    its 95 % interval, which is wider where moments follow each other. A rise is told from chance, steps, dips and what is freed \
    again, and over three days from a daily wave. Fewer than five moments have no interval and no verdict.";

/// What becomes of the entries of a table.
pub(super) struct Growing<'a> {
    pub(super) growth: &'a [Growth],
    /// Who holds the memory at the last moment
    pub(super) families: &'a [Family],
    /// What an entry is called
    pub(super) noun: &'static str,
    pub(super) moments: usize,
    /// From the first moment to the last, where times are known
    pub(super) seconds: Option<f64>,
}

impl<'a> Growing<'a> {
    /// Says what grows, or what the moments cannot tell.
    pub(super) fn sentence(&self) -> Option<String> {
        if self.moments < 2 {
            return None;
        }
        if self.growth.is_empty() {
            return Some(
                "The moments have no name in common, so what grows cannot be told.".to_owned(),
            );
        }
        let over = match self.seconds {
            Some(seconds) => format!(" in {}", duration((seconds * 1e9) as u64)),
            None => format!(" over {} moments", self.moments),
        };
        if let Some(grows) = self.grows(&over) {
            let larger = self.larger_than_what_grows();
            return Some(
                larger.map_or_else(|| grows.clone(), |larger| format!("{grows} {larger}")),
            );
        }
        let rose: Vec<_> = self.growth.iter().filter(|g| g.pace == Pace::Rose).collect();
        if let [first, ..] = &rose[..] {
            let what = match self.noun {
                "part" => format!("{} takes", first.name),
                _ => format!("Objects of {} take", first.name),
            };
            return Some(format!(
                "{what} {} more than at the first moment{over} ({}). {} cannot tell a leak from a cache that fills: take \
                 five or more.",
                bytes(u64::try_from(first.change_bytes()).unwrap_or(0)),
                rate(&first.rise),
                counted(first.moments as u64, "moment")
            ));
        }
        if let Some(first) = self.growth.iter().find(|growth| growth.pace == Pace::MayGrow) {
            return Some(format!(
                "Whether {} grows cannot be told yet: it rises by {}{over}, and a daily wave, or memory that is freed later, \
                 explains that as well. Take more moments; to tell growth from a daily wave takes three days.",
                first.name,
                rate(&first.rise)
            ));
        }
        Some(match self.growth.iter().map(|growth| growth.moments).max() {
            Some(moments) if moments >= 5 => format!("Nothing is shown to grow{over}."),
            _ => format!(
                "Nothing is larger than at the first moment{over}; {} cannot tell more.",
                counted(self.moments as u64, "moment")
            ),
        })
    }

    /// Says what grows: first what its users keep, then what the kernel gives back.
    fn grows(&self, over: &str) -> Option<String> {
        let (back, kept): (Vec<&Growth>, Vec<&Growth>) = self
            .growth
            .iter()
            .filter(|growth| growth.pace == Pace::Grows)
            .partition(|growth| self.reclaim(growth) == Reclaim::GivenBack);
        let others = |all: &[&Growth]| match all.len() {
            1 => String::new(),
            2 => "; so does one more".to_owned(),
            n => format!("; so do {} more", n - 1),
        };
        let ends = "Whether that ends, as a cache that fills does, more moments tell.";
        let given_back = "which is given back when memory is short";
        let stays = match kept.first().map(|first| self.reclaim(first)) {
            Some(Reclaim::Kept) => " and stays until its users free it",
            _ => "",
        };
        Some(match (&kept[..], &back[..]) {
            ([], []) => return None,
            ([first, ..], []) => {
                format!(
                    "{} grows by {}{over}{}. {ends}",
                    first.name,
                    rate(&first.rise),
                    others(&kept)
                )
            }
            ([], [first, ..]) => format!(
                "{} grows by {}{over}, {given_back}{}. {ends}",
                first.name,
                rate(&first.rise),
                others(&back)
            ),
            ([first, ..], [other, ..]) => format!(
                "{} grows by {}{over}{stays}{}. {} grows by {}, {given_back}{}. {ends}",
                first.name,
                rate(&first.rise),
                others(&kept),
                other.name,
                rate(&other.rise),
                others(&back)
            ),
        })
    }

    /// Names what rose by far more than all that grows, where lists that were cut name it too seldom for a verdict.
    fn larger_than_what_grows(&self) -> Option<String> {
        const TIMES: i128 = 10;
        let of = |pace: Pace| self.growth.iter().filter(move |growth| growth.pace == pace);
        let most = of(Pace::Grows).map(Growth::change_bytes).max()?;
        let rose = of(Pace::Rose).max_by_key(|growth| growth.change_bytes())?;
        (rose.change_bytes() > most.saturating_mul(TIMES)).then(|| {
            let more = u64::try_from(rose.change_bytes()).unwrap_or(u64::MAX);
            format!(
                "{} takes {} more than when it was first listed, far more than these; its {} moments are too few for a verdict.",
                rose.name,
                bytes(more),
                rose.moments
            )
        })
    }

    /// Returns whether the kernel gives back what grows.
    fn reclaim(&self, growth: &Growth) -> Reclaim {
        let is_it = |family: &&Family| family.name == growth.name && family.place == growth.place;
        let family = self.families.iter().find(is_it);
        family.map_or(Reclaim::Unknown, |family| family.reclaim)
    }

    /// Returns what to look for: what grows and is kept by its users, or else what grows.
    pub(super) fn suspect(&self) -> Option<&'a Growth> {
        let rises = |g: &&Growth| matches!(g.pace, Pace::Grows | Pace::MayGrow | Pace::Rose);
        let kept = |g: &&Growth| rises(g) && self.reclaim(g) != Reclaim::GivenBack;
        self.growth.iter().find(kept).or_else(|| self.growth.iter().find(rises))
    }

    /// Returns the table of what grows.
    pub(super) fn table(&self) -> Table {
        let (scale, head) = match self.growth.first().is_some_and(|growth| growth.rise.is_timed) {
            true => (3600.0, "an hour"),
            false => (1.0, "a moment"),
        };
        let key = if scale > 1.0 { "rise_bytes_per_hour" } else { "rise_bytes_per_moment" };
        let fields = vec![
            field::name(self.noun, "name", |growth: &Growth| &growth.name),
            field::bytes("first", "first_bytes", |g| g.first_bytes),
            field::bytes("last", "last_bytes", |g| g.last_bytes),
            field::by(head, key, move |g: &Growth| {
                Cell::SignedBytes((g.rise.bytes_per_step * scale) as i64)
            }),
            field::by("95 % interval", "interval", move |g: &Growth| match g.rise.interval {
                Some((low, high)) => {
                    let end = |end: f64| Cell::SignedBytes((end * scale) as i64).short();
                    Cell::Text(format!("{} .. {}", end(low), end(high)))
                }
                None => Cell::Missing,
            })
            .where_room(),
            field::text("verdict", "pace", |g| {
                match g.pace {
                    Pace::Grows => "grows",
                    Pace::MayGrow => "cannot tell yet",
                    Pace::Rose => "rose: cannot tell",
                    Pace::Flat => "no growth shown",
                    Pace::Shrinks => "shrinks",
                }
                .to_owned()
            }),
        ];
        Table::of_fields(self.growth, fields)
    }
}

/// Says why moments cannot be compared, or what makes that doubtful if what grows `is_told`.
pub(super) fn apart(apart: &Apart, is_told: bool) -> String {
    match apart {
        Apart::Memory(one, other) if is_told => format!(
            "MemTotal is {} at one moment and {} at another: of two machines, what follows would mean nothing.",
            bytes(*one),
            bytes(*other)
        ),
        Apart::Memory(one, other) => format!(
            "MemTotal is {} at one moment and {} at another, as of two machines: what grows cannot be told. If it is one, \
             leave MemTotal out.",
            bytes(*one),
            bytes(*other)
        ),
        Apart::Words(one, other) => {
            let [one, other] = [one, other].map(|heading| printable(heading));
            format!(
                "The tables stand under different headings (\"{one}\" and \"{other}\"): of several machines, what follows would \
                 mean nothing."
            )
        }
        Apart::Machines(one, other) => {
            let [one, other] = [one, other].map(|heading| printable(heading));
            format!(
                "The tables stand under different headings (\"{one}\" and \"{other}\"), as those of several machines or \
                 parts do: what grows cannot be told, and what holds memory is of the last. If they are moments of \
                 one, give --every TIME."
            )
        }
        Apart::Objects(cache, one, other) => format!(
            "Objects of {cache} have {one} bytes at one moment and {other} at another, as after a boot with another kernel or \
             with debugging: what grows cannot be told. Give the moments of one boot; what holds memory is of the last."
        ),
    }
}

/// Says whether the part of all slabs grows that the kernel keeps, by the machine's own count.
pub(super) fn kept(growth: &[Growth]) -> Option<String> {
    let kept = growth.iter().find(|growth| growth.name == "SUnreclaim")?;
    Some(match kept.pace {
        Pace::Grows => format!("SUnreclaim, all that is kept, grows by {}.", rate(&kept.rise)),
        Pace::MayGrow => format!(
            "Whether SUnreclaim, all that is kept, grows cannot be told yet: it rises by {}.",
            rate(&kept.rise)
        ),
        Pace::Rose => format!(
            "SUnreclaim, all that is kept, is {} larger.",
            bytes(u64::try_from(kept.change_bytes()).unwrap_or(0))
        ),
        Pace::Flat | Pace::Shrinks => {
            "SUnreclaim, all that is kept, is not shown to grow.".to_owned()
        }
    })
}

/// Says a rate: by the hour, or by the moment where times are not known.
fn rate(rise: &Rise) -> String {
    let (scale, unit) = if rise.is_timed { (3600.0, "an hour") } else { (1.0, "a moment") };
    let amount = |per_step: f64| {
        let bytes_of = bytes((per_step.abs() * scale) as u64);
        if per_step < 0.0 { format!("-{bytes_of}") } else { bytes_of }
    };
    match rise.interval {
        Some((low, high)) => format!(
            "{} {unit} (95 % interval {} to {})",
            amount(rise.bytes_per_step),
            amount(low),
            amount(high)
        ),
        None => format!("{} {unit}", amount(rise.bytes_per_step)),
    }
}
