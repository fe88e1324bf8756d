//! `load`: how much time and slab memory do kernels need for a load?
//!
//! Each guest boots and runs hackbench, files, sockets, these three in turn, a script of the user's (`--input`), or
//! nothing. `slabs_around` of
//! `kernel/guest/lab.sh` reports `Slab` of `/proc/meminfo` after the boot, at its peak (the largest of five reads in a
//! second) and after the load, and the time that the load took. hackbench passes messages of 100 bytes through unix
//! sockets, in groups of 20 senders and 20 receivers. Each message is an `sk_buff` and a data block, allocated by one task
//! and freed by another, often on another CPU. Its time is its own figure, which leaves the forks out.
//!
//! A script runs in busybox's shell, and reports values of its own by `metric NAME VALUE`. A script that fails stops the
//! run with the last lines of its console. Guests need memory of their own size where kernels differ in size.

use std::fs;
use std::path::Path;

use serde_json::Value;
use slablab_report::{Item, Section};
use slablab_vm::Spec;

use crate::error::{Error, Result};
use crate::experiment::{About, Experiment, Fixture, Setup};
use crate::guest::{self, CPUS, Load as GuestLoad, Options, Recipe, Variant, by_cpus};
use crate::outcome::Outcome;
use crate::parameter::{Kind, Parameter};
use crate::request::{Design, Engine, Metric, Nature, Request, Scale};
use crate::slabs::{self, CacheChange};

/// SLUB set for little memory: slabs of one page where objects fit. It keeps no empty slab, and for a CPU only the one
/// from which it allocates.
const TUNED: (&str, &str) = ("slub-tuned", "slub_max_order=0");

/// Sets what SLUB has for each cache, in a guest that was booted with the rest of [`TUNED`].
const TUNE: &str = "if grep -q slub_max_order=0 /proc/cmdline; then
    for file in /sys/kernel/slab/*/cpu_partial /sys/kernel/slab/*/min_partial; do
        { echo 0 > $file; } 2> /dev/null || true
    done
fi
";

/// Memory in MiB that is enough for a group of 40 processes, which take 2 MB and more.
const GROUP_MIB: u64 = 32;

const KERNELS: Parameter = Parameter::new(
    "kernels",
    Kind::Names,
    "what is compared: debian:6.12, build:7.3/slub_tiny, slob, a path, or slub-tuned, SLUB as one sets it for little memory",
)
.or("slub,slab,slob,slmb");
const LOAD: Parameter = Parameter::new(
    "load",
    Kind::Word(&["hackbench", "boot", "files", "sockets", "all"]),
    "what a guest does without a script (--input): hackbench; boot and nothing more; files of a tmpfs; TCP sockets over \
     loopback; or all, hackbench, files and sockets in turn",
)
.or("hackbench");
const GROUPS: Parameter = Parameter::new(
    "groups",
    Kind::Numbers(1, 1000),
    "groups of 40 processes; those of the default that have room",
)
.or("1,10");
// With 400, SLUB takes 2 to 3 seconds in an emulated guest with 2 CPUs and SLOB 5 to 15.
const LOOPS: Parameter = Parameter::new(
    "loops",
    Kind::Number(1, 1_000_000),
    "messages of each sender to each receiver, divided by the groups",
)
.or("400")
.in_smoke("20");
const APPEND: Parameter = Parameter::new(
    "append",
    Kind::Text,
    "boot parameters of further variants of every kernel, by semicolon",
);
const METRICS: Parameter = Parameter::new(
    "metrics",
    Kind::Names,
    "what else is compared: what the script gives by `metric NAME VALUE`, or a field of /proc/meminfo or /proc/vmstat; \
     NAME:more where more is better",
);
const WITH: Parameter =
    Parameter::new("with", Kind::Names, "programs of this machine that the script needs");
const MEMORY: Parameter = Parameter::new(
    "memory",
    Kind::Numbers(16, 1 << 20),
    "memory of each guest in MiB, or of each kernel's",
)
.or("1024");
const FIRST: Parameter = Parameter::new(
    "first",
    Kind::Word(&["seconds", "slab_kb"]),
    "the metric that the answer begins with, in place of seconds for hackbench and slab_kb for others",
);

/// Files that are made, and pages that are fetched over loopback: some seconds of an emulated guest each.
const FILES: &str = "slabs_around make_files 8000\n";
const SOCKETS: &str = "slabs_around fetch_pages 200\n";

/// How the table of caches is made.
const HOW: &str = "From slabinfo after the load, the median of the runs of each side. Objects explain what the load did, and the \
    rest is how they lie in slabs. Caches that the kernel merged stand under one name.";

/// The experiment.
pub(crate) struct Load;

impl Experiment for Load {
    fn about(&self) -> About {
        let held = |key, name| Metric::less(key, name, "KiB", Nature::Independent);
        // The peak that is read at intervals depends on how fast the machine was.
        let in_time = |key, name, unit| Metric::less(key, name, unit, Nature::Sampled);
        About {
            name: "load",
            question: "What do kernels need for a load: how much slab memory, and how much time?",
            engines: &[Engine::Kernel],
            metrics: vec![
                in_time("seconds", "time of the load", "s"),
                held("slab_kb", "memory in slabs after the load"),
                in_time("slab_peak_kb", "memory in slabs at the peak", "KiB"),
                held("slab_boot_kb", "memory in slabs after the boot"),
            ],
            parameters: &[KERNELS, LOAD, GROUPS, LOOPS, APPEND, METRICS, WITH, MEMORY, FIRST, CPUS],
        }
    }

    fn metrics_of(&self, request: &Request) -> Result<Vec<Metric>> {
        let mut metrics = self.about().metrics;
        let usual = if Does::of(request)? == Does::Hackbench { "seconds" } else { "slab_kb" };
        let first = FIRST.given(request).unwrap_or(usual);
        metrics.sort_by_key(|metric| metric.key != first);
        metrics.extend(further(request)?);
        Ok(metrics)
    }

    fn kernels(&self, request: &Request) -> Result<Vec<Spec>> {
        Ok(recipe(request)?.0.variants.into_iter().map(|variant| variant.spec).collect())
    }

    fn design(&self, request: &Request) -> Result<Design> {
        let (recipe, _) = recipe(request)?;
        let named = match Does::of(request)? {
            Does::Hackbench => "groups, CPUs",
            Does::All => "load, CPUs",
            _ => "CPUs",
        };
        let points = (named, guest::cpus(request)?);
        let rounds = match request.scale {
            Scale::Smoke => 2,
            Scale::Full => 7,
        };
        let variants = recipe.variants.iter().map(|variant| &variant.name);
        let design = Design::at_points(variants, points, rounds, 0);
        // A boot goes through all numbers of groups.
        Ok(Design { points_per_cell: recipe.loads.len(), ..design })
    }

    fn sections(&self, outcome: &Outcome) -> Vec<Section> {
        let Design { variants, points, .. } = &outcome.plan.design;
        let Some((baseline, candidates)) = variants.split_first() else { return Vec::new() };
        let rows = |variant: &String| {
            let variant = variant.clone();
            outcome.rows.iter().filter(move |row| row.variant == variant)
        };
        let mut items = Vec::new();
        for (candidate, point) in
            candidates.iter().flat_map(|of| points.iter().map(move |p| (of, p)))
        {
            let changes = slabs::changes(rows(baseline), rows(candidate), point);
            let title = format!("{candidate} against {baseline}, at {point}");
            if let Some(sentence) = CacheChange::sentence(&changes) {
                items.push(Item::Text(format!("{title}: {sentence}")));
                items.push(Item::table(title, HOW, CacheChange::table(&changes)));
            }
        }
        match items.is_empty() {
            true => Vec::new(),
            false => vec![Section::first("caches", "Which caches differ after the load", items)],
        }
    }

    fn prepare(&self, setup: &mut Setup<'_>) -> Result<Box<dyn Fixture>> {
        let (recipe, options) = recipe(setup.request)?;
        guest::prepare(recipe, &options, setup)
    }
}

/// The work of a guest after its boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Hackbench,
    Nothing,
    Files,
    Sockets,
    /// Hackbench, files and sockets in turn
    All,
    Script,
}

impl Does {
    fn of(request: &Request) -> Result<Self> {
        let is_set = request.params.contains_key(LOAD.name);
        match (&request.input, LOAD.text(request)) {
            (Some(_), _) if is_set => Err(Error::Request(
                "load and --input: a guest runs one of the loads, or the script".to_owned(),
            )),
            (Some(_), _) => Ok(Self::Script),
            (None, "boot") => Ok(Self::Nothing),
            (None, "files") => Ok(Self::Files),
            (None, "sockets") => Ok(Self::Sockets),
            (None, "all") => Ok(Self::All),
            _ => Ok(Self::Hackbench),
        }
    }
}

/// Returns what to boot and to run.
pub(crate) fn recipe(request: &Request) -> Result<(Recipe, Options)> {
    let options = Options::of(request)?;
    let names = KERNELS.list(request);
    let mut plain = names.iter().map(|name| variant(&options, name)).collect::<Result<Vec<_>>>()?;
    let memory_mib = set_memory(request, &mut plain)?;
    let appended = APPEND.text(request).split(';').map(str::trim).filter(|words| !words.is_empty());
    let with = |words: &str| {
        let words = words.to_owned();
        plain.clone().into_iter().map(move |variant| Variant {
            name: format!("{} {words}", variant.name),
            arguments: words.split_whitespace().map(str::to_owned).collect(),
            ..variant
        })
    };
    let further: Vec<String> = further(request)?.into_iter().map(|metric| metric.key).collect();
    let loads = loads(request, memory_mib, &further)?;
    let metrics = Load.about().metrics.into_iter().map(|metric| metric.key);
    let (tools, setup, point) = match Does::of(request)? {
        // The first run after a boot pays for page faults and for caches that fill for the first time.
        Does::Hackbench => (
            vec!["hackbench".to_owned()],
            format!("{TUNE}hackbench -g 1 -l 10 > /tmp/warm-up\n"),
            by_name as fn(&GuestLoad, u32, &Value) -> String,
        ),
        Does::All => (vec!["hackbench".to_owned()], TUNE.to_owned(), by_name as _),
        Does::Nothing | Does::Files | Does::Sockets | Does::Script => {
            (WITH.list(request), TUNE.to_owned(), by_cpus as _)
        }
    };
    let recipe = Recipe {
        variants: plain.iter().cloned().chain(appended.flat_map(with)).collect(),
        loads,
        is_in_order: Does::of(request)? == Does::All,
        metrics: metrics.chain(further).collect(),
        point,
        tools,
        memory_mib,
        setup,
        limit_seconds: 1800,
    };
    Ok((recipe, options))
}

/// Returns the point of a row whose load has a name: hackbench's groups, or what was done.
fn by_name(load: &GuestLoad, cpus: u32, _: &Value) -> String {
    format!("{}, {cpus}", load.name)
}

fn variant(options: &Options, name: &str) -> Result<Variant> {
    let is_tuned = name == TUNED.0;
    let spec = options.spec(if is_tuned { "slub" } else { name })?;
    let arguments = is_tuned.then(|| TUNED.1.to_owned()).into_iter().collect();
    // The folders of patches that it names would fill each table.
    let name = if has_patch(name) { spec.name() } else { name.to_owned() };
    Ok(Variant { name, spec, arguments, memory_mib: None })
}

/// Returns whether the name of a kernel names a patch.
fn has_patch(name: &str) -> bool {
    let is_patch =
        |part: &str| Path::new(part).extension().is_some_and(|end| end == "patch" || end == "diff");
    name.split('+').skip(1).any(is_patch)
}

/// Returns what each boot runs, with the names of the `further` metrics.
fn loads(request: &Request, memory_mib: u32, further: &[String]) -> Result<Vec<GuestLoad>> {
    let metrics = format!("metrics='{}'\n", further.join(" "));
    let of = |name: &str, script: String| GuestLoad {
        name: name.to_owned(),
        script: format!("{metrics}{script}"),
    };
    Ok(match Does::of(request)? {
        Does::Nothing => vec![of("", "slabs_around true\n".to_owned())],
        Does::Files => vec![of("", FILES.to_owned())],
        Does::Sockets => vec![of("", SOCKETS.to_owned())],
        Does::All => {
            let (groups, loops) = (GROUPS.numbers(request)?, LOOPS.number(request)?);
            let groups = groups.last().copied().unwrap_or(1);
            let messages =
                format!("slabs_around pass_messages {groups} {}\n", (loops / groups).max(1));
            let all = [
                ("hackbench", messages),
                ("files", FILES.to_owned()),
                ("sockets", SOCKETS.to_owned()),
            ];
            all.into_iter().map(|(name, script)| of(name, script)).collect()
        }
        Does::Script => {
            let path = request.input.as_deref().expect("a script has a file");
            let text = fs::read_to_string(path).map_err(Error::io(path, "read the script"))?;
            // The shell does not touch text between the quotation marks of a here-document.
            vec![of(
                "",
                format!(
                    "cat > /tmp/script <<'END OF SCRIPT'\n{text}\nEND OF SCRIPT\nslabs_around run_script /tmp/script\n"
                ),
            )]
        }
        Does::Hackbench => {
            let is_set = request.params.contains_key(GROUPS.name);
            let room = (u64::from(memory_mib) / GROUP_MIB).max(1);
            let mut groups = GROUPS.numbers(request)?;
            if !is_set {
                groups.iter_mut().for_each(|groups| *groups = room.min(*groups));
                groups.dedup();
            }
            let all = LOOPS.number(request)?;
            let script = |groups: &u64| {
                format!("slabs_around pass_messages {groups} {}\n", (all / groups).max(1))
            };
            groups.iter().map(|groups| of(&groups.to_string(), script(groups))).collect()
        }
    })
}

/// Returns the requested metrics besides those of every load.
fn further(request: &Request) -> Result<Vec<Metric>> {
    let metric = |text: String| {
        let (name, more) = match text.split_once(':') {
            Some((name, "more")) => (name, true),
            Some((name, "less")) => (name, false),
            _ => (text.as_str(), false),
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_()-".contains(c);
        if name.is_empty() || !name.chars().all(is_plain) {
            let why = format!("metrics={text}: write NAME, NAME:less or NAME:more");
            return Err(Error::Request(why));
        }
        let make = if more { Metric::more } else { Metric::less };
        Ok(make(name, name, "", Nature::Sampled))
    };
    METRICS.list(request).into_iter().map(metric).collect()
}

/// Returns the memory of the guests in MiB; where each kernel has its own, the variants get it, and their names show
/// it.
fn set_memory(request: &Request, variants: &mut [Variant]) -> Result<u32> {
    let list: Vec<u32> = MEMORY.numbers(request)?.into_iter().map(|mib| mib as u32).collect();
    match list[..] {
        [] => return Err(Error::Request("memory: a number is needed".to_owned())),
        [memory_mib] => return Ok(memory_mib),
        _ if list.len() == variants.len() => {}
        _ => {
            return Err(Error::Request(format!(
                "memory: {} numbers for {} kernels; give one for all, or one for each",
                list.len(),
                variants.len()
            )));
        }
    }
    for (variant, memory_mib) in variants.iter_mut().zip(&list) {
        variant.name = format!("{} at {memory_mib} MiB", variant.name);
        variant.memory_mib = Some(*memory_mib);
    }
    Ok(list[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_and_memory(kernels: &str, memory: &str) -> Result<Vec<(String, u32)>> {
        let params = [("kernels", kernels), ("memory", memory), ("append", "quiet")];
        let (recipe, _) = recipe(&Request::for_guests(&params))?;
        let memory_of = |variant: &Variant| variant.memory_mib.unwrap_or(recipe.memory_mib);
        Ok(recipe
            .variants
            .iter()
            .map(|variant| (variant.name.clone(), memory_of(variant)))
            .collect())
    }

    #[test]
    fn each_kernel_can_have_the_memory_that_it_needs() {
        let kernels = "debian:6.12,build:6.12/slub_tiny";
        let same = names_and_memory(kernels, "80").unwrap();
        assert!(same.iter().all(|(_, memory)| *memory == 80), "{same:?}");
        assert_eq!(same[2].0, "debian:6.12 quiet");
        let own = names_and_memory(kernels, "80,32").unwrap();
        let own: Vec<_> = own.iter().map(|(name, memory)| (name.as_str(), *memory)).collect();
        let expected = [
            ("debian:6.12 at 80 MiB", 80),
            ("build:6.12/slub_tiny at 32 MiB", 32),
            ("debian:6.12 at 80 MiB quiet", 80),
            ("build:6.12/slub_tiny at 32 MiB quiet", 32),
        ];
        assert_eq!(own, expected);
    }

    #[test]
    fn memory_that_fits_no_list_of_kernels_is_refused() {
        let error = |memory: &str| names_and_memory("slub,slob", memory).unwrap_err().to_string();
        assert!(error("80,32,64").contains("3 numbers for 2 kernels"), "{}", error("80,32,64"));
        assert!(error("8").contains("memory=8"), "{}", error("8"));
    }

    #[test]
    fn groups_that_nobody_asked_for_have_room() {
        let names = |memory: &str| -> Vec<String> {
            let (recipe, _) = recipe(&Request::for_guests(&[("memory", memory)])).unwrap();
            recipe.loads.into_iter().map(|load| load.name).collect()
        };
        assert_eq!(
            (names("1024"), names("96")),
            (vec!["1".into(), "10".into()], vec!["1".into(), "3".into()])
        );
        assert_eq!(names("32"), ["1"]);
    }

    #[test]
    fn the_first_metric_answers_the_question_of_the_load() {
        let first = |params: &[(&str, &str)]| {
            Load.metrics_of(&Request::for_guests(params)).unwrap().remove(0).key
        };
        assert_eq!(first(&[]), "seconds");
        assert_eq!(first(&[("load", "boot")]), "slab_kb");
        assert_eq!(first(&[("first", "slab_kb")]), "slab_kb");
    }
}
