//! Records of health: what follows from those before is in a snapshot, from which a start goes on.

use std::collections::BTreeMap;

use gtrace_event::{Event, EventId, HealthNews, Record};
use rusqlite::Transaction;

use crate::query::{each_later, first_body};
use crate::schema::{Day, head, sql_int};
use crate::{Reader, StoreError};

/// A snapshot is looked for among so many records, the newest: whoever writes them writes one far more often.
const LOOK_BACK: u64 = 50_000;
/// Without one, so many records are given.
const WITHOUT_SNAPSHOT: u64 = 10_000;
/// Records that are read at once.
const PAGE: usize = 512;

/// A record that health follows from.
#[derive(Debug)]
pub enum HealthEntry {
    /// An event as it was after a record of it: new, or with an amendment applied.
    Event(Box<Event>),
    /// Any other record: of those of health the first is the newest snapshot, if there is one.
    Record(Record),
}

impl Reader {
    /// Gives what the state of health follows from to `take`: the newest snapshot and every record after it, in the order
    /// of the store, each event as it was then. Whether there is a snapshot; without one the newest records are given.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn health(&self, mut take: impl FnMut(HealthEntry)) -> Result<bool, StoreError> {
        let (tx, days) = self.snapshot()?;
        let sql = |e| self.sqlite(e);
        let (last, _) = head(&tx, days.last()).map_err(sql)?;
        let found = self.newest_snapshot(&tx, &days, last).map_err(sql)?;
        let mut after = match found {
            Some(seq) => seq - 1,
            None => last.saturating_sub(WITHOUT_SNAPSHOT),
        };
        let mut events: BTreeMap<EventId, Event> = BTreeMap::new();
        loop {
            let page = self.page_after(&tx, &days, after, PAGE)?;
            let Some((end, _)) = page.last() else { break };
            after = *end;
            for (seq, record) in page {
                match record {
                    Record::Event(event) => {
                        events.insert(event.id, (*event).clone());
                        take(HealthEntry::Event(event));
                    }
                    Record::Amendment(amendment) => {
                        let known = events.remove(&amendment.id);
                        let event = match known {
                            Some(event) => Some(event),
                            None => self.event_before(&tx, &days, amendment.id, seq)?,
                        };
                        // Retention takes an event before its last changes.
                        let Some(mut event) = event else { continue };
                        event.apply(&amendment);
                        events.insert(event.id, event.clone());
                        take(HealthEntry::Event(Box::new(event)));
                    }
                    Record::Incident(_) => {}
                    record @ (Record::Ack(_) | Record::Health(_)) => {
                        take(HealthEntry::Record(record));
                    }
                }
            }
        }
        Ok(found.is_some())
    }

    fn newest_snapshot(
        &self,
        tx: &Transaction<'_>,
        days: &[Day],
        last: u64,
    ) -> rusqlite::Result<Option<u64>> {
        for day in days.iter().rev() {
            let sql = format!(
                "SELECT seq, body FROM \"{}\" WHERE record = 'health' AND seq > ?1 ORDER BY seq DESC",
                day.name
            );
            let mut statement = tx.prepare_cached(&sql)?;
            let mut rows = statement.query([sql_int(last.saturating_sub(LOOK_BACK))])?;
            while let Some(row) = rows.next()? {
                let record = self.parse(row.get_ref(1)?.as_str()?);
                if let Some(Record::Health(health)) = record
                    && matches!(health.news, HealthNews::Snapshot { .. })
                {
                    return Ok(u64::try_from(row.get::<_, i64>(0)?).ok());
                }
            }
        }
        Ok(None)
    }

    /// The event `id` as the records before `seq` have it.
    fn event_before(
        &self,
        tx: &Transaction<'_>,
        days: &[Day],
        id: EventId,
        seq: u64,
    ) -> Result<Option<Event>, StoreError> {
        let id = id.to_string();
        let read = || -> rusqlite::Result<Option<Event>> {
            for (at, day) in days.iter().enumerate().rev() {
                let body = first_body(tx, day, &id)?;
                let Some(Record::Event(mut event)) = body.and_then(|body| self.parse(&body)) else {
                    continue;
                };
                // What is said of it comes behind it.
                let later = days.iter().skip(at);
                for day in later.take_while(|day| day.first_seq < seq) {
                    each_later(tx, day, (id.as_str(), seq), |body| {
                        if let Some(Record::Amendment(amendment)) = self.parse(body) {
                            event.apply(&amendment);
                        }
                    })?;
                }
                return Ok(Some(*event));
            }
            Ok(None)
        };
        read().map_err(|e| self.sqlite(e))
    }
}
