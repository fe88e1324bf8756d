//! Where in the kernel's source the bytes of a trace's call sites go, as a flame graph: directory, file, function, site.
//!
//! It takes the recorded kernel's vmlinux with debug information: one that `--vmlinux` names, or else the first that is
//! found in the usual places and is that kernel. Without one the page says what is missing and how to get it.

use std::collections::BTreeMap;
use std::path::Path;

use slablab_replay::Site;
use slablab_report::{Flame, Item};
use slablab_trace::{Meta, Place, Vmlinux};

/// The places of a trace's call sites in the source.
#[derive(Debug, Clone)]
pub(crate) struct Sources {
    places: BTreeMap<String, Place>,
    /// What the places come from, or why there are none
    note: String,
}

impl Sources {
    /// Looks up the call sites of a trace in the kernel that `named` is, or the first usable one of the usual places.
    ///
    /// # Errors
    ///
    /// If the vmlinux that was named cannot be used; of one that was not named, the page says so.
    pub(crate) fn look_up(
        named: Option<&Path>,
        trace: &Path,
        meta: &Meta,
    ) -> Result<Self, slablab_trace::Error> {
        if let Some(path) = named {
            return Self::new(path, meta);
        }
        let usual = Vmlinux::usual_places(trace, &meta.kernel_release);
        let mut found = usual.iter().filter(|path| path.is_file());
        let mut refusal = None;
        let usable = found.find_map(|path| match Self::new(path, meta) {
            Ok(sources) => Some(sources),
            Err(error) => {
                refusal.get_or_insert(error.to_string());
                None
            }
        });
        Ok(usable.unwrap_or_else(|| Self::none(refusal.as_deref(), meta)))
    }

    fn new(vmlinux: &Path, meta: &Meta) -> Result<Self, slablab_trace::Error> {
        let places = Vmlinux::open(vmlinux)?.places(&meta.sites)?;
        let named = meta.sites.iter().zip(places);
        let places: BTreeMap<_, _> =
            named.filter_map(|(site, place)| Some((site.name.clone(), place?))).collect();
        let note = format!(
            "By {}, which knows {} of the {} call sites.",
            vmlinux.display(),
            places.len(),
            meta.sites.len()
        );
        Ok(Self { places, note })
    }

    fn none(refusal: Option<&str>, meta: &Meta) -> Self {
        let none = "There is no flame graph by source directory";
        let note = match (refusal, meta.kernel_release.as_str()) {
            (Some(refusal), _) => format!("{none}: {refusal} (--vmlinux FILE)."),
            (None, release) => format!(
                "{none}: no vmlinux of {} with debug information was found. Name one with --vmlinux \
                 FILE; a distribution's debug package has it (Debian: linux-image-RELEASE-dbg), and a \
                 build with CONFIG_DEBUG_INFO_DWARF5=y.",
                if release.is_empty() { "the recorded kernel" } else { release }
            ),
        };
        Self { places: BTreeMap::new(), note }
    }

    /// Returns where in the source a call site is, if that is known.
    pub(crate) fn place(&self, site: &str) -> Option<&Place> {
        self.places.get(site)
    }

    /// Returns the flame graph of the bytes that `sites` waste, called `name`; none where nothing is wasted or no place
    /// is known.
    pub(crate) fn flame(&self, name: &str, sites: &[Site]) -> Option<Item> {
        if self.places.is_empty() {
            return None;
        }
        let title = format!("Bytes wasted at most at once, by source directory, {name}");
        let how = format!(
            "Internal fragmentation (allocated less requested), under the first allocator. {}",
            self.note
        );
        let mut flame = Flame::new(title, "B", how);
        for site in sites {
            let waste = site.under.first().map_or(0, |under| under.waste_bytes_peak);
            match self.places.get(&site.site) {
                Some(place) => {
                    let leaf = [place.function.as_str(), site.site.as_str()];
                    flame.add(place.file.split('/').chain(leaf), waste);
                }
                None => flame.add(["(not in the debug information)", &site.site], waste),
            }
        }
        (flame.weight() > 0).then_some(Item::Flame(flame))
    }

    /// Returns `file:line` of a call site, if the debug information has it.
    pub(crate) fn line(&self, site: &str) -> Option<String> {
        let place = self.places.get(site)?;
        Some(place.line.map_or_else(|| place.file.clone(), |line| format!("{}:{line}", place.file)))
    }

    /// Returns what the page says where there is no such graph.
    pub(crate) fn missing(&self) -> Option<Item> {
        self.places.is_empty().then(|| Item::Text(self.note.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slablab_replay::SiteUnder;

    fn site(name: &str, waste_bytes_peak: u64) -> Site {
        let under = vec![SiteUnder { waste_bytes_peak, ..SiteUnder::default() }];
        Site { site: name.into(), under, ..Site::default() }
    }

    #[test]
    fn a_site_stands_on_its_function_file_and_directories() {
        let place = Place {
            file: "kernel/trace/trace_events.c".into(),
            function: "__trace_define_field".into(),
            line: Some(121),
        };
        let places = [("__trace_define_field+0x38".to_owned(), place)].into();
        let sources = Sources { places, note: String::new() };
        let sites = [site("__trace_define_field+0x38", 40), site("f+0x1 [ext4]", 2)];
        let Some(Item::Flame(flame)) = sources.flame("as recorded", &sites) else {
            panic!("a flame graph")
        };
        assert_eq!(
            flame.folded(),
            "(not in the debug information);f+0x1 [ext4] 2\n\
             kernel;trace;trace_events.c;__trace_define_field;__trace_define_field+0x38 40\n"
        );
        assert!(sources.missing().is_none());
    }

    #[test]
    fn without_a_vmlinux_the_page_says_how_to_get_one() {
        let meta = Meta { kernel_release: "6.1.0-test".into(), ..Meta::default() };
        let sources = Sources::none(None, &meta);
        assert!(sources.flame("as recorded", &[site("f+0x1", 8)]).is_none());
        let Some(Item::Text(text)) = sources.missing() else { panic!("a sentence") };
        assert!(text.contains("no vmlinux of 6.1.0-test") && text.contains("--vmlinux"), "{text}");
    }
}
