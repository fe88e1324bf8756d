//! Runs a program to its end: its output goes to a log, and an error names the line of the log that gives the
//! reason.

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::thread;

use slablab_host::{Child, Interrupt, POLL_INTERVAL};

use crate::error::{Error, Result};

/// Fails when the user or the system requested an end.
///
/// # Errors
///
/// Returns [`Error::Interrupted`].
pub(crate) fn check(interrupt: &Interrupt) -> Result<()> {
    if interrupt.is_set() { Err(Error::Interrupted) } else { Ok(()) }
}

/// Starts `command`, made by [`slablab_host::bound`].
pub(crate) fn start(command: &mut Command) -> Result<Child> {
    let program = command.get_program().display().to_string();
    Child::start(command).map_err(|source| Error::Missing {
        programs: format!("{program} ({source})"),
        remedy: "Install util-linux".into(),
    })
}

/// Runs `command`, which errors call `program`, with its output in `log`, calling `tick` several times a second.
/// An error has the log's line that gives the reason.
pub(crate) fn run_logged(
    program: &str,
    command: &mut Command,
    log: &Path,
    interrupt: &Interrupt,
    mut tick: impl FnMut(),
) -> Result<()> {
    let open = || -> std::io::Result<(File, File)> {
        let file = File::create(log)?;
        let copy = file.try_clone()?;
        Ok((file, copy))
    };
    let (out, err) = open().map_err(Error::io("cannot write the log", log))?;
    let mut child = start(command.stdout(out).stderr(err))?;
    loop {
        let ended =
            child.ended().map_err(Error::io("cannot wait for a program that writes", log))?;
        if let Some(status) = ended {
            // A terminal sends ctrl-C to the children as well, and they may be faster than our handler.
            check(interrupt)?;
            if status.success() {
                return Ok(());
            }
            let why = reason(log).unwrap_or_else(|| status.to_string());
            return Err(Error::Tool { program: program.into(), why, log: log.to_owned() });
        }
        if let Err(interrupted) = check(interrupt) {
            child.end();
            return Err(interrupted);
        }
        tick();
        thread::sleep(POLL_INTERVAL);
    }
}

/// Runs `command`, which errors call `program`, and returns what it printed.
pub(crate) fn output(program: &str, command: &mut Command) -> Result<String> {
    let missing = |why: String| Error::Missing {
        programs: format!("{program} ({why})"),
        remedy: "Run `slablab doctor`".into(),
    };
    let out = command.output().map_err(|e| missing(e.to_string()))?;
    if !out.status.success() {
        return Err(missing(String::from_utf8_lossy(&out.stderr).trim().to_owned()));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Returns the line of a log that gives the reason: the first that names an error, else the one
/// before make's first complaint, else the last.
fn reason(log: &Path) -> Option<String> {
    const SIGNS: [&str; 5] =
        ["No space left on device", "rror:", "ERROR", "not found", "does not look like"];
    let text = std::fs::read(log).ok()?;
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let telling = lines.iter().find(|line| SIGNS.iter().any(|sign| line.contains(sign)));
    let before_make = || lines.iter().position(|line| line.contains("***"))?.checked_sub(1);
    let line = telling.or_else(|| before_make().map(|at| &lines[at])).or_else(|| lines.last());
    line.map(|line| line.chars().take(300).collect())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use slablab_host::bound;

    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = bound("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn the_line_that_says_why_comes_out_of_the_log() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let script = "echo fine; echo 'a.c:1: error: no such thing'; echo later; exit 3";
        let error =
            run_logged("echo", &mut sh(script), &log, &Interrupt::never(), || ()).unwrap_err();
        assert!(error.to_string().starts_with("echo: a.c:1: error: no such thing"), "{error}");
    }

    #[test]
    fn what_make_complains_of_stands_before_its_complaint() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let script =
            "echo sleep x; echo 'sleep: bad x'; echo 'make: *** [a] 1'; echo later; exit 2";
        let error =
            run_logged("echo", &mut sh(script), &log, &Interrupt::never(), || ()).unwrap_err();
        assert!(error.to_string().starts_with("echo: sleep: bad x. The whole log"), "{error}");
    }

    #[test]
    fn an_interrupt_ends_the_child() {
        let dir = tempfile::tempdir().unwrap();
        let interrupt = Interrupt::never();
        let started = Instant::now();
        let error = run_logged(
            "echo",
            &mut sh("exec sleep 60"),
            &dir.path().join("log"),
            &interrupt,
            || {
                interrupt.set();
            },
        )
        .unwrap_err();
        assert!(matches!(error, Error::Interrupted));
        assert!(started.elapsed() < Duration::from_secs(30));
    }
}
