//! `sqrt`: does a square root take longer in 64 bits than in 32?

use std::hint::black_box;
use std::time::Instant;

use crate::error::Result;
use crate::experiment::{About, Experiment, Fixture, Observation, Setup};
use crate::plan::Cell;
use crate::request::{Design, Engine, Metric, Nature, Request};

pub(crate) struct Sqrt;

impl Experiment for Sqrt {
    fn about(&self) -> About {
        About {
            name: "sqrt",
            question: "Does a square root take longer in 64 bits than in 32?",
            engines: &[Engine::User],
            metrics: vec![Metric::less("root_ns", "time per root", "ns", Nature::Sampled)],
            parameters: &[],
        }
    }

    fn design(&self, _: &Request) -> Result<Design> {
        Ok(Design::without_points(["f32", "f64"], 31, 1))
    }
    fn prepare(&self, _: &mut Setup<'_>) -> Result<Box<dyn Fixture>> {
        Ok(Box::new(Roots))
    }
}

struct Roots;

impl Fixture for Roots {
    fn observe(&mut self, cell: &Cell) -> Result<Observation> {
        let start = Instant::now();
        for i in 1..=1_000_000u32 {
            match cell.variant.as_str() {
                "f32" => _ = black_box((i as f32).sqrt()),
                _ => _ = black_box(f64::from(i).sqrt()),
            }
        }
        let values = [("root_ns".to_owned(), start.elapsed().as_nanos() as f64 / 1e6)].into();
        Ok(Observation { values, ..Observation::default() })
    }
}
