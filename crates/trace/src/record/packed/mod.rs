//! The pages of a CPU in the folder of a recording, packed: a fifth of the disk that the ring buffer's own pages would take.
//!
//! How it works: pages are written in blocks, each as soon as it was taken out of the ring buffer ([`Writer`]). A block can
//! be read alone, and is known to be whole by its sum ([`Head`](head::Head)). What is between two whole blocks is passed over
//! ([`Reader`]).

#[cfg(fuzzing)]
mod fuzz;
mod growth;
mod head;
mod reader;
mod waiting;
mod words;
mod writer;

#[cfg(fuzzing)]
pub use self::fuzz::fuzz_packed;
pub(super) use self::growth::{Growing, Growth};
pub(super) use self::reader::{Reader, bytes_of};
pub(super) use self::waiting::{Waiting, beyond_memory};
pub(super) use self::writer::Writer;

/// The most pages of a block.
const PAGES_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::Arc;

    use super::head::{HEAD_BYTES, Head, MAGIC_UNCOUNTED};
    use super::*;
    use crate::source::repeats::{Damage, NextPage, NextRecord, PageSource};

    const PAGE_BYTES: usize = 4096;

    /// A page of frees: 24 bytes each, behind a word of length and time.
    fn page_of_frees(number: u64) -> Vec<u8> {
        let mut page = [number.to_le_bytes(), 4060u64.to_le_bytes()].concat();
        for free in 0..145u32 {
            page.extend(((24 / 4) | ((free + 100) << 5)).to_le_bytes());
            page.extend([7, 0, 0, 0]);
            page.extend((free / 50 + 1000).to_le_bytes());
            page.extend((0xffff_ffff_8100_0000 + u64::from(free % 5)).to_le_bytes());
            page.extend((0xffff_8880_0000_0000 + u64::from(free) * 64 + number).to_le_bytes());
        }
        page.resize(PAGE_BYTES, 0);
        page
    }

    /// Pages of nothing, of any bytes, and of records of any length.
    fn any_pages() -> Vec<Vec<u8>> {
        let mut seed = 7u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as u32
        };
        let mut pages = vec![vec![0; PAGE_BYTES], vec![0xff; PAGE_BYTES]];
        pages.push((0..PAGE_BYTES / 4).flat_map(|_| random().to_le_bytes()).collect());
        for _ in 0..100 {
            let mut page = vec![3; 16];
            while page.len() < PAGE_BYTES - 200 {
                let (length, words) = (random() % 32, random() % 40);
                page.extend((length | random() << 8).to_le_bytes());
                page.extend((random() % 150).to_le_bytes());
                page.extend((0..words).flat_map(|_| (random() % 3).to_le_bytes()));
            }
            page.resize(PAGE_BYTES, 0);
            pages.push(page);
        }
        pages
    }

    /// Returns a file of the pages, and where each block ends that was written for itself.
    fn written(blocks: &[Vec<u8>]) -> (File, Vec<u64>) {
        let file = tempfile::tempfile().unwrap();
        let again = file.try_clone().unwrap();
        let mut writer = Writer::new(file, PAGE_BYTES, Arc::default()).unwrap();
        let end = |pages: &Vec<u8>| {
            writer.write(pages).unwrap();
            again.metadata().unwrap().len()
        };
        let ends = blocks.iter().map(end).collect();
        (again, ends)
    }

    fn bytes_in(file: &File) -> Vec<u8> {
        let mut bytes = vec![0; file.metadata().unwrap().len() as usize];
        std::os::unix::fs::FileExt::read_exact_at(file, &mut bytes, 0).unwrap();
        bytes
    }

    fn pages_in(bytes: &[u8]) -> Vec<u8> {
        let (mut pages, mut page) = (Vec::new(), vec![0; PAGE_BYTES]);
        // Of pages with another head no records are given.
        let mut reader = Reader::new(bytes, PAGE_BYTES, 12);
        loop {
            match reader.next_page(&mut page).unwrap() {
                NextPage::End => return pages,
                NextPage::Damaged(_) => pages.extend([0xff; PAGE_BYTES]),
                _ => pages.extend_from_slice(&page),
            }
        }
    }

    /// Returns what is told of the parts that are damaged.
    fn damage_in(bytes: &[u8]) -> Vec<(u64, bool)> {
        let (mut damages, mut page) = (Vec::new(), vec![0; PAGE_BYTES]);
        let mut reader = Reader::new(bytes, PAGE_BYTES, 12);
        loop {
            match reader.next_page(&mut page).unwrap() {
                NextPage::End => return damages,
                NextPage::Damaged(Damage { events, is_counted }) => {
                    damages.push((events, is_counted));
                }
                _ => {}
            }
        }
    }

    /// Returns a block as an older recorder wrote it.
    fn uncounted(block: &[u8]) -> Vec<u8> {
        let (head, _) = Head::parse(block, PAGE_BYTES).unwrap();
        let (behind, old) = (&block[head.bytes()..], Head { events: None, ..head });
        let numbers = [head.pages, head.page_bytes, head.says_bytes, head.words_bytes];
        let numbers = numbers.map(u32::to_le_bytes).concat();
        [&MAGIC_UNCOUNTED[..], &old.sum(behind).to_le_bytes(), &numbers, behind].concat()
    }

    #[test]
    fn any_pages_come_back_as_they_were() {
        let (mut blocks, all) = (any_pages(), any_pages().concat());
        blocks.push(all);
        let (file, _) = written(&blocks);
        assert_eq!(bytes_of(&file, PAGE_BYTES), blocks.concat().len() as u64);
        assert!(pages_in(&bytes_in(&file)) == blocks.concat());
        assert!(pages_in(&[]).is_empty());
    }

    /// Each head was read, from all over the disk, in each pass, for a number that only progress needs.
    #[test]
    fn how_much_is_packed_is_concluded_from_the_first_heads() {
        let pages: Vec<_> = (0..1_000).map(|_| page_of_frees(9)).collect();
        let (file, _) = written(&pages);
        let bytes = bytes_of(&file, PAGE_BYTES) as f64 / pages.concat().len() as f64;
        assert!((0.99..1.01).contains(&bytes), "{bytes}");
    }

    #[test]
    fn records_are_given_one_by_one_with_what_differs() {
        let (file, _) = written(&[page_of_frees(1)]);
        let bytes = bytes_in(&file);
        let (mut reader, mut page) =
            (Reader::new(bytes.as_slice(), PAGE_BYTES, 16), vec![0; PAGE_BYTES]);
        assert_eq!(reader.next_page(&mut page).unwrap(), NextPage::Head);
        let expected = page_of_frees(1);
        assert_eq!(page[..16], expected[..16]);
        for (free, whole) in expected[16..][..145 * 28].chunks(28).enumerate() {
            let NextRecord::Event(head, record, told) = reader.next_record() else {
                panic!("{free}")
            };
            assert_eq!(([&head.to_le_bytes(), record].concat()), whole);
            // Five call sites have places of their own; time and address differ, and the thread is not compared.
            let differs = if free < 5 { u32::MAX } else { 0b10_0101 };
            assert_eq!(told.differs, differs, "{free}");
        }
        assert_eq!(reader.next_record(), NextRecord::End);
        assert_eq!(reader.next_page(&mut page).unwrap(), NextPage::End);
    }

    #[test]
    fn an_event_takes_a_third_of_its_bytes() {
        let pages: Vec<u8> = (0..64).flat_map(page_of_frees).collect();
        let (file, _) = written(&[pages]);
        let bytes = file.metadata().unwrap().len();
        assert!(bytes < 64 * 145 * 11, "{} bytes an event", bytes as f64 / (64.0 * 145.0));
    }

    #[test]
    fn a_block_cut_in_the_middle_loses_only_itself() {
        let blocks: Vec<Vec<u8>> = (0..6).map(|n| page_of_frees(n).repeat(3)).collect();
        let (file, ends) = written(&blocks);
        let whole = bytes_in(&file);
        let damaged = vec![0xff; PAGE_BYTES];
        for at in [0, 1, 7, 8, 30, 100, ends[0] as usize - 1] {
            // The third block lacks its end: the recorder was killed, and what lay in the buffers was written behind it.
            let cut = ends[1] as usize + at;
            let bytes = [&whole[..cut], &whole[ends[2] as usize..]].concat();
            let gone = if at == 0 { vec![] } else { damaged.clone() };
            let left = [blocks[..2].concat(), gone.clone(), blocks[3..].concat()].concat();
            assert!(pages_in(&bytes) == left, "{at} bytes are left");
            // The file ends there.
            let left = [blocks[..2].concat(), gone].concat();
            assert!(pages_in(&whole[..cut]) == left, "{at} bytes at the end");
        }
    }

    #[test]
    fn a_bit_that_is_turned_loses_one_block() {
        let blocks: Vec<Vec<u8>> = (0..3).map(page_of_frees).collect();
        let (file, ends) = written(&blocks);
        let whole = bytes_in(&file);
        for bit in (ends[0] as usize * 8..ends[1] as usize * 8).step_by(61) {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let left = [&blocks[0][..], &[0xff; PAGE_BYTES], &blocks[2]].concat();
            assert!(pages_in(&bytes) == left, "bit {bit}");
        }
    }

    /// Each such block used to count as one lost event.
    #[test]
    fn a_damaged_block_tells_how_many_events_it_held() {
        let blocks: Vec<Vec<u8>> = (1..5).map(|n| page_of_frees(n).repeat(n as usize)).collect();
        let (file, ends) = written(&blocks);
        let (whole, second, third) = (bytes_in(&file), ends[1], ends[2]);
        let turned = |at: u64| {
            let mut bytes = whole.clone();
            bytes[at as usize] ^= 4;
            damage_in(&bytes)
        };
        let cut = |from: u64, to: u64| {
            damage_in(&[&whole[..from as usize], &whole[to as usize..]].concat())
        };
        let (of_third, head) = (3 * 145, HEAD_BYTES as u64);
        assert_eq!(damage_in(&whole), []);
        assert_eq!(turned(second + head + 50), [(of_third, true)]);
        assert_eq!(turned(second + head - 6), [(0, false)], "a damaged head is not believed");
        assert_eq!(cut(second + head, third), [(of_third, true)]);
        assert_eq!(cut(second + head - 1, third), [(0, false)]);
        assert_eq!(cut(second + head + 9, whole.len() as u64), [(of_third, true)]);
        // The next head is gone, and with it how many events its block had.
        assert_eq!(cut(third - 1, third + 1), [(of_third, false)]);
    }

    #[test]
    fn events_are_counted_without_what_tells_of_time_and_of_stacks() {
        let word = |number: u32| number.to_le_bytes();
        // A step of time, an event, a stack, a long event, a long stack, and one that was discarded.
        let records = [
            vec![30, 0],
            vec![3, 7, 1, 2],
            vec![3, 4, 1, 2],
            [vec![0, 160, 7], vec![1; 38]].concat(),
            [vec![0, 160, 4], vec![1; 38]].concat(),
            vec![29 | 1 << 5, 8, 7],
        ];
        let words: Vec<u32> = records.concat();
        let bytes = words.len() as u64 * 4;
        let mut page = [1u64.to_le_bytes(), bytes.to_le_bytes()].concat();
        page.extend(words.into_iter().flat_map(word));
        page.resize(PAGE_BYTES, 0);
        let (file, _) = written(&[page]);
        let (head, _) = Head::parse(&bytes_in(&file), PAGE_BYTES).unwrap();
        assert_eq!(head.events, Some(2));
    }

    #[test]
    fn blocks_of_an_older_recorder_are_read_beside_new_ones() {
        let blocks: Vec<Vec<u8>> = (0..3).map(page_of_frees).collect();
        let (file, ends) = written(&blocks);
        let (whole, first) = (bytes_in(&file), ends[0] as usize);
        let old = uncounted(&whole[..first]);
        assert!(pages_in(&[&old, &whole[first..]].concat()) == blocks.concat());
        assert!(pages_in(&[&whole[first..], &old].concat())[2 * PAGE_BYTES..] == blocks[0]);
        let mut damaged = [&old, &whole[first..]].concat();
        damaged[100] ^= 1;
        assert_eq!(damage_in(&damaged), [(0, false)]);
        assert!(pages_in(&damaged)[PAGE_BYTES..] == blocks[1..].concat());
    }

    #[test]
    fn a_reader_of_a_file_that_grows_waits_for_whole_blocks() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut writer = Writer::new(file.reopen().unwrap(), PAGE_BYTES, Arc::default()).unwrap();
        let growth = writer.growth();
        let from = Growing::new(file.reopen().unwrap(), Arc::clone(&growth));
        let (mut reader, mut page) = (Reader::new(from, PAGE_BYTES, 12), vec![0; PAGE_BYTES]);
        for number in 0..3 {
            assert_eq!(reader.waits_ns(), Some(number));
            growth.complete(number + 1);
            writer.write(&page_of_frees(number).repeat(2)).unwrap();
            for _ in 0..2 {
                assert_eq!(reader.waits_ns(), None);
                assert_eq!(reader.next_page(&mut page).unwrap(), NextPage::Whole(PAGE_BYTES));
                assert!(page == page_of_frees(number));
            }
        }
        // A block that is being written is not looked at.
        file.reopen().unwrap().set_len(1 << 20).unwrap();
        assert_eq!(reader.waits_ns(), Some(3));
        growth.end(0);
        assert_eq!(reader.waits_ns(), None);
        assert_eq!(reader.next_page(&mut page).unwrap(), NextPage::End);
    }

    /// As on a disk that is full: a part of the block stands there.
    #[test]
    fn a_file_that_takes_no_more_keeps_whole_blocks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pages");
        let file = File::options().create_new(true).read(true).write(true).open(&path).unwrap();
        let mut writer = Writer::new(file, PAGE_BYTES, Arc::default()).unwrap();
        writer.write(&page_of_frees(1)).unwrap();
        let whole = std::fs::metadata(&path).unwrap().len();
        let mut writer =
            Writer::new(File::open(&path).unwrap(), PAGE_BYTES, Arc::default()).unwrap();
        assert!(writer.write(&page_of_frees(2)).is_err(), "it was opened to be read");
        assert_eq!(std::fs::metadata(&path).unwrap().len(), whole);
        assert!(pages_in(&std::fs::read(&path).unwrap()) == page_of_frees(1));
    }
}
