//! Two variants, one metric: the effect, its interval, p, and a verdict in words.
//!
//! How it works: a difference is shown when the rank test's p is below alpha and the bootstrap interval of the
//! difference leaves out zero. Both must agree, since each alone is a little too ready on small or lumpy samples;
//! together they are wrong in less than alpha of the A/A comparisons (`tests/simulation.rs`). Whether a shown
//! difference is good depends on the direction of the metric.
//!
//! Invariants: candidate over baseline, candidate minus baseline, always. Swapping the two sides swaps better and
//! worse. No value is dropped.

use serde::{Deserialize, Serialize};

use crate::blocked::{self, Block, van_elteren};
use crate::rank_sum::RankTest;
use crate::ratio::{Estimate, check_positive};
use crate::{
    Bootstrap, Error, Interval, Summary, TTest, hodges_lehmann, hodges_lehmann_paired, holm,
    mann_whitney, median, paired_t, ratio_of_medians, sample, welch, wilcoxon,
};

/// Whether less or more of a metric is what one wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Times, bytes
    LessIsBetter,
    /// Throughputs
    MoreIsBetter,
}

/// How the runs of the two sides belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// Not at all
    Independent,
    /// The i-th of the one with the i-th of the other, as in the rounds of an interleaved plan
    Paired,
    /// Within blocks only, as on several hosts
    Blocked,
}

/// What is asked of two samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// Whether less or more is better
    pub direction: Direction,
    /// The chance of a wrong verdict that one accepts when there is no difference
    pub alpha: f64,
    /// How intervals are found; its confidence is that of every interval in the answer
    pub bootstrap: Bootstrap,
}

impl Default for Question {
    /// Less is better, alpha 0.05, 95 % intervals.
    fn default() -> Self {
        let bootstrap = Bootstrap::default();
        Self { direction: Direction::LessIsBetter, alpha: 0.05, bootstrap }
    }
}

/// The answer in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The candidate is better than the baseline
    Better,
    /// The candidate is worse
    Worse,
    /// The runs show no difference; that is not to say that there is none
    NoDifferenceShown,
}

impl Verdict {
    /// Says it in the words that fit the unit of the metric.
    #[must_use]
    pub fn words(self, unit: &str, direction: Direction) -> &'static str {
        let (better, worse) = match unit {
            "s" | "ms" | "us" | "µs" | "ns" | "cycles" => ("faster", "slower"),
            _ if unit.contains("/s") => ("faster", "slower"),
            "B" | "KiB" | "MiB" | "GiB" | "bytes" => match direction {
                Direction::LessIsBetter => ("smaller", "larger"),
                Direction::MoreIsBetter => ("larger", "smaller"),
            },
            _ => ("better", "worse"),
        };
        match self {
            Self::Better => better,
            Self::Worse => worse,
            Self::NoDifferenceShown => "no difference shown",
        }
    }
}

/// Everything that is known about two samples of one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// How the runs belong together
    pub design: Design,
    /// Whether less or more is better
    pub direction: Direction,
    /// The baseline in a few numbers
    pub baseline: Summary,
    /// The candidate in a few numbers
    pub candidate: Summary,
    /// Candidate / baseline, by medians; `None` when a value is not above zero
    pub ratio: Option<Estimate>,
    /// Candidate - baseline, by medians
    pub difference: Estimate,
    /// The Hodges-Lehmann shift, candidate - baseline; `None` in a blocked design
    pub shift: Option<Estimate>,
    /// The rank test
    pub test: RankTest,
    /// The t test of the means, beside; `None` in a blocked design or without spread
    pub t: Option<TTest>,
    /// The p that the verdict rests on: the rank test's, adjusted when several comparisons were made at once
    pub p: f64,
    /// The least p that so many runs can give; no verdict is possible while it is not below alpha
    pub p_least: f64,
    /// Below which p a difference is shown
    pub alpha: f64,
    /// The answer
    pub verdict: Verdict,
}

impl Comparison {
    /// Replaces p by `p`, as adjusted for several comparisons, and judges again.
    pub fn adjust(&mut self, p: f64) {
        self.p = p;
        self.verdict =
            judge(p, self.alpha, &self.difference.interval, self.difference.value, self.direction);
    }

    /// Applies Holm's correction over all `comparisons`.
    pub fn adjust_all(comparisons: &mut [Self]) {
        let p: Vec<f64> = comparisons.iter().map(|c| c.test.p).collect();
        let many = comparisons.len() as f64;
        for (comparison, p) in comparisons.iter_mut().zip(holm(&p)) {
            comparison.p_least = (comparison.p_least * many).min(1.0);
            comparison.adjust(p);
        }
    }

    /// Returns whether there are too few runs for any verdict.
    #[must_use]
    pub fn is_too_small(&self) -> bool {
        self.p_least >= self.alpha
    }
}

/// Compares `candidate` with `baseline`, as independent samples or, with [`Design::Paired`], in pairs.
///
/// # Errors
///
/// If a side has fewer than two values or one that is not finite, if pairs were asked for and the sides differ in
/// length, or if alpha or the confidence is no probability.
///
/// # Panics
///
/// If the design is [`Design::Blocked`]; blocks go to [`compare_blocks`].
pub fn compare(
    baseline: &[f64],
    candidate: &[f64],
    design: Design,
    question: &Question,
) -> Result<Comparison, Error> {
    sample::check(baseline, 2)?;
    sample::check(candidate, 2)?;
    sample::check_probability(question.alpha)?;
    let confidence = question.bootstrap.confidence;
    let bootstrap = &question.bootstrap;
    let positive = check_positive(baseline).is_ok() && check_positive(candidate).is_ok();
    let (ratio, difference, shift, test, t, p_least);
    match design {
        Design::Independent => {
            ratio = match positive {
                true => Some(ratio_of_medians(baseline, candidate, bootstrap)?),
                false => None,
            };
            difference = difference_of_medians(baseline, candidate, bootstrap)?;
            shift = hodges_lehmann(baseline, candidate, confidence)?;
            test = mann_whitney(baseline, candidate)?;
            t = welch(baseline, candidate, confidence)?;
            p_least = least_rank_sum_p(baseline.len(), candidate.len());
        }
        Design::Paired => {
            sample::check_pairs(baseline, candidate)?;
            ratio = match positive {
                true => Some(paired_effect(baseline, candidate, bootstrap, |b, c| c / b)?),
                false => None,
            };
            difference = paired_effect(baseline, candidate, bootstrap, |b, c| c - b)?;
            shift = hodges_lehmann_paired(baseline, candidate, confidence)?;
            test = wilcoxon(baseline, candidate)?;
            t = paired_t(baseline, candidate, confidence)?;
            p_least = 0.5f64.powi(baseline.len() as i32 - 1);
        }
        Design::Blocked => panic!("blocks go to compare_blocks"),
    }
    let direction = question.direction;
    Ok(Comparison {
        design,
        direction,
        baseline: Summary::of(baseline)?,
        candidate: Summary::of(candidate)?,
        ratio,
        difference,
        shift: Some(shift),
        test,
        t,
        p: test.p,
        p_least,
        alpha: question.alpha,
        verdict: judge(test.p, question.alpha, &difference.interval, difference.value, direction),
    })
}

/// Compares candidate with baseline within blocks, hosts say, and sums up over them.
///
/// # Errors
///
/// If there is no block, or a side of one has fewer than two values or one that is not finite, or if alpha or the
/// confidence is no probability.
pub fn compare_blocks(blocks: &[Block<'_>], question: &Question) -> Result<Comparison, Error> {
    sample::check_probability(question.alpha)?;
    let test = van_elteren(blocks)?;
    let effects = blocked::effects(blocks, &question.bootstrap)?;
    let difference = effects.difference;
    let all = |side: fn(&Block<'_>) -> Vec<f64>| blocks.iter().flat_map(side).collect::<Vec<f64>>();
    let direction = question.direction;
    Ok(Comparison {
        design: Design::Blocked,
        direction,
        baseline: Summary::of(&all(|b| b.baseline.to_vec()))?,
        candidate: Summary::of(&all(|b| b.candidate.to_vec()))?,
        ratio: effects.ratio,
        difference,
        shift: None,
        test,
        t: None,
        p: test.p,
        p_least: blocks
            .iter()
            .map(|b| least_rank_sum_p(b.baseline.len(), b.candidate.len()))
            .product::<f64>(),
        alpha: question.alpha,
        verdict: judge(test.p, question.alpha, &difference.interval, difference.value, direction),
    })
}

fn judge(
    p: f64,
    alpha: f64,
    interval: &Interval,
    difference: f64,
    direction: Direction,
) -> Verdict {
    if p >= alpha || interval.contains(0.0) {
        return Verdict::NoDifferenceShown;
    }
    match (difference < 0.0, direction) {
        (true, Direction::LessIsBetter) | (false, Direction::MoreIsBetter) => Verdict::Better,
        _ => Verdict::Worse,
    }
}

fn difference_of_medians(a: &[f64], b: &[f64], bootstrap: &Bootstrap) -> Result<Estimate, Error> {
    let difference = |a: &mut [f64], b: &mut [f64]| median(b) - median(a);
    let interval = bootstrap.percentile_two(a, b, difference)?;
    Ok(Estimate { value: difference(&mut a.to_vec(), &mut b.to_vec()), interval })
}

/// Returns the median over the pairs of `effect`, resampling pairs.
fn paired_effect(
    baseline: &[f64],
    candidate: &[f64],
    bootstrap: &Bootstrap,
    effect: impl Fn(f64, f64) -> f64,
) -> Result<Estimate, Error> {
    let mut effects: Vec<f64> =
        baseline.iter().zip(candidate).map(|(b, c)| effect(*b, *c)).collect();
    let interval = bootstrap.percentile(&effects, median)?;
    Ok(Estimate { value: median(&mut effects), interval })
}

/// Returns 2 / (m + n choose n): both extremes of all orders.
fn least_rank_sum_p(m: usize, n: usize) -> f64 {
    let orders: f64 = (1..=n).map(|i| (m + i) as f64 / i as f64).product();
    (2.0 / orders).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: [f64; 8] = [10.3, 10.1, 10.2, 10.6, 10.5, 10.4, 10.0, 10.7];
    const FAST: [f64; 8] = [9.1, 9.3, 9.0, 9.2, 9.4, 9.6, 9.5, 9.7];

    #[test]
    fn the_direction_decides_what_is_better() {
        let less = Question::default();
        let more = Question { direction: Direction::MoreIsBetter, ..less };
        let verdict = |a: &[f64], b: &[f64], q: &Question| {
            compare(a, b, Design::Independent, q).unwrap().verdict
        };
        assert_eq!(verdict(&SLOW, &FAST, &less), Verdict::Better);
        assert_eq!(verdict(&FAST, &SLOW, &less), Verdict::Worse);
        assert_eq!(verdict(&SLOW, &FAST, &more), Verdict::Worse);
        assert_eq!(Verdict::Better.words("s", less.direction), "faster");
        assert_eq!(Verdict::Worse.words("MiB", less.direction), "larger");
    }

    #[test]
    fn three_runs_a_side_are_too_few_and_say_so() {
        let few =
            compare(&SLOW[..3], &FAST[..3], Design::Independent, &Question::default()).unwrap();
        assert_eq!((few.verdict, few.is_too_small()), (Verdict::NoDifferenceShown, true));
        assert!((few.p_least - 0.1).abs() < 1e-15);
        let four =
            compare(&SLOW[..4], &FAST[..4], Design::Independent, &Question::default()).unwrap();
        assert!(!four.is_too_small());
    }

    #[test]
    fn values_of_zero_have_a_difference_but_no_ratio() {
        let question = Question::default();
        let none = [0.0; 6];
        let got = compare(&none, &FAST[..6], Design::Independent, &question).unwrap();
        assert_eq!((got.ratio, got.verdict), (None, Verdict::Worse));
        assert_eq!(compare(&none, &none, Design::Paired, &question).unwrap().t, None);
    }

    #[test]
    fn a_slow_host_does_not_hide_a_gain_on_both() {
        let question = Question::default();
        let slow: Vec<f64> = SLOW.iter().map(|x| x * 5.0).collect();
        let fast: Vec<f64> = FAST.iter().map(|x| x * 5.0).collect();
        let blocks = [
            Block { baseline: &SLOW, candidate: &FAST },
            Block { baseline: &slow, candidate: &fast },
        ];
        let got = compare_blocks(&blocks, &question).unwrap();
        assert_eq!(got.verdict, Verdict::Better);
        assert!((got.ratio.unwrap().value - 9.35 / 10.35).abs() < 1e-12);
        // Thrown together, the spread between the hosts covers it.
        let (a, b) = ([&SLOW[..], &slow].concat(), [&FAST[..], &fast].concat());
        let mixed = compare(&a, &b, Design::Independent, &question).unwrap();
        assert_eq!(mixed.verdict, Verdict::NoDifferenceShown);
    }

    #[test]
    fn holm_takes_back_a_verdict_that_many_comparisons_made_by_chance() {
        let mut one = compare(&SLOW, &FAST, Design::Independent, &Question::default()).unwrap();
        one.test.p = 0.04;
        let mut all = vec![one; 3];
        Comparison::adjust_all(&mut all);
        assert!(all.iter().all(|c| c.verdict == Verdict::NoDifferenceShown && c.p == 0.12));
    }
}
