//! The functions that the host gives to a module: one list, from which the jumps are assembled, the
//! table is filled and `--list-symbols` prints.
//!
//! `@ n` says that the call's return address goes behind the last of `n` arguments: so the host
//! knows the call site of every allocation without a macro in the headers. Strings and memory are
//! the C library's own.

use libc::{
    memchr, memcmp, memcpy, memmove, memset, strcasecmp, strcat, strchr, strchrnul, strcmp, strcpy,
    strcspn, strlen, strncasecmp, strncat, strncmp, strncpy, strnlen, strpbrk, strrchr, strspn,
    strstr,
};
use slablab_kmem::Backend;
use slablab_xarray::capi::{advanced::*, idr::*, normal::*, process::slablab_xa_fail_nonblocking};

use crate::abi::{memory::*, system::*, text::*};
use crate::context::*;
use crate::krefs::kapi_kref;
use crate::nodes::kapi_nodes_for;
use crate::raw::probe::kapi_breakpoint;
use crate::raw::system::*;

/// A function for modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: &'static str,
    /// Number of its arguments, if it wants its call site behind them.
    pub(crate) site: Option<u8>,
}

macro_rules! symbols {
    ($($backend:tt { $($name:ident $(= $function:ident)? $(@ $site:literal)?),* $(,)? })*) => {
        /// All of them, in the order of the table.
        pub const SYMBOLS: &[Symbol] =
            &[$($(Symbol { name: stringify!($name), site: symbols!(site $($site)?) },)*)*];

        /// Returns their addresses, those of backend `B`.
        pub(crate) fn addresses<B: Backend>() -> Vec<usize> {
            vec![$($(symbols!(address $backend $name $($function)?),)*)*]
        }
    };
    (site) => { None };
    (site $site:literal) => { Some($site) };
    (address [$($backend:ident)?] $function:ident) => { $function $(::<$backend>)? as *const () as usize };
    (address $backend:tt $name:ident $function:ident) => { symbols!(address $backend $function) };
}

symbols! {
    [B] {
        kmalloc@2, kmalloc_node@3, kmalloc_track_caller = kmalloc@2, kzalloc@2, krealloc@3, kfree@1,
        kfree_sensitive@1, ksize, kfree_bulk@2, kapi_cache_create, kapi_bucket_alloc@3,
        kapi_kvrealloc@3, kapi_cache_destroy,
        kmem_cache_shrink, kmem_cache_alloc@2, kmem_cache_alloc_node@3, kmem_cache_zalloc@2,
        kmem_cache_free@2, kmem_cache_alloc_bulk@4, kmem_cache_free_bulk@3, kvmalloc@2,
        kvmalloc_node@3, kvfree@1, kvfree_sensitive@2, __get_free_pages@2, get_zeroed_page@1,
        free_pages@2, alloc_pages@2, alloc_pages_node@3, alloc_pages_exact@2, free_pages_exact@2,
        __free_pages@2, split_page@2, put_page@1, vmalloc@1, vzalloc@1, vmalloc_user = vzalloc@1,
        vmalloc_32 = vmalloc@1, vmalloc_node@2, vzalloc_node@2, kapi_vmalloc@2,
        kapi_vmalloc_aligned@3, vrealloc@3, kapi_vmap_for = kapi_vmap, vunmap@1, kapi_vunmap_for = vunmap,
        kapi_take_pages, kapi_give_pages, kapi_enter_pages, kapi_made, kapi_unmade, kapi_kmalloc_for = kmalloc,
        kapi_cache_alloc_for = kmem_cache_alloc,
        kapi_kfree_for = kfree, kapi_kvfree_for = kvfree, kapi_cache_free_for = kmem_cache_free,
        kapi_alloc_pages_for = alloc_pages, kapi_free_pages_for = __free_pages,
        vfree@1, vfree_atomic = vfree@1, is_vmalloc_addr, vmalloc_to_page,
        vmalloc_to_pfn, virt_addr_valid, nr_free_pages,
    }
    [] {
        kmalloc_size_roundup, kmem_cache_size, kmem_cache_name, kapi_format, kapi_log,
        kapi_output, kapi_stop, kapi_current, kapi_task_set, smp_processor_id,
        kapi_atomic_enter@0, kapi_atomic_exit@0, kapi_atomic_depth, kapi_preempt_count, kapi_irq_save@0,
        kapi_irq_restore, kapi_irqs_off, kapi_bh_disable@0, kapi_bh_enable@0, kapi_lock_class, kapi_hardirq_enter,
        kapi_hardirq_exit, kapi_in_hardirq, kapi_kref@2, kapi_nodes_for, kapi_reads,
        kapi_softirq_enter, kapi_softirq_exit, kapi_in_softirq,
        kapi_might_sleep@2, kapi_cond_resched@2, kapi_may_sleep, kapi_might_alloc@2,
        kapi_lock_enter@2, kapi_lock_got@1, kapi_lock_exit@1, kapi_lock_wanted, kapi_lock_taken,
        kapi_lock_given, kapi_not_locked@0, kapi_rcu_read_lock@0, kapi_rcu_read_unlock@0,
        kapi_rcu_read_held, synchronize_rcu@0, ktime_get_ns, ktime_get_real_ns,
        yield = kapi_yield, kapi_spin_wait, kapi_thread_start, kapi_thread_exit, kapi_step_done,
        kapi_host_sleep, kapi_rss_pages, kapi_breakpoint, kapi_symbol_find, kapi_symbol_at,
        kapi_symbol_of, kapi_read_nofault, kapi_misuse, kapi_futex_wait, kapi_futex_wake,
        get_random_bytes, get_random_u32, get_random_u64, get_random_u32_below, kapi_alloc,
        kapi_free, xa_load, kapi_xa_store = xa_store, kapi___xa_store = __xa_store, xa_erase, __xa_erase,
        kapi___xa_cmpxchg = __xa_cmpxchg, kapi___xa_insert = __xa_insert,
        kapi_xa_store_range = xa_store_range, kapi___xa_alloc = __xa_alloc,
        kapi___xa_alloc_cyclic = __xa_alloc_cyclic, xa_find, xa_find_after, xa_extract, xa_get_mark, __xa_set_mark,
        __xa_clear_mark, xa_get_order, xa_destroy, kapi_idr_alloc = idr_alloc,
        kapi_idr_alloc_cyclic = idr_alloc_cyclic, kapi_idr_alloc_u32 = idr_alloc_u32, idr_remove,
        idr_find, idr_replace, idr_for_each, idr_get_next, idr_get_next_ul, idr_destroy,
        kapi_ida_alloc_range = ida_alloc_range, ida_destroy, slablab_ida_first, slablab_ida_free,
        slablab_xa_slot, slablab_xa_fail_nonblocking, slablab_xa_bytes, xas_load, xas_reload,
        xas_find, xas_find_marked, xas_find_conflict, xas_next, xas_prev, kapi_xas_store = xas_store,
        kapi_xas_create_range = xas_create_range, kapi_xas_nomem = xas_nomem,
        xas_pause, xas_get_mark, xas_set_mark, xas_clear_mark,
        xas_init_marks, kapi_xas_split_alloc = xas_split_alloc, xas_split, xas_destroy, bcmp = memcmp, memchr, memcmp,
        memcpy, memmove, memset, strcasecmp, strcat, strchr, strchrnul, strcmp, strcpy, strcspn,
        strlen, strncasecmp, strncat, strncmp, strncpy, strnlen, strpbrk, strrchr, strspn, strstr,
    }
}
