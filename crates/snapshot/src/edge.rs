//! Where lines end: a terminal or an editor that cuts them does so at one column.

/// Terminals and editors have at least as many columns.
const COLUMNS_MIN: usize = 40;
/// Lines that end at the same last column show that something cut them there.
const CUT_LINES_MIN: u32 = 2;

/// How a line ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Edge {
    /// Before the last column of the text
    #[default]
    Free,
    /// At the last column so far
    Last,
    /// At the last column, as several lines did before
    Known,
}

/// The last column of the lines so far.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    widest: usize,
    lines: u32,
}

impl Columns {
    /// Returns the last column of the begin of a text.
    pub(crate) fn of(head: &str) -> Self {
        let mut columns = Self::default();
        head.split_inclusive('\n').filter(|line| line.ends_with('\n')).for_each(|line| {
            columns.edge(line);
        });
        columns
    }

    /// Takes the next line, and returns where it ends.
    pub(crate) fn edge(&mut self, line: &str) -> Edge {
        let line = line.trim_end_matches(['\r', '\n']);
        if line.len() < self.widest {
            return Edge::Free;
        }
        if line.len() > self.widest {
            *self = Self { widest: line.len(), lines: 0 };
        }
        self.lines += 1;
        match () {
            () if self.widest < COLUMNS_MIN || line.ends_with(char::is_whitespace) => Edge::Free,
            () if self.lines > CUT_LINES_MIN => Edge::Known,
            () => Edge::Last,
        }
    }
}
