//! One line of a text: `comm-pid [cpu] flags time: event: call_site=... ptr=...`, in all its dialects.
//!
//! # How it works
//! The event's name is looked for, and from there everything is read from right to left,
//! for on the left stands the thread's name, which may hold anything. What the dialects differ in is
//! left over: `comm-pid`, `comm pid`, `comm pid/tid`; `(tgid)`; the column of irq flags; a period.

use slablab_linux::Gfp;

use super::super::kmem;
use super::chain::Context;
use super::fields::{Other, first_word, number, pairs};
use super::page_line;
use crate::{Kind, PageKind, RawEvent};

/// A kmem event as a line has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// All but the names.
    pub(super) event: RawEvent,
    /// What the thread is called.
    pub(super) comm: &'a str,
    pub(super) call_site: &'a str,
    /// "" when the event names no cache.
    pub(super) cache: &'a str,
    /// Whether, and how, it interrupts a thread, as tracefs writes it.
    interrupt: u8,
}

impl Line<'_> {
    /// Returns where it happened.
    pub(super) fn context(&self) -> Context {
        Context { cpu: self.event.cpu, pid: self.event.pid, interrupt: self.interrupt }
    }
}

const NO_TIME: &str = "line has no time stamp (perf script prints it with -F +time)";
const NO_CLOCK: &str = "line has a number for a time stamp (write local, global or mono to trace_clock before tracing)";
const NO_CPU: &str = "line has no CPU ([000]; perf script prints it with -F +cpu)";
const NO_FIELDS: &str = "line has no fields (perf script prints them with -F +trace)";

/// Reads a line.
pub(super) fn parse(line: &str) -> Result<Line<'_>, Other> {
    let Some((kind, head, fields)) = split_at_event(line) else { return Err(not_kmem(line)) };
    let mut parsed = before_event(head)?;
    match kind {
        AnyKind::Slab(kind) => {
            parsed.event.kind = kind;
            read_fields(fields, &mut parsed)?;
        }
        AnyKind::Page(kind) => page_line::read(kind, fields, &mut parsed.event)?,
    }
    Ok(parsed)
}

/// What a line is an event of.
#[derive(Debug, Clone, Copy)]
enum AnyKind {
    Slab(Kind),
    Page(PageKind),
}

/// Reads what stands left of the event's name.
fn before_event(head: &str) -> Result<Line<'_>, Other> {
    let (head, time_ns) = split_time(head)
        .ok_or_else(|| Other::Broken(if ends_in_number(head) { NO_CLOCK } else { NO_TIME }))?;
    let (who, cpu) = split_cpu(head).ok_or(Other::Broken(NO_CPU))?;
    let (comm, pid) = thread(who).unwrap_or_default();
    let event = RawEvent { time_ns, cpu, pid, ..RawEvent::EMPTY };
    let interrupt = interrupt(&head[who.len()..]);
    Ok(Line { event, comm, call_site: "", cache: "", interrupt })
}

/// Returns the third of the flags between CPU and time, `[000] d.h1.`, which says what interrupts; `.` where there are none.
fn interrupt(between: &str) -> u8 {
    let flags = between.split_once(']').map_or(between, |(_, flags)| flags).trim();
    match flags.as_bytes() {
        [_, _, interrupt, _, ..] if !flags.contains(' ') => *interrupt,
        _ => b'.',
    }
}

/// Reads the mark above a stack: `<stack trace>`, of trace-cmd `kernel_stack:`.
fn stack_mark(line: &str) -> Option<Context> {
    let trimmed = line.trim_end();
    let head = trimmed.strip_suffix("<stack trace>").or_else(|| {
        let head = trimmed.strip_suffix("<stack trace >")?;
        head.trim_end().strip_suffix("kernel_stack:")
    })?;
    let (head, _) = split_time(head)?;
    let (who, cpu) = split_cpu(head)?;
    let (_, pid) = thread(who)?;
    Some(Context { cpu, pid, interrupt: interrupt(&head[who.len()..]) })
}

/// Splits at the event's name: what is left of it, and the fields right of it.
fn split_at_event(line: &str) -> Option<(AnyKind, &str, &str)> {
    // The fields begin with the call site in all kernels; the name is the nearest before it.
    let Some(fields) = line.find("call_site=") else {
        let (kind, head, fields) = page_line::split(line)?;
        return Some((AnyKind::Page(kind), head, fields));
    };
    let head = &line[..fields];
    let mut end = head.len();
    while let Some(colon) = head[..end].rfind(':') {
        let start = head[..colon].rfind(char::is_whitespace).map_or(0, |space| space + 1);
        let word = &head[start..colon];
        let name = word.strip_prefix("kmem:").unwrap_or(word);
        if let Some(kind) = kmem::kind_of(name) {
            return Some((AnyKind::Slab(kind), &head[..start], &line[fields..]));
        }
        end = start;
    }
    None
}

/// Splits off the last `seconds.fraction:`, or in the latency format `microsecondsus+:`.
fn split_time(head: &str) -> Option<(&str, u64)> {
    let mut end = head.len();
    while let Some(colon) = head[..end].rfind(':') {
        let before = head[..colon].trim_end();
        let start = before.rfind(char::is_whitespace).map_or(0, |space| space + 1);
        let time = &before[start..];
        if let Some(time_ns) = time_ns(time).or_else(|| latency_ns(time)) {
            return Some((&head[..start], time_ns));
        }
        end = start;
    }
    None
}

/// Returns whether the last word is `number:`, as where the clock counts cycles or events.
fn ends_in_number(head: &str) -> bool {
    let time = head.trim_end().strip_suffix(':').and_then(|head| head.split_whitespace().last());
    time.is_some_and(|time| time.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Reads `123us`, behind which a mark tells how long it took to the next event.
fn latency_ns(text: &str) -> Option<u64> {
    let us = text.trim_end_matches(['+', '!', '#', '*', '@', '$']).strip_suffix("us")?;
    us.parse::<u64>().ok()?.checked_mul(1000)
}

fn time_ns(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(seconds) || !digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let scale = 10u64.pow(9 - fraction.len() as u32);
    let fraction_ns = fraction.parse::<u64>().ok()? * scale;
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(fraction_ns)
}

/// Splits at the last `[number]`.
fn split_cpu(head: &str) -> Option<(&str, u32)> {
    let mut end = head.len();
    while let Some(open) = head[..end].rfind('[') {
        let close = head[open..].find(']')? + open;
        if let Ok(cpu) = head[open + 1..close].parse() {
            return Some((&head[..open], cpu));
        }
        end = open;
    }
    // The latency format: `0d.h1.`, the CPU and the flags.
    let head = head.trim_end();
    let start = head.rfind(char::is_whitespace).map_or(0, |space| space + 1);
    let digits = head[start..].bytes().take_while(u8::is_ascii_digit).count();
    let (cpu, flags) = head[start..].split_at(digits);
    let is_flag = |flag: u8| flag == b'.' || flag == b'#' || flag.is_ascii_alphanumeric();
    let is_cpu = flags.len() >= 4 && flags.bytes().all(is_flag);
    cpu.parse().ok().filter(|_| is_cpu).map(|cpu| (&head[..start], cpu))
}

/// Reads the thread's name and id of `comm-pid`, `comm-pid (tgid)`, `comm pid` or `comm pid/tid`.
fn thread(who: &str) -> Option<(&str, u32)> {
    let mut who = who.trim_end();
    if let Some(open) = who.rfind('(').filter(|_| who.ends_with(')')) {
        who = who[..open].trim_end();
    }
    let digits = who.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (rest, id) = who.split_at(who.len() - digits);
    // Before the thread's id the process's may stand.
    let comm = rest
        .strip_suffix('/')
        .map_or(rest, |rest| rest.trim_end_matches(|c: char| c.is_ascii_digit()));
    Some((comm.strip_suffix(['-', ' ']).unwrap_or(comm).trim(), id.parse().ok()?))
}

fn read_fields<'a>(text: &'a str, line: &mut Line<'a>) -> Result<(), Other> {
    let broken = Other::Broken;
    let (mut address, mut req, mut alloc) = (None, None, None);
    for (key, value) in pairs(text) {
        match key {
            // With `fields` on, tracefs puts a number behind the symbol, in brackets.
            "call_site" => line.call_site = value.split_once(" (").map_or(value, |(site, _)| site),
            "ptr" => address = Some(ptr(value).map_err(broken)?),
            "bytes_req" => req = Some(number(value).ok_or(broken("bytes_req is not a size"))?),
            "bytes_alloc" => {
                alloc = Some(number(value).ok_or(broken("bytes_alloc is not a size"))?);
            }
            // The kernel charges an object if its cache or its flags say so.
            "accounted"
                if line.event.kind == Kind::KmemCacheAlloc && first_word(value) == "true" =>
            {
                line.event.gfp |= Gfp::ACCOUNT.0;
            }
            "gfp_flags" => line.event.gfp = Gfp::parse(first_word(value)).0,
            "node" => line.event.node = node(value).ok_or(broken("node is not a number"))?,
            "name" => line.cache = before_address(value),
            _ => {}
        }
    }
    let event = &mut line.event;
    event.ptr = address
        .filter(|_| !line.call_site.is_empty())
        .ok_or(broken("line has no call_site or no ptr"))?;
    if event.kind.is_alloc() && req.and(alloc).is_none() {
        return Err(broken("line is cut short before bytes_alloc"));
    }
    (event.bytes_req, event.bytes_alloc) = (req.unwrap_or(0), alloc.unwrap_or(0));
    if matches!(event.kind, Kind::Kmalloc | Kind::Kfree) {
        line.cache = "";
    }
    Ok(())
}

/// Reads `-1`, or `0xffffffff (-1)`.
fn node(text: &str) -> Option<i32> {
    let word = first_word(text);
    word.parse().ok().or_else(|| Some(u32::try_from(number(word)?).ok()? as i32))
}

/// Returns whether a word is an address as perf and tracefs write it: at least 8 hexadecimal digits.
fn is_address(word: &str) -> bool {
    word.len() >= 8 && word.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// Returns a name without what `perf script -F +ip,sym` puts behind the fields: address and symbol.
fn before_address(text: &str) -> &str {
    let start = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    let address = text.split_ascii_whitespace().skip(1).find(|word| is_address(word));
    address.map_or(text, |word| text[..start(word)].trim_end())
}

fn ptr(text: &str) -> Result<u64, &'static str> {
    // The last field of a line: perf script may put the instruction's address behind it.
    let text = first_word(text);
    match text {
        "(nil)" | "(null)" | "NULL" => return Ok(0),
        text if text.starts_with('(') => {
            return Err("pointer is hidden (write 0 to options/hash-ptr before tracing)");
        }
        _ => {}
    }
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u64::from_str_radix(digits, 16).map_err(|_| "ptr is no address")
}

/// Returns whether a line is of a call chain: perf begins it with a tab and an address, which for a program is an offset of few
/// digits; the kernel writes `=> function`. A line of the source may follow.
fn is_call(line: &str) -> bool {
    let trimmed = line.trim();
    let is_hex = |word: &str| word.bytes().all(|digit| digit.is_ascii_hexdigit());
    let is_source = |word: &str| {
        let number = word.rsplit_once(':').map(|(_, number)| number);
        let is_line =
            number.is_some_and(|n| !n.is_empty() && n.bytes().all(|d| d.is_ascii_digit()));
        // Where the line is not known, perf writes `program[address]`.
        let address = word.strip_suffix(']').and_then(|word| word.rsplit_once('['));
        is_line || address.is_some_and(|(_, address)| !address.is_empty() && is_hex(address))
    };
    let mut words = trimmed.split_ascii_whitespace();
    let first = words.next().unwrap_or("");
    trimmed.starts_with("=> ")
        || trimmed.starts_with("[JIT] tid ")
        || is_address(first)
        || line.starts_with('\t') && is_hex(first)
        || line.starts_with(char::is_whitespace) && words.next().is_none() && is_source(first)
}

/// Returns whether a line is of what `perf script -D` prints around events: bytes behind a period, what a record holds, and
/// its head.
fn is_dump(line: &str) -> bool {
    let is_head = || line.starts_with("0x") && line.contains("]: event: ");
    line.starts_with('.') || line.starts_with(" ..") || line.starts_with(" : ") || is_head()
}

/// Returns what a record of perf says was lost: `perf 1 [000] 1.5: PERF_RECORD_LOST lost 7`.
fn lost(line: &str) -> Option<Other> {
    const LOST: &str = "PERF_RECORD_LOST";
    let (head, rest) = line.split_once(LOST)?;
    let count = rest.trim_end().rsplit(|c: char| !c.is_ascii_digit()).next()?;
    let events = count.parse().ok()?;
    let cpu = split_cpu(head).map_or(0, |(_, cpu)| cpu);
    Some(match rest.starts_with("_SAMPLES") {
        true => Other::LostInAll { cpu, events },
        false => Other::Lost { cpu, events: Some(events) },
    })
}

/// Says what a line without a kmem event is.
fn not_kmem(line: &str) -> Other {
    let trimmed = line.trim();
    if trimmed.is_empty() || trimmed.starts_with('#') || trimmed.starts_with("cpus=") {
        return Other::Irrelevant;
    }
    // "CPU:1 [LOST 123 EVENTS]" in trace_pipe, "CPU:1 [123 EVENTS DROPPED]" in trace-cmd report
    if let Some(rest) = trimmed.strip_prefix("CPU:") {
        let mut words = rest.split(|c: char| !c.is_ascii_digit()).filter_map(|w| w.parse().ok());
        let cpu = words.next().and_then(|cpu: u64| u32::try_from(cpu).ok()).unwrap_or(u32::MAX);
        return Other::Lost { cpu, events: words.next() };
    }
    if let Some(lost) = lost(line) {
        return lost;
    }
    if let Some(context) = stack_mark(line) {
        return Other::Stack(context);
    }
    let of_cpu = trimmed.starts_with("CPU ") && trimmed.ends_with("empty");
    if of_cpu || is_call(line) || is_dump(line) || line.contains("PERF_RECORD_") {
        return Other::Irrelevant; // what is in `perf.data` beside the events; a CPU without any
    }
    let time = |word: &str| time_ns(word).or_else(|| latency_ns(word)).is_some();
    let is_time = |word: &&str| time(word.strip_suffix(':').unwrap_or(word));
    let mut words = trimmed.split_ascii_whitespace().skip_while(|word| !is_time(word)).skip(1);
    // In the latency format the colon may stand apart.
    match words.find(|word| *word != ":") {
        Some(name)
            if kmem::kind_of(name.trim_end_matches(':')).is_none()
                && !name.starts_with("kmem:k") =>
        {
            Other::Irrelevant
        }
        Some(_) if trimmed.ends_with(':') => Other::Broken(NO_FIELDS),
        Some(_) => Other::Broken("line is cut short before call_site"),
        None => Other::Broken("line is no event"),
    }
}

/// Returns the name of the event that a line is of, whatever its kind.
pub(super) fn event_name(line: &str) -> Option<&str> {
    let is_time = |word: &&str| {
        word.strip_suffix(':')
            .is_some_and(|word| time_ns(word).or_else(|| latency_ns(word)).is_some())
    };
    let mut words = line.split_ascii_whitespace().skip_while(|word| !is_time(word)).skip(1);
    // perf script may print a period between the time and the name.
    let name = words.find_map(|word| word.strip_suffix(':').filter(|name| !name.is_empty()))?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_:.-".contains(c);
    name.chars().all(is_name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &str = "call_site=f+0x10/0x20 [ext4] ptr=0xffff888102f63180 name=filp \
        bytes_req=184 bytes_alloc=192 gfp_flags=GFP_KERNEL|__GFP_ZERO node=-1 accounted=true";

    #[test]
    fn all_dialects_say_the_same() {
        let heads = [
            "perf 20376 [001]  1924.420838: kmem:kmem_cache_alloc:",
            "perf 20370/20376 [001]  1924.420838000:     1 kmem:kmem_cache_alloc:",
            ":-1 [7] 20376 [001] 1924.420838:          1 kmem:kmem_cache_alloc: ",
            "perf-20376 [001]  1924.420838: kmem_cache_alloc:     ",
            "   a b-c-20376   [001] .....  1924.420838: kmem_cache_alloc:",
            "perf-20376   (  20370) [001] d.h1.  1924.420838: kmem_cache_alloc:",
            "perf-20376     1d.h1. 1924420838us+: kmem_cache_alloc:",
            "perf-20376     1d.h1. 1924420838us : kmem_cache_alloc:",
            "perf-20376   1..... 1924.420838: kmem_cache_alloc:     (f+0x10)",
            "perf-20376 [001]  1924.420838: (+2)     kmem_cache_alloc:     (f+0x10)",
            "[001]  1924.420838:  kmem:kmem_cache_alloc:",
        ];
        for head in heads {
            let text = format!("{head} {FIELDS}");
            let line = parse(&text).unwrap();
            let pid = if head.contains("20376") { 20376 } else { 0 };
            let expected = RawEvent {
                time_ns: 1_924_420_838_000,
                cpu: 1,
                pid,
                kind: Kind::KmemCacheAlloc,
                ptr: 0xffff_8881_02f6_3180,
                bytes_req: 184,
                bytes_alloc: 192,
                gfp: 0x40_0dc0,
                ..RawEvent::EMPTY
            };
            assert_eq!((line.event, line.cache), (expected, "filp"), "{head}");
            assert_eq!(line.call_site, "f+0x10/0x20 [ext4]");
        }
    }

    #[test]
    fn frees_have_no_sizes_and_kfree_no_cache() {
        let line = parse("x-1 [000] 1.5: kfree: call_site=ffffffff81000010 ptr=(nil)").unwrap();
        assert_eq!((line.event.ptr, line.event.time_ns), (0, 1_500_000_000));
        let line = parse("x-1 [000] 1.5: kmem_cache_free: call_site=f ptr=00000000b1a2c3d4 name=a");
        assert_eq!((line.unwrap().event.ptr, line.unwrap().cache), (0xb1a2_c3d4, "a"));
    }

    #[test]
    fn fields_may_have_more_behind_them() {
        let line =
            parse("x 1 [000] 1.5: kmem:kfree: call_site=f ptr=0x12  ffffffff81345678 kfree+0x9");
        assert_eq!(line.unwrap().event.ptr, 0x12);
        let line = parse(
            "x 1 [000] 1.5: kmem:kmem_cache_free: call_site=f ptr=0x12 name=a b  ffffffff81345678 \
             kmem_cache_free+0x9 ([kernel.kallsyms])",
        );
        assert_eq!(line.unwrap().cache, "a b");
        let line = parse(
            "x-1 (-------) [000] ..... 1.5: kmalloc: call_site=f+0x2/0x9 (-212) ptr=0xff (255) \
             bytes_req=0xc0 (192) bytes_alloc=0xc0 (192) gfp_flags=0xcc0 (3264) node=0xffffffff (-1)",
        )
        .unwrap();
        let event = line.event;
        assert_eq!((line.call_site, event.ptr, event.gfp), ("f+0x2/0x9", 0xff, 0xcc0));
        assert_eq!((event.bytes_req, event.bytes_alloc, event.node), (192, 192, -1));
    }

    #[test]
    fn what_perf_and_trace_cmd_say_was_lost_is_counted() {
        let is = |line| parse(line).unwrap_err();
        assert_eq!(is("CPU:1 [EVENTS DROPPED]"), Other::Lost { cpu: 1, events: None });
        assert_eq!(
            is(" perf-exec  5537 [001] 32722.339342: PERF_RECORD_LOST lost 77"),
            Other::Lost { cpu: 1, events: Some(77) }
        );
        assert_eq!(
            is("x 1 [001] 2.5: PERF_RECORD_LOST_SAMPLES lost 3"),
            Other::LostInAll { cpu: 1, events: 3 }
        );
        let dumped = "0 0 0x1f8 [0x30]: PERF_RECORD_LOST: id:3600: lost:35";
        assert_eq!(is(dumped), Other::Lost { cpu: 0, events: Some(35) });
    }

    /// They used to count as damage: a third of a text with lines of the source, and nine tenths of a
    /// dump.
    #[test]
    fn what_perf_prints_around_events_is_no_damage() {
        for line in [
            "  [kernel.kallsyms][ffffffff81636e0d]",
            "  perf[146f2c]",
            "  [JIT] tid 3210[7fd0c4f61043]",
            "0x9c8@a.data [0x3d0]: event: 69",
            ".",
            ". ... raw event: size 976 bytes",
            ".  0000:  45 00 00 00 00 00 d0 03 1e 00 00 00 00 00 00 00  E...............",
            " ... id: 3598  idx: 1  cpu: 1  tid: -1",
            "... FP chain: nr:6",
            ".....  0: ffffffffffffff80",
            " ...... dso: /usr/bin/perf",
        ] {
            assert_eq!(parse(line).unwrap_err(), Other::Irrelevant, "{line}");
        }
    }

    #[test]
    fn what_is_no_kmem_event_is_told_apart() {
        let is = |line| parse(line).unwrap_err();
        assert_eq!(is("# tracer: nop"), Other::Irrelevant);
        assert_eq!(is(""), Other::Irrelevant);
        let call = "\tffffffff81345678 kmem_cache_alloc_noprof+0x228 ([kernel.kallsyms])";
        assert_eq!(is(call), Other::Irrelevant);
        assert_eq!(is("\t          146f2c [unknown] (/usr/bin/perf)"), Other::Irrelevant);
        assert_eq!(is("  slub.c:4290"), Other::Irrelevant);
        assert_eq!(is(" => kmem_cache_alloc_noprof <ffffffff81345678>"), Other::Irrelevant);
        assert_eq!(is(" => vfs_read"), Other::Irrelevant);
        assert!(matches!(is("x-1 [000] ..... 1.5: <stack trace>"), Other::Stack(_)));
        let record =
            "perf 1 [000] 0.000000: PERF_RECORD_MMAP2 1/1: [0x55(0x10) @ 0]: r-xp /bin/perf";
        assert_eq!(is(record), Other::Irrelevant);
        assert_eq!(is("x-1   0d..2. 1924420838us+: sched_switch: a"), Other::Irrelevant);
        assert_eq!(is("x-1   0d..2. 1924420838us : rss_stat: a"), Other::Irrelevant);
        assert!(matches!(is("x-1   0d..2. 1924420838us : kmalloc: call_"), Other::Broken(_)));
        let counted = "x-1 [000] ..... 123456: kfree: call_site=f ptr=0x1";
        assert_eq!(is(counted), Other::Broken(NO_CLOCK));
        assert_eq!(is("x 1 [000] 1.5:  kmem:kmalloc: "), Other::Broken(NO_FIELDS));
        assert_eq!(is("x 1 [000] kmem:kfree: call_site=f ptr=0x1"), Other::Broken(NO_TIME));
        assert_eq!(is("x-1 [000] d..2. 1.5: sched_switch: prev_comm=a"), Other::Irrelevant);
        assert_eq!(is("CPU:3 [LOST 17 EVENTS]"), Other::Lost { cpu: 3, events: Some(17) });
        assert_eq!(is("CPU:3 [17 EVENTS DROPPED]"), Other::Lost { cpu: 3, events: Some(17) });
        let broken = |line| matches!(is(line), Other::Broken(_));
        assert!(broken("x-1 [000] 1.5: kmalloc: call_si"));
        assert!(broken("x-1 [000] 1.5: kmalloc: call_site=f ptr=(____ptrval____) bytes_req=1"));
        assert!(broken("x-1 [000] 1.5: kmalloc: call_site=f ptr=0x1 bytes_req=1 bytes_al"));
        assert_eq!(is("x-1 1.5: kfree: call_site=f ptr=0x1"), Other::Broken(NO_CPU));
        assert!(broken("x-1 [000] kfree: call_site=f ptr=0x1"));
        assert!(broken("x-1 [000] 99999999999999999.5: kfree: call_site=f ptr=0x1"));
        assert!(broken("\0\0\0\0"));
    }
}
