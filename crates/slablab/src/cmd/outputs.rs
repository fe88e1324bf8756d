//! Checks where results may go: into folders that exist, and not in the place of their own inputs.
//!
//! The check comes before the work, which may take hours; a file is the same under any name, link or hard link.

use std::fs::metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, absolute};

use anyhow::{Result, bail};
use slablab_host::folder_of;

use crate::cli::AnswerArgs;

/// Refuses the output `path` called `name` if the folder that it belongs into is not there.
pub(crate) fn check_folder(name: &str, path: &Path) -> Result<()> {
    let folder = folder_of(path);
    if !folder.is_dir() {
        bail!(
            "{}: {name} cannot be written: {} is not a folder; make it with mkdir -p",
            path.display(),
            folder.display()
        );
    }
    Ok(())
}

/// Refuses what can be refused before an answer that takes long: files that cannot be written, and names of tables that it
/// never has.
pub(crate) fn check_before(answer: &AnswerArgs, tables: &[&str]) -> Result<()> {
    for (name, file) in answer.outputs() {
        file.map_or(Ok(()), |file| check_folder(name, file))?;
    }
    match answer.show.iter().find(|name| !tables.contains(&name.as_str())) {
        Some(name) => {
            bail!("--show {name}: the answer has no such table; it may have {}", tables.join(", "))
        }
        None => Ok(()),
    }
}

/// Refuses an output that would replace one of `inputs`, or another output; all have names that users know.
pub(crate) fn check_replaced(inputs: &[(&str, &Path)], outputs: &[(&str, &Path)]) -> Result<()> {
    for (place, (name, path)) in outputs.iter().enumerate() {
        if let Some((input, _)) = inputs.iter().find(|(_, input)| is_same(path, input)) {
            bail!("{}: {name} would replace {input}: name another file", path.display());
        }
        if let Some((other, _)) = outputs[..place].iter().find(|(_, other)| is_same(path, other)) {
            bail!("{}: {other} and {name} would write the same file", path.display());
        }
    }
    Ok(())
}

/// Returns whether two paths are one file, through links of both kinds; devices, and files that are not there yet, by
/// their names.
fn is_same(a: &Path, b: &Path) -> bool {
    let named = |path: &Path| absolute(path).ok();
    match (metadata(a), metadata(b)) {
        (Ok(a), Ok(b)) if a.is_file() && b.is_file() => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        (Ok(_), Ok(_)) => a == b,
        _ => named(a).is_some_and(|a| named(b) == Some(a)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_hard_link_of_the_input_is_the_input() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        let (file, link) = (place("t"), place("link"));
        fs::write(&file, "").unwrap();
        fs::hard_link(&file, &link).unwrap();
        let refused = |a: &Path, b: &Path| check_replaced(&[("the trace", a)], &[("-o", b)]);
        let error = refused(&file, &link).unwrap_err().to_string();
        assert!(error.ends_with("-o would replace the trace: name another file"), "{error}");
        assert!(refused(&place("new"), &folder.path().join("./new")).is_err());
        assert!(refused(&file, &place("new")).is_ok());
    }
}
