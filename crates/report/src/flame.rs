//! Flame graphs from folded stacks (`a;b;c 12`): bytes by call site, waste by call site, time by function.
//!
//! How it works: the stacks become a tree; a frame is as wide as its share of the whole, callers above callees (an
//! icicle). Siblings stand in the order of their names, so that two graphs of one program can be laid side by side.
//! Frames narrower than [`SHARE_MIN`] are left out of the drawing, never out of the sums.
//!
//! Source of the form: B. Gregg, The Flame Graph, CACM 59(6), 2016. The folded text is that of his stackcollapse scripts.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::html::escape;
use crate::human;

/// A narrower frame is not drawn: a quarter of a pixel on a screen.
const SHARE_MIN: f64 = 0.000_25;
/// The least share of frames that get drawn is raised until no more than this many are left.
const FRAMES_MAX: usize = 1_500;
/// The height of a frame in the SVG, in pixels.
const ROW: f64 = 18.0;
/// The width of the SVG, in pixels.
const WIDE: f64 = 1200.0;

/// Weighted stacks.
#[derive(Debug, Clone, Default)]
pub struct Flame {
    /// What it shows
    pub title: String,
    /// How the numbers were got
    pub how: String,
    /// The unit of the weights
    pub unit: String,
    /// What all frames stand on
    root: Node,
}

#[derive(Debug, Clone, Default)]
struct Node {
    weight: u64,
    children: BTreeMap<String, Node>,
}

/// A frame as it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// The function or site
    pub name: String,
    /// How many frames are above it
    pub depth: usize,
    /// Where it starts, 0 to 1
    pub start: f64,
    /// Its share of the whole
    pub share: f64,
    /// Its weight
    pub weight: u64,
}

impl Flame {
    /// Makes an empty graph.
    pub fn new(title: impl Into<String>, unit: impl Into<String>, how: impl Into<String>) -> Self {
        Self { title: title.into(), how: how.into(), unit: unit.into(), root: Node::default() }
    }

    /// Adds `weight` to a stack, outermost frame first.
    pub fn add<S: AsRef<str>>(&mut self, stack: impl IntoIterator<Item = S>, weight: u64) {
        let mut node = &mut self.root;
        node.weight += weight;
        for name in stack {
            node = node.children.entry(name.as_ref().to_owned()).or_default();
            node.weight += weight;
        }
    }

    /// Adds the stacks of a folded text and returns how many lines were none.
    pub fn add_folded(&mut self, text: &str) -> usize {
        let mut bad = 0;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            match line.rsplit_once(' ').and_then(|(stack, n)| Some((stack, n.parse().ok()?))) {
                Some((stack, weight)) => self.add(stack.split(';'), weight),
                None => bad += 1,
            }
        }
        bad
    }

    /// Returns the sum of all weights.
    #[must_use]
    pub fn weight(&self) -> u64 {
        self.root.weight
    }

    /// Returns the stacks as folded text, as inferno, flamegraph.pl and speedscope read it.
    #[must_use]
    pub fn folded(&self) -> String {
        let mut text = String::new();
        fold(&self.root, &mut Vec::new(), &mut text);
        text
    }

    /// Returns the frames to draw, outer ones first.
    #[must_use]
    pub fn frames(&self) -> Vec<Frame> {
        let mut least = SHARE_MIN;
        loop {
            let mut frames = Vec::new();
            lay(&self.root, "all", 0, 0.0, self.root.weight.max(1) as f64, least, &mut frames);
            if frames.len() <= FRAMES_MAX {
                return frames;
            }
            least *= 1.5;
        }
    }

    /// Draws it as an SVG of its own, with the whole text of each frame as its tooltip.
    #[must_use]
    pub fn svg(&self) -> String {
        let frames = self.frames();
        let rows = frames.iter().map(|frame| frame.depth + 1).max().unwrap_or(1);
        let high = rows as f64 * ROW + 40.0;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDE}\" height=\"{high}\" \
             viewBox=\"0 0 {WIDE} {high}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n\
             <text x=\"8\" y=\"22\" font-size=\"15\" fill=\"#1B1F24\">{}</text>\n",
            escape(&self.title)
        );
        for frame in &frames {
            let (x, wide) = (frame.start * WIDE, frame.share * WIDE);
            let y = 36.0 + frame.depth as f64 * ROW;
            let _ = write!(
                svg,
                "<g><title>{}</title><rect x=\"{x:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"{}\" fill=\"{}\"/>",
                escape(&self.describe(frame)),
                (wide - 0.5).max(0.3),
                ROW - 1.0,
                hue(&frame.name)
            );
            let fits = ((wide - 6.0) / 7.0) as usize;
            if fits >= 3 {
                let shown = clip(&frame.name, fits);
                let _ = write!(
                    svg,
                    "<text x=\"{:.1}\" y=\"{}\" fill=\"#1B1F24\">{}</text>",
                    x + 3.0,
                    y + 13.0,
                    escape(&shown)
                );
            }
            svg.push_str("</g>\n");
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// Returns the sum of all weights as people read it.
    pub(crate) fn sum(&self) -> String {
        human(self.root.weight as f64, &self.unit)
    }

    /// Returns what a tooltip says of a frame.
    pub(crate) fn describe(&self, frame: &Frame) -> String {
        let weight = human(frame.weight as f64, &self.unit);
        format!("{}: {weight}, {:.2} %", frame.name, frame.share * 100.0)
    }
}

fn fold(node: &Node, stack: &mut Vec<String>, text: &mut String) {
    let below: u64 = node.children.values().map(|child| child.weight).sum();
    if node.weight > below && !stack.is_empty() {
        let _ = writeln!(text, "{} {}", stack.join(";"), node.weight - below);
    }
    for (name, child) in &node.children {
        stack.push(name.replace([';', '\n'], ":"));
        fold(child, stack, text);
        stack.pop();
    }
}

fn lay(
    node: &Node,
    name: &str,
    depth: usize,
    start: f64,
    whole: f64,
    least: f64,
    frames: &mut Vec<Frame>,
) {
    let share = node.weight as f64 / whole;
    if share < least {
        return;
    }
    frames.push(Frame { name: name.to_owned(), depth, start, share, weight: node.weight });
    let mut at = start;
    for (name, child) in &node.children {
        lay(child, name, depth + 1, at, whole, least, frames);
        at += child.weight as f64 / whole;
    }
}

/// Returns a warm colour that belongs to a name, light enough for dark words on it.
pub(crate) fn hue(name: &str) -> String {
    // FNV-1a: any hash that is the same everywhere.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let (h, s, l) = (18 + hash % 36, 78 + (hash >> 8) % 18, 66 + (hash >> 16) % 12);
    format!("hsl({h},{s}%,{l}%)")
}

fn clip(name: &str, fits: usize) -> String {
    if name.chars().count() <= fits {
        return name.to_owned();
    }
    let start: String = name.chars().take(fits - 1).collect();
    format!("{start}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_text_comes_back_as_it_went_in() {
        let text = "kmalloc;a;b 12\nkmalloc;a;c 3\nkmem_cache_alloc;d 5\n";
        let mut flame = Flame::new("bytes", "B", "");
        assert_eq!(flame.add_folded(text), 0);
        assert_eq!((flame.weight(), flame.folded().as_str()), (20, text));
        assert_eq!(flame.add_folded("no number\n"), 1);
    }

    #[test]
    fn a_frame_is_as_wide_as_its_share() {
        let mut flame = Flame::new("bytes", "B", "");
        flame.add(["a", "x"], 30);
        flame.add(["b"], 10);
        let frames = flame.frames();
        let find = |name: &str| frames.iter().find(|frame| frame.name == name).unwrap();
        assert_eq!((find("a").share, find("b").start, find("x").depth), (0.75, 0.75, 2));
    }

    #[test]
    fn a_hundred_thousand_sites_make_a_drawing_of_a_limited_size() {
        let mut flame = Flame::new("bytes", "B", "");
        for i in 0..100_000u64 {
            flame.add([format!("f{}", i % 300), format!("site{i}")], 1 + i % 7);
        }
        assert!(flame.frames().len() <= FRAMES_MAX);
    }
}
