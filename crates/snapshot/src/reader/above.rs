//! What stands around rows: hosts, files, quote marks, and what shows that the machine has booted.

use super::{CGROUPS, CLOCK_SHARE_MAX, Host, Reader, TableId};
use crate::host;
use crate::rows::{Found, READERS, alloc_traces};
use crate::stamp::{Clock, Stamp};

impl Reader {
    /// Takes what stands before the words of a line: quote marks, and a file's name that `grep` puts there.
    pub(super) fn find_place(&mut self, line: &str, words: &[&str]) {
        if let Some(cache) = alloc_traces::cache(words) {
            self.traced_cache = Some(cache.to_owned());
        }
        if let Some(cgroup) = host::cgroup(line, words) {
            self.name_cgroup(cgroup);
        }
        let line = line.trim_start();
        let marks = line.chars().take_while(|c| matches!(c, '>' | ' '));
        self.above.quotes = marks.filter(|c| *c == '>').count();
        let first = line.split_whitespace().next().unwrap_or_default();
        let file = first.split_once(':').map(|(file, _)| file).filter(|file| file.contains('/'));
        // Numbers and the cache's own name are of the row.
        let word = words[0];
        let is_before = || {
            let is_count = word.starts_with(|c: char| c.is_ascii_digit()) && !word.contains('.');
            !is_count && words.get(1).is_some_and(|next| next.contains(char::is_alphabetic))
        };
        let before: &[&str] = match file {
            Some(file) => &[file],
            None if words.len() > 1 && is_before() => &words[..1],
            None => &[],
        };
        self.above.heading.before(before);
    }

    /// Takes a line that shows that the machine has booted since: its clock begins anew, or it says so, or names another kernel.
    pub(super) fn find_boot(&mut self, words: &[&str], stamp: Option<Stamp>) {
        let is_command = words[0].contains('@') && words.last() == Some(&"reboot");
        // A log that is printed again begins at 0, too, but has no dates.
        let is_dated = stamp.is_some_and(|stamp| stamp.clock != Clock::Boot);
        let is_banner = is_dated
            && words.windows(2).any(|two| two == ["Linux", "version"])
            && self.line_seconds.is_some_and(|seconds| seconds < 1.0);
        let is_uptime = words.contains(&"up") && stamp.is_some_and(|of| of.clock == Clock::Boot);
        let uptime = stamp.filter(|_| is_uptime).map(|stamp| stamp.seconds);
        let begins = uptime.is_some_and(|seconds| seconds < self.uptime_seconds * CLOCK_SHARE_MAX);
        self.uptime_seconds = uptime.unwrap_or(self.uptime_seconds);
        let other_kernel = host::release(words).is_some_and(|release| {
            let before = self.release.replace(release.to_owned());
            before.is_some_and(|before| before != release)
        });
        self.above.boot += u32::from(is_command || is_banner || begins || other_kernel);
    }

    /// Takes the host that a line names, for itself and for those below it.
    pub(super) fn find_host(&mut self, words: &[&str]) {
        let column = self.host_column.and_then(|at| words.get(at).copied());
        let label = || host::head(words, self.is_below_rule).or_else(|| self.prefix(words));
        let named = host::of_line(words).or(column).map(|name| (name, false));
        if let Some((name, is_label)) = named.or_else(|| Some((label()?, true))) {
            self.name_host(name, is_label);
        }
        self.is_below_rule = host::is_rule(words);
    }

    /// Returns the host before a line that is a row or a heading without it.
    pub(super) fn prefix<'a>(&self, words: &[&'a str]) -> Option<&'a str> {
        let host = host::prefix(words)?;
        let rest = &words[1..];
        let is_heading = || READERS.iter().any(|reader| (reader.is_heading)(rest));
        let is_row = || matches!(self.found(rest), Some((_, Found::Row(_) | Found::Part(Some(_)))));
        (is_heading() || is_row()).then_some(host)
    }

    /// Takes the name of the host that the lines from here on are of.
    pub(super) fn name_host(&mut self, name: &str, is_label: bool) {
        let known = self.hosts.iter().position(|known| host::are_one(&known.name, name));
        let host = known.unwrap_or_else(|| {
            self.hosts.push(Host { name: name.to_owned(), is_label });
            self.hosts.len() - 1
        });
        if host != self.host {
            // What waits for its rest is of the host before.
            self.close();
            self.end_cut();
            self.host = host;
        }
        self.hosts[self.host].is_label &= is_label;
    }

    /// Takes the memory cgroup that the next numbers of `memory.stat` are of.
    fn name_cgroup(&mut self, name: &str) {
        let known = self.cgroups.iter().position(|known| known == name);
        self.cgroup = Some(known.unwrap_or_else(|| {
            self.cgroups.push(name.to_owned());
            self.cgroups.len() - 1
        }));
    }

    /// Returns whether what was named is several hosts: two that nothing else can be, or tables of one kind under several
    /// words that may be hosts.
    pub(super) fn has_hosts(&self) -> bool {
        let is_used = |host: usize| {
            let has_table = self.tables.keys().any(|(_, of)| *of == host);
            has_table || self.machine.iter().any(|said| said.host == host)
        };
        let sure = (0..self.hosts.len()).filter(|at| !self.hosts[*at].is_label && is_used(*at));
        let of_machine = || self.machine.iter().any(|said| said.host != self.machine[0].host);
        let of_kind = |(kind, host): &TableId| {
            let is_other = |(other, of): &TableId| other == kind && of != host && *of < CGROUPS;
            *host < CGROUPS && self.tables.keys().any(is_other)
        };
        sure.count() > 1 || of_machine() || self.tables.keys().any(of_kind)
    }
}
