//! What a pool promises, under threads and with few CPUs.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::{Cache, ConstructedCache, CpuId, Error, Machine, Object, Pool, Slab, Slmb, Slob, Slub};

fn pool(cpus: u32, memory_bytes: u64) -> Pool {
    Pool::new(Machine::<Slub>::builder().cpus(cpus).memory_bytes(memory_bytes)).unwrap()
}

/// A free used to wait for the CPU that this thread held.
#[test]
fn dropping_an_object_with_the_only_cpu_in_hand_returns() {
    let pool = pool(1, 16 << 20);
    let cache = Cache::new(&pool, "number").unwrap();
    let cpu = pool.cpu(CpuId(0)).unwrap();
    let numbers: Vec<_> = (0..100u64).map(|i| cache.alloc_on(&cpu, i).unwrap()).collect();
    assert!(numbers.iter().map(|number| **number).eq(0..100));
    drop(numbers);
    assert_eq!(pool.cache_stats(cache.id()).unwrap().objects_live, 0);
    assert_eq!(*cache.alloc(7u64).unwrap(), 7, "this thread's own CPU serves");
}

/// A free used to wait for ever if the holder waited for the dropping thread.
#[test]
fn dropping_an_object_while_another_thread_holds_the_only_cpu_returns() {
    let pool = pool(1, 16 << 20);
    let cache = Cache::new(&pool, "number").unwrap();
    let cpu = pool.cpu(CpuId(0)).unwrap();
    let number = cache.alloc_on(&cpu, 1u64).unwrap();
    std::thread::spawn(move || drop(number)).join().unwrap();
    assert_eq!(pool.cache_stats(cache.id()).unwrap().objects_live, 0);
    let other = cache.alloc_on(&cpu, 2u64).unwrap();
    std::thread::spawn(move || drop(other)).join().unwrap();
    drop(cpu);
    assert_eq!(pool.shared.machine.live(cache.id()), 0, "freed with the CPU given back");
}

#[test]
fn freeing_on_a_held_cpu_takes_the_fast_path() {
    let pool = pool(2, 16 << 20);
    let cache = Cache::new(&pool, "number").unwrap();
    let cpu = pool.cpu(CpuId(1)).unwrap();
    for i in 0..1000u64 {
        let number = cache.alloc_on(&cpu, i).unwrap();
        cache.free_on(&cpu, number);
    }
    let paths = pool.cache_stats(cache.id()).unwrap().paths;
    assert_eq!((paths.get("free_fastpath"), paths.get("free_slowpath")), (1000, 0));
}

/// The cache used to keep the object for ever.
#[test]
fn an_object_whose_value_panics_as_it_is_dropped_is_freed() {
    struct Panics(#[allow(dead_code)] u64);
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("as it is dropped");
        }
    }
    let pool = pool(1, 16 << 20);
    let cache = Cache::new(&pool, "panics").unwrap();
    let catch = |f: &mut dyn FnMut()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
    let mut object = cache.alloc(Panics(1)).ok();
    assert!(catch(&mut || drop(object.take())).is_err());
    let cpu = pool.cpu(CpuId(0)).unwrap();
    let mut object = cache.alloc_on(&cpu, Panics(2)).ok();
    assert!(catch(&mut || cache.free_on(&cpu, object.take().unwrap())).is_err());
    assert_eq!(pool.cache_stats(cache.id()).unwrap().objects_live, 0);
}

struct Link {
    _next: Option<Object<Link>>,
    _body: [u8; 1000],
}

/// The value used to be dropped while the CPU was held, so what it owned waited for that CPU.
#[test]
fn a_list_that_finds_no_memory_comes_back_whole() {
    let pool = pool(1, 1 << 20);
    let links = Cache::<Link>::new(&pool, "link").unwrap();
    let (mut list, mut length) = (None, 0);
    let rest = loop {
        match links.alloc(Link { _next: list.take(), _body: [1; 1000] }) {
            Ok(link) => (list, length) = (Some(link), length + 1),
            Err(out) => break out.0,
        }
    };
    assert!(length > 500, "{length} links");
    assert_eq!(pool.cache_stats(links.id()).unwrap().objects_live, length);
    drop(rest);
    assert_eq!(pool.cache_stats(links.id()).unwrap().objects_live, 0);
}

/// An allocation used to fail whenever the other thread was at work: 94,759 times of 400,000.
#[test]
fn an_allocation_does_not_fail_because_another_thread_holds_the_cpu() {
    let one = pool(1, 16 << 20);
    let numbers = Cache::new(&one, "number").unwrap();
    let held = one.cpu(CpuId(0)).unwrap();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| numbers.alloc(1u64).is_ok());
        // The loop gives time enough to fail in; a thread that waits does not need it.
        for _ in 0..100 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(!waits.is_finished(), "it gave up");
        drop(held);
        assert!(waits.join().unwrap());
    });
    let pool = pool(1, 64 << 20);
    let cache = Cache::<u64>::new(&pool, "number").unwrap();
    let failed = AtomicU32::new(0);
    std::thread::scope(|scope| {
        let threads = [1u64, 2].map(|stamp| {
            let (cache, failed) = (&cache, &failed);
            scope.spawn(move || {
                for _ in 0..50_000 {
                    match cache.alloc(stamp) {
                        Ok(number) => assert_eq!(*number, stamp),
                        Err(_) => _ = failed.fetch_add(1, Relaxed),
                    }
                }
            })
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert_eq!(failed.load(Relaxed), 0);
    assert_eq!(pool.cache_stats(cache.id()).unwrap().objects_live, 0);
}

/// Memory that another cache keeps for later is free, too.
#[test]
fn an_allocation_does_not_fail_while_another_cache_keeps_empty_slabs() {
    let pool = pool(2, 2 << 20);
    let (small, large) = (Cache::new(&pool, "s").unwrap(), Cache::new(&pool, "l").unwrap());
    let all: Vec<_> = core::iter::from_fn(|| small.alloc([0u8; 64]).ok()).collect();
    drop(all);
    let all: Vec<_> = core::iter::from_fn(|| large.alloc([0u8; 4096]).ok()).collect();
    assert!(all.len() > 400, "{} of 511 pages", all.len());
}

/// Each failure used to look at every cache for what could be reclaimed.
#[test]
fn memory_freed_after_many_failures_serves_another_cache() {
    let pool = pool(2, 4 << 20);
    let (full, other) = (Cache::new(&pool, "full").unwrap(), Cache::new(&pool, "other").unwrap());
    let shrunk = || {
        let counts = pool.shared.machine.lock_counts();
        counts.into_iter().find(|(name, _)| *name == "list_lock").unwrap().1
    };
    let mut objects: Vec<_> = core::iter::from_fn(|| full.alloc([1u8; 1000]).ok()).collect();
    let before = shrunk();
    for _ in 0..1000 {
        assert!(other.alloc([2u8; 3000]).is_err());
    }
    let caches = pool.shared.machine.caches().len() as u64;
    assert!(shrunk() - before < 20 * caches, "once, and once in 64 failures");
    objects.truncate(objects.len() / 2);
    assert_eq!(other.alloc([2u8; 3000]).unwrap()[0], 2);
}

/// Caches used to live as long as the machine.
#[test]
fn caches_go_with_their_last_handle() {
    let pool = pool(2, 16 << 20);
    let cpu = pool.cpu(CpuId(1)).unwrap();
    for i in 0..5_000u64 {
        let cache = Cache::new(&pool, "short-lived").unwrap();
        let clone = cache.clone();
        let numbers = [cache.alloc(i).unwrap(), cache.alloc_on(&cpu, i).unwrap()];
        drop(cache);
        drop(clone);
        assert_eq!((*numbers[0], *numbers[1]), (i, i), "objects keep their cache");
    }
    let waiting = ConstructedCache::new(&pool, "other", [1u8; 32]).unwrap();
    let id = waiting.id();
    let object = waiting.get_on(&cpu).unwrap();
    waiting.free_on(&cpu, object);
    std::thread::spawn(move || drop(waiting)).join().unwrap();
    drop(cpu);
    assert!(pool.cache_stats(id).is_none(), "gone when the CPU that kept a part was given back");
    assert!(pool.shared.machine.validate().is_ok());
}

/// The size used to be cut to 32 bits: an object of 8 bytes for a value of 4 GiB and 8 bytes.
#[test]
fn a_type_beyond_4_gib_is_refused() {
    let error = Cache::<[u64; (1 << 29) + 1]>::new(&pool(1, 16 << 20), "huge").unwrap_err();
    assert!(matches!(error, Error::Cache { .. }));
    assert!(error.to_string().contains("4 MiB"), "{error}");
}

#[test]
fn values_move_out_and_are_dropped_once() {
    struct Counted<'a>(&'a AtomicU32);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let dropped = AtomicU32::new(0);
    let pool = pool(1, 16 << 20);
    let cache = Cache::new(&pool, "counted").unwrap();
    let value = Object::into_inner(cache.alloc(Counted(&dropped)).unwrap());
    assert_eq!(dropped.load(Relaxed), 0);
    drop(value);
    drop(cache.alloc(Counted(&dropped)).unwrap());
    let cpu = pool.cpu(CpuId(0)).unwrap();
    cache.free_on(&cpu, cache.alloc_on(&cpu, Counted(&dropped)).unwrap());
    assert_eq!(dropped.load(Relaxed), 3);
    assert_eq!(pool.cache_stats(cache.id()).unwrap().objects_live, 0);
}

/// A value whose drop uses its own pool while the dropping thread holds the CPU.
#[test]
fn values_may_own_objects_of_their_own_pool() {
    let pool = pool(1, 16 << 20);
    let numbers = Cache::new(&pool, "number").unwrap();
    let boxes = Cache::<Box<Object<u64>>>::new(&pool, "box").unwrap();
    let cpu = pool.cpu(CpuId(0)).unwrap();
    let inner = Box::new(numbers.alloc_on(&cpu, 1u64).unwrap());
    boxes.free_on(&cpu, boxes.alloc_on(&cpu, inner).unwrap());
    assert_eq!(pool.cache_stats(numbers.id()).unwrap().objects_live, 0);
}

#[test]
#[should_panic(expected = "a CPU of another pool")]
fn a_cpu_of_another_pool_is_refused() {
    let (ours, other) = (pool(1, 16 << 20), pool(1, 16 << 20));
    let cache = Cache::<u64>::new(&ours, "number").unwrap();
    let _ = cache.alloc_on(&other.cpu(CpuId(0)).unwrap(), 1);
}

#[repr(align(65536))]
struct Aligned(u8);

/// The memory used to be aligned to pages only.
#[test]
fn values_are_aligned_beyond_a_page() {
    fn check<B: crate::Backend>() {
        for _ in 0..4 {
            // The system aligns mappings of whole huge pages by itself.
            let builder = Machine::<B>::builder().memory_bytes((16 << 20) + 4096);
            let pool = Pool::new(builder).unwrap();
            let cache = Cache::<Aligned, B>::new(&pool, "aligned").unwrap();
            let all: Vec<_> = (0..4).map(|i| cache.alloc(Aligned(i)).unwrap()).collect();
            for (i, object) in all.iter().enumerate() {
                // The compiler takes a reference's alignment for granted.
                let address = core::hint::black_box(core::ptr::from_ref(&**object).addr());
                assert_eq!(address % 65536, 0, "{}", B::KIND);
                assert_eq!(usize::from(object.0), i);
            }
        }
    }
    check::<Slab>();
    check::<Slub>();
    check::<Slob>();
    check::<Slmb>();
}
