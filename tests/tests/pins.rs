//! `slablab stat --pins`: who keeps sparse slabs, beside what the running kernel gives back when these go. Needs root,
//! tracefs and slabinfo, and says so where they are not.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use slablab_tests::{refusal, slablab, stdout};
use slablab_trace::{State, probe};

/// Opens this number of files, closes all but one of those that fill a slab, and keeps these until `$1/keep` is gone.
const FILES: u64 = 10_000;
const LOAD: &str = r#"
my ($folder, $files, $each) = @ARGV;
my @open;
for (1 .. $files) { open(my $file, "<", "/dev/null") or die; push @open, $file; }
for my $i (0 .. $#open) { close($open[$i]) if $i % $each; }
exit 0 if fork;
sleep 1 while -e "$folder/keep";
"#;

/// Returns the slabs of `filp` and the objects that one of them has room for, empty slabs given back.
fn filp() -> (u64, u64) {
    // Freed objects of this cache wait for a grace period.
    sleep(Duration::from_millis(1_500));
    fs::write("/sys/kernel/slab/filp/shrink", "1").unwrap();
    let text = fs::read_to_string("/proc/slabinfo").unwrap();
    let line = text.lines().find(|line| line.starts_with("filp ")).unwrap();
    let fields: Vec<_> = line.split_whitespace().collect();
    (fields[14].parse().unwrap(), fields[4].parse().unwrap())
}

fn load_of(folder: &Path, each: u64) -> Vec<String> {
    let script = folder.join("load.pl");
    fs::write(&script, LOAD).unwrap();
    let perl = format!(
        "ulimit -n 20000; exec perl {} {} {FILES} {each}",
        script.display(),
        folder.display()
    );
    ["sh", "-c", &perl].map(str::to_owned).to_vec()
}

#[test]
fn who_keeps_a_slab_for_one_file_is_named_and_the_kernel_gives_back_as_much() {
    let lacking = probe().iter().any(|fact| fact.state == State::Missing);
    if lacking || !Path::new("/sys/kernel/slab/filp/shrink").exists() {
        eprintln!("not run: this needs root, tracefs and /sys/kernel/slab");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (keep, trace) = (folder.path().join("keep"), folder.path().join("t.parquet"));
    fs::write(&keep, "").unwrap();
    let (_, each) = filp();
    let started = Instant::now();
    let mut record = slablab();
    record.arg("record").args(["--caches", "filp", "-m", "1M", "-o"]).arg(&trace).arg("--");
    record.args(load_of(folder.path(), each)).stdin(Stdio::null());
    record.stdout(Stdio::null()).stderr(Stdio::null());
    assert!(record.status().unwrap().success());
    let (held, _) = filp();
    fs::remove_file(&keep).unwrap();
    let (left, _) = filp();

    let json =
        stdout(&["stat", trace.to_str().unwrap(), "--pins", "--by", "program", "--format", "json"]);
    let answer: Value = serde_json::from_str(&json).unwrap();
    let pins = answer["pins"].as_array().unwrap();
    let perl = pins.iter().find(|pin| pin["names"][0] == "perl").expect("its name is known");
    let number = |key: &str| perl[key].as_u64().unwrap();
    assert_eq!(perl["cache"], "filp");
    // The first and the last few share slabs with files of others.
    let kept = FILES.div_ceil(each);
    let named = number("objects");
    assert!(named <= kept && named * 100 >= kept * 96, "{named} of {kept} are named");
    // Other programs on this machine open and close files too.
    let (freed, foretold) = (held - left, number("slabs_alone"));
    let off = freed.abs_diff(foretold);
    assert!(off * 50 <= freed + 400, "{foretold} slabs are foretold, {freed} came free");
    assert_eq!(number("bytes_free_if_gone"), foretold * 4096);
    assert!(number("age_max_ns") < started.elapsed().as_nanos() as u64);
}

#[test]
fn the_first_screen_says_who_and_a_part_of_the_objects_is_refused() {
    let text = stdout(&["stat", "traces/hackbench.parquet", "--pins", "--by", "site"]);
    assert!(text.starts_with("At the end, 530 slabs of 21 caches hold 4.094 MiB"), "{text}");
    assert!(text.contains("alloc_slab_obj_exts+0x"), "{text}");
    let refused = |words: &[&str]| {
        refusal(&[&["stat", "traces/hackbench.parquet", "--pins"], words].concat())
    };
    assert!(refused(&["--cpu", "0"]).contains("needs all objects of a slab"));
    assert!(refused(&["--by", "order"]).contains("is about pages"));
}
