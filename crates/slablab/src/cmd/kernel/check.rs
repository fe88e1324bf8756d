//! What building and booting need, and how guests would run: facts for `slablab doctor`.

use slablab_trace::{Fact, State};
use slablab_vm::{
    Interrupt, KernelBuilder, Need, Places, Spec, apt_get_install, missing, packages,
};

use super::options::{ALLOCATORS, AccelArg};
use crate::progress::Progress;

/// Returns the facts. Nothing is installed or built for them; a probe of KVM boots a kernel that was built before.
pub(in crate::cmd) fn facts() -> Vec<Fact> {
    let kernels = Spec::plain("slub").needs();
    vec![
        needs("building and booting kernels", &kernels),
        needs("stock kernels of Debian's", &[Need::STOCK]),
        needs("kernel boot --flame", &[Need::PROFILE]),
        guests(&kernels),
    ]
}

fn fact(name: &'static str, state: State, found: String, remedy: String) -> Fact {
    Fact { name, state, found, remedy }
}

/// Says whether this machine has what `needs` name.
fn needs(name: &'static str, needs: &[&'static [Need]]) -> Fact {
    let lacking = missing(needs);
    if lacking.is_empty() {
        return fact(name, State::Good, "all that is needed is here".to_owned(), String::new());
    }
    let what: Vec<_> = lacking.iter().map(|need| need.what).collect();
    let remedy =
        format!("{}, or --yes of the command (as root)", apt_get_install(&packages(&lacking)));
    fact(name, State::Fair, format!("lacks {}", what.join(", ")), remedy)
}

/// Says how guests run, and why so.
fn guests(kernels: &[&'static [Need]]) -> Fact {
    const NAME: &str = "guests";
    let fair = |found: String, remedy: &str| fact(NAME, State::Fair, found, remedy.to_owned());
    if !missing(kernels).is_empty() {
        return fair("not probed while something is missing".to_owned(), "");
    }
    match resolved() {
        Ok(Some((accel, why))) => fact(NAME, State::Good, format!("{accel}: {why}"), String::new()),
        Ok(None) => {
            fair("no kernel is built yet to probe KVM with".to_owned(), "slablab kernel build slub")
        }
        Err(error) => fair(format!("cannot be probed: {error}"), ""),
    }
}

/// Returns which accelerator guests get, and why, if there is a kernel to probe with.
fn resolved() -> anyhow::Result<Option<(String, String)>> {
    let places = Places { source: None, cache: None, mirror: None };
    let builder = KernelBuilder::reading(&places, Interrupt::on_signals()?)?;
    for allocator in ALLOCATORS {
        if let Some(kernel) = builder.find(&Spec::plain(allocator))? {
            let (accel, why) =
                AccelArg::Auto.resolve(&builder, &kernel, &mut Progress::default())?;
            return Ok(Some((accel.name().to_owned(), why)));
        }
    }
    Ok(None)
}
