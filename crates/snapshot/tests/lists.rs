//! Lists as people have them: with caches of one name, by cache and not by moment, cut, in part, or of machines with large pages.

use slablab_snapshot::{Apart, Family, Kind, Paste, Table, apart, growth, holders};

fn read(text: &str) -> Paste {
    Paste::read(text.as_bytes()).expect("memory can be read")
}

fn row(name: &str, objects: u64) -> String {
    let slabs = objects / 32;
    format!("{name} {objects} {objects} 128 32 1 : tunables 0 0 0 : slabdata {slabs} {slabs} 0\n")
}

const HEADING: &str =
    "slabinfo - version: 2.1\n# name <active_objs> <num_objs> <objsize> <objperslab>\n";

fn only(paste: &Paste) -> &Table {
    let [table] = &paste.tables[..] else { panic!("{paste:?}") };
    table
}

/// Returns the families of the last moment, with their objects.
fn families(table: &Table) -> Vec<(String, Option<u64>)> {
    let families = holders(table.last().clone()).families;
    families.iter().map(|family: &Family| (family.name.clone(), family.objects)).collect()
}

#[test]
fn caches_of_one_name_below_one_heading_are_added_and_no_moments() {
    let device = || row("mlx5_fs_ftes", 64) + &row("mlx5_fs_fgs", 32);
    let others = |from: u32| (from..from + 30).map(|at| row(&format!("cache_{at}"), 320));
    // Newer caches stand above older ones: those of the devices at the top, in the middle and at the end.
    for (before, after) in [(0, 30), (30, 30), (30, 0)] {
        let before: String = others(100).take(before).collect();
        let after: String = others(200).take(after).collect();
        let devices: String = (0..4).map(|_| device()).collect();
        let text = format!("{HEADING}{before}{devices}{after}");
        let paste = read(&text);
        let table = only(&paste);
        assert_eq!(table.moments.len(), 1, "{text}");
        let found = families(table);
        assert!(found.contains(&("mlx5_fs_ftes".to_owned(), Some(4 * 64))), "{found:?}");
        // Two such lists are two moments.
        assert_eq!(only(&read(&text.repeat(2))).moments.len(), 2, "{text}");
    }
}

#[test]
fn rows_by_cache_are_moments_and_the_last_row_of_each_counts() {
    let by_cache =
        |name: &'static str, first: u64| (0..4).map(move |at| row(name, first + 64 * at));
    let text: String = by_cache("dentry", 3200).chain(by_cache("filp", 640)).collect();
    let paste = read(&text);
    let table = only(&paste);
    assert_eq!(table.moments.len(), 4);
    let expected = vec![("dentry".to_owned(), Some(3392)), ("filp".to_owned(), Some(832))];
    assert_eq!(families(table), expected);
    let grown = growth(&table.moments, None);
    assert!(grown.iter().all(|growth| growth.moments == 4 && growth.change_bytes() == 192 * 128));
    // A list that names one cache twice is a list.
    let text = row("a", 32) + &row("b", 32) + &row("b", 32) + &row("c", 32);
    let moments: usize = read(&text).tables.iter().map(|table| table.moments.len()).max().unwrap();
    assert!(moments <= 2, "{moments}");
}

#[test]
fn each_interval_of_memleak_is_a_moment_though_no_stack_is_in_two() {
    let interval = |time: &str, function: &str| {
        format!(
            "[{time}] Top 10 stacks with outstanding allocations:\n\taddr = ffff88810a3b size = 64\n\t\
             addr = ffff88810a7b size = 64\n\t128 bytes in 2 allocations from stack\n\t\t{function}+0x12 [kernel]\n\t\t\
             do_syscall_64+0x55 [kernel]\n"
        )
    };
    let paste = read(&(interval("10:00:00", "one_alloc") + &interval("10:00:05", "other_alloc")));
    let table = only(&paste);
    assert_eq!((table.kind, table.moments.len()), (Kind::Memleak, 2));
    assert_eq!(families(table), [("other_alloc".to_owned(), Some(2))]);
    assert_eq!(apart(&paste, table), None, "addresses are no headings");
}

#[test]
fn each_page_of_page_owner_is_a_row_as_the_kernel_and_its_sorters_print_it() {
    let page = |order: u32| {
        format!(
            "Page allocated via order {order}, mask 0xcc0(GFP_KERNEL), pid 1, tgid 1 (init), ts 5 ns\nPFN 0x1000 type \
             Unmovable Block 8 type Unmovable Flags 0x0(node=0|zone=1)\n my_alloc+0x1/0x2\n do_syscall_64+0x1/0x2\n"
        )
    };
    let raw = page(0)
        + "Page has been migrated, last migrate reason: compaction\n\n"
        + &page(1)
        + &page(2);
    let sorted = "3 times, 7 pages:\n".to_owned() + &page(0);
    let old = "7 times:\n".to_owned() + &page(0);
    for (text, objects) in [(raw, 3), (sorted, 3), (old, 7)] {
        let paste = read(&text);
        let holders = holders(only(&paste).last().clone());
        assert_eq!(
            (holders.held_bytes, holders.families[0].objects),
            (7 << 12, Some(objects)),
            "{text}"
        );
        assert_eq!(holders.families[0].name, "my_alloc", "{text}");
    }
}

#[test]
fn pages_have_the_size_that_the_list_of_free_blocks_tells() {
    let log = "[ 9.1] Mem-Info:\n[ 9.1] active_anon:1 inactive_anon:2\n slab_reclaimable:10 slab_unreclaimable:100\n\
        [ 9.1] Node 0 Normal: 1*64kB (U) 0*128kB 0*256kB 0*512kB 0*1024kB 0*2048kB 0*4096kB 0*8192kB = 64kB\n";
    let paste = read(log);
    let said = paste.machine[0].machine;
    let halves = (said.reclaimable_bytes, said.unreclaimable_bytes);
    assert_eq!(halves, (Some(10 << 16), Some(100 << 16)));
    assert_eq!(holders(only(&paste).last().clone()).held_bytes, 110 << 16);
}

#[test]
fn of_all_slabs_and_one_part_the_other_part_is_known() {
    let bytes = |text: &str| {
        let paste = read(text);
        let mut held: Vec<(String, u64)> = Vec::new();
        for entry in &only(&paste).last().entries {
            held.push((entry.name.clone(), entry.slab_bytes.unwrap()));
        }
        held.sort();
        held
    };
    let part = |name: &str, bytes: u64| (name.to_owned(), bytes);
    let meminfo = [part("SReclaimable", 60 << 10), part("SUnreclaim", 40 << 10)];
    for text in [
        "Slab: 100 kB\nSUnreclaim: 40 kB\n",
        "Slab: 100 kB\nSReclaimable: 60 kB\n",
        "Slab: 100 kB\nSReclaimable: 60 kB\nSUnreclaim: 40 kB\n",
    ] {
        assert_eq!(bytes(text), meminfo, "{text}");
    }
    let stat = [part("slab_reclaimable", 61_440), part("slab_unreclaimable", 40_960)];
    for text in [
        "slab_unreclaimable 40960\nslab 102400\n",
        "slab_reclaimable 61440\nslab_unreclaimable 40960\nslab 102400\n",
    ] {
        assert_eq!(bytes(text), stat, "{text}");
    }
    assert_eq!(bytes("slab 102400\n"), [part("slab", 102_400)]);
}

#[test]
fn names_that_a_terminal_cut_are_no_moments_and_are_marked() {
    let row =
        |objects: u64, name: &str| format!("{objects} {objects} 100% 0.06K 10 64 40K {name}\n");
    let heading = "OBJS ACTIVE USE OBJ SIZE SLABS OBJ/SLAB CACHE SIZE NAME\n";
    let list = format!(
        "{heading}{}{}{}{}",
        row(640, "dentry"),
        row(640, "amdgpu_sync"),
        row(630, "kmalloc-rnd"),
        row(620, "kmalloc-rnd")
    );
    let paste = read(&list);
    let table = only(&paste);
    assert!(table.has_cut_names);
    assert_eq!(table.moments.len(), 1);
    let mut names: Vec<_> = families(table);
    names.sort();
    let expected = [("amdgpu_sync…", 640), ("dentry", 640), ("kmalloc-rnd…", 1250)];
    assert_eq!(names, expected.map(|(name, objects)| (name.to_owned(), Some(objects))));
    assert!(!only(&read(&format!("{heading}{}", row(640, "dentry")))).has_cut_names);
}

#[test]
fn traces_of_allocations_have_the_bytes_of_the_cache_in_their_path() {
    let traces = |cache: &str, function: &str, objects: u64| {
        format!(
            "==> /sys/kernel/debug/slab/{cache}/alloc_traces <==\n{objects} {function}+0x1/0x2 age=1/2/3 pid=1-9 cpus=0-1\n \
             kmem_cache_alloc+0x1/0x2\n        {function}+0x1/0x2\n\n"
        )
    };
    let paste =
        read(&(traces("kmalloc-64", "many_small", 1000) + &traces("kmalloc-4k", "few_large", 500)));
    let found = holders(only(&paste).last().clone());
    let of: Vec<_> = found.families.iter().map(|it| (it.name.as_str(), it.held_bytes)).collect();
    assert_eq!(of, [("few_large", Some(500 << 12)), ("many_small", Some(1000 << 6))]);
    assert_eq!(paste.hosts, Vec::<String>::new(), "a cache is no host");
    // Without a size those with most objects come first.
    let line = |function: &str, objects: u64| {
        format!("{objects} {function}+0x1/0x2 age=1/2/3 pid=1-9 cpus=0-1\n {function}+0x1/0x2\n\n")
    };
    let paste = read(&(line("a_few", 3) + &line("z_many", 900)));
    assert_eq!(families(only(&paste))[0].0, "z_many");
}

#[test]
fn moments_before_and_after_summer_time_are_of_one_machine() {
    let text: String = [("02:55:01", "CEST"), ("02:05:01", "CET"), ("03:05:01", "CET")]
        .iter()
        .map(|(time, zone)| {
            format!("Sun Oct 25 {time} {zone} 2026\n{HEADING}{}", row("dentry", 320))
        })
        .collect();
    let paste = read(&text);
    let table = only(&paste);
    assert_eq!((apart(&paste, table), table.moments.len()), (None, 3));
    let times: Vec<_> = table.moments.iter().map(|moment| moment.time_seconds.unwrap()).collect();
    assert_eq!((times[1] - times[0], times[2] - times[1]), (600.0, 3600.0));
}

#[test]
fn moments_of_two_kernels_are_of_two_boots() {
    let of = |release: &str, objects: u64| {
        format!(
            "Linux pi {release} #1642 SMP PREEMPT Mon Apr 3 17:24:16 BST 2023 aarch64 GNU/Linux\n{HEADING}{}",
            row("dentry", objects)
        )
    };
    let paste = read(&(of("6.1.21-v8+", 320) + &of("6.6.20-v8+", 640)));
    let table = only(&paste);
    assert_eq!((table.earlier_boots, table.moments.len()), (1, 1));
    assert_eq!(families(table), [("dentry".to_owned(), Some(640))]);
    let one = read(&(of("6.1.21-v8+", 320) + &of("6.1.21-v8+", 640)));
    assert_eq!((only(&one).earlier_boots, only(&one).moments.len()), (0, 2));
    assert!(!matches!(apart(&one, only(&one)), Some(Apart::Machines(..))));
}

#[test]
fn a_list_of_call_sites_that_comes_again_is_the_next_moment() {
    let list = |at: u64| {
        [
            (12_582_912, "mm/slub.c:3059 func:alloc_slab_page"),
            (943_718_400 + (at << 20), "drivers/gpu/ttm_pool.c:105 [ttm] func:ttm_pool_alloc_page"),
            (262_144_000, "mm/memory.c:1190 func:alloc_anon_folio"),
        ]
        .map(|(bytes, site)| format!("{bytes:>12} 100 {site}\n"))
    };
    for before in ["", "Nov 20 10:00:00 rocm3 allocmon[4711]: "] {
        let lines = (0..3).flat_map(list).map(|line| format!("{before}{line}"));
        let paste = read(&lines.collect::<String>());
        let table = only(&paste);
        assert_eq!(table.moments.len(), 3, "{before}");
        let held = holders(table.last().clone()).held_bytes;
        assert_eq!(held, 943_718_400 + (2 << 20) + 262_144_000, "{before}");
    }
    // A line of the source with several tags is one entry of one list.
    let tags = "4096 1 mm/a.c:1 func:a\n8192 2 mm/b.c:2 func:b\n\
        4096 1 mm/a.c:1 func:a\n512 1 mm/c.c:3 func:c\n";
    assert_eq!(only(&read(tags)).moments.len(), 1);
}

#[test]
fn stacks_behind_a_loggers_words_stay_with_their_row() {
    let object = |address: u64| {
        format!(
            "unreferenced object 0x{address:x} (size 2048):\n  comm \"sh\", pid 70, jiffies 42 (age 8.590s)\n  \
             hex dump (first 32 bytes):\n    00 00 1a 00\n  backtrace (crc 5f7b1e2a):\n    \
             [<0000000000e25b5a>] __kmalloc+0x161/0x2c0\n    [<0000000000e25b5b>] sk_alloc+0x35/0x2f0\n"
        )
    };
    let plain: String = (0..4).map(|at| object(0xffff_8881_0000_0000 + at * 4096)).collect();
    for (at, before) in
        ["", "[ 1000.50] kmemleak: ", "Nov 20 10:00:0# pi mon[12]: "].iter().enumerate()
    {
        let numbered = |(number, line): (usize, &str)| {
            format!("{}{line}\n", before.replace('#', &(number / 4).to_string()))
        };
        let text: String = plain.lines().enumerate().map(numbered).collect();
        let paste = read(&text);
        let found = families(only(&paste));
        assert_eq!(found, [("sk_alloc".to_owned(), Some(4))], "{at}");
    }
    // Each dated list is whole, though objects of before are in it again.
    let dated = |hour: u64| {
        let objects = 0..3 * (hour + 1);
        let objects: String = objects.map(|at| object(0xffff_8881_0000_0000 + at * 4096)).collect();
        format!("Fri Nov 20 1{hour}:00:00 UTC 2026\n{objects}")
    };
    let paste = read(&(0..5).map(dated).collect::<String>());
    let table = only(&paste);
    assert_eq!((table.moments.len(), families(table)[0].1), (5, Some(15)));
}

#[test]
fn a_spreadsheet_may_have_its_columns_in_any_order() {
    let text = "name,objsize,num_objs,active_objs,objperslab,pagesperslab\ndentry,192,50400,45360,21,1\n\
        filp,256,1600,1500,16,1\n";
    let paste = read(text);
    let dentry = &only(&paste).last().entries[0];
    assert_eq!(
        (dentry.objects, dentry.slots, dentry.object_bytes),
        (Some(45_360), Some(50_400), Some(192))
    );
    assert_eq!(dentry.slab_bytes, Some(2400 << 12));
}

#[test]
fn a_cache_that_is_first_and_last_of_a_list_is_added() {
    let others: String = (0..20).map(|at| row(&format!("cache_{at}"), 320)).collect();
    let paste = read(&format!("{HEADING}{}{others}{}", row("zspage", 64), row("zspage", 32)));
    let table = only(&paste);
    assert_eq!(table.moments.len(), 1);
    assert!(families(table).contains(&("zspage".to_owned(), Some(96))));
}

#[test]
fn cgroups_are_told_apart_by_their_files_and_by_the_oom_killer() {
    let of =
        |cgroup: &str, bytes: u64| [(cgroup.to_owned(), bytes), (cgroup.to_owned(), bytes / 4)];
    let all = || [of("/kube/pod-a/init", 400 << 20), of("/kube/pod-b/init", 900 << 20)];
    let names = ["slab_unreclaimable", "slab_reclaimable"];
    let by_grep: String = all()
        .iter()
        .flat_map(|parts| parts.iter().zip(names))
        .map(|((cgroup, bytes), name)| {
            format!("/sys/fs/cgroup{cgroup}/memory.stat:{name} {bytes}\n")
        })
        .collect();
    let by_kernel: String = all()
        .iter()
        .map(|[(cgroup, kept), (_, back)]| {
            format!(
                "node1 kernel: Memory cgroup stats for {cgroup}:\nslab_reclaimable {back}\nslab_unreclaimable {kept}\n"
            )
        })
        .collect();
    for text in [by_grep, by_kernel] {
        let paste = read(&text);
        let hosts: Vec<_> = paste.tables.iter().filter_map(|table| table.host.as_deref()).collect();
        assert_eq!(hosts, ["/kube/pod-a/init", "/kube/pod-b/init"], "{text}");
        // A list of all caches beside them is of the machine.
        let paste = read(&format!("{text}{HEADING}{}", row("dentry", 320)));
        let caches = paste.tables.iter().find(|table| table.kind == Kind::Slabinfo).unwrap();
        assert_eq!(caches.host, None, "{text}");
    }
}

#[test]
fn a_moment_that_was_pasted_twice_is_one_and_times_that_fall_are_said() {
    let moment = |minute: u64, objects: u64| {
        format!("2026-11-20 10:{minute:02}:00\n{HEADING}{}", row("dentry", objects))
    };
    let paste = read(&(moment(0, 32) + &moment(10, 64) + &moment(10, 64) + &moment(20, 96)));
    let table = only(&paste);
    assert_eq!((table.moments.len(), table.times_fall), (3, false));
    assert_eq!(
        table.moments[2].time_seconds.unwrap() - table.moments[0].time_seconds.unwrap(),
        1200.0
    );
    let paste = read(&(moment(0, 32) + &moment(10, 64) + &moment(10, 960) + &moment(20, 96)));
    assert!(only(&paste).times_fall);
}
