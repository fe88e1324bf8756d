//! The command that repeats a run of the lab.

use slablab_host::shell;
use slablab_lab::{CommandVariant, Plan, Scale};

/// Returns the command that makes the same run again; a preset is short for it.
pub(crate) fn command(plan: &Plan) -> String {
    let commands = plan.params.get("commands").filter(|_| plan.experiment == "commands");
    let variants = commands.and_then(|json| serde_json::from_str::<Vec<_>>(json).ok());
    match variants {
        Some(variants) => bench(plan, &variants),
        None => run(plan),
    }
}

/// Returns the command of `slablab bench`.
fn bench(plan: &Plan, variants: &[CommandVariant]) -> String {
    let mut words = vec!["slablab bench".to_owned(), rounds(plan)];
    for (option, name) in [
        ("--events", "events"),
        ("--ignore-failure", "ignore_failure"),
        ("--show-output", "show_output"),
    ] {
        words.extend(plan.params.contains_key(name).then(|| option.to_owned()));
    }
    let settings = variants.iter().flat_map(|variant| &variant.settings);
    let settings: Vec<_> =
        settings.map(|(file, value)| shell::word(&format!("{}={value}", file.display()))).collect();
    let is_one_command = !settings.is_empty();
    words.extend(settings.into_iter().map(|setting| format!("--set {setting}")));
    words.extend(variants.iter().map(|variant| format!("--name {}", shell::word(&variant.name))));
    for variant in variants.iter().take(if is_one_command { 1 } else { variants.len() }) {
        words.push("--".to_owned());
        words.extend(variant.words.iter().map(|word| shell::word(word)));
    }
    words.join(" ")
}

fn rounds(plan: &Plan) -> String {
    format!("--rounds {} --seed {}", plan.design.rounds, plan.seed)
}

/// Returns the command of `slablab lab run`.
fn run(plan: &Plan) -> String {
    let mut words = vec![
        "slablab lab run".to_owned(),
        shell::word(&plan.experiment),
        format!("--engine {}", plan.engine),
    ];
    if plan.scale == Scale::Smoke {
        words.push("--smoke".to_owned());
    }
    words.push(rounds(plan));
    words.extend(plan.input.iter().map(|input| format!("--input {}", shell::path(input))));
    let set = plan.params.iter().map(|(name, value)| shell::word(&format!("{name}={value}")));
    words.extend(set.map(|set| format!("--set {set}")));
    words.join(" ")
}
