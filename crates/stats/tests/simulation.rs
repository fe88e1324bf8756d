//! What the verdicts are worth, by simulation: how often they are wrong, how often they find what is there, and why
//! runs are interleaved.

use slablab_stats::{Bootstrap, Comparison, Design, Question, Rng, Verdict, compare};

const RUNS: usize = 31;
const TRIALS: u64 = 1_000;

/// Enough resamples for a verdict, few enough for thousands of them.
fn question() -> Question {
    Question {
        bootstrap: Bootstrap { resamples: 1_000, ..Bootstrap::default() },
        ..Question::default()
    }
}

fn runs(rng: &mut Rng, mean: f64, noise: f64) -> Vec<f64> {
    (0..RUNS).map(|_| mean * (1.0 + noise * rng.normal())).collect()
}

fn share_shown(design: Design, mut trial: impl FnMut(&mut Rng) -> (Vec<f64>, Vec<f64>)) -> f64 {
    let mut shown = 0;
    for seed in 0..TRIALS {
        let mut rng = Rng::new(0x51ab_0000 + seed);
        let (a, b) = trial(&mut rng);
        let Comparison { verdict, .. } = compare(&a, &b, design, &question()).unwrap();
        shown += u64::from(verdict != Verdict::NoDifferenceShown);
    }
    shown as f64 / TRIALS as f64
}

#[test]
fn the_same_thing_compared_with_itself_is_called_different_in_at_most_5_percent() {
    for design in [Design::Independent, Design::Paired] {
        let wrong = share_shown(design, |rng| (runs(rng, 1.0, 0.03), runs(rng, 1.0, 0.03)));
        assert!(wrong <= 0.05, "{design:?}: wrong in {wrong}");
        assert!(wrong > 0.0, "{design:?}: a test that is never wrong has no power either");
    }
}

#[test]
fn a_long_tail_as_real_run_times_have_it_does_not_make_more_wrong_verdicts() {
    let tailed = |rng: &mut Rng| -> Vec<f64> {
        (0..RUNS).map(|_| 1.0 + 0.02 * rng.normal().exp()).collect()
    };
    let wrong = share_shown(Design::Independent, |rng| (tailed(rng), tailed(rng)));
    assert!(wrong <= 0.05, "wrong in {wrong}");
}

#[test]
fn a_shift_of_5_percent_under_3_percent_noise_is_found_in_at_least_95_percent() {
    for design in [Design::Independent, Design::Paired] {
        let found = share_shown(design, |rng| (runs(rng, 1.0, 0.03), runs(rng, 1.05, 0.03)));
        assert!(found >= 0.95, "{design:?}: found in {found}");
    }
}

/// A machine that gets 0.1 % slower with every run, under 1 % noise.
fn drifting(rng: &mut Rng, order: &[usize]) -> (Vec<f64>, Vec<f64>) {
    let mut sides = [Vec::new(), Vec::new()];
    for (i, side) in order.iter().enumerate() {
        sides[*side].push((1.0 + 0.001 * i as f64) * (1.0 + 0.01 * rng.normal()));
    }
    let [a, b] = sides;
    (a, b)
}

#[test]
fn a_drifting_machine_fools_the_sequential_plan_and_not_the_interleaved_one() {
    let sequential: Vec<usize> = [vec![0; RUNS], vec![1; RUNS]].concat();
    let fooled = share_shown(Design::Independent, |rng| drifting(rng, &sequential));
    assert!(fooled >= 0.95, "one after the other: fooled in {fooled}");
    let interleaved = |rng: &mut Rng| {
        let mut order = Vec::new();
        for _ in 0..RUNS {
            let mut round = [0, 1];
            rng.shuffle(&mut round);
            order.extend(round);
        }
        drifting(rng, &order)
    };
    for design in [Design::Independent, Design::Paired] {
        let fooled = share_shown(design, interleaved);
        assert!(fooled <= 0.05, "interleaved, {design:?}: fooled in {fooled}");
    }
}
