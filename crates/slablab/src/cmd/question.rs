//! The options of commands that ask a trace a question: the trace, the machine, and the place of the answer.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use slablab_replay::{function, sole_sizes};
use slablab_trace::{AllocatedType, Btf, Meta, Site, TraceReader, Vmlinux};

use super::filter::FilterArgs;
use super::import;
use super::memory::MemoryArgs;
use super::outputs::{check_folder, check_replaced};
use super::traces::args::{FILTERS, ManyArgs, refuse};
use super::traces::{Traces, inputs};
use super::vmlinux;
use crate::answers::sources::Sources;
use crate::answers::typed::TypesFrom;
use crate::cli::AnswerArgs;

/// The options of a question.
#[derive(clap::Args, Debug)]
pub(crate) struct QuestionArgs {
    /// A trace, or what import reads; - is standard input
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// The recorded kernel with debug information
    #[arg(short = 'k', long, value_name = "FILE")]
    vmlinux: Option<PathBuf>,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
    #[command(flatten)]
    ram: MemoryArgs,
}

impl QuestionArgs {
    /// Returns the question about the whole of a trace.
    pub(crate) fn of(trace: &Path) -> Self {
        Self {
            trace: trace.to_owned(),
            vmlinux: None,
            filter: FilterArgs::default(),
            answer: AnswerArgs::default(),
            ram: MemoryArgs::default(),
        }
    }

    /// Opens the trace.
    pub(crate) fn open(&self) -> Result<TraceReader> {
        self.ram.keep();
        vmlinux::check(self.vmlinux.as_deref())?;
        import::open_with_lifetimes(&self.trace, &self.filter)
    }

    /// Opens the trace, and those that `many` names.
    pub(crate) fn open_with<'a>(&'a self, many: &'a ManyArgs) -> Result<Traces<'a>> {
        self.ram.keep();
        vmlinux::check(self.vmlinux.as_deref())?;
        Traces::open_with_lifetimes(&self.trace, many, &self.filter)
    }

    /// Refuses outputs that cannot be written, or that would replace one of `traces`: `more` are outputs beside those that
    /// every question has.
    pub(crate) fn check_outputs(
        &self,
        traces: &[&Path],
        more: &[(&str, Option<&PathBuf>)],
    ) -> Result<()> {
        check_outputs(traces, self.answer.outputs().iter().chain(more).copied())
    }

    /// Refuses these options, if given, and those of one trace that every question has.
    pub(crate) fn refuse_of_many(&self, options: &[(&str, bool)]) -> Result<()> {
        refuse(options)?;
        refuse(&[("--vmlinux", self.vmlinux.is_some()), (FILTERS, !self.filter.is_empty())])
    }

    /// Returns whether the question is about the whole trace, and not about a part of it.
    pub(crate) fn is_about_all(&self) -> bool {
        self.filter.is_empty()
    }

    /// Returns where the trace is.
    pub(crate) fn path(&self) -> &Path {
        &self.trace
    }

    /// Returns the name of the trace.
    pub(crate) fn file(&self) -> String {
        self.trace.display().to_string()
    }

    /// Puts the name of the trace before what went wrong with it, unless that names a file.
    pub(crate) fn with_trace_name<T, E>(&self, result: Result<T, E>) -> Result<T>
    where
        E: Into<anyhow::Error>,
    {
        result.map_err(|error| {
            let error = error.into();
            match error.downcast_ref() {
                Some(slablab_replay::Error::Trace(_)) => error,
                _ => error.context(self.file()),
            }
        })
    }

    /// Looks up the call sites of the trace in the kernel's source, if a page or `is_needed` wants them or a vmlinux is
    /// named. What is wrong with it is worth saying before seconds of work, not after.
    pub(crate) fn sources(&self, trace: &TraceReader, is_needed: bool) -> Result<Option<Sources>> {
        if !is_needed && self.answer.report.is_none() && self.vmlinux.is_none() {
            return Ok(None);
        }
        Ok(Some(Sources::look_up(self.vmlinux.as_deref(), &self.trace, trace.meta())?))
    }

    /// Returns the types of the recorded kernel, by the vmlinux that is named, one of the usual places, or this machine.
    pub(crate) fn types(&self, meta: &Meta) -> Option<Btf> {
        let usual = Vmlinux::usual_places(&self.trace, &meta.kernel_release);
        let named = self.vmlinux.iter().chain(&usual);
        Btf::find(named.map(PathBuf::as_path), &meta.kernel_release)
    }

    /// Returns the type that each call site of the trace allocates, by the vmlinux that is named or the first usable one of
    /// the usual places; `None` where there is none.
    pub(crate) fn debug_types(&self, meta: &Meta) -> Result<Option<Vec<Option<AllocatedType>>>> {
        let of = |path: &Path| Vmlinux::open(path)?.types(&meta.sites);
        if let Some(path) = &self.vmlinux {
            return Ok(Some(of(path)?));
        }
        let usual = Vmlinux::usual_places(&self.trace, &meta.kernel_release);
        let found = usual.iter().filter(|path| path.is_file());
        Ok(found.map(|path| of(path)).find_map(Result::ok))
    }

    /// Returns the same, or says what is needed.
    pub(crate) fn allocated_types(&self, meta: &Meta) -> Result<Vec<Option<AllocatedType>>> {
        self.debug_types(meta)?.with_context(|| {
            format!(
                "{}: --by type needs the debug information of {}, and none was found: name a vmlinux built with \
                 CONFIG_DEBUG_INFO_DWARF5=y by --vmlinux FILE, or ask for --by site",
                self.file(),
                recorded_kernel(meta)
            )
        })
    }

    /// Returns the types by debug information or, without any, those that the kernel's BTF makes likely: a structure that the
    /// function returns or takes, of the one size that the call site asks for.
    pub(crate) fn known_or_likely_types(
        &self,
        trace: &TraceReader,
    ) -> Result<(TypesFrom, Vec<Option<AllocatedType>>)> {
        let meta = trace.meta();
        if let Some(types) = self.debug_types(meta)? {
            return Ok((TypesFrom::DebugInformation, types));
        }
        let btf = self.types(meta).with_context(|| {
            format!(
                "{}: --by typed needs the types of {}, and neither its debug information nor its BTF was found: name its \
                 vmlinux by --vmlinux FILE, or ask for --by random:16",
                self.file(),
                recorded_kernel(meta)
            )
        })?;
        let sizes = self.with_trace_name(sole_sizes(trace))?;
        let likely =
            |(site, bytes): (&Site, Option<u64>)| btf.likely(&[function(&site.name)], bytes?);
        Ok((TypesFrom::Btf, meta.sites.iter().zip(sizes).map(likely).collect()))
    }
}

/// Names the recorded kernel.
fn recorded_kernel(meta: &Meta) -> &str {
    if meta.kernel_release.is_empty() { "the recorded kernel" } else { &meta.kernel_release }
}

/// Refuses to write a result over a trace that it comes from, one result over another, or into a folder that is not
/// there: before hours of work, and not after them.
pub(crate) fn check_outputs<'a>(
    traces: &[&Path],
    outputs: impl IntoIterator<Item = (&'a str, Option<&'a PathBuf>)>,
) -> Result<()> {
    let outputs = outputs.into_iter().filter_map(|(name, path)| Some((name, path?.as_path())));
    let outputs: Vec<_> = outputs.collect();
    for (name, path) in &outputs {
        check_folder(name, path)?;
    }
    // A file that is not there yet replaces none.
    let files = match outputs.iter().any(|(_, path)| path.exists()) {
        true => inputs::files(traces)?,
        false => Vec::new(),
    };
    let traces: Vec<_> = files.iter().map(|file| ("the trace", file.as_path())).collect();
    check_replaced(&traces, &outputs)
}
