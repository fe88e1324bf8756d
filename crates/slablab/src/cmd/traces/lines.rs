//! The lines and tables that the answers on many traces share.

use slablab_replay::{Fleet, TraceFacts};
use slablab_report::counted;

use crate::output::{Page, bytes, duration, thousands};

/// Says what was added up.
pub(crate) fn head(fleet: &Fleet, page: &mut Page) {
    page.line(format!(
        "{} of {}, {}: {}, {:.1} % of what happened could not be placed",
        counted(fleet.traces, "trace"),
        counted(fleet.hosts.len() as u64, "host"),
        kernels(&fleet.builds),
        counted(fleet.events, "event"),
        100.0 * fleet.unplaced_share
    ));
}

/// Says how many kernels there were. One whose build no trace tells may be one of those of its release that are known, and
/// counts only beside none.
fn kernels(builds: &[String]) -> String {
    let is_known =
        |build: &String| builds.iter().any(|other| other.starts_with(&format!("{build} ")));
    let told = builds.iter().filter(|build| !is_known(build)).count();
    let words = counted(told as u64, "kernel");
    if told == builds.len() { words } else { format!("{words}, or more builds of one") }
}

/// Says what a reader should know, so many lines of it.
pub(crate) fn remarks(remarks: &[String], lines: usize, page: &mut Page) {
    if !remarks.is_empty() {
        page.line("");
        remarks.iter().take(lines).for_each(|remark| page.line(remark));
    }
}

/// Says what was replayed, and how far it can be trusted.
pub(crate) fn header(file: &str, trace: &TraceFacts, page: &mut Page) {
    let release = match trace.kernel_release.as_str() {
        "" => "an unnamed kernel".to_owned(),
        release => format!("Linux {release}"),
    };
    page.line(format!(
        "{file}: {} in {} on {release}, {}{}",
        counted(trace.events, "event"),
        duration(trace.duration_ns),
        counted(trace.cpus.into(), "CPU"),
        if trace.command.is_empty() {
            String::new()
        } else {
            format!(": {}", trace.command.join(" "))
        }
    ));
    if let Some(one_in) = trace.one_in {
        page.line(format!(
            "The objects of 1 in {one_in} pages were recorded: all here is of these, and slabs are emptier than they were."
        ));
    }
    let causes = [
        ("lost", trace.lost),
        ("freed without an event", trace.implicit_frees),
        ("frees of older objects", trace.older_frees),
        ("skipped", trace.skipped),
    ];
    let causes: Vec<_> = causes
        .iter()
        .filter(|(_, events)| *events > 0)
        .map(|(cause, events)| format!("{} {cause}", thousands(*events)))
        .collect();
    let share = trace.unplaced_share * 100.0;
    page.line(match causes.is_empty() {
        true => "Every event could be placed.".to_owned(),
        false => format!("{share:.2} % of the events could not be placed: {}.", causes.join(", ")),
    });
}

/// Formats bytes that may be fewer than none.
pub(super) fn signed(n: i64) -> String {
    format!("{}{}", if n < 0 { "-" } else { "" }, bytes(n.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_a_build_id_is_no_third_one() {
        let of =
            |builds: &[&str]| kernels(&builds.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(of(&["6.1 x86_64"]), "1 kernel");
        assert_eq!(of(&["6.1 x86_64 01", "6.1 x86_64 02"]), "2 kernels");
        assert_eq!(of(&["6.1 x86_64", "6.1 x86_64 01"]), "1 kernel, or more builds of one");
    }
}
