//! Rows that name a cache again without a new moment: of one list, or of lists that were put together by cache.

use std::collections::HashMap;

use crate::entry::Entry;
use crate::moment::GrowingMoment;
use crate::rows::Kind;

/// Puts the begin of a list below a heading to its rest, where several devices have the same caches and stand first: a list of
/// few rows above a long one was no list.
pub(crate) fn join_twins(moments: &mut Vec<GrowingMoment>, kind: Kind) {
    let mut at = 0;
    while at < moments.len() {
        let more =
            moments[at + 1..].iter().take_while(|moment| !moment.is_below && !moment.is_lost);
        let end = at + 1 + more.count();
        let group = &moments[at..end];
        let rows = |moment: &GrowingMoment| moment.entries.len();
        let most = group.iter().map(rows).max().unwrap_or(0);
        let parts = group.iter().take_while(|moment| rows(moment) * 2 <= most).count();
        // A few rows below a long list are the rest of it.
        let last = group.last().filter(|last| group.len() > 1 && rows(last) * REST_ONE_IN <= most);
        let rest = usize::from(last.is_some());
        if !moments[at].is_headed {
            at = end;
            continue;
        }
        for moment in moments.drain(at + 1..=at + parts).collect::<Vec<_>>() {
            moment.entries.into_iter().for_each(|entry| moments[at].take(kind, entry));
        }
        let end = end - parts;
        if rest > 0 && end - at > 1 {
            let moment = moments.remove(end - 1);
            let whole = end - 2;
            moment.entries.into_iter().for_each(|entry| moments[whole].take(kind, entry));
        }
        at = end - rest.min(end - at - 1);
    }
}

/// Of a list, rows that name caches again are the rest of it if they are at most this part.
const REST_ONE_IN: usize = 8;

/// Takes rows that stand by cache, as `grep -h` over several files gives them: the last row of each cache is of the last
/// moment, the one before of the moment before.
pub(crate) fn turn_groups(moments: &mut Vec<GrowingMoment>, kind: Kind) {
    /// A list may name some caches twice, and of a series by cache most have several rows.
    const GROUPED_ONE_IN: usize = 2;
    let is_plain = |moment: &GrowingMoment| !moment.is_below && !moment.is_lost;
    if moments.len() < 2 || !moments.iter().all(is_plain) || moments.iter().any(|m| m.has_time()) {
        return;
    }
    let mut groups: Vec<Vec<Entry>> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for entry in moments.iter().flat_map(|moment| &moment.entries) {
        match places.get(&entry.name) {
            Some(at) if at + 1 == groups.len() => groups[*at].push(entry.clone()),
            // It is named again below others: such rows stand by moment.
            Some(_) => return,
            None => {
                places.insert(entry.name.clone(), groups.len());
                groups.push(vec![entry.clone()]);
            }
        }
    }
    let most = groups.iter().map(Vec::len).max().unwrap_or(0);
    let grouped = groups.iter().filter(|group| group.len() == most).count();
    if groups.len() < 2 || most < 2 || grouped * GROUPED_ONE_IN < groups.len() {
        return;
    }
    let mut turned: Vec<GrowingMoment> = Vec::new();
    turned.resize_with(most, GrowingMoment::default);
    for group in groups {
        let first = most - group.len();
        for (moment, entry) in turned[first..].iter_mut().zip(group) {
            moment.take(kind, entry);
        }
    }
    *moments = turned;
}
