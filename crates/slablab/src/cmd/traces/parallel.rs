//! The same work for each of many items, on all processors.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use anyhow::Result;

/// Does `work` for each of `items`, as many at once as there are processors. After an error no further item is begun, so
/// that what is wrong with one is said at once; of several errors, that of the first item.
pub(super) fn for_each<T: Sync>(items: &[T], work: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<(usize, anyhow::Error)>> = Mutex::new(None);
    let thread = || {
        loop {
            let index = next.fetch_add(1, Relaxed);
            let Some(item) = items.get(index) else { return };
            let Err(error) = work(item) else { continue };
            next.store(items.len(), Relaxed);
            let mut first = failed.lock().expect("no thread panics while it holds it");
            if first.as_ref().is_none_or(|(of, _)| index < *of) {
                *first = Some((index, error));
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(items.len());
    thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(thread)));
    let failed = failed.into_inner().expect("no thread panicked");
    failed.map_or(Ok(()), |(_, error)| Err(error))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    #[test]
    fn every_item_is_worked_on_once_and_the_first_error_is_told() {
        let items: Vec<u64> = (0..1000).collect();
        let sum = AtomicU64::new(0);
        for_each(&items, |item| {
            sum.fetch_add(*item, Relaxed);
            Ok(())
        })
        .unwrap();
        assert_eq!(sum.into_inner(), 999 * 500);
        let error =
            for_each(&items, |item| if *item >= 7 { anyhow::bail!("{item}") } else { Ok(()) });
        assert_eq!(error.unwrap_err().to_string(), "7");
        for_each(&[], |(): &()| unreachable!("there is no item")).unwrap();
    }
}
