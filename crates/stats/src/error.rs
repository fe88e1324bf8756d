//! What can be wrong with the numbers that a caller brings.

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not enough values for the question that was asked.
    #[error("{have} value(s), but this needs at least {need}")]
    TooFew {
        /// How many values there are
        have: usize,
        /// How many it takes
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
    /// Pairs need as many values on the one side as on the other.
    #[error(
        "{baseline} value(s) in the baseline but {candidate} in the candidate: these are no pairs"
    )]
    Unpaired {
        /// How many values the baseline has
        baseline: usize,
        /// How many values the candidate has
        candidate: usize,
    },
    /// A ratio needs values above zero.
    #[error("{value} is not above zero, and a ratio needs values that are")]
    NotPositive {
        /// The offending value
        value: f64,
    },
    /// A confidence level or threshold outside (0, 1).
    #[error("{value} is no probability between 0 and 1")]
    NotAProbability {
        /// What was asked for
        value: f64,
    },
}
