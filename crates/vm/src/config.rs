//! A kernel's configuration: fragments merged, and checked against the `.config` that Kconfig made of them.
//!
//! # How it works
//! A line may end in `# to 6.7` or `# from 6.8`: it then holds for those releases only. A fragment without any line for a
//! release is not for that release. A line that ends in `# if SMP` holds where another line sets `CONFIG_SMP=y`. A flavour
//! with a `base-NAME.config` has that fragment instead of `base.config` itself. All lines of all fragments are merged into
//! one file, given to `make allnoconfig` (everything else is off), and each line is then looked up in the resulting
//! `.config`.
//!
//! # Invariants
//! - No symbol is set to two values: two fragments that disagree are an error, not a matter of order.
//! - Every requested line is in the final `.config`: a dependency that is not met is an error.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::data::Data;
use crate::error::{Error, Result};
use crate::spec::{Linux, Origin, Spec};
use slablab_linux::Release;

/// A file of configuration lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fragment {
    path: PathBuf,
    lines: Vec<Line>,
}

/// One symbol and its value; `n` for `# CONFIG_X is not set`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    number: usize,
    symbol: String,
    value: String,
    /// The releases to which it applies
    since: Option<Release>,
    until: Option<Release>,
    /// The symbol that has to be set for it
    needs: Option<String>,
}

impl Line {
    /// Returns whether it applies to `release`; when that is not known yet, it may apply.
    fn is_for(&self, release: Option<Release>) -> bool {
        release.is_none_or(|release| {
            self.since.is_none_or(|since| since <= release)
                && self.until.is_none_or(|until| release <= until)
        })
    }
}

impl Fragment {
    /// Reads a fragment.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or has a line that is neither a setting nor a comment.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).map_err(Error::io("cannot read", path))?;
        let mut lines = Vec::new();
        for (i, text) in text.lines().enumerate() {
            let number = i + 1;
            let (text, until) = bound_of(text, " # to ");
            let (text, since) = bound_of(text, " # from ");
            let (text, needs) =
                text.rsplit_once(" # if ").map_or((text, None), |(text, symbol)| {
                    (text, Some(format!("CONFIG_{}", symbol.trim())))
                });
            if let Some((symbol, value)) = setting(text) {
                lines.push(Line {
                    number,
                    symbol: symbol.into(),
                    value: value.into(),
                    since,
                    until,
                    needs,
                });
            } else if !text.trim().is_empty() && !text.starts_with('#') {
                return Err(Error::Config {
                    place: format!("{}:{number}", path.display()),
                    why: format!(
                        "`{text}` is not a setting. Write CONFIG_NAME=value or a # comment"
                    ),
                });
            }
        }
        Ok(Self { path: path.to_owned(), lines })
    }

    fn place(&self, line: &Line) -> String {
        format!("{}:{}", self.path.display(), line.number)
    }
}

/// Fails unless `name` is in `names`.
fn known(kind: &str, name: &str, names: &[String]) -> Result<()> {
    if names.iter().any(|known| known == name) {
        return Ok(());
    }
    let why = format!("no such {kind}; there are: {}", names.join(", "));
    Err(Error::Config { place: name.to_owned(), why })
}

/// Splits the bound that `word` begins off the end of a line.
fn bound_of<'a>(line: &'a str, word: &str) -> (&'a str, Option<Release>) {
    let split = line.rsplit_once(word).and_then(|(rest, text)| Some((rest, Release::of(text)?)));
    split.map_or((line, None), |(rest, release)| (rest, Some(release)))
}

/// Returns symbol and value of a line of a configuration.
fn setting(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    if let Some(symbol) = line.strip_prefix("# ").and_then(|l| l.strip_suffix(" is not set")) {
        return symbol.starts_with("CONFIG_").then_some((symbol, "n"));
    }
    let (symbol, value) = line.split_once('=')?;
    symbol.starts_with("CONFIG_").then_some((symbol, value))
}

/// Fragments that do not contradict each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    fragments: Vec<Fragment>,
}

impl Config {
    /// Puts together `base`, the allocator and the flavours of `spec`, and the user's fragment, as far as they apply to
    /// `release`; all of them when that is not known yet.
    ///
    /// # Errors
    ///
    /// If there is no such fragment, none for this release, or two of them disagree.
    pub(crate) fn new(data: &Data, spec: &Spec, release: Option<Release>) -> Result<Self> {
        let Origin::Build(_, allocator) = &spec.origin else {
            return Ok(Self { fragments: vec![] });
        };
        known("allocator", allocator, &data.allocators())?;
        for flavour in &spec.flavours {
            known("flavour", flavour, &data.flavours())?;
        }
        let bases = data.bases();
        let (based, others): (Vec<_>, Vec<_>) =
            spec.flavours.iter().partition(|flavour| bases.contains(flavour));
        let base = match based.as_slice() {
            [] => "base".to_owned(),
            [name] => format!("base-{name}"),
            [name, other, ..] => {
                let why = format!("{other} and it cannot be had together. Take one of them");
                return Err(Error::Config { place: (*name).clone(), why });
            }
        };
        let mut paths =
            vec![data.fragment(&base), data.fragment(&format!("allocator-{allocator}"))];
        paths.extend(others.into_iter().map(|flavour| data.fragment(flavour)));
        paths.extend(spec.own.clone());
        let mut fragments: Vec<_> =
            paths.iter().map(|path| Fragment::read(path)).collect::<Result<_>>()?;
        fragments
            .iter_mut()
            .for_each(|fragment| fragment.lines.retain(|line| line.is_for(release)));
        if let (Some(release), true) = (release, fragments[1].lines.is_empty()) {
            let why = format!("Linux {release} has no such allocator");
            return Err(Error::Config { place: allocator.clone(), why });
        }
        let lines = fragments.iter().flat_map(|fragment| &fragment.lines);
        let is_set = lines.filter(|line| line.value == "y").map(|line| line.symbol.clone());
        let is_set: BTreeSet<String> = is_set.collect();
        fragments.iter_mut().for_each(|fragment| {
            fragment.lines.retain(|line| line.needs.as_ref().is_none_or(|s| is_set.contains(s)));
        });
        Self::merge(fragments)
    }

    fn merge(fragments: Vec<Fragment>) -> Result<Self> {
        let mut seen: BTreeMap<&str, (&Fragment, &Line)> = BTreeMap::new();
        for fragment in &fragments {
            for line in &fragment.lines {
                match seen.get(line.symbol.as_str()) {
                    Some((other, before)) if before.value != line.value => {
                        return Err(Error::Config {
                            place: fragment.place(line),
                            why: format!(
                                "{}={} contradicts {}={} at {}. Take one of them out",
                                line.symbol,
                                line.value,
                                before.symbol,
                                before.value,
                                other.place(before)
                            ),
                        });
                    }
                    _ => seen.insert(&line.symbol, (fragment, line)),
                };
            }
        }
        Ok(Self { fragments })
    }

    /// Returns the text for `KCONFIG_ALLCONFIG`: one line for each symbol, sorted, without
    /// comments.
    pub(crate) fn text(&self) -> String {
        let lines = self.fragments.iter().flat_map(|fragment| &fragment.lines);
        let merged: BTreeMap<_, _> = lines.map(|line| (&line.symbol, &line.value)).collect();
        merged.iter().fold(String::new(), |mut text, (symbol, value)| {
            let _ = match value.as_str() {
                "n" => writeln!(text, "# {symbol} is not set"),
                value => writeln!(text, "{symbol}={value}"),
            };
            text
        })
    }

    /// Checks that every line was taken over into `dot_config`.
    pub(crate) fn check_taken(&self, dot_config: &str) -> Result<()> {
        let got: BTreeMap<_, _> = dot_config.lines().filter_map(setting).collect();
        for fragment in &self.fragments {
            for line in &fragment.lines {
                let value = got.get(line.symbol.as_str()).copied().unwrap_or("n");
                if value != line.value {
                    return Err(Error::Config {
                        place: fragment.place(line),
                        why: format!(
                            "asks for {}={}, but Kconfig made it {value}: the kernel has no such \
                             symbol, something it depends on is not set, or another symbol selects \
                             it. See its `depends on` in the kernel's Kconfig files",
                            line.symbol, line.value
                        ),
                    });
                }
            }
        }
        Ok(())
    }
}

impl Spec {
    /// Fails unless `spec` can be configured; this is checked before anything is installed,
    /// downloaded or built.
    ///
    /// # Errors
    ///
    /// If a fragment does not exist, two contradict each other, or a kernel that is not built has
    /// any.
    pub fn check(&self, data: &Data) -> Result<()> {
        match &self.origin {
            Origin::Build(linux, _) => {
                let release = match linux {
                    Linux::Debian(release) => Some(*release),
                    _ => None,
                };
                Config::new(data, self, release).map(|_| ())
            }
            _ if self.flavours.is_empty() && self.own.is_none() && self.patches.is_empty() => {
                Ok(())
            }
            _ => Err(Error::Config {
                place: self.name(),
                why: "it is not built, so it takes no flavour, fragment or patch".into(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragment(name: &str, text: &str) -> Fragment {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        Fragment { path: name.into(), ..Fragment::read(&path).unwrap() }
    }

    #[test]
    fn fragments_that_disagree_are_named_with_both_places() {
        let base = fragment("base.config", "# c\nCONFIG_SLUB=y\n");
        let other = fragment("other.config", "CONFIG_X=y\n# CONFIG_SLUB is not set\n");
        let error = Config::merge(vec![base, other]).unwrap_err().to_string();
        assert_eq!(
            error,
            "other.config:2: CONFIG_SLUB=n contradicts CONFIG_SLUB=y at base.config:2. Take one of \
             them out"
        );
    }

    #[test]
    fn a_symbol_that_kconfig_did_not_take_is_named() {
        let config = Config::merge(vec![fragment("a.config", "CONFIG_A=y\nCONFIG_B=y\n")]).unwrap();
        config.check_taken("CONFIG_A=y\nCONFIG_B=y\n").unwrap();
        let error = config.check_taken("CONFIG_A=y\n# CONFIG_B is not set\n").unwrap_err();
        assert!(error.to_string().starts_with("a.config:2: asks for CONFIG_B=y"), "{error}");
    }

    #[test]
    fn a_line_that_is_not_a_setting_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f.config");
        fs::write(&path, "CONFIG_A=y\nSLUB=y\n").unwrap();
        let error = Fragment::read(&path).unwrap_err().to_string();
        assert!(error.contains("f.config:2: `SLUB=y` is not a setting"), "{error}");
    }

    #[test]
    fn the_merged_text_has_each_symbol_once() {
        let same = "# CONFIG_B is not set\nCONFIG_A=\"x\"\n";
        let config = Config::merge(vec![fragment("a", same), fragment("b", same)]).unwrap();
        assert_eq!(config.text(), "CONFIG_A=\"x\"\n# CONFIG_B is not set\n");
    }

    #[test]
    fn an_unknown_flavour_is_answered_with_those_there_are() {
        let spec = Spec { flavours: vec!["../x".into()], ..Spec::plain("slab") };
        let error = Config::new(&Data::of_the_sources(), &spec, None).unwrap_err().to_string();
        assert_eq!(
            error,
            "../x: no such flavour; there are: allocinfo, btf, debug, dwarf, events, kasan, memcg, numa, random_kmalloc, \
             stats, tiny, types"
        );
    }

    #[test]
    fn a_line_stands_for_the_releases_it_names() {
        let text = "CONFIG_A=y # to 6.12\nCONFIG_B=y # from 6.13\n# CONFIG_C is not set # from 6.2 # to 6.3\n";
        let fragment = fragment("a.config", text);
        let left = |release| {
            let lines = fragment.lines.iter().filter(|line| line.is_for(release));
            lines.map(|line| line.symbol.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(left(Some(Release(6, 1))), ["CONFIG_A"]);
        assert_eq!(left(Some(Release(6, 2))), ["CONFIG_A", "CONFIG_C"]);
        assert_eq!(left(Some(Release(7, 0))), ["CONFIG_B"]);
        assert_eq!(left(None).len(), 3);
    }

    #[test]
    fn what_is_not_built_takes_no_fragment_and_what_a_release_lacks_is_said() {
        let data = Data::of_the_sources();
        let stock =
            Spec { flavours: vec!["debug".into()], ..Spec::named(&data, "debian:6.12").unwrap() };
        assert!(stock.check(&data).unwrap_err().to_string().contains("it is not built"));
        for name in
            ["build:6.12/slob", "build:6.1/slub_tiny", "build:7.3/slab", "build:6.13/slub_dense"]
        {
            let error = Spec::named(&data, name).unwrap().check(&data).unwrap_err().to_string();
            assert!(error.contains("has no such allocator"), "{error}");
        }
    }

    /// Linux 7.2 renamed the symbol, and `--flavour random_kmalloc` could not build 7.3.
    #[test]
    fn random_kmalloc_asks_each_series_for_what_it_calls_so() {
        let data = Data::of_the_sources();
        let text = |release: Release| {
            let name = format!("build:{release}/slub+random_kmalloc");
            Config::new(&data, &Spec::named(&data, &name).unwrap(), Some(release)).unwrap().text()
        };
        let (old, new) = ("CONFIG_RANDOM_KMALLOC_CACHES=y", "CONFIG_KMALLOC_PARTITION_RANDOM=y");
        for release in [Release(6, 6), Release(6, 18), Release(7, 1)] {
            assert!(text(release).contains(old) && !text(release).contains(new), "{release}");
        }
        for release in [Release(7, 2), Release(7, 3)] {
            assert!(text(release).contains(new) && !text(release).contains(old), "{release}");
        }
    }

    #[test]
    fn a_flavour_with_a_base_of_its_own_has_no_other() {
        let data = Data::of_the_sources();
        let config = |name: &str| {
            Config::new(&data, &Spec::named(&data, name).unwrap(), Some(Release(6, 12)))
        };
        let text = config("build:6.12/slub+tiny").unwrap().text();
        assert!(text.contains("CONFIG_SLUB=y") && !text.contains("CONFIG_ACPI"), "{text}");
        // Lines that need several CPUs or sysfs are left out without them, and are there where they
        // exist.
        for line in
            ["CONFIG_SMP=y", "CONFIG_SYSFS=y", "CONFIG_SLUB_CPU_PARTIAL=y", "CONFIG_SLUB_DEBUG=y"]
        {
            assert!(!text.contains(line), "{line}");
            assert!(config("build:6.12/slub").unwrap().text().contains(line), "{line}");
        }
    }

    #[test]
    fn our_own_fragments_fit_together() {
        let data = Data::of_the_sources();
        for allocator in data.allocators() {
            for flavours in [vec![], vec!["debug".to_owned()]] {
                Config::new(&data, &Spec { flavours, ..Spec::plain(&allocator) }, None).unwrap();
            }
        }
    }
}
