//! The most bytes held, part by part of a trace: the rows at which a change has to be examined to know its peak.
//!
//! # How it works
//! The trace is parted into 512 spans of rows; of each, the last row at which most was held is kept. The
//! effect of a change on the peak of a machine shows at these rows, whatever row its peak then falls on. A trace of no
//! more rows than spans has each of its rows.

/// Enough spans that a change saves much the same over each of them.
const SPANS: u64 = 512;

/// The most that was held in a span of rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpanPeak {
    /// The last row at which it was held, counted from 0
    pub row: u64,
    /// Bytes
    pub held_bytes: u64,
}

/// Collects the peaks of spans.
#[derive(Debug, Clone, Default)]
pub(crate) struct SpanPeaks {
    rows_of_span: u64,
    /// First row of the next span
    next: u64,
    highest: SpanPeak,
    list: Vec<SpanPeak>,
}

impl SpanPeaks {
    /// Starts for a trace of `rows` rows.
    pub(crate) fn new(rows: u64) -> Self {
        let rows_of_span = rows.div_ceil(SPANS).max(1);
        Self { rows_of_span, next: rows_of_span, ..Self::default() }
    }

    /// Notes what is held after a row; rows rise.
    #[inline]
    pub(crate) fn note(&mut self, row: u64, held_bytes: u64) {
        if row >= self.next {
            self.close(row);
        }
        if held_bytes >= self.highest.held_bytes {
            self.highest = SpanPeak { row, held_bytes };
        }
    }

    #[cold]
    fn close(&mut self, row: u64) {
        self.list.push(std::mem::take(&mut self.highest));
        self.next = (row / self.rows_of_span + 1).saturating_mul(self.rows_of_span);
    }

    /// Returns the peaks, rising by row.
    pub(crate) fn finish(mut self) -> Vec<SpanPeak> {
        self.list.push(self.highest);
        self.list.retain(|peak| peak.held_bytes > 0);
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_row_of_each_spans_highest_level_is_kept() {
        let mut span_peaks = SpanPeaks::new(1024);
        let levels = [(0, 5), (1, 5), (2, 4), (3, 9), (9, 1)];
        levels.into_iter().for_each(|(row, held)| span_peaks.note(row, held));
        let seen: Vec<_> =
            span_peaks.finish().iter().map(|peak| (peak.row, peak.held_bytes)).collect();
        assert_eq!(seen, [(1, 5), (3, 9), (9, 1)]);
    }
}
