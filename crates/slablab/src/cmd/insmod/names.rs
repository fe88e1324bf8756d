//! Names for places in a module: function and offset, and the line of the source.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use slablab_kapi::{Image, toolchain};

/// Names places of one module.
pub(super) struct Names {
    image: Image,
    path: PathBuf,
    /// Where our headers are.
    headers: Option<String>,
    lines: HashMap<u64, Option<String>>,
}

/// What an offset in the module stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The instruction itself.
    Instruction(u64),
    /// What follows a call: the call is meant.
    Return(u64),
}

impl Names {
    pub(super) fn new(image: Image, path: &Path) -> Self {
        let headers = toolchain::include_folder().ok().map(|folder| folder.display().to_string());
        Self { image, path: path.into(), headers, lines: HashMap::new() }
    }

    /// Names a place: `walk+0x1c (walk.c:17)`.
    pub(super) fn name(&mut self, place: Place) -> String {
        let (offset, inside) = match place {
            Place::Instruction(offset) => (offset, offset),
            Place::Return(offset) => (offset, offset.saturating_sub(1)),
        };
        let symbol = match self.image.symbol(inside) {
            Some((name, into, _)) => format!("{name}+{:#x}", into + (offset - inside)),
            None => format!("module+{offset:#x}"),
        };
        match self.line(inside) {
            Some(line) => format!("{symbol} ({line})"),
            None => symbol,
        }
    }

    /// Names a call in few words, by the address behind it: `walk, walk.c:17`.
    pub(super) fn short(&mut self, site: u64) -> String {
        let inside = site.saturating_sub(1);
        let (line, whole) = (self.line(inside), self.name(Place::Return(site)));
        match line.zip(self.image.symbol(inside)) {
            Some((line, (function, ..))) => format!("{function}, {line}"),
            None => whole,
        }
    }

    /// Names the places in a text, which are return addresses: `{@1c}`.
    pub(super) fn in_text(&mut self, text: &str) -> String {
        let mut named = String::new();
        let mut rest = text;
        while let Some((before, (offset, behind))) =
            rest.split_once("{@").and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
        {
            let place = u64::from_str_radix(offset, 16).map(Place::Return);
            named += before;
            named += &place.map_or_else(|_| offset.to_owned(), |place| self.name(place));
            rest = behind;
        }
        named + rest
    }

    /// Returns file and line, if binutils is there to ask: of what a header's inline function was called by, where that
    /// is one of ours.
    fn line(&mut self, offset: u64) -> Option<String> {
        let (path, headers) = (&self.path, &self.headers);
        let known = self.lines.entry(offset).or_insert_with(|| {
            let mut command = Command::new("addr2line");
            let output = command.arg("-i").arg("-e").arg(path).arg(format!("{offset:#x}")).output();
            let text = String::from_utf8_lossy(&output.ok()?.stdout).into_owned();
            let mut lines = text.lines().filter_map(|line| line.split(" (").next());
            let is_modules = |line: &&str| !headers.as_ref().is_some_and(|h| line.starts_with(h));
            let line = lines.clone().find(is_modules).or_else(|| lines.next())?;
            let line = line.rsplit('/').next()?.to_string();
            (!line.contains('?')).then_some(line)
        });
        known.clone()
    }
}
