//! Man pages: clap_mangen's sections, but for three that it does not write as manuals have them.
//!
//! # How it works
//! The text behind a help has prose and examples. Its prose is NOTES; what is indented below "Examples:" is EXAMPLES, line by
//! line (`.nf`), since a line that is filled or hyphenated cannot be typed. The synopsis has the `--` before a command that is
//! to be run. Headers and footers name the program and not the sub-command.

use std::io;
use std::path::Path;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::output::write_whole;

/// Writes a page for `command` and each of its sub-commands into `folder`.
pub(super) fn pages(command: Command, folder: &Path) -> anyhow::Result<()> {
    fn each(command: &Command, source: &str, folder: &Path) -> anyhow::Result<()> {
        for below in command.get_subcommands().filter(|command| !command.is_hide_set()) {
            each(below, source, folder)?;
        }
        let man = Man::new(command.clone()).source(source).manual("slablab manual");
        write_whole(&folder.join(man.get_filename()), &page(&man, command)?)
    }
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let source = format!("slablab {}", command.get_version().unwrap_or_default());
    each(&command, &source, folder)
}

/// Returns the page of one command.
fn page(man: &Man, command: &Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    page.extend(synopsis(man, command)?);
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.get_subcommands().any(|command| !command.is_hide_set()) {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(text) = command.get_after_help() {
        after_help(&text.to_string()).to_writer(&mut page)?;
    }
    man.render_version_section(&mut page)?;
    Ok(page)
}

/// Returns the synopsis, with `--` before a command that is to be run.
fn synopsis(man: &Man, command: &Command) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    man.render_synopsis_section(&mut text)?;
    let runs = |arg: &clap::Arg| arg.is_last_set() || arg.is_trailing_var_arg_set();
    if !command.get_positionals().any(runs) {
        return Ok(text);
    }
    let mut text = String::from_utf8(text).expect("roff of UTF-8 is UTF-8");
    // It stands last: "[\fICOMMAND\fR]" where it may be left out, "<\fICOMMAND\fR>" where not.
    if let Some(at) = text.rfind("[\\fI") {
        text.insert_str(at + 1, "\\-\\- ");
    } else if let Some(at) = text.rfind("<\\fI") {
        text.insert_str(at, "\\-\\- ");
    }
    Ok(text.into_bytes())
}

/// Returns the sections of the text behind a help.
fn after_help(text: &str) -> Roff {
    let lines: Vec<&str> = text.lines().collect();
    let heading = lines.iter().position(|line| matches!(*line, "Example:" | "Examples:"));
    let begin = heading.unwrap_or(lines.len());
    // Prose may stand behind the examples, too.
    let end =
        begin + 1 + lines.iter().skip(begin + 1).take_while(|line| line.starts_with(' ')).count();
    let rest = lines.get(end..).unwrap_or_default();
    let mut roff = Roff::new();
    section(&mut roff, "NOTES", &[&lines[..begin], rest].concat());
    section(&mut roff, "EXAMPLES", lines.get(begin + 1..end).unwrap_or_default());
    roff
}

/// Appends a section, unless it has nothing: paragraphs, and indented lines as they are.
fn section(roff: &mut Roff, name: &str, lines: &[&str]) {
    // What separates it from the next section.
    let Some(last) = lines.iter().rposition(|line| !line.is_empty()) else { return };
    let lines = &lines[..=last];
    roff.control("SH", [name]);
    for lines in lines.chunk_by(|a, b| a.starts_with(' ') == b.starts_with(' ')) {
        if lines[0].starts_with(' ') {
            roff.control("nf", []);
            lines.iter().for_each(|line| _ = roff.text([roman(line.trim_start())]));
            roff.control("fi", []);
            continue;
        }
        for line in lines {
            match *line {
                "" => _ = roff.control("PP", []),
                line => _ = roff.text([roman(line)]),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_were_filled_and_hyphenated() {
        let roff = after_help("Prose.\n\nExamples:\n  a -b\n  c\n\nExit status: 0.").to_roff();
        let examples = ".SH EXAMPLES\n.nf\na \\-b\nc\n.fi\n";
        assert!(roff.ends_with(examples), "{roff}");
        assert!(roff.contains("Exit status: 0."), "{roff}");
    }

    #[test]
    fn the_synopsis_lacked_the_dashes_before_a_command() {
        let command = |required: bool| {
            let run = clap::Arg::new("run").last(true).value_name("COMMAND").required(required);
            let command = Command::new("x").arg(run);
            let text = synopsis(&Man::new(command.clone()), &command).unwrap();
            String::from_utf8(text).unwrap()
        };
        assert!(command(false).contains("[\\-\\- \\fICOMMAND\\fR]"), "{}", command(false));
        assert!(command(true).contains("\\-\\- <\\fICOMMAND\\fR>"), "{}", command(true));
    }
}
