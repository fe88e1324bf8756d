//! Call chains in texts: the lines below an event, or below a mark that names its CPU.
//!
//! How it works: perf script prints a chain below its event, one line a frame, up to an empty line. tracefs and trace-cmd
//! print a line `<stack trace>` of its own for a CPU and a context, maybe with other events in between, and frames `=> f`
//! below it. So of each CPU and context the last event may yet get a stack.
//!
//! What is left out: frames of programs, which have no symbol of the kernel. A text that ends within a chain of perf script
//! has a cut one.

use rustc_hash::FxHashMap;

use crate::Extent;
use crate::source::sorter::Ticket;

/// An event that may get a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Context {
    pub(super) cpu: u32,
    pub(super) pid: u32,
    /// Whether, and how, it interrupts: the third column of tracefs's flags.
    pub(super) interrupt: u8,
}

/// The chain that is being read, and the events that may get one.
#[derive(Debug, Default)]
pub(super) struct Chain {
    waiting: FxHashMap<(u32, u8), (u32, Ticket)>,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    ticket: Ticket,
    frames: Vec<String>,
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Below its event; no mark has come.
    Perf,
    /// Below a mark
    Marked,
}

/// A chain that has been read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) ticket: Ticket,
    pub(super) frames: Vec<String>,
    pub(super) extent: Extent,
}

impl Chain {
    /// Notes an event; returns the chain that it ends.
    pub(super) fn event(&mut self, of: Context, ticket: Ticket) -> Option<Read> {
        let ended = self.end(Extent::Whole);
        self.waiting.insert((of.cpu, of.interrupt), (of.pid, ticket));
        self.open = Some(Open { ticket, frames: Vec::new(), form: Form::Perf });
        ended
    }

    /// Notes the mark of a stack; returns the chain that it ends.
    pub(super) fn mark(&mut self, of: Context) -> Option<Read> {
        let ended = self.end(Extent::Whole);
        let waiting = self.waiting.remove(&(of.cpu, of.interrupt));
        let ticket = waiting.filter(|(pid, _)| *pid == of.pid).map(|(_, ticket)| ticket);
        self.open = ticket.map(|ticket| Open { ticket, frames: Vec::new(), form: Form::Marked });
        ended
    }

    /// Reads a line that does not begin an event: a frame, or the end of a chain, which is returned.
    pub(super) fn line(&mut self, line: &str) -> Option<Read> {
        let open = self.open.as_mut()?;
        let frame = match open.form {
            Form::Perf => perf_frame(line),
            Form::Marked => marked_frame(line),
        };
        match frame {
            Frame::Kernel(name) => open.frames.push(name),
            Frame::Program => {}
            Frame::None => return self.end(Extent::Whole),
        }
        None
    }

    /// Ends the chain that is being read.
    pub(super) fn end(&mut self, extent: Extent) -> Option<Read> {
        let Open { ticket, frames, form } = self.open.take()?;
        let extent = if form == Form::Perf { extent } else { Extent::Whole };
        (!frames.is_empty()).then_some(Read { ticket, frames, extent })
    }
}

/// What a line below an event is.
#[derive(Debug, PartialEq, Eq)]
enum Frame {
    Kernel(String),
    /// A frame of a program, or a line of source below a frame
    Program,
    /// No frame
    None,
}

/// Reads `\tffffffff81234567 f+0x1c ([kernel.kallsyms])`.
fn perf_frame(line: &str) -> Frame {
    let trimmed = line.trim();
    let (address, rest) = trimmed.split_once(' ').unwrap_or((trimmed, ""));
    let is_hex = !address.is_empty() && address.bytes().all(|digit| digit.is_ascii_hexdigit());
    if !line.starts_with(char::is_whitespace) || trimmed.is_empty() {
        return Frame::None;
    }
    if !is_hex {
        return Frame::Program;
    }
    let (symbol, object) = rest.trim().rsplit_once(" (").unwrap_or((rest.trim(), ""));
    let object = object.trim_end_matches(')');
    let module = match object {
        "[kernel.kallsyms]" | "[kernel]" | "[guest.kernel.kallsyms]" => None,
        _ if object.ends_with("/vmlinux") => None,
        _ if object.starts_with('[')
            && !object.starts_with("[unknown")
            && !object.starts_with("[vdso") =>
        {
            Some(object.trim_matches(['[', ']']).to_owned())
        }
        _ => match object.rsplit('/').next().and_then(|file| file.split_once(".ko")) {
            // The kernel writes `-` in the name of a module as `_`.
            Some((module, "" | ".xz" | ".zst" | ".gz")) => Some(module.replace('-', "_")),
            // Without its object, an address above all programs is the kernel's.
            _ if object.is_empty() && address.len() == 16 && address.starts_with("ffff") => None,
            _ => return Frame::Program,
        },
    };
    let symbol = symbol.trim();
    let name = match symbol {
        "" | "[unknown]" => format!("0x{address}"),
        symbol => symbol.to_owned(),
    };
    Frame::Kernel(match module {
        Some(module) if !name.ends_with(']') => format!("{name} [{module}]"),
        _ => name,
    })
}

/// Reads ` => f+0x1c/0x20 [module]`, or `=> f (ffffffff81234567)` of trace-cmd.
fn marked_frame(line: &str) -> Frame {
    let Some(frame) = line.trim().strip_prefix("=> ") else { return Frame::None };
    let (place, rest) = frame.trim().split_once(' ').unwrap_or((frame.trim(), ""));
    let place = place.split_once('/').map_or(place, |(place, _)| place);
    let module = rest.trim().strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match (place, module) {
        // What the kernel writes for an address of a program, or where it was cut.
        ("", _) | ("<0>", _) => Frame::Program,
        (place, Some((module, _))) => Frame::Kernel(format!("{place} [{module}]")),
        (place, None) => Frame::Kernel(place.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_perf_and_the_kernel_print_them() {
        let kernel = |name: &str| Frame::Kernel(name.to_owned());
        for (line, frame) in [
            ("\tffffffff8143ab10 f+0x1c ([kernel.kallsyms])", kernel("f+0x1c")),
            ("\tffffffffc0401234 g+0x4 ([ext4])", kernel("g+0x4 [ext4]")),
            (
                "\tffffffffc0401234 g+0x4 (/lib/modules/6.1/kernel/nf-tables.ko.xz)",
                kernel("g+0x4 [nf_tables]"),
            ),
            ("\tffffffffc0401234 [unknown] ([kernel.kallsyms])", kernel("0xffffffffc0401234")),
            ("        ffffffff8143ab10 f", kernel("f")),
            ("\t    7f1234567890 read+0x10 (/usr/lib/libc.so.6)", Frame::Program),
            ("\t    7fff12345678 [unknown] ([vdso])", Frame::Program),
            ("  slub.c:4711", Frame::Program),
            ("", Frame::None),
        ] {
            assert_eq!(perf_frame(line), frame, "{line}");
        }
        for (line, frame) in [
            (" => kmem_cache_alloc_noprof", kernel("kmem_cache_alloc_noprof")),
            (" => f+0x1c/0x20 [ext4]", kernel("f+0x1c [ext4]")),
            ("=> g (ffffffff81234567)", kernel("g")),
            ("=> 0xffffffffc0401234", kernel("0xffffffffc0401234")),
            ("          <idle>-0 [000] d..1. 1.5: x: y", Frame::None),
        ] {
            assert_eq!(marked_frame(line), frame, "{line}");
        }
    }
}
