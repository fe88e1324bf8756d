//! The extensible array: any unsigned long to a pointer or an integer.
