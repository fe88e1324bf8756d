//! Every formula against scipy, to 1e-9: `vectors.json` was made once by `vectors.py`.

use serde_json::Value;
use slablab_stats::{
    Block, Bootstrap, Estimate, Interval, Summary, hodges_lehmann, hodges_lehmann_paired, holm,
    mann_whitney, mean, median_interval, paired_t, quantile, ratio_of_medians, van_elteren, welch,
    wilcoxon,
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
    // Absolute for what lies about 1, relative for what is larger.
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
fn each_case(check: impl Fn(&str, &[f64], &[f64], &Value)) {
    let vectors = vectors();
    let cases = vectors["cases"].as_array().unwrap();
    assert!(cases.len() >= 7);
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
    each_case(|name, a, b, case| {
        let with = |resamples, seed| Bootstrap { resamples, seed, confidence: 0.95 };
        let got = median_interval(a, &with(500, 3)).unwrap();
        agree_interval(&format!("{name}: median"), got, &case["one"]["percentile_median"]);
        let got = with(500, 4).bca(a, |s| mean(s)).unwrap();
        agree_interval(&format!("{name}: BCa of the mean"), got, &case["one"]["bca_mean"]);
        let got = with(400, 8).bca_two(a, b, |a, b| mean(b) - mean(a)).unwrap();
        let want = &case["two"]["bca_difference_of_means"];
        agree_interval(&format!("{name}: BCa of the difference"), got, want);
        if a.iter().chain(b).all(|x| *x > 0.0) {
            let got = ratio_of_medians(a, b, &with(400, 7)).unwrap().interval;
            let want = &case["two"]["percentile_ratio_of_medians"];
            agree_interval(&format!("{name}: ratio of medians"), got, want);
        }
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
        let want = &case["two"]["welch"];
        let got = welch(a, b, 0.95).unwrap().unwrap();
        agree(&format!("{name}: t"), got.t, &want["t"]);
        agree(&format!("{name}: df"), got.df, &want["df"]);
        agree(&format!("{name}: p of t"), got.p, &want["p"]);
        agree(&format!("{name}: t interval low"), got.interval.low, &want["low"]);
        agree(&format!("{name}: t interval high"), got.interval.high, &want["high"]);
        let got = hodges_lehmann(a, b, 0.95).unwrap();
        agree_estimate(&format!("{name}: shift"), got, &case["two"]["shift"]);
    });
}

#[test]
fn paired_tests() {
    let mut seen = 0;
    for case in vectors()["cases"].as_array().unwrap() {
        let want = &case["two"]["paired"];
        if want.is_null() {
            continue;
        }
        seen += 1;
        let name = case["name"].as_str().unwrap();
        let (a, b) = (numbers(&case["a"]), numbers(&case["b"]));
        let got = wilcoxon(&a, &b).unwrap();
        assert_eq!(got.exact, want["exact"].as_bool().unwrap(), "{name}");
        agree(&format!("{name}: p of W"), got.p, &want["wilcoxon_p"]);
        let got = paired_t(&a, &b, 0.95).unwrap().unwrap();
        agree(&format!("{name}: paired t"), got.t, &want["t"]);
        agree(&format!("{name}: p of paired t"), got.p, &want["p"]);
        agree(&format!("{name}: paired t low"), got.interval.low, &want["low"]);
        let got = hodges_lehmann_paired(&a, &b, 0.95).unwrap();
        agree_estimate(&format!("{name}: paired shift"), got, &want["shift"]);
    }
    assert!(seen >= 3, "{seen} cases with pairs");
}

#[test]
fn one_block_is_the_rank_sum_test() {
    let want = &vectors()["one_block"];
    let (a, b) = (numbers(&want["a"]), numbers(&want["b"]));
    let got = van_elteren(&[Block { baseline: &a, candidate: &b }]).unwrap();
    agree("van Elteren over one block", got.p, &want["p"]);
}

#[test]
fn holms_correction() {
    let want = &vectors()["holm"];
    for (got, want) in holm(&numbers(&want["p"])).into_iter().zip(numbers(&want["adjusted"])) {
        agree("Holm", got, &want.into());
    }
}
