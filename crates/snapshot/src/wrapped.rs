//! What collectors of logs put around a line: the objects of JSON that Docker, journald and others write, and the prefixes of
//! `kubectl logs --prefix` and `docker compose logs`.
//!
//! # How it works
//! The text of the line, and the host and the time beside it, are taken out. In a text of JSON the end of a line of the log ends
//! a line here, so that the end of Docker's object (`","stream":"stdout","time":"..."}`) comes by itself.

use serde_json::{Map, Value};

use crate::stamp::{self, Clock, Stamp};

/// A line that was wrapped.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Wrapped {
    pub(crate) host: Option<String>,
    pub(crate) stamp: Option<Stamp>,
    /// Nothing where only the end of an object came
    pub(crate) text: Option<String>,
}

/// Names of what is wanted, in the objects of Docker, journald, Elastic's agents, Fluentd and others.
const TEXTS: [&str; 5] = ["message", "MESSAGE", "log", "msg", "line"];
const HOSTS: [&str; 5] = ["_HOSTNAME", "hostname", "host", "node", "instance"];
const TIMES: [&str; 4] = ["@timestamp", "time", "timestamp", "ts"];
/// journald counts microseconds.
const MICROSECONDS: &str = "__REALTIME_TIMESTAMP";

/// Returns what a line has, if it is wrapped.
pub(crate) fn of(line: &str) -> Option<Wrapped> {
    let line = line.trim();
    if line.starts_with('{') && line.ends_with('}') {
        return of_json(line);
    }
    if line.starts_with("\",") && line.ends_with('}') {
        // Its begin was the line above.
        let object = serde_json::from_str::<Value>(&format!("{{{}", &line[2..])).ok()?;
        let stamp = time(object.as_object()?);
        return stamp.map(|stamp| Wrapped { stamp: Some(stamp), ..Wrapped::default() });
    }
    of_kubectl(line).or_else(|| of_compose(line))
}

fn of_json(line: &str) -> Option<Wrapped> {
    let object = serde_json::from_str::<Value>(line).ok()?;
    let object = object.as_object()?;
    let text = TEXTS.iter().find_map(|name| object.get(*name)?.as_str())?;
    let host = HOSTS.iter().find_map(|name| match object.get(*name)? {
        Value::String(host) => Some(host.clone()),
        Value::Object(host) => Some(host.get("name")?.as_str()?.to_owned()),
        _ => None,
    });
    Some(Wrapped { host, stamp: time(object), text: Some(text.to_owned()) })
}

fn time(object: &Map<String, Value>) -> Option<Stamp> {
    let micros = object.get(MICROSECONDS).and_then(Value::as_str);
    if let Some(micros) = micros.and_then(|micros| micros.parse::<u64>().ok()) {
        return Some(Stamp { clock: Clock::Date, seconds: micros as f64 / 1e6 });
    }
    let text = TIMES.iter().find_map(|name| object.get(*name)?.as_str())?;
    stamp::of_line(text).filter(|stamp| stamp.clock == Clock::Date)
}

/// Takes `[pod/slabmon-x7k2p/mon] ...`.
fn of_kubectl(line: &str) -> Option<Wrapped> {
    let (prefix, text) = line.strip_prefix("[pod/")?.split_once("] ")?;
    let (pod, _) = prefix.split_once('/')?;
    Some(Wrapped { host: Some(pod.to_owned()), stamp: None, text: Some(text.to_owned()) })
}

/// Takes `mon-a-1  | ...`; a row of a table has more bars.
fn of_compose(line: &str) -> Option<Wrapped> {
    let (name, text) = line.split_once(" | ")?;
    let name = name.trim_end();
    let is_sign = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let (_, number) = name.rsplit_once(['-', '_'])?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_one = is_number && name.chars().all(is_sign) && !text.contains('|');
    is_one.then(|| Wrapped {
        host: Some(name.to_owned()),
        stamp: None,
        text: Some(text.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Paste;

    #[test]
    fn texts_hosts_and_times_are_taken_out() {
        let line = r#"{"@timestamp": "2026-11-20T00:00:00Z", "host": {"name": "a"}, "message": "dentry 1"}"#;
        let found = of(line).unwrap();
        assert_eq!((found.host.as_deref(), found.text.as_deref()), (Some("a"), Some("dentry 1")));
        let journal =
            r#"{"__REALTIME_TIMESTAMP":"1795000000000000","_HOSTNAME":"b","MESSAGE":"x y"}"#;
        let found = of(journal).unwrap();
        assert_eq!(found.stamp.unwrap().seconds, 1_795_000_000.0);
        let end = of("\",\"stream\":\"stdout\",\"time\":\"2026-11-20T00:00:00Z\"}").unwrap();
        assert_eq!((end.text, end.stamp.is_some()), (None, true));
        assert_eq!(of("[pod/one-x7/mon] a b").unwrap().host.as_deref(), Some("one-x7"));
        assert_eq!(of("mon-a-1  | a b").unwrap().text.as_deref(), Some("a b"));
        for none in
            ["| dentry | 1 | 2 |", "dentry 1 2", "{ a }", "{\"cache\": 1}", "kmalloc-64 | 3 | 4"]
        {
            assert_eq!(of(none), None, "{none}");
        }
    }

    #[test]
    fn pods_and_hosts_in_one_log_are_no_moments_of_one() {
        let row = |n: u64| format!("dentry {n} {n} 192 21 1 : tunables 0 0 0 : slabdata {n} {n} 0");
        let forms: [fn(&str, u64, String) -> String; 4] = [
            |host, at, row| format!("[pod/{host}/mon] 2026-11-20T1{at}:00:00.5Z {row}"),
            |host, at, row| format!("{host}-1  | 2026-11-20T1{at}:00:00.5Z {row}"),
            |host, at, row| {
                format!(
                    "{{\"@timestamp\":\"2026-11-20T1{at}:00:00Z\",\"host\":{{\"name\":\"{host}\"}},\"message\":\"{row}\"}}"
                )
            },
            |host, at, row| {
                let micros = 1_795_000_000_000_000 + at * 3_600_000_000;
                format!(
                    "{{\"__REALTIME_TIMESTAMP\":\"{micros}\",\"_HOSTNAME\":\"{host}\",\"MESSAGE\":\"{row}\"}}"
                )
            },
        ];
        for form in forms {
            let moments = (0..4).flat_map(|at| [("web", at), ("db", at)]);
            let lines = moments
                .map(|(host, at)| form(host, at, row(if host == "db" { 9 } else { 5 + at })));
            let text: Vec<String> = lines.collect();
            let paste = Paste::read(text.join("\n").as_bytes()).unwrap();
            assert_eq!(paste.tables.len(), 2, "{}", text[0]);
            for table in &paste.tables {
                let times: Vec<_> =
                    table.moments.iter().map(|moment| moment.time_seconds.unwrap()).collect();
                assert_eq!((times.len(), times[1] - times[0]), (4, 3600.0), "{}", text[0]);
            }
        }
    }

    #[test]
    fn the_time_of_dockers_object_is_that_of_its_line() {
        let line = |hour: u64, objects: u64| {
            format!(
                "{{\"log\":\"dentry {objects} {objects} 192 21 1 : tunables 0 0 0 : slabdata 9 9 0\\n\",\"stream\":\"stdout\",\
                 \"time\":\"2026-11-20T1{hour}:00:00.123456789Z\"}}\n"
            )
        };
        let paste = Paste::read((line(0, 21) + &line(1, 42) + &line(2, 63)).as_bytes()).unwrap();
        let times: Vec<_> =
            paste.tables[0].moments.iter().map(|moment| moment.time_seconds.unwrap()).collect();
        assert_eq!((times[1] - times[0], times[2] - times[1]), (3600.0, 3600.0));
        assert_eq!(crate::apart(&paste, &paste.tables[0]), None);
    }
}
