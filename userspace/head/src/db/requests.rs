//! What hosts were asked to do, and what they answered.

use gtrace_event::Timestamp;
use gtrace_fleet::remedy::{Order, Step};
use gtrace_fleet::{Ask, HostRequest, REQUESTS_MAX, RequestState};
use serde::{Deserialize, Serialize};

use super::sql::{DbError, Sql, Value};
use super::{Database, audit, nanos, remediation, time_of};

/// Reports that are kept, the newest.
const ANSWERS_KEPT: u32 = 32;
/// For so long the same attempt may ask again whether it may begin, as the answer may have been lost. What was found out before a reset or
/// a reboot is too old then.
const AGAIN_NS: i64 = 60_000_000_000;
/// Days for which requests are kept.
const KEPT_DAYS: i64 = 30;

/// A request to a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Its number.
    pub id: i64,
    /// The host's name in the fleet.
    pub host: String,
    /// What it was asked.
    pub ask: Ask,
    /// How far it is.
    pub state: RequestState,
    /// Who asked.
    pub by: String,
    /// When.
    pub made: Timestamp,
    /// Until when the host may begin; once it has begun, until when it may answer.
    pub deadline: Timestamp,
    /// What the host reported: why it did not, or what it did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reported: Option<String>,
    /// Bytes of the file that it answered with; 0 where there is none, or no longer.
    pub bytes: u64,
}

/// A request that is to be made.
#[derive(Clone, Debug)]
pub struct NewRequest {
    /// The host's name.
    pub host: String,
    /// What is asked.
    pub ask: Ask,
    /// Of those with the same key there is one: the first. Those of plans have one, those of people have none.
    pub key: Option<String>,
    /// The order of a plan that it carries out: it is asked for only if the order can be claimed.
    pub order: Option<Order>,
    /// Who asks.
    pub by: String,
    /// Until when the host may begin.
    pub deadline: Timestamp,
}

/// For how long the answer of a host that has begun is awaited: what it may take to do it, and to say so over a connection that breaks.
fn takes_ns(ask: &Ask) -> i64 {
    let seconds = match ask {
        // What a boot takes is part of it.
        Ask::Reboot => Step::Reboot.limit_s(),
        Ask::ResetGpu { .. } => 300,
        // Then it is written and sent.
        Ask::Trace(order) => i64::from(order.seconds) + 120,
        Ask::Report { .. } | Ask::Other => 120,
    };
    seconds * 1_000_000_000
}

/// Why a request was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAsked {
    /// No such host is in the fleet, or its credential was revoked.
    #[error("no host `{0}` is in the fleet")]
    NoHost(String),
    /// It has enough to do.
    #[error("host `{0}` has {REQUESTS_MAX} requests, which is the most")]
    Full(String),
    /// Somebody has changed its plan.
    #[error("plan {0} was changed")]
    Changed(i64),
}

/// Keys of what people asked for begin so.
const OF_PEOPLE: &str = "request:";

/// Of a request that was begun and not answered.
const IS_AWAITED: &str = "(state = 'begun' OR (state = 'expired' AND attempt <> ''))";

const COLUMNS: &str = "r.id, hosts.name, r.ask, r.state, r.made_by, r.made_ns, r.deadline_ns, r.reported, \
     CAST(coalesce(length(r.answer), 0) AS BIGINT) FROM requests r JOIN hosts ON hosts.id = r.host";

fn request(row: &[Value]) -> Option<Request> {
    Some(Request {
        id: row[0].int(),
        host: row[1].text().to_owned(),
        ask: serde_json::from_str(row[2].text()).ok()?,
        state: row[3].text().parse().ok()?,
        by: row[4].text().to_owned(),
        made: time_of(row[5].int()),
        deadline: time_of(row[6].int()),
        reported: row[7].opt_text().map(str::to_owned),
        bytes: row[8].int().unsigned_abs(),
    })
}

fn one(sql: &mut dyn Sql, condition: &str, value: Value) -> Result<Option<Request>, DbError> {
    let text = format!("SELECT {COLUMNS} WHERE {condition}");
    let rows = sql.rows(&text, &[value])?;
    Ok(rows.first().and_then(|row| request(row)))
}

impl Database {
    /// Asks a host for something.
    pub fn ask(
        &mut self,
        new: &NewRequest,
        now: Timestamp,
    ) -> Result<Result<Request, NotAsked>, DbError> {
        let ask = serde_json::to_string(&new.ask)?;
        self.durably(|sql| {
            // Of two that ask, the second sees what the first asked, and which number it has.
            remediation::lock(sql)?;
            // The newest stays: its number must not be used again.
            let oldest = nanos(now).saturating_sub(KEPT_DAYS * super::DAY_NS);
            sql.execute(
                "DELETE FROM requests WHERE made_ns < $1 AND id < (SELECT max(id) FROM requests)",
                &[oldest.into()],
            )?;
            let found = sql.execute(
                "UPDATE hosts SET taken = taken WHERE name = $1 AND revoked_ns IS NULL",
                &[new.host.as_str().into()],
            )?;
            if found == 0 {
                return Ok(Err(NotAsked::NoHost(new.host.clone())));
            }
            if let Some(key) = &new.key
                && let Some(known) = one(sql, "r.key = $1", key.as_str().into())?
            {
                return Ok(Ok(known));
            }
            // What people ask for is in no plan's way, nor the other way round.
            let same = match &new.key {
                None => "LIKE",
                Some(_) => "NOT LIKE",
            };
            let rows = sql.rows(
                &format!(
                    "SELECT (SELECT id FROM hosts WHERE name = $1), \
                     (SELECT count(*) FROM requests r JOIN hosts h ON h.id = r.host WHERE h.name = $1 \
                     AND r.state IN ('pending', 'begun') AND r.deadline_ns > $2 AND r.key {same} '{OF_PEOPLE}%'), \
                     (SELECT coalesce(max(id), 0) + 1 FROM requests)"
                ),
                &[new.host.as_str().into(), nanos(now).into()],
            )?;
            let Some([host, open, id]) = rows.first().map(Vec::as_slice) else {
                return Ok(Err(NotAsked::NoHost(new.host.clone())));
            };
            if open.int() >= REQUESTS_MAX as i64 {
                return Ok(Err(NotAsked::Full(new.host.clone())));
            }
            if let Some(order) = &new.order
                && remediation::claim(sql, order, now)?.is_none()
            {
                return Ok(Err(NotAsked::Changed(order.plan)));
            }
            let id = id.int();
            let key = new.key.clone().unwrap_or_else(|| format!("{OF_PEOPLE}{id}"));
            sql.execute(
                "INSERT INTO requests(id, host, key, state, ask, made_by, made_ns, deadline_ns) \
                 VALUES ($1, $2, $3, 'pending', $4, $5, $6, $7)",
                &[
                    id.into(),
                    host.clone(),
                    key.into(),
                    ask.into(),
                    new.by.as_str().into(),
                    nanos(now).into(),
                    nanos(new.deadline).into(),
                ],
            )?;
            audit(
                sql,
                &new.by,
                &format!("asked {} for {} (request {id})", new.host, new.ask),
            )?;
            one(sql, "r.id = $1", id.into())?
                .map(Ok)
                .ok_or_else(|| DbError::Corrupt(format!("no request {id}")))
        })
    }

    /// A request.
    pub fn request(&mut self, id: i64) -> Result<Option<Request>, DbError> {
        one(self.sql.as_mut(), "r.id = $1", id.into())
    }

    /// The request with this key.
    pub fn request_by_key(&mut self, key: &str) -> Result<Option<Request>, DbError> {
        one(self.sql.as_mut(), "r.key = $1", key.into())
    }

    /// The file that a host answered with.
    pub fn request_file(&mut self, id: i64) -> Result<Option<Vec<u8>>, DbError> {
        let rows = self.sql.rows(
            "SELECT answer FROM requests WHERE id = $1 AND answer IS NOT NULL",
            &[id.into()],
        )?;
        Ok(rows.first().map(|row| row[0].bytes().to_vec()))
    }

    /// Requests that hosts have not taken, with the numbers of the hosts; and whether the time of one is over.
    pub fn open_requests(
        &mut self,
        now: Timestamp,
    ) -> Result<(Vec<(i64, HostRequest)>, bool), DbError> {
        let rows = self.sql.rows(
            "SELECT host, id, ask, state, deadline_ns FROM requests WHERE state IN ('pending', 'begun') ORDER BY id",
            &[],
        )?;
        let is_over = |row: &Vec<Value>| row[4].int() <= nanos(now);
        let any_over = rows.iter().any(is_over);
        let open = rows
            .iter()
            .filter(|row| !is_over(row) && row[3].text() == RequestState::Pending.name());
        let of = |row: &Vec<Value>| {
            let ask = serde_json::from_str(row[2].text()).ok()?;
            Some((
                row[0].int(),
                HostRequest {
                    id: row[1].int(),
                    ask,
                },
            ))
        };
        Ok((open.filter_map(of).collect(), any_over))
    }

    /// Notes that the time of requests is over.
    pub fn expire_requests(&mut self, now: Timestamp) -> Result<(), DbError> {
        let changed = self.sql.execute(
            "UPDATE requests SET state = 'expired', reported = CASE state WHEN 'pending' THEN 'the host did not take it in time' \
             ELSE 'the host began and did not answer in time' END WHERE state IN ('pending', 'begun') AND deadline_ns <= $1",
            &[nanos(now).into()],
        );
        changed.map(drop)
    }

    /// The host `host` begins; whether it may: a request is begun once, in its time. From then on it has the time that it may take. The same
    /// attempt may ask again soon, as the answer to it may have been lost.
    pub fn begin_request(
        &mut self,
        id: i64,
        host: i64,
        attempt: &str,
        now: Timestamp,
    ) -> Result<bool, DbError> {
        self.durably(|sql| {
            let Some(request) = one(sql, "r.id = $1", id.into())? else {
                return Ok(false);
            };
            let until = nanos(now).saturating_add(takes_ns(&request.ask));
            let begun = sql.execute(
                "UPDATE requests SET state = 'begun', attempt = $1, deadline_ns = $2 WHERE id = $3 AND host = $4 AND state = 'pending' \
                 AND deadline_ns > $5",
                &[
                    attempt.into(),
                    until.into(),
                    id.into(),
                    host.into(),
                    nanos(now).into(),
                ],
            )?;
            if begun > 0 {
                note(sql, id, "began")?;
                return Ok(true);
            }
            let again = sql.rows(
                "SELECT 1 FROM requests WHERE attempt = $1 AND id = $2 AND host = $3 AND state = 'begun' AND deadline_ns > $4",
                &[
                    attempt.into(),
                    id.into(),
                    host.into(),
                    until.saturating_sub(AGAIN_NS).into(),
                ],
            )?;
            Ok(!attempt.is_empty() && !again.is_empty())
        })
    }

    /// Whether an answer of the host `host` is taken: it has begun, and not answered, though its time may be over.
    pub fn is_awaited(&mut self, id: i64, host: i64) -> Result<bool, DbError> {
        let rows = self.sql.rows(
            &format!("SELECT 1 FROM requests WHERE id = $1 AND host = $2 AND {IS_AWAITED}"),
            &[id.into(), host.into()],
        )?;
        Ok(!rows.is_empty())
    }

    /// The host `host` answers; whether that was awaited.
    pub fn answer_request(
        &mut self,
        id: i64,
        host: i64,
        answer: Result<(&str, &[u8]), &str>,
    ) -> Result<bool, DbError> {
        let (state, reported, file) = match answer {
            Ok((text, file)) => (
                RequestState::Done,
                text,
                Some(file).filter(|f| !f.is_empty()),
            ),
            Err(why) => (RequestState::Failed, why, None),
        };
        self.transaction(|sql| {
            let taken = sql.execute(
                &format!(
                    "UPDATE requests SET state = $1, reported = $2, answer = $3 WHERE id = $4 AND host = $5 AND {IS_AWAITED}"
                ),
                &[
                    state.name().into(),
                    reported.into(),
                    file.into(),
                    id.into(),
                    host.into(),
                ],
            )?;
            if taken == 0 {
                return Ok(false);
            }
            sql.execute(
                &format!(
                    "UPDATE requests SET answer = NULL WHERE answer IS NOT NULL AND id NOT IN \
                     (SELECT id FROM requests WHERE answer IS NOT NULL ORDER BY id DESC LIMIT {ANSWERS_KEPT})"
                ),
                &[],
            )?;
            note(sql, id, &format!("answered: {}", state.name()))?;
            Ok(true)
        })
    }
}

/// A line of the audit about a request, by its host.
fn note(sql: &mut dyn Sql, id: i64, what: &str) -> Result<(), DbError> {
    let Some(of) = one(sql, "r.id = $1", id.into())? else {
        return Ok(());
    };
    let reported = match (&of.reported, of.bytes) {
        (Some(text), 0) if !text.is_empty() => format!(" ({text})"),
        (_, 0) => String::new(),
        (_, bytes) => format!(" ({bytes} bytes)"),
    };
    audit(
        sql,
        &of.host,
        &format!("{what} request {id}, {}{reported}", of.ask),
    )
}
