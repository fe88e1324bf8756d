//! `slablab kernel build`: builds kernels, or finds them in the cache.

use std::process::ExitCode;

use anyhow::Result;
use slablab_vm::{Kernel, Spec};

use super::options::KernelsArgs;
use crate::answers::kernel::{BuildAnswer, BuildEntry};
use crate::cli::{AnswerArgs, OutputArgs};
use crate::output::give;
use crate::progress::Progress;

/// Build kernels, or find them in the cache
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    kernels: KernelsArgs,
    #[command(flatten)]
    answer: AnswerArgs,
}

/// Returns what is said of a build.
pub(super) fn entry(kernel: &Kernel) -> BuildEntry {
    BuildEntry {
        name: kernel.spec.name(),
        release: kernel.release().to_owned(),
        key: kernel.key.to_string(),
        build_seconds: kernel.build_seconds(),
        image: kernel.image().display().to_string(),
    }
}

/// Runs `slablab kernel build`.
pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let mut bar = Progress::default();
    let kernels = args.kernels.build(Spec::needs_to_make, &mut bar)?;
    bar.clear();
    let built = BuildAnswer { kernels: kernels.iter().map(entry).collect() };
    give(&built, output, &args.answer)?;
    Ok(ExitCode::SUCCESS)
}
