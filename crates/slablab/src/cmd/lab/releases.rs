//! The releases that have a stock kernel in Debian's archive.

use slablab_linux::Release;
use slablab_vm::{Arch, Interrupt, KernelBuilder, Places, Step};

use crate::say::say;

/// Looks up the releases that have a stock kernel.
pub(super) fn releases(arch: &'static Arch) -> slablab_lab::Result<Vec<Release>> {
    let builder = KernelBuilder::new(&Places::default(), Interrupt::never())?;
    let mut note = |step: Step<'_>| {
        if let Step::Note(text) = step {
            say(format_args!("slablab: {text}"));
        }
    };
    Ok(builder.releases(arch, &mut note)?)
}
