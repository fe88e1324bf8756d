//! A map from addresses, which asks the memory once where a hash table of the library asks twice.
//!
//! # How it works
//! Entries lie in one array, each at the place that its address is hashed to, or at the next that was free. So what a look
//! needs is in one line of the processor's caches most often. Where many objects live, an import mostly waits for such
//! lines. What is removed leaves no mark: the entries behind it move up.
//!
//! # Invariants
//! - At most three of four places are used, and their number is a power of two.
//! - Between the place that an address is hashed to and its entry every place is used.

/// Marks a place that is free; the entry of this address is kept apart.
const FREE: u64 = u64::MAX;

const PLACES_MIN: usize = 16;

/// The values of some addresses.
#[derive(Debug, Clone)]
pub(crate) struct AddressMap<V> {
    places: Box<[(u64, V)]>,
    used: usize,
    /// How far a hash is shifted to be a place
    shift: u32,
    of_last: Option<V>,
}

impl<V: Copy + Default> Default for AddressMap<V> {
    fn default() -> Self {
        AddressMap { places: Box::default(), used: 0, shift: 0, of_last: None }
    }
}

impl<V: Copy + Default> AddressMap<V> {
    /// Returns how many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.used + usize::from(self.of_last.is_some())
    }

    /// Returns whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    fn home(&self, address: u64) -> usize {
        (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    #[inline]
    fn next(&self, place: usize) -> usize {
        (place + 1) & (self.places.len() - 1)
    }

    /// Returns the place of an address, or the free one where its entry would be; there is one.
    #[inline]
    fn find(&self, address: u64) -> usize {
        let mut place = self.home(address);
        while self.places[place].0 != address && self.places[place].0 != FREE {
            place = self.next(place);
        }
        place
    }

    /// Returns the value of an address.
    #[inline]
    pub(crate) fn get(&self, address: u64) -> Option<V> {
        if self.places.is_empty() || address == FREE {
            return self.of_last.filter(|_| address == FREE);
        }
        let (there, value) = &self.places[self.find(address)];
        (*there == address).then_some(*value)
    }

    /// Returns the value of an address, to be changed.
    #[inline]
    pub(crate) fn get_mut(&mut self, address: u64) -> Option<&mut V> {
        if self.places.is_empty() || address == FREE {
            return self.of_last.as_mut().filter(|_| address == FREE);
        }
        let place = self.find(address);
        let (there, value) = &mut self.places[place];
        (*there == address).then_some(value)
    }

    /// Has the processor fetch what is at some addresses, for all at once: one after the other each would wait.
    #[inline]
    pub(crate) fn touch(&self, addresses: impl Iterator<Item = u64>) {
        if !self.places.is_empty() {
            let there = addresses.map(|address| self.places[self.home(address)].0);
            std::hint::black_box(there.fold(0, |all, address| all ^ address));
        }
    }

    /// Returns the value of an address, which is `new` where there was none, and whether there was none.
    #[inline]
    pub(crate) fn or_insert(&mut self, address: u64, new: V) -> (&mut V, bool) {
        if address == FREE {
            let is_new = self.of_last.is_none();
            return (self.of_last.get_or_insert(new), is_new);
        }
        if self.used >= self.places.len() / 4 * 3 {
            self.grow();
        }
        let place = self.find(address);
        let is_new = self.places[place].0 == FREE;
        if is_new {
            self.places[place] = (address, new);
            self.used += 1;
        }
        (&mut self.places[place].1, is_new)
    }

    /// Sets the value of an address; returns the one before.
    #[inline]
    pub(crate) fn insert(&mut self, address: u64, value: V) -> Option<V> {
        let (there, is_new) = self.or_insert(address, value);
        let before = std::mem::replace(there, value);
        (!is_new).then_some(before)
    }

    /// Removes an address; returns its value.
    #[inline]
    pub(crate) fn remove(&mut self, address: u64) -> Option<V> {
        if self.places.is_empty() || address == FREE {
            return if address == FREE { self.of_last.take() } else { None };
        }
        let mut free = self.find(address);
        let (there, value) = self.places[free];
        if there == FREE {
            return None;
        }
        self.used -= 1;
        let mut place = self.next(free);
        while self.places[place].0 != FREE {
            // An entry moves to the free place unless that is before its home.
            let home = self.home(self.places[place].0);
            let last = self.places.len() - 1;
            if place.wrapping_sub(home) & last >= place.wrapping_sub(free) & last {
                self.places[free] = self.places[place];
                free = place;
            }
            place = self.next(place);
        }
        self.places[free].0 = FREE;
        Some(value)
    }

    #[cold]
    fn grow(&mut self) {
        let places = (2 * self.places.len()).max(PLACES_MIN);
        let new = vec![(FREE, V::default()); places].into_boxed_slice();
        let old = std::mem::replace(&mut self.places, new);
        self.shift = 64 - places.ilog2();
        for (address, value) in old {
            if address != FREE {
                let place = self.find(address);
                self.places[place] = (address, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn it_is_as_a_map_of_the_library() {
        let mut seed = 7u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        // Few addresses, so that they are removed often and lie close; and some that share a home.
        for apart in [1, 64, 1 << 40, 0x9e37_79b9_7f4a_7c15] {
            let (mut map, mut known) = (AddressMap::default(), BTreeMap::new());
            for step in 0..20_000u64 {
                let address = match random(50) {
                    0 => u64::MAX,
                    _ => random(if step < 10_000 { 40 } else { 3_000 }).wrapping_mul(apart),
                };
                match random(4) {
                    0 | 1 => assert_eq!(map.insert(address, step), known.insert(address, step)),
                    2 => assert_eq!(map.remove(address), known.remove(&address)),
                    _ => {
                        let is_new = !known.contains_key(&address);
                        let value = *known.entry(address).or_insert(step);
                        assert_eq!(map.or_insert(address, step), (&mut { value }, is_new));
                    }
                }
                assert_eq!(map.get(address), known.get(&address).copied());
                assert_eq!(map.get_mut(address), known.get_mut(&address));
                assert_eq!(map.len(), known.len());
            }
            map.touch(known.keys().copied());
            assert!(known.iter().all(|(address, value)| map.get(*address) == Some(*value)));
        }
    }

    #[test]
    fn an_empty_map_has_nothing() {
        let mut map = AddressMap::<u32>::default();
        map.touch([1, u64::MAX].into_iter());
        assert_eq!(
            (map.len(), map.get(1), map.get(u64::MAX), map.remove(1)),
            (0, None, None, None)
        );
        assert_eq!(map.get_mut(0), None);
        assert_eq!(map.remove(u64::MAX), None);
    }
}
