//! The symbols of the kernel that a `perf.data` was recorded on.
//!
//! A `perf.data` holds none. Like perf, we take those of the running kernel when it is the same build,
//! else those that perf kept in its cache (`~/.debug`) when it recorded.

use std::path::{Path, PathBuf};

use crate::source::bytes::Bytes;
use crate::symbols::Symbols;

/// Returns the symbols of the kernel of that release and build; an empty table when they cannot be had.
pub(super) fn of(release: &str, build_id: Option<&str>) -> Symbols {
    if cfg!(fuzzing) {
        return Symbols::default(); // reading 100,000 lines for each input is all it would do
    }
    let uname = rustix::system::uname();
    let same_release = release.is_empty() || uname.release().to_bytes() == release.as_bytes();
    let same_build = match (build_id, running_build_id()) {
        (Some(recorded), Some(running)) => recorded == running,
        _ => same_release,
    };
    if same_build {
        return Symbols::running().unwrap_or_default();
    }
    build_id.and_then(cached).unwrap_or_default()
}

fn cached(build_id: &str) -> Option<Symbols> {
    let home = PathBuf::from(std::env::var_os("HOME")?);
    let path = home.join(".debug/[kernel.kallsyms]").join(build_id).join("kallsyms");
    let text = std::fs::read(path).ok()?;
    Some(Symbols::parse(&String::from_utf8_lossy(&text)))
}

/// Returns the running kernel's build id, in hexadecimal.
fn running_build_id() -> Option<String> {
    build_id(&std::fs::read(Path::new("/sys/kernel/notes")).ok()?)
}

/// Finds the GNU build id among ELF notes.
fn build_id(notes: &[u8]) -> Option<String> {
    const NT_GNU_BUILD_ID: u32 = 3;
    let mut notes = Bytes(notes);
    loop {
        let (name_bytes, id_bytes, kind) = (notes.u32()?, notes.u32()?, notes.u32()?);
        let padded = |bytes: u32| (bytes as usize).next_multiple_of(4);
        let name = notes.take(padded(name_bytes))?;
        let id = notes.take(padded(id_bytes))?;
        if kind == NT_GNU_BUILD_ID && name == b"GNU\0" {
            let id = &id[..id_bytes as usize];
            return Some(id.iter().map(|byte| format!("{byte:02x}")).collect());
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_build_id_is_found_among_other_notes() {
        let mut notes = Vec::new();
        for (name, id, kind) in [(&b"Xen\0"[..], &b"ab"[..], 3u32), (b"GNU\0", b"\x12\xab", 3)] {
            for word in [name.len() as u32, id.len() as u32, kind] {
                notes.extend(word.to_le_bytes());
            }
            notes.extend(name);
            notes.extend(id);
            notes.resize(notes.len().next_multiple_of(4), 0);
        }
        assert_eq!(super::build_id(&notes).as_deref(), Some("12ab"));
        assert_eq!(super::build_id(&notes[..20]), None);
    }
}
