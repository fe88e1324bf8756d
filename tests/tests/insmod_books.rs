//! `slablab insmod` on modules written as books on drivers and on the kernel write them: each is used as a reader would
//! use it, for three kernels, and prints the same lines for each.
//!
//! Beside a module `crates/kapi/tests/books/NAME.c` lies its session `NAME.txt` (in a folder: `session.txt`): lines
//! `with` a word of the command line, `do` a step, the `status` if it is not 0, and behind `prints` what is printed.
//! `SLABLAB_BLESS=1` writes that anew; look at the difference before you commit it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::{fs, thread};

use slablab_tests::module::{lines, told};
use slablab_tests::{root, run};

const RELEASES: [&str; 3] = ["6.1", "6.12", "7.3"];
const BOOKS: &str = "crates/kapi/tests/books";

/// How a module is used.
struct Session {
    words: Vec<String>,
    status: i32,
    prints: Vec<String>,
}

fn session_file(module: &str) -> PathBuf {
    let folder = root().join(BOOKS);
    let of_folder = folder.join(module).join("session.txt");
    if of_folder.is_file() { of_folder } else { folder.join(format!("{module}.txt")) }
}

fn session(text: &str) -> Session {
    let (head, prints) = text.split_once("prints\n").expect("a session has a line `prints`");
    let (mut words, mut status) = (Vec::new(), 0);
    for line in head.lines() {
        match line.split_once(' ').expect("a line of a session has a word and a value") {
            ("with", word) => words.push(word.to_owned()),
            ("do", step) => words.extend(["--do".to_owned(), step.to_owned()]),
            ("status", number) => status = number.parse().expect("a number"),
            (other, _) => panic!("a session has no line `{other}`"),
        }
    }
    Session { words, status, prints: prints.lines().map(str::to_owned).collect() }
}

/// What goes on behind `&` ends at some time before `wait` does: its lines stand behind the others, in order.
fn settled(lines: Vec<String>) -> Vec<String> {
    let (mut behind, mut settled): (Vec<_>, Vec<_>) =
        lines.into_iter().partition(|line| line.contains(" & = "));
    behind.sort();
    settled.append(&mut behind);
    settled
}

/// Runs a module's session for each kernel.
fn check(module: &str) {
    let file = session_file(module);
    let text = fs::read_to_string(&file).expect("each module has a session");
    let session = session(&text);
    let source = format!("{BOOKS}/{module}.c");
    let source = if root().join(&source).is_file() { source } else { format!("{BOOKS}/{module}") };
    let words = session.words.iter().map(String::as_str);
    let run_for = |release| {
        let first = ["insmod", &*source, "--check", "2", "--kernel-version", release];
        let output = run(&first.into_iter().chain(words.clone()).collect::<Vec<_>>());
        let said = told(&output);
        assert!(!said.contains("warning:"), "{module} for {release}: {said}");
        assert_eq!(output.status.code(), Some(session.status), "{module} for {release}: {said}");
        (settled(lines(&output)), said)
    };
    let printed = thread::scope(|scope| {
        let runs = RELEASES.map(|release| scope.spawn(move || run_for(release)));
        runs.map(|run| run.join().expect("the module runs as its session says"))
    });
    if std::env::var_os("SLABLAB_BLESS").is_some() {
        let (head, _) = text.split_once("prints\n").expect("it was there before");
        let prints: String = printed[0].0.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&file, format!("{head}prints\n{prints}")).expect("the session can be written");
        return;
    }
    for (release, (lines, said)) in RELEASES.iter().zip(&printed) {
        assert_eq!(lines, &session.prints, "{module} for {release}: {said}");
    }
}

macro_rules! books {
    ($($module:ident)*) => {
        $(#[test]
        fn $module() {
            check(stringify!($module));
        })*

        const LISTED: &[&str] = &[$(stringify!($module)),*];
    };
}

books! {
    bh_threaded chardev_once collections complete_pair data_sizes driver_timers faulty_ways hello_params
    ioctl_registers jiq_queues jit_delays jit_timers kfifo_queue kref_objects lkp_custom_cache lkp_devres
    lkp_memory_short lkp_pages lkp_slab_basics lkp_slab_limits lkp_vmalloc_flavours locked_misc locks_four
    model_platform one_opener own_bus percpu_counts procfs_ways queue_and_tasklet rcu_books scull_access
    scull_pipes scull_sets scullc_cache sculld_model scullp_pages scullv_areas seq_squares simple_maps
    slab_wastage sleepy_queue stacked start_stop static_key_state sysfs_variable thread_order
    snull_pair dummy_device netlink_hello genl_notes rx_page_pool followed_objects skb_memory packet_watch
    genl_items board_nic sniff_lo sha256_digest input_keys
}

#[test]
fn each_module_of_the_folder_is_run() {
    let entries = fs::read_dir(root().join(BOOKS)).expect("the folder is there").flatten();
    let modules: BTreeSet<String> = entries
        .map(|entry| {
            entry.path().with_extension("").file_name().unwrap().to_string_lossy().into_owned()
        })
        .collect();
    let listed: BTreeSet<String> = LISTED.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(modules, listed);
    assert!(modules.len() >= 59);
}
