//! Questions about the fleet.

use std::collections::BTreeSet;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{Extensions, StatusCode};
use gtrace_event::{IncidentId, Kind, Severity, Timestamp};
use gtrace_fleet::cohort::{self, Cohort, Comparison};
use gtrace_fleet::lemon::{self, Ranking};
use gtrace_fleet::{HostState, check_name};
use gtrace_profile::Layer;
use serde::{Deserialize, Serialize};

use super::agents::InTime;
use super::gate::{self, Named, Only};
use super::problem::Problem;
use super::query::Query;
use super::{App, seen};
use crate::db::{
    ChainReport, Database, EventQuery, Factor, FleetEvent, FleetIncident, IncidentQuery, LatencyBy,
    LatencyQuery, LatencyReport, Unit, UsageBy, UsageQuery, UsageReport,
};
use crate::secret;
use crate::view::{HostView, labels};

/// Most events and incidents of an answer.
pub(super) const LIMIT_MAX: u32 = 10_000;
const LIMIT: u32 = 100;

pub(super) async fn not_found() -> Problem {
    Problem::not_found("there is no such path", "docs/fleet.md lists the paths")
}

pub(super) async fn healthz(State(app): State<App>) -> Result<Json<serde_json::Value>, Problem> {
    if !app.writer.is_alive() {
        let cause = "the thread that writes to the database has ended";
        return Err(Problem::unavailable("the head takes nothing", cause));
    }
    let taken = app.writer.check().await;
    taken.map_err(|cause| Problem::unavailable("the head takes nothing", cause))?;
    let hosts = app.health_reader.read(Database::count_hosts).await?;
    Ok(Json(serde_json::json!({ "ok": true, "hosts": hosts })))
}

pub(super) async fn hosts(
    State(app): State<App>,
    only: Only,
) -> Result<Json<Vec<HostView>>, Problem> {
    let all = seen::hosts(&app).await?;
    let seen = all.rows.iter().zip(&*all.views);
    let seen = seen.filter(|(row, _)| only.has(row));
    Ok(Json(seen.map(|(_, view)| view.clone()).collect()))
}

/// A host, with what it reported last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostDetail {
    /// As among the others.
    #[serde(flatten)]
    pub view: HostView,
    /// Its newest state: GPUs, health of its parts, open incidents. Absent where it has reported nothing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub current: Option<HostState>,
}

pub(super) async fn host(
    State(app): State<App>,
    only: Only,
    Path(name): Path<String>,
) -> Result<Json<HostDetail>, Problem> {
    let row = only.host(&app, &name).await?;
    Ok(Json(HostDetail {
        view: HostView::new(&row, Timestamp::now()),
        current: row.state,
    }))
}

/// One incident of a host.
pub(super) async fn incident(
    State(app): State<App>,
    only: Only,
    Path((host, id)): Path<(String, String)>,
) -> Result<Json<FleetIncident>, Problem> {
    only.host(&app, &host).await?;
    let remedy = "`gtrace fleet incidents` lists them";
    let id = id
        .parse::<IncidentId>()
        .map_err(|e| Problem::bad_request(e, remedy))?;
    let query = IncidentQuery {
        hosts: Some(BTreeSet::from([host.clone()])),
        id: Some(id),
        limit: 1,
        ..IncidentQuery::default()
    };
    let mut found = app.read(move |db| db.incidents(&query)).await?;
    let none = || Problem::not_found(format!("{host} has no incident {id}"), remedy);
    found.pop().map(Json).ok_or_else(none)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventParameters {
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    host: Option<String>,
    kind: Option<String>,
    severity: Option<String>,
    limit: Option<u32>,
}

/// What was asked for by name.
pub(super) fn kind_and_severity(
    kind: Option<String>,
    severity: Option<String>,
) -> Result<(Option<Kind>, Option<Severity>), Problem> {
    let kinds = "`gtrace schema event` lists kinds and severities";
    let kind = kind.map(|kind| kind.parse::<Kind>()).transpose();
    let severity = severity.map(|s| s.parse::<Severity>()).transpose();
    Ok((
        kind.map_err(|e| Problem::bad_request(e, kinds))?,
        severity.map_err(|e| Problem::bad_request(e, kinds))?,
    ))
}

pub(super) async fn events(
    State(app): State<App>,
    only: Only,
    Query(asked): Query<EventParameters>,
) -> Result<Json<Vec<FleetEvent>>, Problem> {
    let (kind, severity) = kind_and_severity(asked.kind, asked.severity)?;
    let query = EventQuery {
        since: asked.since,
        until: asked.until,
        hosts: only.names(&app, asked.host).await?,
        kind,
        severity,
        limit: asked.limit.unwrap_or(LIMIT).min(LIMIT_MAX),
    };
    app.read(move |db| db.events(&query)).await.map(Json)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IncidentParameters {
    since: Option<Timestamp>,
    open: Option<bool>,
    host: Option<String>,
    limit: Option<u32>,
}

impl IncidentParameters {
    fn query(&self, hosts: Option<BTreeSet<String>>) -> IncidentQuery {
        IncidentQuery {
            since: self.since,
            unresolved: self.open.unwrap_or(false),
            hosts,
            id: None,
            limit: self.limit.unwrap_or(LIMIT).min(LIMIT_MAX),
        }
    }
}

pub(super) async fn incidents(
    State(app): State<App>,
    only: Only,
    Query(asked): Query<IncidentParameters>,
) -> Result<Json<Vec<FleetIncident>>, Problem> {
    let query = asked.query(only.names(&app, asked.host.clone()).await?);
    app.read(move |db| db.incidents(&query)).await.map(Json)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VerifyParameters {
    host: Option<String>,
}

pub(super) async fn verify(
    State(app): State<App>,
    Query(asked): Query<VerifyParameters>,
) -> Result<Json<Vec<ChainReport>>, Problem> {
    let host = asked.host.clone();
    let reports = app.read_long(move |db| {
        let hosts = db.hosts()?;
        let wanted = hosts
            .into_iter()
            .filter(|row| asked.host.as_ref().is_none_or(|host| *host == row.name));
        wanted.map(|row| db.verify(row.id, &row.name)).collect()
    });
    let reports: Vec<ChainReport> = reports.await?;
    match host {
        Some(host) if reports.is_empty() => Err(Problem::no_host(&host)),
        _ => Ok(Json(reports)),
    }
}

/// A label that a host has. By another, all hosts would be left out.
async fn known_label(app: &App, only: &Only, name: &str) -> Result<String, Problem> {
    let rows = seen::hosts(app).await?.rows;
    let seen = rows.iter().filter(|row| only.has(row));
    let known: BTreeSet<&String> = seen.flat_map(|row| labels(row).keys()).collect();
    if known.iter().any(|known| *known == name) {
        return Ok(name.to_owned());
    }
    let known: Vec<&str> = known.into_iter().map(String::as_str).collect();
    let remedy = match known.as_slice() {
        [] => "no host has any: `gtrace agent run --label NAME=VALUE` gives it one".to_owned(),
        known => format!("labels of hosts are {}", known.join(", ")),
    };
    let cause = format!("no host has the label `{name}`");
    Err(Problem::not_found(cause, &remedy))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LemonParameters {
    by: Option<String>,
    limit: Option<usize>,
}

/// Units by how probable it is that they fail more than their peers.
pub(super) async fn lemons(
    State(app): State<App>,
    Query(asked): Query<LemonParameters>,
) -> Result<Json<Ranking>, Problem> {
    let by = match asked.by.as_deref() {
        None | Some("gpu") => Unit::Gpu,
        Some("slot") => Unit::Slot,
        Some("host") => Unit::Host,
        Some(label) => Unit::Label(known_label(&app, &Only::default(), label).await?),
    };
    let units = app
        .count(move |db, tallies, today| db.exposed(tallies, &by, today))
        .await?;
    let ranking = tokio::task::spawn_blocking(move || lemon::rank(&units)).await;
    let mut ranking = ranking.map_err(|e| Problem::unavailable("cannot rank", e))?;
    ranking
        .units
        .truncate(asked.limit.unwrap_or(LIMIT as usize));
    Ok(Json(ranking))
}

/// The time that is asked for; else the last so many days.
fn days(since: Option<Timestamp>, until: Option<Timestamp>, days: i64) -> (Timestamp, Timestamp) {
    let now = Timestamp::now();
    let ago = now.saturating_sub(jiff::SignedDuration::from_hours(days * 24));
    let since = since.unwrap_or_else(|| ago.unwrap_or(now));
    (since, until.unwrap_or(now))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UsageParameters {
    by: Option<String>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    owner: Option<String>,
    job: Option<String>,
    host: Option<String>,
}

/// GPU-hours held, busy and idle.
pub(super) async fn usage(
    State(app): State<App>,
    only: Only,
    Query(asked): Query<UsageParameters>,
) -> Result<Json<UsageReport>, Problem> {
    let by = match asked.by.as_deref() {
        None | Some("owner") => UsageBy::Owner,
        Some("job") => UsageBy::Job,
        Some("host") => UsageBy::Host,
        Some("gpu") => UsageBy::Gpu,
        Some("model") => UsageBy::Model,
        Some(label) => UsageBy::Label(known_label(&app, &only, label).await?),
    };
    let (since, until) = days(asked.since, asked.until, 7);
    let query = UsageQuery {
        since,
        until,
        by,
        owner: asked.owner,
        job: asked.job,
        hosts: only.names(&app, asked.host).await?,
    };
    Ok(Json(app.read_long(move |db| db.usage(&query)).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LatencyParameters {
    by: Option<String>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    call: Option<String>,
    layer: Option<Layer>,
    host: Option<String>,
    limit: Option<usize>,
}

/// How long calls took: percentiles of all hosts together.
pub(super) async fn latency(
    State(app): State<App>,
    only: Only,
    Query(asked): Query<LatencyParameters>,
) -> Result<Json<LatencyReport>, Problem> {
    let by = match asked.by.as_deref() {
        None | Some("call") => LatencyBy::Call,
        Some("host") => LatencyBy::Host,
        Some("driver") => LatencyBy::Driver,
        Some("kernel") => LatencyBy::Kernel,
        Some("model") => LatencyBy::Model,
        Some(label) => LatencyBy::Label(known_label(&app, &only, label).await?),
    };
    if by != LatencyBy::Call && asked.call.is_none() {
        return Err(Problem::bad_request(
            "durations of different calls do not add up to a percentile that says something",
            "name the call (call, --call); by=call lists them",
        ));
    }
    let (since, until) = days(asked.since, asked.until, 1);
    let query = LatencyQuery {
        since,
        until,
        by,
        call: asked.call,
        layer: asked.layer,
        hosts: only.names(&app, asked.host).await?,
    };
    let mut report = app.read_long(move |db| db.latency(&query)).await?;
    report.lines.truncate(asked.limit.unwrap_or(usize::MAX));
    Ok(Json(report))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CohortParameters {
    by: Option<String>,
}

/// By what hosts are compared.
async fn factor(app: &App, text: &str) -> Result<Factor, Problem> {
    let by = Factor::from(text);
    if let Factor::Label(name) = &by {
        known_label(app, &Only::default(), name).await?;
    }
    Ok(by)
}

/// Versions with their hosts, failures and exposure.
pub(super) async fn cohorts(
    State(app): State<App>,
    Query(asked): Query<CohortParameters>,
) -> Result<Json<Vec<Cohort>>, Problem> {
    let by = factor(&app, asked.by.as_deref().unwrap_or("driver")).await?;
    let found = app
        .count(move |db, tallies, today| db.cohorts(tallies, &by, today))
        .await?;
    let cohorts = found.iter().map(|(name, hosts)| Cohort::new(name, hosts));
    Ok(Json(cohorts.collect()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CompareParameters {
    by: Option<String>,
    old: String,
    new: String,
    margin: Option<f64>,
}

/// Two versions beside each other.
pub(super) async fn compare(
    State(app): State<App>,
    Query(asked): Query<CompareParameters>,
) -> Result<Json<Comparison>, Problem> {
    let margin = asked.margin.unwrap_or(cohort::MARGIN);
    if !(margin > 1.0 && margin <= 100.0) {
        let remedy = "1.5 lets through what fails at most half as often again";
        return Err(Problem::bad_request(
            "a margin is more than 1, and at most 100",
            remedy,
        ));
    }
    let what = asked.by.as_deref().unwrap_or("driver").to_owned();
    let by = factor(&app, &what).await?;
    let found = app
        .count(move |db, tallies, today| db.cohorts(tallies, &by, today))
        .await?;
    let of = |version: &str| {
        found.get(version).ok_or_else(|| {
            let known: Vec<&str> = found.keys().map(String::as_str).collect();
            let remedy = match known.as_slice() {
                [] => "none is known: agents within daemons say which GPUs there are".to_owned(),
                known => format!("known are {}", known.join(", ")),
            };
            Problem::not_found(format!("no host had {what} `{version}`"), &remedy)
        })
    };
    let (old, new) = (of(&asked.old)?, of(&asked.new)?);
    let comparison = cohort::compare((&asked.old, old), (&asked.new, new), margin);
    Ok(Json(comparison))
}

/// A line of the audit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AuditLine {
    /// When.
    pub time: Timestamp,
    /// Who, as they named themselves; a host where it is about itself.
    pub who: String,
    /// What.
    pub what: String,
}

pub(super) async fn audit(State(app): State<App>) -> Result<Json<Vec<AuditLine>>, Problem> {
    let lines = app.read(|db| db.audit(1000)).await?;
    let line = |(time, who, what)| AuditLine { time, who, what };
    Ok(Json(lines.into_iter().map(line).collect()))
}

/// Asks for a join token.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenRequest {
    /// Only this host may use it, also where the name is taken by another machine.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub host: Option<String>,
    /// For how many seconds it is good.
    pub for_s: u32,
    /// How many hosts may use it.
    pub uses: u32,
    /// Who asks.
    pub by: String,
}

/// The answer: the token, which is shown once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TokenAnswer {
    /// The token.
    pub token: String,
    /// Until when it is good.
    pub expires: Timestamp,
}

/// Longest time that a join token is good for.
const TOKEN_LONGEST_S: u32 = 7 * 86_400;

pub(super) async fn token(
    State(app): State<App>,
    extensions: Extensions,
    InTime(Json(asked)): InTime<Json<TokenRequest>>,
) -> Result<Json<TokenAnswer>, Problem> {
    let by = gate::named(&asked.by, &extensions);
    if let Some(host) = &asked.host {
        check_name(host).map_err(|e| Problem::bad_request(e, "name the host as it will be"))?;
    }
    if !(1..=TOKEN_LONGEST_S).contains(&asked.for_s) || !(1..=100_000).contains(&asked.uses) {
        let cause = "a join token is good for 1 s to 7 days, and for 1 to 100000 hosts";
        return Err(Problem::bad_request(cause, "change --for or --uses"));
    }
    let secret = secret::draw().map_err(|e| Problem::unavailable("cannot make a token", e))?;
    let token = format!("gtj_{secret}");
    let length = jiff::SignedDuration::from_secs(i64::from(asked.for_s));
    let expires = Timestamp::now()
        .saturating_add(length)
        .unwrap_or(Timestamp::MAX);
    let kept = token.clone();
    app.write("cannot make a token", move |db| {
        db.add_token(&kept, asked.host.as_deref(), expires, asked.uses, &by)
    })
    .await?;
    Ok(Json(TokenAnswer { token, expires }))
}

pub(super) async fn revoke(
    State(app): State<App>,
    Path(host): Path<String>,
    Named(by): Named,
) -> Result<StatusCode, Problem> {
    let name = host.clone();
    let revoke = move |db: &mut Database| db.revoke(&name, &by, Timestamp::now());
    match app.write("cannot revoke", revoke).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::no_host(&host)),
    }
}
