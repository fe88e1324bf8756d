//! A kernel's build id: equal where two recordings are of the same bytes of kernel, whatever their releases are called.
//!
//! Linux counterpart: `/sys/kernel/notes` (`kernel/ksysfs.c` @ 6.18), an ELF note section; `ld --build-id`.

use super::bytes::Bytes;

/// Returns the running kernel's build id, in hexadecimal.
pub(crate) fn of_running_kernel() -> Option<String> {
    among(&std::fs::read("/sys/kernel/notes").ok()?)
}

/// Finds the GNU build id among ELF notes.
fn among(notes: &[u8]) -> Option<String> {
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
        assert_eq!(super::among(&notes).as_deref(), Some("12ab"));
        assert_eq!(super::among(&notes[..20]), None);
    }
}
