//! Prints an answer: as text, Markdown or a page for people, as JSON for programs, as CSV for spreadsheets.
//!
//! A sub-command builds one value that implements [`Answer`]; [`give`] picks the format and the place. A file gets its name
//! when it is complete.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use slablab_host::{Access, is_obeyed, shell, standard_output_was_closed};

pub(crate) use slablab_report::{Cell, Table, field, thousands};
use slablab_report::{Document, Shown, Style, Terminal, short};

use crate::cli::{AnswerArgs, Format, OutputArgs, When};
use crate::say;

/// What has a JSON schema: everything, where no schemas are made.
#[cfg(not(feature = "manual"))]
pub(crate) trait Described {}
#[cfg(not(feature = "manual"))]
impl<T: ?Sized> Described for T {}
#[cfg(feature = "manual")]
pub(crate) use schemars::JsonSchema as Described;

/// What a command answers: the value that programs read as JSON, and the document that all other formats show.
pub(crate) trait Answer: Serialize + Described {
    /// Names the JSON schema, `slablab.<what>/<version>`; the version goes up when a field changes its meaning.
    const SCHEMA: &'static str;

    /// Returns the name of the schema; that of the kind unless results of a kind differ in it.
    fn schema(&self) -> &'static str {
        Self::SCHEMA
    }

    /// Returns the document.
    fn document(&self) -> Document;

    /// Returns the text that another program reads, which is printed instead of tables; its notes go to standard error.
    fn for_a_program(&self) -> Option<&str> {
        None
    }
}

/// Prints `answer` as `output` and `args` say, and writes its page if one is asked for.
pub(crate) fn give<A: Answer>(answer: &A, output: &OutputArgs, args: &AnswerArgs) -> Result<()> {
    let file = args.output.as_deref();
    if output.format == Format::Json && args.report.is_none() {
        let text = json_text(answer.schema(), answer)?;
        slablab_host::end_watch();
        return write_result(text.as_bytes(), file);
    }
    let mut document = answer.document();
    if output.format == Format::Mail && document.repeat.is_empty() {
        document.repeat.push(own_command());
    }
    let shown = match &args.show[..] {
        [] if args.all => Shown::All,
        [] => Shown::First,
        names => Shown::Named(names.to_vec()),
    };
    let text = match output.format {
        Format::Json => json_text(answer.schema(), answer)?,
        Format::Csv if answer.for_a_program().is_some() => bail!(
            "--format csv: a table has no place for this text; --format json has it as a string"
        ),
        Format::Markdown => slablab_report::markdown(&document, &shown, args.lines)?,
        Format::Csv => {
            let text = slablab_report::csv(&document, &shown)?;
            document.notes.iter().for_each(|note| say(format_args!("slablab: {note}")));
            text
        }
        // A line that is broken or indented anew would damage it.
        Format::Table | Format::Mail if answer.for_a_program().is_some() => {
            document.notes.iter().for_each(|note| say(format_args!("slablab: {note}")));
            answer.for_a_program().unwrap_or_default().to_owned()
        }
        Format::Mail => slablab_report::mail(&document, &shown, args.lines)?,
        Format::Table => {
            let view = Terminal {
                columns: columns(&shown, file),
                style: style(output.color, file),
                shown,
                rows: args.lines,
            };
            slablab_report::terminal(&document, &view)?
        }
    };
    slablab_host::end_watch();
    // First, so that a page that cannot be written leaves no answer behind.
    if let Some(page) = &args.report {
        write_page(&document, page)?;
    }
    write_result(text.as_bytes(), file)
}

/// Returns the command that this process was started with, as one types it.
pub(crate) fn own_command() -> String {
    let words = std::env::args_os().skip(1);
    let words = words.map(|word| shell::word(&word.to_string_lossy()));
    std::iter::once("slablab".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// Writes `document` as a page and says where.
pub(crate) fn write_page(document: &Document, file: &Path) -> Result<()> {
    write_whole(file, slablab_report::html(document)?.as_bytes())?;
    say(format_args!("slablab: the report is in {}", file.display()));
    Ok(())
}

/// Columns of a screen whose width nothing tells.
const SCREEN_COLUMNS: usize = 80;

/// Returns how long lines may be: as the terminal is wide, 80 columns elsewhere, and any length for tables that were
/// asked for and go to a file or a program.
fn columns(shown: &Shown, file: Option<&Path>) -> Option<usize> {
    if file.is_none() && io::stdout().is_terminal() {
        let size = slablab_host::terminal_size().ok().filter(|(columns, _)| *columns > 0);
        return Some(size.map_or(SCREEN_COLUMNS, |(columns, _)| columns.into()));
    }
    (*shown == Shown::First).then_some(SCREEN_COLUMNS)
}

/// Writes `bytes` to `file` or else to standard output.
pub(crate) fn write_result(bytes: &[u8], file: Option<&Path>) -> Result<()> {
    if let Some(path) = file {
        return write_whole(path, bytes);
    }
    if standard_output_was_closed() {
        bail!("standard output is closed, and no result can be written there: name a file with -o");
    }
    let mut out = io::stdout().lock();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    written.context("standard output: cannot write the result")
}

/// Renders `value` with the schema as first field.
pub(crate) fn json_text<T: Serialize>(schema: &'static str, value: &T) -> Result<String> {
    #[derive(Serialize)]
    struct Envelope<'a, T> {
        schema: &'static str,
        #[serde(flatten)]
        value: &'a T,
    }
    let text = serde_json::to_string_pretty(&Envelope { schema, value })?;
    // JSON escapes what is below a blank; a terminal obeys some characters beyond, too.
    let mut shown = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        match c {
            '\n' => shown.push(c),
            c if is_obeyed(c) => shown.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => shown.push(c),
        }
    }
    shown.push('\n');
    Ok(shown)
}

/// Writes `bytes` as the complete content of `path`: a reader sees the old file or the whole new one.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    slablab_host::write_whole(path, bytes, Access::Umask)
        .with_context(|| format!("{}: cannot write the result", path.display()))
}

/// Formats bytes with the largest binary unit that leaves a number of at least 1.
pub(crate) fn bytes(n: u64) -> String {
    short(n as f64, "B")
}

/// Formats a duration with the unit that leaves a number between 1 and 1000.
pub(crate) fn duration(ns: u64) -> String {
    const HOUR_NS: f64 = 3.6e12;
    let hours = ns as f64 / HOUR_NS;
    match hours {
        48.0.. => format!("{:.1} days", hours / 24.0),
        2.0.. => format!("{hours:.1} hours"),
        0.1.. => format!("{:.0} minutes", hours * 60.0),
        _ => short(ns as f64, "ns"),
    }
}

fn style(color: When, file: Option<&Path>) -> Style {
    let wanted = match color {
        When::Always => true,
        When::Never => false,
        // https://no-color.org: any non-empty value turns colour off.
        When::Auto => {
            file.is_none()
                && io::stdout().is_terminal()
                && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    };
    if wanted { Style::Colored } else { Style::Plain }
}

/// Returns whether `error` only says that the reader of our output (`head`, say) has seen enough.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// Returns text with its first letter in upper case.
pub(crate) fn upper_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
