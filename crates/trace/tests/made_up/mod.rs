//! A `perf.data` made by hand: two events, two rounds, a CPU's buffer after the other's; and a [`trace_dat`].
#![allow(dead_code)] // each test program uses its part

pub(crate) mod perfetto;
pub(crate) mod trace_dat;

const ID: [u64; 2] = [71, 72];
/// identifier, thread, time, CPU, raw
const SAMPLE_TYPE: u64 = 1 << 16 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 10;
const FINISHED_ROUND: u32 = 68;

fn format(name: &str, id: u64, fields: &[(&str, u32, u32)]) -> Vec<u8> {
    let mut text = format!("name: {name}\nID: {id}\nformat:\n");
    let common = [("common_type", 0, 2), ("common_pid", 4, 4)];
    for (field, offset, size) in common.iter().chain(fields) {
        text += &format!("\tfield:long {field};\toffset:{offset};\tsize:{size};\tsigned:1;\n");
    }
    let length = (text.len() as u64).to_le_bytes();
    [&length[..], text.as_bytes()].concat()
}

fn tracing_data() -> Vec<u8> {
    let mut data = b"\x17\x08\x44tracing0.6\0\0\x08".to_vec();
    data.extend(4096u32.to_le_bytes());
    for name in ["header_page", "header_event"] {
        data.extend(name.bytes().chain([0]));
        data.extend(0u64.to_le_bytes());
    }
    data.extend(0u32.to_le_bytes()); // no events of ftrace's own
    data.extend(1u32.to_le_bytes());
    data.extend(b"kmem\0\x02\0\0\0");
    let place = [("call_site", 8, 8), ("ptr", 16, 8)];
    let sizes =
        [("bytes_req", 24, 8), ("bytes_alloc", 32, 8), ("gfp_flags", 40, 8), ("node", 48, 4)];
    data.extend(format("kmalloc", 1, &[&place[..], &sizes].concat()));
    data.extend(format("kfree", 2, &place));
    data
}

fn record(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut record = kind.to_le_bytes().to_vec();
    record.extend([0, 0]);
    record.extend((body.len() as u16 + 8).to_le_bytes());
    record.extend(body);
    record
}

fn sample(time_ns: u64, cpu: u32, ptr: u64, bytes: Option<u64>) -> Vec<u8> {
    let event = if bytes.is_some() { 1u64 } else { 2 };
    let mut raw: Vec<u8> = [event | 7 << 32, 0xffff_ffff_8100_0010, ptr]
        .into_iter()
        .chain(bytes.into_iter().flat_map(|bytes| [bytes, bytes, 0xcc0, u64::MAX]))
        .flat_map(u64::to_le_bytes)
        .collect();
    raw.extend([0; 4]);
    let mut body = Vec::new();
    body.extend(ID[event as usize - 1].to_le_bytes());
    body.extend([7u32.to_le_bytes(), 7u32.to_le_bytes()].concat());
    body.extend(time_ns.to_le_bytes());
    body.extend([cpu.to_le_bytes(), 0u32.to_le_bytes()].concat());
    body.extend((raw.len() as u32).to_le_bytes());
    body.extend(raw);
    record(9, &body)
}

fn attr(period: u64) -> Vec<u8> {
    let mut attr = [2u32.to_le_bytes(), 64u32.to_le_bytes()].concat();
    attr.extend([0, period, SAMPLE_TYPE, 0, 1 << 18, 0].into_iter().flat_map(u64::to_le_bytes));
    attr.resize(64, 0);
    attr
}

/// Returns samples of two rounds.
fn samples() -> Vec<u8> {
    let mut records = Vec::new();
    for round in 0..2 {
        for cpu in 0..2 {
            for step in 0..10 {
                let time_ns = 1000 + round * 100 + step * 10 + u64::from(cpu);
                let ptr = 0xffff_8881_0000_0000 + (step / 2 * 2 + u64::from(cpu)) * 4096;
                let bytes = step.is_multiple_of(2).then_some(100);
                records.extend(sample(time_ns, cpu, ptr, bytes));
            }
        }
        records.extend(record(FINISHED_ROUND, &[]));
    }
    records
}

/// Returns the file. `period` is that of its samples.
pub(crate) fn perf_data(period: u64) -> Vec<u8> {
    let (records, tracing) = (samples(), tracing_data());
    // Another kernel than the running one: its symbols are not looked for.
    let release = [&8u32.to_le_bytes()[..], b"0.0-made"].concat();

    let (ids_at, attrs_at) = (104u64, 120u64);
    let data_at = attrs_at + 2 * 80;
    let features_at = data_at + records.len() as u64;
    let tracing_at = features_at + 2 * 16;
    let release_at = tracing_at + tracing.len() as u64;
    let mut features = [0u64; 4];
    features[0] = 1 << 1 | 1 << 4;
    let mut file = b"PERFILE2".to_vec();
    let head = [104, 80, attrs_at, 160, data_at, records.len() as u64, 0, 0];
    let words = head.into_iter().chain(features).chain(ID);
    file.extend(words.flat_map(u64::to_le_bytes));
    for event in 0..2 {
        file.extend(attr(period));
        file.extend([ids_at + event * 8, 8].into_iter().flat_map(u64::to_le_bytes));
    }
    file.extend(records);
    let sections = [tracing_at, tracing.len() as u64, release_at, release.len() as u64];
    file.extend(sections.into_iter().flat_map(u64::to_le_bytes));
    file.extend(tracing);
    file.extend(release);
    file
}

/// Returns the file of a recorder that was killed: nothing behind the records, and no word of where they end. The formats come
/// as a record, as `perf inject` writes them.
pub(crate) fn unclosed_perf_data() -> Vec<u8> {
    let mut tracing = tracing_data();
    let length = (tracing.len() as u32).to_le_bytes();
    tracing.resize(tracing.len().next_multiple_of(8), 0);
    let (ids_at, attrs_at) = (104u64, 120u64);
    let mut file = b"PERFILE2".to_vec();
    let head = [104, 80, attrs_at, 160, attrs_at + 2 * 80, 0, 0, 0];
    let words = head.into_iter().chain([1 << 1 | 1 << 4, 0, 0, 0]).chain(ID);
    file.extend(words.flat_map(u64::to_le_bytes));
    for event in 0..2 {
        file.extend(attr(1));
        file.extend([ids_at + event * 8, 8].into_iter().flat_map(u64::to_le_bytes));
    }
    file.extend(record(66, &[length, [0; 4]].concat()));
    file.extend(tracing);
    file.extend(samples());
    file
}

/// Returns what `perf record -o -` writes: the header comes as records.
pub(crate) fn piped_perf_data() -> Vec<u8> {
    let mut stream = b"PERFILE2".to_vec();
    stream.extend(16u64.to_le_bytes());
    for id in ID {
        stream.extend(record(64, &[attr(1), id.to_le_bytes().to_vec()].concat()));
    }
    let mut tracing = tracing_data();
    let bytes = (tracing.len() as u32).to_le_bytes();
    tracing.resize(tracing.len().next_multiple_of(8), 0);
    stream.extend(record(66, &[bytes, [0; 4]].concat()));
    stream.extend(tracing);
    stream
        .extend(record(80, &[&4u64.to_le_bytes()[..], &8u32.to_le_bytes(), b"0.0-made"].concat()));
    stream.extend(samples());
    stream
}
