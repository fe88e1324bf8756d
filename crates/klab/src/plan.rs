//! The order of an experiment's boots, drawn from a seed.

use serde::{Deserialize, Serialize};
use slablab_stats::Rng;

use crate::{Error, Experiment, Result};

/// Boots in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The boots
    pub boots: Vec<PlannedBoot>,
    /// What the order was drawn from
    pub seed: u64,
    /// How often each variant runs
    pub rounds: u32,
}

/// One boot of one variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedBoot {
    /// Which round it belongs to, from 0
    pub round: u32,
    /// Which variant, an index
    pub variant: usize,
    /// Virtual CPUs
    pub cpus: u32,
    /// The loads, indices, in the order they run
    pub loads: Vec<usize>,
}

impl Plan {
    /// Draws an order: in each round every variant under every CPU count once, shuffled, and the loads of each
    /// boot shuffled.
    ///
    /// # Errors
    ///
    /// When there is nothing to do: no variant, no CPU, no round, a variant twice.
    pub fn draw(experiment: &Experiment, cpus: &[u32], rounds: u32, seed: u64) -> Result<Self> {
        check(experiment, cpus, rounds)?;
        let mut rng = Rng::new(seed);
        let mut boots = Vec::new();
        for round in 0..rounds {
            let mut of_round = Vec::new();
            for &cpus in cpus {
                for variant in 0..experiment.variants.len() {
                    let mut loads: Vec<_> = (0..experiment.loads.len()).collect();
                    rng.shuffle(&mut loads);
                    of_round.push(PlannedBoot { round, variant, cpus, loads });
                }
            }
            rng.shuffle(&mut of_round);
            boots.append(&mut of_round);
        }
        Ok(Self { boots, seed, rounds })
    }
}

fn check(experiment: &Experiment, cpus: &[u32], rounds: u32) -> Result<()> {
    let bad = |why: String| Err(Error::Plan(why));
    if rounds == 0 {
        return bad("no rounds, nothing to measure; say --rounds 2 or more".into());
    }
    if experiment.variants.is_empty() || experiment.loads.is_empty() || cpus.is_empty() {
        return bad(format!("{}: no variant, load or CPU count", experiment.name));
    }
    // CONFIG_NR_CPUS of kernel/config/base.config.
    if let Some(wrong) = cpus.iter().find(|cpus| !(1..=16).contains(*cpus)) {
        return bad(format!("{wrong} CPUs: the kernels are built for 1 to 16"));
    }
    for (i, variant) in experiment.variants.iter().enumerate() {
        if experiment.variants[..i].iter().any(|other| other.name == variant.name) {
            return bad(format!("{} is named twice", variant.name));
        }
    }
    for (i, cpu) in cpus.iter().enumerate() {
        if cpus[..i].contains(cpu) {
            return bad(format!("{cpu} CPUs are named twice"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Size, hackbench};

    fn experiment() -> Experiment {
        hackbench(&["slub".into(), "slob".into()], &[1, 10], Size::Smoke)
    }

    #[test]
    fn each_round_has_every_variant_once_in_an_order_of_its_own() {
        let plan = Plan::draw(&experiment(), &[1, 2, 4], 20, 7).unwrap();
        assert_eq!(plan.boots.len(), 20 * 2 * 3);
        let mut orders = std::collections::BTreeSet::new();
        for (round, boots) in plan.boots.chunks(6).enumerate() {
            assert!(boots.iter().all(|boot| boot.round as usize == round));
            let order: Vec<_> = boots.iter().map(|boot| (boot.cpus, boot.variant)).collect();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [(1, 0), (1, 1), (2, 0), (2, 1), (4, 0), (4, 1)]);
            orders.insert(order);
        }
        assert!(orders.len() > 10, "{}", orders.len());
    }

    #[test]
    fn the_seed_fixes_the_order() {
        let draw = |seed| Plan::draw(&experiment(), &[1, 2], 3, seed).unwrap();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1).boots, draw(2).boots);
    }

    #[test]
    fn nothing_to_do_is_said() {
        let say = |cpus: &[u32], rounds| {
            Plan::draw(&experiment(), cpus, rounds, 1).unwrap_err().to_string()
        };
        assert!(say(&[1], 0).contains("--rounds"));
        assert!(say(&[0], 1).contains("0 CPUs"));
        assert!(say(&[17], 1).contains("1 to 16"));
        assert!(say(&[2, 2], 1).contains("twice"));
    }
}
