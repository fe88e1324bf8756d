//! What has to be typed for a setting, as a block to paste.

use slablab_replay::Typed;

use crate::output::Page;

/// Appends what has to be typed.
pub(super) fn block(typed: &Typed, page: &mut Page) {
    if !typed.command_line.is_empty() {
        page.line(format!("  on the kernel's command line:  {}", typed.command_line.join(" ")));
    }
    for line in &typed.kconfig {
        page.line(format!("  in the kernel's configuration: {line}"));
    }
    if !typed.shell.is_empty() {
        page.line("  as root, after each boot:");
        typed.shell.iter().for_each(|line| page.line(format!("    {line}")));
    }
}
