//! The name of a cached result: a hash of everything that went into it.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Thirty-two hexadecimal digits, the first 128 bits of a BLAKE3 hash, that stand for everything that was hashed.
///
/// The hash is BLAKE3, since a fleet's traces are hashed each time they are read: it hashes several blocks at once in
/// vector registers. Source: O'Connor, Aumasson, Neves, Wilcox-O'Hearn, BLAKE3: one function, fast everywhere, 2020.
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

/// Hashes pieces of text and files into a [`Key`].
///
/// Every piece is preceded by its length, so that moving a byte from one piece to the next changes the key.
#[derive(Debug)]
pub struct KeyHasher(blake3::Hasher);

impl KeyHasher {
    /// Starts a key for a `kind` of thing; things of two kinds never share a key.
    #[must_use]
    pub fn new(kind: &str) -> Self {
        let mut hasher = Self(blake3::Hasher::new());
        hasher.update(kind);
        hasher
    }

    /// Adds a piece.
    pub fn update(&mut self, piece: impl AsRef<[u8]>) {
        let piece = piece.as_ref();
        self.0.update(&(piece.len() as u64).to_le_bytes());
        self.0.update(piece);
    }

    /// Adds the content of a file as one piece, with its length behind it, because a file may grow
    /// while it is read.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn update_file(&mut self, path: &Path) -> io::Result<()> {
        let mut file = File::open(path)?;
        let mut block = vec![0; 1 << 16];
        let mut length = 0u64;
        loop {
            match file.read(&mut block) {
                Ok(0) => break,
                Ok(read) => {
                    length += read as u64;
                    self.0.update(&block[..read]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.0.update(&length.to_le_bytes());
        Ok(())
    }

    /// Returns the key.
    #[must_use]
    pub fn finish(self) -> Key {
        Key(self.0.finalize().to_hex()[..32].to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_do_not_run_into_each_other() {
        let key = |pieces: &[&str]| {
            let mut hasher = KeyHasher::new("test");
            pieces.iter().for_each(|piece| hasher.update(piece));
            hasher.finish()
        };
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_eq!(key(&["ab", "c"]), key(&["ab", "c"]));
        assert_ne!(key(&[]), KeyHasher::new("other").finish());
        assert_eq!(key(&[]).as_str().len(), 32);
    }
}
