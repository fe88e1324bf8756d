//! A patch to adapt: what giving a call site a cache of its own looks like in C.
//!
//! The trace knows the function, the size and the flags, and debug information the file; what is allocated there
//! neither says. So the text says what to put where, and leaves the file's own names to whoever knows the file.

use slablab_trace::Place;

use crate::advice::result::{Advice, Change};

/// Returns the text of a patch skeleton for advice on a call site, which is at `place` if that is known; `None` for
/// advice on a size class.
#[must_use]
pub fn patch_skeleton(advice: &Advice, place: Option<&Place>) -> Option<String> {
    let Change::Dedicate { cache } = &advice.change else { return None };
    let name = c_name(cache);
    let (file, function) =
        place.map_or(("FILE.c", cache), |place| (place.file.as_str(), &place.function));
    let line = place.and_then(|place| place.line);
    let line = line.map_or_else(String::new, |line| format!(", line {line}"));
    let Advice { subject, object_bytes, class_bytes, live_peak, reason, .. } = advice;
    Some(format!(
        "\
Give the objects that {subject} allocates a cache of their own

{reason}

Adapt: {file} is where {function}() stands{line}, struct ITEM is what it allocates
({object_bytes} bytes at most, today from kmalloc-{class_bytes}; {live_peak} of them lived at once).

--- a/{file}
+++ b/{file}
@@ near the top, beside the file's other static data @@
+static struct kmem_cache *{name}_cachep __ro_after_init;
+
@@ in the file's init function, before {function}() can run (a module checks for NULL instead of SLAB_PANIC) @@
+\t{name}_cachep = KMEM_CACHE(ITEM, SLAB_PANIC);
@@ in {function}() @@
-\titem = kmalloc(sizeof(*item), gfp);
+\titem = kmem_cache_alloc({name}_cachep, gfp);
@@ wherever such an item is freed @@
-\tkfree(item);
+\tkmem_cache_free({name}_cachep, item);
@@ in the module's exit function, if it is a module, after the last free (rcu_barrier() first if by RCU) @@
+\tkmem_cache_destroy({name}_cachep);

kzalloc() becomes kmem_cache_zalloc(). An item freed by kfree_rcu() may stay so from 6.12 on and
needs a call_rcu() callback before. Try it: slablab whatif TRACE --dedicate '{subject}'
"
    ))
}

/// Returns a C identifier that looks like `text`.
fn c_name(text: &str) -> String {
    let name: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    name.trim_start_matches(|c: char| c == '_' || c.is_ascii_digit()).to_owned()
}
