//! Incidents: each record has the whole incident, so that the newest of each is all there is to read.

use std::collections::{BTreeMap, HashSet};

use gtrace_event::{Incident, IncidentId, IncidentState, Record, Timestamp};
use rusqlite::Transaction;

use crate::schema::Day;
use crate::{Reader, StoreError};

/// Which incidents are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IncidentFilter {
    /// Incidents that something happened to at this time or later.
    pub since: Option<Timestamp>,
    /// Incidents that began before this time.
    pub until: Option<Timestamp>,
    /// Only those that nobody has resolved.
    pub unresolved: bool,
    /// At most so many, the newest of those that match.
    pub limit: Option<usize>,
}

impl IncidentFilter {
    /// Whether `incident` is asked for, the limit aside.
    pub fn matches(&self, incident: &Incident) -> bool {
        self.since.is_none_or(|since| incident.last_time >= since)
            && self.until.is_none_or(|until| incident.opened < until)
            && !(self.unresolved && incident.state == IncidentState::Resolved)
    }
}

impl Reader {
    /// The incidents that match, each as its newest record has it, the one that began first at the front.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn incidents(&self, filter: &IncidentFilter) -> Result<Vec<Incident>, StoreError> {
        let mut found = BTreeMap::new();
        self.each_incident(|incident| {
            if !filter.matches(&incident) {
                return;
            }
            found.insert((incident.opened, incident.id), incident);
            if filter.limit.is_some_and(|limit| found.len() > limit) {
                found.pop_first();
            }
        })?;
        Ok(found.into_values().collect())
    }

    /// Gives each incident to `take`, one at a time, as the newest record has it that this version can read.
    ///
    /// `take` must not call this reader. While it runs, the writer cannot empty its WAL.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn each_incident(&self, mut take: impl FnMut(Incident)) -> Result<(), StoreError> {
        let (tx, days) = self.snapshot()?;
        let mut known = HashSet::new();
        for day in days.iter().rev() {
            self.incidents_of(&tx, day, &mut known, &mut take)
                .map_err(|e| self.sqlite(e))?;
        }
        Ok(())
    }

    /// The incident `id`, as its newest record has it.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn incident(&self, id: IncidentId) -> Result<Option<Incident>, StoreError> {
        let (tx, days) = self.snapshot()?;
        let id = id.to_string();
        for day in days.iter().rev() {
            let found = self.newest_of(&tx, day, &id);
            if let Some(incident) = found.map_err(|e| self.sqlite(e))? {
                return Ok(Some(incident));
            }
        }
        Ok(None)
    }

    /// Gives those of a day that are not `known` to `take`.
    fn incidents_of(
        &self,
        tx: &Transaction<'_>,
        day: &Day,
        known: &mut HashSet<IncidentId>,
        take: &mut dyn FnMut(Incident),
    ) -> rusqlite::Result<()> {
        let mut statement = tx.prepare(&ids_sql(day))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let id = row.get_ref(0)?.as_str()?;
            if id.parse::<IncidentId>().is_ok_and(|id| known.contains(&id)) {
                continue;
            }
            let newest = self.newest_of(tx, day, id)?;
            if let Some(incident) = newest.filter(|incident| known.insert(incident.id)) {
                take(incident);
            }
        }
        Ok(())
    }

    /// The incident `id` as the newest record of a day has it that this version can read.
    fn newest_of(
        &self,
        tx: &Transaction<'_>,
        day: &Day,
        id: &str,
    ) -> rusqlite::Result<Option<Incident>> {
        let t = &day.name;
        let sql = format!(
            "SELECT body FROM \"{t}\" INDEXED BY \"{t}_later\"
             WHERE record <> 'event' AND record = 'incident' AND event_id = ?1 ORDER BY seq DESC"
        );
        let mut statement = tx.prepare_cached(&sql)?;
        let mut rows = statement.query([id])?;
        while let Some(row) = rows.next()? {
            if let Some(Record::Incident(incident)) = self.parse(row.get_ref(0)?.as_str()?) {
                return Ok(Some(*incident));
            }
        }
        Ok(None)
    }
}

/// The ids of a day's incidents. A table may lack the index for it, so that it is not named.
fn ids_sql(day: &Day) -> String {
    format!(
        "SELECT DISTINCT event_id FROM \"{}\" WHERE record = 'incident'",
        day.name
    )
}

#[cfg(test)]
mod tests {
    use gtrace_event::{Ack, EventId, FailureClass, Severity};
    use rusqlite::StatementStatus;

    use super::*;
    use crate::Store;

    #[test]
    fn incidents_are_found_without_reading_what_else_comes_after_events() {
        let steps = |others: u64| {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("store.db");
            let now = Timestamp::from_second(1_780_000_000).unwrap();
            let incident = Incident::new(now, FailureClass::Pcie, Severity::Critical);
            let ack = |n: u64| Record::Ack(Ack::new(EventId::new(n), now, "on-call", ""));
            let mut records: Vec<Record> = (0..others).map(ack).collect();
            records.push(Record::Incident(Box::new(incident)));
            let mut store = Store::open(&path, crate::Options::default()).unwrap();
            store.append_at(now, &records, &[]).unwrap();
            let reader = Reader::open(&path).unwrap();
            let (tx, days) = reader.snapshot().unwrap();
            let mut ids = tx.prepare(&ids_sql(&days[0])).unwrap();
            let found = ids.query_map([], |row| row.get::<_, String>(0));
            assert_eq!(found.unwrap().count(), 1);
            ids.get_status(StatementStatus::VmStep)
        };
        assert_eq!(steps(1000), steps(1));
    }
}
