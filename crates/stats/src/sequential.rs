//! A test of two things that are measured until their difference is decided, or the budget is used up.
//!
//! # How it works
//! After some numbers of runs ([`Sequential::looks`]) the two samples are compared by [`compare`] as independent ones, each
//! time with the same part of alpha. So the probability that any look shows a difference where there is none is at most
//! alpha (Bonferroni), whatever the distribution, since each look is a rank test. The first look has the fewest runs that
//! can decide. They are the same where the interval of the change lies within what is ignored.
//!
//! Sources: Pocock: Group sequential methods in the design and analysis of clinical trials, Biometrika 64, 1977, for looks
//! of equal error; the sum of the errors, and not his table, keeps it right for rank tests.

use crate::compare::{Comparison, Pairing, Question, Verdict, compare, runs_needed};
use crate::error::Error;
use crate::sample;
use crate::shift::Estimate;

/// Looks of a test at most.
const LOOKS_MAX: usize = 3;
/// From look to look there are this many times the runs.
const GROWTH: f64 = 1.5;

/// How two things are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequential {
    /// The number of runs of each at which it is looked
    looks: Vec<usize>,
    /// The alpha of a look
    alpha: f64,
    /// Changes of at most this share do not matter
    ignored_share: f64,
}

/// What a look shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Look {
    /// They differ: candidate / baseline
    Differs(Estimate),
    /// They differ by at most what is ignored
    Same(Estimate),
    /// As many runs of each are needed
    More(usize),
    /// The runs are used up, and neither is shown
    Open(Estimate),
}

impl Sequential {
    /// Makes a test that is wrong with at most this probability where there is no difference, takes at most `runs_max` runs of
    /// each, and ignores changes of at most `ignored_share`.
    ///
    /// # Errors
    ///
    /// If alpha is not a probability, a share is not between 0 and 1, or no outcome of so few runs could decide.
    pub fn new(alpha: f64, runs_max: usize, ignored_share: f64) -> Result<Self, Error> {
        sample::check_probability(alpha)?;
        if !(0.0..1.0).contains(&ignored_share) {
            return Err(Error::NotAProbability { value: ignored_share });
        }
        let looks = |many: usize| {
            let first = runs_needed(Pairing::Independent, 1, alpha / many as f64);
            let growing = std::iter::successors(Some(first), |runs| {
                Some((*runs as f64 * GROWTH).ceil() as usize)
            });
            let mut looks: Vec<usize> =
                growing.take(many).take_while(|runs| *runs < runs_max).collect();
            if first <= runs_max {
                looks.truncate(many - 1);
                looks.push(runs_max);
            }
            looks
        };
        let looks = (1..=LOOKS_MAX).rev().map(looks).find(|looks| !looks.is_empty());
        let needed = runs_needed(Pairing::Independent, 1, alpha);
        let looks = looks.ok_or(Error::TooFew { have: runs_max, need: needed })?;
        Ok(Self { alpha: alpha / looks.len() as f64, looks, ignored_share })
    }

    /// Returns the numbers of runs of each at which it is looked.
    #[must_use]
    pub fn looks(&self) -> &[usize] {
        &self.looks
    }

    /// Looks at the runs that there are; values have to be above zero.
    ///
    /// # Errors
    ///
    /// If a value is not finite or not above zero.
    pub fn look(&self, baseline: &[f64], candidate: &[f64]) -> Result<Look, Error> {
        let runs = baseline.len().min(candidate.len());
        // Runs beyond a look were made for another comparison, and would be a look of their own.
        let Some(at) = self.looks.iter().rposition(|look| *look <= runs) else {
            return Ok(Look::More(self.looks[0]));
        };
        for look in &self.looks[..=at] {
            let comparison = self.compare(&baseline[..*look], &candidate[..*look])?;
            let ratio = comparison.ratio.ok_or(Error::NotPositive)?;
            if matches!(comparison.verdict, Verdict::Better | Verdict::Worse) {
                return Ok(Look::Differs(ratio));
            }
            if excess(ratio) <= self.ignored_share {
                return Ok(Look::Same(ratio));
            }
            if *look == self.looks[self.looks.len() - 1] {
                return Ok(Look::Open(ratio));
            }
        }
        Ok(Look::More(self.looks[at + 1]))
    }

    fn compare(&self, baseline: &[f64], candidate: &[f64]) -> Result<Comparison, Error> {
        let question = Question { alpha: self.alpha, ..Question::default() };
        compare(baseline, candidate, Pairing::Independent, &question)
    }
}

/// Returns the share by which things may differ at most, as far as an interval of their ratio tells.
#[must_use]
pub fn excess(ratio: Estimate) -> f64 {
    (ratio.interval.high - 1.0).abs().max((1.0 - ratio.interval.low).abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Slab memory of guests has steps of a page, some noise, and now and then a late worker.
    fn boots(rng: &mut Rng, level: f64, many: usize) -> Vec<f64> {
        let boot = |_| {
            let late = if rng.next_u64().is_multiple_of(10) { 200.0 } else { 0.0 };
            let noise: f64 = (0..4).map(|_| (rng.next_u64() % 33) as f64).sum();
            ((level + noise + late) / 4.0).round() * 4.0
        };
        (0..many).map(boot).collect()
    }

    fn decide(test: &Sequential, rng: &mut Rng, levels: (f64, f64)) -> (Look, usize) {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        loop {
            match test.look(&a, &b).unwrap() {
                Look::More(runs) => {
                    let more = runs - a.len();
                    a.extend(boots(rng, levels.0, more));
                    b.extend(boots(rng, levels.1, more));
                }
                look => return (look, a.len()),
            }
        }
    }

    #[test]
    fn equal_things_differ_no_oftener_than_stated() {
        let (alpha, many) = (0.05, 2000);
        let test = Sequential::new(alpha, 20, 0.001).unwrap();
        let mut rng = Rng::new(41);
        let wrong = (0..many)
            .filter(|_| matches!(decide(&test, &mut rng, (9e3, 9e3)).0, Look::Differs(_)))
            .count();
        assert!(wrong as f64 <= alpha * many as f64, "{wrong} of {many}");
        assert!(wrong > 0, "a test that never errs at a level of 5 % hides differences");
    }

    #[test]
    fn a_plain_difference_takes_the_first_look_and_a_small_one_is_bounded() {
        let test = Sequential::new(0.01, 20, 0.02).unwrap();
        let mut rng = Rng::new(5);
        let (look, runs) = decide(&test, &mut rng, (9e3, 9.9e3));
        assert!(
            matches!(look, Look::Differs(ratio) if (ratio.value - 1.1).abs() < 0.02),
            "{look:?}"
        );
        assert_eq!(runs, test.looks()[0]);
        let bounds = (0..500).map(|_| decide(&test, &mut rng, (9e3, 9.02e3)).0);
        let covered = bounds.filter(|look| match look {
            Look::Same(ratio) | Look::Open(ratio) | Look::Differs(ratio) => {
                ratio.interval.low <= 9.09 / 9.07 && 9.09 / 9.07 <= ratio.interval.high
            }
            Look::More(_) => false,
        });
        assert!(covered.count() >= 485, "what is said of the bound is true");
    }

    #[test]
    fn what_never_varies_is_the_same_or_differs() {
        let test = Sequential::new(0.05, 10, 0.0).unwrap();
        let (a, b) = ([100.0; 10], [101.0; 10]);
        assert!(matches!(test.look(&a, &a).unwrap(), Look::Same(_)));
        assert!(matches!(test.look(&a, &b).unwrap(), Look::Differs(_)));
        assert_eq!(test.look(&[], &[]).unwrap(), Look::More(test.looks()[0]));
        assert!(Sequential::new(0.05, 3, 0.0).is_err(), "three runs decide nothing");
        assert!(test.look(&[0.0; 10], &a).is_err());
    }

    #[test]
    fn looks_fit_the_budget() {
        for runs_max in 5..60 {
            let Ok(test) = Sequential::new(0.01, runs_max, 0.01) else { continue };
            let looks = test.looks();
            assert_eq!(looks[looks.len() - 1], runs_max);
            assert!(looks.windows(2).all(|pair| pair[0] < pair[1]), "{looks:?}");
            assert!(looks[0] >= runs_needed(Pairing::Independent, 1, test.alpha), "{looks:?}");
        }
    }
}
