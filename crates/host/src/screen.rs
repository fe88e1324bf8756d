//! The other screen of a terminal, with keys as they are pressed; the terminal is as before when this is dropped.
//!
//! Linux counterpart: `termios(3)`, `ioctl_tty(2)`, `console_codes(4)`.

use std::fmt;
use std::io::{self, Write, stdout};
use std::time::Duration;

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

use crate::pressed::{Pressed, take};
use crate::terminal::Terminal;

/// A terminal in raw mode and on its other screen, without a cursor.
#[derive(Debug)]
pub struct Screen {
    terminal: Terminal,
    before: Termios,
    /// What was typed and does not make a key yet
    typed: Vec<u8>,
}

impl Screen {
    /// Takes the screen.
    ///
    /// # Errors
    ///
    /// If the process has no terminal, or it refuses.
    pub fn enter() -> io::Result<Screen> {
        let terminal = Terminal::find()?;
        let before = terminal.with(|fd| tcgetattr(fd))?;
        let mut raw = before.clone();
        raw.make_raw();
        terminal.with(|fd| tcsetattr(fd, OptionalActions::Now, &raw))?;
        let screen = Screen { terminal, before, typed: Vec::new() };
        let mut out = stdout();
        write!(out, "\x1b[?1049h\x1b[?25l")?;
        out.flush()?;
        Ok(screen)
    }

    /// Waits for a key, or until `time` (less than a second) is over; returns whether the terminal is gone.
    #[must_use]
    pub fn is_lost_within(&self, time: Duration) -> bool {
        self.terminal.is_lost_within(time)
    }

    /// Returns the keys that were pressed by now.
    ///
    /// # Errors
    ///
    /// If the terminal cannot be read.
    pub fn pressed(&mut self) -> io::Result<Vec<Pressed>> {
        self.terminal.read_typed(&mut self.typed)?;
        Ok(take(&mut self.typed))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let mut out = stdout();
        let _ = write!(out, "\x1b[0m\x1b[?25h\x1b[?1049l").and_then(|()| out.flush());
        let _ = self.terminal.with(|fd| tcsetattr(fd, OptionalActions::Now, &self.before));
    }
}

/// Something that is written to a screen beside text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// The cursor goes to the beginning of a line, the first being 0.
    ToLine(u16),
    /// What follows has its colours exchanged.
    Reversed,
    /// What follows is as usual.
    Usual,
    /// The rest of the line is cleared.
    ClearRest,
    /// The rest of the line and all lines below are cleared.
    ClearBelow,
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Control::ToLine(line) => write!(f, "\x1b[{};1H", u32::from(*line) + 1),
            Control::Reversed => f.write_str("\x1b[7m"),
            Control::Usual => f.write_str("\x1b[0m"),
            Control::ClearRest => f.write_str("\x1b[K"),
            Control::ClearBelow => f.write_str("\x1b[J"),
        }
    }
}

/// Returns the columns and lines of the terminal that the process belongs to, or that standard output is; 0 where it does not
/// know.
///
/// # Errors
///
/// If there is none.
pub fn terminal_size() -> io::Result<(u16, u16)> {
    let size = match std::fs::File::open("/dev/tty") {
        Ok(terminal) => tcgetwinsize(terminal)?,
        Err(_) => tcgetwinsize(stdout())?,
    };
    Ok((size.ws_col, size.ws_row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_screen_are_counted_from_one_by_the_terminal() {
        assert_eq!(Control::ToLine(0).to_string(), "\x1b[1;1H");
        assert_eq!(Control::ToLine(u16::MAX).to_string(), "\x1b[65536;1H");
    }
}
