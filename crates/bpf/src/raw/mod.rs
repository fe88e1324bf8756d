//! The unsafe floor of this crate: the system call, and memory that programs and we share.

mod ring_memory;
mod shared_memory;
mod syscall;

pub(crate) use ring_memory::{RingMemory, page_bytes};
pub(crate) use shared_memory::SharedMemory;
pub(crate) use syscall::{Attributes, call, call_for_fd};
