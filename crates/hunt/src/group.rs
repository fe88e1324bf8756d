//! Live objects by owner, program and cache, from look to look.
//!
//! # How it works
//! Each look gives all tracked objects that are alive. They are put into groups, and a group keeps a point of each look: how
//! much of it is *settled*, older than [`SETTLE_SECONDS`], so that what lives for a moment does not hide what stays. Beside the
//! points it has the births of what is alive now, from which follows who of an earlier look survived.
//!
//! # Invariants
//! A group has at most [`POINTS_MAX`] points: when there are more, every other one goes. What a group holds of births is
//! bounded by the map of live objects.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::object::{Comm, Object};

/// Age from which an object is settled.
pub(crate) const SETTLE_SECONDS: f64 = 10.0;
const POINTS_MAX: usize = 48;
/// Processes of a group that are remembered.
const PROCESSES_MAX: usize = 32;

/// What a group is of. The numbers are those of an [`Interner`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) owner: u32,
    pub(crate) comm: Comm,
    pub(crate) cache: u32,
}

/// What was settled at a look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    /// Seconds since the hunt began
    pub(crate) seconds: f64,
    pub(crate) objects: f64,
    pub(crate) bytes: f64,
}

/// When an object was born, and what it stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Birth {
    pub(crate) seconds: f64,
    pub(crate) weight: f64,
    pub(crate) bytes: u32,
}

/// Objects of one owner, program and cache.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) points: Vec<Point>,
    /// Of the objects that are alive now, in the order of time
    pub(crate) births: Vec<Birth>,
    /// How many objects each process has, as far as processes have room
    pub(crate) processes: FxHashMap<u32, f64>,
    /// When each of these allocated last
    pub(crate) allocated: FxHashMap<u32, f64>,
    /// How many objects each stack, cgroup and call site has
    pub(crate) stacks: FxHashMap<u32, f64>,
    pub(crate) cgroups: FxHashMap<u64, f64>,
    pub(crate) sites: FxHashMap<u64, f64>,
    /// Allocations that an object of it stood for at most, alive or not
    pub(crate) weight_max: f64,
}

impl Group {
    /// Forgets what was alive at the last look.
    fn clear(&mut self) {
        self.births.clear();
        self.processes.clear();
        self.allocated.clear();
        self.stacks.clear();
        self.cgroups.clear();
        self.sites.clear();
    }

    /// Tells whether it has objects now.
    pub(crate) fn is_alive(&self) -> bool {
        !self.births.is_empty()
    }

    fn add(&mut self, object: &Object, seconds: f64) {
        let Object { weight, allocated_bytes: bytes, .. } = *object;
        self.births.push(Birth { seconds, weight, bytes });
        if self.processes.len() < PROCESSES_MAX || self.processes.contains_key(&object.process) {
            *self.processes.entry(object.process).or_default() += weight;
            let last = self.allocated.entry(object.process).or_default();
            *last = last.max(seconds);
        }
        *self.stacks.entry(object.stack).or_default() += weight;
        *self.cgroups.entry(object.cgroup).or_default() += weight;
        *self.sites.entry(object.site).or_default() += weight;
    }

    /// Returns groups of one owner and cache, by several programs, as one. Their points are of the same times.
    pub(crate) fn together(groups: &[&Group]) -> Group {
        let mut all = Group::default();
        for group in groups {
            if all.points.is_empty() {
                all.points.clone_from(&group.points);
            } else {
                for (sum, point) in all.points.iter_mut().zip(&group.points) {
                    sum.objects += point.objects;
                    sum.bytes += point.bytes;
                }
            }
            all.births.extend_from_slice(&group.births);
            all.weight_max = all.weight_max.max(group.weight_max);
            add(&mut all.processes, &group.processes);
            for (process, seconds) in &group.allocated {
                let last = all.allocated.entry(*process).or_default();
                *last = last.max(*seconds);
            }
            add(&mut all.stacks, &group.stacks);
            add(&mut all.cgroups, &group.cgroups);
            add(&mut all.sites, &group.sites);
        }
        all.births.sort_unstable_by(|a, b| a.seconds.total_cmp(&b.seconds));
        all
    }

    /// Returns what is settled at `now`.
    fn point(&self, now: f64) -> Point {
        let (objects, bytes) = self.born_until(now - SETTLE_SECONDS);
        Point { seconds: now, objects, bytes }
    }

    /// Returns the objects that are alive and were born until then, and their bytes.
    pub(crate) fn born_until(&self, seconds: f64) -> (f64, f64) {
        let old = self.births.iter().take_while(|birth| birth.seconds <= seconds);
        old.fold((0.0, 0.0), |(objects, bytes), birth| {
            (objects + birth.weight, bytes + birth.weight * f64::from(birth.bytes))
        })
    }

    /// Returns how many tracked objects are settled.
    pub(crate) fn settled(&self, now: f64) -> usize {
        self.births.partition_point(|birth| birth.seconds <= now - SETTLE_SECONDS)
    }
}

/// Adds how many objects there are of each.
fn add<K: Copy + Eq + Hash>(counts: &mut FxHashMap<K, f64>, more: &FxHashMap<K, f64>) {
    more.iter().for_each(|(key, weight)| *counts.entry(*key).or_default() += weight);
}

/// Numbers for texts.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    numbers: FxHashMap<String, u32>,
    texts: Vec<String>,
}

impl Interner {
    pub(crate) fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    pub(crate) fn text(&self, number: u32) -> &str {
        &self.texts[number as usize]
    }
}

/// All groups.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    pub(crate) groups: FxHashMap<Key, Group>,
    /// Times of the points, which all groups share
    times: Vec<f64>,
    /// Looks between two points, and since the last
    every: usize,
    since: usize,
}

impl Groups {
    /// Takes over the objects of a look, each with its key, `now` seconds after the hunt began at `start_ns`. `weight_max`
    /// says what an object of a program at a call site stood for at most.
    pub(crate) fn take(
        &mut self,
        objects: &[(Key, Object)],
        start_ns: u64,
        now: f64,
        weight_max: &dyn Fn(u64, &Comm) -> f64,
    ) {
        self.groups.values_mut().for_each(Group::clear);
        for (key, object) in objects {
            let seconds = object.time_ns.saturating_sub(start_ns) as f64 / 1e9;
            self.groups.entry(*key).or_default().add(object, seconds);
        }
        self.since += 1;
        let is_point = self.since >= self.every.max(1) && now > SETTLE_SECONDS;
        for (key, group) in &mut self.groups {
            let weights = group.sites.keys().map(|site| weight_max(*site, &key.comm));
            group.weight_max = weights.fold(group.weight_max, f64::max);
            group.births.sort_unstable_by(|a, b| a.seconds.total_cmp(&b.seconds));
            if is_point {
                // What was not there before was none.
                let missing = self.times.len() - group.points.len();
                let none = |time: &f64| Point { seconds: *time, objects: 0.0, bytes: 0.0 };
                group.points.extend(self.times[self.times.len() - missing..].iter().map(none));
                let point = group.point(now);
                group.points.push(point);
            }
        }
        if is_point {
            self.times.push(now);
            self.since = 0;
            self.thin_out();
        }
        let is_settled = |point: &Point| point.objects > 0.0;
        self.groups
            .retain(|_, group| !group.births.is_empty() || group.points.iter().any(is_settled));
    }

    /// Keeps every other point where there are too many.
    fn thin_out(&mut self) {
        if self.times.len() <= POINTS_MAX {
            return;
        }
        fn halve<T>(points: &mut Vec<T>) {
            let mut at = 0;
            points.retain(|_| {
                at += 1;
                at % 2 == 1
            });
        }
        halve(&mut self.times);
        self.groups.values_mut().for_each(|group| halve(&mut group.points));
        self.every = (self.every * 2).max(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(seconds: f64, stack: u32) -> (Key, Object) {
        let mut value = [0; crate::tables::LIVE_BYTES];
        value[..8].copy_from_slice(&((seconds * 1e9) as u64).to_ne_bytes());
        value[44..48].copy_from_slice(&64u32.to_ne_bytes());
        value[64..72].copy_from_slice(&(1u64 << 31).to_ne_bytes());
        value[32..36].copy_from_slice(&stack.to_ne_bytes());
        let key = Key { owner: stack, comm: [0; 16], cache: 0 };
        (key, Object::parse(&[0; 8], &value))
    }

    #[test]
    fn groups_of_several_programs_add_up() {
        let mut groups = Groups::default();
        groups.take(&[object(1.0, 7)], 0, 20.0, &|_, _| 4.0);
        groups.take(&[object(1.0, 7), object(30.0, 8), object(31.0, 7)], 0, 60.0, &|_, _| 2.0);
        let parts: Vec<&Group> = groups.groups.values().collect();
        let all = Group::together(&parts);
        let objects: Vec<f64> = all.points.iter().map(|point| point.objects).collect();
        assert_eq!(objects, [2.0, 6.0]);
        let births: Vec<f64> = all.births.iter().map(|birth| birth.seconds).collect();
        assert_eq!(births, [1.0, 30.0, 31.0]);
        assert_eq!((all.stacks.get(&7), all.weight_max), (Some(&4.0), 4.0));
    }

    #[test]
    fn a_group_that_comes_later_was_none_before_and_points_are_bounded() {
        let mut groups = Groups::default();
        for look in 0..400 {
            let now = f64::from(look) * 2.0;
            let born = (0..look).map(|at| object(f64::from(at) * 2.0, u32::from(at > 40)));
            groups.take(&born.collect::<Vec<_>>(), 0, now, &|_, _| 1.0);
        }
        assert_eq!(groups.groups.len(), 2);
        for group in groups.groups.values() {
            assert_eq!(group.points.len(), groups.times.len());
            assert!((POINTS_MAX / 2..=POINTS_MAX).contains(&group.points.len()));
        }
        let late = groups.groups.values().find(|group| group.points[0].objects == 0.0).unwrap();
        let last = late.points.last().unwrap();
        // Two allocations for each that was tracked, 64 bytes each.
        assert!((last.bytes - last.objects * 64.0).abs() < 1e-9 && last.objects > 600.0);
        assert!(late.settled(798.0) > 300);
    }

    #[test]
    fn what_was_never_settled_is_forgotten() {
        let mut groups = Groups::default();
        groups.take(&[object(19.0, 1)], 0, 20.0, &|_, _| 1.0);
        assert_eq!(groups.groups.len(), 1);
        groups.take(&[], 0, 22.0, &|_, _| 1.0);
        assert!(groups.groups.is_empty());
    }
}
