//! A sweep on a real Slurm, on this machine: a controller and two nodes. One of them is drained half-way.
//!
//! Needs root and Debian's packages, which are installed; ignored unless `make test-cluster` asks for it. All daemons run in a
//! temporary folder, with keys and ports of their own, and end with the test.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use slablab_tests::{root, slablab_path, stdout};

/// Debian's packages.
const PACKAGES: [&str; 4] = ["slurmctld", "slurmd", "slurm-client", "munge"];
/// The longest that anything is waited for.
const PATIENCE: Duration = Duration::from_secs(240);

struct Cluster {
    folder: tempfile::TempDir,
    daemons: Vec<Child>,
}

impl Cluster {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Slurm's daemons look into it under other users' eyes.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut cluster = Self { folder, daemons: Vec::new() };
        for name in ["state", "n1", "n2", "munge"] {
            fs::create_dir(cluster.path(name)).unwrap();
        }
        let key = cluster.path("munge/key");
        fs::write(&key, "a key of this test alone, as long as munge wants it to be").unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(cluster.path("slurm.conf"), cluster.configuration()).unwrap();
        let option = |name: &str, file: &str| format!("--{name}={}", cluster.path(file).display());
        let munge = [
            "--foreground".to_owned(),
            "--force".to_owned(),
            option("key-file", "munge/key"),
            option("socket", "munge/socket"),
            option("pid-file", "munge/pid"),
            option("log-file", "munge/log"),
            option("seed-file", "munge/seed"),
        ];
        cluster.daemon("/usr/sbin/munged", &munge.each_ref().map(String::as_str));
        let socket = cluster.path("munge/socket");
        wait("munge's socket", || socket.exists());
        cluster.daemon("/usr/sbin/slurmctld", &["-D"]);
        for node in ["n1", "n2"] {
            cluster.daemon("/usr/sbin/slurmd", &["-D", "-N", node]);
        }
        wait("two idle nodes", || {
            cluster.says("sinfo", &["-h", "-N", "-o", "%N %T"]) == "n1 idle\nn2 idle\n"
        });
        cluster
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn configuration(&self) -> String {
        // Free ports; taken together, so that they differ.
        let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let [control, n1, n2] = listeners.map(|l| l.local_addr().unwrap().port());
        let (folder, host) = (self.folder.path().display(), host());
        format!(
            "ClusterName=sweep\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={control}\nSlurmUser=root\n\
             AuthType=auth/munge\nAuthInfo=socket={folder}/munge/socket,cred_expire=3\nCredType=cred/munge\n\
             StateSaveLocation={folder}/state\nSlurmctldPidFile={folder}/control.pid\nSlurmctldLogFile={folder}/control.log\n\
             SlurmdPidFile={folder}/%n/pid\nSlurmdSpoolDir={folder}/%n\nSlurmdLogFile={folder}/%n.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n\
             SchedulerType=sched/builtin\nSchedulerParameters=sched_interval=2\n\
             KillWait=2\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n\
             JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n\
             NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={n1} CPUs=1\n\
             NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={n2} CPUs=1\n\
             PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP\n"
        )
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.path("slurm.conf"));
        command
    }

    fn daemon(&mut self, program: &str, words: &[&str]) {
        let mut command = self.command(program);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.daemons.push(command.spawn().unwrap_or_else(|e| panic!("{program}: {e}")));
    }

    /// Returns what a command of Slurm prints; empty when it fails.
    fn says(&self, program: &str, words: &[&str]) -> String {
        let out = self.command(program).args(words).output().unwrap();
        String::from_utf8_lossy(&out.stdout).into_owned()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.says("scancel", &["--me"]);
        // Those who ask munge end before it does.
        for daemon in self.daemons.iter_mut().rev() {
            let _ = Command::new("kill").arg(daemon.id().to_string()).status();
            let _ = daemon.wait();
        }
    }
}

fn host() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned()
}

fn wait(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        sleep(Duration::from_millis(20));
    }
}

/// Returns the processes that run a shard of the plan in `folder`, by the number of the shard.
///
/// A process that such a one has started has its command line until it becomes a module's: it is left out.
fn runners(folder: &Path) -> BTreeMap<String, String> {
    let plan = folder.to_str().unwrap();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(words) = fs::read_to_string(entry.path().join("cmdline")) else { continue };
        let Some(parent) = parent(&entry.path()) else { continue };
        let words: Vec<&str> = words.split('\0').collect();
        if let [_, "lab", "run", place, "--shard", shard, ..] = words[..]
            && place == plan
        {
            let (number, _) = shard.split_once('/').unwrap();
            let pid = entry.file_name().to_string_lossy().into_owned();
            found.push((number.to_owned(), pid, parent));
        }
    }
    let pids: Vec<String> = found.iter().map(|(_, pid, _)| pid.clone()).collect();
    found.retain(|(_, _, parent)| !pids.contains(parent));
    found.into_iter().map(|(number, pid, _)| (number, pid)).collect()
}

/// Returns the number of the process that started the one of `folder`, a folder of `/proc`.
fn parent(folder: &Path) -> Option<String> {
    let status = fs::read_to_string(folder.join("status")).ok()?;
    status.lines().find_map(|line| Some(line.strip_prefix("PPid:")?.trim().to_owned()))
}

/// Returns how many rows shard `number` has.
fn rows_of(plan: &Path, number: &str) -> usize {
    let Ok(shards) = fs::read_dir(plan.join("shards")) else { return 0 };
    let own = shards.flatten().filter(|shard| {
        shard.file_name().to_string_lossy().starts_with(&format!("{number}-of-4."))
    });
    own.map(|shard| {
        fs::read_to_string(shard.path().join("raw.jsonl")).unwrap_or_default().lines().count()
    })
    .sum()
}

/// Returns the rows of a result without what differs from run to run.
fn deterministic(result: &Path) -> Vec<String> {
    let rows = fs::read_to_string(result.join("raw.jsonl")).unwrap();
    let strip = |line: &str| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        let row = row.as_object_mut().unwrap();
        for key in ["started_unix_ms", "took_ms", "load"] {
            row.remove(key).unwrap();
        }
        serde_json::to_string(row).unwrap()
    };
    rows.lines().map(strip).collect()
}

#[test]
#[ignore = "starts a Slurm; make test-cluster"]
fn a_sweep_on_slurm_is_what_one_machine_makes_though_a_task_is_killed_and_a_node_drained() {
    let need = Command::new(root().join("tools/need")).args(PACKAGES).status().unwrap();
    assert!(need.success(), "a Slurm cannot be installed here");
    let cluster = Cluster::start();
    let plan = |name: &str| {
        let folder = cluster.path(name);
        let words = ["lab", "plan", "lifo", "--set", "allocators=slab,slub", "--rounds", "10"];
        let _ = stdout(&[&words[..], &["--seed", "5", "-o", folder.to_str().unwrap()]].concat());
        folder
    };
    let merged = |plan: &Path| {
        let result = plan.with_extension("result");
        let words = ["lab", "merge", plan.to_str().unwrap(), "-o", result.to_str().unwrap()];
        let merged: Value =
            serde_json::from_str(&stdout(&[&words[..], &["--format", "json"]].concat())).unwrap();
        (merged, result)
    };
    let one = plan("one");
    let _ = stdout(&["lab", "run", one.to_str().unwrap()]);

    let sweep = plan("sweep");
    let script = sweep.join("sweep.sbatch");
    let time = ["--time", "10", "--retries", "2"];
    let _ = stdout(&[&["lab", "sbatch", sweep.to_str().unwrap()][..], &time].concat());
    assert!(fs::read_to_string(&script).unwrap().contains(slablab_path().to_str().unwrap()));
    let submitted = cluster.says("sbatch", &["--parsable", script.to_str().unwrap()]);
    let job = submitted.trim();
    assert!(!job.is_empty(), "sbatch took nothing");
    let task =
        |number: &str| cluster.says("scontrol", &["show", "job", &format!("{job}_{number}")]);
    let is_on = |number: &str, node: &str| {
        let text = task(number);
        // The first line of a task; later ones of an array that waits may follow.
        text.split_whitespace().any(|word| word == format!("NodeList={node}"))
    };
    // Two shards run. One is stopped, so that it stays half-way; its node is drained, and it is killed.
    let signal = |name: &str, pid: &str| {
        assert!(Command::new("kill").args([name, pid]).status().unwrap().success());
    };
    let mut victim = None;
    wait("a shard with some rows", || {
        victim = runners(&sweep).into_iter().find(|(number, pid)| {
            rows_of(&sweep, number) >= 3
                && Command::new("kill").args(["-STOP", pid]).status().unwrap().success()
        });
        victim.is_some()
    });
    let (number, pid) = victim.unwrap();
    let before = rows_of(&sweep, &number);
    assert!((3..20).contains(&before), "shard {number} had {before} rows of 20");
    let [drained, other] = if is_on(&number, "n1") { ["n1", "n2"] } else { ["n2", "n1"] };
    assert!(is_on(&number, drained), "{}", task(&number));
    let node = format!("NodeName={drained}");
    cluster.says("scontrol", &["update", &node, "State=DRAIN", "Reason=half-way"]);
    signal("-KILL", &pid);
    let requeued = format!("JobId={job}_{number}");
    wait("the job array's end", || {
        // Slurm starts what was requeued after two minutes at the earliest, unless told to.
        cluster.says("scontrol", &["update", &requeued, "StartTime=now"]);
        sleep(Duration::from_millis(200));
        let squeue = cluster.command("squeue").args(["-h", "-j", job]).output().unwrap();
        squeue.status.success() && squeue.stdout.is_empty()
    });
    assert_eq!(cluster.says("sinfo", &["-h", "-n", drained, "-o", "%T"]).trim(), "drained");
    let log = fs::read_to_string(sweep.join(format!("{job}_{number}.log"))).unwrap();
    assert!(log.contains("status 137; requeued, retry 1 of 2"), "{log}");
    assert!(is_on(&number, other), "the task went on elsewhere: {}", task(&number));

    let (found, result) = merged(&sweep);
    assert_eq!((&found["cells"], &found["merged"]), (&80.into(), &80.into()));
    assert_eq!(
        (&found["holes"], &found["duplicates"]),
        (&Value::Array(vec![]), &Value::Array(vec![]))
    );
    let (_, alone) = merged(&one);
    assert_eq!(deterministic(&result), deterministic(&alone), "cell by cell, to the byte");
    // The sentences name the results, which have two names.
    let table = |result: &Path| {
        let compared = stdout(&["lab", "compare", result.to_str().unwrap()]);
        let table = compared.split("\n\n").find(|part| part.starts_with("metric"));
        table.unwrap_or_else(|| panic!("{compared}")).to_owned()
    };
    assert_eq!(table(&result), table(&alone));
}
