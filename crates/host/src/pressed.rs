//! The keys that a terminal in raw mode sends.
//!
//! # How it works
//! A letter is itself in UTF-8, and a key without a letter is a sequence that begins with Escape. Escape alone is the
//! key if nothing stands behind it in what was read at once.
//!
//! Linux counterpart: the keys of `console_codes(4)`; xterm's "PC-Style Function Keys".

/// A key that was pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pressed {
    /// A letter, a digit or a sign
    Letter(char),
    /// A letter together with Ctrl
    Control(char),
    /// Return
    Enter,
    /// Escape
    Escape,
    /// The tabulator
    Tab,
    /// What erases the letter before
    Backspace,
    /// An arrow
    Up,
    /// An arrow
    Down,
    /// An arrow
    Left,
    /// An arrow
    Right,
    /// A page up
    PageUp,
    /// A page down
    PageDown,
    /// To the beginning
    Home,
    /// Any other key
    Other,
}

const ESCAPE: u8 = 0x1b;

/// Takes the keys off `typed`. What may be the beginning of one stays.
pub(crate) fn take(typed: &mut Vec<u8>) -> Vec<Pressed> {
    let (mut keys, mut at) = (Vec::new(), 0);
    while let Some((key, length)) = first(&typed[at..]) {
        keys.push(key);
        at += length;
    }
    typed.drain(..at);
    keys
}

/// Returns the first key and its length; `None` where more has to come.
fn first(typed: &[u8]) -> Option<(Pressed, usize)> {
    let (first, rest) = typed.split_first()?;
    Some(match first {
        b'\r' => (Pressed::Enter, 1),
        b'\t' => (Pressed::Tab, 1),
        0x7f => (Pressed::Backspace, 1),
        0 => (Pressed::Control(' '), 1),
        1..=0x1a => (Pressed::Control(char::from(first - 1 + b'a')), 1),
        &ESCAPE => match rest.first() {
            None => (Pressed::Escape, 1),
            Some(b'[') => return sequence(&rest[1..]).map(|(key, length)| (key, length + 2)),
            Some(b'O') => (named(*rest.get(1)?, ""), 3),
            // Escape before a letter is how a terminal says Alt; before Escape it is the key.
            Some(&ESCAPE) => (Pressed::Escape, 1),
            Some(_) => return self::first(rest).map(|(key, length)| (key, length + 1)),
        },
        0x1c..=0x1f => (Pressed::Other, 1),
        _ => return letter(typed),
    })
}

/// Returns the key of a sequence, behind the bracket that begins it: numbers, and what ends it.
fn sequence(typed: &[u8]) -> Option<(Pressed, usize)> {
    let end = typed.iter().position(|byte| (0x40..0x7f).contains(byte))?;
    Some((named(typed[end], str::from_utf8(&typed[..end]).unwrap_or("?")), end + 1))
}

/// Returns the key that `end` and the numbers before it name.
fn named(end: u8, numbers: &str) -> Pressed {
    let (number, modifiers) = numbers.split_once(';').unwrap_or((numbers, "1"));
    // One more than the sum of 1 for Shift, 2 for Alt and 4 for Ctrl.
    let modifiers: u8 = modifiers.parse().unwrap_or(u8::MAX);
    if modifiers.wrapping_sub(1) & 4 != 0 {
        return Pressed::Other;
    }
    match (end, number) {
        (b'A', _) => Pressed::Up,
        (b'B', _) => Pressed::Down,
        (b'C', _) => Pressed::Right,
        (b'D', _) => Pressed::Left,
        (b'H', _) | (b'~', "1" | "7") => Pressed::Home,
        (b'~', "5") => Pressed::PageUp,
        (b'~', "6") => Pressed::PageDown,
        _ => Pressed::Other,
    }
}

/// Returns the letter that text begins with.
fn letter(typed: &[u8]) -> Option<(Pressed, usize)> {
    let length = match typed[0] {
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf8 => 4,
        _ => 1,
    };
    let text = str::from_utf8(typed.get(..length)?);
    Some(
        text.ok()
            .and_then(|text| text.chars().next())
            .map_or((Pressed::Other, 1), |letter| (Pressed::Letter(letter), length)),
    )
}

#[cfg(test)]
mod tests {
    use super::Pressed::{
        Backspace, Control, Down, Enter, Escape, Home, Left, Letter, Other, PageDown, PageUp,
        Right, Tab, Up,
    };
    use super::*;

    /// Returns the keys, and what stays.
    fn taken(typed: &str) -> (Vec<Pressed>, String) {
        let mut typed = typed.as_bytes().to_vec();
        let keys = take(&mut typed);
        (keys, String::from_utf8(typed).unwrap())
    }

    #[test]
    fn letters_and_keys_without_letters_are_told_apart() {
        let keys = |typed: &str| taken(typed).0;
        assert_eq!(keys("qß/"), [Letter('q'), Letter('ß'), Letter('/')]);
        assert_eq!(keys("\x1b[A\x1b[B\x1bOC\x1bOD"), [Up, Down, Right, Left]);
        assert_eq!(keys("\x1b[5~\x1b[6~\x1b[H\x1b[1~"), [PageUp, PageDown, Home, Home]);
        assert_eq!(keys("\r\t\x7f\x03"), [Enter, Tab, Backspace, Control('c')]);
        assert_eq!(keys("\x1b"), [Escape]);
        assert_eq!(keys("\x1bx"), [Letter('x')], "with Alt");
        assert_eq!(
            keys("\x1b[1;2A\x1b[1;5A\x1b[Z\x1b[15~q"),
            [Up, Other, Other, Other, Letter('q')]
        );
    }

    #[test]
    fn the_beginning_of_a_key_waits_for_its_rest() {
        assert_eq!(taken("a\x1b["), (vec![Letter('a')], "\x1b[".to_owned()));
        let mut typed = vec![0xc3];
        assert_eq!(take(&mut typed), []);
        typed.push(0x9f);
        assert_eq!((take(&mut typed), typed.len()), (vec![Letter('ß')], 0));
    }

    #[test]
    fn no_bytes_are_kept_for_ever() {
        for byte in 0..=u8::MAX {
            let mut typed = vec![byte; 64];
            let _ = take(&mut typed);
            assert!(typed.len() < 4, "{byte:#x}");
        }
    }
}
