//! The advice on many traces, added up.

pub(crate) mod advice;
