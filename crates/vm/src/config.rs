//! A kernel's configuration: fragments merged, and checked against the `.config` that Kconfig made of them.
//!
//! # How it works
//!
//! All lines of all fragments are merged into one file, given to `make allnoconfig` (everything else is off),
//! and each line is then looked up in the `.config` that came out.
//!
//! # Invariants
//!
//! - No symbol is set to two values: two fragments that disagree are an error, not a matter of order.
//! - Every line asked for is in the final `.config`: a dependency that is not met is an error.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::data::Data;
use crate::error::{Error, Result};

/// A file of configuration lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragment {
    path: PathBuf,
    lines: Vec<Line>,
}

/// One symbol and its value; `n` for `# CONFIG_X is not set`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    number: usize,
    symbol: String,
    value: String,
}

impl Fragment {
    /// Reads a fragment.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or has a line that is neither a setting nor a comment.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).map_err(Error::io("cannot read", path))?;
        let mut lines = Vec::new();
        for (i, text) in text.lines().enumerate() {
            let number = i + 1;
            if let Some((symbol, value)) = setting(text) {
                lines.push(Line { number, symbol: symbol.into(), value: value.into() });
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

/// Fails unless `name` is among those there are.
fn known(kind: &str, name: &str, names: &[String]) -> Result<()> {
    if names.iter().any(|known| known == name) {
        return Ok(());
    }
    let why = format!("no such {kind}; there are: {}", names.join(", "));
    Err(Error::Config { place: name.to_owned(), why })
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
pub struct Config {
    fragments: Vec<Fragment>,
}

impl Config {
    /// Puts together `base`, an allocator and the flavours asked for, and a fragment of the user's.
    ///
    /// # Errors
    ///
    /// When there is no such fragment, or two of them disagree.
    pub fn new(
        data: &Data,
        allocator: &str,
        flavours: &[String],
        own: Option<&Path>,
    ) -> Result<Self> {
        known("allocator", allocator, &data.allocators())?;
        for flavour in flavours {
            known("flavour", flavour, &data.flavours())?;
        }
        let mut paths =
            vec![data.fragment("base"), data.fragment(&format!("allocator-{allocator}"))];
        paths.extend(flavours.iter().map(|flavour| data.fragment(flavour)));
        paths.extend(own.map(Path::to_owned));
        let fragments: Vec<_> =
            paths.iter().map(|path| Fragment::read(path)).collect::<Result<_>>()?;
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

    /// Returns the text for `KCONFIG_ALLCONFIG`: one line a symbol, sorted, no comments.
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
    fn an_unknown_name_is_answered_with_those_there_are() {
        let data = Data::of_the_sources();
        let error = Config::new(&data, "slabb", &[], None).unwrap_err().to_string();
        assert_eq!(error, "slabb: no such allocator; there are: slab, slmb, slob, slub");
        let error = Config::new(&data, "slab", &["../x".into()], None).unwrap_err().to_string();
        assert_eq!(error, "../x: no such flavour; there are: debug, dwarf, events");
    }

    #[test]
    fn our_own_fragments_fit_together() {
        let data = Data::of_the_sources();
        for allocator in data.allocators() {
            for flavours in [vec![], vec!["debug".to_owned()]] {
                Config::new(&data, &allocator, &flavours, None).unwrap();
            }
        }
    }
}
