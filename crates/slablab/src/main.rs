//! The command `slablab`.

fn main() {}
