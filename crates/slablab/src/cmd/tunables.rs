//! Options for what may be tuned of an allocator, made from what the allocators declare. A help names them in one line.

use clap::{Arg, ArgMatches, Command, value_parser};
use slablab_kmem::{BackendKind, Tunable, Tunables};

/// Values of tunables, from options of their names.
#[derive(Debug, Clone, Default)]
pub(crate) struct TunableArgs(pub(crate) Tunables);

/// Returns every tunable with the allocators that have it.
pub(crate) fn tunables() -> Vec<(Tunable, Vec<BackendKind>)> {
    let mut all: Vec<(Tunable, Vec<BackendKind>)> = Vec::new();
    for &kind in BackendKind::ALL {
        for tunable in kind.tunables() {
            match all.iter_mut().find(|(known, _)| known.name == tunable.name) {
                Some((_, kinds)) => kinds.push(kind),
                None => all.push((*tunable, vec![kind])),
            }
        }
    }
    all
}

impl clap::Args for TunableArgs {
    fn augment_args(command: Command) -> Command {
        tunables().into_iter().fold(command, |command, (tunable, kinds)| {
            let kinds: Vec<_> = kinds.iter().map(|kind| kind.name().to_uppercase()).collect();
            command.arg(
                Arg::new(tunable.name)
                    .long(tunable.option)
                    .value_name("N")
                    .value_parser(value_parser!(u32).range(..=i64::from(tunable.max)))
                    .help(format!("{}: {}", kinds.join(", "), tunable.about))
                    .hide(true),
            )
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for TunableArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut values = Self::default();
        values.update_from_arg_matches(matches)?;
        Ok(values)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for (tunable, _) in tunables() {
            if let Some(value) = matches.get_one::<u32>(tunable.name) {
                self.0 = std::mem::take(&mut self.0).with(tunable.name, *value);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::Args;

    use super::*;
    use crate::cmd::whatif;

    #[test]
    fn the_help_names_every_tunable() {
        let command = whatif::Args::augment_args(Command::new("whatif"));
        let help = command.get_after_help().unwrap().to_string();
        for (tunable, _) in tunables() {
            assert!(help.contains(&format!("--{}", tunable.option)), "{}: {help}", tunable.option);
        }
    }
}
