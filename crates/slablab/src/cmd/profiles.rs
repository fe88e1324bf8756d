//! What `slablab export` writes of call stacks: pprof, folded text, and the Firefox Profiler's JSON.
//!
//! How it works: the stacks are those of `stat --by stack`. A profile has several types of value in one file: what was alive
//! at the moment (objects, bytes, waste), what was allocated, and what grew where two moments are given. Folded text has one
//! number a line, bytes alive or the bytes that grew.

use std::path::PathBuf;

use anyhow::{Result, bail};
use slablab_linux::function_of;
use slablab_replay::{Amount, Holding, Holdings, Labels};
use slablab_report::{Call, Flame, Profile, ValueType};
use slablab_trace::{Meta, TraceReader};

use super::filter::FilterArgs;
use super::groups::MomentArgs;
use super::import;
use super::outputs::check_replaced;
use crate::answers::export::ExportedTable;
use crate::output::write_whole;

/// The files to write.
#[derive(clap::Args, Debug, Clone, Default)]
pub(crate) struct ProfileArgs {
    /// Write what was alive by call stack as pprof (go tool pprof, Pyroscope, Perfetto)
    #[arg(long, value_name = "FILE")]
    pprof: Option<PathBuf>,
    /// Write it as folded text (flamegraph.pl, speedscope)
    #[arg(long, value_name = "FILE")]
    folded: Option<PathBuf>,
    /// Write it for the Firefox Profiler
    #[arg(long, value_name = "FILE")]
    firefox: Option<PathBuf>,
}

impl ProfileArgs {
    /// Tells whether there is something to write.
    pub(crate) fn is_given(&self) -> bool {
        self.files().next().is_some()
    }

    fn files(&self) -> impl Iterator<Item = (&'static str, &PathBuf)> {
        let all = [
            ("--pprof", self.pprof.as_ref()),
            ("--folded", self.folded.as_ref()),
            ("--firefox", self.firefox.as_ref()),
        ];
        all.into_iter().filter_map(|(name, file)| Some((name, file?)))
    }
}

/// Writes the profiles of one trace; returns the files.
pub(crate) fn write(
    traces: &[PathBuf],
    args: &ProfileArgs,
    moments: &MomentArgs,
) -> Result<Vec<ExportedTable>> {
    let [path] = traces else {
        bail!("a profile is of one trace: name one, or leave out --pprof, --folded and --firefox");
    };
    let outputs: Vec<_> = args.files().map(|(name, file)| (name, file.as_path())).collect();
    if let Some((name, _)) = outputs.iter().find(|(_, file)| file.as_os_str() == "-") {
        bail!("{name} -: name a file, or /dev/stdout (./- for a file of that name)");
    }
    check_replaced(&[("the trace", path.as_path())], &outputs)?;
    let trace: TraceReader = import::open(path, &FilterArgs::default())?;
    let (meta, holdings) = (trace.meta(), moments.holdings(&trace)?);
    let labels = Labels::new(meta, &holdings, &moments.helper);
    let title = format!("slab memory of {}", path.display());
    let profile = profile(title, meta, &holdings, &labels, moments.growth.is_some());
    if let Some(file) = &args.pprof {
        write_whole(file, &profile.pprof()?)?;
    }
    if let Some(file) = &args.firefox {
        write_whole(file, profile.firefox().as_bytes())?;
    }
    if let Some(file) = &args.folded {
        let text = folded(meta, &holdings, &labels, moments.growth.is_some());
        write_whole(file, text.as_bytes())?;
    }
    let written = args.files().map(|(_, file)| ExportedTable { table: file.display().to_string() });
    Ok(written.collect())
}

/// Returns the number of objects that each recorded one stands for.
fn times(meta: &Meta) -> u64 {
    meta.portion.as_ref().map_or(1, |portion| portion.one_in.into())
}

fn ends(holding: &Holding) -> (Amount, Amount) {
    let of = |amount: Option<&Amount>| amount.copied().unwrap_or_default();
    (of(holding.live.first()), of(holding.live.last()))
}

fn profile(
    title: String,
    meta: &Meta,
    holdings: &Holdings,
    labels: &Labels<'_>,
    is_growth: bool,
) -> Profile {
    let of = |(name, unit): (&str, &str)| ValueType { name: name.into(), unit: unit.into() };
    let mut types: Vec<_> = [
        ("inuse_space", "bytes"),
        ("inuse_objects", "count"),
        ("waste_space", "bytes"),
        ("alloc_space", "bytes"),
        ("alloc_objects", "count"),
    ]
    .map(of)
    .into();
    types.extend(is_growth.then(|| of(("growth_space", "bytes"))));
    let mut profile = Profile::new(title, types);
    profile.time_unix_ns = meta.start_unix_ns.unwrap_or(0);
    profile.duration_ns = meta.time_last_ns.saturating_sub(meta.time_first_ns);
    let times = times(meta);
    let value = |number: u64| i64::try_from(number.saturating_mul(times)).unwrap_or(i64::MAX);
    for holding in &holdings.holders {
        let (first, last) = ends(holding);
        let allocated = holding.allocated;
        let mut values: Vec<_> =
            [last.bytes, last.objects, last.waste(), allocated.bytes, allocated.objects]
                .map(value)
                .into();
        values.extend(is_growth.then(|| value(last.bytes) - value(first.bytes)));
        let holder = &holding.holder;
        let of = |names: &[String], at: u32| names.get(at as usize).cloned().unwrap_or_default();
        let names = [
            ("cache", of(&holdings.caches, holder.cache)),
            ("program", of(&holdings.programs, holder.program)),
        ];
        let names = names.into_iter().filter(|(_, name)| !name.is_empty()).collect();
        profile.add(labels.calls(holder).map(call), values, names);
    }
    profile
}

/// Returns a frame, given by its name and address, as a profile has it.
fn call((frame, address): (&str, u64)) -> Call {
    let module = frame.split_once(" [").map(|(_, rest)| rest.trim_end_matches(']'));
    let module = module.unwrap_or("vmlinux").to_owned();
    Call { function: function_of(frame).to_owned(), module, address }
}

fn folded(meta: &Meta, holdings: &Holdings, labels: &Labels<'_>, is_growth: bool) -> String {
    let mut flame = Flame::new("", "B", "");
    for holding in &holdings.holders {
        let (first, last) = ends(holding);
        let bytes = if is_growth { last.bytes.saturating_sub(first.bytes) } else { last.bytes };
        if bytes > 0 {
            let mut stack = labels.frames(&holding.holder);
            stack.reverse();
            flame.add(stack, bytes.saturating_mul(times(meta)));
        }
    }
    flame.folded()
}
