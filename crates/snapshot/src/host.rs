//! Which machine a line is of: prompts, loggers, remote shells and exporters name it.
//!
//! # How it works
//! A host that is named counts for the lines below it, until another one is. Tables of two hosts are two tables, and never
//! moments of one.

/// Returns the host that a cleaned line names.
pub(crate) fn of_line<'a>(words: &[&'a str]) -> Option<&'a str> {
    prompt(words)
        .or_else(|| syslog(words))
        .or_else(|| journal(words))
        .or_else(|| ansible(words))
        .or_else(|| watch(words).map(|(host, _)| host))
        .or_else(|| instance(words))
        // Every machine without a name is called so.
        .filter(|host| *host != "localhost")
}

/// Returns the host that a remote shell writes before each line (`web01: dentry 1 2 3`), and where the line begins.
pub(crate) fn prefix<'a>(words: &[&'a str]) -> Option<&'a str> {
    // What people write before lines of two moments, and loggers before each.
    const OTHERS: [&str; 11] = [
        "kernel", "before", "after", "old", "new", "start", "end", "first", "second", "last", "now",
    ];
    let host = words.first()?.strip_suffix(':')?;
    let is_other = OTHERS.contains(&host.to_ascii_lowercase().as_str());
    is_host(host).then_some(host).filter(|_| !is_other && words.len() > 3)
}

/// Returns whether two names are of one host: a name alone, and the same with its domain.
pub(crate) fn are_one(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let rest = long.strip_prefix(short);
    let is_address = short.starts_with(|c: char| c.is_ascii_digit());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.') && !is_address)
}

/// Returns the host and the words of the time at the head of `watch`: `Every 2.0s: CMD  HOST: Tue Jun 3 11:01:00 2025`.
pub(crate) fn watch<'a, 'b>(words: &'b [&'a str]) -> Option<(&'a str, &'b [&'a str])> {
    if *words.first()? != "Every" || !words.get(1)?.ends_with("s:") {
        return None;
    }
    let is_end = |word: &&str| word.strip_suffix(':').is_some_and(is_host);
    let at = 2 + words[2..].iter().rposition(is_end)?;
    Some((words[at].trim_end_matches(':'), &words[at + 1..]))
}

/// Takes `[root@web01 ~]#`, `root@web01:~#` and `root@web01 ~ #`.
fn prompt<'a>(words: &[&'a str]) -> Option<&'a str> {
    /// Words of a prompt at most.
    const WORDS_MAX: usize = 3;
    let (user, rest) = words.first()?.split_once('@')?;
    let is_user = |c: char| c.is_ascii_alphanumeric() || "[(_-.".contains(c);
    let is_end = |word: &&str| word.ends_with(['#', '$']) || word.ends_with("#]");
    let has_end = words.iter().take(WORDS_MAX).any(is_end);
    let host = rest.split([':', ']', '#', '$']).next()?;
    (has_end && !user.is_empty() && user.chars().all(is_user) && is_host(host)).then_some(host)
}

/// Takes `Jun 3 11:02:33 web01 kernel: ...`.
fn syslog<'a>(words: &[&'a str]) -> Option<&'a str> {
    let [month, _, time, host, program, ..] = words else { return None };
    let is_time = time.len() >= "00:00:00".len() && time.split(':').count() == 3;
    let is_stamp = is_time && month.len() == 3 && program.ends_with(':');
    is_stamp.then_some(*host).filter(|host| is_host(host))
}

/// Takes `2026-03-03T04:15:02+0000 web01 kernel: ...`.
fn journal<'a>(words: &[&'a str]) -> Option<&'a str> {
    let [time, host, program, ..] = words else { return None };
    let is_time = time.contains('T') && time.starts_with(|c: char| c.is_ascii_digit());
    let is_stamp = is_time && time.contains(':') && program.ends_with(':');
    is_stamp.then_some(*host).filter(|host| is_host(host))
}

/// Takes `web01 | CHANGED | rc=0 >>`, whose bars are gone.
fn ansible<'a>(words: &[&'a str]) -> Option<&'a str> {
    let [host, state, code, ..] = words else { return None };
    let is_head = matches!(*state, "CHANGED" | "SUCCESS" | "FAILED") && code.starts_with("rc=");
    is_head.then_some(*host).filter(|host| is_host(host))
}

/// Takes `node_slabinfo_objects{instance="web01:9100",...} 1`.
fn instance<'a>(words: &[&'a str]) -> Option<&'a str> {
    let metric = words.iter().find(|word| word.starts_with("node_") && word.contains('{'))?;
    metric.split_once("instance=\"")?.1.split('"').next()
}

fn is_host(word: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    word.starts_with(|c: char| c.is_ascii_alphanumeric()) && word.chars().all(is_sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_its_domain_is_the_same_host() {
        assert!(are_one("web01", "web01") && are_one("web01.example.org", "web01"));
        assert!(!are_one("web01", "web012") && !are_one("web01", "web02"));
        assert!(!are_one("10.0", "10.0.0.1"));
        let of = |line: &str| prefix(&line.split(' ').collect::<Vec<_>>()).map(str::to_owned);
        assert_eq!(of("web01: dentry 1 2 3").as_deref(), Some("web01"));
        assert_eq!(of("After: dentry 1 2 3"), None);
    }

    #[test]
    fn hosts_are_read_where_prompts_loggers_and_remote_shells_name_them() {
        let of = |line: &str| of_line(&line.split(' ').collect::<Vec<_>>()).map(str::to_owned);
        for (line, host) in [
            ("[root@node1 ~]# cat /proc/slabinfo", Some("node1")),
            ("root@alpha:/var/log# cat /proc/slabinfo", Some("alpha")),
            ("me@beta ~ $ slabtop", Some("beta")),
            ("Jun 3 11:02:33 web01 kernel: Unreclaimable slab info:", Some("web01")),
            ("2026-03-03T04:15:02+0000 box kernel: kmalloc-64 1KB 2KB", Some("box")),
            ("web1 CHANGED rc=0", Some("web1")),
            ("Every 60.0s: cat /proc/slabinfo node3: Tue Jun 3 11:01:00 2025", Some("node3")),
            ("node_slabinfo_objects{instance=\"n1:9100\",slab=\"dentry\"} 3", Some("n1:9100")),
            ("[root@localhost ~]# slabtop", None),
            ("From: someone@example.org", None),
            ("someone@example.org wrote:", None),
            ("dentry 1 2 192 21 1", None),
            ("[ 12.1] kmalloc-64 1KB 2KB", None),
        ] {
            assert_eq!(of(line).as_deref(), host, "{line}");
        }
    }
}
