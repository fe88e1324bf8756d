//! Every kind of JSON that a command prints has a published schema, and what is printed is as the schema says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Command, Stdio};

use boon::{Compiler, Schemas};
use serde_json::Value;
use slablab_tests::{shown, slablab, typed_trace};

/// Commands that anybody can run; `TMP` is a folder of their own.
const COMMANDS: &[&str] = &[
    "info traces/hackbench.parquet",
    "info traces/boot.parquet",
    "info traces/build.parquet --cache kmalloc-64",
    "info traces/boot.parquet traces/build.parquet",
    "info TMP/slabinfo",
    "info TMP/buddyinfo",
    "stat traces/hackbench.parquet",
    "stat traces/boot.parquet --raw-ip",
    "stat traces/hackbench.parquet --by owner,cache",
    "stat traces/hackbench.parquet --pins --by stack",
    "stat traces/boot.parquet traces/build.parquet",
    "replay traces/hackbench.parquet -a slub,slab,slob",
    "replay traces/boot.parquet -a slub-sheaves,dense,slmb,slub-tiny",
    "replay traces/build.parquet --cold -a slub",
    "replay traces/boot.parquet traces/build.parquet -a slub",
    "lab list load",
    "whatif traces/hackbench.parquet --dedicate alloc_fdtable+0xd0=bits",
    "whatif traces/boot.parquet --page-size 16K",
    "partition traces/boot.parquet --by random:4",
    "partition TMP/typed/typed.parquet --by typed:4",
    "partition TMP/typed/typed.parquet --by typed:4 --with sock",
    "whatif traces/boot.parquet traces/build.parquet --page-size 16K",
    "advise traces/hackbench.parquet",
    "advise traces/boot.parquet",
    "advise traces/boot.parquet traces/build.parquet",
    "classes traces/boot.parquet --further 2",
    "fit traces/boot.parquet --memory 64M",
    "fit traces/boot.parquet --order 8 --aged tests/data/aged.txt",
    "tune traces/boot.parquet",
    "patch traces/hackbench.parquet alloc_fdtable+0xd0 --source none",
    "import traces/boot.parquet --time 50%,90% -o TMP/part.parquet",
    "export traces/boot.parquet --tables TMP/tables",
    "lab list",
    "lab run history --kernels debian:7.3 -o bench/results/history",
    "lab compare --csv tests/data/hackbench-31-pairs.csv",
    "lab plan replay --input traces/hackbench.parquet --rounds 1 -o TMP/plan",
    "lab run TMP/plan --shard 1/1",
    "lab merge TMP/plan -o TMP/merged",
    "bench --rounds 2 -o TMP/bench -- true -- true",
    "insmod kernel/modules/lifo size=40",
    "insmod crates/kapi/tests/modules/forty_bytes.c --explain TMP/forty.html",
    "insmod --modinfo kernel/modules/lifo",
    "insmod --list-symbols",
    "kernel list",
    "kernel clean --cache TMP/cache",
    "doctor",
];

/// Commands for root, who may record.
const AS_ROOT: &[&str] = &[
    "record -o TMP/t.parquet -- true",
    "record --pages -o TMP/pages.parquet -- ls -R /usr/share/doc",
    "info TMP/pages.parquet",
    "stat --pages TMP/pages.parquet",
    "replay --pages TMP/pages.parquet",
    "record --sample 2 -o TMP/sample.parquet -- ls -R /usr/share/doc",
    "info TMP/sample.parquet",
    "stat TMP/sample.parquet",
    "top --once",
    "top --once --by cache",
    "leaks --once --for 3s",
    "info --census",
];

/// A command for who has perf, beside root; what it prints, and how perf makes its input.
const OF_PERF: (&str, &str) =
    ("stat --pages --compat perf TMP/perf.data", "slablab.stat.perf-pages/1");

/// Kinds that only a kernel in QEMU, or a kernel's own sources, have a command print; tests of their own look at these.
const OF_GUESTS: &[&str] = &[
    "slablab.kernel-boot/1",
    "slablab.kernel-build/1",
    "slablab.lab.bisect/1",
    "slablab.lab.patch/1",
];

#[test]
fn what_is_printed_as_json_is_as_its_schema_says() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    fs::write(folder.path().join("slabinfo"), SLABINFO).unwrap();
    fs::write(folder.path().join("buddyinfo"), BUDDYINFO).unwrap();
    let _ = typed_trace(&folder.path().join("typed"));
    assert!(slablab().args(["generate", place]).status().unwrap().success());
    let mut published = published(&folder.path().join("slablab/schemas"));
    let mut printed = BTreeSet::new();
    let as_root = if shown::is_root() { AS_ROOT } else { &[] };
    let of_perf = recorded_by_perf(&folder.path().join("perf.data")).then_some(&OF_PERF.0);
    for command in COMMANDS.iter().chain(as_root).chain(of_perf) {
        let json = printed_by(&command.replace("TMP", place));
        let name = json["schema"].as_str().unwrap_or_else(|| panic!("{command}: no schema"));
        let (schemas, index) =
            published.get_mut(name).unwrap_or_else(|| panic!("{command}: {name} is not published"));
        if let Err(error) = schemas.validate(&json, *index) {
            panic!("{command}: {error:#}");
        }
        // A schema that takes anything says nothing.
        for field in json.as_object().unwrap().keys() {
            let mut other = json.clone();
            other[field] = Value::from(vec![Value::from(true)]);
            assert!(schemas.validate(&other, *index).is_err(), "{name}: {field} may be anything");
        }
        printed.insert(name.to_owned());
    }
    for name in published.keys().filter(|_| shown::is_root()) {
        assert!(
            printed.contains(name)
                || OF_GUESTS.contains(&name.as_str())
                || of_perf.is_none() && name == OF_PERF.1,
            "no command above prints {name}"
        );
    }
}

/// Has perf record events of pages; returns whether it could.
fn recorded_by_perf(path: &std::path::Path) -> bool {
    let mut perf = Command::new("perf");
    perf.args(["kmem", "--page", "record", "-o"]).arg(path).args(["--", "ls", "/usr/share/doc"]);
    let status = perf.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Runs a command of `slablab` and returns its JSON.
fn printed_by(command: &str) -> Value {
    // What comes behind `--` is another's.
    let (words, rest) = command.split_once(" -- ").unwrap_or((command, ""));
    let mut call = slablab();
    call.args(words.split(' ')).args(["--format", "json"]);
    if !rest.is_empty() {
        call.arg("--").args(rest.split(' '));
    }
    let output = call.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    // The status of doctor says whether all is well.
    assert!(output.status.success() || words == "doctor", "{command}: {stderr}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    // A recorded command may print before.
    let json = &stdout[stdout.find("{\n").unwrap_or_else(|| panic!("{command}: {stdout}"))..];
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{command}: {error}"))
}

/// Returns the schemas of a folder by the name that an output has.
fn published(folder: &std::path::Path) -> BTreeMap<String, (Schemas, boon::SchemaIndex)> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let compiled = files.map(|file| {
        let schema: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let name = schema["title"].as_str().unwrap().to_owned();
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource(&name, schema).unwrap();
        let index = compiler.compile(&name, &mut schemas).unwrap();
        (name, (schemas, index))
    });
    compiled.collect()
}

/// A table of free blocks.
const BUDDYINFO: &str = "Node 0, zone   Normal    216     55    189    101     84     38     37     27      5      3    587\n";

const SLABINFO: &str = concat!(
    "slabinfo - version: 2.1\n",
    "# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> ",
    "<batchcount> <sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail>\n",
    "dentry             20000  21000    192   21    1 : tunables    0    0    0 : slabdata   1000   1000      0\n",
    "kmalloc-64         10000  12800     64   64    1 : tunables    0    0    0 : slabdata    200    200      0\n",
);
