//! The page of SQL (`traces/SQL.md`) on DuckDB, against slablab's own numbers: on single files and on Hive partitions.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use slablab_tests::{python_with_duckdb, refusal, root, stdout};

/// Runs the SQL of standard input, a JSON list of [name, statements], and prints the rows of each last statement.
const RUNNER: &str = "
import duckdb, json, sys
con = duckdb.connect()
con.execute('SET enable_progress_bar = false')
found = {}
for name, sql in json.load(sys.stdin):
    rows = con.execute(sql)
    found[name] = [list(row) for row in rows.fetchall()] if rows.description else []
print(json.dumps(found, default=str))
";

/// Returns the blocks of the page: those of questions by their number, others by what stands behind `sql`.
fn page() -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join("traces/SQL.md")).unwrap();
    let mut blocks = Vec::new();
    let mut heading = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("## ") {
            heading = title.split('.').next().unwrap().to_owned();
        }
        if let Some(kind) = line.strip_prefix("```sql") {
            let sql: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            let name = if kind.is_empty() { heading.clone() } else { kind.trim().to_owned() };
            blocks.push((name, sql.join("\n")));
        }
    }
    blocks
}

/// Runs the page in `folder` for the traces of `pattern`, and further statements behind it.
fn answers(folder: &Path, pattern: &str, further: &[(&str, &str)]) -> Option<Value> {
    let mut python = python_with_duckdb()?;
    let place = |text: String| {
        text.replace("traces/*.parquet", pattern)
            .replace("'tables/", &format!("'{}/", folder.join("tables").display()))
            .replace("'part.parquet'", &format!("'{}'", folder.join("part.parquet").display()))
    };
    let blocks = page().into_iter().map(|(name, sql)| (name, place(sql)));
    let further = further.iter().map(|(name, sql)| ((*name).to_owned(), place((*sql).to_owned())));
    let blocks: Vec<(String, String)> = blocks.chain(further).collect();
    let input = folder.join("input.json");
    fs::write(&input, serde_json::to_string(&blocks).unwrap()).unwrap();
    let out = python
        .args(["-c", RUNNER])
        .stdin(fs::File::open(input).unwrap())
        .current_dir(root())
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    Some(serde_json::from_slice(&out.stdout).unwrap())
}

fn json(words: &[&str]) -> Value {
    serde_json::from_str(&stdout(&[words, &["--format", "json"]].concat())).unwrap()
}

/// What slablab says of each trace.
struct Own {
    file: String,
    host: String,
    date: String,
    info: Value,
    stat: Value,
    replay: Value,
}

impl Own {
    fn of(path: &Path, host: &str, date: &str) -> Self {
        let file = path.to_str().unwrap();
        Self {
            file: file.to_owned(),
            host: host.to_owned(),
            date: date.to_owned(),
            info: json(&["info", file]),
            stat: json(&["stat", file]),
            replay: json(&["replay", file, "--allocators", "slub", "--cold", "-n", "100000"]),
        }
    }
}

/// Adds up numbers by name.
fn sums<K: Ord>(pairs: impl IntoIterator<Item = (K, i64)>) -> BTreeMap<K, i64> {
    let mut sums = BTreeMap::new();
    for (name, number) in pairs {
        *sums.entry(name).or_default() += number;
    }
    sums
}

/// Returns two columns of an answer as names and numbers.
fn columns(answer: &Value, name: usize, number: usize) -> BTreeMap<String, i64> {
    let rows = answer.as_array().unwrap().iter();
    let word = |row: &Value| row[name].as_str().unwrap_or("(call site not recorded)").to_owned();
    rows.map(|row| (word(row), row[number].as_i64().unwrap())).collect()
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// Compares the answers of DuckDB with slablab's own.
fn check(found: &Value, traces: &[Own]) {
    let kinds = traces.iter().flat_map(|own| {
        let kinds = own.info["events_by_kind"].as_array().unwrap().iter();
        kinds.map(|kind| (own.host.clone() + kind[0].as_str().unwrap(), number(&kind[1])))
    });
    let mut kinds = sums(kinds);
    kinds.retain(|_, events| *events > 0);
    let rows = found["1"].as_array().unwrap().iter();
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    assert_eq!(sums(rows.map(|r| (word(&r[0]) + &word(&r[1]), number(&r[2])))), kinds);

    let of_sites = |of: fn(&Value) -> i64| {
        let sites = traces.iter().flat_map(|own| own.stat["sites"].as_array().unwrap());
        sums(sites.map(|site| (site["callsite"].as_str().unwrap().to_owned(), of(site))))
    };
    assert_eq!(columns(&found["2"], 0, 1), of_sites(|site| number(&site["hit"])));
    assert_eq!(columns(&found["2"], 0, 2), of_sites(|site| number(&site["bytes_alloc"])));
    let waste = |site: &Value| number(&site["bytes_alloc"]) - number(&site["bytes_req"]);
    assert_eq!(columns(&found["3"], 0, 1), of_sites(waste));

    let of_caches = |of: fn(&Value) -> i64| {
        let caches = traces.iter().flat_map(|own| own.info["caches"].as_array().unwrap());
        sums(caches.map(|cache| (cache["name"].as_str().unwrap().to_owned(), of(cache))))
    };
    assert_eq!(columns(&found["4"], 0, 1), of_caches(|cache| number(&cache["allocs"])));
    assert_eq!(columns(&found["4"], 0, 2), of_caches(|cache| number(&cache["frees"])));

    let lives = found["5"].as_array().unwrap().iter().map(|row| number(&row[1])).sum::<i64>();
    let ended = |own: &Own| {
        let sites = own.replay["sites"].as_array().unwrap().iter();
        sites.map(|site| number(&site["lifetime"]["ended"])).sum::<i64>()
    };
    assert_eq!(lives, traces.iter().map(ended).sum::<i64>());

    let level =
        |own: &Own, moment: &str| number(&own.replay["allocators"][0]["requested_bytes"][moment]);
    let peaks = traces.iter().map(|own| (own.file.clone(), level(own, "peak")));
    assert_eq!(columns(&found["6"], 0, 1), peaks.collect());

    let cross = traces.iter().flat_map(|own| own.replay["sites"].as_array().unwrap());
    let cross =
        cross.map(|s| (s["site"].as_str().unwrap().to_owned(), number(&s["frees_cross_cpu"])));
    let mut cross = sums(cross);
    cross.retain(|_, frees| *frees > 0);
    assert_eq!(columns(&found["7"], 0, 1), cross);

    let total = |own: &Own, key: &str| number(&own.stat["totals"][key]);
    let wasted = |own: &Own| total(own, "bytes_allocated") - total(own, "bytes_requested");
    let hosts = sums(traces.iter().map(|own| (own.host.clone(), wasted(own))));
    assert_eq!(columns(&found["8"], 0, 1), hosts);

    let ends = sums(traces.iter().map(|own| (own.date.clone(), level(own, "end"))));
    assert_eq!(columns(&found["9"], 0, 1), ends);

    let trust = found["10"].as_array().unwrap();
    assert_eq!(trust.len(), traces.len());
    for (row, own) in trust.iter().zip(traces) {
        assert_eq!(row[0].as_str(), Some(own.file.as_str()));
        assert_eq!(number(&row[3]), number(&own.info["events"]));
        assert_eq!(row[7].as_f64(), own.info["unplaced_share"].as_f64());
    }
}

/// Copies a sample trace into a Hive partition.
fn partition(fleet: &Path, host: &str, date: &str, sample: &str) -> PathBuf {
    let folder = fleet.join(format!("host={host}/date={date}"));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("hackbench.parquet");
    fs::copy(root().join("traces").join(sample), &path).unwrap();
    path
}

#[test]
fn ten_questions_are_answered_on_single_files_and_on_a_hive_folder() {
    let folder = tempfile::tempdir().unwrap();
    let export = |pattern: &str| {
        let tables = folder.path().join("tables");
        let _ = stdout(&["export", pattern, "--tables", tables.to_str().unwrap()]);
    };
    // Only the last row groups hold the last moment of a trace.
    let pruned = "EXPLAIN ANALYZE SELECT count(*), sum(bytes_req) FROM read_parquet('traces/hackbench.parquet') \
                  WHERE time_ns >= (SELECT 0) + LAST";
    let last = {
        let trace =
            slablab_trace::TraceReader::open(root().join("traces/hackbench.parquet")).unwrap();
        trace.meta().time_last_ns
    };
    let pruned = pruned.replace("(SELECT 0) + LAST", &last.to_string());
    export("traces/*.parquet");
    let Some(found) = answers(folder.path(), "traces/*.parquet", &[("pruned", &pruned)]) else {
        eprintln!("not run: DuckDB cannot be installed from PyPI");
        return;
    };
    let single: Vec<Own> = ["boot", "build", "hackbench"]
        .map(|name| {
            let path = PathBuf::from(format!("traces/{name}.parquet"));
            let meta = json(&["info", path.to_str().unwrap()]);
            let rows = found["10"].as_array().unwrap();
            let host = rows.iter().find(|row| row[0] == path.to_str().unwrap()).unwrap()[1].clone();
            let recorded = meta["hostname"].as_str().unwrap();
            assert!(recorded.is_empty() || host == recorded, "{host} {recorded}");
            Own::of(&path, host.as_str().unwrap(), "")
        })
        .into();
    // The day is the recorder's, by DuckDB's own calendar.
    let days = found["9"].as_array().unwrap();
    let single: Vec<Own> = single
        .into_iter()
        .map(|own| {
            let ns = own.info["start_unix_ns"].as_u64();
            let date = ns.map_or_else(String::new, |ns| utc_day(ns / 1_000_000_000));
            assert!(days.iter().any(|row| row[0] == date.as_str()), "{date}: {days:?}");
            Own { date, ..own }
        })
        .collect();
    check(&found, &single);
    let plan = found["pruned"][0][1].as_str().unwrap();
    let groups = plan.split("Row Groups Scanned:").nth(1).unwrap_or_else(|| panic!("{plan}"));
    let words: Vec<&str> = groups.split_whitespace().take(3).collect();
    let [scanned, _, all] = words[..] else { panic!("{plan}") };
    assert!(scanned == "1" && all.parse::<u32>().is_ok_and(|all| all > 1), "{plan}");
    // What a query left is replayed.
    let part = folder.path().join("part.parquet");
    let replay = json(&["replay", part.to_str().unwrap(), "--allocators", "slub,slab"]);
    assert!(number(&replay["trace"]["events"]) > 0, "{replay}");

    let fleet = folder.path().join("fleet");
    let own: Vec<Own> = [
        ("a", "2026-11-21", "boot.parquet"),
        ("a", "2026-11-22", "hackbench.parquet"),
        ("b", "2026-11-22", "build.parquet"),
    ]
    .map(|(host, date, sample)| Own::of(&partition(&fleet, host, date, sample), host, date))
    .into();
    let pattern = format!("{}/host=*/date=*/*.parquet", fleet.display());
    export(&pattern);
    let found = answers(folder.path(), &pattern, &[]).expect("it was there before");
    check(&found, &own);
}

/// Returns the date of a moment as `date -u` has it.
fn utc_day(unix_seconds: u64) -> String {
    let out = std::process::Command::new("date")
        .args(["-u", "+%F", "-d", &format!("@{unix_seconds}")])
        .output()
        .unwrap();
    String::from_utf8(out.stdout).unwrap().trim().to_owned()
}

#[test]
fn tables_of_what_is_no_trace_are_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let tables = folder.path().join("tables");
    let none = |traces: &str| {
        let text = refusal(&["export", traces, "--tables", tables.to_str().unwrap()]);
        assert!(!tables.exists(), "nothing is half-written");
        text
    };
    let empty = folder.path().join("empty.parquet");
    fs::write(&empty, "").unwrap();
    assert!(none(empty.to_str().unwrap()).contains("empty.parquet"));
    assert!(none(folder.path().join("none*").to_str().unwrap()).contains("no trace is there"));
    assert!(none("/dev/null").contains("/dev/null"));
}
