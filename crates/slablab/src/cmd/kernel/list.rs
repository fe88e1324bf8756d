//! `slablab kernel list`: kernels, what was built, modules and patches.

use std::process::ExitCode;

use anyhow::Result;
use slablab_vm::{Arch, Data, Interrupt, KernelBuilder, Linux, Origin, Release, Series, Spec};

use super::build::entry;
use super::options::{ALLOCATORS, BuilderArgs, MODERN};
use crate::answers::kernel::{KernelEntry, KernelsAnswer};
use crate::cli::{AnswerArgs, OutputArgs};
use crate::output::give;

/// List kernels, what was built, modules and patches
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    builder: BuilderArgs,
    #[command(flatten)]
    answer: AnswerArgs,
}

/// Runs `slablab kernel list`.
pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let builder = args.builder.reader(Interrupt::never())?;
    let data = &builder.data;
    let series = Series::read(data, Release(6, 1))?;
    let patches = series.patches().iter().filter_map(|path| path.file_stem());
    let mut built: Vec<_> = builder.built().iter().map(entry).collect();
    built.sort_by(|a, b| (&a.name, &a.release).cmp(&(&b.name, &b.release)));
    let listing = KernelsAnswer {
        kernels: kernels(&builder, data)?,
        flavours: data.flavours(),
        built,
        modules: data.modules().iter().map(|module| module.name().to_owned()).collect(),
        patches: patches.map(|name| name.to_string_lossy().into_owned()).collect(),
    };
    give(&listing, output, &args.answer)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the kernels that are built, and the stock ones as far as Debian's lists were read.
fn kernels(builder: &KernelBuilder, data: &Data) -> Result<Vec<KernelEntry>> {
    let plain = ALLOCATORS.iter().chain(&MODERN).map(|name| Spec::named(data, name));
    let mut specs: Vec<_> = plain.collect::<Result<_, _>>()?;
    // With flavours there are many; those that are built are listed.
    let mut flavoured: Vec<_> = builder.built().into_iter().map(|kernel| kernel.spec).collect();
    flavoured.retain(|spec| !spec.flavours.is_empty());
    flavoured.sort_by_key(Spec::name);
    specs.append(&mut flavoured);
    let mut rows = Vec::new();
    for spec in specs {
        let slub = |release: Release| format!("slub {}", release.slub());
        let allocator = match &spec.origin {
            Origin::Build(Linux::Debian(release), allocator) if allocator == "slub" => {
                slub(*release)
            }
            Origin::Build(_, allocator) if allocator == "slub" => slub(Release(6, 1)),
            Origin::Build(_, allocator) => allocator.clone(),
            _ => String::new(),
        };
        // Without a compiler none is found, and none is built.
        let kernel = builder.find(&spec).ok().flatten();
        rows.push(KernelEntry {
            kernel: spec.name(),
            allocator,
            machine: spec.arch().name,
            cached: kernel.is_some(),
            release: kernel.map(|kernel| kernel.release().to_owned()),
        });
    }
    for stock in builder.stocks() {
        let name = match stock.arch == Arch::NATIVE {
            true => format!("debian:{}", stock.release),
            false => format!("debian:{}/{}", stock.release, stock.arch.name),
        };
        rows.push(KernelEntry {
            kernel: name,
            allocator: format!("slub {}", stock.release.slub()),
            machine: stock.arch.name,
            cached: stock.folder.is_some(),
            release: Some(stock.version),
        });
    }
    Ok(rows)
}
