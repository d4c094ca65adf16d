//! Events in order of time over all days, each with its amendments and acknowledgements.
//!
//! The days' time indexes are merged a page of keys at a time, so memory does not grow with the
//! store. An amendment may be days away from its event; the ids that a day's amendments are about
//! lie close together, and their range shows which days to read.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::ControlFlow;

use gtrace_event::{Event, EventId, Record, nanos};
use rusqlite::{OptionalExtension, Transaction};

use crate::Filter;
use crate::schema::{Day, sql_int};

const PAGE: usize = 256;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    OldestFirst,
    NewestFirst,
}

impl Order {
    /// Makes rising order of what the order wants first.
    fn rank(self, (time, seq): (i64, i64)) -> (i64, i64) {
        match self {
            Self::OldestFirst => (time, seq),
            Self::NewestFirst => (!time, !seq),
        }
    }
}

/// What the time index has of an event.
struct Key {
    at: (i64, i64),
    severity: Option<String>,
    pci: Option<String>,
    id: String,
}

/// The index of a day's events, or that of all its other records.
#[derive(Clone, Copy)]
enum Index {
    Event,
    Later,
}

/// A day, and the first and the last id that an index of it has.
pub(crate) struct Span<'a> {
    day: &'a Day,
    first: String,
    last: String,
}

impl Span<'_> {
    /// Whether the day may have `id`.
    fn may_have(&self, id: &str) -> bool {
        self.first.as_str() <= id && id <= self.last.as_str()
    }
}

pub(crate) struct Walk<'a> {
    /// Reads a stored record; `None` for one that this version cannot read.
    parse: &'a dyn Fn(&str) -> Option<Record>,
    tx: &'a Transaction<'a>,
    days: &'a [Day],
    filter: &'a Filter,
    /// The days with amendments or acknowledgements.
    later: Vec<Span<'a>>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(
        parse: &'a dyn Fn(&str) -> Option<Record>,
        tx: &'a Transaction<'a>,
        days: &'a [Day],
        filter: &'a Filter,
    ) -> rusqlite::Result<Self> {
        Ok(Self {
            parse,
            tx,
            days,
            filter,
            later: spans(tx, days, Index::Later)?,
        })
    }

    /// Gives every event that matches to `f`.
    pub(crate) fn run(
        &self,
        order: Order,
        f: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> rusqlite::Result<()> {
        if let Some(id) = self.filter.id {
            if let Some(event) = self.by_id(&id.to_string())?
                && self.filter.matches(&event)
            {
                let _ = f(event);
            }
            return Ok(());
        }
        let mut cursors = Vec::new();
        let mut heap = BinaryHeap::new();
        for day in self.days {
            let mut cursor = DayCursor::new(day, order, self.filter);
            if let Some(at) = cursor.peek(self.tx)? {
                heap.push(Reverse((order.rank(at), cursors.len())));
                cursors.push(cursor);
            }
        }
        while let Some(Reverse((_, i))) = heap.pop() {
            let cursor = &mut cursors[i];
            let Some(key) = cursor.page.pop_front() else {
                continue;
            };
            let day = cursor.day;
            if let Some(at) = cursor.peek(self.tx)? {
                heap.push(Reverse((order.rank(at), i)));
            }
            if let Some(event) = self.event(day, &key)?
                && f(event).is_break()
            {
                break;
            }
        }
        Ok(())
    }

    /// The event `id`, folded, whether it matches or not.
    pub(crate) fn by_id(&self, id: &str) -> rusqlite::Result<Option<Event>> {
        self.in_days(self.days.iter().rev(), id)
    }

    /// The days with events, for [`Self::by_ids`].
    pub(crate) fn days_of_events(&self) -> rusqlite::Result<Vec<Span<'a>>> {
        spans(self.tx, self.days, Index::Event)
    }

    /// The events `ids`, folded, in this order, without those that no day of `spans` has.
    pub(crate) fn by_ids(
        &self,
        spans: &[Span<'_>],
        ids: &[EventId],
    ) -> rusqlite::Result<Vec<Event>> {
        let mut events = Vec::with_capacity(ids.len());
        for id in ids {
            let id = id.to_string();
            let found = spans.iter().rev().filter(|span| span.may_have(&id));
            events.extend(self.in_days(found.map(|span| span.day), &id)?);
        }
        Ok(events)
    }

    /// The event `id` of the first of `days` that has it, folded.
    fn in_days<'d>(
        &self,
        days: impl Iterator<Item = &'d Day>,
        id: &str,
    ) -> rusqlite::Result<Option<Event>> {
        for day in days {
            if let Some(body) = first_body(self.tx, day, id)? {
                return self.fold(&body, id);
            }
        }
        Ok(None)
    }

    /// The event behind `key`, if it matches.
    fn event(&self, day: &Day, key: &Key) -> rusqlite::Result<Option<Event>> {
        let may = self
            .filter
            .may_match(key.severity.as_deref(), key.pci.as_deref());
        if !may && self.later_of(&key.id).next().is_none() {
            return Ok(None);
        }
        let sql = format!("SELECT body FROM \"{}\" WHERE seq = ?1", day.name);
        let body: String = self
            .tx
            .prepare_cached(&sql)?
            .query_row([key.at.1], |row| row.get(0))?;
        let event = self.fold(&body, &key.id)?;
        Ok(event.filter(|event| self.filter.matches(event)))
    }

    /// The days that may hold amendments or acknowledgements of the event.
    fn later_of(&self, id: &str) -> impl Iterator<Item = &Span<'a>> {
        self.later.iter().filter(move |span| span.may_have(id))
    }

    fn fold(&self, body: &str, id: &str) -> rusqlite::Result<Option<Event>> {
        let Some(Record::Event(mut event)) = (self.parse)(body) else {
            return Ok(None);
        };
        for later in self.later_of(id) {
            each_later(self.tx, later.day, (id, u64::MAX), |body| {
                match (self.parse)(body) {
                    Some(Record::Amendment(amendment)) => event.apply(&amendment),
                    Some(Record::Ack(ack)) => event.acks.push(ack),
                    Some(Record::Event(_) | Record::Incident(_) | Record::Health(_)) | None => {}
                }
            })?;
        }
        Ok(Some(*event))
    }
}

/// The first record of the event `id` in a day.
pub(crate) fn first_body(
    tx: &Transaction<'_>,
    day: &Day,
    id: &str,
) -> rusqlite::Result<Option<String>> {
    let t = &day.name;
    let sql = format!(
        "SELECT body FROM \"{t}\" INDEXED BY \"{t}_event\"
         WHERE record = 'event' AND event_id = ?1 ORDER BY seq LIMIT 1"
    );
    let mut statement = tx.prepare_cached(&sql)?;
    statement.query_row([id], |row| row.get(0)).optional()
}

/// Gives what a day has of the event `id` beside its first record, before the record `end`, to `take`.
pub(crate) fn each_later(
    tx: &Transaction<'_>,
    day: &Day,
    (id, end): (&str, u64),
    mut take: impl FnMut(&str),
) -> rusqlite::Result<()> {
    let t = &day.name;
    let sql = format!(
        "SELECT body FROM \"{t}\" INDEXED BY \"{t}_later\"
         WHERE record <> 'event' AND event_id = ?1 AND seq < ?2 ORDER BY seq"
    );
    let mut statement = tx.prepare_cached(&sql)?;
    let mut rows = statement.query((id, sql_int(end)))?;
    while let Some(row) = rows.next()? {
        take(row.get_ref(0)?.as_str()?);
    }
    Ok(())
}

/// The days of which `index` has something.
fn spans<'a>(
    tx: &Transaction<'_>,
    days: &'a [Day],
    index: Index,
) -> rusqlite::Result<Vec<Span<'a>>> {
    let mut spans = Vec::new();
    for day in days {
        let first = end_of(tx, day, index, "ASC")?;
        let last = end_of(tx, day, index, "DESC")?;
        if let (Some(first), Some(last)) = (first, last) {
            spans.push(Span { day, first, last });
        }
    }
    Ok(spans)
}

/// The first (`ASC`) or last (`DESC`) id that the day's index has.
fn end_of(
    tx: &Transaction<'_>,
    day: &Day,
    index: Index,
    direction: &str,
) -> rusqlite::Result<Option<String>> {
    let t = &day.name;
    let (index, records) = match index {
        Index::Event => ("event", "record = 'event'"),
        Index::Later => ("later", "record <> 'event'"),
    };
    let sql = format!(
        "SELECT event_id FROM \"{t}\" INDEXED BY \"{t}_{index}\"
         WHERE {records} ORDER BY event_id {direction} LIMIT 1"
    );
    tx.query_row(&sql, [], |row| row.get(0)).optional()
}

/// The matching keys of one day, a page at a time.
struct DayCursor<'a> {
    day: &'a Day,
    sql: String,
    /// Last key read; where to go on.
    at: (i64, i64),
    /// The other end of the time window.
    end: i64,
    page: VecDeque<Key>,
    done: bool,
}

impl<'a> DayCursor<'a> {
    fn new(day: &'a Day, order: Order, filter: &Filter) -> Self {
        let since = filter.since.map_or(i64::MIN, nanos);
        // Exclusive; an event at the very end of the range of times is only cut by a filter.
        let until = filter
            .until
            .map_or(i64::MAX, |t| nanos(t).saturating_sub(1));
        let kinds: Vec<String> = filter.kinds.iter().map(|k| format!("'{k}'")).collect();
        let kinds = if kinds.is_empty() {
            String::new()
        } else {
            format!("AND kind IN ({})", kinds.join(","))
        };
        let (at, end, past, within, direction) = match order {
            Order::OldestFirst => ((since, i64::MIN), until, ">", "<=", "ASC"),
            Order::NewestFirst => ((until, i64::MAX), since, "<", ">=", "DESC"),
        };
        let t = &day.name;
        let sql = format!(
            "SELECT time_ns, seq, severity, pci, event_id FROM \"{t}\" INDEXED BY \"{t}_time\"
             WHERE record = 'event' AND (time_ns, seq) {past} (?1, ?2) AND time_ns {within} ?3
             {kinds} ORDER BY time_ns {direction}, seq {direction} LIMIT {PAGE}"
        );
        Self {
            day,
            sql,
            at,
            end,
            page: VecDeque::new(),
            done: false,
        }
    }

    /// Where the next key stands, if there is one.
    fn peek(&mut self, tx: &Transaction<'_>) -> rusqlite::Result<Option<(i64, i64)>> {
        if self.page.is_empty() && !self.done {
            self.fill(tx)?;
        }
        Ok(self.page.front().map(|key| key.at))
    }

    fn fill(&mut self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        let mut statement = tx.prepare(&self.sql)?;
        let keys = statement.query_map((self.at.0, self.at.1, self.end), |row| {
            Ok(Key {
                at: (row.get(0)?, row.get(1)?),
                severity: row.get(2)?,
                pci: row.get(3)?,
                id: row.get(4)?,
            })
        })?;
        self.page = keys.collect::<rusqlite::Result<_>>()?;
        self.done = self.page.len() < PAGE;
        if let Some(last) = self.page.back() {
            self.at = last.at;
        }
        Ok(())
    }
}
