//! Call stacks of allocations: the kernel's own trigger `stacktrace`, which writes one behind an event.
//!
//! How it works: a trigger has a filter of its own, as it is pulled also for events that the filter of the event leaves out.
//! It takes 1.3 us an event, so that whoever wants a cheap recording takes a portion of the objects only. Of those, and of call
//! sites, [`super::chosen`] has the stacks where the kernel has BPF: there is no filter to be evaluated twice.
//!
//! Linux counterpart: `stacktrace_trigger` in `kernel/trace/trace_events_trigger.c` @ 6.1 and 6.18.

use super::filter::Filter;
use super::tracefs::Instance;
use crate::{Error, PageKind};

/// The event that has the stack.
pub(crate) const FORMAT: &str = "ftrace/kernel_stack";

/// Asks for the stacks of those of `events` that allocate.
pub(super) fn ask(instance: &Instance, events: &[&str], filter: &Filter<'_>) -> Result<(), Error> {
    for event in events.iter().filter(|event| event.contains("alloc")) {
        let trigger = match filter.text(event) {
            test if test.is_empty() => "stacktrace".to_owned(),
            test => format!("stacktrace if {test}"),
        };
        pull(instance, event, &trigger)?;
    }
    Ok(())
}

/// Asks for the stacks of allocations of pages.
pub(super) fn ask_of_pages(instance: &Instance) -> Result<(), Error> {
    pull(instance, PageKind::Alloc.name(), "stacktrace")
}

fn pull(instance: &Instance, event: &str, trigger: &str) -> Result<(), Error> {
    let written = instance.write(&format!("events/kmem/{event}/trigger"), trigger);
    written.map_err(|error| Error::CannotRecord {
        what: format!("the kernel gives no stacks ({error})"),
        remedy: "record without --stacks, or with `perf record -g` and `slablab import`".into(),
    })
}
