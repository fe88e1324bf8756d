//! What the measurements share: key sets, peers, the clock, and tables of results.

pub mod keys;
pub mod measure;
pub mod options;
pub mod peers;
pub mod report;
