//! The option `--helper` of commands that advise by call site, and the trace with owners as its call sites.

use anyhow::{Result, bail};
use slablab_linux::Helpers;
use slablab_trace::{TraceReader, by_owner};

use crate::progress::Progress;

/// Which functions allocate for their callers.
#[derive(clap::Args, Debug, Default, Clone)]
pub(crate) struct HelperArgs {
    /// Functions that allocate for their callers, beside those that are known: whoever calls them is the call site
    #[arg(long, value_name = "FUNCTION,...", value_delimiter = ',')]
    helper: Vec<String>,
}

impl HelperArgs {
    /// Returns the trace with owners in place of the helpers that allocated for them; `None` where no stack tells of any.
    ///
    /// # Errors
    /// If the user named helpers, and the trace has no stacks to look behind them.
    pub(crate) fn owned(&self, trace: &TraceReader) -> Result<Option<TraceReader>> {
        if !self.helper.is_empty() && trace.meta().stacks.is_empty() {
            bail!(
                "{}: --helper needs call stacks, and this trace has none: record --stacks keeps them",
                trace.path().display()
            );
        }
        let helpers = Helpers::known().and(&self.helper);
        let mut progress = Progress::default();
        Ok(by_owner(trace, &helpers, &mut |step| progress.step(step))?)
    }

    /// Returns the functions that the user named.
    pub(crate) fn named(&self) -> &[String] {
        &self.helper
    }
}
