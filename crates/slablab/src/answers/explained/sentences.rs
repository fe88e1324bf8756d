//! What a module did with memory, in at most five sentences.

use slablab_kmem::KmallocConfig;
use slablab_report::{counted, thousands};

use super::numbers::{CacheLine, Explained, Kind, Size, bytes};

/// Caches that the first sentence names.
const NAMED_MAX: usize = 3;
/// The alignment of a cache that asks for none.
const ALIGN_BYTES: u64 = 8;

impl Explained {
    /// Returns the sentences: what, how many bytes, rounding, reuse, what is left.
    pub(super) fn sentences(&self) -> Vec<String> {
        if self.caches.is_empty() {
            return vec![format!("{} allocated no memory.", self.view.module)];
        }
        let sentences = [
            Some(self.what()),
            Some(self.bytes_at_peak()),
            self.rounding(),
            self.reuse(),
            Some(self.what_is_left()),
        ];
        sentences.into_iter().flatten().collect()
    }

    fn what(&self) -> String {
        let mut most: Vec<&CacheLine> = self.caches.iter().collect();
        most.sort_by_key(|cache| std::cmp::Reverse(cache.allocations));
        let part = |cache: &&CacheLine| {
            let number = thousands(cache.allocations);
            match cache.kind {
                Kind::Own => format!("{number} from its cache {}", cache.cache),
                Kind::Kmalloc => format!("{number} from {}", cache.cache),
                Kind::Other => format!("{number} of {}", cache.cache),
            }
        };
        let mut parts: Vec<String> = most.iter().take(NAMED_MAX).map(part).collect();
        let others = most.iter().skip(NAMED_MAX).map(|cache| cache.allocations).sum();
        if others > 0 {
            parts.push(format!("{} from others", thousands(others)));
        }
        let all = self.caches.iter().map(|cache| cache.allocations).sum();
        let module = &self.view.module;
        format!("{module} made {}: {}.", counted(all, "allocation"), parts.join(", "))
    }

    fn bytes_at_peak(&self) -> String {
        let peak = &self.peak;
        format!(
            "At its peak, after {}, it had asked for {}; its objects took {}, and their slabs and pages {}.",
            counted(peak.operation, "operation"),
            bytes(peak.asked_bytes),
            bytes(peak.held_bytes),
            bytes(peak.pages_bytes)
        )
    }

    /// Says what rounding costs most: of the sizes that kmalloc was asked for, or of a cache of the module's own.
    fn rounding(&self) -> Option<String> {
        let lost = |class: u64, size: &Size| class.saturating_sub(size.bytes) * size.allocations;
        let of_kmalloc = self.caches.iter().filter(|cache| cache.kind == Kind::Kmalloc);
        let sizes = of_kmalloc.flat_map(|cache| {
            let class = cache.object_bytes.unwrap_or(0);
            cache.sizes.iter().map(move |size| (class, size, lost(class, size)))
        });
        let (class, size, _) = sizes.filter(|(.., lost)| *lost > 0).max_by_key(|of| of.2)?;
        let smaller = KmallocConfig::LINUX.iter().map(|&c| u64::from(c)).filter(|&c| c < class);
        let why = match smaller.max() {
            Some(smaller) => format!("kmalloc's next smaller objects have {}", bytes(smaller)),
            None => format!("kmalloc's smallest objects have {}", bytes(class)),
        };
        let is_of_that_size =
            |cache: &&CacheLine| cache.kind == Kind::Own && cache.object_bytes == Some(size.bytes);
        let own = match self.caches.iter().find(is_of_that_size) {
            Some(cache) => {
                let takes = bytes(cache.slot_bytes.unwrap_or(0));
                format!("its cache {} takes {takes} for the same", cache.cache)
            }
            None => {
                let takes = bytes(size.bytes.next_multiple_of(ALIGN_BYTES));
                format!("a cache of its own would take {takes}")
            }
        };
        Some(format!("kmalloc({}) takes {}: {why}; {own}.", size.bytes, bytes(class)))
    }

    fn reuse(&self) -> Option<String> {
        let sum = |of: fn(&CacheLine) -> u64| self.caches.iter().map(of).sum::<u64>();
        let (after_free, last) = (sum(|cache| cache.after_free), sum(|cache| cache.got_last_freed));
        let frees = sum(|cache| cache.frees);
        let number = match last {
            0 => "none".to_owned(),
            last => thousands(last),
        };
        Some(match after_free {
            0 if frees == 0 => return None,
            0 => "No allocation came after a free by the same CPU in the same cache, so no object was handed out twice."
                .to_owned(),
            all => format!(
                "Where a CPU had freed objects of the cache before, {number} of {} got the one that was freed last{}.",
                counted(all, "allocation"),
                if all == last { " (LIFO)" } else { "" }
            ),
        })
    }

    fn what_is_left(&self) -> String {
        let unloaded = match self.view.exited {
            true => "",
            false => ", and exit was not run",
        };
        if self.left_objects == 0 {
            return format!("Nothing is left at the end{unloaded}.");
        }
        let most = self.sites.iter().max_by_key(|site| site.left_bytes);
        let by = most.map_or(String::new(), |site| match site.left == self.left_objects {
            true => format!(", allocated by {}", site.site),
            false => format!(", {} of them allocated by {}", thousands(site.left), site.site),
        });
        let is = if self.left_objects == 1 { "is" } else { "are" };
        format!(
            "{} of {} {is} left at the end{by}{unloaded}.",
            counted(self.left_objects, "object"),
            bytes(self.left_bytes)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::numbers::{Amounts, SiteLine, View};
    use super::*;

    fn cache(name: &str, kind: Kind, object: u64, slot: u64, size: u64) -> CacheLine {
        CacheLine {
            cache: name.into(),
            kind,
            slabs_of: None,
            object_bytes: Some(object),
            slot_bytes: Some(slot),
            slab_bytes: Some(4096),
            objects_per_slab: Some(4096 / slot),
            sizes: vec![Size { bytes: size, allocations: 8 }],
            allocations: 8,
            frees: 8,
            live_max: 8,
            asked_bytes_max: 8 * size,
            held_bytes_max: 8 * slot,
            slabs_max: 1,
            after_free: 0,
            got_last_freed: 0,
            left: 0,
        }
    }

    fn explained(caches: Vec<CacheLine>) -> Explained {
        let view = View { module: "m".into(), exited: true, ..View::default() };
        Explained { caches, view, ..Explained::default() }
    }

    #[test]
    fn rounding_names_the_class_before_and_the_cache_of_the_size() {
        let kmalloc = || cache("kmalloc-64", Kind::Kmalloc, 64, 64, 40);
        let alone = explained(vec![kmalloc()]).sentences();
        let expected = "kmalloc(40) takes 64 B: kmalloc's next smaller objects have 32 B; a cache of its own would take 40 B.";
        assert_eq!(alone[2], expected);
        let both = explained(vec![kmalloc(), cache("item", Kind::Own, 40, 40, 40)]).sentences();
        assert!(both[2].ends_with("its cache item takes 40 B for the same."), "{}", both[2]);
        let smallest = explained(vec![cache("kmalloc-8", Kind::Kmalloc, 8, 8, 3)]).sentences();
        assert!(smallest[2].contains("kmalloc's smallest objects have 8 B"), "{}", smallest[2]);
        let exact = explained(vec![cache("kmalloc-64", Kind::Kmalloc, 64, 64, 64)]).sentences();
        assert!(!exact.iter().any(|sentence| sentence.starts_with("kmalloc(")), "{exact:?}");
    }

    #[test]
    fn the_order_of_reuse_is_called_lifo_only_where_it_is() {
        let with = |after_free, got_last_freed| {
            let one = cache("a", Kind::Own, 64, 64, 64);
            explained(vec![CacheLine { after_free, got_last_freed, ..one }]).sentences()[2].clone()
        };
        let all = "Where a CPU had freed objects of the cache before, 8 of 8 allocations got the one that was freed last (LIFO).";
        assert_eq!(with(8, 8), all);
        assert!(with(8, 5).ends_with("5 of 8 allocations got the one that was freed last."));
        assert!(with(1, 0).ends_with("none of 1 allocation got the one that was freed last."));
        assert!(with(0, 0).starts_with("No allocation came after a free"));
    }

    #[test]
    fn what_is_left_names_its_call() {
        let site = |left, name: &str| SiteLine {
            site: name.into(),
            cache: "a".into(),
            allocations: 8,
            asked_bytes: 512,
            held_bytes: 512,
            live_max: 8,
            freed_by: None,
            left,
            left_bytes: left * 64,
        };
        let mut of = explained(vec![cache("a", Kind::Own, 64, 64, 64)]);
        of.peak = Amounts { operation: 8, ..Amounts::default() };
        assert_eq!(of.what_is_left(), "Nothing is left at the end.");
        (of.left_objects, of.left_bytes) = (3, 192);
        of.sites = vec![site(0, "none"), site(3, "leaks")];
        assert_eq!(
            of.what_is_left(),
            "3 objects of 192 B are left at the end, allocated by leaks."
        );
        of.sites[0].left = 1;
        of.left_objects = 4;
        assert!(of.what_is_left().contains("3 of them allocated by leaks"));
        assert!(of.sentences().len() <= 5);
    }

    #[test]
    fn a_module_without_memory_says_so() {
        assert_eq!(explained(Vec::new()).sentences(), ["m allocated no memory."]);
    }
}
