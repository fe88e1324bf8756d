//! `lab compare` of what other programs wrote.

use std::fs;
use std::path::Path;

use slablab_tests::{refusal, stdout};

fn file(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn json(words: &[&str]) -> serde_json::Value {
    serde_json::from_str(&stdout(&[&["lab", "compare"], words, &["--format", "json"]].concat()))
        .unwrap()
}

#[test]
fn a_column_of_variants_compares_each_metric_with_itself() {
    let folder = tempfile::tempdir().unwrap();
    let rows = |variant: &str, elapsed: f64, user: f64| -> String {
        (0..6)
            .map(|at| {
                format!(
                    "{variant},{},{:.2},{:.1}\n",
                    at + 1,
                    elapsed + f64::from(at) * 0.03,
                    user + f64::from(at) * 0.1
                )
            })
            .collect()
    };
    let text = format!(
        "variant,run,elapsed_s,user_s\n{}{}",
        rows("old", 34.6, 175.0),
        rows("new", 26.4, 13.4)
    );
    let path = file(folder.path(), "long.csv", &text);
    for words in [&["--csv", &path][..], &[&path]] {
        let answer = json(words);
        let metrics: Vec<_> = (0..2)
            .map(|at| {
                let of = &answer["comparisons"][at];
                (
                    of["metric"].clone(),
                    of["baseline"].clone(),
                    of["rows"][0]["candidate"].clone(),
                    of["rows"][0]["answer"].clone(),
                )
            })
            .collect();
        let expected = ["elapsed_s", "user_s"]
            .map(|metric| (metric.into(), "old".into(), "new".into(), "faster".into()));
        assert_eq!(metrics, expected, "{answer}");
        assert_eq!(answer["comparisons"].as_array().unwrap().len(), 2, "nothing else is compared");
    }
}

#[test]
fn a_column_that_counts_makes_pairs_and_is_compared_with_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..8)
        .map(|at| {
            format!(
                "{},{:.3},{:.3}\n",
                at + 1,
                9.2 + f64::from(at) * 0.01,
                8.5 + f64::from(at) * 0.01
            )
        })
        .collect();
    let path = file(folder.path(), "numbered.csv", &format!("run,before,after\n{rows}"));
    for words in [&["--csv", &path][..], &[&path]] {
        let answer = json(words);
        let of = &answer["comparisons"][0];
        assert_eq!(
            (&of["baseline"], &of["rows"][0]["candidate"]),
            (&"before".into(), &"after".into())
        );
        assert_eq!(of["rows"][0]["comparison"]["design"], "paired");
    }
    let metrics = file(
        folder.path(),
        "metrics.csv",
        "run,elapsed_s,user_s\n1,34.6,175\n2,34.7,176\n3,34.8,177\n",
    );
    assert!(refusal(&["lab", "compare", "--csv", &metrics]).contains("two metrics of one variant"));
    assert!(refusal(&["lab", "compare", &metrics]).contains("of one variant"));
}

#[test]
fn outputs_of_two_runs_are_compared_after_with_before() {
    let folder = tempfile::tempdir().unwrap();
    let times = |first: f64| -> String {
        let time = |at: i32| {
            format!(
                "Running in process mode with 10 groups\nEach sender will pass 100 messages\nTime: {:.3}\n",
                first + f64::from(at) * 0.02
            )
        };
        (0..8).map(time).collect()
    };
    let before = file(folder.path(), "before.txt", &times(9.2));
    let after = file(folder.path(), "after.txt", &times(8.4));
    let answer = json(&[&before, &after]);
    let row = &answer["comparisons"][0]["rows"][0];
    assert_eq!(
        (&row["answer"], &answer["comparisons"][0]["unit"]),
        (&"faster".into(), &"s".into()),
        "{answer}"
    );
    assert!(row["candidate"].as_str().unwrap().ends_with("after.txt"));
    let other = file(folder.path(), "plain.txt", "8.4\n8.5\n8.6\n");
    assert!(refusal(&["lab", "compare", &before, &other]).contains("no metric in common"));
}

#[test]
fn means_with_deviations_are_shown_and_not_tested() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "means.md", "| old | 2.0 ± 0.1 |\n| new | 1.0 ± 0.2 |\n");
    let said = stdout(&["lab", "compare", &path]).replace('\n', " ");
    assert!(
        said.contains("(-50.0 %)") && said.contains("cannot be told without the single values"),
        "{said}"
    );
    assert_eq!(json(&[&path])["comparisons"].as_array().unwrap().len(), 0);
    let nothing = file(folder.path(), "letter", "Dear A.\nthe test is fast now.\n");
    assert!(
        refusal(&["lab", "compare", &nothing]).contains("what is read: the output of hackbench")
    );
}

/// A regression of a throughput passed a gate, as what was said of files without columns was not looked at.
#[test]
fn what_is_said_of_plain_files_counts_or_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let values = |first: f64, n: usize| -> String {
        (0..n).map(|at| format!("{:.2}\n", first + at as f64 * 0.01)).collect()
    };
    let fast = file(folder.path(), "fast.txt", &values(900.0, 10));
    let slow = file(folder.path(), "slow.txt", &values(700.0, 10));
    let few = file(folder.path(), "few.txt", &values(700.0, 9));
    let status = |words: &[&str]| {
        let words = [&["lab", "compare"], words, &["--fail-on-regression"]].concat();
        slablab_tests::run(&words).status.code()
    };
    assert_eq!(status(&[&fast, &slow]), Some(0), "less is better of what has no name");
    assert_eq!(status(&[&fast, &slow, "--more-is-better"]), Some(1));
    assert_eq!(status(&[&slow, &fast, "--more-is-better"]), Some(0));
    let answer = json(&[&fast, &slow, "--metric", "throughput", "--unit", "MB/s", "--paired"]);
    let of = &answer["comparisons"][0];
    assert_eq!((&of["metric"], &of["unit"]), (&"throughput".into(), &"MB/s".into()));
    assert_eq!(of["rows"][0]["comparison"]["design"], "paired");
    let long = "variant,elapsed_s,user_s\nold,3.5,1.5\nold,3.6,1.6\nnew,3.1,1.1\nnew,3.2,1.2\n";
    let long = file(folder.path(), "long.csv", long);
    for words in [&[long.as_str()][..], &["--csv", &long]] {
        let answer = json(&[words, &["--metric", "user_s"]].concat());
        assert_eq!(answer["comparisons"].as_array().unwrap().len(), 1, "{answer}");
        assert_eq!(answer["comparisons"][0]["metric"], "user_s");
    }
    let means = file(folder.path(), "means.md", "| old | 2.0 ± 0.1 |\n| new | 1.0 ± 0.2 |\n");
    let wide = file(folder.path(), "wide.csv", "a,b,c\n1.5,2.5,9.5\n1.4,2.4,9.4\n1.3,2.6,9.6\n");
    let columns = json(&[&wide, "--columns", "a,c"]);
    assert_eq!(columns["comparisons"][0]["rows"][0]["candidate"], "c", "{columns}");
    for (words, part) in [
        (&[fast.as_str(), &few, "--paired"][..], "10 values of"),
        (&[&fast, &slow, "--columns", "a,b"], "--columns are of one table"),
        (&[&long, "--metric", "cycles"], "they have: elapsed_s, user_s"),
        (&[&long, "--unit", "ms"], "is in s by its file"),
        (&[&means, "--paired"], "without the single values"),
        (&[&means, "--fail-on-regression"], "nothing could be tested"),
    ] {
        let words = [&["lab", "compare"], words].concat();
        let output = slablab_tests::run(&words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(part), "{words:?}: {said}");
    }
}
