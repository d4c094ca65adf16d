//! Profiling sessions over many hosts, and their frames.

use std::collections::BTreeMap;

use gtrace_event::Timestamp;
use gtrace_fleet::{Measure, Metric, SESSIONS_MAX, slots_within};
use serde::{Deserialize, Serialize};

use super::sql::{DbError, Sql, Value};
use super::{Database, audit, nanos, time_of};

/// Frames that are removed in one transaction: others wait for it.
const REMOVED_TOGETHER: i64 = 5000;

/// A session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its number.
    pub id: i64,
    /// Its name. An earlier one of the same name stays under its number.
    pub name: String,
    /// Names of its hosts; empty for all.
    pub hosts: Vec<String>,
    /// Length of a frame.
    pub interval_ms: u32,
    /// What is measured.
    pub metrics: Vec<Metric>,
    /// When it was started.
    pub started: Timestamp,
    /// When it ends by itself.
    pub ends: Timestamp,
    /// When it ended; absent while it is on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stopped: Option<Timestamp>,
    /// Whether it was started by gswarm-profiler's routes, which know one at a time.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub gswarm: bool,
}

impl Session {
    /// Whether `host` takes part.
    pub fn includes(&self, host: &str) -> bool {
        self.hosts.is_empty() || self.hosts.iter().any(|name| name == host)
    }

    /// What a host of it measures.
    pub fn measure(&self) -> Measure {
        Measure {
            session: self.id,
            interval_ms: self.interval_ms,
            metrics: self.metrics.clone(),
        }
    }

    /// The intervals that lie wholly within it; until `now` where it is on.
    pub fn slots(&self, now: Timestamp) -> std::ops::Range<i64> {
        let end = self.stopped.unwrap_or(now);
        slots_within(nanos(self.started), nanos(end), self.interval_ms)
    }
}

/// Begins a session.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// Its name.
    pub name: String,
    /// Names of its hosts; empty for all.
    pub hosts: Vec<String>,
    /// Length of a frame.
    pub interval_ms: u32,
    /// What is measured.
    pub metrics: Vec<Metric>,
    /// When it ends by itself.
    pub ends: Timestamp,
    /// Whether it comes by gswarm-profiler's routes.
    pub gswarm: bool,
    /// Who asks.
    pub by: String,
}

/// Why a session is not begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotStarted {
    /// One of that name is on, or of gswarm's routes any.
    IsOn,
    /// This host, or every one, takes part in as many sessions as it may.
    Full(Option<String>),
}

/// What a host measured in one interval, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// The host's name.
    pub host: String,
    /// The measurements.
    #[serde(flatten)]
    pub frame: gtrace_fleet::HostFrame,
}

/// Where a page of frames begins: after this one, in the order of time, those of an interval by host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct After {
    /// The interval.
    pub slot: i64,
    /// Number of the host.
    pub host: i64,
}

/// What came of a host in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The host's name.
    pub host: String,
    /// Its frames.
    pub frames: u64,
    /// The first and the last interval of them.
    pub slots: (i64, i64),
    /// The largest bound of the error of its clock, ns.
    pub error_ns: i64,
}

/// Frames of a host on their way into the database.
#[derive(Debug)]
pub(crate) struct NewFrames {
    pub(crate) host: i64,
    pub(crate) session: i64,
    /// Interval, bound of the error, JSON.
    pub(crate) frames: Vec<(i64, i64, String)>,
}

const COLUMNS: &str =
    "id, name, hosts, interval_ms, metrics, started_ns, ends_ns, stopped_ns, origin";

/// It reads no other frames, of which a long session has very many: by `+host`, which no index has, it takes the one of intervals.
const NEWEST: &str =
    "SELECT max(slot) FROM frames WHERE session = $1 AND slot >= $2 GROUP BY +host";

const DELIVERED: &str = "SELECT hosts.name, f.frames, f.first, f.last, f.error FROM (SELECT host, count(*) AS frames, min(slot) AS first, \
     max(slot) AS last, max(error_ns) AS error FROM frames WHERE session = $1 GROUP BY host) AS f \
     JOIN hosts ON hosts.id = f.host ORDER BY hosts.name";

fn session(row: &[Value]) -> Session {
    let list = |value: &Value| -> Vec<String> {
        let parts = value.text().split(',').filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    };
    let metrics: Vec<Metric> = list(&row[4])
        .iter()
        .filter_map(|name| name.parse().ok())
        .collect();
    Session {
        id: row[0].int(),
        name: row[1].text().to_owned(),
        hosts: list(&row[2]),
        interval_ms: u32::try_from(row[3].int()).unwrap_or(u32::MAX),
        // Of a head before there was a choice.
        metrics: if metrics.is_empty() {
            Metric::all()
        } else {
            metrics
        },
        started: time_of(row[5].int()),
        ends: row[6].opt_int().map_or(Timestamp::MAX, time_of),
        stopped: row[7].opt_int().map(time_of),
        gswarm: row[8].text() == "gswarm",
    }
}

/// The sessions that are on, the oldest first.
fn on_now(sql: &mut dyn Sql) -> Result<Vec<Session>, DbError> {
    let rows = sql.rows(
        &format!("SELECT {COLUMNS} FROM sessions WHERE stopped_ns IS NULL ORDER BY id"),
        &[],
    )?;
    Ok(rows.iter().map(|row| session(row)).collect())
}

/// Which of `hosts`, all without one, takes part in as many sessions as it may; `Some(None)` where every host does.
fn full(on: &[Session], hosts: &[String]) -> Option<Option<String>> {
    let of_all = on.iter().filter(|session| session.hosts.is_empty()).count();
    if of_all >= SESSIONS_MAX {
        return Some(None);
    }
    let named = on.iter().flat_map(|session| &session.hosts);
    let mut of_host: BTreeMap<&str, usize> = BTreeMap::new();
    for host in named {
        *of_host.entry(host).or_default() += 1;
    }
    let is_full = |host: &&str| {
        let asked = hosts.is_empty() || hosts.iter().any(|asked| asked == host);
        asked && of_all + of_host.get(host).copied().unwrap_or_default() >= SESSIONS_MAX
    };
    let found = of_host.keys().copied().find(|host| is_full(host));
    found.map(|host| Some(host.to_owned()))
}

impl Database {
    /// Begins a session, unless one of that name is on, or of gswarm's routes any, or a host has as many as it takes part in.
    pub fn start_session(
        &mut self,
        new: &NewSession,
        now: Timestamp,
    ) -> Result<Result<Session, NotStarted>, DbError> {
        self.transaction(|sql| {
            let origin = if new.gswarm { "gswarm" } else { "" };
            let on = sql.rows(
                "SELECT id FROM sessions WHERE stopped_ns IS NULL AND (name = $1 OR (origin = $2 AND origin <> ''))",
                &[new.name.as_str().into(), origin.into()],
            )?;
            if !on.is_empty() {
                return Ok(Err(NotStarted::IsOn));
            }
            if let Some(full) = full(&on_now(sql)?, &new.hosts) {
                return Ok(Err(NotStarted::Full(full)));
            }
            let id = sql.number("SELECT max(id) FROM sessions", &[])? + 1;
            let metrics: Vec<&str> = new.metrics.iter().map(|metric| metric.name()).collect();
            sql.execute(
                "INSERT INTO sessions(id, name, hosts, interval_ms, metrics, started_ns, ends_ns, origin) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                &[
                    id.into(),
                    new.name.as_str().into(),
                    new.hosts.join(",").into(),
                    i64::from(new.interval_ms).into(),
                    metrics.join(",").into(),
                    nanos(now).into(),
                    nanos(new.ends).into(),
                    origin.into(),
                ],
            )?;
            audit(sql, &new.by, &format!("started session {}", new.name))?;
            Ok(Ok(Session {
                id,
                name: new.name.clone(),
                hosts: new.hosts.clone(),
                interval_ms: new.interval_ms,
                metrics: new.metrics.clone(),
                started: now,
                ends: new.ends,
                stopped: None,
                gswarm: new.gswarm,
            }))
        })
    }

    /// Ends the session with this number; `None` where it is not on.
    pub fn stop_session(
        &mut self,
        id: i64,
        by: &str,
        at: Timestamp,
    ) -> Result<Option<Session>, DbError> {
        self.transaction(|sql| {
            let changed = sql.execute(
                "UPDATE sessions SET stopped_ns = $1 WHERE id = $2 AND stopped_ns IS NULL",
                &[nanos(at).into(), id.into()],
            )?;
            let found = by_number(sql, id)?;
            let Some(found) = found.filter(|_| changed > 0) else {
                return Ok(None);
            };
            audit(sql, by, &format!("stopped session {}", found.name))?;
            Ok(Some(found))
        })
    }

    /// All sessions, the newest first.
    pub fn sessions(&mut self) -> Result<Vec<Session>, DbError> {
        let rows = self.sql.rows(
            &format!("SELECT {COLUMNS} FROM sessions ORDER BY id DESC LIMIT 10000"),
            &[],
        )?;
        Ok(rows.iter().map(|row| session(row)).collect())
    }

    /// The newest session of that name, or the one with that number.
    pub fn session(&mut self, name: &str) -> Result<Option<Session>, DbError> {
        let rows = self.sql.rows(
            &format!("SELECT {COLUMNS} FROM sessions WHERE name = $1 ORDER BY id DESC LIMIT 1"),
            &[name.into()],
        )?;
        match (rows.first(), name.parse()) {
            (Some(row), _) => Ok(Some(session(row))),
            (None, Ok(id)) => by_number(self.sql.as_mut(), id),
            (None, Err(_)) => Ok(None),
        }
    }

    /// The sessions that are on, the oldest first.
    pub fn sessions_on(&mut self) -> Result<Vec<Session>, DbError> {
        on_now(self.sql.as_mut())
    }

    /// Keeps frames of hosts, in one transaction. One that came before stays as it was; those of a session that the host does not
    /// belong to, or outside its time, are nobody's. How many were new.
    pub(crate) fn put_frames(&mut self, all: &[NewFrames], now: Timestamp) -> Result<u64, DbError> {
        self.transaction(|sql| {
            let mut new = 0;
            for NewFrames {
                host,
                session,
                frames,
            } in all
            {
                let names = sql.rows("SELECT name FROM hosts WHERE id = $1", &[(*host).into()])?;
                let name = names.first().map_or("", |row| row[0].text());
                let found = by_number(sql, *session)?.filter(|session| session.includes(name));
                let Some(found) = found else {
                    continue;
                };
                let within = found.slots(now);
                for (slot, error_ns, body) in frames {
                    if !within.contains(slot) {
                        continue;
                    }
                    new += sql.execute(
                        "INSERT INTO frames(session, host, slot, error_ns, body) VALUES ($1, $2, $3, $4, $5) \
                         ON CONFLICT (session, slot, host) DO NOTHING",
                        &[
                            (*session).into(),
                            (*host).into(),
                            (*slot).into(),
                            (*error_ns).into(),
                            body.as_str().into(),
                        ],
                    )?;
                }
            }
            Ok(new)
        })
    }

    /// Frames of a session after `after`, at most `limit`, and where to go on, if there may be more.
    pub fn frames(
        &mut self,
        session: i64,
        after: Option<After>,
        limit: u32,
    ) -> Result<(Vec<Frame>, Option<After>), DbError> {
        let after = after.unwrap_or(After {
            slot: i64::MIN,
            host: i64::MIN,
        });
        let sql = "SELECT hosts.name, f.body, f.slot, f.host FROM frames f JOIN hosts ON hosts.id = f.host \
                   WHERE f.session = $1 AND (f.slot, f.host) > ($2, $3) ORDER BY f.slot, f.host LIMIT $4";
        let mut frames = Vec::new();
        let (mut last, mut rows) = (None, 0);
        let parameters = [
            session.into(),
            after.slot.into(),
            after.host.into(),
            i64::from(limit).into(),
        ];
        self.sql.query(sql, &parameters, &mut |row| {
            rows += 1;
            last = Some(After {
                slot: row[2].int(),
                host: row[3].int(),
            });
            if let Ok(frame) = serde_json::from_str(row[1].text()) {
                frames.push(Frame {
                    host: row[0].text().to_owned(),
                    frame,
                });
            }
            true
        })?;
        Ok((frames, last.filter(|_| rows == limit)))
    }

    /// What came of each host in a session, by name: its frames are counted by an index that has all of that.
    pub fn delivered(&mut self, session: i64) -> Result<Vec<Delivered>, DbError> {
        let rows = self.sql.rows(DELIVERED, &[session.into()])?;
        let of = |row: &Vec<Value>| Delivered {
            host: row[0].text().to_owned(),
            frames: row[1].int().unsigned_abs(),
            slots: (row[2].int(), row[3].int()),
            error_ns: row[4].int(),
        };
        Ok(rows.iter().map(of).collect())
    }

    /// The newest interval of each host that has sent one from `from` on.
    pub(crate) fn newest_slots(&mut self, session: i64, from: i64) -> Result<Vec<i64>, DbError> {
        let rows = self.sql.rows(NEWEST, &[session.into(), from.into()])?;
        Ok(rows.iter().map(|row| row[0].int()).collect())
    }

    /// Removes sessions that ended before `before` with their frames, some thousand at a time so that nobody waits for long; how many
    /// sessions.
    pub fn retain_sessions(&mut self, before: Timestamp) -> Result<usize, DbError> {
        let old = self.sql.rows(
            "SELECT id FROM sessions WHERE stopped_ns < $1 ORDER BY id",
            &[nanos(before).into()],
        )?;
        for row in &old {
            loop {
                // Whole intervals: some more than that where many hosts take part.
                let bound = self.sql.rows(
                    "SELECT max(slot) FROM (SELECT slot FROM frames WHERE session = $1 ORDER BY slot LIMIT $2) AS oldest",
                    &[row[0].clone(), REMOVED_TOGETHER.into()],
                )?;
                let Some(slot) = bound.first().and_then(|row| row[0].opt_int()) else {
                    break;
                };
                self.sql.execute(
                    "DELETE FROM frames WHERE session = $1 AND slot <= $2",
                    &[row[0].clone(), slot.into()],
                )?;
            }
            self.sql
                .execute("DELETE FROM sessions WHERE id = $1", &[row[0].clone()])?;
        }
        Ok(old.len())
    }
}

fn by_number(sql: &mut dyn Sql, id: i64) -> Result<Option<Session>, DbError> {
    let rows = sql.rows(
        &format!("SELECT {COLUMNS} FROM sessions WHERE id = $1"),
        &[id.into()],
    )?;
    Ok(rows.first().map(|row| session(row)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::testing::with_hosts;

    #[test]
    fn a_host_takes_part_in_eight_sessions_and_is_free_again_once_one_has_ended() {
        let (_dir, mut db) = with_hosts(&[]);
        let start = |db: &mut Database, name: &str, hosts: &[&str]| {
            let new = NewSession {
                name: name.to_owned(),
                hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
                interval_ms: 200,
                metrics: Metric::all(),
                ends: Timestamp::MAX,
                gswarm: false,
                by: "test".to_owned(),
            };
            db.start_session(&new, Timestamp::UNIX_EPOCH).unwrap()
        };
        let first = start(&mut db, "all", &[]).unwrap();
        assert_eq!(start(&mut db, "all", &[]), Err(NotStarted::IsOn));
        for n in 1..SESSIONS_MAX {
            start(&mut db, &format!("of-a-{n}"), &["a"]).unwrap();
        }
        let full = Err(NotStarted::Full(Some("a".to_owned())));
        assert_eq!(start(&mut db, "more", &["a", "b"]), full);
        assert_eq!(start(&mut db, "more", &[]), full);
        start(&mut db, "of-b", &["b"]).unwrap();
        db.stop_session(first.id, "test", Timestamp::UNIX_EPOCH)
            .unwrap();
        start(&mut db, "more", &["a", "b"]).unwrap();
    }

    #[test]
    fn whether_the_newest_frames_have_come_is_known_without_reading_the_others() {
        let (_dir, mut db) = with_hosts(&[]);
        for (host, slot) in [(1_i64, 5_i64), (2, 99), (1, 98), (2, 100), (3, 5)] {
            let frame = "INSERT INTO frames(session, host, slot, body) VALUES (7, $1, $2, '')";
            let values = [host.into(), slot.into()];
            db.sql.execute(frame, &values).unwrap();
        }
        let mut newest = db.newest_slots(7, 90).unwrap();
        newest.sort_unstable();
        assert_eq!(newest, [98, 100]);
        let plan = format!("EXPLAIN QUERY PLAN {NEWEST}");
        let plan = db.sql.rows(&plan, &[7_i64.into(), 90_i64.into()]).unwrap();
        let reads = plan[0][3].text();
        assert!(reads.contains("(session=? AND slot>?)"), "{reads}");
    }

    #[test]
    fn frames_are_counted_without_reading_what_they_say() {
        let (_dir, mut db) = with_hosts(&["a"]);
        let plan = format!("EXPLAIN QUERY PLAN {DELIVERED}");
        let plan = db.sql.rows(&plan, &[7_i64.into()]).unwrap();
        let steps: Vec<&str> = plan.iter().map(|row| row[3].text()).collect();
        let is_by_index = |step: &&str| step.contains("COVERING INDEX frames_counted (session=?)");
        assert!(steps.iter().any(is_by_index), "{steps:?}");
    }
}
