//! Who leaks slab memory on this machine.

use serde::Serialize;
use slablab_hunt::{Finding, Hunt, Pin, Seen, Unseen, Verdict, cgroup_name};
use slablab_report::{Cell, Document, Item, Section, Table, counted, field};

use crate::output::{Answer, bytes, duration, thousands};

/// What `slablab leaks` says.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct LeaksAnswer {
    /// Programs that leak, those that leak most first
    programs: Vec<Leaker>,
    /// All owners, with their verdicts
    owners: Vec<Finding>,
    /// Who keeps slabs that are used to a quarter at most; known at the end of a hunt
    pins: Vec<Pin>,
    seen: Seen,
    unseen: Unseen,
}

/// A program that leaks.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
struct Leaker {
    /// The name of the program
    program: String,
    /// How many programs this adds up
    programs: u64,
    /// The owner that leaks most bytes
    owner: String,
    /// Owners and caches that leak, each counted
    kinds: u64,
    /// Objects a second of that owner
    per_second: f64,
    /// The interval of 95 % of those
    interval: Option<(f64, f64)>,
    /// Bytes a second of all of them
    bytes_per_second: f64,
    /// Live bytes of all of them
    bytes: u64,
    /// Processes that allocated them
    processes: u64,
    /// How many of those still run
    processes_running: u64,
    /// One of the processes
    process: Option<u32>,
    /// The folder of its memory cgroup
    cgroup: Option<String>,
}

impl LeaksAnswer {
    /// What `--show` can name.
    pub(crate) const TABLES: [&'static str; 5] = ["leaks", "owners", "pins", "stacks", "unseen"];

    /// Says what a hunt found so far.
    pub(crate) fn new(hunt: &Hunt) -> Self {
        let owners = hunt.findings();
        let mut programs: Vec<Leaker> = Vec::new();
        // Those that leak most bytes come first, so that the first of a program is its greatest.
        for found in owners.iter().filter(|found| found.verdict == Verdict::Leak) {
            match programs.iter_mut().find(|leaker| leaker.program == found.program) {
                Some(leaker) => leaker.add(found),
                None => programs.push(Leaker::new(found)),
            }
        }
        programs.sort_by(|a, b| b.bytes_per_second.total_cmp(&a.bytes_per_second));
        Self { programs, owners, pins: hunt.pins(), seen: hunt.seen(), unseen: hunt.unseen() }
    }

    /// Returns whether something leaks.
    pub(crate) fn has_leak(&self) -> bool {
        !self.programs.is_empty()
    }

    fn of(&self, verdict: Verdict) -> impl Iterator<Item = &Finding> {
        self.owners.iter().filter(move |found| found.verdict == verdict)
    }

    fn sentences(&self) -> Vec<String> {
        let mut sentences = vec![self.who()];
        sentences.extend(self.programs.first().map(Leaker::whom_to_tell));
        sentences.extend(self.others());
        sentences.extend(self.caches());
        sentences.extend(self.not_yet());
        sentences
    }

    fn who(&self) -> String {
        let time = duration((self.seen.seconds * 1e9) as u64);
        let Some(first) = self.programs.first() else {
            let allocations = thousands(self.seen.allocations);
            return format!("No leak was found in {time} and {allocations} allocations.");
        };
        let Leaker { program, owner, programs, .. } = first;
        let leak = if *programs == 1 { "leaks" } else { "leak" };
        format!(
            "{program} {leak} {}, {} a second: most of it allocated by {owner}, {} objects a second.",
            bytes(first.bytes),
            bytes(first.bytes_per_second.round() as u64),
            rate(first.per_second),
        )
    }

    fn others(&self) -> Option<String> {
        match self.programs.get(1..)? {
            [] => None,
            [other] => {
                let does = if other.programs == 1 { "does" } else { "do" };
                Some(format!("So {does} {}.", other.program))
            }
            others => Some(format!("So do {} other programs.", others.len())),
        }
    }

    fn caches(&self) -> Option<String> {
        let per_second: f64 = self.of(Verdict::Cache).map(|found| found.bytes_per_second).sum();
        let most = self.of(Verdict::Cache).next()?;
        Some(format!(
            "Caches grow by {} a second, most by {} of {}: the kernel gives them back when memory is short.",
            bytes(per_second.round() as u64),
            most.cache,
            most.program
        ))
    }

    fn not_yet(&self) -> Option<String> {
        let open: Vec<f64> =
            self.of(Verdict::NotYet).filter_map(|found| found.told_at_seconds).collect();
        let last = open.iter().copied().reduce(f64::max)?;
        let owners = counted(open.len() as u64, "owner");
        let time = duration((last * 1e9) as u64);
        Some(format!("Of {owners} it cannot be told yet: a hunt of {time} will, if they go on."))
    }

    fn leaks(&self) -> Table {
        Table::of_fields(
            &self.programs,
            vec![
                field::name("program", "program", |row: &Leaker| &row.program),
                field::name("owner", "owner", |row| &row.owner),
                field::text("obj/s", "objects_per_second", |row| rate(row.per_second)),
                field::text("95 %", "interval", |row: &Leaker| interval(row.interval)).where_room(),
                field::bytes("leak/s", "bytes_per_second", |row| row.bytes_per_second as u64),
                field::bytes("leaked", "bytes", |row| row.bytes),
                field::text("runs", "running", Leaker::running),
                field::count("kinds", "kinds", |row: &Leaker| row.kinds).where_room(),
                field::text("cgroup", "cgroup", |row: &Leaker| {
                    row.cgroup.clone().unwrap_or_default()
                })
                .on_page(),
            ],
        )
    }

    fn table(&self, findings: &[&Finding]) -> Table {
        let share = |share: Option<f64>| share.map_or(Cell::Missing, Cell::Share);
        let seconds = |seconds: f64| Cell::Ns((seconds * 1e9) as u64);
        Table::of_fields(
            findings,
            vec![
                field::name("program", "program", |row: &&Finding| &row.program),
                field::name("owner", "owner", |row| &row.owner),
                field::name("cache", "cache", |row| &row.cache),
                field::text("verdict", "verdict", |row| verdict(row).to_owned()),
                field::text("obj/s", "objects_per_second", |row| rate(row.per_second)),
                field::text("95 %", "interval", |row: &&Finding| interval(row.interval)),
                field::count("live", "live_objects", |row| row.objects),
                field::bytes("bytes", "live_bytes", |row| row.bytes),
                field::count("seen", "seen", |row| row.seen),
                field::by("survive", "survival", move |row: &&Finding| share(row.survival)),
                field::by("oldest", "oldest_ns", move |row: &&Finding| seconds(row.oldest_seconds)),
                field::by("told at", "told_at_ns", move |row: &&Finding| {
                    row.told_at_seconds.map_or(Cell::Missing, seconds)
                }),
            ],
        )
    }

    fn pins(&self) -> Table {
        let seconds = |seconds: f64| Cell::Ns((seconds * 1e9) as u64);
        Table::of_fields(
            &self.pins,
            vec![
                field::name("program", "program", |row: &Pin| &row.program),
                field::name("owner", "owner", |row| &row.owner),
                field::name("cache", "cache", |row| &row.cache),
                field::count("slabs", "slabs", |row| row.slabs),
                field::count("of", "cache_slabs", |row| row.cache_slabs),
                field::bytes("free", "free_bytes_max", |row| row.bytes),
                field::count("objects", "objects", |row| row.objects),
                field::by("age", "median_age_ns", move |row: &Pin| seconds(row.median_seconds)),
                field::count("others", "others", |row| row.others),
            ],
        )
    }

    /// Returns the call stacks of what leaks.
    fn stacks(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for found in self.of(Verdict::Leak) {
            lines.push(format!("{} {} {}", found.program, found.owner, found.cache));
            let frames = found.stack.iter().map(|frame| format!("    {frame}"));
            lines.extend(frames);
        }
        lines
    }

    fn unseen(&self) -> Table {
        let Unseen {
            nested,
            live_full,
            sites_full,
            programs_full,
            stacks_full,
            stacks_failed,
            stacks_cut,
            frees,
            ..
        } = &self.unseen;
        let rows = [
            ("events in an interrupt of a program that was running", *nested),
            ("objects for which there was no room", *live_full),
            ("allocations of call sites for which there was no room", *sites_full),
            (
                "allocations at busy call sites of programs without a share of their own",
                *programs_full,
            ),
            ("objects whose stack had no room", *stacks_full),
            ("objects without a stack", *stacks_failed),
            ("objects whose stack has more than 32 frames", *stacks_cut),
            ("objects that were freed without an event, as their address came again", *frees),
        ];
        Table::of_fields(
            &rows,
            vec![
                field::text("what was not seen", "what", |row: &(&str, u64)| row.0.to_owned()),
                field::count("times", "times", |row| row.1),
            ],
        )
    }

    fn source(&self) -> String {
        let Seen { seconds, allocations, sites, tracked, .. } = self.seen;
        format!(
            "From {} of {} allocations at {}, {} of them followed.",
            duration((seconds * 1e9) as u64),
            thousands(allocations),
            counted(sites, "call site"),
            thousands(tracked)
        )
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some((objects, in_bytes)) = self.seen.older {
            notes.push(format!(
                "{} objects ({}) were there before the hunt: they are not judged.",
                thousands(objects),
                bytes(in_bytes)
            ));
        }
        let Unseen { live_full, sites_full, stacks_full, programs_full, unwatched, .. } =
            &self.unseen;
        if live_full + sites_full + stacks_full > 0 {
            notes.push("Tables were full: a greater --ram follows more.".to_owned());
        }
        if programs_full * 20 > self.seen.allocations {
            let remedy = match self.unseen.programs_want_memory {
                true => "a greater --ram sees small leaks there too",
                false => "they are more than have room; --every follows all objects",
            };
            notes.push(format!("Programs at busy call sites shared one sample: {remedy}."));
        }
        if self.unseen.leaks_per_second >= 1.0 {
            notes.push(format!(
                "Of busy programs a share was followed: of the busiest, \
                 a leak below {:.0} objects a second is not seen in this time.",
                self.unseen.leaks_per_second
            ));
        }
        if !unwatched.is_empty() {
            notes.push(format!("Frees by {} have no event here.", unwatched.join(" and ")));
        }
        notes
    }
}

impl Leaker {
    fn new(found: &Finding) -> Self {
        Self {
            program: found.program.clone(),
            programs: found.programs,
            owner: found.owner.clone(),
            kinds: 1,
            per_second: found.per_second,
            interval: found.interval,
            bytes_per_second: found.bytes_per_second,
            bytes: found.bytes,
            processes: found.processes,
            processes_running: found.processes_running,
            process: found.process,
            cgroup: found.cgroup_id.and_then(cgroup_name),
        }
    }

    fn add(&mut self, found: &Finding) {
        self.kinds += 1;
        self.bytes_per_second += found.bytes_per_second;
        self.bytes += found.bytes;
    }

    /// Says who can do something about it: those of the program while it runs, those of the kernel when it has ended.
    fn whom_to_tell(&self) -> String {
        let Self { program, owner, processes, processes_running, .. } = self;
        let module = owner.split_once(" [").map(|(_, module)| module.trim_end_matches(']'));
        let kernel = match module {
            Some(module) => format!("module {module}"),
            None => format!("the kernel's {owner}"),
        };
        if *processes_running == 0 {
            return format!(
                "The processes that allocated it have ended and it stays: tell those who maintain {kernel}."
            );
        }
        let maintained = if self.programs == 1 { program } else { "these programs" };
        let running = match (processes, self.process) {
            (1, Some(process)) => format!("Process {process} still runs"),
            _ => format!(
                "{processes_running} of the {processes} processes that allocated it still run"
            ),
        };
        format!(
            "{running}: if ending it frees them, tell those who maintain {maintained}, else those who maintain {kernel}."
        )
    }

    fn running(&self) -> String {
        format!("{}/{}", self.processes_running, self.processes)
    }
}

/// Names a verdict.
fn verdict(found: &Finding) -> &'static str {
    match found.verdict {
        Verdict::Leak => "leak",
        Verdict::Cache => "cache",
        Verdict::NotYet => "not yet told",
        Verdict::Population if found.frees_unseen => "frees unseen",
        Verdict::Population => "follows the load",
    }
}

fn rate(per_second: f64) -> String {
    match per_second {
        rate if rate >= 100.0 => format!("{rate:.0}"),
        rate if rate >= 10.0 => format!("{rate:.1}"),
        rate => format!("{rate:.2}"),
    }
}

fn interval(interval: Option<(f64, f64)>) -> String {
    interval.map(|(low, high)| format!("{}-{}", rate(low), rate(high))).unwrap_or_default()
}

const PINS_HOW: &str = "Slabs that are used to a quarter at most by objects that the hunt follows, and the bytes that would \
    come free, at most, if those went or lay elsewhere. Others: objects of the cache that are older than the hunt or were not \
    followed; they may lie in the same slabs.";

impl Answer for LeaksAnswer {
    const SCHEMA: &'static str = "slablab.leaks/1";

    fn document(&self) -> Document {
        let how = "Objects a second that stay, of the owner that leaks most bytes, with the interval of 95 %; bytes are \
                   those of all that the program leaks. Runs: how many of the processes that allocated them still do.";
        let all: Vec<&Finding> = self.owners.iter().collect();
        let all_how = "Objects that were allocated since the hunt began and are alive. Survive: the share of those that were \
                       alive and ten seconds old halfway which is alive now.";
        Document {
            title: "Leaks of slab memory".to_owned(),
            question: "Who allocates slab memory and never frees it?".to_owned(),
            answers: self.sentences(),
            sections: vec![
                Section::first("leaks", "", vec![Item::table("What leaks", how, self.leaks())]),
                Section::named(
                    "owners",
                    "All owners",
                    vec![Item::table("By owner", all_how, self.table(&all))],
                ),
                Section::named(
                    "pins",
                    "Who keeps sparse slabs",
                    vec![Item::table("By owner", PINS_HOW, self.pins())],
                ),
                Section::named(
                    "stacks",
                    "Call stacks of what leaks",
                    vec![Item::Lines(self.stacks())],
                ),
                Section::named(
                    "unseen",
                    "What was not seen",
                    vec![Item::table("", "", self.unseen())],
                ),
            ],
            source: self.source(),
            notes: self.notes(),
            ..Document::default()
        }
    }
}
