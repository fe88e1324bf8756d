//! A trace under allocators: the simulated machine with its caches, one thread for each allocator, and the loop
//! over the rows.

pub(crate) mod account;
pub(crate) mod broadcast;
pub(crate) mod caches;
pub(crate) mod lanes;
pub(crate) mod machine;
pub(crate) mod orders;
pub(crate) mod own;
pub(crate) mod reality;
pub(crate) mod runner;
mod sites;
#[cfg(test)]
mod tests;
pub(crate) mod tuned;
pub(crate) mod warm;
