//! The parameters that every experiment in real kernels has: which Linux, how built, how booted.

use std::path::PathBuf;
use std::time::Duration;

use slablab_vm::{Accel, AccelChoice, Data, KernelBuilder, Linux, Need, Origin, Places, Spec};

use super::recipe::Variant;
use crate::error::{Error, Result};
use crate::request::Request;

/// Each parameter with what it means.
pub const PARAMETERS: &[(&str, &str)] = &[
    ("flavour", "further fragments of kernel/config, by comma, such as debug"),
    ("config", "a fragment of your own"),
    ("patch", "patches on top of kernel/patches, by comma"),
    ("source", "Linux to build, a folder or a tarball; Debian's linux-source-6.1 by default"),
    ("cache", "where builds are kept; $XDG_CACHE_HOME/slablab or ~/.cache/slablab by default"),
    ("jobs", "compilers at a time; one for each processor by default"),
    ("mirror", "Debian's archive; the mirror of the machine's own sources by default"),
    ("accel", "how guests run: auto, kvm, tcg or icount (instructions as time); auto by default"),
    ("silence", "give up when a guest sends nothing for so many seconds; 120 by default"),
];

/// Virtual CPUs of the guests: the parameter that is a point of most experiments.
pub(crate) const CPUS: (&str, &str) =
    ("cpus", "virtual CPUs of the guests, by comma; 2 by default; engine kernel only");

/// What a request says of them.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    flavours: Vec<String>,
    config: Option<PathBuf>,
    patches: Vec<PathBuf>,
    places: Places,
    jobs: Option<usize>,
    /// How guests run
    pub(crate) accel: AccelChoice,
    /// The longest a guest may be silent
    pub(crate) silence: Duration,
}

impl Options {
    /// Reads the parameters of `request`.
    ///
    /// # Errors
    ///
    /// If a value makes no sense, or there is no such patch.
    pub(crate) fn of(request: &Request) -> Result<Self> {
        let path = |key: &str| request.params.get(key).map(PathBuf::from);
        let number =
            |key: &str, most: u64| match request.params.get(key).map(|text| (text, text.parse())) {
                None => Ok(None),
                Some((_, Ok(number))) if (1..=most).contains(&number) => Ok(Some(number)),
                Some((text, _)) => Err(Error::Request(format!(
                    "{key}={text}: a number from 1 to {most} is needed"
                ))),
            };
        let accel = match request.params.get("accel").map_or("auto", String::as_str) {
            "auto" => AccelChoice::Auto,
            "kvm" => AccelChoice::Only(Accel::Kvm),
            "tcg" => AccelChoice::Only(Accel::Tcg),
            "icount" => AccelChoice::Only(Accel::Icount),
            other => {
                let known = "there are auto, kvm, tcg, icount";
                return Err(Error::Request(format!("accel={other}: {known}")));
            }
        };
        Ok(Self {
            flavours: request.list("flavour", &[]),
            config: path("config"),
            patches: request
                .list("patch", &[])
                .iter()
                .map(|name| slablab_vm::patch_path(name))
                .collect::<slablab_vm::Result<_>>()?,
            places: Places {
                source: path("source"),
                cache: path("cache"),
                mirror: request.params.get("mirror").cloned(),
            },
            jobs: number("jobs", 1024)?.map(|jobs| jobs as usize),
            accel,
            silence: Duration::from_secs(number("silence", 86_400)?.unwrap_or(120)),
        })
    }

    /// Returns the kernel called `name`, with the fragments and patches that were asked for.
    ///
    /// # Errors
    ///
    /// If there is no such kernel, fragment or source, or fragments contradict each other.
    pub(crate) fn spec(&self, name: &str) -> Result<Spec> {
        let data = Data::find()?;
        let mut spec = Spec {
            own: self.config.clone(),
            patches: self.patches.clone(),
            ..Spec::named(&data, name)?
        };
        spec.flavours.extend(self.flavours.iter().cloned());
        spec.check(&data)?;
        Ok(spec)
    }

    /// Returns the kernels called `names`, each a variant of its own.
    ///
    /// # Errors
    ///
    /// As [`Options::spec`].
    pub(crate) fn variants(&self, names: &[String]) -> Result<Vec<Variant>> {
        let variant = |name: &String| {
            let spec = self.spec(name)?;
            Ok(Variant { name: name.clone(), spec, arguments: Vec::new(), memory_mib: None })
        };
        names.iter().map(variant).collect()
    }

    /// Returns the kernel called `name`, which must have slablab's own patches.
    ///
    /// # Errors
    ///
    /// As [`Options::spec`], and if it has none of them.
    pub(crate) fn patched(&self, name: &str) -> Result<Spec> {
        let spec = self.spec(name)?;
        let releases = Data::find()?.patched_releases();
        let is_patched = match &spec.origin {
            Origin::Build(Linux::Debian(release), _) => releases.contains(release),
            Origin::Build(..) => true,
            Origin::Stock(..) | Origin::Image(_) => false,
        };
        let known: Vec<_> = releases.iter().map(|release| format!("build:{release}")).collect();
        match is_patched {
            true => Ok(spec),
            false => Err(Error::Request(format!(
                "{name}: this experiment needs a kernel with slablab's patches, such as slub or {}",
                known.join(", ")
            ))),
        }
    }

    /// Returns a builder of `specs` that stops on ctrl-C.
    ///
    /// # Errors
    ///
    /// If something that building or booting needs is missing, or the cache cannot be written.
    pub(crate) fn builder<'a>(
        &self,
        specs: impl IntoIterator<Item = &'a Spec>,
    ) -> Result<KernelBuilder> {
        let needs: Vec<&[Need]> = specs.into_iter().flat_map(Spec::needs).collect();
        let mut builder = KernelBuilder::open(&self.places, &needs)?;
        builder.jobs = self.jobs.unwrap_or(builder.jobs);
        Ok(builder)
    }
}

/// Returns the numbers of virtual CPUs that the request asks for, as points.
///
/// # Errors
///
/// If one is not a number, or more than the kernels are built for.
pub(crate) fn cpus(request: &Request) -> Result<Vec<String>> {
    let list = request.list("cpus", &["2"]);
    // CONFIG_NR_CPUS of kernel/config/base.config.
    let wrong = list.iter().find(|text| !text.parse().is_ok_and(|cpus| (1..=16).contains(&cpus)));
    match wrong {
        Some(text) => {
            Err(Error::Request(format!("cpus={text}: the kernels are built for 1 to 16 CPUs")))
        }
        None => Ok(list),
    }
}

/// Returns the number that parameter `key` asks for, or else `default`.
///
/// # Errors
///
/// If it is not a number from 1 to `most`.
pub(crate) fn count(request: &Request, key: &str, default: u32, most: u32) -> Result<u32> {
    let Some(text) = request.params.get(key) else { return Ok(default) };
    match text.parse() {
        Ok(count) if (1..=most).contains(&count) => Ok(count),
        _ => Err(Error::Request(format!("{key}={text}: a number from 1 to {most} is needed"))),
    }
}
