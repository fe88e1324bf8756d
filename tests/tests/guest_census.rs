//! The census in guests: beside what sysfs has, and beside the count of a module of ours.
//!
//! Ignored unless asked for (`make test-boot`): they download kernels, or build them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use slablab_tests::slablab_path;

/// Boots a guest with a program and a script, and returns the folder of the files that it sent.
fn guest(name: &str, folder: &Path, options: &[&str], program: &Path, script: &str) -> String {
    let place = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let stripped = place("program");
    // Its debug information would not fit into the guest's memory.
    let mut strip = Command::new("strip");
    assert!(strip.arg("-o").arg(&stripped).arg(program).status().unwrap().success());
    fs::write(place("script.sh"), script).unwrap();
    let out = place(&name.replace(['/', ':', '+'], "-"));
    let mut boot = Command::new(slablab_path());
    boot.args(["kernel", "boot", name, "--memory", "1536"]).args(options).stdin(Stdio::null());
    boot.args(["--with", &stripped, "--script", &place("script.sh"), "-o", &out]);
    let output = boot.output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    format!("{out}/files")
}

/// Each generation of SLUB has its own structures: with CPU slabs, with both, with sheaves alone.
#[test]
#[ignore = "downloads and boots kernels; make test-boot"]
fn a_census_of_each_generation_agrees_with_sysfs() {
    const SCRIPT: &str = "/bin/program info --census --format json >/tmp/census\n\
                          cd /sys/kernel/slab\n\
                          for c in *; do echo $c $(cat $c/slabs) $(cat $c/total_objects); done >/tmp/sysfs\n\
                          send census /tmp/census\nsend sysfs /tmp/sysfs\n";
    let folder = tempfile::tempdir().unwrap();
    for (series, cpu_slabs, sheaves) in
        [("6.12", true, false), ("6.18", true, true), ("7.3", false, true)]
    {
        let name = format!("debian:{series}");
        let out = guest(&name, folder.path(), &[], slablab_path(), SCRIPT);
        let read = |name: &str| fs::read_to_string(format!("{out}/{name}")).unwrap();
        let census: Value = serde_json::from_str(&read("census")).unwrap();
        assert_eq!(census["has_cpu_slabs"], cpu_slabs, "{series}");
        assert_eq!(census["has_sheaves"], sheaves, "{series}");
        let caches = census["caches"].as_array().unwrap();
        let free_in = |key: &str| -> u64 {
            caches.iter().map(|cache| cache[key]["objects"].as_u64().unwrap()).sum()
        };
        assert_eq!(free_in("cpu_slabs") > 0, cpu_slabs, "{series}");
        assert_eq!(free_in("main_sheaves") + free_in("barns") > 0, sheaves, "{series}");
        let sysfs = read("sysfs");
        let told = |name: &str| -> Option<[u64; 2]> {
            let line = sysfs.lines().find(|line| line.split(' ').next() == Some(name))?;
            // Behind each sum stands that of the node: `6 N0=6`.
            let mut words = line.split(' ').skip(1).step_by(2);
            Some([words.next()?.parse().ok()?, words.next()?.parse().ok()?])
        };
        let (mut compared, mut equal) = (0, 0);
        for cache in caches {
            let Some(of_sysfs) = told(cache["cache"].as_str().unwrap()) else { continue };
            compared += 1;
            let own = ["slabs", "objects"].map(|key| cache[key].as_u64().unwrap());
            equal += usize::from(own == of_sysfs);
        }
        // The shell that reads sysfs takes and gives objects itself.
        assert!(compared > 50 && equal * 4 > compared * 3, "{series}: {equal} of {compared}");
    }
}

/// The kinds of places, as the module and the census call them.
const PLACES: [&str; 8] = [
    "cpu_slabs",
    "cpu_partial",
    "main_sheaves",
    "spare_sheaves",
    "rcu_sheaves",
    "barns",
    "node_partial",
    "node_empty",
];

/// What is told of a cache: bytes of an object, slabs, objects, empty sheaves, and what lies in each kind of place.
type Told = Vec<u64>;

/// Reads the module's table.
fn of_module(text: &Value) -> BTreeMap<String, Told> {
    let mut lines = text.as_str().unwrap().lines();
    let keys = |place: &str| format!(" {place}.places {place}.objects");
    let heading = PLACES.map(keys).concat();
    let heading = format!("object_bytes slabs objects empty_sheaves{heading} cache");
    assert_eq!(lines.next(), Some(&*heading));
    let row = |line: &str| {
        let mut words: Vec<&str> = line.splitn(4 + 2 * PLACES.len() + 1, ' ').collect();
        let name = words.pop().unwrap().to_owned();
        (name, words.into_iter().map(|word| word.parse().unwrap()).collect())
    };
    lines.map(row).collect()
}

/// Reads the same of a census.
fn of_census(census: &Value) -> BTreeMap<String, Told> {
    let row = |cache: &Value| {
        let number = |value: &Value| value.as_u64().unwrap();
        let first = ["object_bytes", "slabs", "objects", "empty_sheaves"];
        let first = first.into_iter().map(|key| number(&cache[key]));
        let places = PLACES
            .into_iter()
            .flat_map(|place| ["places", "objects"].map(|key| number(&cache[place][key])));
        (cache["cache"].as_str().unwrap().to_owned(), first.chain(places).collect())
    };
    census["caches"].as_array().unwrap().iter().map(row).collect()
}

/// A round of `census-beside`: the module's count, the census, and the module's count.
type Round = [BTreeMap<String, Told>; 3];

fn rounds(text: &str) -> Vec<Round> {
    let round = |line: &str| {
        let round: Value = serde_json::from_str(line).unwrap();
        [of_module(&round["before"]), of_census(&round["census"]), of_module(&round["after"])]
    };
    text.lines().map(round).collect()
}

/// Adds up bytes of all caches: of slabs' objects, and of what lies in each kind of place.
fn sums(caches: &BTreeMap<String, Told>) -> Vec<f64> {
    let columns = [2].into_iter().chain((0..PLACES.len()).map(|place| 4 + 2 * place + 1));
    let sum = |column: usize| caches.values().map(|told| told[0] * told[column]).sum::<u64>();
    columns.map(|column| sum(column) as f64).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// What lies in a kind of place under load is compared where it is this much, in bytes: less is a few slabs.
const COMPARED_BYTES: f64 = 65_536.0;

/// While nothing runs, the census of a cache that did not change between two counts of the module is equal to them, but for an
/// object that a timer has for a moment. Under hackbench its sums lie between the two counts, or within 3 % of them.
fn agrees_with_the_module(name: &str, expected: &[&str]) {
    const SCRIPT: &str = "insmod /lib/modules/slabcensus.ko\nsleep 2\n\
                          /bin/program 12 >/tmp/idle\n\
                          hackbench -g 2 -l 1000000 >/dev/null 2>&1 & load=$!\nsleep 3\n\
                          chrt -f 1 /bin/program 60 >/tmp/loaded\nkill $load\n\
                          dmesg >/tmp/dmesg\n\
                          for name in idle loaded dmesg; do send $name /tmp/$name; done\n";
    let folder = tempfile::tempdir().unwrap();
    // A busy host stops a guest for so long that it warns.
    let options =
        ["--cpus", "2", "--append", "nowatchdog", "--append", "rcupdate.rcu_cpu_stall_suppress=1"];
    let options = [&options[..], &["--module", "slabcensus", "--with", "/usr/bin/chrt"]].concat();
    let program = Path::new(env!("CARGO_BIN_EXE_census-beside"));
    let out = guest(name, folder.path(), &options, program, SCRIPT);
    let read = |file: &str| fs::read_to_string(format!("{out}/{file}")).unwrap();

    // Of each cache, the counts between which it did not change, and those of them that the census is equal to.
    let mut quiet = BTreeMap::<String, (u32, u32)>::new();
    let idle = rounds(&read("idle"));
    for [before, census, after] in &idle {
        for (cache, told) in before.iter().filter(|(cache, told)| after.get(*cache) == Some(*told))
        {
            let (counts, equal) = quiet.entry(cache.clone()).or_default();
            *counts += 1;
            *equal += u32::from(census.get(cache) == Some(told));
        }
    }
    let [counts, equal] =
        [0, 1].map(|at| quiet.values().map(|of| if at == 0 { of.0 } else { of.1 }).sum::<u32>());
    println!("{name}: equal to {equal} of {counts} counts of {} caches that rest", quiet.len());
    assert!(quiet.len() > 30 && counts as usize > quiet.len() * idle.len() * 4 / 5, "{quiet:?}");
    // A timer may take an object and give it back meanwhile.
    assert!(equal * 100 >= counts * 98, "{name}: {equal} of {counts}");
    // A cache that changes in most rounds may have changed, and changed back, in the others.
    let rests = |counts: u32| counts as usize * 2 > idle.len();
    let never = quiet.iter().find(|(_, (counts, equal))| rests(*counts) && equal * 2 < *counts);
    assert_eq!(never, None, "{name}: a cache that is counted otherwise");

    let loaded = rounds(&read("loaded"));
    let mut places = vec!["objects"];
    places.extend(PLACES);
    for (column, place) in places.into_iter().enumerate() {
        // How far the census is outside the two counts: the load goes on while it is taken.
        let outside = |round: &Round| {
            let [before, census, after] = round.each_ref().map(|caches| sums(caches)[column]);
            let (least, most) = (before.min(after), before.max(after));
            (least - census).max(census - most).max(0.0) / most.max(1.0)
        };
        let bytes = median(loaded.iter().map(|round| sums(&round[0])[column]).collect());
        let off = median(loaded.iter().map(outside).collect());
        println!("{name} {place}: {bytes} bytes, {:.2} % off", off * 100.0);
        assert!(!expected.contains(&place) || bytes > 0.0, "{name}: nothing in {place}");
        assert!(bytes < COMPARED_BYTES || off < 0.03, "{name} {place}: {bytes}, {off}");
    }
    let said = read("dmesg");
    for complaint in ["WARNING", "BUG:", "lockdep", "RCU stall", "Oops"] {
        assert!(!said.contains(complaint), "{name}: {said}");
    }
}

#[test]
#[ignore = "builds and boots kernels; make test-boot"]
fn a_census_of_cpu_slabs_is_what_a_module_counts() {
    agrees_with_the_module("build:6.12/slub+btf", &["cpu_slabs", "cpu_partial", "node_partial"]);
}

#[test]
#[ignore = "builds and boots kernels; make test-boot"]
fn a_census_of_sheaves_is_what_a_module_counts() {
    agrees_with_the_module("build:7.3/slub+btf", &["main_sheaves", "barns", "node_partial"]);
}
