//! Stacks below a row: a frame a line, and who of it is the owner.

use slablab_linux::Helpers;

/// Words that stand before a frame: what a logger writes, an address and its bracket.
const PREFIX_WORDS_MAX: usize = 8;

/// Returns the frame of a line: `[<0>] function+0x1/0x2 [module]`, with the address and the offset left out.
pub(crate) fn frame(words: &[&str]) -> Option<String> {
    let at = words.iter().position(|word| word.contains("+0x"))?;
    // A logger may write its name and a time before the frame; behind it stands a module, and in a row of something else
    // more than that.
    let is_last = words[at + 1..].iter().all(|word| word.starts_with(['[', '(']));
    if !is_last || at > PREFIX_WORDS_MAX {
        return None;
    }
    // bcc of some versions prints frames as Python does bytes: b'function+0x1 [module]'.
    let function = words[at].trim_start_matches("b'").split('+').next()?;
    let module = words[at + 1..].iter().find(|word| word.starts_with('['));
    let module = module.map(|module| module.trim_end_matches('\''));
    let module = module.filter(|module| !matches!(*module, "[kernel]" | "[vmlinux]"));
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_.$:<>".contains(c);
    (!function.is_empty() && function.chars().all(is_name)).then(|| match module {
        Some(module) => format!("{function} {module}"),
        None => function.to_owned(),
    })
}

/// Returns the first frame that does not allocate for its callers; the last one if all do.
pub(crate) fn owner(stack: &[String]) -> Option<&str> {
    stack.get(Helpers::known().owner(stack)).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_stands_behind_those_that_allocate_for_others() {
        let stack = ["__kmalloc_noprof", "kstrdup", "rename_worker [session]", "process_one_work"];
        let stack = stack.map(str::to_owned);
        assert_eq!(owner(&stack), Some("rename_worker [session]"));
        assert_eq!(owner(&stack[..2]), Some("kstrdup"));
        assert_eq!(owner(&[]), None);
    }

    #[test]
    fn frames_are_read_in_the_forms_of_all_tools() {
        let of = |line: &str| frame(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(
            of("[<0000000012345678>] kmalloc_trace+0x2a/0xa0"),
            Some("kmalloc_trace".into())
        );
        assert_eq!(of("session_open+0x3c [session]"), Some("session_open [session]".into()));
        assert_eq!(
            of("ffffffff81234567 do_syscall_64+0x5d [kernel]"),
            Some("do_syscall_64".into())
        );
        assert_eq!(of("b'session_open+0x3c [session]'"), Some("session_open [session]".into()));
        assert_eq!(of("b'pcpu_alloc+0x3d8 [kernel]'"), Some("pcpu_alloc".into()));
        assert_eq!(of("seq_read"), None);
        assert_eq!(of("126 port_alloc+0x1/0x2 [port] waste=1/1 age=2"), None);
    }
}
