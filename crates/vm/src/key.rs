//! The name of something made: a hash of all that went into it.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

/// Sixteen hexadecimal digits that stand for everything that was mixed in.
///
/// 64 bits of SHA-256: a cache of a million entries has one chance in 37 million of a clash (birthday bound).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(String);

impl Key {
    /// Returns the digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Mixes names and contents into a [`Key`].
///
/// Every piece is preceded by its length, so that moving a byte from one piece to the next changes the key.
#[derive(Debug, Default)]
pub(crate) struct Mixer(Sha256);

impl Mixer {
    /// Starts a key for a `kind` of thing; kinds never share keys.
    pub(crate) fn new(kind: &str) -> Self {
        let mut mixer = Self::default();
        mixer.mix(kind);
        mixer
    }

    /// Mixes in a piece.
    pub(crate) fn mix(&mut self, piece: impl AsRef<[u8]>) {
        let piece = piece.as_ref();
        self.0.update((piece.len() as u64).to_le_bytes());
        self.0.update(piece);
    }

    /// Mixes in the contents of a file.
    pub(crate) fn mix_file(&mut self, path: &Path) -> io::Result<()> {
        let mut file = File::open(path)?;
        self.0.update(file.metadata()?.len().to_le_bytes());
        let mut block = vec![0; 1 << 16];
        loop {
            match file.read(&mut block)? {
                0 => return Ok(()),
                n => self.0.update(&block[..n]),
            }
        }
    }

    /// Returns the key.
    pub(crate) fn key(self) -> Key {
        let digest = self.0.finalize();
        Key(digest[..8].iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_do_not_run_into_each_other() {
        let key = |pieces: &[&str]| {
            let mut mixer = Mixer::new("test");
            pieces.iter().for_each(|piece| mixer.mix(piece));
            mixer.key()
        };
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_eq!(key(&["ab", "c"]), key(&["ab", "c"]));
        assert_eq!(key(&[]).as_str().len(), 16);
    }
}
