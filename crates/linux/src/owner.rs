//! Who of a call stack is the owner of what was allocated: the first frame that does not allocate for its callers.
//!
//! # How it works
//! A *helper* is a function that allocates for whoever calls it: `kstrdup`, `kvmalloc`, `__alloc_skb`. Three sources say
//! which functions are: a list of those that Linux has, the names that a user adds, and a rule ([`Callers`]) for those of a
//! module that is in no list: what a function allocates goes to many callers, and to none of them most. The owner is the
//! first frame, from the allocation outwards, that is none.
//!
//! A frame is `function`, `function+0x1c` or `function+0x1c [module]`; what a compiler puts behind a name (`.isra.0`) and
//! `_noprof`, which 6.10 added to names, do not count.
//!
//! Linux counterpart: none; `mm/util.c`, `net/core/skbuff.c`, `fs/file_table.c` and others @ 6.1 to 7.3 have the functions.

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

/// What the names of helpers begin with: allocators, their wrappers, and what a tracer or checker puts in between.
const PREFIXES: [&str; 65] = [
    "___slab_alloc",
    "__alloc_frozen_pages",
    "__alloc_pages",
    "__alloc_skb",
    "__bpf_",
    "__do_kmalloc",
    "__folio_alloc",
    "__get_free_pages",
    "__kmalloc",
    "__kmem_cache_",
    "__kvmalloc",
    "__page_frag",
    "__pfx_",
    "__set_page_owner",
    "__slab_alloc",
    "__traceiter_",
    "__vmalloc",
    "alloc_pages",
    "alloc_skb",
    "alloc_slab",
    "allocate_slab",
    "bpf_get_stack",
    "bpf_prog_",
    "bpf_trace_run",
    "bpf_trampoline_",
    "build_skb",
    "create_object",
    "devm_k",
    "entry_SYSCALL",
    "folio_alloc",
    "ftrace_",
    "get_page_from_freelist",
    "kasan_",
    "kasprintf",
    "kcalloc",
    "kmalloc",
    "kmem_cache_",
    "kmemdup",
    "kmemleak_",
    "kobject_set_name",
    "krealloc",
    "kstrdup",
    "kstrndup",
    "kvasprintf",
    "kvcalloc",
    "kvmalloc",
    "kvmemdup",
    "kvrealloc",
    "kvzalloc",
    "kzalloc",
    "memdup_user",
    "mempool_",
    "napi_build_skb",
    "netdev_alloc_frag",
    "new_slab",
    "page_frag_alloc",
    "perf_trace_",
    "post_alloc_hook",
    "prep_new_page",
    "save_stack",
    "set_page_owner",
    "slab_post_alloc_hook",
    "stack_trace_",
    "trace_event_",
    "vma_alloc_folio",
];

/// Helpers by their whole names: what the kernel's subsystems allocate through.
const NAMES: [&str; 37] = [
    "__alloc_file",
    "__build_skb",
    "__d_alloc",
    "__kernfs_new_node",
    "__napi_alloc_skb",
    "__netdev_alloc_skb",
    "__register_sysctl_table",
    "alloc_empty_file",
    "alloc_file",
    "alloc_file_clone",
    "alloc_file_pseudo",
    "alloc_inode",
    "anon_inode_getfd",
    "anon_inode_getfile",
    "d_alloc",
    "d_alloc_name",
    "d_alloc_pseudo",
    "event_triggers_call",
    "getname",
    "getname_flags",
    "kernfs_new_node",
    "kset_create_and_add",
    "kstrtoa",
    "napi_alloc_skb",
    "new_inode",
    "new_inode_pseudo",
    "pskb_expand_head",
    "security_file_alloc",
    "security_inode_alloc",
    "sk_alloc",
    "sk_prot_alloc",
    "sock_alloc_send_pskb",
    "sock_kmalloc",
    "sock_wmalloc",
    "strndup_user",
    "vmemdup_user",
    "xas_alloc",
];

/// A helper that is found by rule has at least this number of callers.
const CALLERS_MIN: usize = 8;
/// It would have at least this number if all got equally much: the inverse of the sum of the squares of their shares.
const CALLERS_EVEN_MIN: f64 = 4.0;

/// Returns the function of a frame: without offset, module, and what a compiler or a release puts behind its name.
#[must_use]
pub fn function_of(frame: &str) -> &str {
    let end = frame.find(['+', ' ', '.']).unwrap_or(frame.len());
    let name = if end == 0 { frame } else { &frame[..end] };
    name.strip_suffix("_noprof").filter(|name| !name.is_empty()).unwrap_or(name)
}

/// Which functions allocate for their callers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Helpers {
    more: BTreeSet<String>,
}

impl Helpers {
    /// Those that Linux has.
    #[must_use]
    pub fn known() -> Self {
        Self::default()
    }

    /// Adds functions: a user's, or those that [`Callers`] finds.
    #[must_use]
    pub fn and<S: AsRef<str>>(mut self, functions: impl IntoIterator<Item = S>) -> Self {
        self.more.extend(functions.into_iter().map(|name| function_of(name.as_ref()).to_owned()));
        self
    }

    /// Tells whether a frame is of a helper.
    #[must_use]
    pub fn has(&self, frame: &str) -> bool {
        let name = function_of(frame);
        PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            || NAMES.binary_search(&name).is_ok()
            || self.more.contains(name)
    }

    /// Returns the place of the owner in a stack, whose first frame is that nearest to the allocation: the first that is
    /// not a helper, the last one where all are; 0 of an empty stack.
    #[must_use]
    pub fn owner<S: AsRef<str>>(&self, frames: &[S]) -> usize {
        let first = frames.iter().position(|frame| !self.has(frame.as_ref()));
        first.unwrap_or_else(|| frames.len().saturating_sub(1))
    }
}

/// For whom functions allocate, to find helpers that are in no list.
#[derive(Debug, Clone, Default)]
pub struct Callers {
    /// By function, what each caller of it got
    of: BTreeMap<String, BTreeMap<String, u64>>,
}

impl Callers {
    /// Adds a stack, nearest frame first, with its number of allocations. What counts are the frames up to the owner, which
    /// `helpers` knows, and who called that.
    pub fn add<S: AsRef<str>>(&mut self, helpers: &Helpers, frames: &[S], allocs: u64) {
        let owner = helpers.owner(frames);
        let [owner, caller] = [owner, owner + 1].map(|at| frames.get(at).map(AsRef::as_ref));
        let (Some(owner), Some(caller)) = (owner, caller) else { return };
        let callers = self.of.entry(function_of(owner).to_owned()).or_default();
        *callers.entry(function_of(caller).to_owned()).or_default() += allocs;
    }

    /// Returns the functions whose allocations go to many callers.
    #[must_use]
    pub fn helpers(&self) -> Vec<&str> {
        let is_helper = |callers: &BTreeMap<String, u64>| {
            let all: u64 = callers.values().sum();
            let share = |allocs: &u64| *allocs as f64 / all.max(1) as f64;
            let squares: f64 = callers.values().map(|allocs| share(allocs) * share(allocs)).sum();
            callers.len() >= CALLERS_MIN && squares * CALLERS_EVEN_MIN <= 1.0
        };
        let found = self.of.iter().filter(|(_, callers)| is_helper(callers));
        found.map(|(function, _)| function.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn the_owner_is_the_first_frame_that_is_no_helper() {
        let stack = ["__kmalloc_node_track_caller_noprof+0x1a0", "kstrdup+0x35"];
        let called = [stack[0], stack[1], "session_open+0x3c [session]", "do_syscall_64+0x5d"];
        let helpers = Helpers::known();
        assert_eq!((helpers.owner(&called), helpers.owner(&stack)), (2, 1));
        assert_eq!(helpers.owner::<&str>(&[]), 0);
        let helpers = helpers.and(["session_open"]);
        assert_eq!(helpers.owner(&called), 3);
    }

    #[test]
    fn names_are_compared_without_what_a_compiler_puts_behind_them() {
        let helpers = Helpers::known().and(["my_alloc.isra.0"]);
        for frame in ["kvmalloc_node_noprof+0x1", "d_alloc.part.0+0x4", "my_alloc.constprop.2"] {
            assert!(helpers.has(frame), "{frame}");
        }
        for frame in ["d_allocate+0x1", "load_elf_binary", "", "0xffffffff81000000", ".x"] {
            assert!(!helpers.has(frame), "{frame}");
        }
        assert_eq!(function_of("f.isra.0+0x1 [m]"), "f");
        assert!(NAMES.is_sorted());
    }

    #[test]
    fn what_allocates_for_many_callers_is_found_to_be_a_helper() {
        let mut callers = Callers::default();
        let known = Helpers::known();
        for caller in 0..12 {
            let caller = format!("user_{caller}+0x1 [m]");
            callers.add(&known, &["kmalloc+0x1", "my_alloc+0x8 [m]", &caller, "main"], 5);
            // Many callers, but nearly all for one.
            let allocs = if caller.contains("_3+") { 900 } else { 1 };
            callers.add(&known, &["kmalloc+0x1", "open_file+0x2 [m]", &caller], allocs);
        }
        callers.add(&known, &["kmalloc+0x1", "alone"], 1_000);
        assert_eq!(callers.helpers(), ["my_alloc"]);
        let helpers = known.and(callers.helpers());
        assert_eq!(helpers.owner(&["kmalloc", "my_alloc+0x9 [m]", "user_1+0x1 [m]"]), 2);
    }
}
