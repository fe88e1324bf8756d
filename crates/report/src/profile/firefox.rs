//! The processed profile of the Firefox Profiler (profiler.firefox.com), which also speedscope reads.
//!
//! How it works: a thread for each type of value, since a thread's samples have one weight. Frames, functions and strings
//! stand in tables by the column; a stack is a frame and the stack of its caller.
//!
//! Source: `src/types/profile.js` and `docs-developer/CHANGELOG-formats.md` of github.com/firefox-devtools/profiler,
//! processed version 48, which later ones upgrade.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{Profile, ValueType};

/// The version of the format that these tables are in.
const PROCESSED_VERSION: u32 = 48;
/// The version of the format of Firefox's own recordings; nothing of that is used.
const GECKO_VERSION: u32 = 27;

/// Stacks in the making.
#[derive(Debug, Default)]
struct StackTable {
    frames: Vec<u32>,
    callers: Vec<Option<u32>>,
    known: HashMap<(Option<u32>, u32), u32>,
}

impl StackTable {
    /// Returns the number of a stack, innermost frame first.
    fn add(&mut self, calls: &[u32]) -> Option<u32> {
        calls.iter().rev().fold(None, |caller, frame| {
            let next = self.frames.len() as u32;
            let stack = *self.known.entry((caller, *frame)).or_insert(next);
            if stack == next {
                self.frames.push(*frame);
                self.callers.push(caller);
            }
            Some(stack)
        })
    }
}

impl Profile {
    /// Returns it as JSON for the Firefox Profiler.
    #[must_use]
    pub fn firefox(&self) -> String {
        let mut table = StackTable::default();
        let stacks: Vec<_> = self.samples.iter().map(|sample| table.add(&sample.calls)).collect();
        let threads: Vec<Value> =
            (0..self.types.len()).map(|of| self.thread(of, &table, &stacks)).collect();
        let start_ms = self.time_unix_ns as f64 / 1e6;
        let profile = json!({
            "meta": {
                "interval": 1, "startTime": start_ms, "processType": 0, "product": self.title,
                "stackwalk": 1, "debug": false, "version": GECKO_VERSION,
                "preprocessedProfileVersion": PROCESSED_VERSION, "symbolicated": true,
                "categories": [{ "name": "Kernel", "color": "orange", "subcategories": ["Other"] }],
                "markerSchema": [], "importedFrom": "slablab",
            },
            "libs": [], "pages": [], "counters": [], "profilerOverhead": [], "threads": threads,
        });
        profile.to_string()
    }

    fn thread(&self, of: usize, table: &StackTable, stacks: &[Option<u32>]) -> Value {
        let samples: Vec<_> = self.samples.iter().zip(stacks).collect();
        let kept: Vec<_> = samples.iter().filter(|(sample, _)| sample.values[of] != 0).collect();
        let weights: Vec<i64> = kept.iter().map(|(sample, _)| sample.values[of]).collect();
        let of_kept: Vec<_> = kept.iter().map(|(_, stack)| **stack).collect();
        let times: Vec<usize> = (0..kept.len()).collect();
        let (calls, length) = (self.calls.len(), table.frames.len());
        let strings: Vec<_> = self.calls.iter().map(|call| call.function.clone()).collect();
        let modules: Vec<_> = self.calls.iter().map(|call| call.module.clone()).collect();
        let names = [strings, modules].concat();
        let nulls = vec![Value::Null; calls];
        let numbers: Vec<usize> = (0..calls).collect();
        let ValueType { name, unit } = &self.types[of];
        let weight_type = if unit == "bytes" { "bytes" } else { "samples" };
        json!({
            "name": name, "processName": self.title, "processType": "default", "isMainThread": of == 0,
            "processStartupTime": 0, "processShutdownTime": null, "registerTime": 0,
            "unregisterTime": null, "pausedRanges": [], "pid": "0", "tid": of,
            "samples": {
                "stack": of_kept, "time": times, "weight": weights, "weightType": weight_type,
                "length": kept.len(),
            },
            "markers": {
                "data": [], "name": [], "startTime": [], "endTime": [], "phase": [], "category": [],
                "length": 0,
            },
            "stackTable": {
                "frame": table.frames, "prefix": table.callers, "category": vec![0; length],
                "subcategory": vec![0; length], "length": length,
            },
            "frameTable": {
                "address": vec![-1; calls], "inlineDepth": vec![0; calls], "category": nulls,
                "subcategory": nulls, "func": numbers, "nativeSymbol": nulls, "innerWindowID": nulls,
                "implementation": nulls, "line": nulls, "column": nulls, "length": calls,
            },
            "funcTable": {
                "name": numbers, "isJS": vec![false; calls], "relevantForJS": vec![false; calls],
                "resource": vec![-1; calls], "fileName": (calls..2 * calls).collect::<Vec<_>>(),
                "lineNumber": nulls, "columnNumber": nulls, "length": calls,
            },
            "resourceTable": { "lib": [], "name": [], "host": [], "type": [], "length": 0 },
            "nativeSymbols": {
                "libIndex": [], "address": [], "name": [], "functionSize": [], "length": 0,
            },
            "stringArray": names,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Call;

    #[test]
    fn a_thread_of_each_type_has_the_samples_with_a_weight() {
        let of = |name: &str| ValueType { name: name.into(), unit: "bytes".into() };
        let mut profile = Profile { types: vec![of("a"), of("b")], ..Profile::default() };
        let call = |function: &str| Call { function: function.into(), ..Call::default() };
        profile.add([call("g"), call("main")], vec![3, 0], Vec::new());
        profile.add([call("h"), call("main")], vec![4, 5], Vec::new());
        let json: Value = serde_json::from_str(&profile.firefox()).unwrap();
        let threads = json["threads"].as_array().unwrap();
        assert_eq!(threads[0]["samples"]["weight"], json!([3, 4]));
        assert_eq!(threads[1]["samples"]["stack"], json!([2]));
        assert_eq!(threads[0]["stackTable"]["prefix"], json!([null, 0, 0]));
        assert_eq!(threads[0]["stringArray"][1], "main");
    }
}
