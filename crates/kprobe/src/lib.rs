//! Tables that find a probe by its address.
