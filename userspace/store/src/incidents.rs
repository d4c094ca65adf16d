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
        let t = &day.name;
        // The index alone answers it: of each id one record is looked at.
        let sql = format!(
            "SELECT event_id, max(seq) FROM \"{t}\" INDEXED BY \"{t}_later\"
             WHERE record <> 'event' GROUP BY event_id"
        );
        // A newer version may say something else of an incident.
        let may_be_incident = format!(
            "SELECT 1 FROM \"{t}\" WHERE seq = ?1 AND record NOT IN ('amendment', 'ack', 'health')"
        );
        let mut may_be_incident = tx.prepare(&may_be_incident)?;
        let mut statement = tx.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let id = row.get_ref(0)?.as_str()?;
            let seq: i64 = row.get(1)?;
            let is_known = id.parse::<IncidentId>().is_ok_and(|id| known.contains(&id));
            if is_known || !may_be_incident.exists([seq])? {
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
