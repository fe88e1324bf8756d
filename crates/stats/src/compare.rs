//! Two variants, one metric: the effect, its interval, p, and a verdict in words.
//!
//! # How it works
//! Where all values are above zero the runs are compared by their logarithms, so the effect is a ratio and a slow and a
//! fast host weigh the same; otherwise by their differences. One rank test gives p, the Hodges-Lehmann estimate that
//! belongs to it, and the interval of the values that it would not reject. A difference is shown when p is below alpha
//! and the interval excludes "no change"; without ties either implies the other. The test is exact up to 50 runs. So at
//! most alpha of the comparisons of a thing with itself show a difference, for any number of runs and any ties;
//! `tests/simulation.rs` shows that. If the runs are too few for any outcome to have a p below alpha, they are
//! undecided.
//!
//! # Invariants
//! The order is always candidate over baseline, candidate minus baseline. Swapping the two sides
//! swaps better and worse. Effect, interval and verdict have one direction. No value is dropped.
//!
//! Source: Hollander, Wolfe, Chicken: Nonparametric Statistical Methods, 3rd ed., chapters 3 and 4.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::holm::holm;
use crate::rank_test::{RankTest, mann_whitney, wilcoxon};
use crate::sample;
use crate::shift::{Estimate, hodges_lehmann, hodges_lehmann_paired};
use crate::summary::Summary;

/// Whether less or more of a metric is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Times, bytes
    LessIsBetter,
    /// Throughputs
    MoreIsBetter,
}

/// How the runs of the two sides belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Pairing {
    /// Not at all
    Independent,
    /// The i-th of the one with the i-th of the other, as in the rounds of an interleaved plan
    Paired,
}

/// The question about two samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// Whether less or more is better
    pub direction: Direction,
    /// The accepted probability of a verdict when there is no difference; intervals have the confidence 1 - alpha
    pub alpha: f64,
}

impl Default for Question {
    /// Less is better, alpha 0.05.
    fn default() -> Self {
        Self { direction: Direction::LessIsBetter, alpha: 0.05 }
    }
}

/// The answer in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The candidate is better than the baseline
    Better,
    /// The candidate is worse
    Worse,
    /// The runs show no difference; there may still be one
    NoDifferenceShown,
    /// Too few runs: no outcome could have shown a difference
    Undecided,
}

impl Verdict {
    /// Returns it in the words that fit the unit of the metric.
    #[must_use]
    pub fn words(self, unit: &str, direction: Direction) -> &'static str {
        let (better, worse) = match unit {
            "s" | "ms" | "us" | "µs" | "ns" | "cycles" => ("faster", "slower"),
            _ if unit.contains("/s") => ("faster", "slower"),
            "B" | "kB" | "KB" | "MB" | "GB" | "KiB" | "MiB" | "GiB" | "bytes" => match direction {
                Direction::LessIsBetter => ("smaller", "larger"),
                Direction::MoreIsBetter => ("larger", "smaller"),
            },
            _ => ("better", "worse"),
        };
        match self {
            Self::Better => better,
            Self::Worse => worse,
            Self::NoDifferenceShown => "no difference shown",
            Self::Undecided => "undecided",
        }
    }
}

/// Everything that is known about two samples of one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// How the runs belong together
    pub design: Pairing,
    /// Whether less or more is better
    pub direction: Direction,
    /// The baseline in a few numbers
    pub baseline: Summary,
    /// The candidate in a few numbers
    pub candidate: Summary,
    /// Candidate / baseline, the Hodges-Lehmann estimate; `None` when a value is not above zero
    pub ratio: Option<Estimate>,
    /// Candidate - baseline, the Hodges-Lehmann estimate; the verdict rests on it only where there is no ratio
    pub difference: Estimate,
    /// The rank test, of the logarithms where there is a ratio
    pub test: RankTest,
    /// The p that the verdict rests on: the rank test's, adjusted when several comparisons were made at once
    pub p: f64,
    /// The least p that this number of runs can give; no verdict is possible while it is not below
    /// alpha
    pub p_least: f64,
    /// How many runs of each side can decide
    pub runs_needed: usize,
    /// Below which p a difference is shown
    pub alpha: f64,
    /// The answer
    pub verdict: Verdict,
}

impl Comparison {
    /// Applies Holm's correction over all `comparisons`, and judges again.
    pub fn adjust_all(comparisons: &mut [Self]) {
        let p: Vec<f64> = comparisons.iter().map(|c| c.test.p).collect();
        let many = comparisons.len();
        for (comparison, p) in comparisons.iter_mut().zip(holm(&p)) {
            comparison.p = p;
            comparison.p_least = (comparison.p_least * many as f64).min(1.0);
            comparison.runs_needed = runs_needed(comparison.design, many, comparison.alpha);
            comparison.verdict = comparison.judge();
        }
    }

    /// Returns the effect that the verdict rests on, and the value that means "no change".
    #[must_use]
    pub fn effect(&self) -> (Estimate, f64) {
        self.ratio.map_or((self.difference, 0.0), |ratio| (ratio, 1.0))
    }

    fn judge(&self) -> Verdict {
        let (Estimate { interval, .. }, no_change) = self.effect();
        if self.p_least >= self.alpha {
            return Verdict::Undecided;
        }
        if self.p >= self.alpha || interval.contains(no_change) {
            return Verdict::NoDifferenceShown;
        }
        match (interval.high < no_change, self.direction) {
            (true, Direction::LessIsBetter) | (false, Direction::MoreIsBetter) => Verdict::Better,
            _ => Verdict::Worse,
        }
    }
}

/// Compares `candidate` with `baseline`, as independent samples or, with [`Pairing::Paired`], in pairs.
///
/// # Errors
///
/// If a side has fewer than two values or one that is not finite, if the sides differ in length although pairs
/// are compared, or if alpha is not a probability.
pub fn compare(
    baseline: &[f64],
    candidate: &[f64],
    design: Pairing,
    question: &Question,
) -> Result<Comparison, Error> {
    let Question { direction, alpha } = *question;
    sample::check(baseline, 2)?;
    sample::check(candidate, 2)?;
    sample::check_probability(alpha)?;
    let confidence = 1.0 - alpha;
    let test = |a: &[f64], b: &[f64]| match design {
        Pairing::Independent => mann_whitney(a, b),
        Pairing::Paired => wilcoxon(a, b),
    };
    let shift = |a: &[f64], b: &[f64]| match design {
        Pairing::Independent => hodges_lehmann(a, b, confidence),
        Pairing::Paired => hodges_lehmann_paired(a, b, confidence),
    };
    let difference = shift(baseline, candidate)?;
    let logarithms = |values: &[f64]| -> Option<Vec<f64>> {
        values.iter().map(|x| (*x > 0.0).then(|| x.ln())).collect()
    };
    let (ratio, test): (Option<Estimate>, RankTest) =
        match (logarithms(baseline), logarithms(candidate)) {
            (Some(a), Some(b)) => (Some(shift(&a, &b)?.map(f64::exp)), test(&a, &b)?),
            _ => (None, test(baseline, candidate)?),
        };
    let mut comparison = Comparison {
        design,
        direction,
        baseline: Summary::of(baseline)?,
        candidate: Summary::of(candidate)?,
        ratio,
        difference,
        test,
        p: test.p,
        p_least: least_p(design, baseline.len(), candidate.len()),
        runs_needed: runs_needed(design, 1, alpha),
        alpha,
        verdict: Verdict::Undecided,
    };
    comparison.verdict = comparison.judge();
    Ok(comparison)
}

/// Returns the least number of runs on each side with which one of `comparisons` made at once can be
/// decided.
#[must_use]
pub fn runs_needed(design: Pairing, comparisons: usize, alpha: f64) -> usize {
    let can_decide =
        |runs: &usize| least_p(design, *runs, *runs) * (comparisons.max(1) as f64) < alpha;
    // 2^-1000 is below any alpha that a double can hold, times the comparisons that a machine can.
    (2..1_100).find(can_decide).unwrap_or(1_100)
}

/// Returns the p of the most extreme outcome: all pairs lean to one side, or all of one sample lies above the other.
fn least_p(design: Pairing, m: usize, n: usize) -> f64 {
    let outcomes: f64 = match design {
        Pairing::Independent => (1..=n).map(|i| (m + i) as f64 / i as f64).product(),
        Pairing::Paired => 0.5f64.powi(-(n as i32)),
    };
    (2.0 / outcomes).min(1.0)
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
            compare(a, b, Pairing::Independent, q).unwrap().verdict
        };
        assert_eq!(verdict(&SLOW, &FAST, &less), Verdict::Better);
        assert_eq!(verdict(&FAST, &SLOW, &less), Verdict::Worse);
        assert_eq!(verdict(&SLOW, &FAST, &more), Verdict::Worse);
        assert_eq!(Verdict::Better.words("s", less.direction), "faster");
        assert_eq!(Verdict::Worse.words("MiB", less.direction), "larger");
        // /proc/meminfo has this unit.
        assert_eq!(Verdict::Better.words("kB", less.direction), "smaller");
    }

    #[test]
    fn three_runs_a_side_are_too_few_and_say_how_many_are_not() {
        let of = |n: usize, design| {
            compare(&SLOW[..n], &FAST[..n], design, &Question::default()).unwrap()
        };
        let few = of(3, Pairing::Independent);
        assert_eq!((few.verdict, few.runs_needed), (Verdict::Undecided, 4));
        assert!((few.p_least - 0.1).abs() < 1e-15);
        // Three runs allow an interval of 90 %, and none of 95.
        assert!((few.effect().0.interval.confidence - 0.9).abs() < 1e-12, "{few:?}");
        assert_eq!(of(4, Pairing::Independent).verdict, Verdict::Better);
        let pairs = of(5, Pairing::Paired);
        assert_eq!((pairs.verdict, pairs.runs_needed), (Verdict::Undecided, 6));
        assert_eq!(of(6, Pairing::Paired).verdict, Verdict::Better);
        // Four allocators at two points, one of them the baseline: six comparisons.
        let mut six = vec![of(4, Pairing::Paired); 6];
        Comparison::adjust_all(&mut six);
        assert!(six.iter().all(|c| (c.verdict, c.runs_needed) == (Verdict::Undecided, 8)));
    }

    #[test]
    fn values_of_zero_have_a_difference_but_no_ratio() {
        let question = Question::default();
        let none = [0.0; 6];
        let got = compare(&none, &FAST[..6], Pairing::Independent, &question).unwrap();
        assert_eq!((got.ratio, got.verdict), (None, Verdict::Worse));
        assert!(compare(&none, &none, Pairing::Paired, &question).is_ok());
    }

    #[test]
    fn pairs_within_hosts_are_judged_by_their_ratio_and_not_by_the_slowest_host() {
        // Three hosts find the candidate 50 % slower, one that is a hundred times slower finds it 3 % faster. The
        // difference of means, -0.8 s, is the slow host's alone; it used to make this "faster: +34.5 %, p =
        // 0.0008".
        let hosts = [(1.0, 1.5), (1.2, 1.5), (0.8, 1.5), (110.0, 0.97)];
        let times = |factor: fn(f64) -> f64| -> Vec<f64> {
            let run = |(speed, ratio): &(f64, f64), i: u32| {
                speed * factor(*ratio) * (1.0 + 0.002 * f64::from(i * 7 % 5))
            };
            hosts.iter().flat_map(|host| (0..8).map(move |i| run(host, i))).collect()
        };
        let got = compare(&times(|_| 1.0), &times(|r| r), Pairing::Paired, &Question::default());
        let got = got.unwrap();
        let (effect, _) = got.effect();
        assert!((effect.value - 1.5).abs() < 0.01 && effect.interval.low > 1.0, "{got:?}");
        assert_eq!(got.verdict, Verdict::Worse);
        let means = crate::mean(&times(|r| r)) - crate::mean(&times(|_| 1.0));
        assert!(means < 0.0, "the means lean the other way");
    }

    #[test]
    fn slow_hosts_do_not_hide_a_gain_on_all() {
        let question = Question::default();
        let on_hosts = |values: &[f64]| -> Vec<f64> {
            [1.0, 5.0, 25.0, 125.0].iter().flat_map(|s| values.iter().map(move |x| x * s)).collect()
        };
        let (a, b) = (on_hosts(&SLOW), on_hosts(&FAST));
        assert_eq!(compare(&a, &b, Pairing::Paired, &question).unwrap().verdict, Verdict::Better);
        // As independent samples, the spread between the hosts covers it.
        let mixed = compare(&a, &b, Pairing::Independent, &question).unwrap();
        assert_eq!(mixed.verdict, Verdict::NoDifferenceShown);
    }

    #[test]
    fn holm_takes_back_a_verdict_that_many_comparisons_made_by_chance() {
        let mut one = compare(&SLOW, &FAST, Pairing::Independent, &Question::default()).unwrap();
        one.test.p = 0.04;
        let mut all = vec![one; 3];
        Comparison::adjust_all(&mut all);
        assert!(all.iter().all(|c| c.verdict == Verdict::NoDifferenceShown && c.p == 0.12));
    }
}
