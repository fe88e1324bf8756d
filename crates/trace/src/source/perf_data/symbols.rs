//! The symbols of the kernel that a `perf.data` was recorded on.
//!
//! A `perf.data` holds none. Like perf, we take those of the running kernel when it is the same build,
//! else those that perf kept in its cache (`~/.debug`) when it recorded.

use std::path::PathBuf;

use crate::source::build_id;
use crate::symbols::Symbols;

/// Returns the symbols of the kernel of that release and build; an empty table when they cannot be had.
pub(super) fn of(release: &str, build_id: Option<&str>) -> Symbols {
    if cfg!(fuzzing) {
        return Symbols::default(); // reading 100,000 lines for each input is all it would do
    }
    let uname = rustix::system::uname();
    let same_release = release.is_empty() || uname.release().to_bytes() == release.as_bytes();
    let same_build = match (build_id, build_id::of_running_kernel()) {
        (Some(recorded), Some(running)) => recorded == running,
        _ => same_release,
    };
    if same_build {
        return Symbols::running().unwrap_or_default();
    }
    build_id.and_then(cached).unwrap_or_default()
}

fn cached(build_id: &str) -> Option<Symbols> {
    let home = PathBuf::from(std::env::var_os("HOME")?);
    let path = home.join(".debug/[kernel.kallsyms]").join(build_id).join("kallsyms");
    let text = std::fs::read(path).ok()?;
    Some(Symbols::parse(&String::from_utf8_lossy(&text)))
}
