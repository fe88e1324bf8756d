//! The functions that the host gives to a module: one list, from which the jumps are assembled, the
//! table is filled and `--list-symbols` prints.
//!
//! `@ n` says that the call's return address goes behind the last of `n` arguments: so the host
//! knows the call site of every allocation without a macro in the headers.

use slablab_kmem::Backend;
use slablab_xarray::capi;

use crate::abi::{memory, system, text};
use crate::context;
use crate::raw::system as os;

/// A function for modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: &'static str,
    /// Number of its arguments, if it wants its call site behind them.
    pub(crate) site: Option<u8>,
}

macro_rules! symbols {
    ($($name:literal = $function:expr $(, @ $site:literal)?;)*) => {
        /// All of them, in the order of the table.
        pub const SYMBOLS: &[Symbol] =
            &[$(Symbol { name: $name, site: symbols!(site $($site)?) },)*];

        /// Returns their addresses, those of backend `B`.
        pub(crate) fn addresses<B: Backend>() -> Vec<usize> {
            vec![$($function as *const () as usize,)*]
        }
    };
    (site) => { None };
    (site $site:literal) => { Some($site) };
}

symbols! {
    "kmalloc" = memory::kmalloc::<B>, @ 2;
    "kmalloc_node" = memory::kmalloc_node::<B>, @ 3;
    "kmalloc_track_caller" = memory::kmalloc::<B>, @ 2;
    "kzalloc" = memory::kzalloc::<B>, @ 2;
    "krealloc" = memory::krealloc::<B>, @ 3;
    "kfree" = memory::kfree::<B>, @ 1;
    "kfree_sensitive" = memory::kfree_sensitive::<B>, @ 1;
    "ksize" = memory::ksize::<B>;
    "kmalloc_size_roundup" = memory::kmalloc_size_roundup;
    "kfree_bulk" = memory::kfree_bulk::<B>, @ 2;
    "kapi_cache_create" = memory::kapi_cache_create::<B>;
    "kmem_cache_destroy" = memory::kmem_cache_destroy::<B>, @ 1;
    "kmem_cache_shrink" = memory::kmem_cache_shrink::<B>;
    "kmem_cache_alloc" = memory::kmem_cache_alloc::<B>, @ 2;
    "kmem_cache_alloc_node" = memory::kmem_cache_alloc_node::<B>, @ 3;
    "kmem_cache_zalloc" = memory::kmem_cache_zalloc::<B>, @ 2;
    "kmem_cache_free" = memory::kmem_cache_free::<B>, @ 2;
    "kmem_cache_alloc_bulk" = memory::kmem_cache_alloc_bulk::<B>, @ 4;
    "kmem_cache_free_bulk" = memory::kmem_cache_free_bulk::<B>, @ 3;
    "kmem_cache_size" = memory::kmem_cache_size;
    "kmem_cache_name" = memory::kmem_cache_name;
    "kvmalloc" = memory::kvmalloc::<B>, @ 2;
    "kvmalloc_node" = memory::kvmalloc_node::<B>, @ 3;
    "kvfree" = memory::kvfree::<B>, @ 1;
    "kvfree_sensitive" = memory::kvfree_sensitive::<B>, @ 2;
    "__get_free_pages" = memory::__get_free_pages::<B>, @ 2;
    "get_zeroed_page" = memory::get_zeroed_page::<B>, @ 1;
    "free_pages" = memory::free_pages::<B>, @ 2;
    "alloc_pages" = memory::alloc_pages::<B>, @ 2;
    "alloc_pages_node" = memory::alloc_pages_node::<B>, @ 3;
    "alloc_pages_exact" = memory::alloc_pages_exact::<B>, @ 2;
    "free_pages_exact" = memory::free_pages_exact::<B>, @ 2;
    "__free_pages" = memory::__free_pages::<B>, @ 2;
    "split_page" = memory::split_page::<B>, @ 2;
    "put_page" = memory::put_page::<B>, @ 1;
    "vmalloc" = memory::vmalloc::<B>, @ 1;
    "vzalloc" = memory::vzalloc::<B>, @ 1;
    "vmalloc_user" = memory::vzalloc::<B>, @ 1;
    "vmalloc_32" = memory::vmalloc::<B>, @ 1;
    "vmalloc_node" = memory::vmalloc_node::<B>, @ 2;
    "vzalloc_node" = memory::vzalloc_node::<B>, @ 2;
    "kapi_vmalloc" = memory::kapi_vmalloc::<B>, @ 2;
    "kapi_vmalloc_aligned" = memory::kapi_vmalloc_aligned::<B>, @ 3;
    "vfree" = memory::vfree::<B>, @ 1;
    "vfree_atomic" = memory::vfree::<B>, @ 1;
    "is_vmalloc_addr" = memory::is_vmalloc_addr::<B>;
    "vmalloc_to_page" = memory::vmalloc_to_page::<B>;
    "vmalloc_to_pfn" = memory::vmalloc_to_pfn::<B>;
    "virt_addr_valid" = memory::virt_addr_valid::<B>;
    "nr_free_pages" = memory::nr_free_pages::<B>;
    "kapi_format" = text::kapi_format;
    "kapi_log" = text::kapi_log;
    "kapi_output" = text::kapi_output;
    "kapi_stop" = text::kapi_stop;
    "kapi_current" = context::kapi_current;
    "kapi_task_set" = context::kapi_task_set;
    "smp_processor_id" = context::smp_processor_id;
    "kapi_atomic_enter" = context::kapi_atomic_enter, @ 0;
    "kapi_atomic_exit" = context::kapi_atomic_exit;
    "kapi_atomic_depth" = context::kapi_atomic_depth;
    "kapi_irq_save" = context::kapi_irq_save;
    "kapi_irq_restore" = context::kapi_irq_restore;
    "kapi_irqs_off" = context::kapi_irqs_off;
    "kapi_softirq_enter" = context::kapi_softirq_enter;
    "kapi_softirq_exit" = context::kapi_softirq_exit;
    "kapi_in_softirq" = context::kapi_in_softirq;
    "kapi_might_sleep" = context::kapi_might_sleep, @ 2;
    "kapi_cond_resched" = context::kapi_cond_resched, @ 2;
    "kapi_rcu_read_lock" = context::kapi_rcu_read_lock;
    "kapi_rcu_read_unlock" = context::kapi_rcu_read_unlock;
    "kapi_rcu_read_held" = context::kapi_rcu_read_held;
    "synchronize_rcu" = context::synchronize_rcu, @ 0;
    "ktime_get_ns" = system::ktime_get_ns;
    "ktime_get_real_ns" = system::ktime_get_real_ns;
    "yield" = system::r#yield;
    "kapi_spin_wait" = system::kapi_spin_wait;
    "kapi_thread_start" = os::kapi_thread_start;
    "kapi_thread_exit" = os::kapi_thread_exit;
    "kapi_futex_wait" = os::kapi_futex_wait;
    "kapi_futex_wake" = os::kapi_futex_wake;
    "get_random_bytes" = os::get_random_bytes;
    "get_random_u32" = system::get_random_u32;
    "get_random_u64" = system::get_random_u64;
    "get_random_u32_below" = system::get_random_u32_below;
    "kapi_alloc" = os::kapi_alloc;
    "kapi_free" = os::kapi_free;
    "xa_load" = capi::normal::xa_load;
    "xa_store" = capi::normal::xa_store;
    "__xa_store" = capi::normal::__xa_store;
    "xa_erase" = capi::normal::xa_erase;
    "__xa_erase" = capi::normal::__xa_erase;
    "__xa_cmpxchg" = capi::normal::__xa_cmpxchg;
    "__xa_insert" = capi::normal::__xa_insert;
    "xa_store_range" = capi::normal::xa_store_range;
    "__xa_alloc" = capi::normal::__xa_alloc;
    "__xa_alloc_cyclic" = capi::normal::__xa_alloc_cyclic;
    "xa_find" = capi::normal::xa_find;
    "xa_find_after" = capi::normal::xa_find_after;
    "xa_extract" = capi::normal::xa_extract;
    "xa_get_mark" = capi::normal::xa_get_mark;
    "__xa_set_mark" = capi::normal::__xa_set_mark;
    "__xa_clear_mark" = capi::normal::__xa_clear_mark;
    "xa_get_order" = capi::normal::xa_get_order;
    "xa_destroy" = capi::normal::xa_destroy;
    "idr_alloc" = capi::idr::idr_alloc;
    "idr_alloc_cyclic" = capi::idr::idr_alloc_cyclic;
    "idr_alloc_u32" = capi::idr::idr_alloc_u32;
    "idr_remove" = capi::idr::idr_remove;
    "idr_find" = capi::idr::idr_find;
    "idr_replace" = capi::idr::idr_replace;
    "idr_for_each" = capi::idr::idr_for_each;
    "idr_get_next" = capi::idr::idr_get_next;
    "idr_get_next_ul" = capi::idr::idr_get_next_ul;
    "idr_destroy" = capi::idr::idr_destroy;
    "ida_alloc_range" = capi::idr::ida_alloc_range;
    "ida_destroy" = capi::idr::ida_destroy;
    "slablab_ida_free" = capi::idr::slablab_ida_free;
    "slablab_xa_slot" = capi::idr::slablab_xa_slot;
    "slablab_xa_fail_nonblocking" = capi::process::slablab_xa_fail_nonblocking;
    "slablab_xa_bytes" = capi::normal::slablab_xa_bytes;
    "xas_load" = capi::advanced::xas_load;
    "xas_reload" = capi::advanced::xas_reload;
    "xas_find" = capi::advanced::xas_find;
    "xas_find_marked" = capi::advanced::xas_find_marked;
    "xas_find_conflict" = capi::advanced::xas_find_conflict;
    "xas_next" = capi::advanced::xas_next;
    "xas_prev" = capi::advanced::xas_prev;
    "xas_store" = capi::advanced::xas_store;
    "xas_create_range" = capi::advanced::xas_create_range;
    "xas_nomem" = capi::advanced::xas_nomem;
    "xas_pause" = capi::advanced::xas_pause;
    "xas_get_mark" = capi::advanced::xas_get_mark;
    "xas_set_mark" = capi::advanced::xas_set_mark;
    "xas_clear_mark" = capi::advanced::xas_clear_mark;
    "xas_init_marks" = capi::advanced::xas_init_marks;
    "xas_split_alloc" = capi::advanced::xas_split_alloc;
    "xas_split" = capi::advanced::xas_split;
    "xas_destroy" = capi::advanced::xas_destroy;
}
