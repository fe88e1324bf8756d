//! Moments: where one ends, when it was, and what grows from one to the next.

use slablab_snapshot::{Apart, Kind, Pace, Paste, apart, growth, holders};

fn read(text: &str) -> Paste {
    Paste::read(text.as_bytes()).expect("memory can be read")
}

fn row(name: &str, objects: u64) -> String {
    let slabs = objects / 32;
    format!("{name} {objects} {objects} 128 32 1 : tunables 0 0 0 : slabdata {slabs} {slabs} 0\n")
}

#[test]
fn a_cache_that_is_named_again_begins_a_moment_also_without_heading() {
    let text: String = (1..=3).map(|at| row("bio-2", 3200 * at) + &row("filp", 640)).collect();
    let paste = read(&text);
    assert_eq!(paste.tables[0].moments.len(), 3, "{paste:?}");
    let grown = growth(&paste.tables[0].moments, None);
    assert_eq!((grown[0].name.as_str(), grown[0].pace), ("bio-2", Pace::Rose));
    assert_eq!(grown[0].change_bytes(), 6400 * 128);
    assert_eq!(grown[0].rise.interval, None, "three moments have no interval");
}

#[test]
fn a_cache_that_is_missing_at_a_moment_is_not_zero_there() {
    let text: String = (1..=6)
        .map(|at| {
            format!(
                "slabinfo - version: 2.1\n{}{}",
                row("filp", 640),
                if at == 3 { String::new() } else { row("bio-2", 3200) }
            )
        })
        .collect();
    let paste = read(&text);
    let grown = growth(&paste.tables[0].moments, None);
    let bio = grown.iter().find(|growth| growth.name == "bio-2").unwrap();
    assert_eq!((bio.moments, bio.pace, bio.first_bytes), (5, Pace::Flat, 3200 * 128));
}

#[test]
fn times_come_from_the_text_or_from_the_files() {
    let moment = |time: &str, at: u64| format!("{time}\n{}", row("bio-2", 3200 * at));
    let text = moment("Tue Mar 3 04:00:01 UTC 2026", 1)
        + &moment("Tue Mar 3 05:00:01 UTC 2026", 2)
        + &moment("Tue Mar 3 06:00:01 UTC 2026", 3);
    let grown = growth(&read(&text).tables[0].moments, None);
    let an_hour = 3200.0 * 128.0;
    assert!(grown[0].rise.is_timed);
    assert!((grown[0].rise.bytes_per_step * 3600.0 - an_hour).abs() < 1.0, "{grown:?}");
    let files =
        vec![(read(&row("bio-2", 3200)), Some(1000.0)), (read(&row("bio-2", 6400)), Some(4600.0))];
    let paste = Paste::joined(files);
    let grown = growth(&paste.tables[0].moments, None);
    assert!((grown[0].rise.bytes_per_step * 3600.0 - an_hour).abs() < 1.0, "{grown:?}");
    // Files whose times do not follow each other tell none.
    let files =
        vec![(read(&row("bio-2", 3200)), Some(9.0)), (read(&row("bio-2", 6400)), Some(9.0))];
    let paste = Paste::joined(files);
    assert!(!growth(&paste.tables[0].moments, None)[0].rise.is_timed);
    assert!(growth(&paste.tables[0].moments, Some(60.0))[0].rise.is_timed);
}

#[test]
fn copies_of_a_cache_are_added_up() {
    let text =
        (1..=15).map(|at| row(&format!("kmalloc-part-{at:02}-128"), 3200)).collect::<String>()
            + &row("kmalloc-128", 32)
            + &row("dentry(412:app.service)", 64)
            + &row("dentry(77:db.service)", 64);
    let holders = holders(read(&text).tables[0].last().clone());
    assert_eq!(
        (holders.families[0].name.as_str(), holders.families[0].members),
        ("kmalloc-part-*-128", 15)
    );
    assert_eq!(holders.families[0].held_bytes, Some(15 * 100 * 4096));
    assert_eq!(holders.most, 1);
    let dentry = holders.families.iter().find(|family| family.name == "dentry(*)").unwrap();
    assert_eq!((dentry.members, dentry.held_bytes), (2, Some(4 * 4096)));
}

#[test]
fn several_tables_of_one_text_are_all_read() {
    let text = format!(
        "MemTotal: 1034816 kB\nSlab: 752028 kB\nSReclaimable: 700000 kB\n{}{}",
        row("filp", 640),
        "8192 2 kernel/fork.c:311 func:alloc_thread_stack_node\n"
    );
    let paste = read(&text);
    let kinds: Vec<_> = paste.tables.iter().map(|table| table.kind).collect();
    assert_eq!(kinds, [Kind::Slabinfo, Kind::Allocinfo, Kind::Meminfo]);
    assert_eq!(paste.machine[0].machine.slab_bytes(), Some(752_028 << 10));
    assert_eq!(paste.machine[0].machine.unreclaimable_bytes, None, "absent is not zero");
}

#[test]
fn a_moment_of_which_no_row_can_be_read_keeps_its_place() {
    let heading = "slabinfo - version: 2.1\n# name            <active_objs> <num_objs> <objsize>\n";
    let moment = |rows: &str| format!("{heading}{rows}");
    let text = moment(&row("bio-2", 3200))
        + &moment("bio-2 6400 64\nfilp 6")
        + "\n"
        + &moment(&row("bio-2", 9600))
        + &moment("bio-2 12800 12\n");
    let paste = read(&text);
    let table = &paste.tables[0];
    let rows: Vec<usize> = table.moments.iter().map(|moment| moment.entries.len()).collect();
    assert_eq!(rows, [1, 0, 1, 0], "{paste:#?}");
    assert_eq!(table.last().entries[0].objects, Some(9600));
    assert_eq!(paste.unread_lines, 3, "{paste:#?}");
    let grown = growth(&table.moments, Some(60.0));
    let rate = grown[0].rise.bytes_per_step;
    assert!((rate - 6400.0 * 128.0 / 120.0).abs() < 1e-6, "the moments are two minutes apart");
}

#[test]
fn meminfo_is_a_table_of_two_halves_with_its_own_moments() {
    let moment = |minute: u32, unreclaimable: u32| {
        format!(
            "Tue Mar 3 04:{minute:02}:01 UTC 2026\nMemTotal: 1034816 kB\nSlab: {} kB\n\
             SReclaimable: 1000 kB\nSUnreclaim: {unreclaimable} kB\n",
            unreclaimable + 1000
        )
    };
    let text: String = (0..6).map(|at| moment(at, 5000 + 600 * at)).collect();
    let paste = read(&text);
    assert_eq!(paste.tables.len(), 1);
    let table = &paste.tables[0];
    assert_eq!((table.kind, table.moments.len(), table.rows), (Kind::Meminfo, 6, 12));
    let grown = growth(&table.moments, None);
    assert_eq!((grown[0].name.as_str(), grown[0].pace), ("SUnreclaim", Pace::Grows));
    assert!((grown[0].rise.bytes_per_step - 600.0 * 1024.0 / 60.0).abs() < 1e-6, "{grown:?}");
    assert_eq!(holders(table.last().clone()).kept_bytes, 8000 << 10);
}

#[test]
fn moments_of_two_machines_or_kernels_are_known_as_such() {
    let of = |memory: u64, bytes: u64| {
        let row =
            |name: &str| format!("{name} 32 32 {bytes} 32 1 : tunables 0 0 0 : slabdata 1 1 0\n");
        read(&format!("MemTotal: {memory} kB\n{}{}", row("filp"), row("bio-2")))
    };
    let joined = |a: Paste, b: Paste| Paste::joined(vec![(a, None), (b, None)]);
    let apart = |a, b| {
        let paste = joined(a, b);
        apart(&paste, &paste.tables[0])
    };
    assert_eq!(apart(of(16_000_000, 128), of(16_000_100, 128)), None);
    let two = Some(Apart::Memory(16_000_000 << 10, 4_000_000 << 10));
    assert_eq!(apart(of(16_000_000, 128), of(4_000_000, 128)), two);
    let kernels = Some(Apart::Objects("filp".to_owned(), 128, 120));
    assert_eq!(apart(of(16_000_000, 128), of(16_000_000, 120)), kernels);
}

#[test]
fn a_failed_allocation_names_its_cache_and_what_it_holds() {
    let text = "[ 12.1] SLUB: Unable to allocate memory on CPU 0 (of node 0) on node -1, gfp=0x480020(GFP_ATOMIC)\n\
        [ 12.1]   cache: kmalloc-1k, object size: 1000, buffer size: 1024, default order: 3, min order: 0\n\
        [ 12.1]   kmalloc-1k debugging increased min order, use slab_debug=O to disable.\n\
        [ 12.1]   node 0: slabs: 12, objs: 345, free: 5\n\
        [ 12.1]   node 1: slabs: 1, objs: 32, free: 0\n\
        [ 12.2] SLAB: Unable to allocate memory on node 0 (gfp=0x0)\n\
        [ 12.2]   cache: size-64, object size: 64, order: 0\n\
        [ 12.2]   node 0: slabs: 10/12, objs: 600/700, free: 100\n";
    let paste = read(text);
    let table = &paste.tables[0];
    assert_eq!((table.kind, table.moments.len()), (Kind::SlubFailed, 1));
    let [kmalloc, size] = &table.last().entries[..] else { panic!("{paste:#?}") };
    assert_eq!(
        (kmalloc.name.as_str(), kmalloc.slots, kmalloc.objects),
        ("kmalloc-1k", Some(377), Some(372))
    );
    assert_eq!((kmalloc.slabs, kmalloc.held_bytes()), (Some(13), Some(377 << 10)));
    assert_eq!((size.name.as_str(), size.slots, size.objects), ("size-64", Some(700), Some(600)));
}

fn slabinfo(objects: u64) -> String {
    format!("slabinfo - version: 2.1\n{}", row("bio-2", objects))
}

#[test]
fn tables_of_several_hosts_are_tables_of_their_own() {
    let each = |host: &str, text: &str| {
        text.lines().map(|line| format!("{host}: {line}\n")).collect::<String>()
    };
    let prompts = format!(
        "[root@web01 ~]# cat it\n{}[root@web02 ~]# cat it\n{}",
        slabinfo(3200),
        slabinfo(6400)
    );
    let shells = each("web01", &slabinfo(3200)) + &each("web02", &slabinfo(6400));
    let loggers = "Jun 3 11:02:33 web01 kernel: Unreclaimable slab info:\n\
                   Jun 3 11:02:33 web01 kernel: bio-2 400KB 400KB\n\
                   Jun 3 11:04:10 web02 kernel: Unreclaimable slab info:\n\
                   Jun 3 11:04:10 web02 kernel: bio-2 800KB 800KB\n";
    for text in [&prompts, &shells, loggers] {
        let paste = read(text);
        let tables: Vec<_> =
            paste.tables.iter().map(|t| (t.host.as_deref(), t.moments.len())).collect();
        assert_eq!(tables, [(Some("web01"), 1), (Some("web02"), 1)], "{text}");
    }
    let files = [("web01", 3200), ("web02", 6400)];
    let files =
        files.map(|(host, n)| (read(&format!("root@{host}:~# cat it\n{}", slabinfo(n))), None));
    let paste = Paste::joined(files.into());
    assert_eq!((paste.tables.len(), paste.tables[1].host.as_deref()), (2, Some("web02")));
    // One host is none: the rows above its prompt are of it, too.
    let paste = read(&format!("{}root@web01:~# cat it\n{}", slabinfo(3200), slabinfo(6400)));
    assert_eq!((paste.tables.len(), paste.tables[0].moments.len()), (1, 2));
}

#[test]
fn moments_are_in_the_order_of_their_dates_and_a_boot_has_none() {
    let dated = |day: u32, objects| format!("2026-03-{day:02} 04:00:00\n{}", slabinfo(objects));
    let text: String = (1..=5).rev().map(|day| dated(day, u64::from(day) * 3200)).collect();
    let grown = growth(&read(&text).tables[0].moments, None);
    assert_eq!((grown[0].pace, grown[0].first_bytes), (Pace::Grows, 3200 * 128));
    let booted = |seconds: u32, objects| format!("[ {seconds}.000000] x\n{}", slabinfo(objects));
    let text = booted(4000, 3200) + &booted(10, 6400);
    let table = &read(&text).tables[0];
    assert_eq!(table.moments[1].time_seconds, None, "it has booted between them");
    assert_eq!(table.last().entries[0].objects, Some(6400));
    let night = ["22:00:00", "23:00:00", "00:00:00"];
    let text: String = night.iter().map(|time| format!("{time}\n{}", slabinfo(3200))).collect();
    let times =
        read(&text).tables[0].moments.iter().map(|moment| moment.time_seconds).collect::<Vec<_>>();
    assert_eq!(times[2].zip(times[0]).map(|(b, a)| b - a), Some(7200.0));
}

#[test]
fn what_the_text_says_of_all_caches_and_of_lines_left_out_is_kept() {
    let head = " Active / Total Size (% used)       : 1681083.55K / 3255397.62K (51.6%)\n";
    let rows = "  OBJS ACTIVE  USE OBJ SIZE  SLABS OBJ/SLAB CACHE SIZE NAME\n\
                960000 959000  99%    0.25K  30000       32    240000K flow_entry\n";
    let paste = read(&format!("{head}{rows}[... 114 lines omitted ...]\n"));
    assert_eq!(paste.machine[0].machine.caches_bytes, Some(3_333_527_162));
    assert!(paste.tables[0].may_be_cut);
    assert!(!read(&format!("{head}{rows}")).tables[0].may_be_cut);
}

#[test]
fn rows_in_json_and_in_spreadsheets_are_rows() {
    let rows = [
        "bio-2 3200 3200 128 32 1 : tunables 0 0 0 : slabdata 100 100 0",
        "page->ptl 56 56 72 56 1 : tunables 0 0 0 : slabdata 1 1 0",
    ];
    let escaped =
        format!("{{\"stdout\": \"slabinfo - version: 2.1\\n{}\\n\"}}\n", rows.join("\\n"));
    let log = rows.map(|row| format!("{{\"log\":\"{row}\\n\",\"stream\":\"stdout\"}}\n")).concat();
    let list = rows.map(|row| format!("        \"{row}\",\n")).concat();
    let sheet = |separator: &str| {
        let cell = |line: &str| {
            line.split(' ').map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(separator) + "\n"
        };
        [
            "name active_objs num_objs objsize objperslab pagesperslab active_slabs num_slabs",
            "bio-2 3200 3200 128 32 1 100 100",
            "page->ptl 56 56 72 56 1 1 1",
        ]
        .map(cell)
        .concat()
    };
    let numbered =
        "1:slabinfo - version: 2.1\n".to_owned() + &format!("7:{}\n12:{}\n", rows[0], rows[1]);
    let long = format!("{{\"out\":\"{}\"}}", rows.join("\\n") + &"\\nnothing".repeat(2000));
    for text in [escaped, log, list, sheet(","), sheet(";"), numbered, long] {
        let paste = read(&text);
        let entries = &paste.tables[0].last().entries;
        let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["bio-2", "page->ptl"], "{text}");
        assert_eq!(
            (entries[0].slab_bytes, entries[1].slab_bytes),
            (Some(409_600), Some(4096)),
            "{text}"
        );
        assert_eq!(paste.unread_lines, 0, "{text}");
    }
}

#[test]
fn allocations_in_the_log_of_the_oom_killer_are_call_sites() {
    let text = "[ 12.3] Memory allocations (profiling is currently turned on):\n\
                [ 12.3]      122 MiB    31168 mm/page_ext.c:270 func:alloc_page_ext\n\
                [ 12.3]     20.5 MiB     5120 drivers/net/foo.c:10 [foo] func:foo_rx\n";
    let paste = read(text);
    let entries = &paste.tables[0].last().entries;
    assert_eq!((entries[0].live_bytes, entries[1].live_bytes), (Some(122 << 20), Some(41 << 19)));
    assert_eq!(entries[1].place, "drivers/net/foo.c:10 [foo]");
}

#[test]
fn rows_of_linux_2_4_whose_numbers_run_together_are_not_those_of_2_6() {
    let text = "slabinfo - version: 1.1\nkmem_cache  6078    100    2    2    1\n\
                inode_cache    7005  14792    480 1598 1849    1\nvm_area_struct 1204   165264   23   28    1\n";
    let paste = read(text);
    assert_eq!(paste.tables.len(), 1, "{paste:#?}");
    assert_eq!((paste.tables[0].kind, paste.tables[0].rows), (Kind::Slabinfo1, 1));
    assert_eq!(paste.unread_lines, 2, "{paste:#?}");
}

#[test]
fn memory_stat_is_in_bytes_and_of_a_cgroup() {
    let paste = read(
        "anon 4096\nslab_reclaimable 1000\nslab_unreclaimable 143096\nslab 144096\npgfault 7\n",
    );
    let table = &paste.tables[0];
    assert_eq!((paste.tables.len(), table.kind), (1, Kind::MemoryStat));
    let holders = holders(table.last().clone());
    assert_eq!((holders.given_back_bytes, holders.kept_bytes), (1000, 143_096));
    assert_eq!(
        read("nr_slab_reclaimable 10\nnr_slab_unreclaimable 20\n").tables[0].kind,
        Kind::Meminfo
    );
}

/// Returns the hosts of the tables of slabinfo, each with how many moments it has.
fn hosts(text: &str) -> Vec<(Option<String>, usize)> {
    let paste = read(text);
    paste.tables.into_iter().map(|table| (table.host, table.moments.len())).collect()
}

fn of_two(text: impl Fn(&str, &str) -> String) -> String {
    text("web01", &slabinfo(3200)) + &text("web02", &slabinfo(6400))
}

#[test]
fn hosts_in_heads_of_remote_shells_are_told_apart() {
    let two = vec![(Some("web01".to_owned()), 1), (Some("web02".to_owned()), 1)];
    for text in [
        of_two(|host, rows| format!("[me@laptop ~]$ ssh root@{host} cat /proc/slabinfo\n{rows}")),
        of_two(|host, rows| format!("---------------\n{host}\n---------------\n{rows}")),
        of_two(|host, rows| format!("{host}:\n{}", rows.replace("bio", "    bio"))),
        of_two(|host, rows| format!("==> {host}/slabinfo <==\n{rows}\n")),
        of_two(|host, _| format!("root@{host}:~# awk it\nbio-2 32 32 128 32 1\nfilp 32 32 128 32 1\n")),
        "time,host,name,active_objs,num_objs,objsize,objperslab,pagesperslab\n\
         2025-06-03 10:00:00,web01,bio-2,32,32,128,32,1\n2025-06-03 10:00:00,web02,bio-2,64,64,128,32,1\n\
         2025-06-03 10:00:00,web01,filp,32,32,128,32,1\n2025-06-03 10:00:00,web02,filp,64,64,128,32,1\n"
            .to_owned(),
    ] {
        assert_eq!(hosts(&text), two, "{text}");
    }
}

#[test]
fn what_people_write_before_moments_of_one_machine_names_no_host() {
    let names = |names: &[&str]| {
        let each = |(at, name): (usize, &&str)| {
            row("bio-2", 3200 * (at as u64 + 1))
                .lines()
                .map(|line| format!("{name} {line}\n"))
                .collect::<String>()
        };
        names.iter().enumerate().map(each).collect::<String>()
    };
    for text in [
        names(&["t0:", "t1:", "t2:"]),
        names(&["Mon:", "Tue:", "Wed:"]),
        names(&["baseline:", "later:", "now:"]),
        names(&[
            "2025-06-03T10:00:00Z first sample:",
            "2025-06-03T11:00:00Z second sample:",
            "2025-06-03T12:00:00Z third sample:",
        ]),
        names(&[
            "2025-06-03T10:00:00Z INFO mon:",
            "2025-06-03T11:00:00Z WARN mon:",
            "2025-06-03T12:00:00Z INFO mon:",
        ]),
        names(&["root@web01:~#", "root@WEB01.example.org:~#", "root@web01:~#"]),
        "root@3f2a9c1b77de:/# cat it\n".to_owned()
            + &slabinfo(32)
            + "root@9d21ee04ab3c:/# cat it\n"
            + &slabinfo(64)
            + "root@9d21ee04ab3d:/# cat it\n"
            + &slabinfo(96),
        // Words above tables of different kinds.
        format!(
            "slabinfo:\n{}{}{}caches:\n  OBJS ACTIVE  USE OBJ SIZE  SLABS\n",
            slabinfo(1),
            slabinfo(2),
            slabinfo(3)
        ),
    ] {
        assert_eq!(hosts(&text)[0], (None, 3), "{text}");
    }
}

#[test]
fn halves_of_the_day_and_zones_are_looked_at() {
    let at = |time: &str, objects| format!("{time}\n{}", slabinfo(objects));
    let hours = |text: String| {
        let moments = &read(&text).tables[0].moments;
        let seconds = moments[1].time_seconds.zip(moments[0].time_seconds);
        (seconds.map(|(b, a)| (b - a) / 3600.0), moments[1].entries[0].objects)
    };
    for (first, second, apart) in [
        ("Tue Jun  3 11:30:00 AM UTC 2025", "Tue Jun  3 02:00:00 PM UTC 2025", 2.5),
        ("Tue Jun  3 12:30:00 AM UTC 2025", "Tue Jun  3 12:30:00 PM UTC 2025", 12.0),
        ("2025-06-03 11:00:00 am", "2025-06-03 01:00:00 pm", 2.0),
        ("Tue Jun  3 23:00:00 UTC 2025", "2025-06-03T20:00:00-04:00", 1.0),
        ("Sun Oct 26 02:30:00 CEST 2025", "Sun Oct 26 02:15:00 CET 2025", 0.75),
        ("2025-06-03T10:00:00+02:00", "2025-06-03T10:00:00Z", 2.0),
    ] {
        assert_eq!(
            hours(at(first, 3200) + &at(second, 6400)),
            (Some(apart), Some(6400)),
            "{second}"
        );
    }
}

#[test]
fn times_of_two_clocks_or_of_one_that_was_not_set_are_none() {
    let boot = read(&format!("[ 4411.000000] x\n{}", slabinfo(3200)));
    let date = read(&format!("2025-06-03 10:00:00\n{}", slabinfo(6400)));
    let unset =
        format!("1970-01-01 00:01:00\n{}2025-06-03 10:00:00\n{}", slabinfo(3200), slabinfo(6400));
    for paste in [Paste::joined(vec![(boot, None), (date, None)]), read(&unset)] {
        let moments = &paste.tables[0].moments;
        assert!(moments.iter().all(|moment| moment.time_seconds.is_none()), "{paste:#?}");
        assert_eq!(moments[1].entries[0].objects, Some(6400));
    }
}

#[test]
fn a_hex_dump_with_the_signs_of_a_line_end_is_one_line() {
    let text = "unreferenced object 0x80c93c80 (size 128):\n  comm \"a\", pid 326, jiffies 429 (age 20.570s)\n  \
                hex dump (first 32 bytes):\n    5c 6e 3d 80 c0 09 a0 00 00 00 20 00 00 00 00 02  \\n=....... .....\n  \
                backtrace:\n    [<800dcf10>] port_load+0x18c8/0x2390 [port]\n";
    assert_eq!(read(text).tables[0].last().entries[0].name, "port_load");
}

#[test]
fn a_stack_in_one_string_of_python_is_a_stack() {
    let text = "8 bytes in 1 allocations from stack\n\t\tb'pcpu_alloc+0x3d8 [kernel]\\n\\t\\tport_open+0x33 [port]'\n";
    assert_eq!(read(text).tables[0].last().entries[0].stack, ["pcpu_alloc", "port_open [port]"]);
}

#[test]
fn each_row_of_which_a_column_is_left_is_counted() {
    let cut = "dentry 840000\nfilp 210\nbio-3 17\nvm_area_struct 99\ninode_cache 7\nkmalloc-64 1\n";
    let paste = read(&(slabinfo(3200) + "slabinfo - version: 2.1\n" + cut + &slabinfo(6400)));
    assert_eq!((paste.unread_lines, paste.tables[0].moments.len()), (6, 3), "{paste:#?}");
}

#[test]
fn tables_under_names_are_not_moments_and_under_times_they_are() {
    let pair = |one: &str, other: &str| {
        let text = format!("{one}\n{}\n{other}\n{}", slabinfo(3200), slabinfo(6400));
        let paste = read(&text);
        (apart(&paste, &paste.tables[0]).is_some(), paste.tables[0].moments.len())
    };
    for (one, other) in [
        ("===== web1 =====", "===== web2 ====="),
        ("Good machine:", "Bad machine:"),
        ("$ kubectl debug node/a1 -it", "$ kubectl debug node/b2 -it"),
        (
            "# cat /sys/fs/cgroup/memory/x/memory.kmem.slabinfo",
            "# cat /sys/fs/cgroup/memory/y/memory.kmem.slabinfo",
        ),
        ("With 5.10:", "With 6.1:"),
    ] {
        assert_eq!(pair(one, other), (true, 2), "{one}");
    }
    for (one, other) in [("Before:", "After:"), ("run 1", "run 2"), ("An hour ago", "Now")] {
        assert_eq!(pair(one, other), (false, 2), "{one}");
    }
}

#[test]
fn what_answers_a_mail_is_later_than_what_it_quotes() {
    let quoted: String = slabinfo(3200).lines().map(|line| format!("> {line}\n")).collect();
    let mail = format!("Now it is\n{}\nBob wrote:\n{quoted}", slabinfo(6400));
    assert_eq!(read(&mail).tables[0].last().entries[0].objects, Some(6400));
    let dated = format!(
        "Date: Mon, 11 Mar 2024 10:00:00 +0100\n{}\nOn Mon, Mar 4, 2024 at 10:00 AM Bob wrote:\n{quoted}",
        slabinfo(6400)
    );
    let table = &read(&dated).tables[0];
    let times: Vec<_> = table.moments.iter().filter_map(|moment| moment.time_seconds).collect();
    assert_eq!(table.last().entries[0].objects, Some(6400));
    assert!(
        times.len() == 2 && (6.9..7.1).contains(&((times[1] - times[0]) / 86_400.0)),
        "{times:?}"
    );
    let newest_first = format!("Now:\n{}\n2 days ago:\n{}", slabinfo(6400), slabinfo(3200));
    assert_eq!(read(&newest_first).tables[0].last().entries[0].objects, Some(6400));
}

#[test]
fn growth_does_not_go_on_over_a_boot() {
    let oom = |day: u32, clock: u32, used: u32| {
        format!(
            "Mar {day} 09:00:00 box kernel: [{clock}.000000] Unreclaimable slab info:\n\
             Mar {day} 09:00:00 box kernel: [{clock}.000001] Name                      Used          Total\n\
             Mar {day} 09:00:00 box kernel: [{clock}.000002] kmalloc-64         {used}KB   {used}KB\n"
        )
    };
    let table = |text: &str| {
        let table = read(text).tables.remove(0);
        (table.moments.len(), table.earlier_boots)
    };
    assert_eq!(table(&(oom(4, 1000, 100) + &oom(5, 90_000, 200))), (2, 0));
    assert_eq!(table(&(oom(4, 90_000, 100) + &oom(5, 1000, 200))), (1, 1));
    let up = |what: &str, objects| {
        format!("10:00:01 up {what}, 1 user, load average: 0.1\n{}", slabinfo(objects))
    };
    assert_eq!(table(&(up("12 days", 3200) + &up("10 min", 6400))), (1, 1));
    assert_eq!(table(&(up("12 days", 3200) + &up("13 days", 6400))), (2, 0));
}

#[test]
fn a_list_that_names_a_cache_twice_is_one_moment() {
    let list = |names: &[&str]| -> String { names.iter().map(|name| row(name, 3200)).collect() };
    let names = ["a-1", "b-1", "c-1", "d-1", "e-1", "f-1", "g-1", "h-1", "p9-1"];
    let twins = list(&names) + &list(&["p9-1", "p9-1", "i-1"]);
    let table = read(&twins).tables.remove(0);
    assert_eq!((table.moments.len(), table.last().entries.len()), (1, 10));
    assert_eq!(table.last().entries[8].objects, Some(9600));
    let grown = list(&names) + &list(&["a-1"]).repeat(5);
    assert_eq!(read(&grown).tables[0].moments.len(), 6);
    let apart = list(&["a-1", "b-1", "c-1", "d-1", "b-1", "e-1", "f-1", "g-1"]);
    assert_eq!(read(&apart).tables[0].moments.len(), 1);
    let moments = list(&["a-1", "b-1", "a-1", "b-1", "a-1", "b-1"]);
    assert_eq!(read(&moments).tables[0].moments.len(), 3);
}

#[test]
fn nodes_of_a_machine_are_added_up_and_are_no_moments() {
    let node = |at: u32, pages: u32| {
        format!(
            "Node {at}, zone   Normal\n  per-node stats\n      nr_slab_reclaimable 10\n      nr_slab_unreclaimable {pages}\n"
        )
    };
    let paste = read(&(node(0, 100) + &node(1, 300)));
    assert_eq!(paste.tables[0].moments.len(), 1);
    assert_eq!(paste.machine[0].machine.unreclaimable_bytes, Some(400 * 4096));
    let twice = node(0, 100) + &node(1, 300) + &node(0, 200) + &node(1, 300);
    assert_eq!(read(&twice).tables[0].moments.len(), 2);
}

#[test]
fn a_boot_after_which_no_row_can_be_read_leaves_the_moments_before_it() {
    let up = |what: &str| format!("10:00:01 up {what}, 1 user, load average: 0.1\n");
    let damaged = "slabinfo - version: 2.1\nbio-2 6400 64\nfilp 6\nslabinfo - version: 2.1\n";
    let text = up("12 days") + &slabinfo(3200) + &up("10 min") + damaged;
    assert_eq!(read(&text).tables[0].last().entries[0].objects, Some(3200));
}
