//! Pages of lists that are read from the newest backwards. A cursor names the oldest entry of the page before, by
//! time and id: what comes anew meanwhile is neither shown twice nor does it hide anything.

use gtrace_event::Timestamp;
use serde_json::Value;

use crate::bound::size;
use crate::source::Refusal;

/// Bytes of JSON of a page, at most: the first entry is always there.
const PAGE_BYTES: usize = 64 * 1024;

/// What a list is ordered by.
pub(crate) type Place = (Timestamp, String);

pub(crate) struct Page {
    /// The newest first.
    pub(crate) entries: Vec<Value>,
    /// What asks for the next page; absent where there is none.
    pub(crate) cursor: Option<String>,
}

/// The place that a cursor names.
pub(crate) fn place(cursor: &str) -> Result<Place, Refusal> {
    let parsed = cursor
        .split_once('/')
        .and_then(|(time, id)| Some((time.parse().ok()?, id.to_owned())));
    parsed.ok_or_else(|| {
        Refusal("the cursor is none that this server gave: leave it out for the newest".to_owned())
    })
}

/// The `limit` newest entries before `cursor`. `read` gives the newest of those before a time, as many as it is
/// asked for, the oldest first; `most` is the most that it takes.
pub(crate) fn back<T: serde::Serialize>(
    cursor: Option<&Place>,
    limit: usize,
    most: usize,
    read: impl Fn(Option<Timestamp>, usize) -> Result<Vec<T>, Refusal>,
    place_of: impl Fn(&T) -> Place,
) -> Result<Page, Refusal> {
    // Entries of the cursor's own time are before it or behind it.
    let until = cursor.map(|(time, _)| {
        let next = time.checked_add(std::time::Duration::from_nanos(1));
        next.unwrap_or(Timestamp::MAX)
    });
    let mut asked = (limit + 1).min(most);
    let mut found = loop {
        let mut found = read(until, asked)?;
        let whole = found.len() < asked || asked >= most;
        // Some of the time of the oldest may not be among them.
        let oldest = found.iter().map(|entry| place_of(entry).0).min();
        if let Some(cursor) = cursor {
            found.retain(|entry| place_of(entry) < *cursor);
        }
        found.sort_by_cached_key(|entry| std::cmp::Reverse(place_of(entry)));
        let last = found.get(limit - 1).map(|entry| place_of(entry).0);
        if whole || last > oldest {
            break found;
        }
        asked = (asked * 2).min(most);
    };
    let more = found.len() > limit;
    found.truncate(limit);
    let mut entries = Vec::new();
    let mut bytes = 0;
    let mut last = None;
    let mut stopped = false;
    for entry in &found {
        let value = serde_json::to_value(entry)?;
        bytes += size(&value);
        if !entries.is_empty() && bytes > PAGE_BYTES {
            stopped = true;
            break;
        }
        last = Some(place_of(entry));
        entries.push(value);
    }
    let cursor = last.filter(|_| more || stopped);
    Ok(Page {
        entries,
        cursor: cursor.map(|(time, id)| format!("{time}/{id}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, serde::Serialize)]
    struct Entry {
        time: Timestamp,
        id: String,
        text: String,
    }

    #[test]
    fn pages_have_each_entry_once_also_where_many_have_one_time() {
        let entries: Vec<Entry> = (0..500)
            .map(|n| Entry {
                // 100 entries of each time.
                time: Timestamp::from_second(i64::from(n / 100)).unwrap(),
                id: format!("{n:04}"),
                text: "t".repeat(if n % 97 == 0 { 70_000 } else { 100 }),
            })
            .collect();
        let read = |until: Option<Timestamp>, limit: usize| {
            let before = entries.iter().filter(|e| until.is_none_or(|t| e.time < t));
            let mut found: Vec<Entry> = before.cloned().collect();
            found.drain(..found.len().saturating_sub(limit));
            Ok(found)
        };
        let place_of = |entry: &Entry| (entry.time, entry.id.clone());
        let mut cursor = None;
        let mut seen = Vec::new();
        loop {
            let page = back(cursor.as_ref(), 20, 1000, read, place_of).unwrap();
            assert!(!page.entries.is_empty() && page.entries.len() <= 20);
            let ids = page
                .entries
                .iter()
                .map(|e| e["id"].as_str().unwrap().to_owned());
            seen.extend(ids);
            match page.cursor {
                Some(next) => cursor = Some(place(&next).unwrap()),
                None => break,
            }
        }
        let all: Vec<String> = (0..500).rev().map(|n| format!("{n:04}")).collect();
        assert_eq!(seen, all);
        assert!(place("yesterday").is_err() && place("2026-03-03T04:05:06Z").is_err());
    }
}
