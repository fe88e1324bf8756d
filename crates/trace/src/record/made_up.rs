//! Recordings that are made up, for tests.

use super::head::Head;
use crate::Meta;

pub(super) const PAGE_BYTES: usize = 4096;

const PAGE: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
    \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
    \tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
const EVENT: &str = "\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\
    \tarray       :   32 bits\n\n\tpadding     : type == 29\n\
    \ttime_extend : type == 30\n\ttime_stamp : type == 31\n\tdata max type_len  == 28\n";

/// What is known of a machine of as many CPUs, before events of these formats.
pub(super) fn head(cpus: u32, formats: &[&str]) -> Head {
    Head {
        version: Head::VERSION,
        cpus: (0..cpus).collect(),
        page: (PAGE.to_owned(), EVENT.to_owned()),
        page_bytes: PAGE_BYTES,
        formats: formats.iter().map(|format| (*format).to_owned()).collect(),
        meta: Meta { cpus, ..Meta::default() },
        ..Head::default()
    }
}

/// A page of the ring buffer that begins at a time, with records of at most 28 words, each some nanoseconds behind the one
/// before.
pub(super) fn page(begin_ns: u64, records: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut data = Vec::new();
    for (step_ns, record) in records {
        data.extend(((record.len() as u32 / 4) | (step_ns << 5)).to_le_bytes());
        data.extend(record);
    }
    let mut page = [begin_ns.to_le_bytes(), (data.len() as u64).to_le_bytes()].concat();
    page.append(&mut data);
    assert!(page.len() <= PAGE_BYTES, "too many records for a page");
    page.resize(PAGE_BYTES, 0);
    page
}
