//! What `info` says of pastes as people make them: who holds the memory, how much, whether it is given back, does it grow.

use std::fs;
use std::path::Path;

use slablab_tests::{refusal, stdout};

/// Writes a text and returns what `info` says of it, in words and as data.
fn info(folder: &Path, text: &str, words: &[&str]) -> (String, serde_json::Value) {
    let path = folder.join("paste");
    fs::write(&path, text).unwrap();
    let file = path.to_str().unwrap();
    let said = stdout(&[&["info", file], words].concat()).replace('\n', " ");
    let data = stdout(&[&["info", file, "--format", "json"], words].concat());
    (said, serde_json::from_str(&data).unwrap())
}

fn row(name: &str, objects: u64, bytes: u64, per_slab: u64, pages: u64) -> String {
    let slabs = objects.div_ceil(per_slab);
    format!(
        "{name:<17} {objects:>6} {objects:>6} {bytes:>6} {per_slab:>4} {pages:>4} : tunables    0    0    0 : slabdata \
         {slabs:>6} {slabs:>6}      0\n"
    )
}

const HEADING: &str = "slabinfo - version: 2.1\n# name            <active_objs> <num_objs> <objsize> <objperslab> \
    <pagesperslab> : tunables <limit> <batchcount> <sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail>\n";

fn slabinfo() -> String {
    let rows = [
        row("queue_item", 3_911_040, 176, 23, 1),
        row("dentry", 52_311, 192, 21, 1),
        row("kmalloc-64", 25_408, 64, 64, 1),
    ];
    rows.concat()
}

#[test]
fn a_list_in_any_dress_names_the_holder_its_bytes_and_that_nothing_tells_more() {
    let folder = tempfile::tempdir().unwrap();
    let rows = slabinfo();
    let each = |line: fn(&str) -> String| rows.lines().map(line).collect::<String>();
    let bold = rows.replacen("queue_item", "**queue_item", 1).replacen(" 0\n", " 0**\n", 1);
    let dresses = [
        format!("{HEADING}{rows}"),
        format!("{rows}{HEADING}"),
        format!("root@box:~# grep -E . /proc/slabinfo\n{rows}"),
        format!("{HEADING}{bold}"),
        each(|line| format!("> {line}\n")),
        each(|line| format!("Mar  3 04:15:10 box monitor[411]: {line}\n")),
        each(|line| format!("{}\n  {}\n", &line[..64], line[64..].trim_start())),
    ];
    for text in dresses {
        let (said, data) = info(folder.path(), &text, &[]);
        let first = &data["tables"][0]["families"][0];
        assert_eq!(
            (&first["name"], &first["held_bytes"]),
            (&"queue_item".into(), &(170_046 * 4096).into()),
            "{text}"
        );
        assert!(said.contains("queue_item holds 664.2 MiB"), "{said}");
        assert!(said.contains("belong to caches whose names do not tell"), "{said}");
        assert_eq!(
            (&data["tables"][0]["rows"], &data["unread_lines"]),
            (&3.into(), &0.into()),
            "{text}"
        );
    }
    let (said, _) = info(folder.path(), &rows, &[]);
    assert!(said.contains("The list of slabinfo may be cut, as its heading is missing"), "{said}");
}

#[test]
fn caches_of_files_are_given_back_and_a_kernel_with_slab_has_no_sysfs() {
    let folder = tempfile::tempdir().unwrap();
    let text = [
        "slabinfo - version: 2.0",
        "ext3_inode_cache  571020 571024    960    4    1 : tunables   54   27    8 : slabdata 142756 142756      0",
        "dentry_cache      611000 640016    232   16    1 : tunables  120   60    8 : slabdata  40001  40001      0",
        "size-64             4012   4480     64   59    1 : tunables  120   60    8 : slabdata     76     76      0",
    ]
    .join("\n");
    let (said, data) = info(folder.path(), &text, &[]);
    let names: Vec<_> =
        (0..2).map(|at| data["tables"][0]["families"][at]["name"].clone()).collect();
    assert_eq!(names, ["ext3_inode_cache", "dentry_cache"]);
    assert_eq!(data["tables"][0]["given_back_bytes"], (142_756 + 40_001) * 4096);
    assert!(!said.contains("/sys/kernel/slab"), "{said}");
    assert!(
        said.contains("is a cache and no leak as long as the kernel can give it back"),
        "{said}"
    );
}

#[test]
fn versions_of_linux_2_4_have_their_own_columns() {
    let folder = tempfile::tempdir().unwrap();
    for behind in ["", " :  124   62", " :   1531   59580   213    0    0"] {
        let text = format!(
            "slabinfo - version: 1.1\ninode_cache         7710   8200    476 1010 1025    1{behind}\ndentry_cache        \
                            9469   9880    128  181  196    1{behind}\n"
        );
        let (said, data) = info(folder.path(), &text, &[]);
        assert_eq!(data["tables"][0]["families"][0]["held_bytes"], 1025 * 4096);
        assert!(said.contains("inode_cache and dentry_cache hold 5.54 MiB"), "{said}");
    }
}

#[test]
fn the_oom_killers_list_is_of_what_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[ 4411.128000] Mem-Info:\n slab_reclaimable:3466 slab_unreclaimable:195718\n[ 4411.135000] Unreclaimable slab \
                info:\n[ 4411.142000] Name                      Used          Total\n[ 4411.156000] queue_item           \
                702441KB     702441KB\n[ 4411.184000] kmalloc-4k            48944KB      61856KB\n";
    let (said, data) = info(folder.path(), text, &[]);
    assert!(said.contains("queue_item holds 686.0 MiB"), "{said}");
    assert!(said.contains("stay until their users free them"), "{said}");
    assert_eq!(data["machine"]["unreclaimable_bytes"], 195_718 * 4096);
}

#[test]
fn pages_of_slabs_and_the_objects_in_them_are_not_added_up() {
    let folder = tempfile::tempdir().unwrap();
    let text = " 3.8M      953 mm/memory.c:4214 func:alloc_anon_folio\n  55M     4887 mm/slub.c:2259 func:alloc_slab_page\n \
                612M  3651200 net/queue/core.c:88 [queue] func:queue_alloc\n";
    let (said, data) = info(folder.path(), text, &[]);
    let first = &data["tables"][0];
    assert_eq!(first["families"][0]["name"], "queue_alloc");
    assert_eq!(first["slab_page_bytes"], 55 << 20);
    let all = first["held_bytes"].as_u64().unwrap();
    assert_eq!(all, (612 << 20) + 3_984_589, "{said}");
    assert!(said.contains("net/queue/core.c:88") && said.contains("may be cut"), "{said}");
}

#[test]
fn stacks_name_the_owner_behind_helpers() {
    let folder = tempfile::tempdir().unwrap();
    let traces = "    126 port_alloc_queue+0xbe/0x830 [port] waste=233856/1856 age=280763/281414/282065 pid=1330 cpus=0-1 \
                  nodes=0\n        __kmalloc_node+0x4e/0x140\n        port_alloc_queue+0xbe/0x830 [port]\n        \
                  port_probe+0x165/0x1d2 [port]\n";
    let (said, data) = info(folder.path(), traces, &[]);
    let first = &data["tables"][0]["families"][0];
    assert_eq!((&first["name"], &first["objects"]), (&"port_alloc_queue".into(), &126.into()));
    assert!(said.contains("126 objects and wastes 228.4 KiB"), "{said}");
    let leak = "[04:15:13] Top 10 stacks with outstanding allocations:\n\t98304 bytes in 512 allocations from \
                stack\n\t\t__kmalloc_noprof+0x1be [kernel]\n\t\tkstrdup+0x40 [kernel]\n\t\trename_worker+0x88 [queue]\n";
    let (said, _) = info(folder.path(), leak, &[]);
    assert!(said.contains("rename_worker holds 96.0 KiB"), "{said}");
}

#[test]
fn a_mail_with_meminfo_is_compared_with_what_the_machine_counts() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "From: a\n\nMemTotal:      1034816 kB\nSlab:           752028 kB\n\n{HEADING}{}\n-- \nA.\n",
        slabinfo()
    );
    let (said, data) = info(folder.path(), &text, &[]);
    assert!(said.contains("on a machine of 1010.6 MiB"), "{said}");
    assert_eq!(data["machine"]["slab_bytes"], 752_028 << 10);
    assert!(said.contains("The machine counts 734.4 MiB in slabs"), "{said}");
}

/// Moments of a cache that has `objects` at each.
fn series(objects: &[u64], time: impl Fn(usize) -> String) -> String {
    let moment = |(at, objects): (usize, &u64)| {
        format!(
            "{}{HEADING}{}{}",
            time(at),
            row("kmalloc-64", *objects, 64, 64, 1),
            row("filp", 2688, 256, 32, 2)
        )
    };
    objects.iter().enumerate().map(moment).collect()
}

#[test]
fn growth_has_bytes_a_rate_and_an_interval_and_few_moments_have_no_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let none = |_: usize| String::new();
    let three = series(&[640_000, 1_280_000, 1_920_000], none);
    let (said, data) = info(folder.path(), &three, &[]);
    assert!(
        said.contains("Objects of kmalloc-64 take 78.1 MiB more than at the first moment"),
        "{said}"
    );
    assert!(said.contains("3 moments cannot tell a leak from a cache that fills"), "{said}");
    assert_eq!(data["tables"][0]["growth"][0]["pace"], "rose");
    let hours = |at: usize| format!("Tue Mar  3 {:02}:00:01 UTC 2026\n", 4 + at);
    let (said, _) = info(folder.path(), &series(&[640_000, 1_280_000, 1_920_000], hours), &[]);
    assert!(said.contains("39.1 MiB an hour"), "{said}");
    // One dip in a rise.
    let dip = [640, 900, 1200, 1100, 1500, 1800, 2100, 2400].map(|thousands: u64| thousands * 1000);
    let (said, data) = info(folder.path(), &series(&dip, none), &[]);
    assert_eq!(data["tables"][0]["growth"][0]["pace"], "grows", "{said}");
    assert!(said.contains("kmalloc-64 grows by") && said.contains("95 % interval"), "{said}");
    let noise = [640, 639, 641, 640, 638, 641, 640, 639].map(|thousands: u64| thousands * 1000);
    let (said, _) = info(folder.path(), &series(&noise, none), &[]);
    assert!(said.contains("Nothing is shown to grow"), "{said}");
}

#[test]
fn what_grows_and_stays_is_told_from_what_grows_and_is_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let moment = |at: u64| {
        let dentry = row("dentry", 210_000 * (at + 1), 192, 21, 1);
        format!(
            "{HEADING}{dentry}{}",
            row("eventpoll_epi", 3200 * (at + 1), 128, 32, 1).replace('\n', " : kept\n")
        )
    };
    let text: String = (0..8).map(moment).collect();
    let (said, _) = info(folder.path(), &text, &["--every", "60s"]);
    let kept = said.find("eventpoll_epi grows by").expect(&said);
    let back = said.find("dentry grows by").expect(&said);
    assert!(kept < back && said[kept..back].contains("stays until its users free it"), "{said}");
    assert!(said[back..].contains("which is given back when memory is short"), "{said}");
    assert!(said.contains("record --caches eventpoll_epi"), "the leak is what to look for: {said}");
}

#[test]
fn events_without_frees_have_no_live_bytes_and_no_advice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace");
    let event = |at: u64| {
        format!(
            "          worker-900   [000] ....  1000.{:06}: kmalloc: call_site=ffffffff8140{}120 ptr=ffff8880{:08x} \
             bytes_req=936 bytes_alloc=1024 gfp_flags=GFP_KERNEL\n",
            at * 1000,
            at % 4,
            (at + 1) * 1024
        )
    };
    fs::write(&path, format!("# tracer: nop\n{}", (0..400).map(event).collect::<String>()))
        .unwrap();
    let file = path.to_str().unwrap();
    let said = stdout(&["info", file]).replace('\n', " ");
    assert!(
        said.contains("Frees were not recorded: there are 400 events of kmalloc and none of kfree"),
        "{said}"
    );
    assert!(
        said.contains("other sizes were not recorded") && !said.contains("were alive"),
        "{said}"
    );
    let said = stdout(&["stat", file]).replace('\n', " ");
    assert!(
        said.contains("400 allocations of 400 KiB")
            && said.contains("nothing tells what of it is still there"),
        "{said}"
    );
    let stat: serde_json::Value =
        serde_json::from_str(&stdout(&["stat", file, "--format", "json"])).unwrap();
    assert_eq!(
        (&stat["frees_recorded"], &stat["net_bytes"]),
        (&false.into(), &serde_json::Value::Null)
    );
    for words in [
        &["advise", file][..],
        &["replay", file],
        &["classes", file],
        &["whatif", file, "--no-merge"],
        &["tune", file],
    ] {
        let said = refusal(words);
        assert!(said.contains("Frees were not recorded"), "{said}");
    }
    assert!(refusal(&["stat", file, "--sort", "growth"]).contains("frees were not recorded"));
}

#[test]
fn an_empty_input_is_asked_for_a_table_or_a_recording() {
    let said = refusal(&["info", "/dev/null"]);
    assert!(
        said.contains("the file is empty") && said.contains("a table of slab memory"),
        "{said}"
    );
}
