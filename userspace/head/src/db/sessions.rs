//! Profiling sessions over many hosts, and their frames.

use gtrace_event::Timestamp;
use serde::{Deserialize, Serialize};

use super::sql::{DbError, Value};
use super::{Database, audit, nanos, time_of};

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
    /// When it was started.
    pub started: Timestamp,
    /// When it was stopped; absent while it is on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stopped: Option<Timestamp>,
}

impl Session {
    /// Whether `host` takes part.
    pub fn includes(&self, host: &str) -> bool {
        self.hosts.is_empty() || self.hosts.iter().any(|name| name == host)
    }
}

/// What a host measured in one interval, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// The host's name.
    pub host: String,
    /// Number of the interval, counted from 1970-01-01 by the head's clock.
    pub slot: i64,
    /// The measurements.
    pub body: gtrace_fleet::HostFrame,
}

impl Database {
    /// Begins a session; `None` where one of that name is on.
    ///
    /// # Errors
    /// [`DbError`].
    pub fn start_session(
        &mut self,
        name: &str,
        hosts: &[String],
        interval_ms: u32,
        by: &str,
        now: Timestamp,
    ) -> Result<Option<Session>, DbError> {
        self.transaction(|sql| {
            let on = sql.rows(
                "SELECT id FROM sessions WHERE name = $1 AND stopped_ns IS NULL",
                &[name.into()],
            )?;
            if !on.is_empty() {
                return Ok(None);
            }
            let rows = sql.rows("SELECT coalesce(max(id), 0) + 1 FROM sessions", &[])?;
            let id = rows.first().map_or(1, |row| row[0].int());
            sql.execute(
                "INSERT INTO sessions(id, name, hosts, interval_ms, started_ns) VALUES ($1, $2, $3, $4, $5)",
                &[
                    id.into(),
                    name.into(),
                    hosts.join(",").into(),
                    i64::from(interval_ms).into(),
                    nanos(now).into(),
                ],
            )?;
            audit(sql, by, &format!("started session {name}"))?;
            Ok(Some(Session {
                id,
                name: name.to_owned(),
                hosts: hosts.to_vec(),
                interval_ms,
                started: now,
                stopped: None,
            }))
        })
    }

    /// Ends the session of that name that is on; `None` where there is none.
    ///
    /// # Errors
    /// [`DbError`].
    pub fn stop_session(
        &mut self,
        name: &str,
        by: &str,
        now: Timestamp,
    ) -> Result<Option<Session>, DbError> {
        let on = |session: &Session| session.name == name && session.stopped.is_none();
        let found = self.sessions()?.into_iter().find(on);
        let Some(session) = found else {
            return Ok(None);
        };
        self.transaction(|sql| {
            sql.execute(
                "UPDATE sessions SET stopped_ns = $1 WHERE id = $2",
                &[nanos(now).into(), session.id.into()],
            )?;
            audit(sql, by, &format!("stopped session {name}"))
        })?;
        Ok(Some(Session {
            stopped: Some(now),
            ..session
        }))
    }

    /// All sessions, the newest first.
    ///
    /// # Errors
    /// [`DbError`].
    pub fn sessions(&mut self) -> Result<Vec<Session>, DbError> {
        let rows = self.sql.rows(
            "SELECT id, name, hosts, interval_ms, started_ns, stopped_ns FROM sessions ORDER BY id DESC",
            &[],
        )?;
        let of = |row: &Vec<Value>| Session {
            id: row[0].int(),
            name: row[1].text().to_owned(),
            hosts: row[2]
                .text()
                .split(',')
                .filter(|host| !host.is_empty())
                .map(str::to_owned)
                .collect(),
            interval_ms: u32::try_from(row[3].int()).unwrap_or(u32::MAX),
            started: time_of(row[4].int()),
            stopped: row[5].opt_int().map(time_of),
        };
        Ok(rows.iter().map(of).collect())
    }

    /// The sessions that are on.
    ///
    /// # Errors
    /// [`DbError`].
    pub fn sessions_on(&mut self) -> Result<Vec<Session>, DbError> {
        let mut sessions = self.sessions()?;
        sessions.retain(|session| session.stopped.is_none());
        Ok(sessions)
    }

    /// The name of the host with this number.
    ///
    /// # Errors
    /// [`DbError`].
    pub fn name_of(&mut self, host: i64) -> Result<Option<String>, DbError> {
        let rows = self
            .sql
            .rows("SELECT name FROM hosts WHERE id = $1", &[host.into()])?;
        Ok(rows.first().map(|row| row[0].text().to_owned()))
    }

    /// Keeps frames of a host; one that came before stays as it was.
    ///
    /// # Errors
    /// [`DbError`].
    pub fn put_frames(
        &mut self,
        session: i64,
        host: i64,
        frames: &[(i64, String)],
    ) -> Result<(), DbError> {
        self.transaction(|sql| {
            for (slot, body) in frames {
                sql.execute(
                    "INSERT INTO frames(session, host, slot, body) VALUES ($1, $2, $3, $4) \
                     ON CONFLICT (session, slot, host) DO NOTHING",
                    &[
                        session.into(),
                        host.into(),
                        (*slot).into(),
                        body.as_str().into(),
                    ],
                )?;
            }
            Ok(())
        })
    }

    /// Gives the frames of a session to `take`, in the order of time, those of an interval by host.
    ///
    /// # Errors
    /// [`DbError`].
    pub fn frames(&mut self, session: i64, mut take: impl FnMut(Frame)) -> Result<(), DbError> {
        let sql = "SELECT hosts.name, f.slot, f.body FROM frames f JOIN hosts ON hosts.id = f.host \
                   WHERE f.session = $1 ORDER BY f.slot, hosts.name";
        self.sql.query(sql, &[session.into()], &mut |row| {
            if let Ok(body) = serde_json::from_str(row[2].text()) {
                take(Frame {
                    host: row[0].text().to_owned(),
                    slot: row[1].int(),
                    body,
                });
            }
            true
        })
    }
}
