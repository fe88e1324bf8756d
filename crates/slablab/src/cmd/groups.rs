//! `slablab stat --by`: what was alive, and who allocated it, by owner, stack, program and others; `slablab export` counts
//! by the same options.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use slablab_replay::{By, Holdings, Labels, PageBy, When, holdings, passes};
use slablab_trace::{Meta, TraceReader, Vmlinux};

use super::filter::parse_name;
use super::helpers::refuse_unknown;
use super::vmlinux;
use crate::progress::Progress;

/// Which moments of the trace, and who is taken for an owner.
#[derive(clap::Args, Debug, Default, Clone)]
pub(crate) struct MomentArgs {
    /// What was alive at this moment: peak, end, seconds (1.5) or percent (50%) [default: peak and end]
    #[arg(long, value_name = "MOMENT", value_parser = parse_moment)]
    pub(crate) at: Option<Moment>,
    /// What grew between two moments (10%,end)
    #[arg(long, value_name = "FROM,TO", value_parser = parse_growth, conflicts_with = "at")]
    pub(crate) growth: Option<(Moment, Moment)>,
    /// Functions that allocate for their callers, beside those that are known and found
    #[arg(long, value_name = "FUNCTION,...", value_delimiter = ',', value_parser = parse_name)]
    pub(crate) helper: Vec<String>,
}

/// How holders are put together.
#[derive(clap::Args, Debug, Default, Clone)]
pub(crate) struct GroupArgs {
    /// Group by these: site, cache, stack, owner, module, type, directory, program, cgroup; with --pages order, migrate-type,
    /// gfp, use (slabs or others), site, stack, owner, module, program
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "WHAT,...",
        hide_possible_values = true
    )]
    by: Vec<ByName>,
    #[command(flatten)]
    pub(crate) moments: MomentArgs,
    /// The recorded kernel with debug information, for --by type and directory
    #[arg(short = 'k', long, value_name = "FILE")]
    vmlinux: Option<PathBuf>,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum ByName {
    Site,
    Cache,
    Stack,
    Owner,
    Module,
    Type,
    Directory,
    Program,
    Cgroup,
    Order,
    MigrateType,
    Gfp,
    Use,
}

impl ByName {
    /// Returns what slab events are grouped by; `None` of what only pages have.
    fn by(self) -> Option<By> {
        Some(match self {
            Self::Site => By::Site,
            Self::Cache => By::Cache,
            Self::Stack => By::Stack,
            Self::Owner => By::Owner,
            Self::Module => By::Module,
            Self::Type => By::Type,
            Self::Directory => By::Directory,
            Self::Program => By::Program,
            Self::Cgroup => By::Cgroup,
            Self::Order | Self::MigrateType | Self::Gfp | Self::Use => return None,
        })
    }

    /// Returns what page events are grouped by; `None` of what only slab events have.
    fn by_of_pages(self) -> Option<PageBy> {
        Some(match self {
            Self::Site => PageBy::Site,
            Self::Stack => PageBy::Stack,
            Self::Owner => PageBy::Owner,
            Self::Module => PageBy::Module,
            Self::Program => PageBy::Program,
            Self::Order => PageBy::Order,
            Self::MigrateType => PageBy::MigrateType,
            Self::Gfp => PageBy::Gfp,
            Self::Use => PageBy::Use,
            Self::Cache | Self::Type | Self::Directory | Self::Cgroup => return None,
        })
    }

    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// A moment of a trace, as somebody says it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Moment {
    Peak,
    End,
    Seconds(f64),
    Percent(f64),
}

impl Moment {
    /// Returns it as a moment of a trace.
    ///
    /// # Errors
    /// If the trace ends before it: what was alive at its end would pass for what was alive then.
    fn when(self, meta: &Meta) -> Result<When> {
        let since_first = |time_ns: u64| time_ns.saturating_sub(meta.time_first_ns);
        let length_ns = since_first(meta.time_last_ns);
        let pages = meta.pages.as_ref().map_or(0, |pages| since_first(pages.time_last_ns));
        let all_ns = length_ns.max(pages) as f64;
        let after = |ns: f64| When::At(meta.time_first_ns.saturating_add(ns as u64));
        Ok(match self {
            Self::Peak => When::Peak,
            Self::End => When::End,
            // A number may be rounded by less than a nanosecond.
            Self::Seconds(seconds) if seconds * 1e9 > all_ns + 1.0 => bail!(
                "{seconds} s lies behind the end of the recording, whose last event is at {} s: name a moment up to then, or end",
                all_ns / 1e9
            ),
            Self::Seconds(seconds) => after(seconds * 1e9),
            Self::Percent(percent) => after(length_ns as f64 * percent / 100.0),
        })
    }

    /// Returns it as a time of the trace's clock; that of the peak is not known beforehand.
    pub(super) fn time_ns(self, meta: &Meta) -> Result<Option<u64>> {
        Ok(match self.when(meta)? {
            When::Peak => None,
            When::End => Some(meta.time_last_ns),
            When::At(time_ns) => Some(time_ns),
        })
    }

    /// Says it as the heading of a column does.
    pub(super) fn words(self) -> String {
        match self {
            Self::Peak => "at the peak".to_owned(),
            Self::End => "at the end".to_owned(),
            Self::Seconds(seconds) => format!("at {seconds} s"),
            Self::Percent(percent) => format!("at {percent} %"),
        }
    }
}

impl MomentArgs {
    /// Tells whether any was given.
    pub(crate) fn is_given(&self) -> bool {
        self.at.is_some() || self.growth.is_some() || !self.helper.is_empty()
    }

    /// Returns the moments that are asked for; the last is what an answer is about.
    pub(crate) fn moments(&self) -> Vec<Moment> {
        match (self.at, self.growth) {
            (_, Some((from, to))) => vec![from, to],
            (Some(at), None) => vec![at],
            (None, None) => vec![Moment::End, Moment::Peak],
        }
    }

    /// Returns the moments that are asked for, of this trace.
    pub(crate) fn when(&self, path: &Path, meta: &Meta) -> Result<Vec<When>> {
        let option = if self.growth.is_some() { "--growth" } else { "--at" };
        let moments = self.moments();
        let when = moments.iter().map(|moment| moment.when(meta)).collect::<Result<_>>();
        when.with_context(|| format!("{}: {option}", path.display()))
    }

    /// Returns what columns call the moments.
    pub(crate) fn words(&self) -> Vec<String> {
        self.moments().into_iter().map(Moment::words).collect()
    }

    /// Counts what was alive at these moments.
    pub(crate) fn holdings(&self, trace: &TraceReader) -> Result<Holdings> {
        let meta = trace.meta();
        let moments = self.when(trace.path(), meta)?;
        let total = meta.events.saturating_mul(passes(&moments));
        let mut progress = Progress::default();
        let counted = holdings(trace, &moments, &mut |done| {
            progress.step(slablab_trace::Progress {
                phase: "counting",
                done,
                total,
                unit: "events",
            });
        });
        Ok(counted?)
    }
}

impl GroupArgs {
    /// Tells whether groups are asked for.
    pub(crate) fn is_given(&self) -> bool {
        !self.by.is_empty()
    }

    /// Refuses what says how to group where nothing is to be grouped.
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(by) = self.by.iter().find(|by| by.by().is_none()) {
            bail!("--by {} is about pages: add --pages", by.name());
        }
        if let Some(by) = (1..self.by.len()).find(|at| self.by[..*at].contains(&self.by[*at])) {
            bail!("--by {} is given twice: name each group once", self.by[by].name());
        }
        if self.by.is_empty() && (self.moments.is_given() || self.vmlinux.is_some()) {
            bail!("--at, --growth, --helper and --vmlinux are about groups: add --by owner");
        }
        vmlinux::check(self.vmlinux.as_deref())
    }

    /// Refuses what pages alone have.
    pub(crate) fn check_of_pins(&self) -> Result<()> {
        match self.by.iter().find(|by| by.by().is_none()) {
            Some(by) => bail!("--by {} is about pages: name another group", by.name()),
            None => vmlinux::check(self.vmlinux.as_deref()),
        }
    }

    /// Refuses what slab events alone have.
    pub(crate) fn check_of_pages(&self) -> Result<()> {
        if let Some(by) = self.by.iter().find(|by| by.by_of_pages().is_none()) {
            bail!("--by {} is about slab events: leave out --pages", by.name());
        }
        if self.vmlinux.is_some() {
            bail!(
                "--vmlinux is for --by type and directory, which pages do not have: leave it out"
            );
        }
        Ok(())
    }

    /// Returns what is grouped by, with the heading of each.
    pub(crate) fn by(&self) -> Vec<(By, String)> {
        self.by.iter().filter_map(|by| Some((by.by()?, by.name()))).collect()
    }

    /// Returns what pages are grouped by, with the heading of each.
    pub(crate) fn by_of_pages(&self) -> Vec<(PageBy, String)> {
        self.by
            .iter()
            .filter_map(|by| Some((by.by_of_pages()?, by.name().replace('-', " "))))
            .collect()
    }

    /// Names the groups, with types and directories where they are asked for.
    pub(crate) fn labels<'a>(
        &self,
        path: &Path,
        meta: &'a Meta,
        holdings: &'a Holdings,
    ) -> Result<Labels<'a>> {
        if self.by.contains(&ByName::Cgroup) && meta.cgroups.is_empty() {
            bail!(
                "{}: does not say in which memory cgroups its threads were: slablab record does, of a kernel that has them",
                path.display()
            );
        }
        refuse_unknown(path, meta, &self.moments.helper)?;
        let mut labels = Labels::new(meta, holdings, &self.moments.helper);
        if self.by.contains(&ByName::Type) {
            let types = self.of_vmlinux(path, meta, |v| v.types(&meta.sites))?;
            labels = labels.types(types.into_iter().map(|one| Some(one?.name)).collect());
        }
        if self.by.contains(&ByName::Directory) {
            let owners = labels.owners();
            let places = self.of_vmlinux(path, meta, |v| v.places(&owners))?;
            let folder = |file: &str| match file.rsplit_once('/') {
                Some((folder, _)) => folder.to_owned(),
                None => ".".to_owned(),
            };
            let named = owners.iter().zip(places);
            let directories: BTreeMap<_, _> = named
                .filter_map(|(owner, place)| Some((owner.name.clone(), folder(&place?.file))))
                .collect();
            labels = labels.directories(directories);
        }
        Ok(labels)
    }

    /// Asks the vmlinux that is named, or the first usable one of the usual places.
    fn of_vmlinux<T>(
        &self,
        path: &Path,
        meta: &Meta,
        ask: impl Fn(&Vmlinux) -> Result<T, slablab_trace::Error>,
    ) -> Result<T> {
        let of = |path: &Path| ask(&Vmlinux::open(path)?);
        if let Some(path) = &self.vmlinux {
            return Ok(of(path)?);
        }
        let usual = Vmlinux::usual_places(path, &meta.kernel_release);
        let mut found = usual.iter().filter(|path| path.is_file());
        match found.find_map(|path| of(path).ok()) {
            Some(told) => Ok(told),
            None => bail!(
                "--by type and --by directory need the debug information of the recorded kernel, and none was found: name \
                 a vmlinux built with CONFIG_DEBUG_INFO_DWARF5=y by --vmlinux FILE, or ask for --by owner"
            ),
        }
    }
}

fn parse_moment(text: &str) -> Result<Moment, String> {
    let number = |text: &str| text.parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0);
    let moment = match text.trim() {
        "peak" => Some(Moment::Peak),
        "end" => Some(Moment::End),
        text => match text.strip_suffix('%') {
            Some(percent) => number(percent).filter(|n| *n <= 100.0).map(Moment::Percent),
            None => number(text).map(Moment::Seconds),
        },
    };
    moment.ok_or_else(|| "a moment is peak, end, seconds (1.5) or percent (0% to 100%)".to_owned())
}

fn parse_growth(text: &str) -> Result<(Moment, Moment), String> {
    let (from, to) = text.split_once(',').ok_or("give two moments (10%,end)")?;
    let (from, to) = (parse_moment(from)?, parse_moment(to)?);
    let is_reversed = match (from, to) {
        (Moment::Seconds(from), Moment::Seconds(to)) => from > to,
        (Moment::Percent(from), Moment::Percent(to)) => from > to,
        (Moment::End, to) => to != Moment::End,
        _ => false,
    };
    if is_reversed {
        return Err("the first moment is behind the second: turn them round".to_owned());
    }
    Ok((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_or_refused() {
        assert_eq!(parse_moment("peak"), Ok(Moment::Peak));
        assert_eq!(parse_moment("1.5"), Ok(Moment::Seconds(1.5)));
        assert_eq!(parse_growth("10%,end"), Ok((Moment::Percent(10.0), Moment::End)));
        for reversed in ["50%,10%", "2,1", "end,0", "end,peak"] {
            assert!(parse_growth(reversed).is_err_and(|why| why.contains("behind")), "{reversed}");
        }
        for wrong in ["", "x", "-1", "nan", "50 %x", "10%,"] {
            assert!(parse_moment(wrong).is_err() && parse_growth(wrong).is_err(), "{wrong}");
        }
    }
}
