//! The option `--helper` of commands that advise by call site, and the trace with owners as its call sites.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};
use slablab_linux::{Helpers, function_of};
use slablab_replay::nearest_name;
use slablab_trace::{Meta, TraceReader, by_owner};

use super::filter::parse_name;
use crate::progress::Progress;

/// Which functions allocate for their callers.
#[derive(clap::Args, Debug, Default, Clone)]
pub(crate) struct HelperArgs {
    /// Functions whose callers are the call sites
    #[arg(long, value_name = "FUNCTION,...", value_delimiter = ',', value_parser = parse_name)]
    helper: Vec<String>,
}

impl HelperArgs {
    /// Returns the trace with owners in place of the helpers that allocated for them; `None` where no stack tells of any.
    ///
    /// # Errors
    /// If the user named helpers, and no call stack of the trace goes through them.
    pub(crate) fn owned(&self, trace: &TraceReader) -> Result<Option<TraceReader>> {
        refuse_unknown(trace.path(), trace.meta(), &self.helper)?;
        let helpers = Helpers::known().and(&self.helper);
        let mut progress = Progress::default();
        Ok(by_owner(trace, &helpers, &mut |step| progress.step(step))?)
    }

    /// Refuses a call site that is one of the helpers: what it allocated counts for its callers.
    pub(crate) fn refuse_as_site(&self, site: &str) -> Result<()> {
        if self.helper.iter().any(|helper| function_of(helper) == function_of(site)) {
            bail!(
                "{site} is named as a --helper, so that what it allocates counts for its callers: name one of these, or leave \
                 --helper out"
            );
        }
        Ok(())
    }

    /// Returns the functions that the user named.
    pub(crate) fn named(&self) -> &[String] {
        &self.helper
    }
}

/// Refuses a helper that no call stack goes through: it is misspelt, or the trace has no stacks.
pub(crate) fn refuse_unknown(path: &Path, meta: &Meta, helpers: &[String]) -> Result<()> {
    if helpers.is_empty() {
        return Ok(());
    }
    let path = path.display();
    if meta.stacks.is_empty() {
        bail!(
            "{path}: --helper needs call stacks, and this trace has none: record --stacks keeps them"
        );
    }
    let frames = (0..meta.stacks.frames_len() as u32).map(|frame| &meta.stacks.frame(frame).name);
    let functions: BTreeSet<&str> = frames.map(|name| function_of(name)).collect();
    for helper in helpers {
        if !functions.contains(function_of(helper)) {
            let meant = nearest_name(helper, functions.iter().copied());
            let meant = meant.map_or_else(String::new, |name| format!("; did you mean {name}?"));
            bail!("{path}: no call stack goes through the function {helper:?} of --helper{meant}");
        }
    }
    Ok(())
}
