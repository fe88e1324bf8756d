//! How good the verdicts are, by simulation: how often they are wrong, how often they find a difference that
//! exists, and why runs are interleaved.

use slablab_stats::{Comparison, Pairing, Question, Rng, Verdict, compare};

const RUNS: usize = 31;
const TRIALS: u64 = 1_000;
/// The share of wrong verdicts that 1,000 trials of a test with exactly 5 % stay under: three standard errors above it.
/// That the share is not above 5 % is proved below by counting, for few runs and ties.
const WRONG_MAX: f64 = 0.0707;

fn runs(rng: &mut Rng, mean: f64, noise: f64) -> Vec<f64> {
    (0..RUNS).map(|_| mean * (1.0 + noise * rng.normal())).collect()
}

fn share_shown(design: Pairing, mut trial: impl FnMut(&mut Rng) -> (Vec<f64>, Vec<f64>)) -> f64 {
    let mut shown = 0;
    for seed in 0..TRIALS {
        let mut rng = Rng::new(0x51ab_0000 + seed);
        let (a, b) = trial(&mut rng);
        let Comparison { verdict, .. } = compare(&a, &b, design, &Question::default()).unwrap();
        shown += u64::from(matches!(verdict, Verdict::Better | Verdict::Worse));
    }
    shown as f64 / TRIALS as f64
}

#[test]
fn the_same_thing_compared_with_itself_is_called_different_in_at_most_5_percent() {
    for design in [Pairing::Independent, Pairing::Paired] {
        let wrong = share_shown(design, |rng| (runs(rng, 1.0, 0.03), runs(rng, 1.0, 0.03)));
        assert!(wrong <= WRONG_MAX, "{design:?}: wrong in {wrong}");
        assert!(wrong > 0.0, "{design:?}: a test that is never wrong has no power either");
    }
}

#[test]
fn few_runs_and_ties_are_called_different_in_at_most_5_percent() {
    // The values are rounded to a tenth, a third and a half of the noise: many values, few, and two
    // or three.
    for (design, n, grain) in [Pairing::Independent, Pairing::Paired]
        .iter()
        .flat_map(|design| (3..=8).map(move |n| (*design, n)))
        .flat_map(|(design, n)| [0.0, 0.003, 0.01, 0.015].map(|grain| (design, n, grain)))
    {
        let side = |rng: &mut Rng| -> Vec<f64> {
            let round = |x: f64| if grain > 0.0 { (x / grain).round() * grain } else { x };
            (0..n).map(|_| round(1.0 + 0.03 * rng.normal())).collect()
        };
        let wrong = share_shown(design, |rng| (side(rng), side(rng)));
        assert!(wrong <= WRONG_MAX, "{design:?}, {n} runs, grain {grain}: wrong in {wrong}");
    }
}

#[test]
fn hosts_of_different_speed_are_called_different_in_at_most_5_percent() {
    // Three hosts with five rounds each, up to 100 times as slow and as noisy; a pair is a round on one host.
    for grain in [0.0, 0.02] {
        let wrong = share_shown(Pairing::Paired, |rng| {
            let speeds = [1.0, 7.0 * (1.0 + rng.unit()), 100.0 * (1.0 + rng.unit())];
            let run = |rng: &mut Rng, speed: f64| {
                let value = 1.0 + 0.03 * speed.sqrt() * rng.unit();
                speed * if grain > 0.0 { (value / grain).round() * grain } else { value }
            };
            let mut side = || -> Vec<f64> {
                speeds.iter().flat_map(|s| [*s; 5]).map(|s| run(rng, s)).collect()
            };
            (side(), side())
        });
        assert!(wrong <= WRONG_MAX, "grain {grain}: wrong in {wrong}");
        assert!(wrong > 0.0, "a test that is never wrong has no power either");
    }
}

#[test]
fn a_sweep_over_eight_hosts_compared_with_itself_is_called_different_in_at_most_5_percent() {
    // Each host has its own speed, noise and drift over its six rounds; in 20,000 sweeps a test of exactly 5 % has 1,000
    // plus or minus 31 wrong ones.
    let mut wrong = 0;
    for seed in 0..20_000 {
        let mut rng = Rng::new(0x0080_5700 + seed);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for _ in 0..8 {
            let speed = 10f64.powf(2.0 * rng.unit());
            let (noise, drift) = (0.01 + 0.1 * rng.unit(), 0.05 * rng.normal());
            for round in 0..6 {
                let mean = speed * (1.0 + drift * f64::from(round) / 6.0);
                a.push(mean * (noise * rng.normal()).exp());
                b.push(mean * (noise * rng.normal()).exp());
            }
        }
        let verdict = compare(&a, &b, Pairing::Paired, &Question::default()).unwrap().verdict;
        wrong += u32::from(matches!(verdict, Verdict::Better | Verdict::Worse));
    }
    assert!((1..=1_000).contains(&wrong), "{wrong} of 20,000");
}

/// Calls `visit` with every choice of `n` of `values`, and the rest.
fn each_split(values: &[f64], n: usize, mut visit: impl FnMut(&[f64], &[f64])) {
    for bits in 0u32..1 << values.len() {
        if bits.count_ones() as usize == n {
            let side = |chosen: u32| -> Vec<f64> {
                let taken = values.iter().enumerate().filter(|(i, _)| bits >> i & 1 == chosen);
                taken.map(|(_, value)| *value).collect()
            };
            visit(&side(0), &side(1));
        }
    }
}

#[test]
fn of_all_ways_to_split_tied_values_at_most_5_percent_show_a_difference() {
    // This is not a simulation: it covers every assignment of the same values to two sides of n.
    let tied = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0, 4.0, 4.0, 4.0, 4.0];
    for n in 3..=7 {
        let (mut shown, mut all) = (0u32, 0u32);
        each_split(&tied[..2 * n], n, |a, b| {
            let verdict =
                compare(a, b, Pairing::Independent, &Question::default()).unwrap().verdict;
            shown += u32::from(matches!(verdict, Verdict::Better | Verdict::Worse));
            all += 1;
        });
        assert!(f64::from(shown) <= 0.05 * f64::from(all), "{n} and {n}: {shown} of {all}");
    }
}

#[test]
fn of_all_ways_to_sign_tied_differences_at_most_5_percent_show_one() {
    // Five pairs with equal differences used to be called different in 2 of 32.
    for sizes in [
        &[1.0; 5][..],
        &[1.0; 6],
        &[1.0, 1.0, 2.0, 2.0, 2.0, 3.0],
        &[1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 3.0],
    ] {
        let shown = (0u32..1 << sizes.len()).filter(|signs| {
            let sign = |i: usize| if signs >> i & 1 == 1 { 1.0 } else { -1.0 };
            let sides = sizes.iter().enumerate().map(|(i, size)| (10.0, 10.0 + sign(i) * size));
            let (a, b): (Vec<f64>, Vec<f64>) = sides.unzip();
            // Differences, not logarithms, have the ties: zero rules a ratio out.
            let (a, b) = ([&a[..], &[0.0]].concat(), [&b[..], &[0.0]].concat());
            let verdict = compare(&a, &b, Pairing::Paired, &Question::default()).unwrap().verdict;
            matches!(verdict, Verdict::Better | Verdict::Worse)
        });
        let (shown, all) = (shown.count() as f64, 2f64.powi(sizes.len() as i32));
        assert!(shown <= 0.05 * all, "{sizes:?}: {shown} of {all}");
    }
}

#[test]
fn a_long_tail_as_real_run_times_have_it_does_not_make_more_wrong_verdicts() {
    let tailed = |rng: &mut Rng| -> Vec<f64> {
        (0..RUNS).map(|_| 1.0 + 0.02 * rng.normal().exp()).collect()
    };
    let wrong = share_shown(Pairing::Independent, |rng| (tailed(rng), tailed(rng)));
    assert!(wrong <= WRONG_MAX, "wrong in {wrong}");
}

#[test]
fn a_shift_of_5_percent_under_3_percent_noise_is_found_in_at_least_95_percent() {
    for design in [Pairing::Independent, Pairing::Paired] {
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
    let fooled = share_shown(Pairing::Independent, |rng| drifting(rng, &sequential));
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
    for design in [Pairing::Independent, Pairing::Paired] {
        let fooled = share_shown(design, interleaved);
        assert!(fooled <= WRONG_MAX, "interleaved, {design:?}: fooled in {fooled}");
    }
}
