//! A plan run in shards: what one machine makes, however it was split; and everything that may not be merged in silence.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use slablab_tests::{refusal, run, slablab, stdout};

/// A sweep of 4 points x 2 variants x 2 rounds, all counts.
fn plan(folder: &Path, name: &str) -> PathBuf {
    let plan = folder.join(name);
    let words = ["lab", "plan", "lifo", "--set", "allocators=slab,slub", "--rounds", "2"];
    let place = ["--seed", "5", "-o", plan.to_str().unwrap()];
    let _ = stdout(&[&words[..], &place].concat());
    plan
}

fn shard(plan: &Path, shard: &str) -> Value {
    let words = ["lab", "run", plan.to_str().unwrap(), "--shard", shard, "--format", "json"];
    serde_json::from_str(&stdout(&words)).unwrap()
}

/// Merges into `result`, and returns the exit status and the answer.
fn merge(plans: &[&Path], result: &Path, further: &[&str]) -> (i32, Value) {
    let mut command = slablab();
    command.args(["lab", "merge", "--format", "json", "-o"]).arg(result).args(plans).args(further);
    let out = command.output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    let answer = serde_json::from_slice(&out.stdout).unwrap_or_else(|_| panic!("{said}"));
    (out.status.code().unwrap(), answer)
}

/// Returns why nothing can be merged.
fn no_merge(plans: &[&Path], result: &Path) -> String {
    let plans = plans.iter().map(|plan| plan.to_str().unwrap());
    let words = ["lab", "merge", "-o", result.to_str().unwrap()];
    let text = refusal(&words.into_iter().chain(plans).collect::<Vec<_>>());
    assert!(!result.exists(), "nothing is written");
    text
}

fn edit(path: &Path, change: impl Fn(String) -> String) {
    fs::write(path, change(fs::read_to_string(path).unwrap())).unwrap();
}

/// Returns the only folder of rows of shard `name`.
fn rows_of(plan: &Path, name: &str) -> PathBuf {
    let shards = fs::read_dir(plan.join("shards")).unwrap().flatten();
    let mut own = shards.filter(|s| s.file_name().to_string_lossy().starts_with(name));
    own.next().expect("the shard ran").path()
}

/// Makes the rows of a shard those of another host.
fn move_to(host: &str, shard: &Path) {
    let here = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let (from, to) = (format!("\"{}\"", here.trim()), format!("\"{host}\""));
    for file in ["plan.json", "raw.jsonl"] {
        edit(&shard.join(file), |text| text.replace(&from, &to));
    }
    let name = shard.file_name().unwrap().to_string_lossy();
    let name = name.replace(&format!(".{}.", here.trim()), &format!(".{host}."));
    fs::rename(shard, shard.with_file_name(name)).unwrap();
}

fn cells(result: &Path) -> Vec<(u64, String, String, Value)> {
    let rows = fs::read_to_string(result.join("raw.jsonl")).unwrap();
    let cell = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        let word = |key: &str| row[key].as_str().unwrap().to_owned();
        (row["cell"].as_u64().unwrap(), word("variant"), word("point"), row["values"].clone())
    };
    rows.lines().map(cell).collect()
}

#[test]
fn shards_merge_to_what_one_machine_makes_and_holes_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, parts) = (plan(folder.path(), "whole"), plan(folder.path(), "parts"));
    let result = |name: &str| folder.path().join(name);
    shard(&whole, "1/1");
    assert_eq!(merge(&[&whole], &result("one"), &[]).0, 0);
    let first = shard(&parts, "1/3");
    assert_eq!((&first["cells"], &first["added"]), (&8.into(), &8.into()));
    shard(&parts, "2/3");
    let (status, answer) = merge(&[&parts], &result("two"), &[]);
    assert_eq!((status, &answer["merged"]), (1, &12.into()), "{answer}");
    assert!(answer["folder"].is_null() && !result("two").exists());
    let holes = answer["holes"].as_array().unwrap();
    assert!(
        holes.len() == 4 && holes[0].as_str().unwrap().contains(" at 200, round 1"),
        "{answer}"
    );
    // A part is a result when it is asked for, and says so.
    assert_eq!(merge(&[&parts], &result("part"), &["--partial"]).0, 1);
    let compared = stdout(&["lab", "compare", result("part").to_str().unwrap()]);
    assert!(compared.contains("12 of 16 runs are done"), "{compared}");
    shard(&parts, "3/3");
    assert_eq!(merge(&[&parts], &result("two"), &[]).0, 0);
    assert_eq!(cells(&result("one")), cells(&result("two")));
    assert!(no_merge_into_what_is_there(&parts, &result("two")).contains("is there already"));
    // A shard that is run again has nothing to do.
    assert_eq!(shard(&parts, "3/3")["added"], 0);
}

fn no_merge_into_what_is_there(plan: &Path, result: &Path) -> String {
    refusal(&["lab", "merge", plan.to_str().unwrap(), "-o", result.to_str().unwrap()])
}

#[test]
fn a_round_is_of_one_machine_and_duplicates_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = plan(folder.path(), "sweep");
    let result = |name: &str| folder.path().join(name);
    // A machine that was called away in the middle of its second round: 3 of 4 rows, the last torn.
    shard(&sweep, "1/4");
    let away = rows_of(&sweep, "1-of-4");
    edit(&away.join("raw.jsonl"), |rows| {
        let lines: Vec<&str> = rows.split_inclusive('\n').collect();
        lines[..3].concat() + &lines[3][..40]
    });
    let (status, answer) = merge(&[&sweep], &result("torn"), &[]);
    assert_eq!((status, &answer["shards"][0]["torn"]), (1, &true.into()), "{answer}");
    move_to("away", &away);
    // Here the round that is whole there is left out, the other is run whole.
    let here = shard(&sweep, "1/4");
    assert_eq!((&here["done_before"], &here["added"]), (&2.into(), &2.into()), "{here}");
    for name in ["2/4", "3/4", "4/4"] {
        shard(&sweep, name);
    }
    let (status, answer) = merge(&[&sweep], &result("both"), &[]);
    assert_eq!((status, &answer["merged"]), (0, &16.into()), "{answer}");
    assert_eq!(answer["hosts"].as_array().unwrap().len(), 2, "{answer}");
    let duplicates = answer["duplicates"].as_array().unwrap();
    assert!(
        duplicates.len() == 1 && duplicates[0].as_str().unwrap().contains("round 2 is in"),
        "{answer}"
    );
    let compared = stdout(&["lab", "compare", result("both").to_str().unwrap()]);
    assert!(compared.contains("2 hosts made the rows (away, "), "{compared}");
    let both = result("both");
    let both = both.to_str().unwrap();
    let text = refusal(&["lab", "compare", both, both]);
    assert!(
        text.contains("'away'") && text.contains("different hosts cannot be compared"),
        "{text}"
    );
    // Counts are the same in every run, on every machine.
    let raw = rows_of(&sweep, "1-of-4.away").join("raw.jsonl");
    edit(&raw, |rows| rows.replace("\"in_lifo_order\":1.0", "\"in_lifo_order\":0.0"));
    assert!(no_merge(&[&sweep], &result("none")).contains("in_lifo_order of cell"));
}

#[test]
fn what_is_not_of_the_plan_is_not_merged() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = plan(folder.path(), "sweep");
    let result = folder.path().join("result");
    shard(&sweep, "2/4");
    let own = rows_of(&sweep, "2-of-4");
    let (plan_file, raw) = (own.join("plan.json"), own.join("raw.jsonl"));
    let [plan_text, rows] = [&plan_file, &raw].map(|file| fs::read_to_string(file).unwrap());
    // The plan was changed half-way.
    edit(&sweep.join("plan.json"), |text| text.replace("\"rounds\": 2", "\"rounds\": 3"));
    let text = no_merge(&[&sweep], &result);
    assert!(text.contains("another plan, which differs in design.rounds (3 and 2)"), "{text}");
    let text = refusal(&["lab", "run", sweep.to_str().unwrap(), "--shard", "2/4"]);
    assert!(text.contains("has another plan"), "{text}");
    edit(&sweep.join("plan.json"), |text| text.replace("\"rounds\": 3", "\"rounds\": 2"));
    // So were the plan of the shard with it, a row, the work of a row, its machine.
    edit(&plan_file, |text| text.replace("\"seed\": 5", "\"seed\": 6"));
    assert!(no_merge(&[&sweep], &result).contains("seed (5 and 6)"));
    fs::write(&plan_file, plan_text).unwrap();
    for (from, to, what) in [
        ("\"point\":\"64\"", "\"point\":\"32\"", "the plan was changed"),
        ("\"cell\":", "\"cell\":99", "and the plan has 16 cells"),
        ("\"work_key\":\"", "\"work_key\":\"0", "measured other work"),
        ("\"kernel\":\"", "\"kernel\":\"9", "another machine than its shard"),
        ("lab.row/1", "lab.row/9", "its schema is slablab.lab.row/9"),
    ] {
        fs::write(&raw, rows.replacen(from, to, 1)).unwrap();
        let text = no_merge(&[&sweep], &result);
        assert!(text.contains(what), "{what}: {text}");
    }
    fs::write(&raw, &rows).unwrap();
    // Another plan is another sweep, and a foreign folder is left as it is.
    let other = folder.path().join("other");
    let words = ["lab", "plan", "lifo", "--rounds", "2", "--seed", "5", "-o"];
    let _ = stdout(&[&words[..], &[other.to_str().unwrap()]].concat());
    assert!(no_merge(&[&sweep, &other], &result).contains("are different plans"));
    let again = [&words[..], &[sweep.to_str().unwrap()]].concat();
    assert!(refusal(&again).contains("has another plan, which differs in "), "{again:?}");
    let letters = folder.path().join("letters");
    fs::create_dir(&letters).unwrap();
    fs::write(letters.join("letter"), "").unwrap();
    let foreign = [&words[..], &[letters.to_str().unwrap()]].concat();
    assert!(refusal(&foreign).contains("has files and no plan"));
}

#[test]
fn options_that_do_not_go_with_a_plan_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = plan(folder.path(), "sweep");
    let name = sweep.to_str().unwrap();
    assert!(refusal(&["lab", "run", name, "--rounds", "3"]).contains("the plan says what to run"));
    assert!(refusal(&["lab", "run", name, "--shard", "1/5"]).contains("this one has 4"));
    let wrong = run(&["lab", "run", name, "--shard", "5/4"]);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("write K/N"), "{wrong:?}");
    assert!(
        refusal(&["lab", "run", "lifo", "--shard", "1/4"])
            .contains("goes with the folder of a plan")
    );
    assert!(refusal(&["lab", "compare", name]).contains("is a plan for shards"));
    assert!(refusal(&["lab", "merge", "/dev/null", "-o", "x"]).contains("has no plan.json"));
    // A run is not a plan, and nothing was run of this one.
    let result = folder.path().join("result");
    let words = ["lab", "run", "lifo", "--set", "allocators=slab,slub", "--set", "sizes=32", "-o"];
    let _ = stdout(&[&words[..], &[result.to_str().unwrap()]].concat());
    assert!(refusal(&["lab", "run", result.to_str().unwrap()]).contains("not a plan"));
    let (status, answer) = merge(&[&sweep], &folder.path().join("none"), &["--partial"]);
    assert_eq!((status, &answer["merged"], &answer["folder"]), (1, &0.into(), &Value::Null));
}

#[test]
fn a_job_array_is_the_sites_template_filled_in() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = plan(folder.path(), "it's a plan");
    let (name, script) = (sweep.to_str().unwrap(), sweep.join("sweep.sbatch"));
    let _ =
        stdout(&["lab", "sbatch", name, "--shards", "2", "--cpus", "8", "--time", "1-00:00:00"]);
    let text = fs::read_to_string(&script).unwrap();
    for line in ["#SBATCH --array=1-2", "#SBATCH --cpus-per-task=8", "#SBATCH --time=1-00:00:00"] {
        assert!(text.contains(line), "{text}");
    }
    let bash = std::process::Command::new("bash").arg("-n").arg(&script).status().unwrap();
    assert!(bash.success(), "{text}");
    // Outside of Slurm the script runs a shard like anything else.
    let status = std::process::Command::new("bash")
        .arg(&script)
        .env("SLURM_ARRAY_TASK_ID", "2")
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    assert!(rows_of(&sweep, "2-of-2").join("raw.jsonl").exists());
    let template = folder.path().join("site.sbatch");
    fs::write(&template, stdout(&["lab", "sbatch", "--print-template"])).unwrap();
    edit(&template, |text| text.replace("set -u", "module load slablab\nset -u"));
    let site = ["lab", "sbatch", name, "--template", template.to_str().unwrap()];
    let _ = stdout(&site);
    assert!(fs::read_to_string(&script).unwrap().contains("module load slablab"));
    edit(&template, |text| text.replace("@RUN@", "true"));
    assert!(refusal(&site).contains("site.sbatch: lacks @RUN@"));
    assert!(refusal(&["lab", "sbatch", name, "--shards", "5"]).contains("1 to 4 shards"));
    let wrong = run(&["lab", "sbatch", name, "--time", "soon"]);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("HOURS:MINUTES:SECONDS"), "{wrong:?}");
    assert!(!run(&["lab", "sbatch"]).status.success());
}
