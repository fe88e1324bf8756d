//! A number over hosts: its sum, the confidence in it, and the hosts where it is large.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use slablab_stats::{Bootstrap, Interval};

/// The number of hosts that are named, those where the number is greatest.
const HOSTS_NAMED: usize = 3;
/// For fewer hosts no interval is given: hosts drawn anew never contain a value that none of them has. Five hosts all lie
/// on one side of the median of all hosts in 2 of 32 cases, more often than an interval of 95 % may miss.
pub const HOSTS_FOR_INTERVAL: usize = 6;

/// A number by host, while it is being collected.
#[derive(Debug, Clone, Default)]
pub(crate) struct ByHost(BTreeMap<String, i64>);

/// A number over hosts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct OverHosts {
    /// All hosts together
    pub sum: i64,
    /// The interval of the sum if the hosts were drawn anew; `None` with fewer than six, which
    /// cannot tell with 95 %
    pub interval: Option<Interval>,
    /// The value that half of the hosts reach
    pub median: i64,
    /// The value that a tenth of the hosts reach
    pub p90: i64,
    /// Hosts where it is negative
    pub negative: u64,
    /// Where it is greatest
    pub most_on: Vec<(String, i64)>,
}

impl ByHost {
    pub(crate) fn add(&mut self, host: &str, number: i64) {
        match self.0.get_mut(host) {
            Some(sum) => *sum += number,
            None => _ = self.0.insert(host.to_owned(), number),
        }
    }

    /// Returns how many hosts have any.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Ends it for a fleet of `hosts` hosts; those without a value have 0.
    pub(crate) fn finish(&self, hosts: usize) -> OverHosts {
        let mut most_on: Vec<(String, i64)> =
            self.0.iter().map(|(host, number)| (host.clone(), *number)).collect();
        most_on.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        most_on.truncate(HOSTS_NAMED);
        let lacking = std::iter::repeat_n(0, hosts.saturating_sub(self.0.len()));
        let mut each: Vec<i64> = self.0.values().copied().chain(lacking).collect();
        each.sort_unstable();
        // The greatest number that this percentage of the hosts reach.
        let reached = |percent: usize| {
            let reaching = (each.len() * percent).div_ceil(100);
            each.get(each.len() - reaching).copied().unwrap_or(0)
        };
        let sample: Vec<f64> = each.iter().map(|number| *number as f64).collect();
        let bootstrap = Bootstrap { resamples: 2_000, ..Bootstrap::default() };
        OverHosts {
            sum: each.iter().sum(),
            interval: match sample.len() >= HOSTS_FOR_INTERVAL {
                true => bootstrap.percentile(&sample, |drawn| drawn.iter().sum()).ok(),
                false => None,
            },
            median: reached(50),
            p90: reached(10),
            negative: each.iter().filter(|number| **number < 0).count() as u64,
            most_on,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_what_that_share_of_the_hosts_has_at_least() {
        let mut by_host = ByHost::default();
        for host in 1..=10 {
            by_host.add(&format!("h{host:02}"), 4 * host);
        }
        let over = by_host.finish(10);
        assert_eq!((over.median, over.p90, over.sum), (24, 40, 220));
        let over = by_host.finish(20);
        assert_eq!((over.median, over.p90), (4, 36));
        assert_eq!(ByHost::default().finish(0).median, 0);
    }

    /// Two hosts used to have an interval "of 95 %", which holds the truth in half of all cases.
    #[test]
    fn few_hosts_have_no_interval() {
        let of = |hosts: i64| {
            let mut by_host = ByHost::default();
            (0..hosts).for_each(|host| by_host.add(&host.to_string(), 100 + host));
            by_host.finish(hosts as usize)
        };
        assert_eq!((of(2).interval, of(5).interval), (None, None));
        let interval = of(6).interval.unwrap();
        assert!(interval.low < 615.0 && 615.0 < interval.high, "{interval:?}");
    }
}
