//! One moment of the running kernel: slabinfo, the slab lines of meminfo, vmstat and memory cgroups, allocinfo.
//!
//! Caches without slabs are left out, and of allocinfo and the cgroups what is largest; a list that lacks entries says
//! nothing of them.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use slablab_snapshot::iso_time;
use slablab_trace::is_cache_name;

/// Call sites of allocinfo that are kept.
const SITES_MAX: usize = 200;
/// Memory cgroups that are kept, and how many are looked at.
const CGROUPS_MAX: usize = 100;
const CGROUPS_READ_MAX: usize = 2000;

/// Where the tables are.
pub(super) struct Sources {
    root: PathBuf,
    /// Whether the kernel counts a cache as reclaimable, which never changes
    reclaimable: HashMap<String, Option<bool>>,
}

impl Sources {
    pub(super) fn of_this_machine() -> Self {
        Self::below(Path::new("/"))
    }

    /// Those of a machine whose files lie below `root`.
    pub(super) fn below(root: &Path) -> Self {
        Self { root: root.to_owned(), reclaimable: HashMap::new() }
    }

    /// Reads a moment, which is at `seconds` since 1970.
    ///
    /// # Errors
    ///
    /// If slabinfo cannot be read.
    pub(super) fn moment(&mut self, seconds: u64) -> Result<String> {
        let path = self.root.join("proc/slabinfo");
        let slabinfo = fs::read_to_string(&path).with_context(|| {
            format!("{}: cannot read; it needs root, and a kernel that has it", path.display())
        })?;
        let mut text = format!("{}\n", iso_time(seconds));
        self.of_machine(&mut text);
        self.of_slabinfo(&slabinfo, &mut text);
        self.of_allocinfo(&mut text);
        self.of_cgroups(&mut text);
        Ok(text)
    }

    fn of_machine(&self, text: &mut String) {
        const MEMINFO: [&str; 5] =
            ["MemTotal:", "MemAvailable:", "Slab:", "SReclaimable:", "SUnreclaim:"];
        const VMSTAT: [&str; 2] = ["slabs_scanned", "drop_slab"];
        for (file, names) in [("proc/meminfo", &MEMINFO[..]), ("proc/vmstat", &VMSTAT[..])] {
            let Ok(all) = fs::read_to_string(self.root.join(file)) else { continue };
            let is_wanted = |line: &&str| {
                line.split_whitespace().next().is_some_and(|name| names.contains(&name))
            };
            all.lines().filter(is_wanted).for_each(|line| push_words(text, line));
        }
    }

    fn of_slabinfo(&mut self, slabinfo: &str, text: &mut String) {
        for line in slabinfo.lines() {
            let mut words = line.split_whitespace();
            let (Some(name), slots) = (words.next(), words.nth(1)) else { continue };
            // Headings have a word there in place of a number.
            if slots == Some("0") || name == "#" {
                continue;
            }
            push_words(text, line);
            if name == "slabinfo" {
                continue;
            }
            text.pop();
            text.push_str(match self.is_reclaimable(name) {
                Some(true) => " : reclaimable\n",
                Some(false) => " : kept\n",
                None => "\n",
            });
        }
    }

    fn is_reclaimable(&mut self, name: &str) -> Option<bool> {
        if let Some(known) = self.reclaimable.get(name) {
            return *known;
        }
        let file = self.root.join("sys/kernel/slab").join(name).join("reclaim_account");
        let flag = fs::read_to_string(file).ok().filter(|_| is_cache_name(name));
        let flag = flag.map(|flag| flag.trim() == "1");
        self.reclaimable.insert(name.to_owned(), flag);
        flag
    }

    fn of_allocinfo(&self, text: &mut String) {
        let Ok(all) = fs::read_to_string(self.root.join("proc/allocinfo")) else { return };
        let bytes = |line: &str| {
            line.split_whitespace().next()?.parse::<u64>().ok().filter(|bytes| *bytes > 0)
        };
        let mut rows: Vec<(u64, &str)> =
            all.lines().filter_map(|line| Some((bytes(line)?, line))).collect();
        rows.sort_by(|a, b| b.cmp(a));
        rows.iter().take(SITES_MAX).for_each(|(_, line)| push_words(text, line));
    }

    fn of_cgroups(&self, text: &mut String) {
        let mut folders = vec![self.root.join("sys/fs/cgroup")];
        let mut found: Vec<(u64, String)> = Vec::new();
        let mut read = 0;
        while let Some(folder) = folders.pop().filter(|_| read < CGROUPS_READ_MAX) {
            read += 1;
            found.extend(self.of_cgroup(&folder));
            let Ok(below) = fs::read_dir(&folder) else { continue };
            let is_folder =
                |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
            folders.extend(below.flatten().filter(is_folder).map(|entry| entry.path()));
        }
        found.sort_by(|a, b| b.cmp(a));
        found.iter().take(CGROUPS_MAX).for_each(|(_, line)| text.push_str(line));
    }

    fn of_cgroup(&self, folder: &Path) -> Option<(u64, String)> {
        let all = fs::read_to_string(folder.join("memory.stat")).ok()?;
        let number = |name: &str| {
            let line = all.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
            line.trim().parse::<u64>().ok()
        };
        let (given_back, kept) = (number("slab_reclaimable")?, number("slab_unreclaimable")?);
        let name = folder.strip_prefix(self.root.join("sys/fs/cgroup")).ok()?;
        // A blank in a name would end the word.
        let name: String = name
            .to_string_lossy()
            .chars()
            .map(|c| if c.is_ascii_graphic() { c } else { '?' })
            .collect();
        let mut line = String::new();
        let _ = writeln!(
            line,
            "cgroup /{name} slab_reclaimable {given_back} slab_unreclaimable {kept}"
        );
        Some((given_back.saturating_add(kept), line)).filter(|(bytes, _)| *bytes > 0)
    }
}

/// Adds a line with single blanks between its words.
fn push_words(text: &mut String, line: &str) {
    for (at, word) in line.split_whitespace().enumerate() {
        if at > 0 {
            text.push(' ');
        }
        text.push_str(word);
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use slablab_snapshot::{Kind, Paste, holders};

    use super::*;

    /// A machine with allocinfo and cgroups, which not every kernel has.
    #[test]
    fn a_moment_has_all_tables_and_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let row = |name: &str, slabs: u64| {
            let n = slabs * 21;
            format!(
                "{name}   {n}  {n}   192   21    1 : tunables 0 0 0 : slabdata {slabs} {slabs}   0\n"
            )
        };
        let heading = "slabinfo - version: 2.1\n# name            <active_objs> <num_objs>\n";
        write(
            "proc/slabinfo",
            &format!("{heading}{}{}{}", row("filp", 40), row("odd_cache", 7), row("empty", 0)),
        );
        write(
            "proc/meminfo",
            "MemTotal:  1000 kB\nMemFree: 1 kB\nSlab:   188 kB\nSReclaimable: 28 kB\nSUnreclaim: 160 kB\n",
        );
        write("proc/vmstat", "nr_slab_reclaimable 7\nslabs_scanned 99\n");
        write(
            "proc/allocinfo",
            "allocinfo - version: 1.0\n# <size>\n  0  0 a.c:1 func:none\n 4096 2 fs/b.c:7 func:two\n",
        );
        write("sys/kernel/slab/odd_cache/reclaim_account", "1\n");
        write(
            "sys/fs/cgroup/app.slice/memory.stat",
            "anon 1\nslab_reclaimable 100\nslab_unreclaimable 4000\nslab 4100\n",
        );
        let text = Sources::below(folder.path()).moment(1_772_510_401).unwrap();
        let paste = Paste::read(text.as_bytes()).unwrap();
        let kinds: Vec<Kind> = paste.tables.iter().map(|table| table.kind).collect();
        assert_eq!(kinds, [Kind::Slabinfo, Kind::Allocinfo, Kind::Cgroup, Kind::Meminfo], "{text}");
        let slabinfo = paste.tables[0].last();
        assert_eq!(slabinfo.time_seconds, Some(1_772_510_401.0));
        assert_eq!(slabinfo.entries.len(), 2, "{text}");
        assert_eq!(slabinfo.entries[1].reclaimable, Some(true), "the machine's own flag counts");
        assert_eq!(holders(slabinfo.clone()).given_back_bytes, 7 * 4096);
        assert_eq!(paste.machine[0].machine.slab_bytes, Some(188 << 10));
        assert_eq!(paste.machine[0].machine.unreclaimable_bytes, Some(160 << 10));
        let cgroup = &paste.tables[2].last().entries[0];
        assert_eq!((cgroup.name.as_str(), cgroup.live_bytes), ("/app.slice", Some(4100)));
        assert!(Sources::below(&folder.path().join("none")).moment(0).is_err());
    }
}
