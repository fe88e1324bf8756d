//! Each kind of output, as its program prints it.

use slablab_stats::Direction;

use super::*;

fn read(text: &str) -> Measured {
    of_text(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn values(measured: &Measured, variant: &str, metric: &str) -> Vec<f64> {
    let sample = measured.samples.iter().find(|s| s.variant == variant && s.metric == metric);
    match sample.map(|sample| &sample.values) {
        Some(Values::Each(values)) => values.clone(),
        other => panic!("{variant} {metric}: {other:?} in {measured:?}"),
    }
}

fn of_files(a: &str, b: &str) -> Sides {
    sides(&[("a".to_owned(), read(a)), ("b".to_owned(), read(b))]).unwrap()
}

#[test]
fn hackbench_prints_a_time_per_run() {
    let text = "Running in process mode with 10 groups using 40 file descriptors each (== 400 tasks)\nEach sender will pass \
                100 messages of 100 bytes\nTime: 8.460\nRunning in process mode with 10 groups\nTime: 8.663\n";
    assert_eq!(values(&read(text), "", "time per run"), [8.46, 8.663]);
    let sides = of_files(text, text);
    assert_eq!((sides.tested.len(), sides.tested[0].variants[1].name.as_str()), (1, "b"));
}

#[test]
fn perf_stat_prints_counters_and_times_and_with_r_means() {
    let run = " Performance counter stats for 'true':\n\n          1,234.50 msec task-clock     #    0.990 CPUs utilized\n     \
               3,456,789      cycles          #    2.801 GHz\n   <not supported>      LLC-loads\n\n       1.246913578 seconds \
               time elapsed\n\n       0.900000000 seconds user\n";
    let measured = read(&format!("{run}{run}"));
    assert_eq!(values(&measured, "", "cycles"), [3_456_789.0; 2]);
    assert_eq!(values(&measured, "", "task-clock"), [1234.5; 2]);
    assert_eq!(values(&measured, "", "time elapsed"), [1.246_913_578; 2]);
    let mean = " Performance counter stats for 'true' (10 runs):\n\n   3,456,789      cycles   # 2.8 GHz  ( +-  0.50% )\n\n   \
                8.4601 +- 0.0123 seconds time elapsed  ( +-  0.15% )\n";
    let sides = of_files(mean, mean);
    assert!(sides.tested.is_empty());
    let elapsed = sides.untested.iter().find(|side| side.metric == "time elapsed").unwrap();
    assert!((elapsed.variants[0].2 - 8.4601 * 0.0015).abs() < 1e-9, "{elapsed:?}");
}

#[test]
fn perf_bench_prints_times_and_rates() {
    let text = "# Running 'sched/pipe' benchmark:\n# Executed 1000000 pipe operations between two processes\n\n     Total time: \
                4.581 [sec]\n\n       4.581123 usecs/op\n         218,287 ops/sec\n";
    let measured = read(&format!("{text}{text}"));
    assert_eq!(values(&measured, "", "time per operation"), [4.581_123; 2]);
    assert_eq!(values(&measured, "", "operations"), [218_287.0; 2]);
    let rate = measured.samples.iter().find(|sample| sample.metric == "operations").unwrap();
    assert_eq!(rate.direction, Direction::MoreIsBetter);
}

#[test]
fn time_is_read_of_bash_of_posix_of_zsh_and_of_gnu() {
    assert_eq!(values(&read("real\t0m8.460s\nuser\t0m1.2s\nsys\t1m0.5s\n"), "", "sys"), [60.5]);
    assert_eq!(
        values(&read("real 8.46\nuser 1.20\nsys 0.10\nreal 8.50\n"), "", "real"),
        [8.46, 8.5]
    );
    let gnu = "8.46user 0.12system 0:08.60elapsed 99%CPU (0avgtext+0avgdata 1234maxresident)k\n0inputs+0outputs\n";
    let measured = read(gnu);
    assert_eq!(values(&measured, "", "elapsed"), [8.6]);
    assert_eq!(values(&measured, "", "largest memory"), [1234.0 * 1024.0]);
    let verbose = "\tUser time (seconds): 1.23\n\tElapsed (wall clock) time (h:mm:ss or m:ss): 1:02.50\n\tMaximum resident set \
                   size (kbytes): 4\n";
    assert_eq!(values(&read(verbose), "", "elapsed"), [62.5]);
    assert_eq!(
        values(&read("make  1.5s user 0.1s system 86% cpu 2.004 total\n"), "", "real"),
        [2.004]
    );
}

#[test]
fn hyperfine_has_every_time_in_its_json_and_a_mean_elsewhere() {
    let json = r#"{"results":[{"command":"old","mean":2.0,"stddev":0.1,"times":[1.9,2.1]},
                              {"command":"new","mean":1.0,"stddev":0.1,"times":[0.9,1.1],"exit_codes":[0,0]}]}"#;
    let one = sides(&[("file".to_owned(), read(json))]).unwrap();
    let names: Vec<_> = one.tested[0].variants.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["old", "new"]);
    let csv = "command,mean,stddev,median,user,system,min,max\nold,2.0,0.1,2.0,1,0,1.9,2.1\nnew,1.0,0.2,1,1,0,0.9,1.1\n";
    let text = "Benchmark 1: old\n  Time (mean ± σ):      2.000 s ±  0.100 s    [User: 1.0 s, System: 0.1 s]\n\
                Benchmark 2: new\n  Time (mean ± σ):      1.000 s ±  0.200 s\n";
    for of_means in [
        csv,
        text,
        "| old | 2.0 ± 0.1 |\n| new | 1.0 ± 0.2 |\n",
        "old 2.0 +- 0.1 s\nnew 1.0 +- 0.2 s\n",
    ] {
        let sides = sides(&[("file".to_owned(), read(of_means))]).unwrap();
        assert!(sides.tested.is_empty(), "{of_means}");
        assert_eq!(sides.untested[0].variants[1], ("new".to_owned(), 1.0, 0.2), "{of_means}");
    }
}

#[test]
fn a_table_with_variants_compares_each_metric_with_itself() {
    let text = "variant,run,elapsed_s,user_s\nold,1,34.69,175.0\nold,2,34.77,175.1\nnew,1,26.68,13.9\nnew,2,26.46,13.4\n";
    for text in [
        text.to_owned(),
        text.replace(',', "\t"),
        text.replace('.', "|").replace(',', ";").replace('|', ","),
    ] {
        let sides = sides(&[("file".to_owned(), read(&text))]).unwrap();
        let metrics: Vec<_> =
            sides.tested.iter().map(|side| (side.metric.as_str(), side.unit.as_str())).collect();
        assert_eq!(metrics, [("elapsed_s", "s"), ("user_s", "s")], "{text}");
        assert_eq!(sides.tested[1].variants[1].values, [13.9, 13.4]);
    }
    let of_points = "kernel,bench,time\na,pipe,1\na,pipe,2\na,fork,10\na,fork,11\nb,pipe,1\nb,pipe,2\nb,fork,9\nb,fork,9\n";
    let sides = sides(&[("file".to_owned(), read(of_points))]).unwrap();
    let metrics: Vec<_> = sides.tested.iter().map(|side| side.metric.as_str()).collect();
    assert_eq!(metrics, ["time at bench pipe", "time at bench fork"]);
}

#[test]
fn a_column_that_counts_is_no_variant_and_metrics_are_no_variants() {
    let numbered = read("run,before,after\n1,9.2,8.5\n2,9.1,8.4\n3,9.3,8.6\n");
    assert!(numbered.is_paired);
    let one = sides(&[("file".to_owned(), numbered)]).unwrap();
    let names: Vec<_> = one.tested[0].variants.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["before", "after"]);
    let metrics = read("elapsed_s,user_s\n1.5,9\n1.4,8\n");
    assert!(sides(&[("file".to_owned(), metrics.clone())]).unwrap_err().contains("one variant"));
    let two = sides(&[("a".to_owned(), metrics.clone()), ("b".to_owned(), metrics)]).unwrap();
    assert_eq!(two.tested.len(), 2);
    // Threads say what was measured.
    let threads = read("threads,old,new\n4,9.2,8.5\n4,9.1,8.4\n");
    assert_eq!(sides(&[("file".to_owned(), threads)]).unwrap().tested[0].variants.len(), 2);
}

#[test]
fn one_value_a_line_is_a_sample_and_a_count_is_none() {
    assert_eq!(values(&read("8.46\n8.66\n\n8.42\n"), "", "value"), [8.46, 8.66, 8.42]);
    assert!(of_text("1\n2\n3\n4\n").unwrap_err().contains("counts its lines"));
    for none in ["", "hello\n", "a b c\nd e f\n", "{\"results\": 3}", "x,y\n"] {
        assert!(of_text(none).is_err(), "{none}");
    }
}
