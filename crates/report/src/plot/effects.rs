//! Effects with their intervals about the line of "no change": what is shown and what is not, at a glance.

use super::axis::Axis;
use super::bars::shorten;
use super::frame::{Area, Draw, Drawn, Fill, Mark};
use super::width::Width;
use crate::color::Palette;
use crate::table::Comparisons;

/// Effects, one a line.
#[derive(Debug, Clone, Default)]
pub struct Effects {
    /// What it shows
    pub title: String,
    /// How the numbers were got
    pub how: String,
    /// What is changed: `change of time per run against kmalloc`
    pub quantity: String,
    /// The effects, top to bottom
    pub effects: Vec<Effect>,
}

/// One effect, in per cent of the baseline.
#[derive(Debug, Clone, Default)]
pub struct Effect {
    /// Its name
    pub name: String,
    /// Whose colour it has
    pub variant: String,
    /// The change
    pub percent: f64,
    /// Where the true change may lie
    pub interval: (f64, f64),
}

impl Effects {
    /// Makes the plot of all rows of `table` that have a ratio; `None` when none has.
    #[must_use]
    pub fn of(table: &Comparisons) -> Option<Self> {
        let percent = |ratio: f64| (ratio - 1.0) * 100.0;
        let effects: Vec<Effect> = table
            .rows
            .iter()
            .filter_map(|row| {
                let ratio = row.comparison.ratio?;
                let name = match row.point.is_empty() {
                    true => row.candidate.clone(),
                    false => format!("{} @ {}", row.candidate, row.point),
                };
                Some(Effect {
                    name,
                    variant: row.candidate.clone(),
                    percent: percent(ratio.value),
                    interval: (percent(ratio.interval.low), percent(ratio.interval.high)),
                })
            })
            .collect();
        let better = if table.less_is_better() { "less" } else { "more" };
        (!effects.is_empty()).then(|| Self {
            title: format!("Change of {} against {}: {better} is better", table.metric, table.baseline),
            how: "Estimate of the ratio (Hodges, Lehmann) with its interval; the verdicts are in the table."
                .to_owned(),
            quantity: format!("change of {}", table.metric),
            effects,
        })
    }
}

impl Draw for Effects {
    fn title(&self) -> &str {
        &self.title
    }

    fn names(&self) -> Vec<&str> {
        Vec::new()
    }

    fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }

    fn height(&self, _width: Width) -> u32 {
        120 + 30 * self.effects.len() as u32
    }

    fn draw(&self, area: &Area<'_>, palette: &mut Palette) -> Drawn {
        let below = area.under_head(self, palette)?;
        let ends = self.effects.iter().flat_map(|e| [e.interval.0, e.percent, e.interval.1]);
        // Zero with room on both sides: the line that decides must not be the border.
        let reach = ends.clone().fold(0.0f64, |most, x| most.max(x.abs())) * 0.1;
        let x = Axis::linear(&self.quantity, "%", ends.chain([-reach, reach]), None);
        let names = self.effects.iter().map(|e| shorten(&e.name)).collect();
        let y = Axis::names("candidate", names).top_down();
        let frame = below.frame(&x, &y)?;
        frame.rule((0.0, 0.0), (0.0, self.effects.len() as f64))?;
        for (at, effect) in self.effects.iter().enumerate() {
            let (middle, color) = (at as f64 + 0.5, palette.color(&effect.variant));
            let (low, high) = effect.interval;
            frame.line(&[(low, middle), (high, middle)], color, 3.0)?;
            for end in [low, high] {
                frame.line(&[(end, middle - 0.15), (end, middle + 0.15)], color, 2.0)?;
            }
            frame.mark((effect.percent, middle), Mark { color, radius: 5.0, fill: Fill::Full })?;
        }
        Ok(())
    }
}
