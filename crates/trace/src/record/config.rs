//! The running kernel's configuration, as far as it concerns slabs.
//!
//! # How it works
//! The configuration is `/proc/config.gz` where the kernel has it (`CONFIG_IKCONFIG_PROC`), else the file that distributions
//! put beside the kernel's image. A symbol that is in neither state there does not exist in this release, and is left out.
//!
//! Linux counterpart: `mm/Kconfig`, `lib/Kconfig.debug` @ 6.1 to 7.3.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;

use flate2::read::GzDecoder;

/// The symbols that are kept.
const SYMBOLS: [&str; 14] = [
    "CONFIG_HARDENED_USERCOPY",
    "CONFIG_KMALLOC_PARTITION_CACHES",
    "CONFIG_KMALLOC_PARTITION_RANDOM",
    "CONFIG_KMALLOC_PARTITION_TYPED",
    "CONFIG_MEMCG",
    "CONFIG_MEM_ALLOC_PROFILING",
    "CONFIG_RANDOM_KMALLOC_CACHES",
    "CONFIG_SLAB_BUCKETS",
    "CONFIG_SLAB_FREELIST_HARDENED",
    "CONFIG_SLAB_FREELIST_RANDOM",
    "CONFIG_SLAB_MERGE_DEFAULT",
    "CONFIG_SLUB",
    "CONFIG_SLUB_CPU_PARTIAL",
    "CONFIG_SLUB_TINY",
];
/// No configuration is longer than this.
const BYTES_MAX: u64 = 4 << 20;
/// Whether allocation profiling is on now.
const PROFILING: &str = "vm.mem_profiling";

/// Whether the kernel shifts the stack at each system call, as configured and as told at boot.
const SHIFT: &str = "CONFIG_RANDOMIZE_KSTACK_OFFSET_DEFAULT=y";
const SHIFT_AT_BOOT: &str = "randomize_kstack_offset=";

/// Returns the symbols that are kept, and whether allocations are profiled; nothing where nothing can be read.
pub(super) fn of_running(release: &str) -> BTreeMap<String, String> {
    let mut config = chosen(&text(release));
    let profiling = fs::read_to_string("/proc/sys/vm/mem_profiling").ok();
    config.extend(profiling.map(|state| (PROFILING.to_owned(), state.trim().to_owned())));
    config
}

/// Returns whether the kernel shifts the stack at each system call; it is taken not to where that is not known.
pub(super) fn shifts_stacks() -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let boot = fs::read_to_string("/proc/cmdline").unwrap_or_default();
    is_shift(&text(release.trim()), &boot)
}

fn is_shift(config: &str, boot: &str) -> bool {
    let told =
        boot.split_whitespace().filter_map(|word| word.strip_prefix(SHIFT_AT_BOOT)).next_back();
    match told {
        Some(told) => ["1", "y", "Y", "on"].contains(&told),
        None => config.lines().any(|line| line == SHIFT),
    }
}

/// Returns the configuration, or nothing where it cannot be read.
fn text(release: &str) -> String {
    let mut text = String::new();
    let packed = fs::File::open("/proc/config.gz").ok();
    let unpacked =
        packed.map(|file| GzDecoder::new(file).take(BYTES_MAX).read_to_string(&mut text));
    match unpacked {
        Some(Ok(_)) => text,
        _ => fs::read_to_string(format!("/boot/config-{release}")).unwrap_or_default(),
    }
}

/// Returns the lines of a configuration that are kept.
fn chosen(text: &str) -> BTreeMap<String, String> {
    let set = |line: &str| {
        let line = line.trim();
        let off = line.strip_prefix("# ").and_then(|line| line.strip_suffix(" is not set"));
        let (symbol, value) = off.map(|symbol| (symbol, "n")).or_else(|| line.split_once('='))?;
        SYMBOLS.contains(&symbol).then(|| (symbol.to_owned(), value.to_owned()))
    };
    text.lines().filter_map(set).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_of_slabs_are_kept_on_or_off() {
        let text = "CONFIG_MEMCG=y\n# CONFIG_SLUB_TINY is not set\nCONFIG_HZ=250\n# a comment\n";
        let expected = [("CONFIG_MEMCG", "y"), ("CONFIG_SLUB_TINY", "n")];
        assert_eq!(chosen(text), expected.map(|(a, b)| (a.to_owned(), b.to_owned())).into());
    }

    #[test]
    fn the_command_line_of_the_kernel_overrides_its_configuration() {
        assert!(is_shift(SHIFT, "quiet") && !is_shift("", "quiet"));
        assert!(is_shift("", "quiet randomize_kstack_offset=on"));
        assert!(!is_shift(SHIFT, "randomize_kstack_offset=1 randomize_kstack_offset=0"));
    }
}
