//! Values that no experiment should give: ties, constants, huge, tiny, denormal, one or two of them. None may
//! panic, and effect, interval and verdict must have one direction.

use proptest::prelude::*;
use slablab_stats::{
    Comparison, Direction, Pairing, Question, Summary, Verdict, compare, hodges_lehmann,
    mann_whitney, outliers, wilcoxon,
};

/// One value of a kind that breaks formulas.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |x| x.is_finite()),
        proptest::num::f64::NORMAL,
        proptest::num::f64::SUBNORMAL,
        (0..4i32).prop_map(f64::from),
        (1..5u32).prop_map(|x| f64::from(x) * 1e200),
        (1..5u32).prop_map(|x| f64::from(x) * 1e-100),
        Just(f64::MAX),
        Just(f64::MIN_POSITIVE),
        Just(5e-324),
        Just(-0.0),
    ]
}

/// Values of one kind, so that some samples are all alike and some all above zero.
fn sample() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        prop::collection::vec(value(), 1..14),
        (value(), 1..14usize).prop_map(|(x, n)| vec![x; n]),
        prop::collection::vec((1..4u32).prop_map(f64::from), 1..14),
        prop::collection::vec(proptest::num::f64::POSITIVE | proptest::num::f64::NORMAL, 2..14),
    ]
}

/// Checks conditions that hold for any comparison.
fn check(comparison: &Comparison) {
    let (effect, no_change) = comparison.effect();
    assert!((0.0..=1.0).contains(&comparison.p), "{comparison:?}");
    assert!(
        effect.interval.low <= effect.value && effect.value <= effect.interval.high,
        "{comparison:?}"
    );
    let less = match (comparison.verdict, comparison.direction) {
        (Verdict::Better, Direction::LessIsBetter) | (Verdict::Worse, Direction::MoreIsBetter) => {
            true
        }
        (Verdict::Better | Verdict::Worse, _) => false,
        _ => return,
    };
    assert!(comparison.p < comparison.alpha, "{comparison:?}");
    assert_eq!(effect.value < no_change, less, "{comparison:?}");
    assert_eq!(effect.interval.high < no_change, less, "{comparison:?}");
    assert_eq!(effect.interval.low > no_change, !less, "{comparison:?}");
}

proptest! {
    #[test]
    fn ugly_values_never_panic_and_the_verdict_has_one_direction(a in sample(), b in sample(), more in any::<bool>()) {
        let direction = if more { Direction::MoreIsBetter } else { Direction::LessIsBetter };
        let question = Question { direction, ..Question::default() };
        if let Ok(comparison) = compare(&a, &b, Pairing::Independent, &question) {
            check(&comparison);
        }
        let pairs = a.len().min(b.len());
        if let Ok(comparison) = compare(&a[..pairs], &b[..pairs], Pairing::Paired, &question) {
            check(&comparison);
        }
        let _ = (mann_whitney(&a, &b), wilcoxon(&a[..pairs], &b[..pairs]), hodges_lehmann(&a, &b, 0.95));
        let _ = outliers(&a);
        let summary = Summary::of(&a).unwrap();
        prop_assert!(summary.min <= summary.median && summary.median <= summary.max, "{summary:?}");
        prop_assert!(summary.mean.is_finite() && !summary.q1.is_nan(), "{summary:?}");
    }

    #[test]
    fn without_ties_p_and_interval_say_the_same(
        a in prop::collection::vec(0.1..10.0f64, 4..12),
        b in prop::collection::vec(0.1..10.0f64, 4..12),
    ) {
        let comparison = compare(&a, &b, Pairing::Independent, &Question::default()).unwrap();
        let (effect, no_change) = comparison.effect();
        prop_assert_eq!(comparison.p < 0.05, !effect.interval.contains(no_change), "{:?}", comparison);
    }
}

#[test]
fn columns_near_1e200_and_1e_minus_100_have_the_spread_of_the_same_columns_near_1() {
    let a = [1.0, 2.0, 3.0, 4.0];
    let plain = Summary::of(&a).unwrap().stddev;
    for factor in [1e200, 1e-100, 1e300, 1e-310] {
        let times: Vec<f64> = a.iter().map(|x| x * factor).collect();
        let stddev = Summary::of(&times).unwrap().stddev;
        // Denormal numbers have few digits.
        assert!((stddev / factor - plain).abs() <= 1e-9 * plain, "{factor}: {stddev}");
    }
}
