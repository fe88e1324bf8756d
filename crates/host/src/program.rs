//! The places of programs.
//!
//! The search is that of execvp(3): a name with a slash is a path, any other is looked for in the folders of `PATH`.

use std::env;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Returns the file that running `name` starts, or `None` if there is none that may be executed.
pub fn find_program(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return is_executable(Path::new(name)).then(|| name.into());
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_searched_and_paths_are_taken() {
        let shell = find_program("sh").expect("every Unix has sh");
        assert!(shell.is_absolute(), "{}", shell.display());
        assert_eq!(find_program("/bin/sh"), Some("/bin/sh".into()));
        for none in ["", "/", "/bin", "/etc/passwd", "no-such-program", "/no/such"] {
            assert_eq!(find_program(none), None, "{none}");
        }
    }
}
