//! What a table says of one cache, call site or stack, and of the machine.

use serde::Serialize;

/// A cache, a call site or a stack at one moment. What the table does not say is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Entry {
    /// The cache's name, or the function that allocates
    pub name: String,
    /// `mm/slub.c:123 [module]`, or the module; empty for a cache
    #[serde(skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// The functions that called, innermost first
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
    /// Objects that are allocated
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<u64>,
    /// Objects that the slabs have room for
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slots: Option<u64>,
    /// Bytes of an object
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_bytes: Option<u64>,
    /// Slabs
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slabs: Option<u64>,
    /// Pages of a slab
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages_per_slab: Option<u64>,
    /// Bytes of the objects that are allocated
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live_bytes: Option<u64>,
    /// Bytes of the slabs
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slab_bytes: Option<u64>,
    /// Bytes that were allocated and not asked for
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waste_bytes: Option<u64>,
    /// Whether the table itself says that the kernel gives the objects back under pressure
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reclaimable: Option<bool>,
}

impl Entry {
    /// Returns the bytes that it holds: of its slabs, or of their slots, or of its objects, by what the table says.
    #[must_use]
    pub fn held_bytes(&self) -> Option<u64> {
        let slots = || Some(self.slots?.saturating_mul(self.object_bytes?));
        self.slab_bytes.or_else(slots).or_else(|| self.live_bytes())
    }

    /// Returns the bytes of its objects.
    #[must_use]
    pub fn live_bytes(&self) -> Option<u64> {
        self.live_bytes.or_else(|| Some(self.objects?.saturating_mul(self.object_bytes?)))
    }

    /// Returns the bytes of its slabs that no object uses.
    #[must_use]
    pub fn unused_bytes(&self) -> Option<u64> {
        Some(self.held_bytes()?.saturating_sub(self.live_bytes()?))
    }

    /// Returns whether its slabs have room for its objects, which digits that a cut took away would change.
    pub(crate) fn is_sound(&self) -> bool {
        let needed = || self.slots?.checked_mul(self.object_bytes?);
        match (self.slab_bytes, needed()) {
            (Some(slab_bytes), Some(needed)) => needed <= slab_bytes,
            _ => true,
        }
    }

    /// Returns what tells it from other entries of its table.
    pub(crate) fn key(&self) -> (&str, &str, &[String]) {
        (&self.name, &self.place, &self.stack)
    }

    /// Adds another entry of the same name.
    pub(crate) fn add(&mut self, other: &Entry) {
        let sums: [(&mut Option<u64>, Option<u64>); 6] = [
            (&mut self.objects, other.objects),
            (&mut self.slots, other.slots),
            (&mut self.slabs, other.slabs),
            (&mut self.live_bytes, other.live_bytes),
            (&mut self.slab_bytes, other.slab_bytes),
            (&mut self.waste_bytes, other.waste_bytes),
        ];
        for (sum, more) in sums {
            *sum = sum.zip(more).map(|(sum, more)| sum.saturating_add(more));
        }
    }
}

/// What a machine says of its memory: bytes, as far as they are there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Machine {
    /// `MemTotal`
    pub memory_bytes: Option<u64>,
    /// `Slab`
    pub slab_bytes: Option<u64>,
    /// `SReclaimable`
    pub reclaimable_bytes: Option<u64>,
    /// `SUnreclaim`
    pub unreclaimable_bytes: Option<u64>,
    /// What all caches hold, by the head of slabtop
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caches_bytes: Option<u64>,
}

impl Machine {
    /// Returns whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the bytes in slabs: as said, or the sum of both halves.
    #[must_use]
    pub fn slab_bytes(&self) -> Option<u64> {
        let sum = || Some(self.reclaimable_bytes?.saturating_add(self.unreclaimable_bytes?));
        self.slab_bytes.or_else(sum)
    }

    /// Takes over what `other` says and this does not.
    pub(crate) fn complete(&mut self, other: &Machine) {
        let Self { memory_bytes, slab_bytes, reclaimable_bytes, unreclaimable_bytes, caches_bytes } =
            self;
        *caches_bytes = caches_bytes.or(other.caches_bytes);
        *memory_bytes = memory_bytes.or(other.memory_bytes);
        *slab_bytes = slab_bytes.or(other.slab_bytes);
        *reclaimable_bytes = reclaimable_bytes.or(other.reclaimable_bytes);
        *unreclaimable_bytes = unreclaimable_bytes.or(other.unreclaimable_bytes);
    }

    /// Adds what another node of the machine has.
    pub(crate) fn add(&mut self, other: &Machine) {
        let sums = [
            (&mut self.slab_bytes, other.slab_bytes),
            (&mut self.reclaimable_bytes, other.reclaimable_bytes),
            (&mut self.unreclaimable_bytes, other.unreclaimable_bytes),
        ];
        for (sum, more) in sums {
            *sum = sum.zip(more).map(|(sum, more)| sum.saturating_add(more)).or(*sum).or(more);
        }
    }
}

/// The entries of a table at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Moment {
    /// Seconds since 1970, or since any other beginning that all moments of a table share; `None` where no time is told
    pub time_seconds: Option<f64>,
    /// What the table says, in its order
    pub entries: Vec<Entry>,
}
