//! A `trace.dat` made by hand, in each version and compression: two CPUs with two pages each.

use std::io::Write;

use super::format;

const PAGE_BYTES: usize = 4096;

/// How the parts of version 7 are compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Packing {
    None,
    Zstd,
    Zlib,
}

impl Packing {
    fn name(self) -> &'static [u8] {
        match self {
            Packing::None => b"none\0\0",
            Packing::Zstd => b"zstd\x001.5\0",
            Packing::Zlib => b"zlib\x001.2\0",
        }
    }

    /// Returns a block with its two lengths.
    fn block(self, data: &[u8]) -> Vec<u8> {
        let packed = match self {
            Packing::None => panic!("not packed"),
            Packing::Zstd => zstd::bulk::compress(data, 3).unwrap(),
            Packing::Zlib => {
                let mut encoder =
                    flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(6));
                encoder.write_all(data).unwrap();
                encoder.finish().unwrap()
            }
        };
        let mut block = (packed.len() as u32).to_le_bytes().to_vec();
        block.extend((data.len() as u32).to_le_bytes());
        block.extend(packed);
        block
    }
}

fn sized(text: &[u8]) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text].concat()
}

fn head(version: &[u8]) -> Vec<u8> {
    [b"\x17\x08\x44tracing", version, b"\0\0\x08", &(PAGE_BYTES as u32).to_le_bytes()].concat()
}

fn headers() -> Vec<u8> {
    let page = b"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
        \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
        \tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
    let event =
        b"# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\
        \tarray       :   32 bits\n\n\tpadding     : type == 29\n\ttime_extend : type == 30\n\
        \ttime_stamp : type == 31\n\tdata max type_len  == 28\n";
    [&b"header_page\0"[..], &sized(page), b"header_event\0", &sized(event)].concat()
}

fn events() -> Vec<u8> {
    let place = [("call_site", 8, 8), ("ptr", 16, 8)];
    let sizes =
        [("bytes_req", 24, 8), ("bytes_alloc", 32, 8), ("gfp_flags", 40, 8), ("node", 48, 4)];
    let mut events = 2u32.to_le_bytes().to_vec();
    // Another system's event has a number, too.
    events.extend(b"sched\0\x01\0\0\0");
    events.extend(format("sched_switch", 9, &[]));
    events.extend(b"kmem\0\x02\0\0\0");
    events.extend(format("kmalloc", 1, &[&place[..], &sizes].concat()));
    events.extend(format("kfree", 2, &place));
    events
}

const KALLSYMS: &[u8] = b"ffffffff81000000 T _stext\nffffffff81000100 T other\n";
const STATS: &[u8] = b"CPU: 1\nentries: 0\noverrun: 3\ndropped events: 4\n\0";

/// Returns the pages of a CPU: each object is freed by the other CPU's next page but the last.
fn pages(cpu: u64) -> Vec<u8> {
    let mut pages = Vec::new();
    for number in 0..2 {
        let mut data = Vec::new();
        for step in 0..20u64 {
            let is_alloc = number == 0;
            let owner = if is_alloc { cpu } else { 1 - cpu };
            let ptr = 0xffff_8881_0000_0000 + (step * 2 + owner) * 64;
            let words: &[u64] = match is_alloc {
                true => &[1 | (7 << 32), 0xffff_ffff_8100_0010, ptr, 50, 64, 0xcc0, u64::MAX],
                false => &[2 | (8 << 32), 0xffff_ffff_8100_0120, ptr],
            };
            data.extend(((words.len() as u32 * 2) | (10 << 5)).to_le_bytes());
            data.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            // An event that is not kmem's.
            data.extend((2u32 | (1 << 5)).to_le_bytes());
            data.extend((9u64 | (7 << 32)).to_le_bytes());
        }
        let mut page = (1000 + number * 1000 + cpu).to_le_bytes().to_vec();
        page.extend((data.len() as u64).to_le_bytes());
        page.extend(data);
        page.resize(PAGE_BYTES, 0);
        pages.extend(page);
    }
    pages
}

fn option(number: u16, data: &[u8]) -> Vec<u8> {
    [&number.to_le_bytes()[..], &(data.len() as u32).to_le_bytes(), data].concat()
}

/// Returns what both versions say in options.
fn options() -> Vec<u8> {
    let clock = option(4, b"local global [mono] boot\0");
    let uname = option(5, b"Linux host 0.0-made x86_64\0");
    [clock, uname, option(8, &2u32.to_le_bytes()), option(9, b"3.1\0"), option(2, STATS)].concat()
}

/// Returns one of version 6.
pub(crate) fn version_6() -> Vec<u8> {
    let mut file = [head(b"6"), headers(), 0u32.to_le_bytes().to_vec(), events()].concat();
    file.extend((KALLSYMS.len() as u32).to_le_bytes());
    file.extend(KALLSYMS);
    file.extend(0u32.to_le_bytes()); // printk formats
    file.extend(sized(b"7 make\n8 cc1\n"));
    file.extend(2u32.to_le_bytes());
    file.extend([&b"options  \0"[..], &options(), &[0, 0], b"flyrecord\0"].concat());
    let start = (file.len() + 4 * 8).next_multiple_of(PAGE_BYTES);
    for cpu in 0..2 {
        let bytes = 2 * PAGE_BYTES;
        file.extend(
            [start + cpu * bytes, bytes].into_iter().flat_map(|n| (n as u64).to_le_bytes()),
        );
    }
    file.resize(start, 0);
    file.extend([pages(0), pages(1)].concat());
    file
}

/// Returns one of version 7.
pub(crate) fn version_7(packing: Packing) -> Vec<u8> {
    let mut file = [&head(b"7")[..], packing.name()].concat();
    let options_at = file.len();
    file.extend([0; 8]);
    let section = |file: &mut Vec<u8>, number: u16, content: &[u8]| {
        let is_packed = packing != Packing::None && number != 0;
        let content = if is_packed { packing.block(content) } else { content.to_vec() };
        let offset = file.len() as u64;
        file.extend([number, u16::from(is_packed)].into_iter().flat_map(u16::to_le_bytes));
        file.extend(0u32.to_le_bytes());
        file.extend((content.len() as u64).to_le_bytes());
        file.extend(content);
        offset
    };
    let kallsyms = [&(KALLSYMS.len() as u32).to_le_bytes()[..], KALLSYMS].concat();
    let cmdlines = sized(b"7 make\n8 cc1\n");
    let mut list = Vec::new();
    for (number, content) in [(16, headers()), (18, events()), (19, kallsyms), (21, cmdlines)] {
        let offset = section(&mut file, number, &content);
        list.extend(option(number, &offset.to_le_bytes()));
    }
    list.extend(options());

    let buffer_at = file.len();
    file.extend([3, u16::from(packing != Packing::None)].into_iter().flat_map(u16::to_le_bytes));
    file.extend([0; 12]);
    file.resize(file.len().next_multiple_of(PAGE_BYTES), 0);
    let mut buffer = (buffer_at as u64).to_le_bytes().to_vec();
    buffer.extend(b"\0mono\0");
    buffer.extend((PAGE_BYTES as u32).to_le_bytes());
    buffer.extend(2u32.to_le_bytes());
    for cpu in 0..2 {
        let (offset, pages) = (file.len() as u64, pages(cpu));
        let bytes = match packing {
            Packing::None => {
                file.extend(&pages);
                pages.len()
            }
            _ => {
                let chunks: Vec<u8> =
                    pages.chunks(PAGE_BYTES).flat_map(|page| packing.block(page)).collect();
                file.extend(2u32.to_le_bytes());
                file.extend(&chunks);
                chunks.len()
            }
        };
        buffer.extend((cpu as u32).to_le_bytes());
        buffer.extend([offset, bytes as u64].into_iter().flat_map(u64::to_le_bytes));
    }
    // A list of options may go on elsewhere.
    let rest = [option(3, &buffer), option(0, &[0; 8])].concat();
    let rest_at = section(&mut file, 0, &rest);
    list.extend(option(0, &rest_at.to_le_bytes()));
    let list_at = section(&mut file, 0, &list);
    file[options_at..options_at + 8].copy_from_slice(&list_at.to_le_bytes());
    file
}

/// Returns all four with their names.
pub(crate) fn every() -> Vec<(String, Vec<u8>)> {
    let packings = [Packing::None, Packing::Zstd, Packing::Zlib];
    let sevens = packings.map(|packing| (format!("trace.dat 7 {packing:?}"), version_7(packing)));
    [("trace.dat 6".to_owned(), version_6())].into_iter().chain(sevens).collect()
}
