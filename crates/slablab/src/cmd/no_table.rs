//! What a text without a table of slab memory is, where its words tell, and what to give in its place.

/// What is known of a text by words that it contains, and what to do.
const KNOWN: &[(&[&str], &str)] = &[
    (
        &["ermission denied"],
        "the text says that permission was denied: read the file as root on that machine (sudo cat /proc/slabinfo)",
    ),
    (
        &["command not found", "No such file or directory"],
        "the text says that a command or file was not found; cat /proc/slabinfo needs no program, and root",
    ),
    (&["%PDF-"], "the file is a PDF: copy its text, and give that by --paste"),
    (
        &["slabinfo - version", "<active_objs>"],
        "the heading of slabinfo is there and none of its rows: copy the lines below it, too",
    ),
    (
        &["InUse MemUse", "LIMIT USED FREE", "::kmastat"],
        "the text is from another system than Linux, whose tables slablab does not read",
    ),
    (
        &["free shared buff/cache", "free shared buffers"],
        "free tells nothing of slabs; on that machine, `grep -i slab /proc/meminfo` and, as root, `cat /proc/slabinfo` do",
    ),
    (
        &["PID USER PR", "USER PID %CPU"],
        "the text lists processes, and slabs are of none; on that machine, as root, `cat /proc/slabinfo` lists them",
    ),
    (
        &["kbmemfree", "| slab "],
        "the text is of sar or atop, which tell how much slabs hold and not which; as root, `cat /proc/slabinfo` tells that",
    ),
    (
        &["/sys/kernel/slab/"],
        "files of /sys/kernel/slab are not read; as root, `cat /proc/slabinfo` has the same numbers in one table",
    ),
];

/// Says what a text without a table is, by its begin; nothing where that does not tell.
pub(super) fn known(start: &str) -> Option<&'static str> {
    let words: Vec<&str> = start.split_whitespace().collect();
    let plain = words.join(" ");
    let is_there = |words: &&[&str]| words.iter().any(|word| plain.contains(word));
    KNOWN.iter().find(|(words, _)| is_there(words)).map(|(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_known_is_named_and_another_is_not() {
        let of = |text: &str| known(text).unwrap_or_default();
        assert!(of("bash: slabtop: command not found\n").contains("not found"));
        assert!(of("        total   used   free   shared  buff/cache\n").contains("free tells"));
        assert!(of("slabinfo - version: 2.1\n").contains("none of its rows"));
        assert!(of("%PDF-1.4\n").contains("PDF"));
        assert_eq!(known("hello\n"), None);
    }
}
