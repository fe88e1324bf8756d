//! Steps of `--do`: what processes do with the module's files, one line each.
//!
//! # How it works
//! A line is words as a shell has them: an operation, what it is on, its arguments. What begins with `/` is a path,
//! which is opened for the step and closed behind it; anything else is the name of a process that `open` started. `&`
//! at the end lets the step run beside those that follow, `!` in front expects that it fails. Lines are read by the
//! parent, so that a word that is wrong is a message before anything is compiled; the child hands them to
//! `runtime/steps.c`.

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The line that it was.
    pub text: String,
    /// Whether those that follow wait for it.
    pub background: bool,
    /// Whether it has to fail.
    pub fails: bool,
    pub(crate) operation: Operation,
    pub(crate) argument: Argument,
    /// A process, or a path.
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) data: Vec<u8>,
    pub(crate) a: u64,
    pub(crate) b: u64,
}

/// What a step does, in the order of `enum operation` in `runtime/steps.c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Operation {
    Open,
    Close,
    Read,
    Cat,
    Write,
    Seek,
    Ioctl,
    Poll,
    Fasync,
    Sigio,
    Mmap,
    Munmap,
    Peek,
    Poke,
    Signal,
    Sleep,
    Wait,
    Mknod,
    Irq,
    Ifup,
    Ifdown,
    Udp,
    Received,
    Ifstat,
    Ethtool,
    Netlink,
    Genl,
}

/// What `ioctl` hands over, in the order of `enum argument` in `runtime/steps.c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Argument {
    Number,
    Pointer,
    Text,
}

/// Each operation: its word, and the words behind it.
const USAGES: [(Operation, &str, &str); 27] = [
    (Operation::Open, "open", "NAME PATH [r|w|rw] [nonblock] [append] [uid=N]"),
    (Operation::Close, "close", "NAME"),
    (Operation::Read, "read", "PATH|NAME [BYTES]"),
    (Operation::Cat, "cat", "PATH|NAME"),
    (Operation::Write, "write", "PATH|NAME TEXT"),
    (Operation::Seek, "seek", "NAME OFFSET [set|cur|end]"),
    (Operation::Ioctl, "ioctl", "PATH|NAME COMMAND [NUMBER|@NUMBER|@\"TEXT\"]"),
    (Operation::Poll, "poll", "PATH|NAME [SECONDS]"),
    (Operation::Fasync, "fasync", "NAME on|off"),
    (Operation::Sigio, "sigio", "NAME"),
    (Operation::Mmap, "mmap", "NAME BYTES [OFFSET]"),
    (Operation::Munmap, "munmap", "NAME"),
    (Operation::Peek, "peek", "NAME OFFSET BYTES"),
    (Operation::Poke, "poke", "NAME OFFSET TEXT"),
    (Operation::Signal, "signal", "NAME SIGNAL"),
    (Operation::Sleep, "sleep", "SECONDS"),
    (Operation::Wait, "wait", ""),
    (Operation::Mknod, "mknod", "PATH REGION|MAJOR MINOR"),
    (Operation::Irq, "irq", "NUMBER"),
    (Operation::Ifup, "ifup", "DEVICE"),
    (Operation::Ifdown, "ifdown", "DEVICE"),
    (Operation::Udp, "udp", "DEVICE FROM TO TEXT"),
    (Operation::Received, "received", "DEVICE"),
    (Operation::Ifstat, "ifstat", "DEVICE"),
    (Operation::Ethtool, "ethtool", "DEVICE"),
    (Operation::Netlink, "netlink", "PROTOCOL [type=N] [TEXT]"),
    (Operation::Genl, "genl", "FAMILY [[dump] COMMAND [ATTRIBUTE[:TYPE]=VALUE]...]"),
];

/// Bytes of one `read` that does not say how many.
const READ_BYTES: u64 = 4096;
/// As `HZ` in `include/linux/kconfig.h`.
const TICKS_A_SECOND: f64 = 250.0;
/// The longest wait, in seconds.
const SECONDS_MAX: f64 = 86_400.0;

/// Reads the lines of a script: steps, empty lines, and comments that begin with `#`.
///
/// # Errors
/// [`Error::Step`] with the line's number, if one cannot be read.
pub fn script(text: &str) -> Result<Vec<Step>, Error> {
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    let steps = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    steps
        .map(|(number, line)| {
            Step::parse(line).map_err(|error| match error {
                Error::Step { step, what } => {
                    Error::Step { step: format!("line {number}: {step}"), what }
                }
                other => other,
            })
        })
        .collect()
}

/// Returns the lines of help: each operation with its words.
pub fn usages() -> impl Iterator<Item = String> {
    USAGES.iter().map(|(_, word, usage)| format!("{word} {usage}").trim_end().to_string())
}

impl Step {
    /// Reads a step.
    ///
    /// # Errors
    /// [`Error::Step`] if it cannot be read.
    pub fn parse(line: &str) -> Result<Self, Error> {
        let wrong = |what: String| Error::Step { step: line.trim().into(), what };
        let mut body = line.trim();
        let fails = body.strip_prefix('!').inspect(|rest| body = rest.trim()).is_some();
        let background = body.strip_suffix('&').inspect(|rest| body = rest.trim()).is_some();
        let words =
            shlex::split(body).ok_or_else(|| wrong("a quotation mark has no end".into()))?;
        let Some((word, rest)) = words.split_first() else {
            return Err(wrong("nothing to do; `open`, `read` and `write` are steps".into()));
        };
        let Some(&(operation, _, usage)) = USAGES.iter().find(|(_, name, _)| name == word) else {
            let names: Vec<_> = USAGES.iter().map(|(_, name, _)| *name).collect();
            return Err(wrong(format!("{word:?} is none of {}", names.join(", "))));
        };
        let mut step = Self {
            text: line.trim().into(),
            background,
            fails,
            operation,
            argument: Argument::Number,
            name: rest.first().cloned().unwrap_or_default(),
            path: String::new(),
            data: Vec::new(),
            a: 0,
            b: 0,
        };
        step.take(rest).ok_or_else(|| wrong(format!("expected `{word} {usage}`")))?;
        Ok(step)
    }

    /// Takes the words behind the operation; `None` if they are others than it has.
    fn take(&mut self, words: &[String]) -> Option<()> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match (self.operation, &words[..]) {
            (Operation::Open, [name, path, how @ ..]) if !name.starts_with('/') => {
                self.path = (*path).into();
                (self.a, self.b) = open_flags(how)?;
            }
            (Operation::Close | Operation::Sigio | Operation::Munmap, [name]) if is_name(name) => {}
            (Operation::Cat, [_]) | (Operation::Wait, []) => {}
            (Operation::Read, [_]) => self.a = READ_BYTES,
            (Operation::Read, [_, bytes]) => self.a = number(bytes)?,
            (Operation::Write, [_, text @ ..]) if !text.is_empty() => self.data = bytes(text)?,
            (Operation::Seek, [name, offset, whence @ ..]) if is_name(name) => {
                self.a = number(offset)?;
                self.b = match whence {
                    [] | ["set"] => 0,
                    ["cur"] => 1,
                    ["end"] => 2,
                    _ => return None,
                };
            }
            (Operation::Ioctl, [_, command, argument @ ..]) if argument.len() < 2 => {
                self.a = ioctl_command(command)?;
                self.ioctl_argument(argument.first())?;
            }
            (Operation::Poll, [_]) => {}
            (Operation::Poll, [_, time]) => {
                self.a = (seconds(time)? * TICKS_A_SECOND).ceil() as u64;
            }
            (Operation::Fasync, [name, on @ ("on" | "off")]) if is_name(name) => {
                self.a = u64::from(*on == "on");
            }
            (Operation::Mmap, [name, bytes, offset @ ..]) if is_name(name) && offset.len() < 2 => {
                self.a = number(bytes)?;
                self.b = offset.first().map_or(Some(0), |offset| number(offset))?;
            }
            (Operation::Peek, [name, offset, bytes]) if is_name(name) => {
                (self.a, self.b) = (number(offset)?, number(bytes)?);
            }
            (Operation::Poke, [name, offset, text @ ..]) if is_name(name) && !text.is_empty() => {
                self.a = number(offset)?;
                self.data = bytes(text)?;
            }
            (Operation::Signal, [name, signal]) if is_name(name) => self.a = signal_number(signal)?,
            (Operation::Sleep, [time]) => self.a = (seconds(time)? * 1000.0) as u64,
            (Operation::Irq, [irq]) => self.a = number(irq)?,
            (Operation::Mknod, [path, region, minor]) => {
                self.name = path.strip_prefix("/dev/")?.into();
                self.path = (*region).into();
                self.a = number(minor)?;
            }
            _ => return self.take_of_network(&words),
        }
        Some(())
    }

    /// Takes the words of a step on the network.
    fn take_of_network(&mut self, words: &[&str]) -> Option<()> {
        match (self.operation, words) {
            (
                Operation::Ifup
                | Operation::Ifdown
                | Operation::Received
                | Operation::Ifstat
                | Operation::Ethtool,
                [_],
            ) => {}
            (Operation::Udp, [_, from, to, text @ ..]) if !text.is_empty() => {
                (self.a, self.b) = (address(from)?, address(to)?);
                self.data = bytes(text)?;
            }
            (Operation::Netlink, [protocol, rest @ ..]) => {
                self.a = number(protocol).filter(|&number| number <= u64::from(u16::MAX))?;
                self.message(rest)?;
            }
            (Operation::Genl, [_, rest @ ..]) => self.command(rest)?,
            _ => return None,
        }
        Some(())
    }

    /// What `netlink` sends: a text with a zero behind it; without a text it only listens.
    fn message(&mut self, words: &[&str]) -> Option<()> {
        let (kind, text) = match words {
            [first, rest @ ..] if first.starts_with("type=") => {
                (number(first.strip_prefix("type=")?)?, rest)
            }
            _ => (0, words),
        };
        if kind > u64::from(u16::MAX) || (kind > 0 && text.is_empty()) {
            return None;
        }
        if !text.is_empty() {
            self.data = bytes(text)?;
            self.data.push(0);
        }
        self.b = kind << 1 | u64::from(!text.is_empty());
        Some(())
    }

    /// What `genl` sends: a command with its attributes; without a command it only listens.
    fn command(&mut self, words: &[&str]) -> Option<()> {
        let (dumps, words) = match words {
            ["dump", rest @ ..] => (true, rest),
            _ => (false, words),
        };
        self.b = u64::from(dumps);
        let Some((command, attributes)) = words.split_first() else {
            self.a = u64::MAX;
            return (!dumps).then_some(());
        };
        self.a = number(command).filter(|&command| command <= u64::from(u8::MAX))?;
        for word in attributes {
            self.data.extend(attribute(word)?);
        }
        (self.data.len() <= ATTRIBUTE_BYTES_MAX).then_some(())
    }

    fn ioctl_argument(&mut self, word: Option<&&str>) -> Option<()> {
        match word.map(|word| (word.strip_prefix('@'), *word)) {
            None => {}
            Some((None, value)) => self.b = number(value)?,
            Some((Some(value), _)) => match number(value) {
                Some(value) => (self.argument, self.b) = (Argument::Pointer, value),
                None => (self.argument, self.data) = (Argument::Text, bytes(&[value])?),
            },
        }
        Some(())
    }

    /// Says in words what it returned, where that is more than a number.
    #[must_use]
    pub fn meaning(&self, result: i64) -> Option<String> {
        let names = EVENTS.iter().filter(|(bit, _)| result & bit != 0).map(|(_, name)| *name);
        let polled = self.operation == Operation::Poll && result > 0;
        polled.then(|| names.collect::<Vec<_>>().join(" "))
    }

    /// Whether what it read is to be shown as a number of this many bytes.
    #[must_use]
    pub fn is_number(&self) -> bool {
        self.operation == Operation::Ioctl && self.argument == Argument::Pointer
    }
}

/// Events of `poll`, by their bits.
const EVENTS: [(i64, &str); 8] = [
    (0x1, "POLLIN"),
    (0x2, "POLLPRI"),
    (0x4, "POLLOUT"),
    (0x8, "POLLERR"),
    (0x10, "POLLHUP"),
    (0x40, "POLLRDNORM"),
    (0x100, "POLLWRNORM"),
    (0x2000, "POLLRDHUP"),
];

fn is_name(word: &str) -> bool {
    !word.starts_with('/')
}

fn seconds(word: &str) -> Option<f64> {
    word.parse().ok().filter(|s| (0.0..=SECONDS_MAX).contains(s))
}

/// A number as C writes it, also a negative one.
fn number(word: &str) -> Option<u64> {
    let (minus, digits) = word.strip_prefix('-').map_or((false, word), |rest| (true, rest));
    let value = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if minus { value.wrapping_neg() } else { value })
}

/// Returns `O_*` as `include/linux/fcntl.h` has them, and the user.
fn open_flags(words: &[&str]) -> Option<(u64, u64)> {
    let (mut flags, mut uid) = (2, 0);
    for word in words {
        match *word {
            "r" => flags &= !3,
            "w" => flags = flags & !3 | 1,
            "rw" => flags = flags & !3 | 2,
            "nonblock" => flags |= 0o4000,
            "append" => flags |= 0o2000,
            "sync" => flags |= 0o4_010_000,
            "trunc" => flags |= 0o1000,
            other => uid = number(other.strip_prefix("uid=")?)?,
        }
    }
    Some((flags, uid))
}

/// Bytes of attributes that one message takes (`runtime/genetlink.c`).
const ATTRIBUTE_BYTES_MAX: usize = 256;

/// An address of IPv4, its bytes in order.
fn address(word: &str) -> Option<u64> {
    let address: std::net::Ipv4Addr = word.parse().ok()?;
    Some(u32::from_ne_bytes(address.octets()).into())
}

/// An attribute of netlink, `3=7` or `3:u64=7`: header, value, zeros up to a multiple of four bytes.
fn attribute(word: &str) -> Option<Vec<u8>> {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    let (name, kind) = name.split_once(':').unwrap_or((name, ""));
    let is_text = number(value).is_none();
    let width = match kind {
        "" if is_text => None,
        "string" => None,
        "u8" => Some(1),
        "u16" => Some(2),
        "" | "u32" => Some(4),
        "u64" => Some(8),
        _ => return None,
    };
    let payload = match width {
        None if value.is_empty() && kind.is_empty() => Vec::new(),
        None => [&bytes(&[value])?[..], &[0]].concat(),
        Some(width) => number(value)?.to_ne_bytes()[..width].to_vec(),
    };
    let length = u16::try_from(payload.len() + 4).ok()?;
    let kind = number(name).and_then(|name| u16::try_from(name).ok())?;
    let mut attribute = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
    attribute.extend(payload);
    attribute.resize(attribute.len().next_multiple_of(4), 0);
    Some(attribute)
}

/// Joins words, with `\n`, `\t`, `\0`, `\\` and `\xNN` for the bytes that they stand for.
fn bytes(words: &[&str]) -> Option<Vec<u8>> {
    let text = words.join(" ");
    let mut out = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        out.push(match byte {
            b'\\' => match rest.next()? {
                b'n' => b'\n',
                b't' => b'\t',
                b'0' => 0,
                b'\\' => b'\\',
                b'x' => {
                    let hex = [rest.next()?, rest.next()?];
                    u8::from_str_radix(std::str::from_utf8(&hex).ok()?, 16).ok()?
                }
                _ => return None,
            },
            other => other,
        });
    }
    Some(out)
}

/// The numbers of signals that a step may send.
const SIGNALS: [(&str, u64); 10] = [
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("KILL", 9),
    ("USR1", 10),
    ("USR2", 12),
    ("ALRM", 14),
    ("TERM", 15),
    ("CONT", 18),
    ("IO", 29),
];

fn signal_number(word: &str) -> Option<u64> {
    let name = word.strip_prefix("SIG").unwrap_or(word);
    let known = SIGNALS.iter().find(|(known, _)| *known == name).map(|&(_, number)| number);
    known.or_else(|| number(word).filter(|n| (1..=64).contains(n)))
}

/// A command of `ioctl`: a number, or `_IOWR(k,3,int)` as a header has it.
fn ioctl_command(word: &str) -> Option<u64> {
    if let Some(value) = number(word) {
        return Some(value);
    }
    let (kind, rest) = word.trim_start_matches('_').split_once('(')?;
    let parts: Vec<&str> = rest.strip_suffix(')')?.split(',').map(str::trim).collect();
    let direction = match kind {
        "IO" => 0,
        "IOW" => 1,
        "IOR" => 2,
        "IOWR" => 3,
        _ => return None,
    };
    let (magic, command, size) = match (&parts[..], direction) {
        ([magic, command], 0) => (magic, command, 0),
        ([magic, command, size], 1..) => (magic, command, type_bytes(size)?),
        _ => return None,
    };
    let magic = magic.trim_matches('\'');
    let magic = match magic.as_bytes() {
        [letter] if !letter.is_ascii_digit() => u64::from(*letter),
        _ => number(magic)?,
    };
    Some(direction << 30 | size << 16 | magic << 8 | number(command)?)
}

/// Bytes of a type by its name, or as a number.
fn type_bytes(word: &str) -> Option<u64> {
    let pointer = word.ends_with('*');
    match word {
        _ if pointer => Some(8),
        "char" | "u8" | "__u8" => Some(1),
        "short" | "u16" | "__u16" => Some(2),
        "int" | "unsigned int" | "int32_t" | "uint32_t" | "u32" | "__u32" => Some(4),
        "long" | "unsigned long" | "int64_t" | "uint64_t" | "u64" | "__u64" | "size_t" => Some(8),
        other => number(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_read() {
        let step = Step::parse("! read a 10 &").unwrap();
        assert!(step.fails && step.background);
        assert_eq!((step.operation, step.name.as_str(), step.a), (Operation::Read, "a", 10));
        let step = Step::parse(r#"write /dev/x "two words\n" \\x41"#).unwrap();
        assert_eq!(step.data, b"two words\n A");
        let step = Step::parse("open a /dev/x r nonblock uid=7").unwrap();
        assert_eq!((step.path.as_str(), step.a, step.b), ("/dev/x", 0o4000, 7));
        let step = Step::parse("seek a -5 end").unwrap();
        assert_eq!((step.a, step.b), (5_u64.wrapping_neg(), 2));
    }

    #[test]
    fn steps_on_the_network_are_read() {
        let step = Step::parse("udp sn0 192.168.0.1 10.0.0.2 two words").unwrap();
        assert_eq!(step.a.to_ne_bytes()[..4], [192, 168, 0, 1]);
        assert_eq!((step.name.as_str(), &step.data[..]), ("sn0", &b"two words"[..]));
        let step = Step::parse("netlink 31 hello").unwrap();
        assert_eq!((step.a, step.b, &step.data[..]), (31, 1, &b"hello\0"[..]));
        assert_eq!(Step::parse("netlink 31").unwrap().b, 0);
        assert_eq!(Step::parse("netlink 31 type=16 x").unwrap().b, 33);
        let step = Step::parse("genl demo dump 2").unwrap();
        assert_eq!((step.a, step.b), (2, 1));
        let step = Step::parse("genl demo 1 1=ab 2=7 3:u8=1 4").unwrap();
        let expected =
            [7, 0, 1, 0, b'a', b'b', 0, 0, 8, 0, 2, 0, 7, 0, 0, 0, 5, 0, 3, 0, 1, 0, 0, 0];
        assert_eq!(step.data, [&expected[..], &[4, 0, 4, 0]].concat());
    }

    /// As the macros of `asm-generic/ioctl.h` make them.
    #[test]
    fn commands_of_ioctl_are_what_the_macros_make() {
        for (text, code) in [
            ("_IO('k',1)", 0x6b01),
            ("_IOR(k,2,int)", 0x8004_6b02),
            ("IOW(k, 3, char)", 0x4001_6b03),
            ("_IOWR('k',4,long)", 0xc008_6b04),
            ("_IOR(7,0,char *)", 0x8008_0700),
            ("0x6b01", 0x6b01),
        ] {
            assert_eq!(ioctl_command(text), Some(code), "{text}");
        }
    }

    #[test]
    fn what_is_no_step_says_what_is_missing() {
        for (line, what) in [
            ("", "nothing to do"),
            ("frobnicate a", "is none of open, close"),
            ("open a", "expected `open NAME PATH"),
            ("read a many", "expected `read PATH|NAME [BYTES]`"),
            ("write a", "expected `write"),
            ("write a \"x", "a quotation mark has no end"),
            ("seek /dev/x 3", "expected `seek NAME"),
            ("signal a SIGNOTHING", "expected `signal"),
            ("ioctl a _IOX(1)", "expected `ioctl"),
            ("udp sn0 192.168.0 10.0.0.2 x", "expected `udp"),
            ("netlink x", "expected `netlink"),
            ("netlink 31 type=17", "expected `netlink"),
            ("genl demo 256", "expected `genl"),
            ("genl demo 1 x=1", "expected `genl"),
            ("genl demo dump", "expected `genl"),
        ] {
            let error = Step::parse(line).unwrap_err().to_string();
            assert!(error.contains(what), "{line}: {error}");
        }
        let error = script("# one\n\nwait\nread\n").unwrap_err().to_string();
        assert!(error.contains("line 4: read"), "{error}");
    }
}
