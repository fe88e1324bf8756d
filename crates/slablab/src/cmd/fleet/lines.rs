//! The lines and tables that the answers on many traces share.

use slablab_replay::{Allocator, Fleet, HOSTS_FOR_INTERVAL, OverHosts};
use slablab_report::counted;

use crate::output::{Cell, Page, Table, bytes, field};

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

/// Formats bytes that may be fewer than none.
pub(super) fn signed(n: i64) -> String {
    format!("{}{}", if n < 0 { "-" } else { "" }, bytes(n.unsigned_abs()))
}

/// Returns a table of bytes over hosts, a line an allocator, and where they are most.
pub(super) fn over_hosts(allocators: &[Allocator], over: &[OverHosts]) -> Table {
    let rows: Vec<(&Allocator, &OverHosts)> = allocators.iter().zip(over).collect();
    let fields = [
        field::name("allocator", "allocator", |(a, _): &(&Allocator, &OverHosts)| &a.allocator),
        field::cell("all", "all", |(_, over)| Cell::text(signed(over.sum))),
        field::cell("95 % interval", "interval", |(_, over)| match &over.interval {
            Some(i) => Cell::text(format!("{} .. {}", signed(i.low as i64), signed(i.high as i64))),
            None => Cell::text(format!("under {HOSTS_FOR_INTERVAL} hosts")),
        }),
        field::cell("median host", "median", |(_, over)| Cell::text(signed(over.median))),
        field::cell("p90", "p90", |(_, over)| Cell::text(signed(over.p90))),
        field::cell("most on", "most_on", |(_, over)| match over.most_on.first() {
            Some((host, most)) => Cell::text(format!("{host} {}", signed(*most))),
            None => Cell::Missing,
        }),
    ];
    Table::of(&rows, fields)
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
