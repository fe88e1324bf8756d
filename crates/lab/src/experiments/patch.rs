//! `patch`: what is asked of a patch that is to be measured. It is a name for the experiment `load` with parameters of its
//! own, which are taken out of the request before that is run.

use std::path::PathBuf;

use super::load::recipe;
use crate::error::{Error, Result};
use crate::guest::CPUS;
use crate::parameter::{Kind, Parameter};
use crate::request::Request;

const SITE: Parameter = Parameter::new(
    "site",
    Kind::Text,
    "the call site that gets a cache of its own: a function, or a place in it (kstrdup+0x38)",
);
const RECORDED: Parameter = Parameter::new(
    "recorded",
    Kind::Text,
    "the kernel that records the load, such as debian:6.12; that of --kernels if it is not set",
);
const TRACE: Parameter = Parameter::new(
    "trace",
    Kind::File,
    "a recording of the load since the boot (kernel boot --record), in place of making one",
);

/// What is asked beside the parameters of the experiment `load`.
pub(crate) const PARAMETERS: &[Parameter] = &[SITE, RECORDED, TRACE];

/// What to record, to patch and to measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The call site
    pub site: String,
    /// The kernel that is measured
    pub kernel: String,
    /// The kernel that records
    pub recorded: String,
    /// The recording, if there is one
    pub trace: Option<PathBuf>,
}

impl Wanted {
    /// Takes the own parameters out of `request`, which is one of the experiment `load` then.
    ///
    /// # Errors
    ///
    /// If no call site is named, several kernels or numbers of CPUs are, or a guest runs several loads.
    pub fn take(request: &mut Request) -> Result<Self> {
        let refuse = |why: &str| Err(Error::Request(why.to_owned()));
        let mut own = |parameter: &Parameter| request.params.remove(parameter.name);
        let (site, recorded, trace) = (own(&SITE), own(&RECORDED), own(&TRACE));
        let Some(site) = site.filter(|site| !site.is_empty()) else {
            return refuse("name the call site: --set site=FUNCTION");
        };
        if recorded.is_some() && trace.is_some() {
            return refuse(
                "recorded and trace: the load is recorded, or a recording of it is there",
            );
        }
        let recipe = recipe(request)?.0;
        let [only] = &recipe.variants[..] else {
            return refuse("kernels: the patch is measured in one kernel; name one");
        };
        if recipe.loads.len() != 1 {
            return refuse(
                "a guest runs one load: a script (--input FILE), or --set load=files, sockets or boot",
            );
        }
        if CPUS.numbers(request)?.len() != 1 {
            return refuse("cpus: the patch is measured with one number of CPUs");
        }
        let kernel = only.name.clone();
        let recorded = recorded.unwrap_or_else(|| kernel.clone());
        Ok(Self { site, kernel, recorded, trace: trace.map(PathBuf::from) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_measured_is_refused_before_anything_is_built() {
        let why = |params: &[(&str, &str)]| {
            Wanted::take(&mut Request::for_guests(params)).unwrap_err().to_string()
        };
        let (site, files) = (("site", "f"), ("load", "files"));
        let kernel = ("kernels", "slub");
        assert!(why(&[files, kernel]).contains("--set site=FUNCTION"));
        assert!(why(&[site, files, ("kernels", "slub,slab")]).contains("name one"));
        assert!(why(&[site, kernel, ("load", "hackbench")]).contains("a guest runs one load"));
        assert!(why(&[site, kernel, files, ("cpus", "1,2")]).contains("one number of CPUs"));
        let both = why(&[site, kernel, files, ("trace", "t"), ("recorded", "slub")]);
        assert!(both.contains("is recorded, or a recording"), "{both}");
        let mut good = Request::for_guests(&[site, kernel, files, ("recorded", "debian:6.12")]);
        let wanted = Wanted::take(&mut good).unwrap();
        assert_eq!((&*wanted.kernel, &*wanted.recorded), ("slub", "debian:6.12"));
        assert!(!good.params.contains_key("site") && !good.params.contains_key("recorded"));
    }
}
