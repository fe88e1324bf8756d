//! Memory for nodes: the global allocator, behind a hook that may refuse.
//!
//! The hook lets tests make the n-th allocation fail. A program can use it to imitate an allocator that
//! fails every request which may not block, as the kernel's own user-space tests do. Two more hooks tell of each node that
//! is made and freed.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Error, Gfp, Result};

/// Decides whether an allocation of this many bytes may go ahead.
pub type AllocHook = fn(Gfp, usize) -> bool;

/// What is told of nodes.
#[derive(Debug, Clone, Copy)]
pub struct MemoryHooks {
    /// A node lies at the address (the first argument), with its bytes (the second).
    pub made: fn(usize, usize),
    /// The node at this address is about to be freed.
    pub freed: fn(usize),
}

static HOOKS: OnceLock<MemoryHooks> = OnceLock::new();

/// Installs the functions that are told of nodes, for the rest of the process; those that came first stay.
pub fn set_memory_hooks(hooks: MemoryHooks) {
    let _ = HOOKS.set(hooks);
}

/// The hook's address, or 0.
static HOOK: AtomicUsize = AtomicUsize::new(0);

/// Installs a hook that is called before each node allocation of the process, or removes it.
pub fn set_alloc_hook(hook: Option<AllocHook>) {
    HOOK.store(hook.map_or(0, |hook| hook as *const () as usize), Ordering::Release);
}

fn refused(gfp: Gfp, bytes: usize) -> bool {
    let hook = HOOK.load(Ordering::Acquire);
    if hook == 0 {
        return false;
    }
    // SAFETY: only set_alloc_hook stores here, and only addresses of functions of this type.
    let hook = unsafe { std::mem::transmute::<*const (), AllocHook>(hook as *const ()) };
    !hook(gfp, bytes)
}

/// Returns zeroed memory of this layout.
pub(crate) fn allocate(layout: Layout, gfp: Gfp) -> Result<NonNull<u8>> {
    if refused(gfp, layout.size()) {
        return Err(Error::NoMemory);
    }
    debug_assert!(layout.size() > 0);
    // SAFETY: no node has size zero.
    let memory = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(Error::NoMemory)?;
    if let Some(hooks) = HOOKS.get() {
        (hooks.made)(memory.as_ptr() as usize, layout.size());
    }
    Ok(memory)
}

/// Gives memory back.
///
/// # Safety
///
/// The memory came from [`allocate`] with the same layout, and is not used any more.
pub(crate) unsafe fn free(memory: NonNull<u8>, layout: Layout) {
    if let Some(hooks) = HOOKS.get() {
        (hooks.freed)(memory.as_ptr() as usize);
    }
    // SAFETY: as the caller promises.
    unsafe { dealloc(memory.as_ptr(), layout) };
}
