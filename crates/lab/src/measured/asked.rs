//! What a user says of values that other programs measured, which a file does not tell.

use slablab_stats::Direction;

use super::sides::{Side, Sides};

/// What a metric is called that has no name in its file.
const NAMELESS: &str = "value";

/// What is asked of files beside a comparison.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked<'a> {
    /// The metric to compare, or the name of one that has none
    pub metric: Option<&'a str>,
    /// The unit of a metric that has none
    pub unit: Option<&'a str>,
    /// Whether less or more is better, where a user says so
    pub direction: Option<Direction>,
    /// Whether values at one place belong together, where a user says so
    pub is_paired: bool,
}

impl Sides {
    /// Returns what is asked for.
    ///
    /// # Errors
    ///
    /// If that has no meaning for these files, in words.
    pub fn asked(mut self, asked: &Asked<'_>) -> Result<Self, String> {
        if let Some(name) = asked.metric {
            self.choose(name)?;
        }
        if let Some(unit) = asked.unit {
            self.sole("--unit")?;
            let told = self.metrics().find(|(_, told, _)| !told.is_empty() && told != unit);
            if let Some((metric, told, _)) = told {
                return Err(format!(
                    "--unit {unit}: {metric} is in {told} by its file: leave --unit out"
                ));
            }
            let set = |told: &mut String| unit.clone_into(told);
            self.tested.iter_mut().for_each(|side| set(&mut side.unit));
            self.untested.iter_mut().for_each(|side| set(&mut side.unit));
        }
        if let Some(direction) = asked.direction {
            self.sole("--more-is-better")?;
            self.tested.iter_mut().for_each(|side| side.direction = direction);
            self.untested.iter_mut().for_each(|side| side.direction = direction);
        }
        if asked.is_paired {
            self.pair()?;
        }
        Ok(self)
    }

    /// Returns the name, the unit and the direction of each metric.
    fn metrics(&self) -> impl Iterator<Item = (String, String, Direction)> {
        fn of<T>(side: &Side<T>) -> (String, String, Direction) {
            (side.metric.clone(), side.unit.clone(), side.direction)
        }
        self.tested.iter().map(of).chain(self.untested.iter().map(of))
    }

    /// Keeps a metric, also of each variant and at each point; names the one that has no name.
    fn choose(&mut self, name: &str) -> Result<(), String> {
        let is_it = |metric: &str| {
            let rest = metric.strip_prefix(name);
            rest.is_some_and(|rest| {
                rest.is_empty() || rest.starts_with(" of ") || rest.starts_with(" at ")
            })
        };
        if self.metrics().any(|(metric, ..)| is_it(&metric)) {
            self.tested.retain(|side| is_it(&side.metric));
            self.untested.retain(|side| is_it(&side.metric));
            return Ok(());
        }
        if self.metrics().all(|(metric, ..)| metric == NAMELESS) {
            self.tested.iter_mut().for_each(|side| name.clone_into(&mut side.metric));
            return Ok(());
        }
        let known: Vec<String> = self.metrics().map(|(metric, ..)| metric).collect();
        Err(format!(
            "--metric {name}: the files have no such metric; they have: {}",
            known.join(", ")
        ))
    }

    /// Refuses what is said of one metric where several are compared that differ in unit or direction.
    fn sole(&self, option: &str) -> Result<(), String> {
        let mut metrics = self.metrics();
        let Some((first, unit, direction)) = metrics.next() else { return Ok(()) };
        match metrics.find(|other| (&other.1, other.2) != (&unit, direction)) {
            Some((other, ..)) => Err(format!(
                "{option} is about one metric, and {first} and {other} are compared: name one (--metric '{first}')"
            )),
            None => Ok(()),
        }
    }

    /// Takes values at one place for pairs.
    fn pair(&mut self) -> Result<(), String> {
        if let Some(side) = self.untested.first() {
            return Err(format!(
                "--paired: {} has means without the single values: leave --paired out",
                side.metric
            ));
        }
        for Side { metric, variants, .. } in &self.tested {
            let first = &variants[0];
            let other = variants.iter().find(|other| other.values.len() != first.values.len());
            if let Some(other) = other {
                return Err(format!(
                    "--paired: {metric} has {} of {} and {} of {}, which makes no pairs: leave --paired out",
                    slablab_report::counted(first.values.len() as u64, "value"),
                    first.name,
                    other.values.len(),
                    other.name
                ));
            }
        }
        self.is_paired = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{of_text, sides};
    use super::*;

    fn of(a: &str, b: &str) -> Sides {
        let read = |text: &str| of_text(text).unwrap();
        sides(&[("a".to_owned(), read(a)), ("b".to_owned(), read(b))]).unwrap()
    }

    #[test]
    fn what_is_said_of_plain_values_counts_and_what_cannot_apply_is_refused() {
        let plain = || of("8.4\n8.5\n8.6\n", "8.1\n8.2\n");
        let asked = Asked {
            metric: Some("throughput"),
            unit: Some("MB/s"),
            direction: Some(Direction::MoreIsBetter),
            is_paired: false,
        };
        let said = plain().asked(&asked).unwrap();
        let side = &said.tested[0];
        assert_eq!((side.metric.as_str(), side.unit.as_str()), ("throughput", "MB/s"));
        assert_eq!(side.direction, Direction::MoreIsBetter);
        let paired = Asked { is_paired: true, ..Asked::default() };
        let refusal = plain().asked(&paired).unwrap_err();
        assert!(refusal.contains("3 values of a and 2 of b"), "{refusal}");
        assert!(of("1.5\n2.5\n", "3.5\n4.5\n").asked(&paired).unwrap().is_paired);
        let means = of("x 2.0 ± 0.1 s\n", "x 1.0 ± 0.1 s\n").asked(&paired).unwrap_err();
        assert!(means.contains("without the single values"), "{means}");
    }

    #[test]
    fn of_several_metrics_one_is_chosen() {
        let text = "elapsed_s,user_s,rate\n1.5,9.5,100.5\n1.4,8.5,101.5\n";
        let all = || of(text, text);
        let more = Asked { direction: Some(Direction::MoreIsBetter), ..Asked::default() };
        let refusal = all().asked(&more);
        assert!(refusal.is_err() || all().tested.len() == 1, "{refusal:?}");
        let table = || of("Time: 1.5\nTime: 1.6\n", "Time: 1.4\nTime: 1.7\n");
        let unit = table().asked(&Asked { unit: Some("ms"), ..Asked::default() }).unwrap_err();
        assert!(unit.contains("is in s by its file"), "{unit}");
        let none = table().asked(&Asked { metric: Some("cycles"), ..Asked::default() });
        assert!(none.unwrap_err().contains("they have: time per run"));
        let one = table().asked(&Asked { metric: Some("time per run"), ..more }).unwrap();
        assert_eq!((one.tested.len(), one.tested[0].direction), (1, Direction::MoreIsBetter));
    }
}
