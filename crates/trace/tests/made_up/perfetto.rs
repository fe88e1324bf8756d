//! A trace of Perfetto made by hand, by the field numbers of its protocol buffers.

fn varint(mut number: u64, to: &mut Vec<u8>) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Appends a field that is a number.
pub(crate) fn number(field: u64, number: u64, to: &mut Vec<u8>) {
    varint(field << 3, to);
    varint(number, to);
}

/// Appends a field that is bytes, a text or a message.
pub(crate) fn bytes(field: u64, bytes: &[u8], to: &mut Vec<u8>) {
    varint((field << 3) | 2, to);
    varint(bytes.len() as u64, to);
    to.extend(bytes);
}

/// Returns a message of fields that are numbers.
pub(crate) fn numbers(fields: &[(u64, u64)]) -> Vec<u8> {
    let mut message = Vec::new();
    fields.iter().for_each(|&(field, value)| number(field, value, &mut message));
    message
}

/// Returns an event: its number among `FtraceEvent`'s fields, and its fields.
fn event(time_ns: u64, pid: u64, kind: u64, fields: &[(u64, u64)]) -> Vec<u8> {
    let mut event = numbers(&[(1, time_ns), (2, pid)]);
    bytes(kind, &numbers(fields), &mut event);
    event
}

const KMALLOC: u64 = 299;
const KMEM_CACHE_ALLOC_NODE: u64 = 302;
const KFREE: u64 = 298;
const SCHED_WAKING: u64 = 20;

/// Returns a packet with the events of a CPU.
fn bundle(cpu: u64, lost: bool) -> Vec<u8> {
    let mut bundle = numbers(&[(1, cpu), (3, u64::from(lost))]);
    for step in 0..20 {
        let (time_ns, ptr) =
            (1000 + step * 10 + cpu, 0xffff_8881_0000_0000 + step / 2 * 4096 + cpu * 64);
        // By address, and by the number of a name that the packet brings.
        let site = if step % 4 == 0 { 0xffff_ffff_8100_0010 } else { 7 };
        let event = match step % 4 {
            0 => event(time_ns, 7, KMALLOC, &[(1, 64), (2, 50), (3, site), (4, 0xcc0), (5, ptr)]),
            2 => event(
                time_ns,
                7,
                KMEM_CACHE_ALLOC_NODE,
                &[(1, 192), (2, 184), (3, site), (4, 0xcc0), (5, u64::MAX), (6, ptr)],
            ),
            _ => event(time_ns, 8, KFREE, &[(1, site), (2, ptr)]),
        };
        bytes(2, &event, &mut bundle);
        bytes(2, &event_of_another_kind(time_ns), &mut bundle);
    }
    let mut symbol = numbers(&[(1, 7)]);
    bytes(2, b"other+0x20", &mut symbol);
    let (mut interned, mut packet) = (Vec::new(), numbers(&[(10, 3), (13, 1)]));
    bytes(26, &symbol, &mut interned);
    bytes(1, &bundle, &mut packet);
    bytes(12, &interned, &mut packet);
    packet
}

fn event_of_another_kind(time_ns: u64) -> Vec<u8> {
    event(time_ns, 7, SCHED_WAKING, &[(1, 1)])
}

/// Returns the file; some of its packets are compressed.
pub(crate) fn perfetto() -> Vec<u8> {
    let mut names = Vec::new();
    for (field, text) in [(1, &b"Linux"[..]), (3, b"0.0-made"), (4, b"x86_64")] {
        bytes(field, text, &mut names);
    }
    let mut system = Vec::new();
    bytes(1, &names, &mut system);
    number(6, 4096, &mut system);
    number(8, 2, &mut system);
    let mut thread = numbers(&[(1, 8), (3, 7)]);
    bytes(2, b"worker", &mut thread);
    let (mut tree, mut first) = (Vec::new(), Vec::new());
    bytes(2, &thread, &mut tree);
    bytes(45, &system, &mut first);
    bytes(2, &tree, &mut first);
    let stats = |phase, dropped| {
        let (mut stats, mut packet) = (numbers(&[(1, phase)]), Vec::new());
        bytes(2, &numbers(&[(1, 1), (3, 0), (8, dropped)]), &mut stats);
        bytes(34, &stats, &mut packet);
        packet
    };
    let mut file = Vec::new();
    for packet in [first, stats(1, 3), bundle(1, true)] {
        bytes(1, &packet, &mut file);
    }
    let mut together = Vec::new();
    for packet in [bundle(0, false), stats(2, 8)] {
        bytes(1, &packet, &mut together);
    }
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(6));
    std::io::Write::write_all(&mut encoder, &together).unwrap();
    let mut packet = Vec::new();
    bytes(50, &encoder.finish().unwrap(), &mut packet);
    bytes(1, &packet, &mut file);
    file
}
