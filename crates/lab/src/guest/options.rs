//! The parameters that every experiment in real kernels has: which Linux, how built, how booted.

use std::path::PathBuf;
use std::time::Duration;

use slablab_vm::{Accel, AccelChoice, Config, Data, KernelBuilder, Need, Source, Spec};

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
    ("accel", "how guests run: auto, kvm or tcg; auto by default"),
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
    source: Option<PathBuf>,
    cache: Option<PathBuf>,
    jobs: Option<usize>,
    /// How guests run
    pub(crate) accel: AccelChoice,
    /// The longest a guest may be silent
    pub(crate) silence: Duration,
}

impl Options {
    /// Reads the parameters of `request`, and checks that kernels with `allocators` can be configured so.
    ///
    /// # Errors
    ///
    /// If a value makes no sense, there is no such allocator, fragment or source, or fragments contradict each other.
    pub(crate) fn of(request: &Request, allocators: &[String]) -> Result<Self> {
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
            other => {
                return Err(Error::Request(format!("accel={other}: there are auto, kvm, tcg")));
            }
        };
        let options = Self {
            flavours: request.list("flavour", &[]),
            config: path("config"),
            patches: request
                .list("patch", &[])
                .iter()
                .map(|name| slablab_vm::patch_path(name))
                .collect::<slablab_vm::Result<_>>()?,
            source: path("source"),
            cache: path("cache"),
            jobs: number("jobs", 1024)?.map(|jobs| jobs as usize),
            accel,
            silence: Duration::from_secs(number("silence", 86_400)?.unwrap_or(120)),
        };
        let data = Data::find()?;
        for allocator in allocators {
            Config::new(&data, allocator, &options.flavours, options.config.as_deref())?;
        }
        if let Some(source) = &options.source {
            Source::at(source)?;
        }
        Ok(options)
    }

    /// Returns the kernel with `allocator`.
    pub(crate) fn spec(&self, allocator: &str) -> Spec {
        Spec {
            allocator: allocator.to_owned(),
            flavours: self.flavours.clone(),
            own: self.config.clone(),
            patches: self.patches.clone(),
        }
    }

    /// Returns a builder that stops on ctrl-C.
    ///
    /// # Errors
    ///
    /// If something that building or booting needs is missing, or the cache cannot be written.
    pub(crate) fn builder(&self) -> Result<KernelBuilder> {
        let needs = [Need::BUILD, Need::BOOT];
        let mut builder =
            KernelBuilder::open(self.source.as_deref(), self.cache.as_deref(), &needs)?;
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
