//! What can be wrong with the numbers of a caller.

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There are too few values for the question.
    #[error("{have} value(s), but this needs at least {need}")]
    TooFew {
        /// How many values there are
        have: usize,
        /// How many values are needed
        need: usize,
    },
    /// A value is infinite or not a number.
    #[error("value {index} is {value}, not a finite number")]
    NotFinite {
        /// Where in the sample it stands, from 0
        index: usize,
        /// The value itself
        value: f64,
    },
    /// A value that has no ratio to others.
    #[error("a value is not above zero, so that a change of it has no share")]
    NotPositive,
    /// Pairs need equally many values on both sides.
    #[error(
        "{baseline} value(s) in the baseline but {candidate} in the candidate: pairs need as many on both sides"
    )]
    Unpaired {
        /// How many values the baseline has
        baseline: usize,
        /// How many values the candidate has
        candidate: usize,
    },
    /// A confidence level or threshold outside (0, 1).
    #[error("{value} is not a probability between 0 and 1")]
    NotAProbability {
        /// The requested value
        value: f64,
    },
}
