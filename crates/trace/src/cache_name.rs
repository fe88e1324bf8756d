//! The names that a slab cache can have in a recording: a name becomes part of a path under `/sys/kernel/slab`, to which
//! root may write.
//!
//! Linux counterpart: `sysfs_slab_add()` in `mm/slub.c`, which gives the directory its cache's name, and
//! `kobject_set_name_vargs()` in `lib/kobject.c` @ 6.12, which puts `!` for each `/` of it.

/// The longest name of a file (`NAME_MAX`).
const NAME_BYTES_MAX: usize = 255;

/// Returns whether a cache can have a directory of this name under `/sys/kernel/slab`: printable ASCII without `/`, not `.`
/// and not `..`.
pub fn is_cache_name(name: &str) -> bool {
    let is_plain = |byte: u8| (byte == b' ' || byte.is_ascii_graphic()) && byte != b'/';
    (1..=NAME_BYTES_MAX).contains(&name.len())
        && name.bytes().all(is_plain)
        && !matches!(name, "." | "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_is_called_as_a_directory_of_sysfs_can_be() {
        for name in [":A-0000192", "kmalloc-rcl-64", "dentry(934:init.scope)", "UDP-Lite", "a b"] {
            assert!(is_cache_name(name), "{name}");
        }
        let long = "x".repeat(256);
        for name in ["", ".", "..", "../x", "a/b", "a\nb", "\u{1b}[2J", "caf\u{e9}", &long] {
            assert!(!is_cache_name(name), "{name:?}");
        }
    }
}
