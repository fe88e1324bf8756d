//! slablab itself in guests: recordings by cgroup and by callers, and hunts.
//!
//! Ignored unless asked for (`make test-boot`): they download kernels, or build them.

use std::fs;
use std::process::{Command, Stdio};

use slablab_tests::slablab_path;

fn kernel(arguments: &[&str]) -> Command {
    let mut command = Command::new(slablab_path());
    command.arg("kernel").args(arguments).stdin(Stdio::null());
    command
}

/// Writes the command without its debug information, which would not fit into the guest's memory.
fn strip_into(program: &str) {
    let stripped = Command::new("strip").arg("-o").arg(program).arg(slablab_path()).status();
    assert!(stripped.unwrap().success());
}

/// Two loads in two cgroups of version 2: what a recording has by cgroup is what the kernel charges to them.
#[test]
#[ignore = "downloads and boots a kernel; make test-boot"]
fn bytes_by_cgroup_are_what_the_kernel_charges() {
    const SCRIPT: &str = "
        mkdir -p /sys/fs/cgroup /tmp; mount -t cgroup2 none /sys/fs/cgroup; mount -t tmpfs none /tmp
        echo +memory >/sys/fs/cgroup/cgroup.subtree_control
        mkdir /sys/fs/cgroup/files /sys/fs/cgroup/links /tmp/files /tmp/links
        echo 'echo 0 >/sys/fs/cgroup/files/cgroup.procs; i=0
            while [ $i -lt 6000 ]; do : >/tmp/files/$i; i=$((i+1)); done' >/tmp/files.sh
        echo 'echo 0 >/sys/fs/cgroup/links/cgroup.procs; i=0
            while [ $i -lt 1000 ]; do ln -s /etc/passwd /tmp/links/$i; i=$((i+1)); done' >/tmp/links.sh
        slabs() { for c in files links; do grep '^slab ' /sys/fs/cgroup/$c/memory.stat; done; }
        slabs >/tmp/charged
        /bin/recorder record -m 8M -o /tmp/t.parquet -- sh -c 'sh /tmp/files.sh; sh /tmp/links.sh' >/tmp/said 2>&1
        slabs >>/tmp/charged
        /bin/recorder stat /tmp/t.parquet --by cgroup --at end --format json >/tmp/answer 2>/dev/null
        send charged /tmp/charged\nsend answer /tmp/answer\nsend said /tmp/said\n";
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (program, script, out) = (place("recorder"), place("script.sh"), place("out"));
    strip_into(&program);
    fs::write(&script, SCRIPT).unwrap();
    let boot = ["boot", "debian:6.12", "--memory", "2048", "--with", &program, "--script", &script];
    let output = kernel(&[&boot[..], &["-o", &out]].concat()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |name: &str| fs::read_to_string(format!("{out}/files/{name}")).unwrap();
    let charged: Vec<f64> =
        read("charged").lines().map(|line| line["slab ".len()..].parse().unwrap()).collect();
    let answer: serde_json::Value = serde_json::from_str(&read("answer")).expect("an answer");
    for (at, name) in ["/files", "/links"].into_iter().enumerate() {
        let groups = answer["groups"].as_array().unwrap();
        let group = groups.iter().find(|group| group["names"][0] == name).expect("it allocated");
        let recorded = group["live"][0]["bytes_charged"].as_f64().unwrap();
        let grown = charged[at + 2] - charged[at];
        eprintln!("{name}: {recorded} bytes recorded, {grown} charged");
        assert!(
            (recorded / grown - 1.0).abs() < 0.05,
            "{name}: {recorded} and {grown}: {}",
            read("said")
        );
    }
}

/// Where calls of functions can be watched, a recording has all that they lead to, beside a storm of allocations at the same
/// call sites. It also has what threads do that were within a call when it began.
#[test]
#[ignore = "downloads and boots a kernel; make test-boot"]
fn a_recording_by_callers_misses_nothing() {
    const SCRIPT: &str = "
        mkdir -p /tmp; mount -t tmpfs none /tmp; mkdir /tmp/links /tmp/storm
        echo '|/bin/true' >/proc/sys/kernel/core_pattern
        echo 'while true; do i=0; while [ $i -lt 50 ]; do : >/tmp/storm/$i; i=$((i+1)); done
            rm /tmp/storm/*; done' >/tmp/storm.sh
        echo 'i=0; while [ $i -lt 500 ]; do ln -s /etc/passwd /tmp/links/$i; i=$((i+1)); done' >/tmp/links.sh
        echo 'ulimit -c unlimited; kill -SEGV $$' >/tmp/crash.sh
        echo 'i=0; while [ $i -lt 20 ]; do sh /tmp/crash.sh; i=$((i+1)); done; sleep 1' >/tmp/crashes.sh
        for load in links crashes; do
            # What is attached to the return of a function
            echo 'cat /proc/$PPID/fdinfo/* 2>/dev/null | grep -c attach_type:.25' >>/tmp/$load.sh
        done
        sh /tmp/storm.sh & storm=$!
        for it in vfs_symlink=links worker_thread=crashes; do
            load=${it#*=}
            /bin/recorder record --callers ${it%=*} -m 8M -o /tmp/$load.parquet -- sh /tmp/$load.sh >/tmp/said.$load 2>&1
            /bin/recorder stat /tmp/$load.parquet --by cache --format json >/tmp/$load.json 2>>/tmp/said.$load
            /bin/recorder info /tmp/$load.parquet --all >/tmp/$load.info 2>>/tmp/said.$load
            for name in $load.json $load.info said.$load; do send $name /tmp/$name; done
        done
        kill $storm\n";
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (program, script) = (place("recorder"), place("script.sh"));
    strip_into(&program);
    fs::write(&script, SCRIPT).unwrap();
    for series in ["6.12", "7.3"] {
        let (guest, out) = (format!("debian:{series}"), place(series));
        let boot = ["boot", &guest, "--memory", "2048", "--with", &program, "--script", &script];
        let output = kernel(&[&boot[..], &["-o", &out]].concat()).output().unwrap();
        assert!(output.status.success(), "{series}: {}", String::from_utf8_lossy(&output.stderr));
        let read = |name: &str| fs::read_to_string(format!("{out}/files/{name}")).unwrap();
        for (load, cache, counts) in
            [("links", "shmem_inode_cache", 500..=500), ("crashes", "task_struct", 20..=60)]
        {
            let said = format!(
                "{series} {load}: {} {}",
                read(&format!("said.{load}")),
                read(&format!("{load}.info"))
            );
            let answer: serde_json::Value =
                serde_json::from_str(&read(&format!("{load}.json"))).expect(&said);
            let groups = answer["groups"].as_array().unwrap();
            let group = groups.iter().find(|group| group["names"][0] == cache).expect(&said);
            assert!(read(&format!("said.{load}")).lines().any(|line| line == "1"), "{said}");
            let allocations = group["allocs"].as_u64().unwrap();
            eprintln!("{series} {load}: {allocations}");
            assert!(counts.contains(&allocations), "{allocations}: {said}");
            assert!(!said.contains("taken for others'") && !said.contains("looked for"), "{said}");
        }
    }
}

/// A thread that is not the first of its process gets another number when it executes a program: what the call allocated from
/// there on was missed. Stacks had the trampoline by which the call is watched, and the function twice.
#[test]
#[ignore = "downloads and boots kernels; make test-boot"]
fn a_thread_that_executes_a_program_within_a_caller_is_still_within() {
    const SOURCE: &str =
        "#include <pthread.h>\n#include <unistd.h>\n#include <sys/wait.h>\n#include <stdlib.h>\n
        static char *self;
        static void *start(void *no) { execl(self, self, \"0\", (char *)0); return no; }
        static void *wait_here(void *no) { pause(); return no; }
        int main(int count, char **words) {
            self = words[0];
            for (int left = atoi(words[1]); left > 0; left--) {
                pid_t child = fork();
                if (child == 0) {
                    pthread_t other;
                    pthread_create(&other, 0, count > 2 ? start : wait_here, 0);
                    if (count > 2) pause(); else start(0);
                }
                waitpid(child, 0, 0);
            }
            return 0; }";
    const SCRIPT: &str = "
        mkdir -p /tmp; mount -t tmpfs none /tmp
        for load in '50' '50 other'; do
            name=load${#load}
            /bin/recorder record --callers bprm_execve -m 8M -o /tmp/t.parquet -- /bin/starts $load >/tmp/said 2>&1
            # What it has, in three answers.
            /bin/recorder stat /tmp/t.parquet --by cache --format json >/tmp/caches 2>>/tmp/said
            /bin/recorder stat /tmp/t.parquet --by stack --format json >/tmp/stacks 2>>/tmp/said
            /bin/recorder info /tmp/t.parquet >>/tmp/said 2>&1
            for it in caches stacks said; do send $name.$it /tmp/$it; done
        done\n";
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (program, script, source) = (place("recorder"), place("script.sh"), place("starts.c"));
    strip_into(&program);
    fs::write(&script, SCRIPT).unwrap();
    fs::write(&source, SOURCE).unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-static", "-pthread", "-o", &place("starts"), &source]);
    assert!(cc.status().unwrap().success());
    for series in ["6.12", "7.3"] {
        let (guest, out) = (format!("debian:{series}"), place(series));
        let boot = ["boot", &guest, "--memory", "2048", "--cpus", "2", "--with", &program];
        let rest = ["--with", &place("starts"), "--script", &script, "-o", &out];
        let output = kernel(&[&boot[..], &rest].concat()).output().unwrap();
        assert!(output.status.success(), "{series}: {}", String::from_utf8_lossy(&output.stderr));
        let read = |name: &str| fs::read_to_string(format!("{out}/files/{name}")).unwrap();
        let groups = |name: &str| -> Vec<serde_json::Value> {
            let answer: serde_json::Value = serde_json::from_str(&read(name)).expect(name);
            answer["groups"].as_array().unwrap().clone()
        };
        let areas = |load: &str| {
            let groups = groups(&format!("{load}.caches"));
            let group = groups.iter().find(|group| group["names"][0] == "vm_area_struct");
            group.map_or(0, |group| group["allocs"].as_u64().unwrap())
        };
        let said = format!("{series}: {}", read("load8.said"));
        assert!(!said.contains("looked for"), "{said}");
        assert_eq!(areas("load2"), areas("load8"), "{said}");
        assert!(areas("load8") >= 51 * 4, "{said}");
        for group in groups("load8.stacks") {
            let frames = group["stack"].as_array().unwrap();
            let functions = frames.iter().filter_map(|frame| frame.as_str()?.split('+').next());
            let times = functions.filter(|function| *function == "bprm_execve").count();
            assert_eq!(times, 1, "{series}: {frames:?}");
            // Code without a symbol stands far behind one.
            let is_far = |frame: &serde_json::Value| {
                let offset = frame.as_str().and_then(|frame| frame.split("+0x").nth(1));
                offset.is_none_or(|offset| offset.len() > 4)
            };
            assert!(!frames.iter().any(is_far), "{series}: {frames:?}");
        }
    }
}

/// A module leaks from three callers of one `kstrdup`, beside a million strings a minute that are freed. Two hunts run at
/// once: one follows every object, and the other a sample.
#[test]
#[ignore = "builds and boots a kernel; make test-boot"]
fn leaks_names_three_owners_behind_one_helper_with_their_counts() {
    names_three_owners(&["build:6.12/slub+btf"]);
}

#[test]
#[ignore = "builds and boots two kernels; make test-leaks"]
fn leaks_names_three_owners_in_other_releases() {
    names_three_owners(&["build:6.1/slub+btf", "build:7.3/slub+btf"]);
}

fn names_three_owners(kernels: &[&str]) {
    const SCRIPT: &str = "
        count() { cat /sys/module/threeowners/parameters/$1; }
        counts() { echo $(uptime_s) $(count names) $(count paths) $(count labels) >>/tmp/counts; }
        /bin/hunter leaks --once --for 1d --every --format json >/tmp/every 2>/tmp/said & every=$!
        /bin/hunter leaks --once --for 1d --format json >/tmp/sample 2>>/tmp/said & sample=$!
        sleep 8
        insmod /lib/modules/threeowners.ko; counts
        sleep 100
        counts; echo 1 >/sys/module/threeowners/parameters/paused; sleep 1; counts
        kill -TERM $every $sample; wait $every || true; wait $sample || true
        for name in counts every sample said; do send $name /tmp/$name; done\n";
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (program, script) = (place("hunter"), place("script.sh"));
    strip_into(&program);
    fs::write(&script, SCRIPT).unwrap();
    for &kernel_name in kernels {
        let out = place(&kernel_name.replace(['/', ':', '+'], "-"));
        let boot = ["boot", kernel_name, "--memory", "1536", "--module", "threeowners"];
        let job = ["--with", &program, "--script", &script, "-o", &out];
        let output = kernel(&[&boot[..], &job].concat()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let read = |name: &str| fs::read_to_string(format!("{out}/files/{name}")).unwrap();
        let counts: Vec<Vec<f64>> = (read("counts").lines())
            .map(|line| line.split(' ').map(|word| word.parse().unwrap()).collect())
            .collect();
        let seconds = counts[1][0] - counts[0][0];
        for hunt in ["every", "sample"] {
            let answer: serde_json::Value = serde_json::from_str(&read(hunt))
                .unwrap_or_else(|e| panic!("{kernel_name}: {e}: {}", read("said")));
            let allocations = answer["seen"]["allocations"].as_f64().unwrap();
            assert!(allocations / seconds * 60.0 > 900_000.0, "{kernel_name}: {allocations}");
            let owners = answer["owners"].as_array().unwrap();
            for (at, name) in ["names", "paths", "labels"].into_iter().enumerate() {
                let function = format!("owner_of_{name}");
                let is_it = |row: &&serde_json::Value| {
                    row["owner"].as_str().unwrap().starts_with(&function)
                };
                let row = owners.iter().find(is_it).unwrap_or_else(|| panic!("{name}: {answer}"));
                assert_eq!(
                    (&row["verdict"], &row["program"]),
                    (&"leak".into(), &"threeowners".into()),
                    "{kernel_name} {hunt}: {row}"
                );
                let count = counts[2][at + 1];
                let made = counts[1][at + 1] - counts[0][at + 1];
                let objects = row["objects"].as_f64().unwrap();
                let bounds = [0, 1].map(|end| row["interval"][end].as_f64().unwrap());
                println!(
                    "{kernel_name} {hunt} {name}: {objects} of {count}, {made} in {seconds} s {bounds:?}"
                );
                assert!((objects / count - 1.0).abs() < 0.02, "{name}: {objects} of {count}");
                // The shell takes some tenths of a second to read the time and three counts.
                let least = bounds[0] * (seconds - 0.5) - 1.0;
                let most = bounds[1] * (seconds + 0.5) + 1.0;
                assert!((least..=most).contains(&made), "{name}: {row}, {made} in {seconds} s");
            }
        }
    }
}
