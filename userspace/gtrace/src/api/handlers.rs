use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use gtrace_devices::GpuInfo;
use gtrace_event::{Ack, Event, EventId, Timestamp};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::problem::Problem;
use super::query::{DEFAULT_LIMIT, EventQuery};
use super::stream::Begin;
use super::{AppState, MAX_BODY, MAX_STREAMS, exposition, openapi, stream};
use crate::cuda::CudaReport;
use crate::hub::{CallStats, Command, SourceState, SourceStatus, Status};
use crate::processes::ProcessUse;

type Pairs = Query<Vec<(String, String)>>;

/// Answer of `/healthz`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// Whether everything that should work works.
    pub ok: bool,
    /// What does not.
    pub reasons: Vec<String>,
}

impl Health {
    /// Health as `status` shows it: a failed source or trouble with the store is ill; a source
    /// that the host does not have is not.
    pub fn of(status: &Status) -> Self {
        let failed = status
            .sources
            .iter()
            .filter(|s| s.state == SourceState::Failed);
        let mut reasons: Vec<String> = failed
            .map(|s| {
                format!(
                    "source {} failed: {}",
                    s.name,
                    s.reason.as_deref().unwrap_or("no reason")
                )
            })
            .collect();
        reasons.extend(status.store_problem.iter().map(|p| format!("store: {p}")));
        Self {
            ok: reasons.is_empty(),
            reasons,
        }
    }
}

/// Body of `POST /api/v1/events/{id}/ack`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AckRequest {
    /// Who takes note, as they name themselves; 1 to 256 characters.
    pub by: String,
    /// Why, or what was done; at most 4096 characters.
    #[serde(default)]
    pub note: String,
}

/// Body of `POST /api/v1/pause`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PauseRequest {
    /// true detaches every probe, false attaches them again.
    pub paused: bool,
}

pub(super) async fn health(State(state): State<AppState>) -> Response {
    let health = Health::of(&state.hub.status());
    let code = if health.ok {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (code, Json(health)).into_response()
}

pub(super) async fn metrics(State(state): State<AppState>, headers: HeaderMap) -> Response {
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|v| v.to_str().ok())
        .unwrap_or("");
    let format = exposition::Format::wanted_by(accept);
    let readers = MAX_STREAMS - state.streams.available_permits();
    // No server is no trouble: most hosts have none.
    let remote = tokio::task::spawn_blocking(|| {
        gtrace_server::ServerStatus::ask(&crate::remote::to_ask()).ok()
    });
    let remote = remote.await.unwrap_or_default();
    match exposition::text(&state.hub, readers, remote, format) {
        Ok(text) => ([(header::CONTENT_TYPE, format.content_type())], text).into_response(),
        Err(error) => {
            Problem::unavailable("cannot write the metrics", error.to_string(), "report this")
                .into_response()
        }
    }
}

pub(super) async fn events(
    State(state): State<AppState>,
    pairs: Pairs,
) -> Result<Json<Vec<Event>>, Problem> {
    let mut query = event_query(&pairs, &[])?;
    query.limit.get_or_insert(DEFAULT_LIMIT);
    // What cannot be stored now cannot be read; the rest can.
    let _ = state.flush().await;
    state
        .read(move |archive| archive.query(&query))
        .await
        .map(Json)
}

pub(super) async fn event(
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Json<Event>, Problem> {
    find_event(&state, &id).await.map(Json)
}

pub(super) async fn events_stream(
    State(state): State<AppState>,
    headers: HeaderMap,
    pairs: Pairs,
) -> Result<Response, Problem> {
    let query = event_query(&pairs, &["until"])?;
    let begin = match (headers.get("last-event-id"), query.since) {
        (Some(id), _) => {
            let seq = id.to_str().ok().and_then(|id| id.parse().ok());
            Begin::After(seq.ok_or_else(|| {
                Problem::bad_request(
                    "Last-Event-ID is no record number",
                    "send the id of the last message received",
                )
            })?)
        }
        (None, Some(_)) => Begin::History,
        (None, None) => Begin::Now,
    };
    let permit = state.streams.clone().try_acquire_owned().map_err(|_| {
        Problem::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too many stream readers",
            format!("{MAX_STREAMS} readers are connected"),
            "close some of them, or read /api/v1/events now and then",
        )
    })?;
    Ok(stream::start(state, query, begin, permit).into_response())
}

pub(super) async fn ack(
    State(state): State<AppState>,
    Path(id): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Event>, Problem> {
    let AckRequest { by, note } = json_body(body)?;
    if by.trim().is_empty() || by.chars().count() > 256 || note.chars().count() > 4096 {
        return Err(Problem::bad_request(
            "`by` must have 1 to 256 characters, `note` at most 4096",
            "name who acknowledges, and keep the note short",
        ));
    }
    let id = find_event(&state, &id).await?.id;
    let ack = Ack {
        id,
        time: Timestamp::now(),
        by,
        note,
    };
    state
        .ask("acknowledge the event", |answer| Command::Ack(ack, answer))
        .await
        .map(Json)
}

pub(super) async fn flush(State(state): State<AppState>) -> Result<StatusCode, Problem> {
    state.flush().await.map(|()| StatusCode::NO_CONTENT)
}

pub(super) async fn pause(
    State(state): State<AppState>,
    body: Result<Bytes, BytesRejection>,
) -> Result<StatusCode, Problem> {
    let PauseRequest { paused } = json_body(body)?;
    let what = if paused {
        "detach the probes"
    } else {
        "attach the probes"
    };
    state
        .ask(what, |answer| Command::Pause(paused, answer))
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn sources(State(state): State<AppState>) -> Json<Vec<SourceStatus>> {
    Json(state.hub.status().sources)
}

pub(super) async fn gpus(State(state): State<AppState>) -> Json<Vec<GpuInfo>> {
    Json(state.hub.gpus())
}

pub(super) async fn status(State(state): State<AppState>) -> Json<Status> {
    Json(state.hub.status())
}

pub(super) async fn histograms(
    State(state): State<AppState>,
    pairs: Pairs,
) -> Result<Json<Vec<CallStats>>, Problem> {
    let mut calls = state.hub.calls();
    if !wants_buckets(&pairs)? {
        calls.iter_mut().for_each(|call| call.buckets.clear());
    }
    Ok(Json(calls))
}

pub(super) async fn cuda(
    State(state): State<AppState>,
    pairs: Pairs,
) -> Result<Json<CudaReport>, Problem> {
    let with_buckets = wants_buckets(&pairs)?;
    let mut report = state.hub.cuda().0.clone();
    if !with_buckets {
        report.calls.iter_mut().for_each(|row| row.buckets.clear());
    }
    Ok(Json(report))
}

pub(super) async fn processes(
    State(state): State<AppState>,
    pairs: Pairs,
) -> Result<Json<Vec<ProcessUse>>, Problem> {
    let with_buckets = wants_buckets(&pairs)?;
    let hub = std::sync::Arc::clone(&state.hub);
    let read = tokio::task::spawn_blocking(move || crate::processes::of(&hub));
    let mut rows = read.await.unwrap_or_default();
    if !with_buckets {
        let layers = rows
            .iter_mut()
            .flat_map(|row| [&mut row.api, &mut row.driver]);
        layers.flatten().for_each(|layer| layer.buckets.clear());
    }
    Ok(Json(rows))
}

fn wants_buckets(pairs: &Pairs) -> Result<bool, Problem> {
    match pairs.as_slice() {
        [] => Ok(false),
        [(name, value)] if name == "buckets" && value == "true" => Ok(true),
        _ => Err(Problem::bad_request(
            "the only parameter here is buckets=true",
            "see /api/openapi.json for the parameters and their values",
        )),
    }
}

pub(super) async fn openapi_json() -> Json<serde_json::Value> {
    Json(openapi::document())
}

pub(super) async fn event_schema() -> Json<serde_json::Value> {
    Json(openapi::event_schema())
}

/// A path that no route has.
pub(super) async fn not_found(uri: axum::http::Uri) -> Problem {
    Problem::not_found(
        "not found",
        format!("no route {}", uri.path()),
        "see /api/openapi.json",
    )
}

/// A method that the path does not have.
pub(super) async fn wrong_method(method: axum::http::Method, uri: axum::http::Uri) -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method not allowed",
        format!("{} does not take {method}", uri.path()),
        "see the Allow header and /api/openapi.json",
    )
}

/// Stands in over TCP for every route that changes something.
pub(super) async fn local_only() -> Problem {
    Problem::new(
        StatusCode::FORBIDDEN,
        "forbidden over TCP",
        "TCP has no authentication, so it is for reading only",
        "use the Unix socket: curl --unix-socket /run/gtrace/gtrace.sock http://localhost/...",
    )
}

async fn find_event(state: &AppState, id: &str) -> Result<Event, Problem> {
    let id: EventId = id.parse().map_err(|error: gtrace_event::EventIdError| {
        Problem::bad_request(error.to_string(), "take an id from /api/v1/events")
    })?;
    // As above.
    let _ = state.flush().await;
    state
        .read(move |archive| archive.event(id))
        .await?
        .ok_or_else(|| {
            Problem::not_found(
                "no such event",
                format!("the store has no event {id}"),
                "take an id from /api/v1/events; old events go with the store's retention",
            )
        })
}

fn event_query(pairs: &Pairs, excluded: &[&str]) -> Result<EventQuery, Problem> {
    let bad = |cause: String| {
        Problem::bad_request(
            cause,
            "see /api/openapi.json for the parameters and their values",
        )
    };
    if let Some((name, _)) = pairs
        .iter()
        .find(|(name, _)| excluded.contains(&name.as_str()))
    {
        return Err(bad(format!("{name}: has no meaning here")));
    }
    let pairs = pairs
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    EventQuery::from_pairs(pairs, Timestamp::now()).map_err(|error| bad(error.to_string()))
}

fn json_body<T: DeserializeOwned>(body: Result<Bytes, BytesRejection>) -> Result<T, Problem> {
    let body = body.map_err(|rejection| {
        Problem::new(
            rejection.status(),
            "cannot read the body",
            rejection.body_text(),
            format!("send at most {MAX_BODY} bytes"),
        )
    })?;
    serde_json::from_slice(&body).map_err(|error| {
        Problem::bad_request(
            format!("body: {error}"),
            "see /api/openapi.json for its fields",
        )
    })
}
