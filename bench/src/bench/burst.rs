//! A burst of kernel log lines, as fast as one writer can make them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use gtrace_event::{Event, Kind, Timestamp};
use gtrace_store::{Filter, Reader};

use super::Context;
use crate::corpus::Corpus;
use crate::daemon::Daemon;
use crate::kmsg::KernelLog;
use crate::markers::Marker;
use crate::report::{Figure, Report};

const LINES: usize = 10_000;
/// One line in so many is an Xid.
const SHARE: usize = 10;
const POLL: Duration = Duration::from_millis(20);
const GIVE_UP: Duration = Duration::from_secs(20);

pub(super) fn run(context: &Context) -> anyhow::Result<Report> {
    let xids = LINES / SHARE;
    let mut report = Report::new(
        "burst",
        format!(
            "{LINES} lines written to /dev/kmsg as fast as one thread can, {xids} of them Xids of \
             five forms, no two the same"
        ),
    );
    let daemon = Daemon::start(context, &[])?;
    if let Err(reason) = daemon.source("printk:console")? {
        report.note(reason);
    }
    let mut log = KernelLog::open()?;
    let marker = Marker::new();
    let lines: Vec<String> = lines(&marker);
    let before = [
        daemon.counters("gtrace_lost_total")?,
        daemon.counters("gtrace_source_records_total")?,
    ];

    let since = Timestamp::now();
    let start = Instant::now();
    for line in &lines {
        log.write(line)?;
    }
    let writing = start.elapsed();
    let (stored, whole) = wait(&daemon.store(), since, &marker, start, xids)?;

    // The slower witness may still be at it, and amendments come a tenth of a second later.
    std::thread::sleep(Duration::from_secs(2));
    let events = find(&daemon.store(), since, &marker)?;
    let rate = LINES as f64 / writing.as_secs_f64();
    report.push(
        Figure::new(
            "until every Xid is in the store",
            stored.as_secs_f64() * 1e3,
            "ms",
        )
        .beside(
            "the time that writing the lines took",
            writing.as_secs_f64() * 1e3,
        ),
    );
    report.push(Figure::new("lines written", rate, "lines/s"));
    let lost = xids.saturating_sub(whole.max(events.len()));
    report.push(
        Figure::new("Xids that are not in the store", lost as f64, "")
            .ratio("all Xids written", lost as f64 / xids as f64),
    );
    report.note(format!(
        "the store is looked at every {} ms",
        POLL.as_millis()
    ));
    report.note(format!(
        "Xids in the store by who saw them: {}",
        by_witness(&events)
    ));
    let after = [
        daemon.counters("gtrace_lost_total")?,
        daemon.counters("gtrace_source_records_total")?,
    ];
    for (what, [before, after]) in [
        ("lost", [&before[0], &after[0]]),
        ("read", [&before[1], &after[1]]),
    ] {
        for (labels, count) in risen(before, after) {
            report.note(format!("{what}, {labels}: {count:.0}"));
        }
    }
    report.note("one million ring events a second cannot be made by writers of /dev/kmsg");
    Ok(report)
}

fn lines(marker: &Marker) -> Vec<String> {
    // Chatter alone: no form in the corpus but those marked.
    let mut chatter = Corpus::new(u64::MAX);
    (0..LINES)
        .map(|n| match n % SHARE {
            0 => Corpus::marked_xid(n / SHARE, &marker.mark(n)),
            _ => format!("gtrace-bench: {}", chatter.next_line().0),
        })
        .collect()
}

/// How long until `want` Xids were in the store, or no more came; and how many there are.
fn wait(
    store: &Path,
    since: Timestamp,
    marker: &Marker,
    start: Instant,
    want: usize,
) -> anyhow::Result<(Duration, usize)> {
    let mut have = 0;
    let mut changed = start.elapsed();
    while have < want && start.elapsed() < GIVE_UP {
        let now = find(store, since, marker)?.len();
        if now > have {
            (have, changed) = (now, start.elapsed());
        }
        std::thread::sleep(POLL);
    }
    Ok((changed, have))
}

/// The marked Xids in the store, each once.
fn find(store: &Path, since: Timestamp, marker: &Marker) -> anyhow::Result<Vec<Event>> {
    let filter = Filter {
        since: Some(since),
        kinds: vec![Kind::Xid],
        ..Filter::default()
    };
    let mut events = Reader::open(store)?.query(&filter)?;
    let mut seen = BTreeSet::new();
    events.retain(|e| {
        marker
            .find(e.message.as_bytes())
            .is_some_and(|n| seen.insert(n))
    });
    Ok(events)
}

fn by_witness(events: &[Event]) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for event in events {
        let mut names: Vec<_> = event.witnesses.iter().map(|w| w.source.name()).collect();
        names.sort_unstable();
        *counts.entry(names.join(" and ")).or_default() += 1;
    }
    let parts: Vec<_> = counts
        .iter()
        .map(|(names, n)| format!("{n} by {names}"))
        .collect();
    if parts.is_empty() {
        "none".to_owned()
    } else {
        parts.join(", ")
    }
}

/// Counters that have risen, and by how much.
fn risen<'a>(
    before: &'a BTreeMap<String, f64>,
    after: &'a BTreeMap<String, f64>,
) -> impl Iterator<Item = (&'a str, f64)> {
    after.iter().filter_map(|(labels, value)| {
        let by = value - before.get(labels).copied().unwrap_or(0.0);
        (by > 0.0).then_some((labels.as_str(), by))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_burst_has_as_many_marked_lines_as_it_says_and_all_fit_a_record() {
        let marker = Marker::new();
        let lines = lines(&marker);
        let marked: Vec<_> = lines
            .iter()
            .filter_map(|l| marker.find(l.as_bytes()))
            .collect();
        assert_eq!((lines.len(), marked.len()), (LINES, LINES / SHARE));
        assert!(lines.iter().all(|l| l.len() < 900));
    }

    #[test]
    fn only_counters_that_rose_are_reported() {
        let before = BTreeMap::from([("a".to_owned(), 1.0), ("b".to_owned(), 2.0)]);
        let mut after = before.clone();
        after.insert("a".to_owned(), 4.0);
        after.insert("c".to_owned(), 5.0);
        assert_eq!(
            risen(&before, &after).collect::<Vec<_>>(),
            [("a", 3.0), ("c", 5.0)]
        );
    }
}
