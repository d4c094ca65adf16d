//! How long owners of jobs had GPUs, and how busy these were: rows that hosts count, added up.

use std::collections::{BTreeMap, BTreeSet};

use gtrace_event::{GpuUsage, Holder, ProcessEnds, Record, Timestamp};
use jiff::civil::{Date, date};
use serde::{Deserialize, Serialize};

use super::sql::{DbError, Sql, Value};
use super::{DAY_NS, Database, nanos, time_of};

/// Rows of a state; agents keep no more.
const OF_STATE: usize = 512;
/// Rows of a host: a month of the most that an agent keeps of a day. The oldest days go.
const ROWS_MAX: i64 = 16_384;
/// Bytes of a text.
const TEXT_MAX: usize = 512;
/// Processes of a job and day. More are as many.
const ENDS_MAX: u64 = 1_000_000_000;
/// A host whose clock is so far from the head's counts for no day.
const DAYS_OFF: i64 = 40;
/// Incidents that are read for the jobs that they name, the newest.
const INCIDENTS: u32 = 20_000;

/// What usage is added up by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UsageBy {
    /// Namespace of pods, user of jobs and processes, remote client.
    Owner,
    /// Job or pod.
    Job,
    /// Host.
    Host,
    /// GPU.
    Gpu,
    /// Model of the GPU.
    Model,
    /// Value of a label.
    Label(String),
}

/// Which usage is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageQuery {
    /// From the day of this time on.
    pub since: Timestamp,
    /// To the day of this time.
    pub until: Timestamp,
    /// Added up by.
    pub by: UsageBy,
    /// Only of this owner, as lines by owner are named.
    pub owner: Option<String>,
    /// Only of this job, as lines by job are named.
    pub job: Option<String>,
    /// Only of these hosts.
    pub hosts: Option<BTreeSet<String>>,
}

/// GPU-hours of one name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UsageLine {
    /// The owner, job, host, GPU, model or label.
    pub name: String,
    /// GPU-hours; of a GPU that several had each has its part.
    pub hours: f64,
    /// Of them, hours with known utilisation.
    pub measured_hours: f64,
    /// Of those measured, hours in which a kernel ran.
    pub busy_hours: f64,
    /// Of those measured, hours in which none ran.
    pub idle_hours: f64,
    /// Different GPUs.
    pub gpus: u64,
    /// Different hosts.
    pub hosts: u64,
    /// Different jobs and pods.
    pub jobs: u64,
    /// Of them, those that an incident names which is no drill.
    pub jobs_with_incident: u64,
    /// Of them, those of which a process that had a GPU open was ended by a signal, or with another status than 0.
    #[serde(default)]
    pub jobs_failed: u64,
    /// The hours by model, for a price.
    pub models: BTreeMap<String, f64>,
    /// The same of the idle hours.
    pub idle_models: BTreeMap<String, f64>,
    /// When a GPU was seen with it first and last, in the days asked for.
    pub first: Option<Timestamp>,
    /// See `first`.
    pub last: Option<Timestamp>,
}

/// GPU-hours of a fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UsageReport {
    /// First day, UTC.
    pub since: Date,
    /// Last day.
    pub until: Date,
    /// All that somebody had.
    pub held: UsageLine,
    /// Hours of GPUs that nobody had; 0 where an owner or a job is asked for.
    pub free_hours: f64,
    /// By name, the most hours first.
    pub lines: Vec<UsageLine>,
}

pub(super) fn day_of(time: Timestamp) -> i64 {
    nanos(time).div_euclid(DAY_NS)
}

pub(super) fn date_of(day: i64) -> Date {
    let time = time_of(day.saturating_mul(DAY_NS));
    time.to_zoned(jiff::tz::TimeZone::UTC).date()
}

/// Takes what a host has counted. Totals grow: a row that came before, or is older than what is there, changes nothing.
pub(super) fn put(
    sql: &mut dyn Sql,
    host: i64,
    rows: &[GpuUsage],
    now: Timestamp,
) -> Result<(), DbError> {
    let (today, mut new) = (day_of(now), 0);
    for row in rows.iter().take(OF_STATE) {
        let day = row.day.duration_since(date(1970, 1, 1)).as_hours() / 24;
        let holder = match &row.holder {
            None => String::new(),
            Some(holder) => serde_json::to_string(holder).unwrap_or_default(),
        };
        let (uuid, model) = (row.uuid.as_deref(), row.model.as_deref());
        let texts = [uuid, model, Some(holder.as_str())];
        let fits = |text: &&str| text.len() <= TEXT_MAX && !text.contains('\0');
        let is_sound = texts.iter().flatten().all(fits) && (day - today).abs() <= DAYS_OFF;
        // No day has more.
        let ms = |seconds: f64| Value::Int((seconds.clamp(0.0, 86_400.0) * 1000.0) as i64);
        if !is_sound {
            continue;
        }
        let times = [nanos(row.first), nanos(row.last)].map(Value::from);
        let [first, last] = times;
        let totals = [row.seconds, row.measured_s, row.busy_s, row.idle_s].map(ms);
        let key: [Value; 6] = [
            host.into(),
            day.into(),
            nanos(row.since).into(),
            row.pci.to_string().into(),
            uuid.unwrap_or_default().into(),
            holder.into(),
        ];
        let [held, measured, busy, idle] = totals.clone();
        let mut parameters = vec![last.clone(), held, measured, busy, idle];
        parameters.extend(key.clone());
        let known = sql.execute(
            "UPDATE gpu_usage SET last_ns = $1, held_ms = $2, measured_ms = $3, busy_ms = $4, idle_ms = $5 \
             WHERE host = $6 AND day = $7 AND since_ns = $8 AND pci = $9 AND uuid = $10 AND holder = $11 AND held_ms <= $2",
            &parameters,
        )?;
        if known == 0 {
            let mut parameters = Vec::from(key);
            parameters.extend([model.unwrap_or_default().into(), first, last]);
            parameters.extend(totals);
            new += sql.execute(
                "INSERT INTO gpu_usage(host, day, since_ns, pci, uuid, holder, model, first_ns, last_ns, held_ms, \
                 measured_ms, busy_ms, idle_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
                 ON CONFLICT (host, day, since_ns, pci, uuid, holder) DO NOTHING",
                &parameters,
            )?;
        }
    }
    match new {
        0 => Ok(()),
        _ => bound(sql, "gpu_usage", host),
    }
}

/// Takes how processes of a host ended, as [`put`] does.
pub(super) fn put_ends(
    sql: &mut dyn Sql,
    host: i64,
    rows: &[ProcessEnds],
    now: Timestamp,
) -> Result<(), DbError> {
    let (today, mut new) = (day_of(now), 0);
    for row in rows.iter().take(OF_STATE) {
        let day = row.day.duration_since(date(1970, 1, 1)).as_hours() / 24;
        let holder = serde_json::to_string(&row.holder).unwrap_or_default();
        if holder.len() > TEXT_MAX || holder.contains('\0') || (day - today).abs() > DAYS_OFF {
            continue;
        }
        let count = |count: u64| Value::Int(i64::try_from(count.min(ENDS_MAX)).unwrap_or(i64::MAX));
        let parameters: [Value; 6] = [
            count(row.ended),
            count(row.failed),
            host.into(),
            day.into(),
            nanos(row.since).into(),
            holder.into(),
        ];
        let known = sql.execute(
            "UPDATE process_ends SET ended = $1, failed = $2 WHERE host = $3 AND day = $4 AND since_ns = $5 AND holder = $6 \
             AND ended <= $1",
            &parameters,
        )?;
        if known == 0 {
            new += sql.execute(
                "INSERT INTO process_ends(ended, failed, host, day, since_ns, holder) VALUES ($1, $2, $3, $4, $5, $6) \
                 ON CONFLICT (host, day, since_ns, holder) DO NOTHING",
                &parameters,
            )?;
        }
    }
    match new {
        0 => Ok(()),
        _ => bound(sql, "process_ends", host),
    }
}

/// Drops the oldest day of a host that has too many rows.
pub(super) fn bound(sql: &mut dyn Sql, table: &str, host: i64) -> Result<(), DbError> {
    let count = format!("SELECT count(*) FROM {table} WHERE host = $1");
    if sql.number(&count, &[host.into()])? > ROWS_MAX {
        let oldest = format!(
            "DELETE FROM {table} WHERE host = $1 AND day = (SELECT min(day) FROM {table} WHERE host = $1)"
        );
        sql.execute(&oldest, &[host.into()])?;
    }
    Ok(())
}

/// Drops what was counted before a day.
pub(super) fn retain(sql: &mut dyn Sql, day: i64) -> Result<(), DbError> {
    for table in ["gpu_usage", "process_ends", "call_latency"] {
        sql.execute(
            &format!("DELETE FROM {table} WHERE day < $1"),
            &[day.into()],
        )?;
    }
    Ok(())
}

/// Whose it is.
fn owner_of(holder: &Holder) -> String {
    let named =
        |what: &str, name: &Option<String>| name.as_ref().map(|name| format!("{what}/{name}"));
    named("namespace", &holder.namespace)
        .or_else(|| named("user", &holder.user))
        .or_else(|| named("client", &holder.remote_client))
        .or_else(|| named("container", &holder.container_name))
        .unwrap_or_else(|| "unknown".to_owned())
}

/// The job or pod; `None` for what is neither.
fn job_of(holder: &Holder) -> Option<String> {
    match (&holder.namespace, &holder.pod) {
        (Some(namespace), Some(pod)) => Some(format!("{namespace}/{pod}")),
        (None, Some(pod)) => Some(pod.clone()),
        _ => holder.job.clone(),
    }
}

/// Rows that are added up under one name.
#[derive(Default)]
struct Sum {
    line: UsageLine,
    gpus: BTreeSet<(i64, String, String)>,
    hosts: BTreeSet<i64>,
    jobs: BTreeSet<String>,
}

/// A row, or several of one holder and GPU.
struct Part {
    host: i64,
    gpu: (String, String),
    model: String,
    holder: Holder,
    hours: [f64; 4],
    times: (Timestamp, Timestamp),
}

impl Sum {
    fn add(&mut self, part: &Part) {
        let line = &mut self.line;
        let [hours, measured, busy, idle] = part.hours;
        line.hours += hours;
        line.measured_hours += measured;
        line.busy_hours += busy;
        line.idle_hours += idle;
        *line.models.entry(part.model.clone()).or_default() += hours;
        *line.idle_models.entry(part.model.clone()).or_default() += idle;
        line.first = Some(
            line.first
                .map_or(part.times.0, |first| first.min(part.times.0)),
        );
        line.last = line.last.max(Some(part.times.1));
        let (pci, uuid) = part.gpu.clone();
        self.gpus.insert((part.host, pci, uuid));
        self.hosts.insert(part.host);
        if let Some(job) = job_of(&part.holder) {
            self.jobs.insert(job);
        }
    }

    fn line(self, name: String, bad: &BadJobs) -> UsageLine {
        UsageLine {
            name,
            gpus: self.gpus.len() as u64,
            hosts: self.hosts.len() as u64,
            jobs: self.jobs.len() as u64,
            jobs_with_incident: self.jobs.intersection(&bad.with_incident).count() as u64,
            jobs_failed: self.jobs.intersection(&bad.failed).count() as u64,
            ..self.line
        }
    }
}

/// Jobs, as lines by job are named.
#[derive(Default)]
struct BadJobs {
    /// An incident names them.
    with_incident: BTreeSet<String>,
    /// One of their processes failed.
    failed: BTreeSet<String>,
}

impl Database {
    /// GPU-hours by owner, job or what else is asked for.
    pub fn usage(&mut self, query: &UsageQuery) -> Result<UsageReport, DbError> {
        let (first, last) = (day_of(query.since), day_of(query.until));
        let with_incident = self.jobs_with_incidents(query)?;
        let mut bad = BadJobs::default();
        let mut names = BTreeMap::new();
        for row in self.hosts()? {
            let label = match &query.by {
                UsageBy::Label(label) => row.state.and_then(|s| s.labels.get(label).cloned()),
                _ => None,
            };
            names.insert(row.id, (row.name, label));
        }
        let mut sums = BTreeMap::<String, Sum>::new();
        let (mut held, mut free_hours) = (Sum::default(), 0.0);
        let wanted = |asked: &Option<String>, is: Option<String>| asked.is_none() || *asked == is;
        let of_hosts = |host: &String| {
            query
                .hosts
                .as_ref()
                .is_none_or(|hosts| hosts.contains(host))
        };
        self.sql.query(
            "SELECT host, pci, uuid, model, holder, CAST(sum(held_ms) AS BIGINT), CAST(sum(measured_ms) AS BIGINT), \
             CAST(sum(busy_ms) AS BIGINT), CAST(sum(idle_ms) AS BIGINT), min(first_ns), max(last_ns) FROM gpu_usage \
             WHERE day >= $1 AND day <= $2 GROUP BY host, pci, uuid, model, holder",
            &[first.into(), last.into()],
            &mut |row| {
                let Some((host, label)) = names.get(&row[0].int()) else {
                    return true;
                };
                if !of_hosts(host) {
                    return true;
                }
                let hours = [5, 6, 7, 8].map(|n: usize| row[n].int() as f64 / 3_600_000.0);
                let Ok(holder) = serde_json::from_str::<Holder>(row[4].text()) else {
                    // Of an owner or a job there is nothing that is nobody's.
                    if query.owner.is_none() && query.job.is_none() {
                        free_hours += hours[0];
                    }
                    return true;
                };
                if !wanted(&query.owner, Some(owner_of(&holder)))
                    || !wanted(&query.job, job_of(&holder))
                {
                    return true;
                }
                let (pci, uuid) = (row[1].text(), row[2].text());
                let name = match &query.by {
                    UsageBy::Owner => Some(owner_of(&holder)),
                    UsageBy::Job => job_of(&holder),
                    UsageBy::Host => Some(host.clone()),
                    UsageBy::Gpu if uuid.is_empty() => Some(format!("{host}/{pci}")),
                    UsageBy::Gpu => Some(format!("{host}/{pci}/{uuid}")),
                    UsageBy::Model => Some(row[3].text().to_owned()),
                    UsageBy::Label(_) => label.clone(),
                };
                let is_in_incident = |job: &String| with_incident.contains(job);
                if holder.job.as_ref().is_some_and(is_in_incident) {
                    bad.with_incident.extend(job_of(&holder));
                }
                let part = Part {
                    host: row[0].int(),
                    gpu: (pci.to_owned(), uuid.to_owned()),
                    model: row[3].text().to_owned(),
                    holder,
                    hours,
                    times: (time_of(row[9].int()), time_of(row[10].int())),
                };
                held.add(&part);
                if let Some(name) = name {
                    sums.entry(name).or_default().add(&part);
                }
                true
            },
        )?;
        // A job may have been too short for a reading of its GPU.
        self.sql.query(
            "SELECT host, holder, max(failed) FROM process_ends WHERE day >= $1 AND day <= $2 GROUP BY host, holder",
            &[first.into(), last.into()],
            &mut |row| {
                let id = row[0].int();
                let holder = serde_json::from_str::<Holder>(row[1].text());
                let (Some((host, label)), Ok(holder)) = (names.get(&id), holder) else {
                    return true;
                };
                let is_wanted = of_hosts(host)
                    && wanted(&query.owner, Some(owner_of(&holder)))
                    && wanted(&query.job, job_of(&holder));
                let Some(job) = job_of(&holder).filter(|_| is_wanted) else {
                    return true;
                };
                if row[2].int() > 0 {
                    bad.failed.insert(job.clone());
                }
                let name = match &query.by {
                    UsageBy::Owner => Some(owner_of(&holder)),
                    UsageBy::Job => Some(job.clone()),
                    UsageBy::Host => Some(host.clone()),
                    UsageBy::Label(_) => label.clone(),
                    // It is not known on which GPU.
                    UsageBy::Gpu | UsageBy::Model => None,
                };
                let sum = name.map(|name| sums.entry(name).or_default());
                for sum in sum.into_iter().chain([&mut held]) {
                    sum.jobs.insert(job.clone());
                    sum.hosts.insert(id);
                }
                true
            },
        )?;
        let mut lines: Vec<_> = sums
            .into_iter()
            .map(|(name, sum)| sum.line(name, &bad))
            .collect();
        lines.sort_by(|a, b| b.hours.total_cmp(&a.hours));
        Ok(UsageReport {
            since: date_of(first),
            until: date_of(last),
            held: held.line(String::new(), &bad),
            free_hours,
            lines,
        })
    }

    /// Jobs that incidents of the days asked for name, as their hosts do: `slurm:4711`, `pod:UID`.
    fn jobs_with_incidents(&mut self, query: &UsageQuery) -> Result<BTreeSet<String>, DbError> {
        let (first, last) = (day_of(query.since), day_of(query.until));
        let mut jobs = BTreeSet::new();
        self.sql.query(
            &format!(
                "SELECT body FROM incidents WHERE last_ns >= $1 AND opened_ns < $2 AND drill = 0 \
                 ORDER BY last_ns DESC LIMIT {INCIDENTS}"
            ),
            &[
                first.saturating_mul(DAY_NS).into(),
                last.saturating_add(1).saturating_mul(DAY_NS).into(),
            ],
            &mut |row| {
                if let Ok(Record::Incident(incident)) = serde_json::from_str(row[0].text()) {
                    jobs.extend(incident.affected.jobs);
                }
                true
            },
        )?;
        Ok(jobs)
    }
}
