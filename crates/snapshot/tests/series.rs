//! Moments: where one ends, when it was, and what grows from one to the next.

use slablab_snapshot::{Kind, Pace, Paste, growth, holders};

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
    let holders = holders(read(&text).tables[0].last());
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
    assert_eq!(kinds, [Kind::Slabinfo, Kind::Allocinfo]);
    assert_eq!(paste.machine[0].slab_bytes(), Some(752_028 << 10));
    assert_eq!(paste.machine[0].unreclaimable_bytes, None, "absent is not zero");
}
