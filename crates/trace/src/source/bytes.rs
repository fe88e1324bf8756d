//! A cursor over bytes that never reaches beyond them.

/// What is left to be read of some bytes. Every read is `None` at the end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    #[inline]
    pub(super) fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(head)
    }

    #[inline]
    pub(super) fn skip(&mut self, bytes: usize) -> Option<()> {
        self.take(bytes).map(|_| ())
    }

    #[inline]
    pub(super) fn u16(&mut self) -> Option<u16> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u16::from_le_bytes(*head))
    }

    #[inline]
    pub(super) fn u32(&mut self) -> Option<u32> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*head))
    }

    #[inline]
    pub(super) fn u64(&mut self) -> Option<u64> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*head))
    }

    /// Reads a `perf_header_string`: a length, and that many bytes, padded with NULs.
    pub(super) fn string(&mut self) -> Option<String> {
        let bytes = self.u32()? as usize;
        Some(text(self.take(bytes)?))
    }
}

/// Returns the text before the first NUL.
pub(super) fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
