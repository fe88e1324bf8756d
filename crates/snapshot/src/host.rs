//! Which machine a line is of: prompts, loggers, remote shells and exporters name it.
//!
//! # How it works
//! A host that is named counts for the lines below it, until another one is. Tables of two hosts are two tables, and never
//! moments of one. A word that stands before a row, or alone above a table, may be a host or not ([`prefix`], [`head`]): it
//! counts only where tables of one kind stand under several of them.

/// Returns the host that a cleaned line names.
pub(crate) fn of_line<'a>(words: &[&'a str]) -> Option<&'a str> {
    prompt(words)
        .or_else(|| syslog(words))
        .or_else(|| journal(words))
        .or_else(|| ansible(words))
        .or_else(|| watch(words).map(|(host, _)| host))
        .or_else(|| instance(words))
        .or_else(|| said(words))
        .or_else(|| uname(words))
        // Every machine without a name is called so, and a container by twelve digits: its kernel is that of the machine.
        .filter(|host| *host != "localhost" && !is_container(host))
}

/// Returns what a remote shell writes before each line, a host (`web01: dentry 1 2 3`).
pub(crate) fn prefix<'a>(words: &[&'a str]) -> Option<&'a str> {
    let host = words.first()?.strip_suffix(':')?;
    (is_label(host) && words.len() > 3).then_some(host)
}

/// Returns what may be the name of a host above its table: salt's `web01:`, the word between two rules of clush, and the
/// folder in a head of `tail` (`==> web01/slabinfo <==`).
pub(crate) fn head<'a>(words: &[&'a str], is_below_rule: bool) -> Option<&'a str> {
    match words {
        ["==>", path, "<=="] => {
            let (folder, file) = path.rsplit_once('/')?;
            // The folder of such a file is a cache.
            if matches!(file, "alloc_traces" | "free_traces") {
                return None;
            }
            folder.rsplit('/').next().filter(|name| is_label(name))
        }
        [word] => {
            let name = word.strip_suffix(':').or_else(|| is_below_rule.then_some(word))?;
            // A word of letters alone may say how the machine was.
            let is_name = is_label(name) && !name.chars().all(char::is_alphabetic);
            is_name.then_some(name)
        }
        _ => None,
    }
}

/// Returns whether a line is drawn.
pub(crate) fn is_rule(words: &[&str]) -> bool {
    matches!(words, [rule] if rule.len() >= 3 && rule.bytes().all(|byte| byte == b'-'))
}

/// Returns whether a word can be the name of a host where other words stand as well: neither a number nor what people write
/// before the moments of one.
pub(crate) fn is_label(word: &str) -> bool {
    const MOMENTS: [&str; 8] = [
        "kernel before after old new start end first second third last now then later baseline base",
        "t run sample moment step round snap snapshot day hour minute min time iteration iter pass",
        "test info warn again ago earlier finally previous current initial final next beginning begin middle once",
        "twice one two three four five six today yesterday morning evening noon midnight week month year",
        "idle busy load loaded fresh boot booted reboot rebooted hours minutes days weeks months seconds sec",
        "s h m d an a the fourth fifth sixth seventh part page output log scan",
        "try attempt loop cycle phase stage slab slabinfo slabtop meminfo allocinfo txt log dump out file",
        "data csv",
    ];
    const DAYS_AND_MONTHS: [&str; 19] = [
        "mon", "tue", "wed", "thu", "fri", "sat", "sun", "jan", "feb", "mar", "apr", "may", "jun",
        "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let lower = word.to_ascii_lowercase();
    let stem = lower.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-' || c == '_');
    let is_date = |name: &str| {
        stem.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with("day"))
    };
    is_host(word)
        && word.starts_with(|c: char| c.is_ascii_alphabetic())
        && !MOMENTS.iter().flat_map(|line| line.split(' ')).any(|moment| moment == stem)
        && !DAYS_AND_MONTHS.iter().any(|name| is_date(name))
}

/// Returns whether a line numbers a moment and says no more: `Run 2`.
pub(crate) fn is_moment(words: &[&str]) -> bool {
    /// Moments are not counted any further.
    const DIGITS_MAX: usize = 4;
    let [word, number] = words else { return false };
    let number = number.trim_end_matches(':');
    // `slab 40960` is a line of memory.stat.
    let is_number = (1..=DIGITS_MAX).contains(&number.len())
        && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_word = word.chars().all(|c| c.is_ascii_alphabetic());
    is_number && is_word && (!is_label(word) || is_noun(word))
}

/// Returns whether a word is one behind which the name of a machine stands.
pub(crate) fn is_noun(word: &str) -> bool {
    const NOUNS: [&str; 10] =
        ["server", "host", "hostname", "machine", "node", "box", "vm", "ct", "guest", "instance"];
    NOUNS.iter().any(|noun| word.eq_ignore_ascii_case(noun))
}

/// Returns whether two names are of one host: a name alone, and the same with its domain.
pub(crate) fn are_one(a: &str, b: &str) -> bool {
    let (a, b) = (a.to_ascii_lowercase(), b.to_ascii_lowercase());
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let rest = long.strip_prefix(&short);
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

/// Takes `[root@web01 ~]#`, `root@web01:~#` and `root@web01 ~ #`; of `[me@laptop ~]$ ssh web01 cat FILE` the host that is asked.
fn prompt<'a>(words: &[&'a str]) -> Option<&'a str> {
    /// Words of a prompt at most.
    const WORDS_MAX: usize = 3;
    let (user, rest) = words.first()?.split_once('@')?;
    let is_user = |c: char| c.is_ascii_alphanumeric() || "[(_-.".contains(c);
    let is_end = |word: &&str| word.ends_with(['#', '$']) || word.ends_with("#]");
    let has_end = words.iter().take(WORDS_MAX).any(is_end);
    let host = rest.split([':', ']', '#', '$']).next()?;
    let is_prompt = has_end && !user.is_empty() && user.chars().all(is_user) && is_host(host);
    is_prompt.then(|| asked(words).unwrap_or(host))
}

/// Returns the host that a command asks by `ssh`.
fn asked<'a>(words: &[&'a str]) -> Option<&'a str> {
    /// Options that have a word behind them.
    const WITH_WORD: [&str; 6] = ["-p", "-i", "-l", "-o", "-F", "-J"];
    let at = words.iter().position(|word| *word == "ssh")?;
    let mut rest = words[at + 1..].iter();
    let host = loop {
        let word = rest.next()?;
        match word.starts_with('-') {
            true if WITH_WORD.contains(word) => _ = rest.next(),
            true => {}
            false => break word,
        }
    };
    let host = host.rsplit('@').next()?;
    // Without a command it is the prompt of that host which says where the table is from.
    (is_host(host) && rest.next().is_some()).then_some(host)
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
    // Loggers of other kinds write a level and a program there.
    let is_program = *program == "kernel:" || program.ends_with("]:");
    let is_stamp = is_time && time.contains(':') && is_program;
    is_stamp.then_some(*host).filter(|host| is_host(host))
}

/// Takes `web01 | CHANGED | rc=0 >>`, whose bars are gone, and `ok: [web01] => {`.
fn ansible<'a>(words: &[&'a str]) -> Option<&'a str> {
    if let ["ok:" | "changed:", host, "=>", ..] = words {
        let host = host.strip_prefix('[')?.strip_suffix(']')?;
        return is_host(host).then_some(host);
    }
    // pssh: `[1] 10:12:00 [SUCCESS] web01`.
    if let [_, time, "[SUCCESS]" | "[FAILURE]", host, ..] = words {
        return (time.contains(':') && is_host(host)).then_some(*host);
    }
    let [host, state, code, ..] = words else { return None };
    let is_head = matches!(*state, "CHANGED" | "SUCCESS" | "FAILED") && code.starts_with("rc=");
    is_head.then_some(*host).filter(|host| is_host(host))
}

/// Takes `node_slabinfo_objects{instance="web01:9100",...} 1`.
fn instance<'a>(words: &[&'a str]) -> Option<&'a str> {
    let metric = words.iter().find(|word| word.starts_with("node_") && word.contains('{'))?;
    metric.split_once("instance=\"")?.1.split('"').next()
}

/// Takes `Hostname: web01`, `"host": "web01"`, and `NODENAME: web01` of crash.
fn said<'a>(words: &[&'a str]) -> Option<&'a str> {
    let [name, host] = words else { return None };
    let name = name.trim_matches(['"', ':']).to_ascii_lowercase();
    let host = host.trim_matches(['"', ',', ':']);
    let is_name = matches!(&name[..], "host" | "hostname" | "nodename" | "server" | "machine");
    let is_named = is_host(host) && host.starts_with(|c: char| c.is_ascii_alphabetic());
    (is_name && is_named).then_some(host)
}

/// Takes what `uname -a` prints: `Linux web01 6.1.0-18-amd64 #1 SMP ... GNU/Linux`.
fn uname<'a>(words: &[&'a str]) -> Option<&'a str> {
    let at = words.iter().position(|word| *word == "Linux")?;
    let [host, release, build, ..] = words.get(at + 1..)? else { return None };
    let is_release = release.starts_with(|c: char| c.is_ascii_digit()) && release.contains('.');
    (is_release && build.starts_with('#') && is_host(host)).then_some(*host)
}

/// Returns the memory cgroup whose numbers stand in this line or below it, by the file that `grep`, `tail` or `cat` names, or by
/// the OOM killer's words.
pub(crate) fn cgroup<'a>(line: &'a str, words: &[&'a str]) -> Option<&'a str> {
    const STAT: &str = "/memory.stat";
    let of_kernel = || {
        let at = words.windows(4).position(|w| w == ["Memory", "cgroup", "stats", "for"])?;
        words.get(at + 4).map(|path| path.trim_end_matches(':'))
    };
    let of_file = || {
        let word = line.split_whitespace().find(|word| word.contains(STAT))?;
        let folder = word.split(STAT).next()?;
        folder.starts_with('/').then_some(folder)
    };
    let name = of_kernel().or_else(of_file)?;
    let name = name.strip_prefix("/sys/fs/cgroup").unwrap_or(name);
    Some(if name.is_empty() { "/" } else { name })
}

/// Returns the kernel that a line names: of `uname -a`, or of the banner of a boot (`Linux version 6.1.0-18-amd64`).
pub(crate) fn release<'a>(words: &[&'a str]) -> Option<&'a str> {
    let at = words.iter().position(|word| *word == "Linux")?;
    let is_release =
        |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.split('.').count() > 2;
    match words.get(at + 1..)? {
        ["version", release, ..] => Some(*release).filter(is_release),
        [_, release, build, ..] if build.starts_with('#') => Some(*release).filter(is_release),
        _ => None,
    }
}

fn is_container(host: &str) -> bool {
    const DIGITS: usize = 12;
    host.len() == DIGITS && host.bytes().all(|byte| byte.is_ascii_hexdigit())
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
        for moment in ["After", "t0", "Mon", "baseline", "1", "sample-3", "Tuesday", "Jun"] {
            assert_eq!(of(&format!("{moment}: dentry 1 2 3")), None, "{moment}");
        }
        assert!(are_one("WEB01", "web01.example.org"));
        assert_eq!(head(&["==>", "web01/slabinfo", "<=="], false), Some("web01"));
        assert_eq!(head(&["==>", "slab.1", "<=="], false), None);
        assert_eq!(
            (head(&["web01:"], false), head(&["web01"], true)),
            (Some("web01"), Some("web01"))
        );
        assert_eq!((head(&["web01"], false), head(&["after:"], false)), (None, None));
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
            ("2026-03-03T04:15:02Z INFO slabmon: dentry 1 2", None),
            ("2026-03-03T04:15:02Z first sample: dentry 1 2", None),
            ("[me@laptop ~]$ ssh -p 22 root@web01 cat /proc/slabinfo", Some("web01")),
            ("[me@laptop ~]$ ssh web01", Some("laptop")),
            ("web1 CHANGED rc=0", Some("web1")),
            ("ok: [web1] => {", Some("web1")),
            ("[1] 10:12:00 [SUCCESS] node01", Some("node01")),
            ("Every 60.0s: cat /proc/slabinfo node3: Tue Jun 3 11:01:00 2025", Some("node3")),
            ("node_slabinfo_objects{instance=\"n1:9100\",slab=\"dentry\"} 3", Some("n1:9100")),
            ("[root@localhost ~]# slabtop", None),
            ("Linux web1 6.1.0-18-amd64 #1 SMP Debian x86_64 GNU/Linux", Some("web1")),
            ("Linux version 6.1.0 (gcc) #1 SMP", None),
            ("NODENAME: web1", Some("web1")),
            ("\"host\": \"web1\",", Some("web1")),
            ("Host: 3", None),
            ("root@3f2a9c1b77de:/# slabtop", None),
            ("From: someone@example.org", None),
            ("someone@example.org wrote:", None),
            ("dentry 1 2 192 21 1", None),
            ("[ 12.1] kmalloc-64 1KB 2KB", None),
        ] {
            assert_eq!(of(line).as_deref(), host, "{line}");
        }
    }
}
