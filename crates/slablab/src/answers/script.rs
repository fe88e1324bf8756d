//! A shell script that makes the advised settings at run time, and can undo them.

use slablab_host::{printable, shell};
use slablab_replay::AdvisedSetting;

/// Returns the script for a setting of a kernel of this release, which the load of the trace in `file` was recorded on.
pub(crate) fn script(answer: Option<&AdvisedSetting>, release: &str, file: &str) -> String {
    // A line end in it would end the comment, too, and root will run the rest.
    let kernel = if release.is_empty() { "an unnamed kernel".into() } else { printable(release) };
    let file = printable(file);
    let mut text = format!(
        "#!/bin/sh\n# Slab settings for the load of {file}, recorded on {kernel}.\n\
         # sh SCRIPT        sets them, and keeps in $UNDO how to set them back\n\
         # sh SCRIPT undo   sets them back\n"
    );
    let Some(answer) = answer else {
        text.push_str(
            "# No setting holds less for what it is allowed to cost: there is nothing to set.\n",
        );
        return text;
    };
    for line in &answer.typed.kconfig {
        text.push_str(&format!("# The kernel's configuration needs {line}\n"));
    }
    text.push_str(
        "UNDO=${UNDO:-/run/slablab-undo}\n\
         status=0\n\
         # Not echo, which would obey a backslash.\n\
         put() {\n\
         \x20   printf '%s\\n' \"$1\" > \"$2\" || { printf '%s does not take %s\\n' \"$2\" \"$1\" >&2; status=1; return 1; }\n\
         }\n\
         # Lines of a number and a file, which no shell reads. Several names may be one cache: the first number noted is\n\
         # the old one, so the last line goes first.\n\
         if [ \"$1\" = undo ]; then\n\
         \x20   [ -e \"$UNDO\" ] || { echo \"$UNDO is not there: nothing was set\" >&2; exit 1; }\n\
         \x20   while read -r old file; do put \"$old\" \"$file\"; done <<UNDO\n\
         $(sed -n '1!G;h;$p' \"$UNDO\")\n\
         UNDO\n\
         \x20   [ $status -ne 0 ] || rm \"$UNDO\"\n\
         \x20   exit $status\n\
         fi\n\
         [ ! -e \"$UNDO\" ] || { echo \"$UNDO exists: undo first\" >&2; exit 1; }\n\
         set_file() {\n\
         \x20   old=$(cut -d' ' -f1 \"$2\") && put \"$1\" \"$2\" && printf '%s %s\\n' \"$old\" \"$2\" >> \"$UNDO\" || status=1\n\
         }\n",
    );
    for word in &answer.typed.command_line {
        let (word, said) =
            (shell::word(word), shell::word(&format!("add to the kernel command line: {word}")));
        text.push_str(&format!("grep -qw -- {word} /proc/cmdline || echo {said}\n"));
    }
    for line in &answer.typed.shell {
        text.push_str(&scripted(line));
        text.push('\n');
    }
    text.push_str("exit $status\n");
    text
}

/// Turns `echo N > FILE` into a call that keeps the old number.
fn scripted(line: &str) -> String {
    let Some((before, rest)) = line.split_once("echo ") else { return line.to_owned() };
    let Some((number, file)) = rest.split_once(" > ") else { return line.to_owned() };
    format!("{before}set_file {number} {file}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_script_keeps_the_old_number() {
        assert_eq!(scripted("echo 0 > /sys/x"), "set_file 0 /sys/x");
        assert_eq!(
            scripted("for f in /sys/*/x; do echo 0 > \"$f\"; done"),
            "for f in /sys/*/x; do set_file 0 \"$f\"; done"
        );
    }
}
