//! The live view: the answer so far, drawn over the last one; the terminal is as it was when this ends.

use std::io::{Write, stdout};
use std::time::Duration;

use anyhow::{Context, Result};
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, poll, read};
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode, size,
};
use crossterm::{execute, queue};
use slablab_host::Terminal as Keys;
use slablab_report::{Shown, Style, Terminal};

use crate::answers::leaks::LeaksAnswer;
use crate::output::Answer;

/// A terminal in raw mode and on its other screen, until this is dropped.
pub(super) struct Screen {
    keys: Keys,
}

impl Screen {
    pub(super) fn enter() -> std::io::Result<Self> {
        let screen = Self { keys: Keys::find()? };
        enable_raw_mode()?;
        execute!(stdout(), EnterAlternateScreen, Hide)?;
        Ok(screen)
    }

    /// Waits for a key, `time` at most; returns whether somebody wants to leave, or the terminal is gone.
    pub(super) fn is_left_within(&self, time: Duration) -> Result<bool> {
        if self.keys.is_lost_within(time) {
            return Ok(true);
        }
        let unreadable = "the terminal cannot be read";
        while poll(Duration::ZERO).context(unreadable)? {
            let Event::Key(key) = read().context(unreadable)? else { continue };
            let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
            let ends = match key.code {
                KeyCode::Char('c' | 'd') => is_control,
                KeyCode::Char('q') | KeyCode::Esc => true,
                _ => false,
            };
            if ends && key.kind != KeyEventKind::Release {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Draws an answer, as much of it as there is room for, and how to end.
    pub(super) fn draw(&mut self, answer: &LeaksAnswer) -> Result<()> {
        let (columns, lines) = size()?;
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
            queue!(out, MoveTo(0, line), Clear(ClearType::CurrentLine))?;
            write!(out, "{text}")?;
        }
        queue!(out, MoveTo(0, room), Clear(ClearType::CurrentLine))?;
        let keys: String =
            "q ends the hunt and prints the answer".chars().take(columns.into()).collect();
        write!(out, "{keys}")?;
        out.flush()?;
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = execute!(stdout(), Show, LeaveAlternateScreen);
        let _ = disable_raw_mode();
    }
}
