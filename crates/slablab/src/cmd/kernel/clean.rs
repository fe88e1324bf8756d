//! `slablab kernel clean`: removes builds that no command needs any more.

use std::process::ExitCode;

use anyhow::Result;
use slablab_host::{folder_of, remove_unpacked};
use slablab_vm::{Data, Interrupt, Spec};

use super::options::{ALLOCATORS, BuilderArgs, MODERN};
use crate::answers::kernel::CleanAnswer;
use crate::cli::{AnswerArgs, OutputArgs};
use crate::output::give;

/// Remove builds that no command needs any more from the cache
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Also remove the kernels of the present source, patches and configuration, and what was downloaded
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    builder: BuilderArgs,
}

/// Runs `slablab kernel clean`.
pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let builder = args.builder.builder(Interrupt::never())?;
    let mut keep = Vec::new();
    if !args.all {
        keep = builder.downloads();
        let built = builder.built().into_iter().map(|kernel| kernel.spec);
        for spec in needed(&builder.data)?.into_iter().chain(built) {
            keep.extend(builder.find(&spec)?.map(|kernel| kernel.folder));
            keep.extend(builder.tree(&spec)?);
        }
    }
    let mut removed = builder.store.clean(&keep)?;
    // Data named by the environment is not unpacked, and is not in any of these folders.
    let ours = [Data::find()?.root().to_owned(), slablab_kapi::toolchain::include_folder()?];
    let ours = ours.map(|folder| folder_of(&folder).to_owned());
    let mut unpacked = remove_unpacked(&["kernel", "kapi"], &ours)?;
    unpacked.extend(slablab_kapi::toolchain::clean()?);
    removed.extend(unpacked.iter().map(|path| path.display().to_string()));
    give(&CleanAnswer { removed }, output, &AnswerArgs::default())?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the kernels that some command builds with the present source, patches and configuration.
fn needed(data: &Data) -> Result<Vec<Spec>> {
    let mut specs = Vec::new();
    let modern = MODERN.iter().map(|name| Spec::named(data, name));
    for plain in ALLOCATORS.iter().map(|name| Ok(Spec::plain(name))).chain(modern) {
        let plain = plain?;
        let flavours = data.flavours().into_iter();
        specs.extend(flavours.map(|flavour| Spec { flavours: vec![flavour], ..plain.clone() }));
        specs.push(plain);
    }
    Ok(specs)
}
