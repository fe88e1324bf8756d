//! The rooms of each crate, bottom up.

/// A crate and its rooms; the rooms of one level may use each other, without a circle of files.
pub(super) struct House {
    pub(super) name: &'static str,
    pub(super) levels: &'static [&'static [&'static str]],
    /// Findings that were there before this was looked at. The list only shrinks.
    pub(super) left: &'static [&'static str],
}

/// A crate that is not here fails a test.
pub(super) const HOUSES: [&House; 19] = [
    &BPF, &CENSUS, &CSOURCE, &HUNT, &HOST, &LINUX, &SNAPSHOT, &RCU, &STATS, &KMEM, &XARRAY, &TRACE,
    &REPORT, &VM, &KAPI, &KPROBE, &REPLAY, &LAB, &SLABLAB,
];

/// bpf: the system call, then text and types, then what is loaded.
const BPF: House = House {
    name: "bpf",
    levels: &[&["error", "types"], &["raw"], &["map", "btf"], &["ring"], &["asm"], &["program"]],
    left: &[],
};

/// census: what is told, where fields are and how memory is read, all caches.
const CENSUS: House = House {
    name: "census",
    levels: &[&["error", "cache"], &["layout", "memory"], &["census"]],
    left: &[],
};

/// hunt: what the programs wrote, the programs, what is made of it, the hunt.
const HUNT: House = House {
    name: "hunt",
    levels: &[
        &["error", "tables", "slabs", "cgroup", "companion"],
        &["object", "tracer"],
        &["sites", "stacks", "group"],
        &["verdict", "pins", "process"],
        &["finding"],
        &["hunt"],
    ],
    left: &[],
};

/// host: signals and what ends by them, then files and folders.
const HOST: House = House {
    name: "host",
    levels: &[
        &[
            "raw",
            "kernel_files",
            "key",
            "pattern",
            "pressed",
            "printable",
            "signals",
            "terminal",
            "whole_file",
            "workplace",
            "program",
        ],
        &["address_space", "memory_limit", "screen", "shell"],
        &["child", "temporary_folder", "cache"],
        &["embedded"],
    ],
    left: &[],
};

/// csource: tokens, files, what they say, sites and their uses, the patch.
const CSOURCE: House = House {
    name: "csource",
    levels: &[
        &["error", "token", "diff"],
        &["file"],
        &["calls", "tree"],
        &["types", "kbuild"],
        &["site"],
        &["boot", "uses"],
        &["patch"],
    ],
    left: &[],
};

const LINUX: House = House {
    name: "linux",
    levels: &[
        &["gfp", "helper_names", "kmalloc", "release", "slabinfo", "token"],
        &["accounting", "owner"],
    ],
    left: &[],
};

/// snapshot: entries and lines, kinds of rows, the tables of a text, and who judges them.
const SNAPSHOT: House = House {
    name: "snapshot",
    levels: &[
        &["date", "edge", "entry", "free", "host", "html", "quoted", "series", "known"],
        &["line", "heading"],
        &["spoken"],
        &["stamp"],
        &["rows", "wrapped"],
        &["cut", "paste", "holders"],
        &["moment"],
        &["lists"],
        &["moments", "growth"],
        &["machines", "sides"],
        &["reader"],
        &["text"],
    ],
    left: &[],
};

const RCU: House = House { name: "rcu", levels: &[&["sync"], &["epoch"], &["raw"]], left: &[] };

const KPROBE: House = House {
    name: "kprobe",
    levels: &[&["probe"], &["table"], &["raw"], &["cached", "chained", "resizing", "tree"]],
    left: &[],
};

/// stats: the sample and its errors, summaries, tests, verdicts.
const STATS: House = House {
    name: "stats",
    levels: &[
        &["error"],
        &["sample", "rng"],
        &["summary", "holm", "explanation"],
        &["bootstrap", "outlier", "rank_test", "regression"],
        &["shift", "trend"],
        &["compare"],
        &["sequential"],
    ],
    left: &[],
};

const KMEM: House = House {
    name: "kmem",
    levels: &[
        &["ids", "error"],
        &["raw"],
        &["cpu"],
        &["page"],
        &["vmalloc"],
        &["cache"],
        &["backend"],
        &["machine"],
        &["stats"],
        &["check"],
        &["front"],
        &["pool"],
    ],
    left: &[],
};

const XARRAY: House = House {
    name: "xarray",
    levels: &[&["entry", "error", "flags"], &["raw"], &["core"], &["ida", "typed"], &["capi"]],
    left: &[],
};

const TRACE: House = House {
    name: "trace",
    levels: &[
        &["error", "progress", "cache_name", "random", "recording_folder", "address_map"],
        &[
            "page_event",
            "event",
            "cpu_list",
            "symbols",
            "samples",
            "portion",
            "cgroups",
            "assigned",
            "canonical",
            "stacks",
            "page_map",
            "zones",
        ],
        &["page_row", "page_meta"],
        &["meta", "input", "spool", "vmlinux", "btf"],
        &["slabs", "store", "tables", "kmalloc", "lacking"],
        &["source", "synth", "saved"],
        &["import"],
        &["record"],
        &["probe", "live"],
    ],
    left: &[
        "circle: store/file_reader.rs -> store/reader.rs -> store/file_reader.rs",
        "source/perf_data/tracing.rs -> record/tracefs.rs: upward (record::tracefs::Tracefs)",
        "source/perf_data/tracing.rs -> record/tracefs.rs: upward (record::tracefs::Tracefs::mounted)",
    ],
};

/// report: text and colours, what is shown, the whole page.
const REPORT: House = House {
    name: "report",
    levels: &[
        &["error", "escape", "printable", "unit"],
        &["color"],
        &["flame", "profile", "table"],
        &["plot"],
        &["document"],
        &["render"],
    ],
    left: &[],
};

const VM: House = House {
    name: "vm",
    levels: &[
        &["accel", "console", "cpio", "step"],
        &["error"],
        &["run"],
        &["tools", "module"],
        &["arch", "data", "source", "store"],
        &["archive", "initramfs", "spec", "tree"],
        &["config"],
        &["kernel", "make"],
        &["builder", "machine"],
        &["qemu", "stock"],
        &["code"],
        &["boot"],
        &["kvm_probe"],
    ],
    left: &[],
};

const KAPI: House = House {
    name: "kapi",
    levels: &[
        &["error", "event", "params", "format", "steps"],
        &["image", "job", "ledger", "log"],
        &["raw"],
        &["runtime"],
        &["order", "krefs", "nodes"],
        &["context"],
        &["machine"],
        &["abi"],
        &["symbols"],
        &["child", "host", "toolchain"],
    ],
    left: &[],
};

const REPLAY: House = House {
    name: "replay",
    levels: &[
        &["slots", "kept_memory", "buddy"],
        &["change"],
        &["plan", "error", "many"],
        &["metrics"],
        &["engine"],
        &["whatif"],
        &["advice", "exact", "timed", "page_replay"],
        &["fleet"],
    ],
    left: &[],
};

/// lab: words, what is stored, comparisons, experiments, runs.
const LAB: House = House {
    name: "lab",
    levels: &[
        &["error", "request"],
        &["parameter", "environment", "measured"],
        &["plan"],
        &["journal", "samples", "settings"],
        &["slabs"],
        &["outcome"],
        &["differences"],
        &["compare"],
        &["experiment"],
        &["guest"],
        &["experiments"],
        &["planning"],
        &["run"],
        &["sweep", "bisect"],
        &["merge", "history", "patched"],
    ],
    left: &[],
};

const SLABLAB: House = House {
    name: "slablab",
    levels: &[
        &["bar", "cli", "say", "shell"],
        &["output", "progress"],
        &["schema", "spellings"],
        &["answers"],
        &["cmd"],
        &["commands"],
    ],
    left: &[
        "answers/info.rs -> cmd/traces/inputs.rs: upward (cmd::traces::inputs)",
        "answers/info.rs -> cmd/traces/inputs.rs: upward (cmd::traces::inputs::Damaged)",
        "answers/info.rs -> cmd/traces/inputs.rs: upward (cmd::traces::inputs::Input)",
        "answers/info.rs -> cmd/traces/inputs.rs: upward (cmd::traces::inputs::date)",
        "answers/info.rs -> cmd/traces/inputs.rs: upward (cmd::traces::inputs::find)",
        "answers/info.rs -> cmd/traces/inputs.rs: upward (cmd::traces::inputs::host)",
        "answers/info.rs -> cmd/traces/inputs.rs: upward (cmd::traces::inputs::remarks)",
        "answers/top.rs -> cmd/top/view.rs: upward (cmd::top::view::By)",
        "answers/top.rs -> cmd/top/view.rs: upward (cmd::top::view::SortBy)",
        "answers/top.rs -> cmd/top/view.rs: upward (cmd::top::view::SortBy::Name)",
        "answers/top.rs -> cmd/top/view.rs: upward (cmd::top::view::View)",
        "answers/top.rs -> cmd/top/view.rs: upward (cmd::top::view::events_lost_mean)",
    ],
};
