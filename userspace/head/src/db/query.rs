//! Events and incidents of all hosts.

use std::collections::{BTreeMap, BTreeSet};

use gtrace_event::{
    Event, EventId, FailureClass, Incident, IncidentId, IncidentState, Kind, Record, Severity,
    Timestamp,
};
use serde::{Deserialize, Serialize};

use super::sql::{DbError, Value};
use super::{CLOCK_AHEAD_NS, DAY_NS, Database, nanos, time_of};

/// Which events are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventQuery {
    /// At this time or later.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
    /// Of these hosts; `None` for all.
    pub hosts: Option<BTreeSet<String>>,
    /// Of this kind.
    pub kind: Option<Kind>,
    /// At least so severe.
    pub severity: Option<Severity>,
    /// The newest so many.
    pub limit: u32,
}

/// An event of a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FleetEvent {
    /// The host's name in the fleet.
    pub fleet_host: String,
    /// The event, with amendments and acknowledgements applied.
    pub event: Event,
}

/// Which incidents are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IncidentQuery {
    /// Something happened to them at this time or later.
    pub since: Option<Timestamp>,
    /// Nobody has resolved them.
    pub unresolved: bool,
    /// Of these hosts; `None` for all.
    pub hosts: Option<BTreeSet<String>>,
    /// The one with this id.
    pub id: Option<IncidentId>,
    /// The newest so many.
    pub limit: u32,
}

/// An incident of a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FleetIncident {
    /// The host's name in the fleet.
    pub fleet_host: String,
    /// The incident, as its newest record has it.
    pub incident: Incident,
}

/// An incident of a host, as far as outbreaks are found by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The host's name in the fleet.
    pub fleet_host: String,
    /// The incident.
    pub id: IncidentId,
    /// Its class.
    pub class: FailureClass,
    /// When it began.
    pub opened: Timestamp,
    /// When something happened to it last.
    pub last: Timestamp,
    /// Whether it is an exercise.
    pub drill: bool,
    /// Whether somebody has resolved it.
    pub resolved: bool,
}

/// So many of a host's incidents are looked at for outbreaks, the newest: one host does not hide those of all others.
pub(crate) const MARKS_OF_HOST: usize = 500;

/// So many incidents are looked at for plans, of a host and in all: each host's newest come first.
const UNPLANNED_OF_HOST: u32 = 200;
const UNPLANNED: u32 = 2000;
/// Hosts of which together fewer records were taken are read by host.
const FEW: i64 = 50_000;

/// Events whose amendments and acknowledgements are asked for together.
const FOLDED: usize = 500;

/// Events of a host that are looked at for the kinds of an incident, at most.
const KIND_ROWS: u32 = 200_000;

/// That nobody has resolved an incident.
const OPEN: &str = " AND i.state <> 'resolved'";

/// How many incidents nobody has resolved, by class.
const OPEN_BY_CLASS: &str = "SELECT class, drill, count(*) FROM incidents JOIN hosts ON hosts.id = incidents.host \
     WHERE incidents.state <> 'resolved' AND hosts.revoked_ns IS NULL GROUP BY class, drill";

/// Of its host's name and its record; `None` where this version cannot read it.
fn fleet_incident(row: &[Value]) -> Option<FleetIncident> {
    match serde_json::from_str(row[1].text()) {
        Ok(Record::Incident(incident)) => Some(FleetIncident {
            fleet_host: row[0].text().to_owned(),
            incident: *incident,
        }),
        _ => None,
    }
}

/// A condition that a column has one of these values.
fn one_of<T: Into<Value>>(
    column: &str,
    values: impl Iterator<Item = T>,
    parameters: &mut Vec<Value>,
) -> String {
    let first = parameters.len() + 1;
    parameters.extend(values.map(Into::into));
    let places: Vec<String> = (first..=parameters.len())
        .map(|n| format!("${n}"))
        .collect();
    match places.is_empty() {
        true => " AND 1 = 0".to_owned(),
        false => format!(" AND {column} IN ({})", places.join(", ")),
    }
}

/// The newest so many incidents.
fn newest(more: &str, limit: u32) -> String {
    format!(
        "SELECT hosts.name, i.body FROM incidents i JOIN hosts ON hosts.id = i.host \
         WHERE i.last_ns >= $1{more} ORDER BY i.last_ns DESC LIMIT {limit}"
    )
}

/// Incidents for which there is no plan.
fn unplanned() -> String {
    // The key as `plan_key` makes it.
    format!(
        "SELECT name, body FROM ( \
         SELECT hosts.name, i.body, i.last_ns, row_number() OVER (PARTITION BY i.host ORDER BY i.last_ns DESC) AS nth \
         FROM incidents i JOIN hosts ON hosts.id = i.host WHERE hosts.revoked_ns IS NULL{OPEN} \
         AND NOT EXISTS (SELECT 1 FROM plans p WHERE p.key = \
         CASE WHEN $1 = 1 OR i.drill <> 0 THEN 'dry:' ELSE '' END || 'incident:' || hosts.name || ':' || i.id)) AS newest \
         WHERE nth <= {UNPLANNED_OF_HOST} ORDER BY nth, last_ns DESC LIMIT {UNPLANNED}"
    )
}

/// A condition that an event is at least so severe, or an amendment in one of `tables` makes it so.
fn severe(tables: &[String], least: Severity) -> String {
    let names = Severity::ALL.iter().filter(|severity| **severity >= least);
    let names: Vec<String> = names.map(|s| format!("'{}'", s.name())).collect();
    let names = names.join(", ");
    let mut severe = format!(" AND (r.severity IN ({names})");
    let raised = |table: &String| {
        format!(
            "r.subject IN (SELECT subject FROM {table} WHERE record = 'amendment' AND severity IN ({names}))"
        )
    };
    // Each OR makes an expression deeper by one, and SQLite takes no deeper ones than 1000.
    for some in tables.chunks(100) {
        let some: Vec<String> = some.iter().map(raised).collect();
        severe += &format!(" OR ({})", some.join(" OR "));
    }
    severe.push(')');
    severe
}

impl Database {
    /// The numbers of the hosts with these names, and how many records were taken of each.
    fn named(&mut self, names: &BTreeSet<String>) -> Result<Vec<(i64, i64)>, DbError> {
        let mut parameters = Vec::new();
        let named = one_of("name", names.iter().map(String::as_str), &mut parameters);
        let sql = format!("SELECT id, taken FROM hosts WHERE 1 = 1{named}");
        let rows = self.sql.rows(&sql, &parameters)?;
        Ok(rows
            .iter()
            .map(|row| (row[0].int(), row[1].int()))
            .collect())
    }

    /// The newest so many incidents of hosts that are in the fleet, without what they say.
    pub fn marks(&mut self, limit: u32) -> Result<Vec<Mark>, DbError> {
        let rows = self.sql.rows(
            &format!(
                "SELECT name, id, class, opened_ns, last_ns, drill, state FROM ( \
                 SELECT hosts.name, i.id, i.class, i.opened_ns, i.last_ns, i.drill, i.state, \
                 row_number() OVER (PARTITION BY i.host ORDER BY i.last_ns DESC) AS nth \
                 FROM incidents i JOIN hosts ON hosts.id = i.host WHERE hosts.revoked_ns IS NULL) AS newest \
                 WHERE nth <= {MARKS_OF_HOST} ORDER BY last_ns DESC LIMIT {limit}"
            ),
            &[],
        )?;
        let of = |row: &Vec<Value>| {
            Some(Mark {
                fleet_host: row[0].text().to_owned(),
                id: row[1].text().parse().ok()?,
                // One that a newer gtrace knows is in no outbreak here.
                class: row[2].text().parse().ok()?,
                opened: time_of(row[3].int()),
                last: time_of(row[4].int()),
                drill: row[5].int() != 0,
                resolved: row[6].text() == IncidentState::Resolved.name(),
            })
        };
        Ok(rows.iter().filter_map(of).collect())
    }

    /// When the oldest day of records began: of the time before, retention has left nothing.
    pub fn kept_since(&mut self) -> Result<Option<Timestamp>, DbError> {
        let rows = self
            .sql
            .rows("SELECT day FROM days ORDER BY day LIMIT 1", &[])?;
        Ok(rows
            .first()
            .map(|row| time_of(row[0].int().saturating_mul(DAY_NS))))
    }

    /// Jobs that an incident affects.
    pub fn jobs(&mut self, host: &str, id: IncidentId) -> Result<Vec<String>, DbError> {
        let query = IncidentQuery {
            hosts: Some(BTreeSet::from([host.to_owned()])),
            id: Some(id),
            limit: 1,
            ..IncidentQuery::default()
        };
        let found = self.incidents(&query)?.pop();
        Ok(found.map_or_else(Vec::new, |found| found.incident.affected.jobs))
    }

    /// The events that match, oldest first.
    pub fn events(&mut self, query: &EventQuery) -> Result<Vec<FleetEvent>, DbError> {
        let days = self.days()?;
        let tables: Vec<String> = days.iter().map(|(table, _)| table.clone()).collect();
        let hosts = match &query.hosts {
            Some(names) => Some(self.named(names)?),
            None => None,
        };
        // Without an index by time the records of these hosts are read: of few that is quicker than to search all hosts' for them.
        let few = |hosts: &Vec<(i64, i64)>| hosts.iter().map(|(_, taken)| taken).sum::<i64>() < FEW;
        let time = match hosts.as_ref().is_some_and(few) {
            true => "(r.time_ns + 0)",
            false => "r.time_ns",
        };
        let mut found: Vec<(i64, i64, String, Event)> = Vec::new();
        // An amendment can change a severity, so that it is compared at the end, and what one has raised is read too.
        let most = match query.severity {
            Some(_) => query.limit.saturating_mul(2).max(5_000),
            None => query.limit,
        };
        let since = query.since.map_or(i64::MIN, nanos);
        let until = query.until.map_or(i64::MAX, nanos);
        let mut oldest = days.len();
        for (at, (table, day)) in days.iter().enumerate().rev() {
            let begin = day.saturating_mul(DAY_NS);
            // What came on a day is of no later one, unless its host's clock is ahead. Such are the first of their day: by their own time
            // they would be the newest of the fleet for years, and hide those of all others.
            let end = begin.saturating_add(DAY_NS + CLOCK_AHEAD_NS);
            // All of this day, and of those before it, are older than what there is enough of.
            let is_later = |(time, ..): &(i64, i64, String, Event)| *time >= end;
            if found.len() >= most as usize && found.last().is_none_or(is_later) {
                break;
            }
            // What changes an event comes after it, by clocks of heads that may differ.
            oldest = at.saturating_sub(1);
            let severe = query.severity.map(|least| severe(&tables[oldest..], least));
            let ranges = [
                (time, since, until.min(end), None),
                // Few or none, which the index shows.
                ("r.time_ns", since.max(end), until, Some(begin)),
            ];
            for (time, from, to, instead) in ranges {
                if from >= to {
                    continue;
                }
                let mut parameters: Vec<Value> = vec![from.into(), to.into()];
                let mut more = severe.clone().unwrap_or_default();
                if let Some(hosts) = &hosts {
                    more += &one_of("r.host", hosts.iter().map(|(id, _)| *id), &mut parameters);
                }
                if let Some(kind) = query.kind {
                    parameters.push(kind.to_string().into());
                    more += &format!(" AND r.kind = ${}", parameters.len());
                }
                let sql = format!(
                    "SELECT r.time_ns, r.host, hosts.name, r.body FROM {table} r JOIN hosts ON hosts.id = r.host \
                     WHERE r.record = 'event' AND {time} >= $1 AND {time} < $2{more} \
                     ORDER BY {time} DESC LIMIT {most}"
                );
                for row in self.sql.rows(&sql, &parameters)? {
                    if let Ok(Record::Event(event)) = serde_json::from_str(row[3].text()) {
                        let name = row[2].text().to_owned();
                        let time = instead.unwrap_or_else(|| row[0].int());
                        found.push((time, row[1].int(), name, *event));
                    }
                }
            }
            // Of all days there are never more than of two.
            found.sort_by_key(|(time, ..)| std::cmp::Reverse(*time));
            found.truncate(most as usize);
        }
        self.fold(&tables[oldest..], &mut found)?;
        let is_wanted = |event: &Event| query.severity.is_none_or(|least| event.severity >= least);
        found.retain(|(.., event)| is_wanted(event));
        found.truncate(query.limit as usize);
        found.reverse();
        let of = |(_, _, fleet_host, event)| FleetEvent { fleet_host, event };
        Ok(found.into_iter().map(of).collect())
    }

    /// Whether one of these events of a host, which came within this time, is of one of these kinds; however many others came then.
    /// At most 200,000 events of these kinds are looked at.
    pub fn has_kind(
        &mut self,
        host: &str,
        kinds: &[Kind],
        events: &[EventId],
        (since, until): (Option<Timestamp>, Option<Timestamp>),
    ) -> Result<bool, DbError> {
        #[derive(Deserialize)]
        struct Known {
            id: EventId,
        }
        let events: BTreeSet<&EventId> = events.iter().collect();
        // Names of kinds are words of this program.
        let kinds: Vec<String> = kinds.iter().map(|kind| format!("'{kind}'")).collect();
        let parameters: [Value; 3] = [
            since.map_or(i64::MIN, nanos).into(),
            until.map_or(i64::MAX, nanos).into(),
            host.into(),
        ];
        let (mut found, mut left) = (false, KIND_ROWS);
        // Records come on the day of their time or later, by clocks that may differ: that of a host may be far ahead.
        let today = nanos(Timestamp::now()) / super::DAY_NS;
        let first = since.map_or(i64::MIN, |since| {
            (nanos(since) / super::DAY_NS).min(today) - 1
        });
        let days = "SELECT name FROM days WHERE day >= $1 ORDER BY day";
        for table in self.sql.rows(days, &[first.into()])? {
            let table = table[0].text();
            let statement = format!(
                "SELECT r.body FROM {table} r JOIN hosts ON hosts.id = r.host WHERE r.record = 'event' \
                 AND r.time_ns >= $1 AND r.time_ns < $2 AND hosts.name = $3 AND r.kind IN ({})",
                kinds.join(", ")
            );
            self.sql.query(&statement, &parameters, &mut |row| {
                let known = serde_json::from_str::<Known>(row[0].text());
                found |= known.is_ok_and(|known| events.contains(&known.id));
                left -= 1;
                !found && left > 0
            })?;
            if found || left == 0 {
                break;
            }
        }
        Ok(found)
    }

    /// Applies what came later to events.
    fn fold(
        &mut self,
        tables: &[String],
        events: &mut [(i64, i64, String, Event)],
    ) -> Result<(), DbError> {
        for table in tables {
            let any = format!(
                "SELECT 1 FROM {table} WHERE record = 'amendment' OR record = 'ack' LIMIT 1"
            );
            if self.sql.rows(&any, &[])?.is_empty() {
                continue;
            }
            for some in events.chunks_mut(FOLDED) {
                let mut parameters = Vec::new();
                let ids = some.iter().map(|(.., event)| event.id.to_string());
                let of_these = one_of("subject", ids, &mut parameters);
                let sql = format!(
                    "SELECT host, subject, body FROM {table} WHERE (record = 'amendment' OR record = 'ack'){of_these} ORDER BY n"
                );
                let mut later = BTreeMap::<(i64, String), Vec<Record>>::new();
                self.sql.query(&sql, &parameters, &mut |row| {
                    if let Ok(record) = serde_json::from_str(row[2].text()) {
                        let of = (row[0].int(), row[1].text().to_owned());
                        later.entry(of).or_default().push(record);
                    }
                    true
                })?;
                for (_, host, _, event) in some {
                    let of_event = later.get(&(*host, event.id.to_string()));
                    for record in of_event.into_iter().flatten() {
                        match record {
                            Record::Amendment(amendment) => event.apply(amendment),
                            Record::Ack(ack) => event.acks.push(ack.clone()),
                            _ => {}
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The incidents that match, the one that began first at the front.
    pub fn incidents(&mut self, query: &IncidentQuery) -> Result<Vec<FleetIncident>, DbError> {
        let mut parameters: Vec<Value> = vec![query.since.map_or(i64::MIN, nanos).into()];
        let mut more = match query.unresolved {
            true => OPEN.to_owned(),
            false => String::new(),
        };
        if let Some(hosts) = &query.hosts {
            let names = hosts.iter().map(String::as_str);
            more += &one_of("hosts.name", names, &mut parameters);
        }
        if let Some(id) = query.id {
            parameters.push(id.to_string().into());
            more += &format!(" AND i.id = ${}", parameters.len());
        }
        let rows = self.sql.rows(&newest(&more, query.limit), &parameters)?;
        let incidents = rows.iter().filter_map(|row| fleet_incident(row));
        let mut found: Vec<FleetIncident> = incidents.collect();
        found.sort_by_key(|found| (found.incident.opened, found.incident.id));
        Ok(found)
    }

    /// Incidents that nobody has resolved and for which there is no plan: the newest of each host before the second of any.
    pub(crate) fn unplanned_incidents(
        &mut self,
        is_dry: bool,
    ) -> Result<Vec<FleetIncident>, DbError> {
        let rows = self.sql.rows(&unplanned(), &[i64::from(is_dry).into()])?;
        let incidents = rows.iter().filter_map(|row| fleet_incident(row));
        let mut found: Vec<FleetIncident> = incidents.collect();
        // That of the longest standing gets its plan first.
        found.sort_by_key(|found| (found.incident.opened, found.incident.id));
        Ok(found)
    }

    /// How many incidents of hosts that are in the fleet nobody has resolved, by class and whether they are drills: for metrics. What a host
    /// calls a class and is none is unknown.
    pub fn open_incidents_by_class(
        &mut self,
    ) -> Result<BTreeMap<(FailureClass, bool), u64>, DbError> {
        let mut counts: BTreeMap<(FailureClass, bool), u64> = BTreeMap::new();
        self.sql.query(OPEN_BY_CLASS, &[], &mut |row| {
            let class = row[0].text().parse().unwrap_or(FailureClass::Unknown);
            *counts.entry((class, row[1].int() != 0)).or_default() += row[2].int().unsigned_abs();
            true
        })?;
        Ok(counts)
    }

    /// Tables of records, the oldest day first.
    pub(super) fn tables(&mut self) -> Result<Vec<String>, DbError> {
        Ok(self.days()?.into_iter().map(|(table, _)| table).collect())
    }

    /// The same with their days.
    fn days(&mut self) -> Result<Vec<(String, i64)>, DbError> {
        let rows = self
            .sql
            .rows("SELECT name, day FROM days ORDER BY day", &[])?;
        let of = |row: &Vec<Value>| (row[0].text().to_owned(), row[1].int());
        Ok(rows.iter().map(of).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::testing::{put_first, with_hosts, xid};

    /// Noon of a day, of which the first is in October 2024.
    fn at(day: i64) -> Timestamp {
        time_of((20_000 + day) * DAY_NS + DAY_NS / 2)
    }

    fn critical(time: Timestamp) -> Record {
        Record::Event(Box::new(xid(time, Severity::Critical, "Xid 79")))
    }

    /// The newest so many events since a time, the oldest first.
    fn newest_events(db: &mut Database, since: Option<Timestamp>, limit: u32) -> Vec<FleetEvent> {
        let query = EventQuery {
            since,
            limit,
            ..EventQuery::default()
        };
        db.events(&query).unwrap()
    }

    #[test]
    fn days_before_the_newest_events_are_not_read() {
        let hosts: Vec<String> = (0..30).map(|n| format!("host{n}")).collect();
        let (_dir, mut db) = with_hosts(&hosts.iter().map(String::as_str).collect::<Vec<_>>());
        for day in 0..30 {
            put_first(&mut db, day, &[(); 4].map(|()| critical(at(day))), at(day));
        }
        let tables = db.tables().unwrap();
        assert_eq!(tables.len(), 30);
        // Three of them are left; whoever reads another one fails.
        for table in &tables[..27] {
            db.sql.batch(&format!("DROP TABLE {table}")).unwrap();
        }
        let found = newest_events(&mut db, None, 4);
        assert_eq!(found.len(), 4);
        assert!(found.iter().all(|one| one.fleet_host == "host29"));
        // The day before the last that is read may have what changes its events.
        assert_eq!(newest_events(&mut db, None, 5)[0].fleet_host, "host28");
        let all = EventQuery {
            limit: 9,
            ..EventQuery::default()
        };
        assert!(db.events(&all).is_err());
    }

    #[test]
    fn what_raised_a_severity_is_found_without_reading_other_amendments() {
        let (_dir, mut db) = with_hosts(&["a"]);
        let event = xid(at(7), Severity::Info, "Xid 79");
        put_first(&mut db, 0, &[Record::Event(Box::new(event))], at(7));
        let tables = db.tables().unwrap();
        let is_severe = severe(&tables, Severity::Critical);
        let plan = format!(
            "EXPLAIN QUERY PLAN SELECT body FROM {} r WHERE r.record = 'event'{is_severe}",
            tables[0]
        );
        let plan = db.sql.rows(&plan, &[]).unwrap();
        let mut steps = plan.iter().map(|row| row[3].text());
        assert!(steps.any(|step| step.contains("_raised (severity=?)")));
        // Of ten years, which are kept where nothing is removed.
        let years = vec![tables[0].clone(); 3_653];
        let is_severe = severe(&years, Severity::Critical);
        let severe = format!(
            "SELECT body FROM {} r WHERE r.record = 'event'{is_severe}",
            tables[0]
        );
        assert!(db.sql.rows(&severe, &[]).unwrap().is_empty());
    }

    #[test]
    fn what_nobody_has_resolved_is_found_without_reading_what_was() {
        let (_dir, mut db) = with_hosts(&["a"]);
        let one: [Value; 1] = [0_i64.into()];
        for (statement, parameters) in [
            (newest(OPEN, 1000), &one[..]),
            (unplanned(), &one[..]),
            (OPEN_BY_CLASS.to_owned(), &one[..0]),
        ] {
            let plan = format!("EXPLAIN QUERY PLAN {statement}");
            let plan = db.sql.rows(&plan, parameters).unwrap();
            let mut steps = plan.iter().map(|row| row[3].text());
            let is_by_index = steps.any(|step| step.contains("incidents_open"));
            assert!(is_by_index, "{statement}");
        }
    }

    #[test]
    fn a_host_whose_clock_is_years_ahead_does_not_hide_the_events_of_others() {
        let (_dir, mut db) = with_hosts(&["a", "b"]);
        let now = Timestamp::now();
        put_first(&mut db, 0, &[critical(now)], now);
        let ahead: Timestamp = "2099-01-01T00:00:00Z".parse().unwrap();
        put_first(&mut db, 1, &[ahead; 3].map(critical), now);
        let mut hosts = |since: Option<Timestamp>, limit: u32| -> Vec<String> {
            let found = newest_events(&mut db, since, limit);
            found.into_iter().map(|one| one.fleet_host).collect()
        };
        assert_eq!(hosts(None, 1), ["a"]);
        // They are there, before what is known to have happened on their day.
        assert_eq!(hosts(None, 9), ["b", "b", "b", "a"]);
        assert_eq!(hosts(Some(ahead), 9), ["b", "b", "b"]);
    }

    #[test]
    fn what_is_older_than_all_databases_know_is_the_oldest_and_is_found() {
        let (_dir, mut db) = with_hosts(&["a"]);
        let now = Timestamp::now();
        let ancient: Timestamp = "1600-01-01T00:00:00Z".parse().unwrap();
        put_first(&mut db, 0, &[now, ancient].map(critical), now);
        let mut times = |since: Option<Timestamp>, limit: u32| -> Vec<Timestamp> {
            let found = newest_events(&mut db, since, limit);
            found.into_iter().map(|one| one.event.time).collect()
        };
        assert_eq!(times(Some(Timestamp::MIN), 9), [ancient, now]);
        // The newest one.
        assert_eq!(times(None, 1), [now]);
        assert_eq!(times(Some(now), 9), [now]);
    }
}
