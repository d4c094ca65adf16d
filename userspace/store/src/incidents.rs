//! Incidents: each record has the whole incident, so that the newest of each is all there is to read.

use std::collections::BTreeMap;

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
        let (tx, days) = self.snapshot()?;
        let mut newest = BTreeMap::new();
        for day in &days {
            self.incidents_of(&tx, day, None, &mut newest)
                .map_err(|e| self.sqlite(e))?;
        }
        let mut found: Vec<_> = newest
            .into_values()
            .filter(|incident| filter.matches(incident))
            .collect();
        found.sort_by_key(|incident| (incident.opened, incident.id));
        let surplus = filter
            .limit
            .map_or(0, |limit| found.len().saturating_sub(limit));
        found.drain(..surplus);
        Ok(found)
    }

    /// The incident `id`, as its newest record has it.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn incident(&self, id: IncidentId) -> Result<Option<Incident>, StoreError> {
        let (tx, days) = self.snapshot()?;
        let mut newest = BTreeMap::new();
        for day in &days {
            self.incidents_of(&tx, day, Some(id), &mut newest)
                .map_err(|e| self.sqlite(e))?;
        }
        Ok(newest.remove(&id))
    }

    fn incidents_of(
        &self,
        tx: &Transaction<'_>,
        day: &Day,
        id: Option<IncidentId>,
        newest: &mut BTreeMap<IncidentId, Incident>,
    ) -> rusqlite::Result<()> {
        let t = &day.name;
        let one = match id {
            Some(_) => "AND event_id = ?1",
            None => "AND ?1 IS NULL",
        };
        let sql = format!(
            "SELECT body FROM \"{t}\" INDEXED BY \"{t}_later\"
             WHERE record <> 'event' AND record = 'incident' {one}"
        );
        let mut statement = tx.prepare_cached(&sql)?;
        let mut rows = statement.query([id.map(|id| id.to_string())])?;
        while let Some(row) = rows.next()? {
            let Some(Record::Incident(incident)) = self.parse(row.get_ref(0)?.as_str()?) else {
                continue;
            };
            let known = newest.get(&incident.id);
            if known.is_none_or(|known| known.revision < incident.revision) {
                newest.insert(incident.id, *incident);
            }
        }
        Ok(())
    }
}
