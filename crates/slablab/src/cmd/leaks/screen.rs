//! The live view: the answer so far, drawn over the last one; the terminal is as it was when this ends.

use std::io::{Write, stdout};
use std::time::Duration;

use anyhow::{Context, Result};
use slablab_host::{Control, Pressed, terminal_size};
use slablab_report::{Shown, Style, Terminal};

use crate::answers::leaks::LeaksAnswer;
use crate::output::Answer;

/// A terminal's other screen, until this is dropped.
pub(super) struct Screen(slablab_host::Screen);

impl Screen {
    pub(super) fn enter() -> std::io::Result<Self> {
        slablab_host::Screen::enter().map(Self)
    }

    /// Waits for a key, `time` at most; returns whether somebody wants to leave, or the terminal is gone.
    pub(super) fn is_left_within(&mut self, time: Duration) -> Result<bool> {
        if self.0.is_lost_within(time) {
            return Ok(true);
        }
        let keys = self.0.pressed().context("the terminal cannot be read")?;
        let ends = |key: &Pressed| {
            matches!(key, Pressed::Control('c' | 'd') | Pressed::Letter('q') | Pressed::Escape)
        };
        Ok(keys.iter().any(ends))
    }

    /// Draws an answer, as much of it as there is room for, and how to end.
    pub(super) fn draw(&mut self, answer: &LeaksAnswer) -> Result<()> {
        let (columns, lines) = terminal_size()?;
        let view = Terminal {
            columns: Some(usize::from(columns)),
            style: Style::Plain,
            shown: Shown::First,
            rows: None,
        };
        let text = slablab_report::terminal(&answer.document(), &view)?;
        let mut out = stdout().lock();
        let room = lines.saturating_sub(1);
        for (line, text) in (0..room).zip(text.lines().chain(std::iter::repeat(""))) {
            let text: String = text.chars().take(columns.into()).collect();
            write!(out, "{}{}{text}", Control::ToLine(line), Control::ClearRest)?;
        }
        let keys: String =
            "q ends the hunt and prints the answer".chars().take(columns.into()).collect();
        write!(out, "{}{}{keys}", Control::ToLine(room), Control::ClearRest)?;
        out.flush()?;
        Ok(())
    }
}
