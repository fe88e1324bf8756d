//! A trace under allocators: the simulated machine with its caches, one thread for each allocator, and the loop
//! over the rows.

pub(crate) mod account;
pub(crate) mod broadcast;
pub(crate) mod caches;
pub(crate) mod machine;
pub(crate) mod need;
pub(crate) mod older_objects;
pub(crate) mod orders;
pub(crate) mod pins;
pub(crate) mod recorded_slabs;
pub(crate) mod replay;
pub(crate) mod runner;
pub(crate) mod sheaf_sites;
pub(crate) mod sites;
pub(crate) mod slab_page_log;
#[cfg(test)]
mod tests;
pub(crate) mod tuned;
pub(crate) mod vectors;
