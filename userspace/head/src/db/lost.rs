//! Incidents that a host's store has lost: the power went before they were on disk, a backup was put back, or a new store was begun.

use std::collections::BTreeSet;

use gtrace_event::{Incident, IncidentId, IncidentState, Record, StateChange, Timestamp};
use gtrace_fleet::HostState;

use super::sql::{DbError, Sql, Value};

/// The state of a host lists so many at most, the newest, and fewer or none where they are large.
const LISTED: usize = 32;
/// A state with fewer bytes has left out none for its size.
const SMALL: usize = 128 << 10;
const WHY: &str = "the host has no record of it any more";

/// Incidents of `host` that nobody has resolved and that its newest state does not list, as resolved rows of their table: nobody can
/// resolve them there, and they would be open for ever. Nothing where there is no state.
pub(super) fn incidents(
    sql: &mut dyn Sql,
    host: i64,
    now: Timestamp,
) -> Result<Vec<Vec<Value>>, DbError> {
    let rows = sql.rows("SELECT state FROM hosts WHERE id = $1", &[host.into()])?;
    let text = rows.first().map_or("", |row| row[0].text());
    let Ok(state) = serde_json::from_str::<HostState>(text) else {
        return Ok(Vec::new());
    };
    let listed = &state.incidents;
    let ids: BTreeSet<IncidentId> = listed.iter().map(|one| one.id).collect();
    // For what is older there may have been no room, by the time of its beginning or its id: hosts sort by either.
    let is_full = listed.len() >= LISTED || text.len() >= SMALL;
    let oldest = listed.iter().map(|one| one.opened).min();
    let had_room = |one: &Incident| {
        !is_full
            || ids.first().is_some_and(|first| one.id >= *first)
                && oldest.is_some_and(|oldest| one.opened >= oldest)
    };
    let unresolved = "SELECT id, revision, opened_ns, last_ns, class, drill, body FROM incidents \
         WHERE host = $1 AND state <> 'resolved'";
    let mut lost = Vec::new();
    for row in sql.rows(unresolved, &[host.into()])? {
        // What a newer gtrace wrote stays as it is.
        let Ok(Record::Incident(mut incident)) = serde_json::from_str(row[6].text()) else {
            continue;
        };
        // A state from before it changed does not know it: through NATS records can overtake the next one.
        if ids.contains(&incident.id) || incident.time > state.time || !had_room(&incident) {
            continue;
        }
        let revision = incident.revision;
        let change = StateChange::new(now, IncidentState::Resolved, "gtrace", WHY);
        incident.change_state(change);
        // A record of the host that has it all the same is newer.
        incident.revision = revision;
        let body = serde_json::to_string(&Record::Incident(incident))?;
        lost.push(vec![
            host.into(),
            row[0].clone(),
            row[1].clone(),
            row[2].clone(),
            row[3].clone(),
            IncidentState::Resolved.name().into(),
            row[4].clone(),
            row[5].clone(),
            body.into(),
        ]);
    }
    Ok(lost)
}

#[cfg(test)]
mod tests {
    use gtrace_event::FailureClass;

    use super::*;
    use crate::db::testing::{bare_state, first_batch, incident, put_first, with_hosts};
    use crate::db::{Database, IncidentQuery, NewState};

    /// Host and id of those that nobody has resolved.
    fn open(database: &mut Database) -> Vec<(String, IncidentId)> {
        let query = IncidentQuery {
            unresolved: true,
            limit: 99,
            ..IncidentQuery::default()
        };
        let found = database.incidents(&query).unwrap().into_iter();
        let mut found: Vec<_> = found.map(|of| (of.fleet_host, of.incident.id)).collect();
        found.sort();
        found
    }

    fn state_of(time: Timestamp, incidents: Vec<Incident>) -> HostState {
        HostState {
            time,
            incidents,
            ..HostState::default()
        }
    }

    fn put_state(database: &mut Database, state: &HostState, now: Timestamp) {
        let state = NewState {
            state: serde_json::to_string(state).unwrap(),
            ..bare_state(0, now)
        };
        database.put_states(&[state], now).unwrap();
    }

    #[test]
    fn what_a_new_store_has_no_record_of_is_resolved_unless_the_host_lists_it() {
        let (_dir, mut database) = with_hosts(&["a", "b"]);
        let now = Timestamp::now();
        let known = incident(now, FailureClass::Pcie, &[]);
        let lost = incident(
            now - jiff::SignedDuration::from_hours(1),
            FailureClass::Pcie,
            &[],
        );
        let records = [&known, &lost].map(|one| Record::Incident(Box::new(one.clone())));
        for host in 0..2 {
            put_first(&mut database, host, &records, now);
        }
        assert_eq!(open(&mut database).len(), 4);
        let state = state_of(now, vec![known.clone()]);
        put_state(&mut database, &state, now);
        assert_eq!(open(&mut database).len(), 4, "its records may be under way");
        // The first record of another store.
        let mut arrived = first_batch(7, ["{}"], now);
        arrived.host = 0;
        database.ingest(now, &[arrived]).unwrap();
        let mut left = vec![
            ("a".to_owned(), known.id),
            ("b".to_owned(), known.id),
            ("b".to_owned(), lost.id),
        ];
        left.sort();
        assert_eq!(open(&mut database), left);
    }

    #[test]
    fn what_a_state_may_lack_is_left_as_it_is() {
        let now = Timestamp::now();
        let before = now - jiff::SignedDuration::from_secs(60);
        let one = incident(now, FailureClass::Pcie, &[]);
        let older = incident(before, FailureClass::Pcie, &[]);
        let large = HostState {
            labels: [("rack".to_owned(), "r".repeat(SMALL))].into(),
            ..state_of(now, Vec::new())
        };
        let mut many = vec![one.clone(); LISTED];
        // It has taken an event from before the others began.
        many[0].opened = before - jiff::SignedDuration::from_secs(60);
        let states = [
            (&one, state_of(before, Vec::new())),
            (&one, large),
            (&older, state_of(now, many)),
        ];
        for (held, state) in states {
            let (_dir, mut database) = with_hosts(&["a"]);
            let records = [Record::Incident(Box::new(held.clone()))];
            put_first(&mut database, 0, &records, now);
            put_state(&mut database, &state, now);
            let mut arrived = first_batch(7, ["{}"], now);
            arrived.host = 0;
            database.ingest(now, &[arrived]).unwrap();
            assert_eq!(open(&mut database).len(), 1);
        }
    }
}
