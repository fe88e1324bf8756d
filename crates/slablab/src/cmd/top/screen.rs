//! The terminal: raw while `top` runs, and as it was when it ends, whatever ends it.
//!
//! # How it works
//! [`lines`] makes text of a frame for a terminal of any size, from [`WIDTH_MIN`] by [`HEIGHT_MIN`] up;
//! columns that have no room are left out, the one sorted by last. Each drawing writes every line over the old one,
//! so that nothing flickers.

use std::io::{IsTerminal, Write, stdout};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use slablab_host::{Control, Interrupt, Pressed, Screen, terminal_size};
use slablab_linux::function_of;
use slablab_report::counted;
use slablab_trace::{Live, LiveFrame, LiveRow};

use super::view::{By, SortBy, View, events_lost_mean};
use crate::output::thousands;

/// What a terminal has to have to show a table.
const WIDTH_MIN: usize = 40;
const HEIGHT_MIN: usize = 10;

/// How soon a key, a new frame or a signal is answered.
const NAP: Duration = Duration::from_millis(50);

/// Columns of a number, of a history and of a second name, with the space before them.
const NUMBER_WIDTH: usize = 10;
const HISTORY_WIDTH: usize = 16;
/// The kernel keeps fifteen letters of a program's name.
const PROGRAM_WIDTH: usize = 16;
const OWNER_WIDTH: usize = 24;
const PLACE_WIDTH: usize = 26;
const NAME_WIDTH_MIN: usize = 18;
const NAME_WIDTH_WANTED: usize = 40;

/// Lines other than rows: title, heading, foot.
const OTHER_LINES: usize = 3;

const KEYS: &str =
    "Tab sites/caches  < > sort  r reverse  / filter  p pause  arrows scroll  ? keys  q quit";

/// Shows the view until the user ends it.
pub(super) fn run(live: Live, view: View, interval: Duration, stop: &Interrupt) -> Result<()> {
    if !stdout().is_terminal() {
        bail!("standard output is not a terminal: add --once for one table");
    }
    let (sender, frames) = sync_channel(1);
    let sources = live.sources();
    let mut live = live;
    std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            while !stop.is_set() {
                let frame = live.look(interval, &|| stop.is_set());
                let failed = frame.is_err();
                if sender.send(frame).is_err() || failed {
                    break;
                }
            }
        });
        let shown = show(&mut Shown::new(view, sources), &frames, stop);
        stop.set();
        // A thread that waits to send ends when its receiver is gone.
        drop(frames);
        looking.join().expect("looking does not panic");
        shown
    })
}

/// Draws and answers keys.
fn show(
    shown: &mut Shown,
    frames: &Receiver<Result<LiveFrame, slablab_trace::Error>>,
    stop: &Interrupt,
) -> Result<()> {
    let mut screen = Screen::enter().context("the terminal cannot be used")?;
    let mut is_stale = true;
    while !stop.is_set() {
        let size = terminal_size().context("the terminal cannot be read")?;
        if is_stale || size != shown.size {
            shown.draw(size).context("the terminal cannot be written")?;
        }
        is_stale = false;
        if screen.is_lost_within(NAP) {
            return Ok(());
        }
        for key in screen.pressed().context("the terminal cannot be read")? {
            if shown.key(key) == AfterKey::Quit {
                return Ok(());
            }
            is_stale = true;
        }
        match frames.try_recv() {
            Ok(frame) => {
                let frame = frame?;
                if !shown.is_paused {
                    shown.frame = frame;
                    is_stale = true;
                }
            }
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return Ok(()),
        }
    }
    Ok(())
}

/// The action of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AfterKey {
    GoOn,
    Quit,
}

/// What is on the screen.
struct Shown {
    view: View,
    sources: String,
    frame: LiveFrame,
    scroll: usize,
    /// Columns and lines of the terminal
    size: (u16, u16),
    is_paused: bool,
    /// Whether letters go into the filter.
    is_typing: bool,
    shows_keys: bool,
}

impl Shown {
    fn new(view: View, sources: String) -> Self {
        Self {
            view,
            sources,
            frame: LiveFrame::default(),
            scroll: 0,
            size: (0, 0),
            is_paused: false,
            is_typing: false,
            shows_keys: false,
        }
    }

    fn key(&mut self, key: Pressed) -> AfterKey {
        match key {
            Pressed::Control('c' | 'd') => return AfterKey::Quit,
            Pressed::Control(_) => return AfterKey::GoOn,
            _ => {}
        }
        if self.is_typing {
            match key {
                Pressed::Enter => self.is_typing = false,
                Pressed::Escape => {
                    self.is_typing = false;
                    self.view.filter.clear();
                }
                Pressed::Backspace => _ = self.view.filter.pop(),
                Pressed::Letter(letter) => self.view.filter.push(letter),
                _ => {}
            }
            self.scroll = 0;
            return AfterKey::GoOn;
        }
        let page = usize::from(self.size.1).max(HEIGHT_MIN) - OTHER_LINES;
        match key {
            Pressed::Letter('q') | Pressed::Escape => return AfterKey::Quit,
            Pressed::Tab => {
                self.view.turn();
                self.scroll = 0;
            }
            Pressed::Letter('>') | Pressed::Right => self.view.sort_by_next(1),
            Pressed::Letter('<') | Pressed::Left => self.view.sort_by_next(-1),
            Pressed::Letter('r') => self.view.reverse(),
            Pressed::Letter('/') => self.is_typing = true,
            Pressed::Letter('p' | ' ') => self.is_paused = !self.is_paused,
            Pressed::Letter('?' | 'h') => self.shows_keys = !self.shows_keys,
            Pressed::Down => self.scroll += 1,
            Pressed::Up => self.scroll = self.scroll.saturating_sub(1),
            Pressed::PageDown => self.scroll += page,
            Pressed::PageUp => self.scroll = self.scroll.saturating_sub(page),
            Pressed::Home => self.scroll = 0,
            _ => {}
        }
        AfterKey::GoOn
    }

    fn draw(&mut self, size: (u16, u16)) -> std::io::Result<()> {
        self.size = size;
        let (width, height) = size;
        let lines = self.lines(usize::from(width), usize::from(height));
        let mut out = stdout().lock();
        for (line, text) in (0u16..).zip(&lines) {
            let is_heading = line == 1 && lines.len() > 2;
            let look = if is_heading { Control::Reversed } else { Control::Usual };
            let (to, usual, rest) = (Control::ToLine(line), Control::Usual, Control::ClearRest);
            write!(out, "{to}{look}{text}{usual}{rest}")?;
        }
        write!(out, "{}", Control::ClearBelow)?;
        out.flush()
    }

    /// Returns the lines of a terminal of that size, none of them longer than it is wide.
    fn lines(&mut self, width: usize, height: usize) -> Vec<String> {
        if width < WIDTH_MIN || height < HEIGHT_MIN {
            let text = format!("slablab top needs a terminal of {WIDTH_MIN} x {HEIGHT_MIN}");
            let text: Vec<char> = text.chars().collect();
            let lines = text.chunks(width.max(1)).map(|line| line.iter().collect());
            return lines.take(height).collect();
        }
        let columns = columns(&self.view, width);
        let rows = self.view.rows(&self.frame);
        let room = height - OTHER_LINES;
        self.scroll = self.scroll.min(rows.len().saturating_sub(room));
        let mut lines = vec![cut(&self.title(rows.len()), width), self.heading(&columns, width)];
        lines
            .extend(rows.iter().skip(self.scroll).take(room).map(|row| line(row, &columns, width)));
        lines.resize(height - 1, String::new());
        lines.push(cut(&self.foot(), width));
        lines
    }

    fn title(&self, rows: usize) -> String {
        let what = self.view.by.noun();
        let seconds = self.frame.elapsed.as_secs();
        let state = if self.is_paused { "paused" } else { "" };
        let (minutes, seconds) = (seconds / 60, seconds % 60);
        format!(
            "slablab top  {minutes}:{seconds:02}  {}  {}  {state}",
            counted(rows as u64, what),
            self.sources
        )
    }

    fn heading(&self, columns: &[Column], width: usize) -> String {
        let name_width = name_width(columns, width);
        let mut text = fitted(&self.view.by.noun().to_uppercase(), name_width);
        for column in columns {
            let mark = if column.sort() == Some(self.view.sort) { "*" } else { "" };
            text.push_str(&column.padded(&format!("{mark}{}", column.head(self.view.by))));
        }
        fitted(&text, width)
    }

    fn foot(&self) -> String {
        if self.is_typing {
            return format!("filter: {}_", self.view.filter);
        }
        if self.shows_keys {
            return KEYS.to_owned();
        }
        if self.frame.lost > 0 {
            let so = events_lost_mean(self.frame.is_counted);
            return format!("{} events lost: {so}", thousands(self.frame.lost));
        }
        if self.view.filter.is_empty() {
            "q quit  ? keys".to_owned()
        } else {
            format!("filter: {}", self.view.filter)
        }
    }
}

/// A column beside the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Sorted(SortBy),
    Program,
    Owner,
    History,
    Place,
}

impl Column {
    fn sort(self) -> Option<SortBy> {
        match self {
            Column::Sorted(sort) => Some(sort),
            Column::Program | Column::Owner | Column::History | Column::Place => None,
        }
    }

    fn width(self) -> usize {
        match self {
            Column::Sorted(_) => NUMBER_WIDTH,
            Column::Program => PROGRAM_WIDTH,
            Column::Owner => OWNER_WIDTH,
            Column::History => HISTORY_WIDTH,
            Column::Place => PLACE_WIDTH,
        }
    }

    fn head(self, by: By) -> String {
        match self {
            Column::Sorted(sort) => sort.head().to_uppercase(),
            Column::Program => "PROGRAM".to_owned(),
            Column::Owner => "OWNER".to_owned(),
            Column::History => "HISTORY".to_owned(),
            Column::Place => by.place().to_uppercase(),
        }
    }

    /// Pads a cell: numbers stand right, names left.
    fn padded(self, text: &str) -> String {
        let width = self.width() - 1;
        match self {
            Column::Sorted(_) => format!(" {:>width$}", cut(text, width)),
            Column::Program | Column::Owner | Column::History | Column::Place => {
                format!(" {:<width$}", cut(text, width))
            }
        }
    }

    fn cell(self, row: &LiveRow) -> String {
        match self {
            Column::Sorted(SortBy::Growth) if row.grows_on => {
                format!("*{}", SortBy::Growth.cell(row).short())
            }
            Column::Sorted(sort) => sort.cell(row).short(),
            Column::Program => row.program.clone().unwrap_or_default(),
            Column::Owner => row.owner.as_deref().map(function_of).unwrap_or_default().to_owned(),
            Column::History => history(&row.history, HISTORY_WIDTH - 1),
            Column::Place => row.place.clone(),
        }
    }
}

/// Returns the last values as bars, the greatest of them a full one.
fn history(values: &[f64], width: usize) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let shown = &values[values.len().saturating_sub(width)..];
    let greatest = shown.iter().copied().fold(0.0, f64::max);
    let bar = |value: &f64| {
        let eighths = if greatest > 0.0 { value / greatest * 8.0 } else { 0.0 };
        BARS[(eighths.ceil() as usize).clamp(1, 8) - 1]
    };
    shown.iter().map(bar).collect()
}

/// Returns the columns that have room: the one sorted by, and then the most telling.
fn columns(view: &View, width: usize) -> Vec<Column> {
    let number = Column::Sorted;
    let [first, second, third, fourth, rest @ ..] = view.by.numbers();
    let mut telling = match view.by {
        By::Site => {
            vec![number(first), number(second), Column::Program, Column::Owner, number(third)]
        }
        By::Cache => vec![number(first), number(second), number(third)],
    };
    telling.extend([Column::History, number(fourth), Column::Place]);
    telling.extend(rest.map(number));
    let sorted = number(view.sort);
    let mut chosen = Vec::new();
    let mut left = width - (width / 3).clamp(NAME_WIDTH_MIN, NAME_WIDTH_WANTED);
    if view.sort != SortBy::Name {
        chosen.push(sorted);
        left -= sorted.width();
    }
    for &column in &telling {
        if column != sorted && column.width() <= left {
            left -= column.width();
            chosen.push(column);
        }
    }
    // Each where it always is, so that eyes find it.
    let place =
        |column: &Column| telling.iter().position(|of| of == column).unwrap_or(telling.len());
    chosen.sort_by_key(place);
    chosen
}

fn name_width(columns: &[Column], width: usize) -> usize {
    width - columns.iter().map(|column| column.width()).sum::<usize>()
}

fn line(row: &LiveRow, columns: &[Column], width: usize) -> String {
    let cells = columns.iter().map(|column| column.padded(&column.cell(row)));
    fitted(&row.name, name_width(columns, width)) + &cells.collect::<String>()
}

/// Returns text without what would move a terminal's cursor, cut to `width` characters.
fn cut(text: &str, width: usize) -> String {
    text.trim_end().chars().take(width).map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Cuts as [`cut`] does, and pads the result.
fn fitted(text: &str, width: usize) -> String {
    format!("{:<width$}", cut(text, width))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown() -> Shown {
        let row = |number: usize| LiveRow {
            name: format!("a_call_site_with_a_long_name_{number}+0x1c/0x200 [module]"),
            place: "kmalloc-cg-512".into(),
            live_bytes: Some(number as u64 * 1000),
            growth_bytes: Some(-5000),
            allocs_per_second: Some(12_345_678.0),
            history: (0..number).map(|value| value as f64).collect(),
            ..LiveRow::default()
        };
        let frame = LiveFrame { sites: (0..100).map(row).collect(), ..LiveFrame::default() };
        Shown { frame, ..Shown::new(View::new(By::Site, None, ""), "slabinfo".into()) }
    }

    #[test]
    fn every_size_is_filled_and_none_is_exceeded() {
        let mut shown = shown();
        for width in 1..200 {
            for height in [1, 9, 10, 24, 300] {
                let lines = shown.lines(width, height);
                assert!(
                    lines.iter().all(|line| line.chars().count() <= width),
                    "{width}: {lines:?}"
                );
                let fits = width >= WIDTH_MIN && height >= HEIGHT_MIN;
                assert!(if fits { lines.len() == height } else { lines.len() <= height });
                assert!(!fits || lines[1].contains("*ALLOCS/S"), "{width}: {}", lines[1]);
            }
        }
        assert!(shown.lines(200, 10)[2].contains("kmalloc-cg-512"));
        let message = "slablab top needs a terminal of 40 x 10";
        assert_eq!(shown.lines(10, 9).concat(), message);
    }

    #[test]
    fn keys_turn_sort_filter_and_end() {
        let mut shown = shown();
        let press = |shown: &mut Shown, keys: &str| {
            keys.chars().map(|key| shown.key(Pressed::Letter(key))).last().unwrap()
        };
        assert_eq!(press(&mut shown, ">r/_9q"), AfterKey::GoOn);
        assert_eq!((shown.view.sort, shown.view.filter.as_str()), (SortBy::Frees, "_9q"));
        shown.key(Pressed::Backspace);
        shown.key(Pressed::Enter);
        assert!(shown.lines(160, 10)[2].contains("_9+0x1c"));
        shown.key(Pressed::Tab);
        assert_eq!((shown.view.by, shown.lines(80, 10).len()), (By::Cache, 10));
        assert_eq!(
            (shown.key(Pressed::Control('c')), press(&mut shown, "q")),
            (AfterKey::Quit, AfterKey::Quit)
        );
    }

    #[test]
    fn scrolling_ends_where_the_rows_do() {
        let mut shown = shown();
        (0..500).for_each(|_| _ = shown.key(Pressed::Down));
        assert_eq!(shown.lines(80, 10).iter().filter(|line| line.contains("a_call")).count(), 7);
        assert_eq!(shown.scroll, 93);
    }

    #[test]
    fn a_history_is_bars_up_to_the_greatest() {
        assert_eq!(history(&[9.0, 0.0, 1.0, 8.0], 3), "▁▁█");
        assert_eq!(history(&[0.0, 0.0], 3), "▁▁");
        assert_eq!(cut("a\u{1b}[2Jb", 9), "a?[2Jb");
    }
}
