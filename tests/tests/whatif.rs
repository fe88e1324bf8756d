//! `slablab whatif` and `slablab advise`: a change is the trace rewritten by hand, and scattered objects are found.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use slablab_replay::{
    Allocator, Change, Changes, ReplayPlan, Worth, advise, at_peak, replay, what_if,
};
use slablab_tests::{refusal, slablab, stdout};
use slablab_trace::synth::{SynthOptions, synth};
use slablab_trace::{Event, Kind, Meta, NONE, SlabSnapshot, SlubCache, TraceReader, TraceWriter};

use slablab_kmem::BackendKind;

fn synthetic(folder: &Path, events: u64, seed: u64) -> PathBuf {
    let path = folder.join(format!("synthetic-{seed}.parquet"));
    synth(&path, &SynthOptions { events, cpus: 3, seed, live: None }, &mut |_| ())
        .expect("a trace can be made");
    path
}

/// Writes the trace again with the kmallocs of `site` rewritten to a cache.
fn rewritten(reader: &TraceReader, site: u32, cache: &str, path: &Path) {
    let meta = reader.meta();
    let mut writer = TraceWriter::create(path).unwrap();
    for site in &meta.sites {
        writer.site(&site.name, site.address);
    }
    for cache in &meta.caches {
        writer.cache(&cache.name);
    }
    writer.caches_mut().iter_mut().zip(&meta.caches).for_each(|(to, from)| to.clone_from(from));
    let cache = writer.cache(cache);
    for batch in reader.batches() {
        for mut event in batch.unwrap().events() {
            if event.kind == Kind::Kmalloc && event.site == site {
                event.kind = Kind::KmemCacheAlloc;
                event.cache = cache;
            }
            writer.push(&event).unwrap();
        }
    }
    writer.finish(Meta { sites: Vec::new(), caches: Vec::new(), ..meta.clone() }).unwrap();
}

#[test]
fn a_dedicated_cache_is_the_trace_rewritten_by_hand_to_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 11..15 {
        let reader = TraceReader::open(synthetic(folder.path(), 40_000, seed)).unwrap();
        let plan = ReplayPlan::default();
        let recorded = replay(&reader, &plan, &mut |_| ()).unwrap();
        let kmalloc = recorded.sites.iter().filter(|site| site.cache.is_empty());
        let names: BTreeMap<_, _> =
            (0..).zip(&reader.meta().sites).map(|(i, site)| (site.name.clone(), i)).collect();
        for site in kmalloc.step_by(3) {
            let id = names[&site.site];
            let changes = Changes::default().dedicate("mine", vec![id]);
            let plan = ReplayPlan { changes, ..plan.clone() };
            let after = what_if(&reader, &plan, &mut |_| ()).unwrap().after;
            let path = folder.path().join("rewritten.parquet");
            rewritten(&reader, id, "mine", &path);
            let by_hand =
                replay(&TraceReader::open(&path).unwrap(), &ReplayPlan::default(), &mut |_| ());
            let text = |replay| serde_json::to_string_pretty(replay).unwrap();
            assert_eq!(text(&after), text(&by_hand.unwrap()), "seed {seed}, {}", site.site);
        }
    }
}

#[test]
fn doing_and_undoing_is_the_identity() {
    let folder = tempfile::tempdir().unwrap();
    let reader = TraceReader::open(synthetic(folder.path(), 60_000, 3)).unwrap();
    let all: Vec<u32> = (0..reader.meta().sites.len() as u32).collect();
    let changes = Changes::default().dedicate("mine", all.clone()).undedicate("mine");
    let plan = ReplayPlan { changes, ..ReplayPlan::default() };
    let result = what_if(&reader, &plan, &mut |_| ()).unwrap();
    assert_eq!(result.before, result.after);
    let recorded = ReplayPlan { watched: all, ..ReplayPlan::default() };
    assert_eq!(result.before, replay(&reader, &recorded, &mut |_| ()).unwrap());
}

#[test]
fn a_cache_for_every_site_passes_over_those_that_have_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = synthetic(folder.path(), 40_000, 21);
    let reader = TraceReader::open(&path).unwrap();
    let meta = reader.meta();
    let recorded = replay(&reader, &ReplayPlan::default(), &mut |_| ()).unwrap();
    assert!(recorded.sites.iter().any(|site| !site.cache.is_empty()), "some have a cache");
    let kmalloc = recorded.sites.iter().filter(|site| site.cache.is_empty());
    let by_name = kmalloc.fold(Changes::default(), |changes, site| {
        let id = meta.sites.iter().position(|known| known.name == site.site).unwrap();
        changes.dedicate(&site.site, vec![id as u32])
    });
    let allocators = |changes| {
        let plan = ReplayPlan { changes, watched: vec![0], ..ReplayPlan::default() };
        what_if(&reader, &plan, &mut |_| ()).unwrap().after.allocators
    };
    let every = Changes::default().dedicate_every(meta, 0);
    assert_eq!(allocators(every), allocators(by_name));
    let text = stdout(&["whatif", path.to_str().unwrap(), "--per-site"]);
    assert!(text.contains("a cache of its own for each call site of kmalloc"), "{text}");
}

#[test]
fn at_the_peak_the_caches_are_what_the_machine_holds() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 5..8 {
        let reader = TraceReader::open(synthetic(folder.path(), 40_000, seed)).unwrap();
        let recorded = replay(&reader, &ReplayPlan::default(), &mut |_| ()).unwrap();
        let kmalloc = recorded.sites.iter().find(|site| site.cache.is_empty()).unwrap();
        let site = reader.meta().sites.iter().position(|site| site.name == kmalloc.site).unwrap();
        let changes = Changes::default().dedicate("mine", vec![site as u32]);
        let allocators = vec![BackendKind::Slub, BackendKind::Slab];
        let plan = ReplayPlan { allocators, changes, ..ReplayPlan::default() };
        let what_if = what_if(&reader, &plan, &mut |_| ()).unwrap();
        let moments = at_peak(&reader, &plan, &what_if, &mut |_| ()).unwrap();
        assert_eq!(moments.len(), 2);
        for (moment, whole) in moments.iter().zip(&what_if.before.allocators) {
            assert_eq!(moment.before.held_bytes.end, whole.held_bytes.peak);
            assert_eq!(moment.before.slab_bytes.end, held_in_caches(&moment.before));
            assert_eq!(moment.after.slab_bytes.end, held_in_caches(&moment.after));
        }
    }
}

fn held_in_caches(allocator: &Allocator) -> u64 {
    allocator.caches.iter().map(|cache| cache.held_bytes_end).sum()
}

/// Returns an event of kmalloc or kfree on the one CPU of a machine.
fn event(
    time_ns: u64,
    kind: Kind,
    object: u32,
    site: u32,
    bytes_req: u64,
    bytes_alloc: u64,
) -> Event {
    Event { time_ns, pid: 1, kind, object, site, bytes_req, bytes_alloc, ..Event::EMPTY }
}

/// Writes a trace as a netfilter machine might: two sites keep 200 items each, of 40 and of 32 bytes, and
/// meanwhile others allocate and free 64-byte objects all the time.
fn netfilter(path: &Path) {
    netfilter_on(path, Meta::default());
}

/// Writes it as [`netfilter`] does, on a machine that describes itself by `meta`.
fn netfilter_on(path: &Path, meta: Meta) {
    let mut writer = TraceWriter::create(path).unwrap();
    let items40 = writer.site("nft_rule_add+0x40", 1);
    let items32 = writer.site("nft_set_add+0x32", 2);
    let churn = writer.site("kmalloc_reserve+0xa1", 3);
    let mut time_ns = 0;
    let mut push = |kind, object, site, bytes_req, bytes_alloc| {
        time_ns += 1_000;
        writer.push(&event(time_ns, kind, object, site, bytes_req, bytes_alloc)).unwrap();
    };
    // Slots 0..400 are the items, the rest the churn: 400 short-lived objects; one in eight of them stays.
    for i in 0..200u32 {
        for j in 0..8 {
            push(Kind::Kmalloc, 400 + i * 8 + j, churn, 60, 64);
        }
        push(Kind::Kmalloc, i, items40, 40, 64);
        push(Kind::Kmalloc, 200 + i, items32, 32, 32);
        for j in 0..7 {
            push(Kind::Kfree, 400 + i * 8 + j, churn, 0, 0);
        }
        // The rest of the churn goes on beside them for a while.
        for j in 0..7 {
            push(Kind::Kmalloc, 400 + i * 8 + j, churn, 60, 64);
        }
    }
    for _ in 0..20 {
        for i in 0..200u32 {
            push(Kind::Kfree, 400 + i * 8, churn, 0, 0);
            push(Kind::Kmalloc, 400 + i * 8, churn, 60, 64);
        }
    }
    writer.finish(Meta { cpus: 1, nodes: 1, ..meta }).unwrap();
}

#[test]
fn scattered_items_are_found_and_a_cache_is_advised() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("netfilter.parquet");
    netfilter(&path);
    let reader = TraceReader::open(&path).unwrap();
    let list = advise(&reader, BackendKind::Slub, Some(1 << 30), &mut |_| ()).unwrap();
    let of = |name: &str| list.advice.iter().find(|a| a.subject.starts_with(name)).unwrap();
    let (forty, thirty_two) = (of("nft_rule_add"), of("nft_set_add"));
    assert!(forty.scattered, "{forty:#?}");
    assert!(!thirty_two.scattered, "{thirty_two:#?}");
    let classes = list.advice.iter().filter(|a| matches!(a.change, Change::Class { .. }));
    assert_eq!(classes.count(), 0, "a class that one site fills is that site's cache");
    assert!(matches!(forty.worth, Worth::SavesMemory | Worth::ImprovesLocality), "{forty:#?}");
    assert!(
        !matches!(thirty_two.worth, Worth::SavesMemory | Worth::ImprovesLocality),
        "{thirty_two:#?}"
    );
    // A slot of 64 bytes is a line each; 102 objects of 40 bytes fill the 64 lines of a page, 98 more take 62.
    assert_eq!((forty.before.lines_per_walk, forty.after.lines_per_walk), (200, 126));
    let text = stdout(&["advise", path.to_str().unwrap(), "--show", "reasons"]);
    let words: Vec<_> = text.split_whitespace().collect();
    let words = words.join(" ");
    assert!(words.contains("nft_rule_add+0x40") && words.contains("instead of 200"), "{text}");
    let patch = stdout(&["patch", path.to_str().unwrap(), "nft_rule_add"]);
    assert!(
        patch.contains("nft_rule_add_cachep = kmem_cache_create(\"nft_rule_add\", sizeof(*item)"),
        "{patch}"
    );
}

/// `advise` used to report what is held less where the recorded machine first held most, `whatif` the difference of
/// the peaks.
#[test]
fn advise_and_whatif_say_the_same_of_the_peak() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let mut writer = TraceWriter::create(&path).unwrap();
    let site = writer.site("item_add+0x10", 1);
    // A second page of 64-byte slots begins long before the second one of 56-byte slots: both come to two.
    for i in 0..100 {
        writer.push(&event(u64::from(i), Kind::Kmalloc, i, site, 50, 64)).unwrap();
    }
    writer.finish(Meta { cpus: 1, nodes: 1, ..Meta::default() }).unwrap();
    let reader = TraceReader::open(&path).unwrap();
    let list = advise(&reader, BackendKind::Slub, Some(1 << 30), &mut |_| ()).unwrap();
    let advice = list.advice.iter().find(|a| a.subject == "item_add+0x10").unwrap();
    let plan = ReplayPlan {
        allocators: vec![BackendKind::Slub],
        changes: Changes::default().dedicate("item", vec![site]),
        ..ReplayPlan::default()
    };
    let both = what_if(&reader, &plan, &mut |_| ()).unwrap();
    let peak = |replay: &slablab_replay::Replay| replay.allocators[0].held_bytes.peak as i64;
    assert_eq!(advice.saved_bytes_at_peak, peak(&both.before) - peak(&both.after), "{advice:#?}");
    assert_eq!(advice.saved_bytes_at_peak, 0, "{advice:#?}");
}

#[test]
fn what_is_not_tried_is_told_with_the_reason() {
    let hackbench = "traces/hackbench.parquet";
    let why = |site| refusal(&["patch", hackbench, site]);
    assert!(why("alloc_slab_obj_exts").contains("is the allocator's own"));
    assert!(why("copy_process+0x10be").contains("allocates from the cache mm_struct"));
}

#[test]
fn what_cannot_be_meant_is_refused_with_the_nearest_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("netfilter.parquet");
    netfilter(&path);
    let path = path.to_str().unwrap();
    let cases: [(&[&str], &str); 11] = [
        (&["--dedicate", "nft_rule_ad"], "did you mean \"nft_rule_add\""),
        (&["--dedicate", "zz*"], "no call site matches"),
        (&["--undedicate", "dentry"], "no cache \"dentry\""),
        (&["--dedicate", "nft_rule_add=x", "--dedicate", "nft_rule_add=y"], "dedicated twice"),
        (&["--classes", "16,8,8192"], "have to rise"),
        (&["--classes", "8,16"], "largest has to be 8192"),
        (&["--dedicate", "nft_rule_add="], "behind ="),
        (&["--align", "64"], "--align"),
        (&["--limit", "5"], "--allocators slab"),
        (&["--classes", "8,8192", "-a", "slob"], "--allocators slab,slub"),
        (&[], "nothing is changed"),
    ];
    for (words, part) in cases {
        let sentence = refusal(&[&["whatif", path], words].concat());
        assert!(sentence.contains(part), "{words:?}: {sentence}");
    }
    let sentence = refusal(&["patch", path, "nft_set_ad"]);
    assert!(sentence.contains("nft_set_add"), "{sentence}");
    let output = slablab().args(["advise", path, "-a", "slub,slab"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let sentence = refusal(&["advise", path, "--allocator", "slob"]);
    assert!(sentence.contains("same pages"), "{sentence}");
}

#[test]
fn a_trace_without_call_sites_is_refused_where_they_are_needed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hidden.txt");
    let line = |i: u32| {
        format!(
            "sh 7 [000] 1.{i:06}: kmem:kmalloc: call_site=(____ptrval____) ptr=0xffff8881{i:05x}000 \
             bytes_req=40 bytes_alloc=64 gfp_flags=GFP_KERNEL node=-1\n"
        )
    };
    let free =
        "sh 7 [000] 2.000000: kmem:kfree: call_site=(____ptrval____) ptr=0xffff888100001000\n";
    std::fs::write(&path, (1..200).map(line).collect::<String>() + free).unwrap();
    let path = path.to_str().unwrap();
    let asking: [&[&str]; 5] = [
        &["advise", path],
        &["patch", path, "kstrdup"],
        &["whatif", path, "--dedicate", "kstrdup"],
        &["whatif", path, "--dedicate", "*"],
        &["whatif", path, "--per-site"],
    ];
    for words in asking {
        let sentence = refusal(words);
        assert!(sentence.contains("the trace has no call sites"), "{words:?}: {sentence}");
        assert!(sentence.contains("slablab record"), "{words:?}: {sentence}");
    }
    let classes = ["whatif", path, "--classes", "8,16,32,40,64,8192", "--show", "caches"];
    assert!(stdout(&classes).contains("kmalloc-40"));
}

#[test]
fn no_merge_alone_says_what_the_trace_can_tell() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("netfilter.parquet");
    let cache = |name: &str, aliases: &[&str]| SlubCache {
        name: name.to_owned(),
        aliases: aliases.iter().map(|&alias| alias.to_owned()).collect(),
        ..SlubCache::default()
    };
    let cases = [
        (None, "does not say which of them the recorded kernel had merged"),
        (Some(vec![cache("dentry", &[]), cache(":0000064", &["a"])]), "let no caches share slabs"),
        (
            Some(vec![cache(":0000064", &["a", "b", "c"]), cache("d", &["e"])]),
            "had merged caches, 2 of them (one is a = b = c)",
        ),
    ];
    for (caches, part) in cases {
        let slabs_start = caches.map(|caches| {
            let mut snapshot = SlabSnapshot::default();
            snapshot.caches = caches;
            snapshot
        });
        netfilter_on(&path, Meta { slabs_start, ..Meta::default() });
        let file = path.to_str().unwrap();
        let sentence = refusal(&["whatif", file, "--no-merge"]);
        assert!(sentence.contains("--no-merge") && sentence.contains(part), "{sentence}");
        let words = ["whatif", file, "--dedicate", "nft_rule_add"];
        assert_eq!(stdout(&words), stdout(&[&words[..], &["--no-merge"]].concat()));
    }
}

/// `--merge` used to report "difference 0" for a kernel that merges anyway and, with `--order 0`, moved caches
/// together that this kernel keeps apart.
#[test]
fn merging_is_what_the_recorded_kernel_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("netfilter.parquet");
    let cache = |name: &str, aliases: &[&str], bytes: u64| SlubCache {
        name: name.to_owned(),
        aliases: aliases.iter().map(|&alias| alias.to_owned()).collect(),
        numbers: [("object_size", bytes), ("slab_size", bytes), ("order", 0), ("align", 8)]
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
        ..SlubCache::default()
    };
    let mut snapshot = SlabSnapshot::default();
    snapshot.caches =
        vec![cache(":0000040", &["a", "b"], 40), cache(":A-0000032", &["c", "d"], 32)];
    netfilter_on(&path, Meta { slabs_start: Some(snapshot), ..Meta::default() });
    let file = path.to_str().unwrap();
    for words in [&["--merge"][..], &["--merge", "--order", "0"]] {
        let sentence = refusal(&[&["whatif", file], words].concat());
        assert!(sentence.contains("4 names share 2 caches"), "{words:?}: {sentence}");
    }
    let new = ["whatif", file, "--dedicate", "nft_rule_add=mine", "--dedicate", "nft_set_add=own"];
    let apart = stdout(&new);
    assert!(apart.contains("The recorded kernel merges caches that are alike."), "{apart}");
    let merged = [&new[..], &["--merge"]].concat();
    let text = stdout(&[&merged[..], &["--show", "changes"]].concat());
    assert!(text.contains("mine shares the slabs of a, b"), "{text}");
    assert!(text.contains("own shares slabs with no cache"), "{text}");
    let json: Value =
        serde_json::from_str(&stdout(&[&merged[..], &["--format", "json"]].concat())).unwrap();
    let caches = json["after"]["allocators"][0]["caches"].as_array().unwrap();
    let aliases = |name: &str| {
        caches.iter().find(|cache| cache["cache"] == name).map(|cache| &cache["aliases"])
    };
    assert_eq!(aliases("a"), Some(&serde_json::json!(["mine"])));
    assert_eq!(aliases("own"), Some(&serde_json::json!([])));
}

/// 16 copies of each class are more caches than the machine had room for beside those of the trace.
#[test]
fn copies_of_all_classes_have_room() {
    let text = stdout(&["whatif", "traces/build.parquet", "--buckets", "16", "-a", "slub,slab"]);
    assert!(text.contains("16 copies of each kmalloc class"), "{text}");
}

#[test]
fn json_says_before_and_after() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("netfilter.parquet");
    netfilter(&path);
    let path = path.to_str().unwrap();
    let words = ["whatif", path, "--dedicate", "nft_rule_add", "--format", "json"];
    let json: Value = serde_json::from_str(&stdout(&words)).unwrap();
    assert_eq!(json["schema"], "slablab.whatif/1");
    let peak = |when: &str| json[when]["allocators"][0]["held_bytes"]["peak"].as_u64().unwrap();
    assert_ne!(peak("before"), peak("after"));
    let words = ["advise", path, "--format", "json"];
    let json: Value = serde_json::from_str(&stdout(&words)).unwrap();
    assert_eq!(json["schema"], "slablab.advise/1");
}

/// Makes a kernel with debug information in which the call sites of [`netfilter`] are behind calls.
#[cfg(target_arch = "x86_64")]
fn vmlinux(folder: &Path) -> PathBuf {
    let source = folder.join("linux");
    let write = |name: &str, text: &str| {
        let path = source.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    // A call has 5 bytes; the last of them is right before the site.
    let function = |name: &str, offset: u32| {
        format!(
            "__attribute__((naked)) void {name}(void)\n\
             {{ __asm__(\".skip {}, 0x90\\n\\tcall start_kernel\\n\\tret\"); }}\n",
            offset - 5
        )
    };
    write("init/main.c", "void start_kernel(void) { }\n");
    let tables = function("nft_rule_add", 0x40) + &function("nft_set_add", 0x32);
    write("net/netfilter/nf_tables_api.c", &tables);
    write("net/core/skbuff.c", &function("kmalloc_reserve", 0xa1));
    let path = folder.join("vmlinux");
    let status = std::process::Command::new("cc")
        .current_dir(&source)
        .args(["-g", "-O1", "-fno-pie", "-no-pie", "-nostdlib", "-static", "-fcf-protection=none"])
        .args(["-Wl,-e,start_kernel", "init/main.c", "net/core/skbuff.c"])
        .args(["net/netfilter/nf_tables_api.c", "-o"])
        .arg(&path)
        .status()
        .unwrap();
    assert!(status.success());
    path
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_page_shows_waste_by_source_directory() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, page) = (folder.path().join("netfilter.parquet"), folder.path().join("page.html"));
    netfilter(&trace);
    let kernel = vmlinux(folder.path());
    let elsewhere = folder.path().join("elsewhere");
    let (trace, page) = (trace.to_str().unwrap(), page.to_str().unwrap());
    // Once found beside the trace, once named.
    for words in [&["advise", trace][..], &["whatif", trace, "--dedicate", "nft_rule_add"]] {
        assert!(!stdout(&[words, &["--report", page]].concat()).is_empty());
        let html = std::fs::read_to_string(page).unwrap();
        for frame in ["netfilter", "nf_tables_api.c", "nft_rule_add+0x40", "3 of the 3 call sites"]
        {
            assert!(html.contains(frame), "{words:?}: {frame}");
        }
    }
    let patch = stdout(&["patch", trace, "nft_rule_add"]);
    assert!(patch.contains("+++ b/net/netfilter/nf_tables_api.c\n"), "{patch}");
    let json = stdout(&["patch", trace, "nft_rule_add", "--format", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["schema"], "slablab.patch/1");
    // How to get one that applies stands behind it.
    let (text, said) = patch.split_at(json["patch"].as_str().unwrap().len());
    assert_eq!(text, json["patch"].as_str().unwrap());
    assert!(said.contains("--source"), "{said}");
    // A vmlinux that is named says where call sites are, without a page or a patch.
    let named = kernel.to_str().unwrap();
    for words in [
        &["advise", trace, "-k", named, "--show", "reasons"][..],
        &["whatif", trace, "--dedicate", "nft_rule_add", "-k", named, "--show", "sites"],
    ] {
        let text = stdout(words);
        assert!(text.contains("net/netfilter/nf_tables_api.c:"), "{words:?}: {text}");
    }
    std::fs::rename(&kernel, &elsewhere).unwrap();
    let named = ["advise", trace, "--report", page, "-k", elsewhere.to_str().unwrap()];
    assert!(!stdout(&named).is_empty());
    assert!(std::fs::read_to_string(page).unwrap().contains("nf_tables_api.c"));
    std::fs::remove_file(&elsewhere).unwrap();
    assert!(refusal(&named).contains("cannot open"));
}

#[test]
fn a_page_of_caches_that_only_gather_has_no_waterfall() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, page) = (folder.path().join("t.parquet"), folder.path().join("page.html"));
    let mut writer = TraceWriter::create(&trace).unwrap();
    let (items, others) = (writer.site("item_add+0x10", 1), writer.site("other_add+0x20", 2));
    // One item in each of 64 pages: in a cache of their own they fill one page, and free one.
    for i in 0..64 * 64 {
        let (site, bytes) = if i % 64 == 0 { (items, 56) } else { (others, 60) };
        writer.push(&event(u64::from(i), Kind::Kmalloc, i, site, bytes, 64)).unwrap();
    }
    // Without any free a trace is one whose frees were not recorded: this one is of an older object.
    writer.push(&event(64 * 64, Kind::Kfree, NONE, NONE, 0, 0)).unwrap();
    writer.finish(Meta { cpus: 1, nodes: 1, ..Meta::default() }).unwrap();
    let (trace, page) = (trace.to_str().unwrap(), page.to_str().unwrap());
    let text = stdout(&["advise", trace, "--report", page, "--show", "reasons"]);
    let words: Vec<_> = text.split_whitespace().collect();
    let said = "scattered. The change holds as much at the peak";
    assert!(words.join(" ").contains(said), "{text}");
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.contains("Cache lines that a walk") && !html.contains("call site that gets"));
}

#[test]
fn pages_show_before_and_after() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, page) = (folder.path().join("netfilter.parquet"), folder.path().join("page.html"));
    netfilter(&trace);
    let (trace, page) = (trace.to_str().unwrap(), page.to_str().unwrap());
    let commands: [(&[&str], &[&str]); 3] = [
        (
            &["whatif", trace, "--dedicate", "nft_rule_add"],
            &["Addresses of the objects", "Bytes held, by cache", "changed", "--vmlinux FILE"],
        ),
        (
            &["advise", trace],
            &[
                "by call site that gets a cache",
                "Addresses of the objects",
                "Cache lines that a walk",
                "no vmlinux of the recorded kernel",
            ],
        ),
        (&["replay", trace, "-a", "slub"], &["Memory held over time"]),
    ];
    for (words, wanted) in commands {
        assert!(!stdout(&[words, &["--report", page]].concat()).is_empty());
        let html = std::fs::read_to_string(page).unwrap();
        assert!(html.contains("<svg") && html.trim_end().ends_with("</html>"), "{words:?}");
        for text in wanted {
            assert!(html.contains(text), "{words:?}: {text}");
        }
    }
    let sentence = refusal(&["advise", trace, "--report", page, "--vmlinux", trace]);
    assert!(sentence.contains("is not a kernel"), "{sentence}");
}

/// The heading used to be "slabs of order 0 at most" although slabs were of order 3.
#[test]
fn an_order_and_a_highest_order_are_not_asked_for_at_once() {
    for also in [["--max-order", "0"], ["--min-objects", "8"]] {
        let words = [&["whatif", "traces/boot.parquet", "--order", "3"][..], &also].concat();
        let said = refusal(&words);
        assert!(said.contains("--order gives every slab its order"), "{said}");
    }
}

/// Objects whose cache the trace does not name are kmalloc's in a whole replay, and were left out of `advise`'s trials.
#[test]
fn advice_saves_what_whatif_saves_also_where_caches_are_unnamed() {
    let trace = "traces/boot.parquet";
    let json = |words: &[&str]| -> Value {
        serde_json::from_str(&stdout(&[words, &["--format", "json"]].concat())).unwrap()
    };
    let advised = json(&["advise", trace]);
    let sites = ["bucket_table_alloc.isra.0+0x47", "kprobe_add_ksym_blacklist+0x4c"];
    for site in sites {
        let all = advised["advice"].as_array().unwrap();
        let advice = all.iter().find(|advice| advice["subject"] == site).unwrap();
        let replayed = json(&["whatif", trace, "--dedicate", site]);
        let saved = |metric: &str| {
            let all = replayed["differences"].as_array().unwrap();
            let found = all.iter().find(|difference| difference["metric"] == metric).unwrap();
            found["before"].as_i64().unwrap() - found["after"].as_i64().unwrap()
        };
        assert_eq!(advice["saved_bytes_at_peak"], saved("held_bytes_peak"), "{site}");
        assert_eq!(advice["saved_bytes_end"], saved("held_bytes_end"), "{site}");
        // Both are rounded.
        let mean = advice["saved_bytes_mean"].as_i64().unwrap();
        assert!((mean - saved("held_bytes_mean")).abs() <= 1, "{site}: {mean}");
    }
}
