//! Replays a trace of kernel allocations under the allocators of `slablab-kmem`.
