//! Old spellings of commands and options, and their present ones.

/// Words of a command line, in their order, and their present spelling. The first that fits is printed.
const SPELLINGS: &[(&[&str], &str)] = &[
    (&["kernel", "run", "script"], "slablab lab run load --input SCRIPT --kernels KERNEL,..."),
    (&["kernel", "run", "hackbench"], "slablab lab run hackbench --kernels KERNEL,..."),
    (&["kernel", "run", "generations"], "slablab lab run generations"),
    (&["kernel", "run", "audit-cache"], "slablab lab run audit-cache"),
    (&["kernel", "run", "kprobes"], "slablab lab run kprobes --engine kernel"),
    (&["kernel", "run"], "slablab lab run NAME"),
    (
        &["kernel", "predict", "trace"],
        "slablab lab run fidelity --input TRACE --kernels KERNEL,...",
    ),
    (&["kernel", "predict", "slabs"], "slablab lab run fidelity --kernels KERNEL,..."),
    (&["kernel", "predict"], "slablab lab run fidelity"),
    (&["kernel", "profile"], "slablab kernel boot KERNEL --flame FILE -- hackbench -g 10 -l 40"),
    (&["kernel", "check"], "slablab doctor"),
    (&["replay", "--engine"], "slablab lab run fidelity --input TRACE --kernels KERNEL,..."),
    (&["replay", "--timed"], "slablab lab run timed --input TRACE"),
    (&["replay", "--threads"], "slablab lab run timed --input TRACE"),
    (&["replay", "--csv"], "slablab replay TRACE --show totals|sites|caches|series --format csv"),
    (&["whatif", "--partition"], "slablab partition TRACE --by BY"),
    (&["advise", "--tune"], "slablab tune TRACE"),
    (&["advise", "--max-locks"], "slablab tune TRACE --max-locks +N%"),
    (&["advise", "--least"], "slablab tune TRACE --least WHEN"),
    (&["advise", "--apply-script"], "slablab tune TRACE --apply-script FILE"),
    (&["advise", "--memory"], "slablab fit TRACE --memory SIZE"),
    (&["advise", "--classes"], "slablab classes TRACE --further K"),
    (&["advise", "--patch"], "slablab patch TRACE SITE"),
    (&["lab", "run", "--allocators"], "--kernels, or --set allocators=NAME,..."),
    (&["lab", "run", "--append"], "--set append='ARGUMENTS;ARGUMENTS'"),
    (&["lab", "run", "--source"], "--set source=PATH"),
    (&["lab", "run", "--jobs"], "--set jobs=N"),
    (&["report", "--png"], "--svg FOLDER, whose plots rsvg-convert and browsers make PNGs of"),
    (&["leaks", "--helpers"], "--helper FUNCTION,..."),
    (&["lab", "compare", "--layout"], "--show mmtests, or --format markdown"),
];

/// Returns the message for a refused command line, if it has words that were once right.
pub(crate) fn now(words: &[String]) -> Option<String> {
    let is_in = |old: &str, word: &String| {
        word == old || word.strip_prefix(old).is_some_and(|rest| rest.starts_with('='))
    };
    let has = |old: &[&str]| {
        let mut words = words.iter();
        old.iter().all(|old| words.any(|word| is_in(old, word)))
    };
    let (old, new) = SPELLINGS.iter().find(|(old, _)| has(old))?;
    Some(format!("{} is now: {new}", old.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_spelling_is_answered_with_the_new_one() {
        let said = |line: &str| now(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let is =
            "kernel run script is now: slablab lab run load --input SCRIPT --kernels KERNEL,...";
        assert_eq!(said("slablab kernel run script load.sh").as_deref(), Some(is));
        assert!(said("slablab --color never lab compare --layout=mmtests a").is_some());
        assert_eq!(said("slablab kernel list --frobnicate"), None);
    }
}
