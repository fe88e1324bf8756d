//! Panics of the Parquet crate become errors: where a file is damaged it asserts as often as it refuses.
//!
//! # How it works
//! A panic is caught, and not reported. The process's panic hook prints it, so the
//! first call puts one in front that is silent while its thread is in here.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static SILENT: Cell<bool> = const { Cell::new(false) };
}

/// Does `work`; `None` when it panics. What it was working on must not be used any more then.
pub(super) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !SILENT.get() {
                before(panic);
            }
        }));
    });
    let outer = SILENT.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    SILENT.set(outer);
    result.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_caught_and_the_next_is_told_again() {
        assert_eq!(caught(|| 7), Some(7));
        assert_eq!(caught(|| [0; 3][std::hint::black_box(3)]), None);
        assert!(!SILENT.get());
    }
}
