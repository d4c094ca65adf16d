//! How long calls took: histograms that hosts count by day, added up bucket by bucket, so that percentiles are those of all calls together.

use std::collections::{BTreeMap, BTreeSet};

use gtrace_event::Timestamp;
use gtrace_profile::{DailyCalls, Histogram, Layer};
use jiff::civil::{Date, date};
use serde::{Deserialize, Serialize};

use super::sql::{DbError, Sql, Value};
use super::usage::{bound, date_of, day_of};
use super::{Database, HostRow, nanos};

/// Rows of a state; agents keep no more.
const OF_STATE: usize = 256;
/// Bytes of a text.
const TEXT_MAX: usize = 256;
/// A host whose clock is so far from the head's counts for no day.
const DAYS_OFF: i64 = 40;

/// What calls are added up by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LatencyBy {
    /// Function, ioctl or operation, of one layer.
    Call,
    /// Host.
    Host,
    /// Version of the GPU driver under which they were made.
    Driver,
    /// Release of the kernel that the host has now.
    Kernel,
    /// Model of the GPUs that the host has now, where all are of one.
    Model,
    /// Value of a label.
    Label(String),
}

/// Which calls are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyQuery {
    /// From the day of this time on.
    pub since: Timestamp,
    /// To the day of this time.
    pub until: Timestamp,
    /// Added up by.
    pub by: LatencyBy,
    /// Only this call.
    pub call: Option<String>,
    /// Only of this layer.
    pub layer: Option<Layer>,
    /// Only of these hosts.
    pub hosts: Option<BTreeSet<String>>,
}

/// Calls of one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyLine {
    /// The call, host, version, model or label.
    pub name: String,
    /// Where they were timed; absent where layers are added up.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub layer: Option<Layer>,
    /// How many.
    pub calls: u64,
    /// Median, ns; percentiles are within 1/64 of the value of their rank among all calls.
    pub p50_ns: u64,
    /// 90th percentile, ns.
    pub p90_ns: u64,
    /// 99th percentile, ns.
    pub p99_ns: u64,
    /// 99.9th percentile, ns.
    pub p999_ns: u64,
    /// The longest, ns; exact.
    pub max_ns: u64,
    /// All together, ns; exact.
    pub total_ns: u64,
    /// Different hosts.
    pub hosts: u64,
    /// All that is known of their durations.
    pub histogram: Histogram,
}

/// How long the calls of a fleet took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyReport {
    /// First day, UTC.
    pub since: Date,
    /// Last day.
    pub until: Date,
    /// By name, those first that took the most time.
    pub lines: Vec<LatencyLine>,
}

/// What a host has counted of a call, as it is kept: some hundred bytes, where a histogram takes thousands while it waits.
#[derive(Clone, Debug)]
pub struct CallsOfDay {
    day: Date,
    since: Timestamp,
    layer: Layer,
    call: String,
    driver: String,
    calls: i64,
    histogram: Vec<u8>,
}

impl From<DailyCalls> for CallsOfDay {
    fn from(calls: DailyCalls) -> Self {
        let mut histogram = Vec::new();
        calls.histogram.pack(&mut histogram);
        Self {
            day: calls.day,
            since: calls.since,
            layer: calls.layer,
            call: calls.call,
            driver: calls.driver.unwrap_or_default(),
            calls: i64::try_from(calls.histogram.count()).unwrap_or(i64::MAX),
            histogram,
        }
    }
}

/// Takes what a host has counted. Histograms grow: one that came before, or has fewer calls than that which is there, changes nothing.
pub(super) fn put(
    sql: &mut dyn Sql,
    host: i64,
    rows: &[CallsOfDay],
    now: Timestamp,
) -> Result<(), DbError> {
    let (today, mut new) = (day_of(now), 0);
    for row in rows.iter().take(OF_STATE) {
        let day = row.day.duration_since(date(1970, 1, 1)).as_hours() / 24;
        let fits = |text: &str| text.len() <= TEXT_MAX && !text.contains('\0');
        let is_sound = fits(&row.call) && fits(&row.driver) && (day - today).abs() <= DAYS_OFF;
        if !is_sound || row.calls == 0 {
            continue;
        }
        let parameters: [Value; 8] = [
            row.calls.into(),
            row.histogram.as_slice().into(),
            host.into(),
            day.into(),
            row.layer.name().into(),
            row.call.as_str().into(),
            row.driver.as_str().into(),
            nanos(row.since).into(),
        ];
        let known = sql.execute(
            "UPDATE call_latency SET calls = $1, histogram = $2 WHERE host = $3 AND day = $4 AND layer = $5 AND call = $6 \
             AND driver = $7 AND since_ns = $8 AND calls <= $1",
            &parameters,
        )?;
        if known == 0 {
            new += sql.execute(
                "INSERT INTO call_latency(calls, histogram, host, day, layer, call, driver, since_ns) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (host, day, layer, call, driver, since_ns) DO NOTHING",
                &parameters,
            )?;
        }
    }
    match new {
        0 => Ok(()),
        _ => bound(sql, "call_latency", host),
    }
}

/// What of a host lines may be named by.
struct Named {
    host: String,
    /// Kernel, model or label, as is asked for.
    group: Option<String>,
}

fn named(row: HostRow, by: &LatencyBy) -> Named {
    let state = row.state.as_ref();
    let group = match by {
        LatencyBy::Kernel => state.and_then(|state| state.kernel.clone()),
        LatencyBy::Model => state.and_then(|state| {
            let models = state.gpus.iter().filter_map(|gpu| gpu.name.clone());
            let models: BTreeSet<String> = models.collect();
            let mut models = models.into_iter();
            models.next().filter(|_| models.next().is_none())
        }),
        LatencyBy::Label(label) => state.and_then(|state| state.labels.get(label).cloned()),
        LatencyBy::Call | LatencyBy::Host | LatencyBy::Driver => None,
    };
    Named {
        host: row.name,
        group,
    }
}

impl Database {
    /// How long calls took, by call, host or what else is asked for.
    pub fn latency(&mut self, query: &LatencyQuery) -> Result<LatencyReport, DbError> {
        let (first, last) = (day_of(query.since), day_of(query.until));
        let mut names: BTreeMap<i64, Named> = BTreeMap::new();
        for row in self.hosts()? {
            names.insert(row.id, named(row, &query.by));
        }
        let mut parameters: Vec<Value> = vec![first.into(), last.into()];
        let mut only = String::new();
        for (column, value) in [
            ("call", query.call.as_deref()),
            ("layer", query.layer.map(Layer::name)),
        ] {
            if let Some(value) = value {
                parameters.push(value.into());
                only += &format!(" AND {column} = ${}", parameters.len());
            }
        }
        let mut sums: BTreeMap<(String, Option<Layer>), (Histogram, BTreeSet<i64>)> =
            BTreeMap::new();
        let mut damaged = false;
        self.sql.query(
            &format!(
                "SELECT host, layer, call, driver, histogram FROM call_latency WHERE day >= $1 AND day <= $2{only}"
            ),
            &parameters,
            &mut |row| {
                let host = row[0].int();
                let Some(named) = names.get(&host) else {
                    return true;
                };
                let is_wanted = |hosts: &BTreeSet<String>| hosts.contains(&named.host);
                if !query.hosts.as_ref().is_none_or(is_wanted) {
                    return true;
                }
                let layer = Layer::ALL.iter().find(|one| one.name() == row[1].text());
                let histogram = Histogram::unpack(&mut row[4].bytes());
                let (Some(layer), Some(histogram)) = (layer, histogram) else {
                    damaged = true;
                    return false;
                };
                let (name, layer) = match &query.by {
                    LatencyBy::Call => (Some(row[2].text().to_owned()), Some(*layer)),
                    LatencyBy::Host => (Some(named.host.clone()), query.layer),
                    LatencyBy::Driver => {
                        let driver = Some(row[3].text().to_owned());
                        (driver.filter(|driver| !driver.is_empty()), query.layer)
                    }
                    LatencyBy::Kernel | LatencyBy::Model | LatencyBy::Label(_) => {
                        (named.group.clone(), query.layer)
                    }
                };
                if let Some(name) = name {
                    let (sum, hosts) = sums.entry((name, layer)).or_default();
                    sum.merge(&histogram);
                    hosts.insert(host);
                }
                true
            },
        )?;
        if damaged {
            return Err(DbError::Corrupt("a histogram of calls".to_owned()));
        }
        let line = |((name, layer), (histogram, hosts)): (_, (Histogram, BTreeSet<i64>))| {
            let [p50_ns, p90_ns, p99_ns, p999_ns] =
                [0.5, 0.9, 0.99, 0.999].map(|q| histogram.quantile(q));
            LatencyLine {
                name,
                layer,
                calls: histogram.count(),
                p50_ns,
                p90_ns,
                p99_ns,
                p999_ns,
                max_ns: histogram.max_ns(),
                total_ns: histogram.sum_ns(),
                hosts: hosts.len() as u64,
                histogram,
            }
        };
        let mut lines: Vec<LatencyLine> = sums.into_iter().map(line).collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.total_ns));
        Ok(LatencyReport {
            since: date_of(first),
            until: date_of(last),
            lines,
        })
    }
}
