//! Flame graphs from folded stacks (`a;b;c 12`): bytes by call site, waste by call site, time by function.
//!
//! # How it works
//! The stacks become a tree; a frame is as wide as its share of the whole, callers above callees (an
//! icicle). Siblings stand in the order of their names, so that two graphs of one program can be laid side by side.
//! Frames narrower than [`SHARE_MIN`] or deeper than [`DEPTH_MAX`] are left out of the drawing, never out of the sums.
//!
//! # Invariants
//! No stack is too deep: the nodes stand in one list, and each walk over them has a stack of its own.
//!
//! Source of the form: B. Gregg, The Flame Graph, CACM 59(6), 2016. The folded text is that of his stackcollapse scripts.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::escape::escape;
use crate::unit::human;

/// A narrower frame is not drawn: a quarter of a pixel on a screen.
const SHARE_MIN: f64 = 0.000_25;
/// The least share of drawn frames is raised until at most this many are left.
const FRAMES_MAX: usize = 1_500;
/// Deeper frames are not drawn: such nesting is a recursion.
const DEPTH_MAX: usize = 160;
/// The height of a frame in the SVG, in pixels.
const ROW: f64 = 18.0;
/// The width of the SVG, in pixels.
const WIDE: f64 = 1200.0;

/// Weighted stacks.
#[derive(Debug, Clone)]
pub struct Flame {
    /// What it shows
    pub title: String,
    /// How the numbers were obtained
    pub how: String,
    /// The unit of the weights
    pub unit: String,
    /// The nodes; the first is the root, on which all frames stand
    nodes: Vec<Node>,
    /// Whether it shows what grew and what shrank
    is_change: bool,
    /// The most frames in a stack
    depth: usize,
}

#[derive(Debug, Clone, Default)]
struct Node {
    weight: u64,
    /// By how much it grew
    change: i64,
    /// The place of each child in the list of nodes, by name
    children: BTreeMap<String, usize>,
}

/// A frame as it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frame {
    /// The function or site
    pub(crate) name: String,
    /// How many frames are above it
    pub(crate) depth: usize,
    /// Where it starts, 0 to 1
    pub(crate) start: f64,
    /// Its share of the whole
    pub(crate) share: f64,
    /// Its weight
    pub(crate) weight: u64,
    /// By how much it grew, in a graph of what changed
    pub(crate) change: Option<i64>,
}

impl Flame {
    /// Makes an empty graph.
    pub fn new(title: impl Into<String>, unit: impl Into<String>, how: impl Into<String>) -> Self {
        let (title, how, unit) = (title.into(), how.into(), unit.into());
        Self { title, how, unit, nodes: vec![Node::default()], is_change: false, depth: 0 }
    }

    /// Makes an empty graph of what grew and shrank between two moments.
    pub fn of_change(
        title: impl Into<String>,
        unit: impl Into<String>,
        how: impl Into<String>,
    ) -> Self {
        Self { is_change: true, ..Self::new(title, unit, how) }
    }

    /// Adds a stack, outermost frame first, that had `before` and has `after`; it is as wide as the more of both.
    pub fn add_change<S: AsRef<str>>(
        &mut self,
        stack: impl IntoIterator<Item = S>,
        before: u64,
        after: u64,
    ) {
        let change = i64::try_from(after.abs_diff(before)).unwrap_or(i64::MAX);
        self.add_node(stack, before.max(after), if after < before { -change } else { change });
    }

    /// Adds `weight` to a stack, outermost frame first.
    pub fn add<S: AsRef<str>>(&mut self, stack: impl IntoIterator<Item = S>, weight: u64) {
        self.add_node(stack, weight, 0);
    }

    fn add_node<S: AsRef<str>>(
        &mut self,
        stack: impl IntoIterator<Item = S>,
        weight: u64,
        change: i64,
    ) {
        let (mut node, mut depth) = (0, 0);
        self.nodes[node].add(weight, change);
        for name in stack {
            let next = self.nodes.len();
            node = *self.nodes[node].children.entry(name.as_ref().to_owned()).or_insert(next);
            if node == next {
                self.nodes.push(Node::default());
            }
            self.nodes[node].add(weight, change);
            depth += 1;
        }
        self.depth = self.depth.max(depth);
    }

    /// Adds the stacks of a folded text and returns the number of lines that were not stacks.
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
    pub fn weight(&self) -> u64 {
        self.nodes[0].weight
    }

    /// Returns the stacks as folded text, as inferno, flamegraph.pl and speedscope read it.
    pub fn folded(&self) -> String {
        let mut text = String::new();
        let mut stack: Vec<String> = Vec::new();
        let mut todo = vec![(0, 0, "")];
        while let Some((node, depth, name)) = todo.pop() {
            let Node { weight, children, .. } = &self.nodes[node];
            // The root is not a frame.
            if depth > 0 {
                stack.truncate(depth - 1);
                stack.push(name.replace([';', '\n'], ":"));
                let below: u64 = children.values().map(|child| self.nodes[*child].weight).sum();
                if *weight > below {
                    let _ = writeln!(text, "{} {}", stack.join(";"), weight - below);
                }
            }
            todo.extend(
                children.iter().rev().map(|(name, child)| (*child, depth + 1, name.as_str())),
            );
        }
        text
    }

    /// Returns the frames to draw, outer ones first.
    pub(crate) fn frames(&self) -> Vec<Frame> {
        let mut least = SHARE_MIN;
        loop {
            let frames = self.frames_of(least);
            if frames.len() <= FRAMES_MAX {
                return frames;
            }
            least *= 1.5;
        }
    }

    /// Returns the frames with a share of `least` or more.
    fn frames_of(&self, least: f64) -> Vec<Frame> {
        let whole = self.weight().max(1) as f64;
        let mut frames = Vec::new();
        let mut todo = vec![(0, 0, "all", 0.0)];
        while let Some((node, depth, name, start)) = todo.pop() {
            let Node { weight, change, children } = &self.nodes[node];
            let share = *weight as f64 / whole;
            if share < least {
                continue;
            }
            let change = self.is_change.then_some(*change);
            frames.push(Frame {
                name: name.to_owned(),
                depth,
                start,
                share,
                weight: *weight,
                change,
            });
            if depth == DEPTH_MAX {
                continue;
            }
            let first = todo.len();
            let mut at = start;
            for (name, child) in children {
                todo.push((*child, depth + 1, name, at));
                at += self.nodes[*child].weight as f64 / whole;
            }
            todo[first..].reverse();
        }
        frames
    }

    /// Returns how the numbers were obtained, and what is not drawn.
    pub fn method(&self) -> String {
        match self.depth {
            depth if depth > DEPTH_MAX => {
                let cut = format!("The deepest stack has {depth} frames; {DEPTH_MAX} are drawn.");
                format!("{} {cut}", self.how).trim_start().to_owned()
            }
            _ => self.how.clone(),
        }
    }

    /// Draws it as an SVG of its own, with the whole text of each frame as its tooltip.
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
                frame.hue()
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
        human(self.weight() as f64, &self.unit)
    }

    /// Returns the tooltip of a frame.
    pub(crate) fn describe(&self, frame: &Frame) -> String {
        let weight = human(frame.weight as f64, &self.unit);
        match frame.change {
            None => format!("{}: {weight}, {:.2} %", frame.name, frame.share * 100.0),
            Some(change) => {
                let sign = if change < 0 { '-' } else { '+' };
                let change = human(change.unsigned_abs() as f64, &self.unit);
                format!("{}: {sign}{change} of {weight}", frame.name)
            }
        }
    }
}

impl Node {
    fn add(&mut self, weight: u64, change: i64) {
        self.weight = self.weight.saturating_add(weight);
        self.change = self.change.saturating_add(change);
    }
}

impl Frame {
    /// Returns a colour that is light enough for dark words on it: a warm one that belongs to the name, or in a graph of what
    /// changed red for what grew and blue for what shrank, the stronger the more of it changed.
    pub(crate) fn hue(&self) -> String {
        if let Some(change) = self.change {
            let part = change.unsigned_abs() as f64 / self.weight.max(1) as f64;
            let (hue, light) = (if change < 0 { 215 } else { 5 }, 94.0 - 30.0 * part.min(1.0));
            return format!("hsl({hue},80%,{light:.0}%)");
        }
        // The hash is FNV-1a; any hash that is the same everywhere would do.
        let hash = self.name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let (h, s, l) = (18 + hash % 36, 78 + (hash >> 8) % 18, 66 + (hash >> 16) % 12);
        format!("hsl({h},{s}%,{l}%)")
    }
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
    fn what_grew_is_red_and_what_shrank_is_blue() {
        let mut flame = Flame::of_change("growth", "B", "");
        flame.add_change(["main", "grows"], 10, 30);
        flame.add_change(["main", "shrinks"], 20, 0);
        let frames = flame.frames();
        let find = |name: &str| frames.iter().find(|frame| frame.name == name).unwrap();
        assert_eq!((flame.weight(), find("main").change), (50, Some(0)));
        assert_eq!((find("grows").share, find("shrinks").share), (0.6, 0.4));
        assert!(
            find("grows").hue().starts_with("hsl(5,")
                && find("shrinks").hue().starts_with("hsl(215,")
        );
        assert_eq!(flame.describe(find("shrinks")), "shrinks: -20 B of 20 B");
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
    fn a_stack_of_300_000_frames_does_not_overflow_ours() {
        let stack = vec!["f"; 300_000].join(";");
        let mut flame = Flame::new("recursion", "", "");
        assert_eq!(flame.add_folded(&format!("{stack} 7\nmain;g 1\n")), 0);
        assert_eq!(flame.folded().len(), stack.len() + " 7\nmain;g 1\n".len());
        assert_eq!(flame.frames().iter().map(|frame| frame.depth).max(), Some(DEPTH_MAX));
        assert!(flame.svg().len() < 100_000 && flame.method().contains("300000 frames"));
        drop(flame.clone());
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
