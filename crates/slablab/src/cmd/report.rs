//! `slablab report`: one page that opens in a browser, a mail or Markdown, from stored results.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use slablab_lab::result_files;
use slablab_report::{Document, Item, Palette, Shown, Width};

use super::outputs::check_replaced;
use crate::answers::stored;
use crate::cli::{Format, OutputArgs};
pub(crate) use crate::output::write_page as write;
use crate::output::{write_result, write_whole};

#[derive(clap::Args, Debug)]
#[command(
    after_help = "A result is a folder of 'slablab lab run', the output of 'slablab replay --format json', or folded\n\
                        stacks in a file named *.folded. The page is whole: it needs no network.\n\n\
                        Examples:\n  \
                        slablab replay t.parquet --format json -o t.json; slablab report t.json\n  \
                        slablab report slablab-results/kprobes --svg plots/\n  \
                        slablab report slablab-results/hackbench-kernel --mail"
)]
pub(crate) struct Args {
    /// Result folders, JSON of 'slablab replay', or folded stacks
    #[arg(value_name = "RESULT", required = true)]
    results: Vec<PathBuf>,
    /// Write the page here
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
    /// Print a mail instead: plain text of at most 72 columns
    #[arg(long, conflicts_with_all = ["output", "svg", "markdown"])]
    mail: bool,
    /// Print Markdown instead, for issues and wikis
    #[arg(long, conflicts_with_all = ["output", "svg"])]
    markdown: bool,
    /// Write each plot as SVG into this folder, too
    #[arg(long, value_name = "FOLDER")]
    svg: Option<PathBuf>,
}

/// Makes text of a document.
type Render = fn(&Document, &Shown, Option<usize>) -> Result<String, slablab_report::Error>;

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let render = match output.format {
        Format::Mail => Some(slablab_report::mail as Render),
        Format::Markdown => Some(slablab_report::markdown as Render),
        Format::Table if args.mail => Some(slablab_report::mail as Render),
        Format::Table if args.markdown => Some(slablab_report::markdown as Render),
        Format::Table => None,
        Format::Json | Format::Csv => {
            bail!(
                "--format: report makes a page, a mail or Markdown; the result itself has the data"
            )
        }
    };
    if render.is_none() {
        check_replaces_no_result(&args.results, &[("-o", &args.output)])?;
    }
    let documents: Vec<Document> = args
        .results
        .iter()
        .map(|place| stored::document(place))
        .collect::<slablab_lab::Result<_>>()?;
    let document = stored::join(documents);
    if let Some(render) = render {
        write_result(render(&document, &Shown::First, None)?.as_bytes(), None)?;
        return Ok(ExitCode::SUCCESS);
    }
    write(&document, &args.output)?;
    if let Some(folder) = &args.svg {
        plots(&document, folder)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses an output that would replace a stored result, or what makes a folder one.
pub(crate) fn check_replaces_no_result(
    results: &[PathBuf],
    outputs: &[(&str, &Path)],
) -> Result<()> {
    let folders = results.iter().flat_map(|place| result_files(place));
    let files: Vec<PathBuf> = folders.chain(results.iter().cloned()).collect();
    let inputs: Vec<_> = files.iter().map(|file| ("a result", file.as_path())).collect();
    check_replaced(&inputs, outputs)
}

/// Writes every plot of `document` into `folder`, numbered in order, with its title as its name.
fn plots(document: &Document, folder: &Path) -> Result<()> {
    use anyhow::Context;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{}: cannot make the folder for the plots", folder.display()))?;
    let mut palette = Palette::default();
    let items = document.sections.iter().flat_map(|section| &section.items);
    for (number, item) in
        items.filter(|item| matches!(item, Item::Plot(_) | Item::Flame(_))).enumerate()
    {
        let (title, svg) = match item {
            Item::Plot(plot) => (plot.title.as_str(), plot.svg(Width::Wide, &mut palette)?),
            Item::Flame(flame) => (flame.title.as_str(), flame.svg()),
            _ => continue,
        };
        let name = format!("{:02}-{}", number + 1, file_name(title));
        write_whole(&folder.join(format!("{name}.svg")), svg.as_bytes())?;
        if let Item::Flame(flame) = item {
            write_whole(&folder.join(format!("{name}.folded")), flame.folded().as_bytes())?;
        }
    }
    Ok(())
}

/// Makes a file name from a title: lower case, with a dash for each character that is neither a
/// letter nor a digit.
fn file_name(title: &str) -> String {
    let mut name = String::new();
    for c in title.to_lowercase().chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c);
        } else if !name.ends_with('-') && !name.is_empty() {
            name.push('-');
        }
    }
    name.truncate(60);
    name.trim_end_matches('-').to_owned()
}
