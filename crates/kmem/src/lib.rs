//! Linux's page allocator and slab caches in user space.
