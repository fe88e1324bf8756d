//! The key sets.

/// A key set: keys that are stored, as many that are not, in ascending order.
pub struct KeySet {
    pub name: String,
    pub present: Vec<u64>,
    pub absent: Vec<u64>,
}

/// A small generator (splitmix64), so that every run has the same keys.
pub struct Random(pub u64);

impl Random {
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.draw()) * u128::from(end)) >> 64) as u64
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

fn set(name: impl Into<String>, mut present: Vec<u64>, mut absent: Vec<u64>) -> KeySet {
    present.sort_unstable();
    present.dedup();
    absent.sort_unstable();
    absent.dedup();
    absent.retain(|key| present.binary_search(key).is_err());
    KeySet { name: name.into(), present, absent }
}

/// 0, 1, 2, ...
pub fn dense(n: u64) -> KeySet {
    set("dense", (0..n).collect(), (n..2 * n).collect())
}

/// `k` random indices of every 64.
pub fn sparse(n: u64, k: u64) -> KeySet {
    let mut random = Random(k);
    let (mut present, mut absent) = (Vec::new(), Vec::new());
    for chunk in 0..n / k {
        let mut offsets: Vec<u64> = (0..64).collect();
        random.shuffle(&mut offsets);
        present.extend(offsets[..k as usize].iter().map(|offset| chunk * 64 + offset));
        absent.extend(
            offsets[k as usize..].iter().take(k as usize).map(|offset| chunk * 64 + offset),
        );
    }
    set(format!("{k} of 64"), present, absent)
}

/// Random 62-bit numbers.
pub fn random(n: u64) -> KeySet {
    let mut random = Random(62);
    let mut draw = || (0..n).map(|_| random.draw() >> 2).collect::<Vec<_>>();
    let (present, absent) = (draw(), draw());
    set("random 62-bit", present, absent)
}

/// Runs of consecutive pages (1 to 512, most of them short) with holes between, as in a file's page cache.
pub fn page_cache(n: u64) -> KeySet {
    let mut random = Random(4096);
    let (mut present, mut absent, mut at) = (Vec::new(), Vec::new(), 0);
    while (present.len() as u64) < n {
        let run = 1 << random.below(10);
        present.extend(at..at + run);
        at += run;
        let hole = 1 << random.below(12);
        absent.extend((at..at + hole).take(run as usize));
        at += hole;
    }
    set("page-cache runs", present, absent)
}

/// Addresses of the kernel's functions: from `SYSTEM_MAP`, or of the kernel that runs.
pub fn kernel_text() -> Option<KeySet> {
    let path = std::env::var("SYSTEM_MAP").unwrap_or_else(|_| "/proc/kallsyms".into());
    let text = std::fs::read_to_string(path).ok()?;
    let functions = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let address = u64::from_str_radix(words.next()?, 16).ok()?;
        let is_function = matches!(words.next()?, "t" | "T");
        // Modules come with their name in brackets.
        (is_function && address >> 40 != 0 && !line.ends_with(']')).then_some(address)
    });
    let present: Vec<u64> = functions.collect();
    let absent = present.iter().map(|address| address + 1).collect();
    (present.len() > 1000).then(|| set("kernel text", present, absent))
}

/// All key sets with about so many keys.
pub fn all(n: u64) -> Vec<KeySet> {
    let mut sets = vec![dense(n)];
    sets.extend([1, 2, 4, 8, 16, 32, 48, 64].map(|k| sparse(n, k)));
    sets.extend([random(n), page_cache(n)]);
    match kernel_text() {
        Some(set) => sets.push(set),
        None => eprintln!("no kernel addresses: set SYSTEM_MAP, or read /proc/kallsyms as root"),
    }
    sets
}
