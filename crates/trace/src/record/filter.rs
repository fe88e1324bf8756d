//! The kernel's own event filters: the events of some caches, the allocations of some call sites, and a portion of the
//! objects.
//!
//! # How it works
//! An alias of a merged cache is a link in `/sys/kernel/slab` to the folder of the cache that its objects are
//! in; events bear the name of that one, which `/proc/slabinfo` lists, and no alias. Call sites are ranges of addresses; a
//! free bears that of who frees, so that all frees come ([`super::paired`] leaves out those of other objects).

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use slablab_linux::is_kmalloc_name;

use super::tracefs::Instance;
use crate::{Error, Portion, Symbols};

/// What is recorded; everything where nothing is named.
pub(super) struct Chosen<'a> {
    pub(super) caches: &'a [String],
    pub(super) sites: &'a [String],
    pub(super) portion: Option<Portion>,
}

/// The longest filter: what is written into tracefs at once is cut at a page of the least size.
const FILTER_BYTES_MAX: usize = 4095;

/// The field of the kernel's own in which a return probe has the place that a function returns to.
pub(super) const SITE_OF_PROBE: &str = "__probe_ret_ip";

/// What was chosen, as tests of events.
pub(super) struct Filter<'a> {
    caches: &'a [String],
    of_caches: Option<String>,
    places: Vec<Range<u64>>,
    portion: Option<Portion>,
}

impl<'a> Filter<'a> {
    pub(super) fn new(chosen: &Chosen<'a>) -> Result<Filter<'a>, Error> {
        let &Chosen { caches, sites, portion } = chosen;
        let places = match sites {
            [] => Vec::new(),
            sites => places(&Symbols::running()?, sites)?,
        };
        let of_caches = any(caches.iter().map(|name| format!("name == \"{name}\"")));
        Ok(Filter { caches, of_caches, places, portion })
    }

    pub(super) fn is_of_caches(&self) -> bool {
        self.of_caches.is_some()
    }

    pub(super) fn is_of_a_portion(&self) -> bool {
        self.portion.is_some()
    }

    /// Returns the tests of cache and call site; `site` is the field that holds that of an allocation.
    pub(super) fn tests(&self, site: Option<&str>) -> Vec<String> {
        let test = |field: &str, place: &Range<u64>| match place.end - place.start {
            1 => format!("{field} == {:#x}", place.start),
            // See `returns`.
            _ => format!("({field} > {:#x} && {field} <= {:#x})", place.start, place.end),
        };
        let of_sites = site.and_then(|field| any(self.places.iter().map(|at| test(field, at))));
        self.of_caches.iter().cloned().chain(of_sites).collect()
    }

    /// Returns the test that one of kmem's events has to pass, "" where all pass.
    pub(super) fn text(&self, event: &str) -> String {
        let mut tests = self.tests(event.contains("alloc").then_some("call_site"));
        tests.extend(self.portion.map(|portion| portion.filter()));
        tests.join(" && ")
    }

    /// Turns the events down to what was chosen; returns which are left to be turned on.
    pub(super) fn set(
        &self,
        instance: &Instance,
        events: Vec<&'static str>,
    ) -> Result<Vec<&'static str>, Error> {
        let events = match self.caches {
            [] => events,
            caches => naming(instance, events, caches)?,
        };
        for event in &events {
            let site = |field| event.contains("alloc").then_some(field);
            let tests = self.text(event);
            // A probe beside the events has the longest name for the field, and a test of its own.
            let longest =
                self.tests(site(SITE_OF_PROBE)).join(" && ").len() + " && count > 488".len();
            if longest.max(tests.len()) > FILTER_BYTES_MAX {
                return Err(Error::CannotRecord {
                    what: format!(
                        "the kernel takes no filter of {} bytes for {event}",
                        tests.len()
                    ),
                    remedy: "name fewer caches and call sites".into(),
                });
            }
            if !tests.is_empty() {
                instance.write(&format!("events/kmem/{event}/filter"), &tests)?;
            }
        }
        Ok(events)
    }
}

/// Returns the test that one of `tests` is passed, if there are any.
fn any(tests: impl Iterator<Item = String>) -> Option<String> {
    let tests: Vec<String> = tests.collect();
    (!tests.is_empty()).then(|| format!("({})", tests.join(" || ")))
}

/// Returns which return addresses are in a place: that of a function's last call may be where the next begins.
pub(super) fn returns(place: &Range<u64>) -> Range<u64> {
    match place.end - place.start {
        1 => place.clone(),
        _ => place.start + 1..place.end + 1,
    }
}

/// Returns the places that `sites` mean.
pub(super) fn places(symbols: &Symbols, sites: &[String]) -> Result<Vec<Range<u64>>, Error> {
    let mut all = Vec::new();
    for site in sites {
        let places = symbols.places(site);
        if places.is_empty() {
            return Err(Error::CannotRecord {
                what: format!("this kernel has no function called {site}, or does not tell where"),
                remedy: "name functions of /proc/kallsyms, as root; `slablab stat` of a recording lists call sites"
                    .into(),
            });
        }
        all.extend(places);
    }
    Ok(all)
}

/// Returns those of `events` that name a cache, when these caches can be chosen by name.
fn naming(
    instance: &Instance,
    events: Vec<&'static str>,
    caches: &[String],
) -> Result<Vec<&'static str>, Error> {
    let slabs = Slabs::running();
    if let Some(error) = caches.iter().find_map(|name| slabs.refuse(name)) {
        return Err(error);
    }
    let events: Vec<_> = events.into_iter().filter(|e| e.starts_with("kmem_cache_")).collect();
    for event in &events {
        if instance.event_format(&format!("kmem/{event}"))?.field("name").is_none() {
            return Err(Error::CannotRecord {
                what: format!("{event} of this kernel does not name the cache"),
                remedy: "record all of them, and choose by --cache when you ask about the trace"
                    .into(),
            });
        }
    }
    Ok(events)
}

/// The caches of a kernel, as far as it tells them.
struct Slabs {
    folder: PathBuf,
    /// The text of `/proc/slabinfo`; empty where there is none.
    slabinfo: String,
}

impl Slabs {
    fn running() -> Slabs {
        let slabinfo = fs::read_to_string("/proc/slabinfo").unwrap_or_default();
        Slabs { folder: "/sys/kernel/slab".into(), slabinfo }
    }

    /// Says why events of the cache cannot be chosen by this name, if they cannot.
    fn refuse(&self, name: &str) -> Option<Error> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-:.".contains(c);
        let (what, remedy) = if name.is_empty() || is_kmalloc_name(name) || !name.chars().all(plain)
        {
            let remedy =
                "name caches of /proc/slabinfo but kmalloc's, whose frees do not name them";
            (format!("`{name}` is not a cache whose events the kernel can choose"), remedy.into())
        } else if self.folder.is_dir() && !self.folder.join(name).exists() {
            let remedy = format!("name one of {}", self.folder.display());
            (format!("this kernel has no cache called {name}"), remedy)
        } else {
            let merged = self.merged_into(name)?;
            let what = format!(
                "{name} is merged: its objects are in {merged}, and no event tells them apart"
            );
            (what, format!("name {merged}, and choose by --site when you ask about the trace"))
        };
        Some(Error::CannotRecord { what, remedy })
    }

    /// Returns the cache that the objects of an alias are in.
    fn merged_into(&self, name: &str) -> Option<&str> {
        let link = |name: &str| fs::read_link(self.folder.join(name)).ok();
        let target = link(name)?;
        let mut caches = self.slabinfo.lines().filter_map(|line| line.split_whitespace().next());
        if caches.clone().any(|cache| cache == name) {
            return None;
        }
        caches.find(|cache| link(cache).as_deref().map(Path::file_name) == Some(target.file_name()))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn call_sites_are_ranges_of_addresses() {
        let symbols = Symbols::parse(
            "1000 T first\n1100 t twice\n1200 T other\n2000 t twice\t[mod]\n2040 t end\t[mod]\n",
        );
        let tests = |site: &str| {
            let places = places(&symbols, &[site.to_owned()])?;
            let filter = Filter { caches: &[], of_caches: None, places, portion: None };
            assert!(filter.tests(None).is_empty(), "a free has no such test");
            Ok::<_, Error>(filter.tests(Some("call_site")).join(" "))
        };
        assert_eq!(tests("first").unwrap(), "((call_site > 0x1000 && call_site <= 0x1100))");
        let twice = "((call_site > 0x1100 && call_site <= 0x1200) || (call_site > 0x2000 && call_site <= 0x2040))";
        assert_eq!(tests("twice").unwrap(), twice);
        assert_eq!(tests("other+0x1c").unwrap(), "(call_site == 0x121c)");
        assert_eq!(tests("end+0x4 [mod]").unwrap(), "(call_site == 0x2044)");
        for unknown in ["none", "first+zz", "", "end [other]", "first [mod]"] {
            assert!(tests(unknown).unwrap_err().to_string().contains("no function called"));
        }
    }

    #[test]
    fn an_alias_is_refused_by_the_name_of_its_cache() {
        let folder = tempfile::tempdir().unwrap();
        for real in [":0000064", "dentry"] {
            fs::create_dir(folder.path().join(real)).unwrap();
        }
        for alias in ["inet_peer", "first_made", "sigqueue"] {
            symlink(":0000064", folder.path().join(alias)).unwrap();
        }
        let slabinfo = "slabinfo - version: 2.1\ndentry 1 2\nfirst_made 3 4\n".to_owned();
        let slabs = Slabs { folder: folder.path().into(), slabinfo };
        let said = |name| slabs.refuse(name).map(|error| error.to_string());
        assert_eq!((said("dentry"), said("first_made")), (None, None));
        for alias in ["sigqueue", "inet_peer"] {
            let said = said(alias).unwrap();
            assert!(
                said.contains("are in first_made") && said.contains("name first_made"),
                "{said}"
            );
        }
        assert!(said("none").unwrap().contains("no cache called none"));
        assert!(said("kmalloc-64").unwrap().contains("is not a cache whose"));
        // A kernel without CONFIG_SLUB_SYSFS.
        let bare = Slabs { folder: "/no/such/folder".into(), slabinfo: String::new() };
        assert!(bare.refuse("sigqueue").is_none());
    }
}
