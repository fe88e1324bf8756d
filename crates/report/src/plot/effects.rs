//! Effects with their intervals about the line of "no change": what is shown and what is not, at a glance.

use super::area::{Area, Draw, Drawn, Fill, Mark};
use super::axis::Axis;
use super::bars::shorten;
use super::{Plot, width::Width};
use crate::color::Palette;
use crate::table::Comparisons;

/// Effects, one on each line, top to bottom.
#[derive(Debug)]
pub(crate) struct Effects {
    /// The changed quantity: `change of time per run`
    quantity: String,
    effects: Vec<Effect>,
}

/// One effect, in per cent of the baseline.
#[derive(Debug)]
struct Effect {
    name: String,
    /// The variant whose colour it has
    variant: String,
    percent: f64,
    /// Where the true change may lie
    interval: (f64, f64),
}

impl Comparisons {
    /// Makes the plot of all rows that have a ratio; `None` when none has.
    pub fn effects(&self) -> Option<Plot> {
        let percent = |ratio: f64| (ratio - 1.0) * 100.0;
        let effects: Vec<Effect> = self
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
        let better = if self.less_is_better() { "less" } else { "more" };
        (!effects.is_empty()).then(|| {
            Plot::new(
                format!("Change of {} against {}: {better} is better", self.metric, self.baseline),
                "Estimate of the ratio (Hodges, Lehmann) with its interval; the verdicts are in the table.",
                Effects { quantity: format!("change of {}", self.metric), effects },
            )
        })
    }
}

impl Draw for Effects {
    fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }

    fn height(&self, _width: Width) -> u32 {
        120 + 30 * self.effects.len() as u32
    }

    fn draw(&self, area: &Area<'_>, palette: &mut Palette) -> Drawn {
        let ends = self.effects.iter().flat_map(|e| [e.interval.0, e.percent, e.interval.1]);
        // Zero needs room on both sides, because the line that decides must not be the border.
        let reach = ends.clone().fold(0.0f64, |most, x| most.max(x.abs())) * 0.1;
        let x = Axis::linear(&self.quantity, "%", ends.chain([-reach, reach]), None);
        let names = self.effects.iter().map(|e| shorten(&e.name)).collect();
        let y = Axis::names("candidate", names).top_down();
        let axes = area.axes(&x, &y)?;
        axes.rule((0.0, 0.0), (0.0, self.effects.len() as f64))?;
        for (at, effect) in self.effects.iter().enumerate() {
            let (middle, color) = (at as f64 + 0.5, palette.color(&effect.variant));
            let (low, high) = effect.interval;
            axes.line(&[(low, middle), (high, middle)], color, 3.0)?;
            for end in [low, high] {
                axes.line(&[(end, middle - 0.15), (end, middle + 0.15)], color, 2.0)?;
            }
            axes.mark((effect.percent, middle), Mark { color, radius: 5.0, fill: Fill::Full })?;
        }
        Ok(())
    }
}
