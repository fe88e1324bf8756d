//! Pasted text of any kind: what is read never has more in use than there is room for, and joins, adds up and grows.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slablab_snapshot::{Paste, growth, holders};

fuzz_target!(|bytes: &[u8]| {
    let paste = Paste::read(bytes).expect("memory can be read");
    for table in &paste.tables {
        assert!(!table.moments.is_empty() && table.rows > 0);
        let holders = holders(table.last().clone());
        assert!(holders.most <= holders.families.len());
        let _ = growth(&table.moments, Some(60.0));
    }
    let _ = Paste::joined(vec![(paste.clone(), Some(1.0)), (paste, Some(2.0))]);
});
