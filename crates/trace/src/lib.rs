//! Traces of kernel allocations: recorded, imported, stored, read.
