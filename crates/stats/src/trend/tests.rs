//! How often series that do not grow are called growing, and growth is found.

use super::*;
use crate::Rng;

/// Days of a series at a minute.
const DAYS: f64 = 4.0;
const DAY: f64 = 86_400.0;

/// Returns a number between -1 and 1 that is near 0 more often than not.
fn noise(rng: &mut Rng) -> f64 {
    (0..4).map(|_| rng.unit() - 0.5).sum::<f64>() / 2.0
}

/// Makes a series with noise, a daily wave, steps and a dip, which rises by `rise` of its level a day.
fn series(rng: &mut Rng, rise: f64) -> Vec<(f64, f64)> {
    let (level, loud) = (1e6 * (1.0 + rng.unit() * 99.0), rng.unit() * 0.03);
    let (wave, phase) = (rng.unit() * 0.1, rng.unit() * std::f64::consts::TAU);
    let mut steps = Vec::new();
    if rise == 0.0 {
        for _ in 0..(rng.unit() * 3.0) as usize {
            steps.push((rng.unit() * DAYS * DAY, (rng.unit() - 0.5) * 0.3));
        }
    }
    let (dip, length) = (rng.unit() * DAYS * DAY, rng.unit() * 3_600.0 * 3.0);
    let depth = rng.unit() * 0.3;
    (0..(DAYS * 1_440.0) as usize)
        .map(|at| {
            let x = at as f64 * 60.0;
            let mut y = 1.0 + rise * x / DAY + loud * noise(rng);
            y += wave * (std::f64::consts::TAU * x / DAY + phase).sin();
            y += steps.iter().filter(|(when, _)| x > *when).map(|(_, high)| high).sum::<f64>();
            if (dip..dip + length).contains(&x) {
                y -= depth;
            }
            (x, level * y)
        })
        .collect()
}

#[test]
fn of_flat_series_few_are_called_rising_and_of_leaks_nearly_all() {
    let mut rng = Rng::new(7);
    let rises = |series: &[(f64, f64)]| trend(series, Some(DAY)).kind == TrendKind::Rises;
    let flat = (0..2_000).filter(|_| rises(&series(&mut rng, 0.0))).count();
    let leaks = (0..500).filter(|_| rises(&series(&mut rng, 0.01))).count();
    assert!(flat <= 100 && leaks >= 475, "{flat} of 2,000 flat series, {leaks} of 500 leaks");
}

/// Twelve moments twelve hours apart, of a cache that doubled, showed no growth: a wave of a day has one value there.
#[test]
fn a_rise_is_seen_in_moments_that_are_hours_apart() {
    let mut rng = Rng::new(11);
    for hours in [3.0, 6.0, 8.0, 12.0, 24.0] {
        for moments in [12, 16, 24, 40] {
            let mut rises = |times: f64| {
                let points: Vec<_> = (0..moments)
                    .map(|at| {
                        let part = f64::from(at) / f64::from(moments - 1);
                        let y = 1.0 + times * part + 0.02 * noise(&mut rng);
                        (f64::from(at) * hours * 3_600.0, 4e7 * y)
                    })
                    .collect();
                trend(&points, Some(DAY)).kind == TrendKind::Rises
            };
            let found = (0..100).filter(|_| rises(1.0)).count();
            let wrong = (0..1_000).filter(|_| rises(0.0)).count();
            assert!(found >= 95 && wrong <= 50, "{moments} x {hours} h: {found}, {wrong}");
        }
    }
}

/// Five moments were asked for, and of five that rise throughout none was said to grow.
#[test]
fn five_values_that_rise_throughout_are_a_rise_and_four_are_not() {
    let kind = |ys: &[f64]| {
        let points: Vec<_> = (0..).zip(ys).map(|(x, y)| (f64::from(x), *y)).collect();
        trend(&points, None).kind
    };
    assert_eq!(kind(&[1.0, 2.0, 3.0, 4.0, 5.0]), TrendKind::Rises);
    assert_eq!(kind(&[5.0, 4.0, 3.0, 2.0, 1.0]), TrendKind::Falls);
    assert_eq!(kind(&[1.0, 2.0, 3.0, 4.0]), TrendKind::None);
    assert_eq!(kind(&[1.0, 2.0, 3.0, 5.0, 4.0]), TrendKind::None);
    assert_eq!(kind(&[1.0, 2.0, 3.0, 4.0, 4.0]), TrendKind::None);
    // Of six orders of three values one has no inversion, and three have at most one.
    assert!((orders_with(0, 3) - 1.0 / 6.0).abs() < 1e-12);
    assert!((orders_with(1, 3) - 0.5).abs() < 1e-12);
}

#[test]
fn a_dip_does_not_hide_a_rise_and_few_points_show_none() {
    let points =
        |ys: &[f64]| ys.iter().enumerate().map(|(x, y)| (x as f64, *y)).collect::<Vec<_>>();
    let rise = trend(&points(&[1.0, 2.0, 3.0, 4.0, 3.9, 5.0, 6.0, 7.0]), None);
    assert_eq!(rise.kind, TrendKind::Rises);
    assert!(rise.low > 0.0 && (0.8..=1.0).contains(&rise.slope), "{rise:?}");
    assert_eq!(trend(&points(&[1.0, 2.0, 3.0]), None).kind, TrendKind::None);
    assert_eq!(trend(&points(&[5.0; 40]), None).kind, TrendKind::None);
    assert_eq!(trend(&[], None).kind, TrendKind::None);
    let step: Vec<f64> = (0..40).map(|x| if x < 20 { 1.0 } else { 2.0 }).collect();
    assert_eq!(trend(&points(&step), None).kind, TrendKind::None, "a step is no growth");
}

/// Values of a process that returns to its mean: `follows` is the correlation of neighbours.
fn following(rng: &mut Rng, n: usize, follows: f64) -> Vec<f64> {
    let mut y = rng.normal() / (1.0 - follows * follows).sqrt();
    let mut next = |_| {
        let now = y;
        y = follows * now + rng.normal();
        now
    };
    (0..n).map(&mut next).collect()
}

/// Memory that climbs and is taken back, about `teeth` times: lengths and heights differ.
fn sawtooth(rng: &mut Rng, n: usize, teeth: f64) -> Vec<f64> {
    let about = |rng: &mut Rng| 0.7 + 0.6 * rng.unit();
    let (mut at, mut height, noise) = (rng.unit(), about(rng), rng.unit() * 0.05);
    let mut step = teeth / n as f64 * about(rng);
    let mut next = |_| {
        at += step;
        if at >= 1.0 {
            (at, height, step) = (at - 1.0, about(rng), teeth / n as f64 * about(rng));
        }
        at * height + noise * rng.normal()
    };
    (0..n).map(&mut next).collect()
}

/// A wave of a day in one of four forms, whose days may differ.
fn daily_wave(rng: &mut Rng, days: f64, every: f64) -> Vec<f64> {
    let (phase, noise, form) = (rng.unit(), rng.unit() * 0.1, rng.below(4));
    let differs = if rng.below(2) == 0 { 0.0 } else { 0.3 };
    let heights: Vec<f64> = (0..8).map(|_| 1.0 + differs * (2.0 * rng.unit() - 1.0)).collect();
    let mut value = |at: usize| {
        let day = at as f64 * every / DAY + phase;
        let part = day.fract();
        let y = match form {
            0 => (part * std::f64::consts::TAU).sin(),
            1 if part < 0.4 => 2.0 * (part / 0.4 * std::f64::consts::PI).sin(),
            2 if part < 0.33 => 2.0,
            3 => 2.0 * part,
            _ => 0.0,
        };
        20.0 + y * heights[day as usize] + noise * rng.normal()
    };
    (0..(days * DAY / every) as usize).map(&mut value).collect()
}

/// Returns how many of 200 series that `make` gives, whose values are `every` seconds apart, rise.
fn rising(seed: u64, every: f64, mut make: impl FnMut(&mut Rng) -> Vec<f64>) -> usize {
    let mut rng = Rng::new(seed);
    let mut rises = |_: &usize| {
        let points: Vec<_> =
            (0..).zip(make(&mut rng)).map(|(at, y)| (f64::from(at) * every, y)).collect();
        trend(&points, Some(DAY)).kind == TrendKind::Rises
    };
    (0..200).filter(&mut rises).count()
}

/// Half of such series were said to grow, with an interval as if each value were independent of that before it.
#[test]
fn what_follows_its_neighbours_or_is_taken_back_or_has_a_daily_wave_does_not_grow() {
    for n in [8, 10, 12, 16, 24, 30, 60] {
        for follows in [0.0, 0.5, 0.8] {
            let rises = rising(3, 60.0, |rng| following(rng, n, follows));
            assert!(rises <= 12, "{rises} of 200 series of {n} that follow by {follows}");
        }
        for teeth in [1.3, 1.7, 2.2, 3.0, 5.0] {
            let rises = rising(5, 60.0, |rng| sawtooth(rng, n, teeth));
            assert!(rises <= 12, "{rises} of 200 series of {n} with {teeth} teeth");
        }
    }
    for days in [1.0, 2.0, 2.6, 3.0] {
        let n = (days * 1_440.0) as usize;
        for follows in [0.99, 0.995, 0.998] {
            let rises = rising(7, 60.0, |rng| following(rng, n, follows));
            assert!(rises <= 10, "{rises} of 200 of {days} days that follow by {follows}");
        }
        for teeth in [1.7, 3.0, 10.0, 20.0, 30.0] {
            let rises = rising(9, 60.0, |rng| sawtooth(rng, n, teeth));
            assert!(rises <= 10, "{rises} of 200 of {days} days with {teeth} teeth");
        }
    }
    for days in [1.0, 1.3, 1.6, 2.0, 2.2, 2.4, 2.6, 3.0, 3.5] {
        for every in [60.0, 1_800.0, 3_600.0] {
            let rises = rising(11, every, |rng| daily_wave(rng, days, every));
            assert!(rises <= 10, "{rises} of 200 waves of {days} days at {every} s");
        }
    }
}

#[test]
fn steady_growth_is_found_in_two_days_and_over_a_wave_in_three() {
    for (loud, every) in [(0.002, 60.0), (0.01, 60.0), (0.005, 600.0)] {
        let n = (2.0 * DAY / every) as usize;
        let value = |at: usize| 1.0 + 0.01 * at as f64 * every / DAY;
        let rises =
            rising(13, every, |rng| (0..n).map(|at| value(at) + loud * rng.normal()).collect());
        assert!(rises >= 190, "{rises} of 200 with noise of {loud} at {every} s");
    }
    for days in [3.0, 4.0] {
        let rises = rising(15, 60.0, |rng| {
            let wave = daily_wave(rng, days, 60.0);
            let grown = |at: usize| 0.05 * at as f64 / 1_440.0;
            (0..).zip(wave).map(|(at, y)| 1.0 + grown(at) + 0.05 * (y - 20.0)).collect()
        });
        assert!(rises >= 180, "{rises} of 200 over waves of {days} days");
    }
}

/// Over two days a wave, and what rises over it, cannot be told apart.
#[test]
fn a_rise_over_a_wave_of_two_days_may_be_one_and_is_not_told_yet() {
    let points: Vec<_> = (0..2_880)
        .map(|at| {
            let day = f64::from(at) / 1_440.0;
            (day * DAY, 1.0 + 0.03 * day + 0.05 * (day * std::f64::consts::TAU).cos())
        })
        .collect();
    assert_eq!(trend(&points, Some(DAY)).kind, TrendKind::MayRise);
    let longer: Vec<_> = (0..4_320)
        .map(|at| {
            let day = f64::from(at) / 1_440.0;
            (day * DAY, 1.0 + 0.03 * day + 0.05 * (day * std::f64::consts::TAU).cos())
        })
        .collect();
    let found = trend(&longer, Some(DAY));
    assert_eq!(found.kind, TrendKind::Rises);
    assert!(found.low * DAY <= 0.03 && found.high * DAY >= 0.03, "{found:?}");
}

/// The true slope lay in fewer than half of the intervals of series whose values follow their neighbours.
#[test]
fn the_interval_has_the_slope_where_values_follow_their_neighbours() {
    let mut rng = Rng::new(17);
    for (n, follows) in [(12, 0.5), (24, 0.8), (48, 0.8), (2_880, 0.99)] {
        let mut has_it = |_: &usize| {
            let ys = following(&mut rng, n, follows);
            let points: Vec<_> = (0..).zip(ys).map(|(x, y)| (f64::from(x), y)).collect();
            let found = trend(&points, None);
            found.low <= 0.0 && found.high >= 0.0
        };
        let held = (0..200).filter(&mut has_it).count();
        assert!(held >= 164, "{held} of 200 intervals of {n} that follow by {follows}");
    }
}
