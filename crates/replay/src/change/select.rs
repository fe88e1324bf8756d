//! Call sites by name: a function, a place in it, or a pattern.

use slablab_trace::Meta;

/// Names below this likeness are not suggested (Jaro-Winkler, 1.0 is equal).
const LIKENESS_MIN: f64 = 0.75;

/// A pattern that matches no call site of the trace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// No call site has such a name
    #[error(
        "no call site matches {pattern:?}{} (`slablab replay TRACE --show sites` lists them all)",
        suggestion(nearest)
    )]
    NoMatch {
        /// The pattern
        pattern: String,
        /// The name in the trace that looks most like it
        nearest: Option<String>,
    },
    /// The trace does not know where it was allocated
    #[error(
        "the trace has no call sites, so none can be selected; record one with `slablab record`"
    )]
    NoSites,
}

/// Returns a name that may have been meant, to be put behind a complaint.
pub(crate) fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!("; did you mean {name:?}?"))
}

/// Returns the call sites that `pattern` names, as places in [`Meta::sites`].
///
/// `kstrdup` is every place in that function, `kstrdup+0x38` one place (also written `kstrdup+38`), and `*` and
/// `?` stand for any characters and any one character of either. The module's name may be left out.
///
/// # Errors
///
/// If nothing matches; the error suggests the nearest name.
pub fn select_sites(meta: &Meta, pattern: &str) -> Result<Vec<u32>, SelectError> {
    if meta.sites.is_empty() {
        return Err(SelectError::NoSites);
    }
    let wild = slablab_host::Pattern::new(pattern);
    let matches = |name: &str| {
        let place = without_module(name);
        let function = function(place);
        name == pattern
            || place == pattern
            || function == pattern
            || place.replacen("+0x", "+", 1) == pattern
            || wild.matches(place)
            || wild.matches(function)
    };
    let found: Vec<u32> =
        (0..).zip(&meta.sites).filter(|(_, site)| matches(&site.name)).map(|(i, _)| i).collect();
    if found.is_empty() {
        let names = meta.sites.iter().flat_map(|site| {
            let place = without_module(&site.name);
            [place, function(place)]
        });
        return Err(SelectError::NoMatch {
            pattern: pattern.to_owned(),
            nearest: nearest_name(pattern, names),
        });
    }
    Ok(found)
}

/// Returns the name that looks most like `wanted`, if any looks like it at all.
pub fn nearest_name<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    names
        .map(|name| (strsim::jaro_winkler(wanted, name), name))
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .max_by(|(a, x), (b, y)| a.total_cmp(b).then(y.cmp(x)))
        .map(|(_, name)| name.to_owned())
}

/// Returns `symbol+0x1c` of `symbol+0x1c [module]`.
fn without_module(name: &str) -> &str {
    name.split_once(" [").map_or(name, |(place, _)| place)
}

/// Returns `symbol` of `symbol+0x1c`.
#[must_use]
pub fn function(name: &str) -> &str {
    name.split(['+', ' ']).next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use slablab_trace::Site;

    fn meta() -> Meta {
        let names = ["kstrdup+0x38", "kstrdup+0x5c", "kmemdup+0x2b", "nft_add+0x10 [nf_tables]"];
        let sites = names.map(|name| Site { name: name.to_owned(), ..Site::default() });
        Meta { sites: sites.to_vec(), ..Meta::default() }
    }

    #[test]
    fn a_function_a_place_and_a_pattern() {
        assert_eq!(select_sites(&meta(), "kstrdup"), Ok(vec![0, 1]));
        assert_eq!(select_sites(&meta(), "kstrdup+0x5c"), Ok(vec![1]));
        assert_eq!(select_sites(&meta(), "kstrdup+5c"), Ok(vec![1]));
        assert_eq!(select_sites(&meta(), "k*dup"), Ok(vec![0, 1, 2]));
        assert_eq!(select_sites(&meta(), "nft_add+0x10"), Ok(vec![3]));
        assert_eq!(select_sites(&meta(), "nft_add+0x10 [nf_tables]"), Ok(vec![3]));
    }

    #[test]
    fn a_slip_gets_the_nearest_name() {
        let error = select_sites(&meta(), "kstrdub").unwrap_err();
        assert_eq!(
            error.to_string(),
            "no call site matches \"kstrdub\"; did you mean \"kstrdup\"? \
             (`slablab replay TRACE --show sites` lists them all)"
        );
        let error = select_sites(&meta(), "zzz*").unwrap_err();
        assert!(
            error.to_string().starts_with("no call site matches \"zzz*\" (`slablab"),
            "{error}"
        );
    }

    #[test]
    fn a_trace_without_sites_says_so() {
        assert_eq!(select_sites(&Meta::default(), "kstrdup"), Err(SelectError::NoSites));
    }
}
