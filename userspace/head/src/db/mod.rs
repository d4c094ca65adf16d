//! What a head keeps: hosts, their records and positions, incidents, tokens. One set of statements for two databases.

mod bounds;
mod cohorts;
mod ingest;
mod latency;
mod lemons;
mod lost;
mod notes;
mod postgres;
mod postgres_server;
mod query;
mod remediation;
mod requests;
mod schema;
mod sessions;
mod sql;
mod sqlite;
mod tallies;
#[cfg(test)]
mod tallies_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod usage;
mod verify;

use std::collections::BTreeMap;
use std::time::Instant;

pub(crate) use gtrace_event::nanos;
use gtrace_event::{GpuUsage, ProcessEnds, Timestamp};
use gtrace_fleet::{HostState, Position};
use sha2::{Digest as _, Sha256};

pub use self::cohorts::{Factor, Versions};
pub use self::ingest::{Arrived, Ingested};
pub use self::latency::{CallsOfDay, LatencyBy, LatencyLine, LatencyQuery, LatencyReport};
pub use self::lemons::{Placed, Unit};
pub(crate) use self::notes::{Note, ReadOf};
pub(crate) use self::postgres::Listener;
pub(crate) use self::query::MARKS_OF_HOST;
pub use self::query::{EventQuery, FleetEvent, FleetIncident, IncidentQuery, Mark};
pub(crate) use self::remediation::request_key;
pub use self::remediation::{Bound, Change, Plans, Turned, UnreadablePlan, Wish};
pub use self::requests::{NewRequest, NotAsked, Request};
pub(crate) use self::sessions::NewFrames;
pub use self::sessions::{After, Delivered, Frame, NewSession, NotStarted, Session};
pub use self::sql::{DbError, Place};
use self::sql::{Sql, Value};
pub use self::tallies::Tallies;
pub(crate) use self::tallies::today;
pub use self::usage::{UsageBy, UsageLine, UsageQuery, UsageReport};
pub use self::verify::ChainReport;

/// SHA-256 of a secret: what is kept of it.
pub(crate) type Digest = [u8; 32];

pub(crate) fn digest(secret: &str) -> Digest {
    Sha256::digest(secret.as_bytes()).into()
}

/// Nanoseconds of a day.
const DAY_NS: i64 = 86_400_000_000_000;

/// Lines of the audit that are younger stay, however short the retention is.
const AUDIT_NS: i64 = 365 * DAY_NS;

/// A time that is further ahead was noted under a clock that was wrong, and holds nothing up.
pub(crate) const AHEAD_NS: i64 = 60_000_000_000;

/// What hosts say that is further ahead is not taken for the newest: their clocks are, or they say so.
const CLOCK_AHEAD_NS: i64 = 3_600_000_000_000;

pub(crate) fn time_of(nanos: i64) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(nanos)).unwrap_or(Timestamp::MAX)
}

/// A connection to the fleet's database.
pub struct Database {
    sql: Box<dyn Sql>,
    /// The head that has the others know what it takes.
    head: Option<String>,
    /// The lease by which another head carries plans out, as it was found last, and since when it is so.
    lease: Option<(i64, Instant)>,
}

/// A host as the database has it.
#[derive(Clone, Debug, Default)]
pub struct HostRow {
    /// Its number.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// Its machine, where it reported one.
    pub machine_id: Option<String>,
    /// Whether it is generated.
    pub simulated: bool,
    /// When it came into the fleet.
    pub enrolled: Timestamp,
    /// When its credential was revoked.
    pub revoked: Option<Timestamp>,
    /// When it reported last.
    pub seen: Option<Timestamp>,
    /// Its newest state.
    pub state: Option<HostState>,
    /// The newest record of it that was taken.
    pub cursor: Option<Position>,
    /// How many of its records were taken.
    pub taken: u64,
    /// Number of the newest record of its store, as it reported.
    pub tip: u64,
    /// How often its store lost records or was replaced.
    pub forks: u64,
    /// Gaps in its numbers that no record explains yet.
    pub open_gaps: u64,
    /// Where its chain does not hold.
    pub faults: Vec<String>,
}

/// A state on its way into the database.
#[derive(Clone, Debug)]
pub struct NewState {
    /// Number of the host.
    pub host: i64,
    /// The state, JSON.
    pub state: String,
    /// Number of the newest record of its store.
    pub tip: u64,
    /// Where its GPUs are, if that is to be noted now.
    pub gpus: Vec<Placed>,
    /// Who had them for how long.
    pub usage: Vec<GpuUsage>,
    /// How processes of jobs and pods ended.
    pub ends: Vec<ProcessEnds>,
    /// How long their calls took.
    pub latency: Vec<CallsOfDay>,
    /// When it came from the host.
    pub seen: Timestamp,
}

/// Why a host is not taken into the fleet.
#[derive(Debug, thiserror::Error)]
pub enum EnrollError {
    /// The token is not one, or is no longer.
    #[error("the join token is unknown, used up or has expired: make one with `gtrace head token`")]
    Token,
    /// The token is for another host.
    #[error("the join token is for host `{0}`")]
    OtherHost(String),
    /// The name is another machine's.
    #[error(
        "host `{0}` is in the fleet with another machine-id: if it was installed anew, make a token for it \
         with `gtrace head token --host`, else name this one differently"
    )]
    NameTaken(String),
    /// The host was put out of the fleet, and the token is for any host: it may have kept it.
    #[error(
        "host `{0}` was revoked: to take it back, make a token for it with `gtrace head token --host`"
    )]
    Revoked(String),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DbError),
}

impl Database {
    /// Opens the database, and makes its tables where they are not there.
    pub fn open(place: &Place) -> Result<Self, DbError> {
        let mut sql: Box<dyn Sql> = match place {
            Place::File(path) => Box::new(sqlite::Sqlite::open(path)?),
            Place::Postgres(url) => Box::new(postgres::Postgres::open(url, place)?),
        };
        let partitioned = sql.bytes_type() == "BYTEA";
        let parent = format!(
            "CREATE TABLE records(day BIGINT NOT NULL, {}, {}) PARTITION BY RANGE (day);",
            schema::RECORD_COLUMNS
                .replace("{bytes}", "BYTEA")
                .replace(", PRIMARY KEY (host, n)", ""),
            "PRIMARY KEY (host, n, day)"
        );
        schema::create(sql.as_mut(), partitioned.then_some(parent.as_str()))?;
        Ok(Self {
            sql,
            head: None,
            lease: None,
        })
    }

    /// Has the other heads of the database know what is taken over this connection, and by which head.
    pub(crate) fn announce_as(&mut self, head: String) {
        self.head = Some(head);
    }

    /// Does all of `work`, or nothing.
    fn transaction<T, E: From<DbError>>(
        &mut self,
        work: impl FnOnce(&mut dyn Sql) -> Result<T, E>,
    ) -> Result<T, E> {
        self.sql.check_place()?;
        self.sql.batch(match self.sql.bytes_type() {
            "BLOB" => "BEGIN IMMEDIATE",
            _ => "BEGIN",
        })?;
        let done = work(self.sql.as_mut());
        match &done {
            Ok(_) => self.sql.batch("COMMIT")?,
            Err(_) => drop(self.sql.batch("ROLLBACK")),
        }
        done
    }

    /// The same, and what it wrote outlives a power cut: what was begun must not be begun again.
    fn durably<T, E: From<DbError>>(
        &mut self,
        work: impl FnOnce(&mut dyn Sql) -> Result<T, E>,
    ) -> Result<T, E> {
        // PostgreSQL always does so.
        if self.sql.bytes_type() != "BLOB" {
            return self.transaction(work);
        }
        self.sql.batch("PRAGMA synchronous = FULL")?;
        let done = self.transaction(work);
        self.sql.batch("PRAGMA synchronous = NORMAL")?;
        done
    }

    /// Notes a join token, by its digest.
    pub fn add_token(
        &mut self,
        token: &str,
        host: Option<&str>,
        expires: Timestamp,
        uses: u32,
        by: &str,
    ) -> Result<(), DbError> {
        let now = nanos(Timestamp::now());
        self.transaction(|sql| {
            sql.execute("DELETE FROM tokens WHERE expires_ns < $1", &[now.into()])?;
            sql.execute(
                "INSERT INTO tokens(hash, host, expires_ns, uses, made_by) VALUES ($1, $2, $3, $4, $5)",
                &[
                    digest(token).as_slice().into(),
                    host.into(),
                    nanos(expires).into(),
                    i64::from(uses).into(),
                    by.into(),
                ],
            )?;
            audit(sql, by, "made a join token")
        })
    }

    /// Takes a host into the fleet; its number. A machine that comes again under its name gets a new credential.
    pub fn enroll(
        &mut self,
        request: &gtrace_fleet::EnrollRequest,
        credential: &str,
        now: Timestamp,
    ) -> Result<i64, EnrollError> {
        let hash: Value = digest(&request.token).as_slice().into();
        self.transaction(|sql| {
            // Locks the token: of two that use it for the last time, one finds it used up.
            let used = sql.execute(
                "UPDATE tokens SET uses = uses - 1 WHERE hash = $1 AND uses > 0 AND expires_ns > $2",
                &[hash.clone(), nanos(now).into()],
            )?;
            if used == 0 {
                return Err(EnrollError::Token);
            }
            let token = sql.rows("SELECT host FROM tokens WHERE hash = $1", &[hash])?;
            let bound = token.first().and_then(|row| row[0].opt_text());
            if let Some(host) = bound.filter(|host| *host != request.host) {
                return Err(EnrollError::OtherHost(host.to_owned()));
            }
            let known = sql.rows(
                "SELECT id, machine_id, revoked_ns FROM hosts WHERE name = $1",
                &[request.host.as_str().into()],
            )?;
            let credential: Value = digest(credential).as_slice().into();
            let id = match known.first() {
                Some(row) => {
                    // Without a machine-id nothing shows that it is the same host.
                    let same = row[1].opt_text().is_some()
                        && row[1].opt_text() == request.machine_id.as_deref();
                    if !same && bound.is_none() {
                        return Err(EnrollError::NameTaken(request.host.clone()));
                    }
                    if row[2].opt_int().is_some() && bound.is_none() {
                        return Err(EnrollError::Revoked(request.host.clone()));
                    }
                    sql.execute(
                        "UPDATE hosts SET credential = $1, machine_id = $2, revoked_ns = NULL WHERE id = $3",
                        &[credential, request.machine_id.clone().into(), row[0].clone()],
                    )?;
                    row[0].int()
                }
                None => {
                    let id = sql.number("SELECT max(id) FROM hosts", &[])? + 1;
                    sql.execute(
                        "INSERT INTO hosts(id, name, machine_id, simulated, credential, enrolled_ns, taken, tip, forks) \
                         VALUES ($1, $2, $3, $4, $5, $6, 0, 0, 0)",
                        &[
                            id.into(),
                            request.host.as_str().into(),
                            request.machine_id.clone().into(),
                            i64::from(request.simulated).into(),
                            credential,
                            nanos(now).into(),
                        ],
                    )?;
                    id
                }
            };
            audit(sql, &request.host, "enrolled")?;
            Ok(id)
        })
    }

    /// Refuses a host's credential from now on; whether there is such a host.
    pub fn revoke(&mut self, host: &str, by: &str, now: Timestamp) -> Result<bool, DbError> {
        self.transaction(|sql| {
            let changed = sql.execute(
                "UPDATE hosts SET revoked_ns = $1 WHERE name = $2",
                &[nanos(now).into(), host.into()],
            )?;
            if changed > 0 {
                // It may have kept one that is good for another use.
                sql.execute("DELETE FROM tokens WHERE host = $1", &[host.into()])?;
                audit(sql, by, &format!("revoked the credential of {host}"))?;
            }
            Ok(changed > 0)
        })
    }

    /// The digest of a host's credential and its name, unless it was revoked.
    pub(crate) fn credential(&mut self, host: i64) -> Result<Option<(Vec<u8>, String)>, DbError> {
        let rows = self.sql.rows(
            "SELECT credential, name FROM hosts WHERE id = $1 AND revoked_ns IS NULL",
            &[host.into()],
        )?;
        let of = |row: &Vec<Value>| (row[0].bytes().to_vec(), row[1].text().to_owned());
        Ok(rows.first().map(of))
    }

    /// Writes a number that nobody reads: whether anything can be written.
    pub(crate) fn touch(&mut self) -> Result<(), DbError> {
        // Another one each time: SQLite writes no page that stays as it is.
        let next = "INSERT INTO meta VALUES ('touched', 1) ON CONFLICT (key) DO UPDATE SET value = meta.value + 1";
        self.transaction(|sql| sql.execute(next, &[]).map(drop))
    }

    /// All hosts, by name.
    pub fn hosts(&mut self) -> Result<Vec<HostRow>, DbError> {
        self.hosts_of(None, &|_| true)
    }

    /// All hosts, by name, with the states of those that are `wanted`: they are most of what there is to read.
    pub(crate) fn hosts_with_states(
        &mut self,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<HostRow>, DbError> {
        self.hosts_of(None, &wanted)
    }

    /// Machine-ids of hosts by their names, where they have reported them.
    pub(crate) fn machines(&mut self) -> Result<BTreeMap<String, String>, DbError> {
        let machines = "SELECT name, machine_id FROM hosts WHERE machine_id IS NOT NULL";
        let rows = self.sql.rows(machines, &[])?;
        let of = |row: &Vec<Value>| (row[0].text().to_owned(), row[1].text().to_owned());
        Ok(rows.iter().map(of).collect())
    }

    /// How many hosts there are.
    pub fn count_hosts(&mut self) -> Result<i64, DbError> {
        self.sql.number("SELECT count(*) FROM hosts", &[])
    }

    /// The host of this name.
    pub fn host(&mut self, name: &str) -> Result<Option<HostRow>, DbError> {
        Ok(self.hosts_of(Some(name), &|_| true)?.pop())
    }

    fn hosts_of(
        &mut self,
        name: Option<&str>,
        has_state: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<HostRow>, DbError> {
        let (only, of_it, parameters) = match name {
            Some(name) => (
                "WHERE name = $1",
                "WHERE host = (SELECT id FROM hosts WHERE name = $1)",
                vec![name.into()],
            ),
            None => ("", "", Vec::new()),
        };
        let rows = self.sql.rows(
            &format!(
                "SELECT id, name, machine_id, simulated, enrolled_ns, revoked_ns, seen_ns, state, cursor, taken, tip, forks, \
                 (SELECT count(*) FROM gaps WHERE gaps.host = hosts.id AND explained = 0) FROM hosts {only} ORDER BY name"
            ),
            &parameters,
        )?;
        let mut faults = BTreeMap::<i64, Vec<String>>::new();
        self.sql.query(
            &format!(
                "SELECT host, text FROM (SELECT host, text, row_number() OVER (PARTITION BY host ORDER BY time_ns DESC) AS k \
                 FROM faults {of_it}) AS newest WHERE k <= 20"
            ),
            &parameters,
            &mut |row| {
                faults
                    .entry(row[0].int())
                    .or_default()
                    .push(row[1].text().to_owned());
                true
            },
        )?;
        let host = |row: &Vec<Value>| HostRow {
            id: row[0].int(),
            name: row[1].text().to_owned(),
            machine_id: row[2].opt_text().map(str::to_owned),
            simulated: row[3].int() != 0,
            enrolled: time_of(row[4].int()),
            revoked: row[5].opt_int().map(time_of),
            seen: row[6].opt_int().map(time_of),
            state: row[7]
                .opt_text()
                .filter(|_| has_state(row[1].text()))
                .and_then(|t| serde_json::from_str(t).ok()),
            cursor: position(&row[8]),
            taken: row[9].int().unsigned_abs(),
            tip: row[10].int().unsigned_abs(),
            forks: row[11].int().unsigned_abs(),
            open_gaps: row[12].int().unsigned_abs(),
            faults: faults.get(&row[0].int()).cloned().unwrap_or_default(),
        };
        Ok(rows.iter().map(host).collect())
    }

    /// Notes the states of hosts, as they reported them, and where their GPUs are. One that is older than that which is there changes nothing: what
    /// came through a stream may come late.
    pub fn put_states(&mut self, states: &[NewState], now: Timestamp) -> Result<(), DbError> {
        // By number, as in `ingest`.
        let mut by_host: Vec<&NewState> = states.iter().collect();
        by_host.sort_by_key(|state| state.host);
        self.transaction(|sql| {
            for NewState {
                host,
                state,
                tip,
                gpus,
                usage,
                ends,
                latency,
                seen,
            } in by_host
            {
                let (seen_ns, now) = (nanos(*seen), nanos(now));
                let newer = sql.execute(
                    "UPDATE hosts SET state = $1, state_ns = $2, tip = $3 \
                     WHERE id = $4 AND (state_ns IS NULL OR state_ns <= $2 OR state_ns > $5)",
                    &[
                        state.as_str().into(),
                        seen_ns.into(),
                        i64::try_from(*tip).unwrap_or(i64::MAX).into(),
                        (*host).into(),
                        now.saturating_add(AHEAD_NS).into(),
                    ],
                )?;
                // Totals: those that come late change nothing.
                usage::put(sql, *host, usage, *seen)?;
                usage::put_ends(sql, *host, ends, *seen)?;
                latency::put(sql, *host, latency, *seen)?;
                if newer > 0 {
                    see(sql, *host, seen_ns, now)?;
                    lemons::place(sql, *host, gpus, *seen)?;
                }
            }
            Ok(())
        })
    }

    /// The newest record of a host that was taken.
    pub fn cursor(&mut self, host: i64) -> Result<Option<Position>, DbError> {
        let rows = self
            .sql
            .rows("SELECT cursor FROM hosts WHERE id = $1", &[host.into()])?;
        Ok(rows.first().and_then(|row| position(&row[0])))
    }

    /// The newest record of each epoch of a host, the newest epoch first; at most 256.
    pub fn cursors(&mut self, host: i64) -> Result<Vec<Position>, DbError> {
        let rows = self.sql.rows(
            "SELECT epoch, last_seq, last_hash FROM epochs WHERE host = $1 ORDER BY last_n DESC LIMIT 256",
            &[host.into()],
        )?;
        let of = |row: &Vec<Value>| epoch_position(&row[0], &row[1], &row[2]);
        Ok(rows.iter().filter_map(of).collect())
    }

    /// Drops the records that came before `day` (days since 1970-01-01), and what is known of that time; how many days went.
    pub fn retain(&mut self, day: i64) -> Result<usize, DbError> {
        self.transaction(|sql| {
            let old = sql.rows(
                "SELECT day, name FROM days WHERE day < $1 ORDER BY day",
                &[day.into()],
            )?;
            for row in &old {
                sql.batch(&format!("DROP TABLE {}", row[1].text()))?;
                sql.execute("DELETE FROM days WHERE day = $1", &[row[0].clone()])?;
            }
            let before = day.saturating_mul(DAY_NS);
            // With the failures of that time.
            let places = sql.execute("DELETE FROM placements WHERE day < $1", &[day.into()])?;
            // Nobody resolves those of a host that is out of the fleet.
            let incidents = sql.execute(
                "DELETE FROM incidents WHERE (last_ns < $1 AND state = 'resolved') \
                 OR host IN (SELECT id FROM hosts WHERE revoked_ns < $1)",
                &[before.into()],
            )?;
            sql.execute(
                "DELETE FROM gpu_resets WHERE time_ns < $1",
                &[before.into()],
            )?;
            if places + incidents > 0 {
                tallies::note_removal(sql)?;
            }
            sql.execute("DELETE FROM faults WHERE time_ns < $1", &[before.into()])?;
            sql.execute("DELETE FROM gaps WHERE explained = 1", &[])?;
            let a_year_ago = nanos(Timestamp::now()).saturating_sub(AUDIT_NS);
            sql.execute(
                "DELETE FROM audit WHERE time_ns < $1",
                &[before.min(a_year_ago).into()],
            )?;
            remediation::retain(sql, before)?;
            usage::retain(sql, day)?;
            Ok(old.len())
        })
    }

    /// Who did what, the newest first.
    pub fn audit(&mut self, limit: u32) -> Result<Vec<(Timestamp, String, String)>, DbError> {
        let rows = self.sql.rows(
            "SELECT time_ns, who, what FROM audit ORDER BY time_ns DESC LIMIT $1",
            &[i64::from(limit).into()],
        )?;
        let of = |row: &Vec<Value>| {
            let (who, what) = (row[1].text().to_owned(), row[2].text().to_owned());
            (time_of(row[0].int()), who, what)
        };
        Ok(rows.iter().map(of).collect())
    }
}

/// Notes when a host was seen, unless it was seen later.
fn see(sql: &mut dyn Sql, host: i64, seen_ns: i64, now_ns: i64) -> Result<(), DbError> {
    sql.execute(
        "UPDATE hosts SET seen_ns = $1 WHERE id = $2 AND (seen_ns IS NULL OR seen_ns < $1 OR seen_ns > $3)",
        &[
            seen_ns.into(),
            host.into(),
            now_ns.saturating_add(AHEAD_NS).into(),
        ],
    )
    .map(drop)
}

fn audit(sql: &mut dyn Sql, who: &str, what: &str) -> Result<(), DbError> {
    sql.execute(
        "INSERT INTO audit(time_ns, who, what) VALUES ($1, $2, $3)",
        &[nanos(Timestamp::now()).into(), who.into(), what.into()],
    )
    .map(drop)
}

fn position(text: &Value) -> Option<Position> {
    let text = text.opt_text()?;
    serde_json::from_value(serde_json::Value::from(text)).ok()
}

fn epoch_position(epoch: &Value, seq: &Value, hash: &Value) -> Option<Position> {
    let epoch = epoch.opt_text()?.parse().ok()?;
    let hash = gtrace_store::Hash(hash.bytes().try_into().ok()?);
    Some(Position::new(epoch, seq.int().unsigned_abs(), hash))
}
