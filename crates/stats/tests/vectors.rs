//! Compares every formula with scipy's, to 1e-9: `vectors.json` was made once by `vectors.py`.

use serde_json::Value;
use slablab_stats::{
    Bootstrap, Estimate, Interval, Summary, hodges_lehmann, hodges_lehmann_paired, holm,
    mann_whitney, median_interval, quantile, wilcoxon,
};

const TOLERANCE: f64 = 1e-9;

fn vectors() -> Value {
    serde_json::from_str(include_str!("vectors.json")).expect("the generator writes JSON")
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

#[track_caller]
fn agree(what: &str, got: f64, want: &Value) {
    let want = want.as_f64().unwrap_or_else(|| panic!("{what}: no number in the vectors"));
    // The distance is absolute for values near 1, relative for larger ones.
    let distance = (got - want).abs() / want.abs().max(1.0);
    assert!(distance <= TOLERANCE, "{what}: {got}, scipy {want}");
}

#[track_caller]
fn agree_interval(what: &str, got: Interval, want: &Value) {
    agree(&format!("{what}, low"), got.low, &want[0]);
    agree(&format!("{what}, high"), got.high, &want[1]);
}

#[track_caller]
fn agree_estimate(what: &str, got: Estimate, want: &Value) {
    agree(what, got.value, &want[0]);
    agree(&format!("{what}, low"), got.interval.low, &want[1]);
    agree(&format!("{what}, high"), got.interval.high, &want[2]);
}

/// Calls `check` with the name, the two samples and the vectors of each case.
fn each_case(mut check: impl FnMut(&str, &[f64], &[f64], &Value)) {
    let vectors = vectors();
    let cases = vectors["cases"].as_array().unwrap();
    assert!(cases.len() >= 16);
    for case in cases {
        let (a, b) = (numbers(&case["a"]), numbers(&case["b"]));
        check(case["name"].as_str().unwrap(), &a, &b, case);
    }
}

#[test]
fn summaries() {
    each_case(|name, a, _, case| {
        let (got, want) = (Summary::of(a).unwrap(), &case["one"]);
        agree(&format!("{name}: mean"), got.mean, &want["mean"]);
        agree(&format!("{name}: stddev"), got.stddev, &want["stddev"]);
        agree(&format!("{name}: median"), got.median, &want["median"]);
        agree(&format!("{name}: q1"), got.q1, &want["q1"]);
        agree(&format!("{name}: q3"), got.q3, &want["q3"]);
        agree(&format!("{name}: mad"), got.mad, &want["mad"]);
        agree(&format!("{name}: q07"), quantile(a, 0.07).unwrap(), &want["q07"]);
    });
}

#[test]
fn bootstrap_intervals() {
    each_case(|name, a, _, case| {
        let bootstrap = Bootstrap { resamples: 500, seed: 3, confidence: 0.95 };
        let got = median_interval(a, &bootstrap).unwrap();
        agree_interval(&format!("{name}: median"), got, &case["one"]["percentile_median"]);
    });
}

#[test]
fn independent_tests() {
    each_case(|name, a, b, case| {
        let want = &case["two"]["mann_whitney"];
        let got = mann_whitney(a, b).unwrap();
        assert_eq!(got.exact, want["exact"].as_bool().unwrap(), "{name}");
        agree(&format!("{name}: U"), got.statistic, &want["u"]);
        agree(&format!("{name}: p of U"), got.p, &want["p"]);
        let got = hodges_lehmann(a, b, 0.95).unwrap();
        agree_estimate(&format!("{name}: shift"), got, &case["two"]["shift"]);
    });
}

#[test]
fn paired_tests() {
    let mut seen = 0;
    each_case(|name, a, b, case| {
        let want = &case["two"]["paired"];
        if want.is_null() {
            return;
        }
        let got = wilcoxon(a, b).unwrap();
        assert_eq!(got.exact, want["exact"].as_bool().unwrap(), "{name}");
        agree(&format!("{name}: p of W"), got.p, &want["wilcoxon_p"]);
        let got = hodges_lehmann_paired(a, b, 0.95).unwrap();
        agree_estimate(&format!("{name}: paired shift"), got, &want["shift"]);
        seen += 1;
    });
    assert!(seen >= 9, "{seen} cases with pairs");
}

#[test]
fn holms_correction() {
    let want = &vectors()["holm"];
    for (got, want) in holm(&numbers(&want["p"])).into_iter().zip(numbers(&want["adjusted"])) {
        agree("Holm", got, &want.into());
    }
}
