//! Every kind of table in everything that people put around one.

use slablab_snapshot::{Kind, Paste, holders};

fn read(text: &str) -> Paste {
    Paste::read(text.as_bytes()).expect("memory can be read")
}

/// A table with the entry that holds most, its bytes, and what is its line.
struct Sample {
    kind: Kind,
    /// How many entries it has
    entries: usize,
    most: &'static str,
    held_bytes: u64,
    heading: &'static str,
    rows: &'static str,
}

const SAMPLES: [Sample; 12] = [
    Sample {
        kind: Kind::Slabinfo,
        entries: 3,
        most: "flow_entry",
        held_bytes: 30_000 * 2 * 4096,
        heading: "slabinfo - version: 2.1\n# name            <active_objs> <num_objs> <objsize> <objperslab> \
             <pagesperslab> : tunables <limit> <batchcount> <sharedfactor> : slabdata <active_slabs> <num_slabs> \
             <sharedavail>\n",
        rows: "ext4_groupinfo_4k     66     84    144   28    1 : tunables    0    0    0 : slabdata      3      3      0\n\
               flow_entry        959000 960000    256   32    2 : tunables    0    0    0 : slabdata  30000  30000      0\n\
               :A-0000128          900    928    128   32    1 : tunables    0    0    0 : slabdata     29     29      0\n",
    },
    Sample {
        kind: Kind::Slabinfo,
        entries: 2,
        most: "size-64",
        held_bytes: 2000 * 4096,
        heading: "slabinfo - version: 2.1 (statistics)\n",
        rows: "size-64           110000 118000     64   59    1 : tunables  120   60    8 : slabdata   2000   2000      0 \
               : globalstat  119000 118000  2000    0    0    0   67    0    0 : cpustat 300000   2200 190000    200\n\
               kmem_cache           150    160    232   17    1 : tunables  120   60    8 : slabdata     10     10      0 \
               : globalstat     160    160    10    0    0    0   25    0    0 : cpustat    140     11      1      0\n",
    },
    Sample {
        kind: Kind::Slabinfo1,
        entries: 2,
        most: "dentry_cache",
        held_bytes: 900 * 4096,
        heading: "slabinfo - version: 1.1\n",
        rows: "tcp_tw_bucket         10     40     96    1    1    1\ndentry_cache       26000  27000    128  890  \
             900    1\n",
    },
    Sample {
        kind: Kind::Slabtop,
        entries: 2,
        most: "flow_entry",
        held_bytes: 240_000 << 10,
        heading: "  OBJS ACTIVE  USE OBJ SIZE  SLABS OBJ/SLAB CACHE SIZE NAME                   \n",
        rows: "960000 959000  99%    0.25K  30000       32    240000K flow_entry\n   928    900  96%    0.12K     \
             29       32       116K kmalloc-128\n",
    },
    Sample {
        kind: Kind::Vmstat,
        entries: 2,
        most: "flow_entry",
        held_bytes: 960_000 * 256,
        heading: "Cache                       Num  Total   Size  Pages\n",
        rows: "flow_entry               959000 960000    256     32\nkmalloc-128                 900    928    128     \
             32\n",
    },
    Sample {
        kind: Kind::Crash,
        entries: 2,
        most: "flow_entry",
        held_bytes: 30_000 * (8 << 10),
        heading: "CACHE             OBJSIZE  ALLOCATED     TOTAL  SLABS  SSIZE  NAME\n",
        rows: "ffff9d1a40042a00      256     959000    960000  30000     8k  flow_entry\nffff9d1a40042b00      128        \
             900       928     29     4k  kmalloc-128\n",
    },
    Sample {
        kind: Kind::Oom,
        entries: 2,
        most: "flow_entry",
        held_bytes: 240_000 << 10,
        heading: "Unreclaimable slab info:\nName                      Used          Total\n",
        rows: "flow_entry           239750KB     240000KB\nkmalloc-128             112KB        116KB\n",
    },
    Sample {
        kind: Kind::Allocinfo,
        entries: 2,
        most: "flow_add",
        held_bytes: 245_760_000,
        heading: "allocinfo - version: 2.0\n#     <size>  <calls> <tag info>\n",
        rows: "   245760000   960000 net/flow/table.c:77 [flow] func:flow_add\n        8192        2 \
             kernel/fork.c:311 func:alloc_thread_stack_node accurate:no\n",
    },
    Sample {
        kind: Kind::MmSlabinfo,
        entries: 2,
        most: "flow_entry",
        held_bytes: 245_700_000,
        heading: "Name                   Objects Objsize           Space Slabs/Part/Cpu  O/S O %Fr %Ef Flg\n",
        rows: "flow_entry              959000     256          245.7M    29990/8/10   32 1   0  99\nkmalloc-128                \
             900     128          118.7K        20/1/9   32 0   3  97 a\n",
    },
    Sample {
        kind: Kind::Spl,
        entries: 2,
        most: "flow_entry",
        held_bytes: 245_760_000,
        heading: "name                                    flags      size     alloc slabsize  objsize  total alloc   max  \
                  total alloc   max\n",
        rows: "flow_entry                            0x00020 245760000 245504000     8192      256 30000 30000 30000 960000 \
               959000 960000\nflow_key                              0x00100         -      8192        -      512     -     \
               -     -     -    16     -\n",
    },
    Sample {
        kind: Kind::Prometheus,
        entries: 1,
        most: "flow_entry",
        held_bytes: 30_000 * 8192,
        heading: "# TYPE node_slabinfo_active_objects gauge\n",
        rows: "node_slabinfo_active_objects{slab=\"flow_entry\"} 959000\nnode_slabinfo_objects{slab=\"flow_entry\"} \
             960000\nnode_slabinfo_object_size_bytes{slab=\"flow_entry\"} \
             256\nnode_slabinfo_objects_per_slab{slab=\"flow_entry\"} \
             32\nnode_slabinfo_pages_per_slab{slab=\"flow_entry\"} 2\n",
    },
    Sample {
        kind: Kind::Memleak,
        entries: 2,
        most: "flow_add",
        held_bytes: 4_194_304,
        heading: "[04:15:13] Top 10 stacks with outstanding allocations:\n",
        rows: "\t4194304 bytes in 1024 allocations from stack\n\t\tkmem_cache_alloc_noprof+0x15c \
             [kernel]\n\t\tflow_add+0x3c [flow]\n\t98304 bytes in 512 allocations from \
             stack\n\t\t__kmalloc_noprof+0x1be [kernel]\n\t\tkstrdup+0x40 [kernel]\n\t\trename_worker+0x88 [flow]\n",
    },
];

/// What is put around a table.
type Decoration = fn(&str) -> String;

fn each(text: &str, line: impl Fn(usize, &str) -> String) -> String {
    text.lines().enumerate().map(|(at, text)| line(at, text) + "\n").collect()
}

const DECORATIONS: [(&str, Decoration); 25] = [
    ("plain", |text| text.to_owned()),
    ("quoted", |text| each(text, |_, line| format!("> {line}"))),
    ("quoted twice", |text| each(text, |_, line| format!(">> > {line}"))),
    ("CRLF", |text| text.replace('\n', "\r\n")),
    ("tabs", |text| each(text, |_, line| line.split_whitespace().collect::<Vec<_>>().join("\t"))),
    ("indented", |text| each(text, |_, line| format!("      {line}"))),
    ("cat -n", |text| each(text, |at, line| format!("{:6}\t{line}", at + 1))),
    ("syslog", |text| {
        each(text, |at, line| format!("Mar  3 04:15:{:02} box logger[77]: {line}", at % 60))
    }),
    ("kernel log", |text| each(text, |at, line| format!("[ 4411.{at:06}] {line}"))),
    ("journal", |text| {
        each(text, |at, line| format!("2026-03-03T04:15:{:02}+0000 box kernel: {line}", at % 60))
    }),
    ("code block", |text| format!("Hello,\n\n```\n{text}```\n\nThanks, A.\n")),
    ("HTML", |text| {
        format!(
            "<pre>\n{}</pre>\n",
            text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
        )
    }),
    ("HTML with breaks", |text| {
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&#62;");
        text.replace('\n', "<br />") + "\n"
    }),
    ("HTML rows", |text| {
        let cell = |word: &str| format!("<td class=\"x\">{}</td>", word.replace('<', "&lt;"));
        each(text, |_, line| {
            format!("<tr>{}</tr>", line.split_whitespace().map(cell).collect::<String>())
        })
    }),
    ("HTML spans", |text| {
        each(text, |_, line| {
            let line = line.replace('<', "&lt;").replace('>', "&gt;");
            format!("<span class=\"line\"><a href=\"#1\"></a>{line}</span>")
        })
    }),
    ("carriage returns", |text| text.replace('\n', "\r")),
    ("prompt and more", |text| {
        format!(
            "root@box:~# cat it\n{text}root@box:~# ps aux\nUSER PID %CPU %MEM\nroot 1 0.0 0.0 2500 560 ? S Jan01 \
                 0:02 init\n"
        )
    }),
    ("mail with meminfo", |text| {
        format!(
            "From: a\nSubject: slabs\n\nMemTotal:      1034816 kB\nSlab:           752028 kB\n\n{text}\n-- \nA. \
                 Admin\n"
        )
    }),
    ("wrapped at 50", |text| each(text, |_, line| wrap(line, 50))),
    ("wrapped at 72", |text| each(text, |_, line| wrap(line, 72))),
    ("wrapped and quoted", |text| {
        each(&each(text, |_, line| wrap(line, 66)), |_, line| format!("> {line}"))
    }),
    ("quoted and wrapped", |text| each(text, |_, line| wrap(&format!("> {line}"), 64))),
    ("wrapped with blank lines", |text| each(text, |_, line| wrap(line, 62) + "\n")),
    ("cut at 60", |text| each(text, |_, line| cut(line, 60))),
    ("cut at 47", |text| each(text, |_, line| cut(line, 47))),
];

#[test]
fn every_table_is_read_in_every_decoration() {
    let mut read_ones = 0;
    for sample in &SAMPLES {
        for (name, decorate) in DECORATIONS {
            let text = decorate(&format!("{}{}", sample.heading, sample.rows));
            let paste = read(&text);
            let context = format!("{:?} {name}:\n{text}\n{paste:#?}", sample.kind);
            let table = paste.tables.iter().find(|table| table.kind == sample.kind);
            let table = table.unwrap_or_else(|| panic!("no table: {context}"));
            assert_eq!(table.moments.len(), 1, "{context}");
            let others = paste.tables.iter().filter(|other| other.kind != sample.kind);
            let others: Vec<Kind> = others.map(|other| other.kind).collect();
            let wanted: &[Kind] = if name == "mail with meminfo" { &[Kind::Meminfo] } else { &[] };
            assert_eq!(others, wanted, "{context}");
            assert_eq!(table.last().entries.len(), sample.entries, "{context}");
            let holders = holders(table.last().clone());
            assert_eq!(holders.families[0].name, sample.most, "{context}");
            assert_eq!(holders.families[0].held_bytes, Some(sample.held_bytes), "{context}");
            assert_eq!(paste.unread_lines, 0, "{context}");
            read_ones += 1;
        }
    }
    assert!(read_ones >= 120, "{read_ones}");
}

/// Cuts a line at blanks, as mailers do.
fn wrap(line: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in line.split_inclusive(' ') {
        let last = lines.last_mut().expect("one line");
        if last.len() + word.len() > width && !last.trim().is_empty() {
            lines.push(word.to_owned());
        } else {
            last.push_str(word);
        }
    }
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}

/// Cuts a line at a column, as terminals do.
fn cut(line: &str, width: usize) -> String {
    let chars: Vec<char> = line.chars().collect();
    chars.chunks(width).map(|part| part.iter().collect()).collect::<Vec<String>>().join("\n")
}

/// Kinds whose rows may be missing without a word when they are cut where it is tried: none.
fn check(sample: &Sample, text: &str, context: &str) {
    let paste = read(text);
    let context = format!("{:?} {context}:\n{text}\n{paste:#?}", sample.kind);
    let table = paste.tables.iter().find(|table| table.kind == sample.kind);
    let table = table.unwrap_or_else(|| panic!("no table: {context}"));
    assert_eq!(paste.tables.len(), 1, "{context}");
    assert_eq!(table.last().entries.len(), sample.entries, "{context}");
    let holders = holders(table.last().clone());
    assert_eq!(holders.families[0].name, sample.most, "{context}");
    assert_eq!(holders.families[0].held_bytes, Some(sample.held_bytes), "{context}");
    assert_eq!(paste.unread_lines, 0, "{context}");
}

#[test]
fn rows_that_a_mailer_wrapped_at_any_width_are_whole() {
    for width in 44..=100 {
        for sample in &SAMPLES {
            let text = format!("{}{}", sample.heading, sample.rows);
            check(
                sample,
                &each(&text, |_, line| wrap(line, width)),
                &format!("wrapped at {width}"),
            );
        }
    }
}

#[test]
fn rows_that_a_terminal_cut_at_any_column_are_whole() {
    for width in 44..=100 {
        for sample in &SAMPLES {
            let text = format!("{}{}", sample.heading, sample.rows);
            check(sample, &each(&text, |_, line| cut(line, width)), &format!("cut at {width}"));
        }
    }
}

/// `echo $(cat /proc/slabinfo)` loses the line ends: pieces of the line were read as rows, with a headline about one of them.
#[test]
fn a_table_on_one_line_is_no_row() {
    let row = "dentry 156 156 192 21 1 : tunables 0 0 0 : slabdata 8 8 0 ";
    let line = row.repeat(300);
    let paste = read(&line);
    assert!(paste.tables.is_empty(), "{:?}", paste.tables);
    assert_eq!((paste.lines, paste.unread_lines), (1, 1));
    let beside = read(&format!("{line}\nslabinfo - version: 2.1\n{row}\n"));
    assert_eq!((beside.tables[0].rows, beside.lines, beside.unread_lines), (1, 3, 1));
}

/// `cut -c1-60` took rows that end in `: tunable` away, and nobody counted them.
#[test]
fn rows_of_slabinfo_that_end_at_any_column_behind_their_pages_are_rows() {
    let row = |name: &str, objects: u64| {
        format!(
            "{name:<17} {objects:>6} {objects:>6}    312   13    1 : tunables    0    0    0 : slabdata     12     12      0"
        )
    };
    let rows = [row("dentry", 156), row("filp", 156), row("buffer_head", 156)];
    let pages = rows[0].find(" :").unwrap();
    for width in pages..rows[0].len() {
        let text: String = rows.iter().map(|row| format!("{}\n", &row[..width])).collect();
        let paste = read(&format!("slabinfo - version: 2.1\n{text}"));
        let table = &paste.tables[0];
        let counted = table.rows + paste.unread_lines;
        assert_eq!(
            (counted, table.last().entries.len()),
            (3, table.rows as usize),
            "at {width}: {text}"
        );
        assert!(table.rows == 3 || width > pages + 12, "at {width}: {text}");
    }
}

#[test]
fn rows_of_which_some_are_wrapped_are_all_there() {
    for sample in &SAMPLES {
        for odd in 0..2 {
            let some = each(sample.rows, |at, line| match at % 2 == odd {
                true => wrap(line, 45),
                false => line.to_owned(),
            });
            check(sample, &format!("{}{some}", sample.heading), &format!("{odd} wrapped"));
        }
    }
}

#[test]
fn a_name_that_the_last_column_cut_is_whole() {
    let rows = "960000 959000  99%    0.25K  30000       32    240000K flow_entry_of_a_long_name\n   928    900  96%    \
                0.12K     29       32       116K kmalloc-128\n";
    let paste = read(&each(rows, |_, line| cut(line, 66)));
    let names: Vec<_> = paste.tables[0].last().entries.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["flow_entry_of_a_long_name", "kmalloc-128"], "{paste:#?}");
    // What follows the longest row of a list is its name's rest, unless it is a prompt or a text.
    for behind in ["root@box:~$", "Best regards", "crash>", "", "-- A."] {
        let paste = read(&format!("{}\n{behind}\n", rows.lines().next().unwrap()));
        let names: Vec<_> = paste.tables[0].last().entries.iter().map(|e| &e.name).collect();
        assert_eq!(names, ["flow_entry_of_a_long_name"], "{behind}");
    }
    // A name that stands first, behind what a logger writes.
    let log = "Mar  3 04:15:10 a-host-with-a-long.name.example.com kernel: flow_entry_long 239750KB 240000KB\n";
    let text = each(&log.repeat(4).replace("04:15:10", "04:15:11"), |_, line| cut(line, 66));
    let paste = read(&text);
    let last = &paste.tables[0].moments[0];
    assert_eq!(last.entries[0].name, "flow_entry_long", "{text}\n{paste:#?}");
}

#[test]
fn rows_without_heading_sorted_or_emphasized_are_rows() {
    let slabinfo = &SAMPLES[0];
    let sorted = format!("{}{}", slabinfo.rows, slabinfo.heading);
    let paste = read(&sorted);
    assert_eq!(
        (paste.tables[0].moments.len(), paste.tables[0].may_be_cut),
        (1, false),
        "{paste:?}"
    );
    let paste = read(slabinfo.rows);
    assert_eq!((paste.tables[0].rows, paste.tables[0].may_be_cut), (3, true), "{paste:?}");
    let bold = slabinfo.rows.replacen("flow_entry", "**flow_entry", 1).replacen(
        "30000      0",
        "30000      0**",
        1,
    );
    assert_eq!(holders(read(&bold).tables[0].last().clone()).families[0].name, "flow_entry");
    let awk =
        "dentry 41210 52311 192 21 1\nfilp 2210 2688 256 32 2\nkmalloc-64 25408 25408 64 64 1\n";
    let paste = read(awk);
    assert_eq!(paste.tables[0].rows, 3, "{paste:?}");
    assert_eq!(paste.tables[0].last().entries[0].slab_bytes, Some(2491 * 4096));
}

#[test]
fn a_damaged_row_is_counted_and_the_others_are_read() {
    let slabinfo = &SAMPLES[0];
    let damaged = slabinfo.rows.replacen("959000 960000", "9590x0 960000", 1);
    let paste = read(&format!("{}{damaged}", slabinfo.heading));
    assert_eq!((paste.unread_lines, paste.tables[0].rows), (1, 2), "{paste:?}");
    assert_eq!(paste.unread[0].line, 4, "{paste:?}");
    // Half a row at the end of a text that was cut.
    let cut = &slabinfo.rows[..slabinfo.rows.len() - 40];
    let paste = read(&format!("{}{cut}", slabinfo.heading));
    assert_eq!(paste.tables[0].last().entries.len(), 3, "{paste:?}");
}

#[test]
fn a_row_of_slabtop_without_its_name_is_counted() {
    let nameless = "3646503 3646503 100%    0.38K 173643       21   1389144K";
    let whole = "328160  80830  24%    0.50K  10255       32    164080K kmalloc-512";
    for text in [format!("{nameless}\n{whole}\n"), format!("{whole}\n{nameless}\n")] {
        let paste = read(&text);
        assert_eq!((paste.unread_lines, paste.tables[0].rows), (1, 1), "{paste:?}");
        assert_eq!(paste.tables[0].last().entries[0].name, "kmalloc-512");
    }
}

#[test]
fn a_text_without_a_table_has_none() {
    for text in [
        "",
        "hello\nworld\n",
        "USER PID %CPU\nroot 1 0.0 0.0 2500 560 ? S Jan01 0:02 init\n",
        "total 12\ndrwxr-xr-x 2 root root 4096 Nov 26 16:18 a\n-rw-r--r-- 1 root root 1 2 3\n",
        "fn main() { let x = 1; }\n",
        "a 1 2 3 4 5 6 7 8 9\n1 2 3 4 5 6\n",
    ] {
        assert!(read(text).tables.is_empty(), "{text}: {:?}", read(text));
    }
}

#[test]
fn owners_stand_behind_what_allocates_in_tables_with_stacks() {
    let kmemleak = "unreferenced object 0x80c93c80 (size 128):\n  comm \"modloader\", pid 326, jiffies 429 (age 20.570s)\n  \
                    hex dump (first 32 bytes):\n    00 c9 3d 80 c0 09 a0 00 00 00 20 00 00 00 00 02  ..=....... .....\n  \
                    backtrace (crc 8b2c13f2):\n    [<801526bc>] __kmalloc_track_caller+0x204/0x25c\n    [<801275c4>] \
                    memdup_user+0x30/0xc8\n    [<800dcf10>] port_load+0x18c8/0x2390 [port]\n    [<ffffffff>] 0xffffffff\n";
    // A later scan lists an object again, by its address.
    let other = kmemleak.replace("0x80c93c80", "0x80c93d00");
    let paste = read(&[kmemleak, &other, kmemleak].concat());
    let entry = &paste.tables[0].last().entries[0];
    assert_eq!((entry.name.as_str(), entry.place.as_str()), ("port_load", "[port]"));
    assert_eq!((entry.objects, entry.live_bytes), (Some(2), Some(256)));
    let owner = "811 times, 3244 pages:\nPage allocated via order 2, mask 0x2a22(GFP_ATOMIC), pid 0, ts 77 ns\n \
                 prep_new_page+0xe5/0x110\n get_page_from_freelist+0x1d4/0x1090\n __alloc_pages+0x17f/0x320\n \
                 page_frag_alloc_align+0xa4/0x1f0\n __netdev_alloc_skb+0xd4/0x140\n port_receive+0x11/0x20 [port]\n";
    let paste = read(owner);
    let entry = &paste.tables[0].last().entries[0];
    assert_eq!((entry.name.as_str(), entry.live_bytes), ("port_receive", Some(3244 * 4096)));
}

#[test]
fn rows_of_crash_that_it_could_not_read_are_counted() {
    let text = "ffff890c47c0ea00     1024     108058    112672   3521    32k  kmalloc-1024\nffff890c47c0ec00      512          \
                ?      ?      ?    32k  kmalloc-512\n";
    let paste = read(text);
    assert_eq!((paste.tables[0].rows, paste.unread_lines), (1, 1), "{paste:?}");
}

#[test]
fn sizes_of_slabtop_without_a_unit_are_kibibytes() {
    let paste = read("   632    632 100%    8.00K    158        4       5056 kmalloc-8k\n");
    assert_eq!(paste.tables[0].last().entries[0].slab_bytes, Some(5056 << 10), "{paste:?}");
}

#[test]
fn a_log_that_goes_on_behind_a_list_has_no_lines_that_look_like_rows() {
    let list = SAMPLES.iter().find(|sample| sample.kind == Kind::Oom).unwrap();
    let log: String = (0..500)
        .map(|at| format!("[ 4412.{at:06}] systemd[1]: Session {at} of root, pid {at} took {at} ms, 12 34 56 {at}\n"))
        .collect();
    let paste = read(&format!("{log}{}{}{log}", list.heading, list.rows));
    assert_eq!((paste.tables[0].rows, paste.unread_lines), (2, 0), "{:?}", paste.unread);
}

#[test]
fn a_row_of_the_oom_killer_that_goes_on_behind_another_stamp_is_counted() {
    let list = SAMPLES.iter().find(|sample| sample.kind == Kind::Oom).unwrap();
    let text = format!(
        "{}kernel: [9034.1] flow_key 900KB\nkernel: [9034.1] 1200KB\n{}",
        list.heading, list.rows
    );
    let paste = read(&text);
    assert_eq!((paste.tables[0].rows, paste.unread_lines), (2, 2), "{:?}", paste.unread);
}
