//! Real kernels: which there are, what was built, what a guest said, what was removed.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;
use slablab_report::{Document, Item, Section, counted};

use crate::output::{Answer, Cell, Table, field};

/// The kernels that can be built or booted.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct KernelsAnswer {
    pub(crate) kernels: Vec<KernelEntry>,
    /// Builds in the cache, of any source, patches and configuration
    pub(crate) built: Vec<BuildEntry>,
    pub(crate) flavours: Vec<String>,
    pub(crate) modules: Vec<String>,
    pub(crate) patches: Vec<String>,
}

/// A kernel by its name.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct KernelEntry {
    pub(crate) kernel: String,
    /// What SLUB it has; an allocator of its own otherwise
    pub(crate) allocator: String,
    pub(crate) machine: &'static str,
    pub(crate) cached: bool,
    pub(crate) release: Option<String>,
}

/// A kernel that was built.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct BuildEntry {
    pub(crate) name: String,
    pub(crate) release: String,
    pub(crate) key: String,
    pub(crate) build_seconds: f64,
    pub(crate) image: String,
}

impl Answer for KernelsAnswer {
    const SCHEMA: &'static str = "slablab.kernel-list/3";

    fn document(&self) -> Document {
        let fields = [
            field::name("kernel", "kernel", |row: &KernelEntry| &row.kernel),
            field::name("allocator", "allocator", |row| &row.allocator),
            field::name("machine", "machine", |row| row.machine),
            field::text("cached", "cached", |row| yes_or_no(row.cached)),
            field::cell("release", "release", |row| {
                row.release.clone().map_or(Cell::Missing, Cell::Text)
            }),
        ];
        let kernels = Item::table("", "", Table::of(&self.kernels, fields));
        let named = |names: &[String]| vec![Item::Text(names.join(", "))];
        let cached = self.kernels.iter().filter(|kernel| kernel.cached).count();
        Document {
            title: "Kernels".to_owned(),
            answers: vec![format!(
                "{cached} of {} are in the cache; the others are built or downloaded when they are first named.",
                counted(self.kernels.len() as u64, "kernel")
            )],
            sections: vec![
                Section::first("kernels", "", vec![kernels]),
                Section::first("built", "Builds in the cache", builds(&self.built)),
                Section::named("flavours", "Flavours (--flavour)", named(&self.flavours)),
                Section::named("modules", "Modules (--module)", named(&self.modules)),
                Section::named("patches", "Patches of Linux 6.1", named(&self.patches)),
            ],
            notes: vec![
                "Stock kernels (debian:RELEASE[/MACHINE]) are listed once Debian's lists were read for one.".to_owned(),
            ],
            ..Document::default()
        }
    }
}

fn yes_or_no(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
}

fn builds(built: &[BuildEntry]) -> Vec<Item> {
    let fields = [
        field::name("kernel", "kernel", |row: &BuildEntry| &row.name),
        field::name("release", "release", |row| &row.release),
        field::cell("built in, s", "build_seconds", |row| Cell::Number(row.build_seconds, 0)),
        field::name("image", "image", |row: &BuildEntry| &row.image).on_page(),
    ];
    vec![Item::table("", "", Table::of(built, fields))]
}

/// Kernels that were built, or found in the cache.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct BuildAnswer {
    pub(crate) kernels: Vec<BuildEntry>,
}

impl Answer for BuildAnswer {
    const SCHEMA: &'static str = "slablab.kernel-build/1";

    fn document(&self) -> Document {
        let line = |row: &BuildEntry| format!("{}: {}", row.name, row.image);
        let images = self.kernels.iter().map(line).collect();
        Document {
            title: "Built kernels".to_owned(),
            answers: vec![format!(
                "{} can be booted.",
                counted(self.kernels.len() as u64, "kernel")
            )],
            sections: vec![
                Section::first("kernels", "", builds(&self.kernels)),
                Section::first("images", "Images", vec![Item::Lines(images)]),
            ],
            ..Document::default()
        }
    }
}

/// What a guest said.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct BootAnswer {
    pub(crate) kernel: String,
    pub(crate) release: String,
    pub(crate) accel: String,
    pub(crate) emulated: bool,
    pub(crate) accel_why: String,
    pub(crate) rows: Vec<Value>,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) console: String,
}

impl Answer for BootAnswer {
    const SCHEMA: &'static str = "slablab.kernel-boot/1";

    fn document(&self) -> Document {
        let emulated = if self.emulated { "; its times are emulated" } else { "" };
        let lines = |lines: Vec<String>| vec![Item::Lines(lines)];
        let rows = self.rows.iter().map(ToString::to_string).collect();
        let files = self.files.iter().map(|path| path.display().to_string()).collect();
        let fields = [field::text("row", "row", |row: &Value| row.to_string())];
        Document {
            title: format!("{} under {}", self.kernel, self.accel),
            answers: vec![format!(
                "The guest ({}, Linux {}) ran its command to the end, under {} ({}){emulated}.",
                self.kernel, self.release, self.accel, self.accel_why
            )],
            sections: vec![
                Section::first(
                    "console",
                    "Console",
                    lines(self.console.lines().map(str::to_owned).collect()),
                ),
                Section::first("rows", "Rows", lines(rows)),
                Section::first("files", "Files", lines(files)),
                Section::data("table", "Rows", Table::of(&self.rows, fields)),
            ],
            ..Document::default()
        }
    }
}

/// What was removed from the cache.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct CleanAnswer {
    pub(crate) removed: Vec<String>,
}

impl Answer for CleanAnswer {
    const SCHEMA: &'static str = "slablab.kernel-clean/1";

    fn document(&self) -> Document {
        let fields = [field::name("removed", "removed", |name: &String| name)];
        let answer = match self.removed.len() as u64 {
            0 => "There is nothing to remove.".to_owned(),
            removed => format!("{} were removed.", counted(removed, "folder"))
                .replace("1 folder were", "1 folder was"),
        };
        Document {
            title: "Cleaned cache".to_owned(),
            answers: vec![answer],
            sections: vec![Section::first(
                "removed",
                "",
                vec![Item::table("", "", Table::of(&self.removed, fields))],
            )],
            ..Document::default()
        }
    }
}
