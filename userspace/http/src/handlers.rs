pub(super) mod evidence;
pub(super) mod health;
pub(super) mod incidents;
pub(super) mod remote;
pub(super) mod samples;

use std::sync::LazyLock;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequestParts, Path, Query, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use gtrace_api::{
    AckRequest, CallStats, CudaReport, Health, PauseRequest, ProcessUse, Ready, SourceStatus,
    Status, Version,
};
use gtrace_devices::GpuInfo;
use gtrace_engine::component;
use gtrace_engine::hub::{Command, Pause};
use gtrace_event::{Ack, Event, EventId, GpuUsage, ProcessEnds, Timestamp};
use gtrace_profile::DailyCalls;
use serde::de::DeserializeOwned;

use super::body::Sent;
use super::peer::Peer;
use super::problem::Problem;
use super::query::{BUCKETS, DEFAULT_LIMIT, EventQuery, parse_bool};
use super::refusals::Reason;
use super::stream::{Begin, Position, Subject};
use super::{AppState, body, exposition, schema, stream};

/// How long a reading of the kernel's counts may take.
const CALLS_DEADLINE: Duration = Duration::from_secs(1);

type Pairs = Query<Vec<(String, String)>>;

/// What the path of a request names.
pub(super) struct Named<T>(T);

impl<T: DeserializeOwned + Send> FromRequestParts<AppState> for Named<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(named)) => Ok(Self(named)),
            Err(rejection) => Err(Problem::bad_request(
                rejection.body_text(),
                "write what the path names as UTF-8, percent-encoded",
            )),
        }
    }
}

pub(super) async fn healthz(State(state): State<AppState>) -> Response {
    let health = Health::of(&component::status(&state.hub));
    let code = if health.ok {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (code, Json(health)).into_response()
}

pub(super) async fn readyz(State(state): State<AppState>) -> Response {
    let ready = Ready::of(&component::status(&state.hub));
    let code = match ready.ok {
        true => StatusCode::OK,
        false => StatusCode::SERVICE_UNAVAILABLE,
    };
    (code, Json(ready)).into_response()
}

pub(super) async fn version(State(state): State<AppState>) -> Json<Version> {
    Json(Version::of(&state.hub.status().version))
}

pub(super) async fn metrics(State(state): State<AppState>, headers: HeaderMap) -> Response {
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|v| v.to_str().ok())
        .unwrap_or("");
    let format = exposition::Format::wanted_by(accept);
    let readers = state.streams.held();
    let remote = remote::ask(&state).await.and_then(|(_, server)| server);
    let unanswered = state.remote.unanswered();
    let clients = exposition::Clients {
        readers,
        remote,
        unanswered,
        dcgm: state.compat.dcgm,
    };
    match exposition::text(&state.hub, clients, format) {
        Ok(text) => ([(header::CONTENT_TYPE, format.content_type())], text).into_response(),
        Err(error) => {
            Problem::unavailable("cannot write the metrics", error.to_string(), "report this")
                .into_response()
        }
    }
}

/// GPUs as dcgm-exporter shows them.
pub(super) async fn dcgm(State(state): State<AppState>) -> Response {
    let format = exposition::Format::Prometheus;
    let text = exposition::of_dcgm(&state.hub, format);
    ([(header::CONTENT_TYPE, format.content_type())], text).into_response()
}

pub(super) async fn events(
    State(state): State<AppState>,
    Extension(peer): Extension<Peer>,
    pairs: Pairs,
) -> Result<Response, Problem> {
    let mut query = event_query(&pairs, &[])?;
    query.limit.get_or_insert(DEFAULT_LIMIT);
    // What cannot be stored now cannot be read; the rest can.
    let _ = state.flush().await;
    body::events(state, peer, query).await
}

pub(super) async fn event(
    State(state): State<AppState>,
    Extension(peer): Extension<Peer>,
    Named(id): Named<String>,
) -> Result<Json<Event>, Problem> {
    find_event(&state, peer, &id).await.map(Json)
}

pub(super) async fn events_stream(
    State(state): State<AppState>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    pairs: Pairs,
) -> Result<Response, Problem> {
    let (after, pairs) = resume_after(&headers, pairs)?;
    let query = event_query(&pairs, &["until"])?;
    let begin = match (after, query.since) {
        (Some(position), _) => Begin::After(position),
        (None, Some(_)) => Begin::History,
        (None, None) => Begin::Now,
    };
    open_stream(
        state,
        peer,
        stream::Wish {
            subject: Subject::Events,
            query,
            begin,
        },
    )
}

/// Where a reader goes on, and the other parameters.
type Resumed = (Option<Position>, Vec<(String, String)>);

fn resume_after(headers: &HeaderMap, Query(pairs): Pairs) -> Result<Resumed, Problem> {
    let (after, pairs): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|(name, _)| name == "after");
    // An EventSource that connects again sends the header beside the address that it began with.
    let header = headers
        .get("last-event-id")
        .map(|id| id.to_str().unwrap_or_default());
    let after = header.or(after.last().map(|(_, id)| id.as_str()));
    let position = after.map(str::parse).transpose().map_err(|_| {
        Problem::bad_request(
            "Last-Event-ID or `after` is no id of a record",
            "send the id of the last message received",
        )
    })?;
    Ok((position, pairs))
}

/// A stream of records for a reader, if there is room for one more.
fn open_stream(state: AppState, peer: Peer, wish: stream::Wish) -> Result<Response, Problem> {
    let Some(place) = state.streams.take(peer.user, 1) else {
        let (held, total) = (state.streams.held_by(peer.user), state.streams.total());
        let what = format_args!("refused a stream: it reads {held} of at most {total}");
        state.refusals.count(peer, Reason::Streams, what);
        return Err(Problem::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too many stream readers",
            format!("your user has {held} readers of at most {total} for all users"),
            "close some of them, or read /api/v1/events now and then",
        ));
    };
    let account = match &wish.begin {
        Begin::History => {
            let size = wish.query.limit.unwrap_or(DEFAULT_LIMIT) * stream::SEEN_BYTES;
            let share = state.answers.take(peer.user, size);
            Some(share.ok_or_else(|| body::too_much(&state, peer, size))?)
        }
        Begin::Now | Begin::After(_) => None,
    };
    let shares = stream::Shares { place, account };
    let reader = stream::start(state, peer, wish, shares);
    Ok(reader.into_response())
}

pub(super) async fn ack(
    State(state): State<AppState>,
    Extension(peer): Extension<Peer>,
    Named(id): Named<String>,
    Sent(AckRequest { by, note }): Sent<AckRequest>,
) -> Result<Json<Event>, Problem> {
    check_note(&by, &note)?;
    let id = find_event(&state, peer, &id).await?.id;
    let ack = Ack::new(id, Timestamp::now(), by, note);
    state
        .ask("acknowledge the event", |answer| Command::Ack(ack, answer))
        .await
        .map(Json)
}

/// Whether a person is named, and neither name nor note are too long.
fn check_note(by: &str, note: &str) -> Result<(), Problem> {
    if by.trim().is_empty() || by.chars().count() > 256 || note.chars().count() > 4096 {
        return Err(Problem::bad_request(
            "`by` must have 1 to 256 characters, `note` at most 4096",
            "name who does this, and keep the note short",
        ));
    }
    Ok(())
}

pub(super) async fn flush(State(state): State<AppState>) -> Result<StatusCode, Problem> {
    state.flush().await.map(|()| StatusCode::NO_CONTENT)
}

/// Longest pause that has an end.
const PAUSE_MAX_S: u32 = 86_400;

pub(super) async fn pause(
    State(state): State<AppState>,
    Sent(PauseRequest { paused, for_s }): Sent<PauseRequest>,
) -> Result<StatusCode, Problem> {
    if for_s.is_some_and(|s| !paused || !(1..=PAUSE_MAX_S).contains(&s)) {
        return Err(Problem::bad_request(
            format!("`for_s` is 1 to {PAUSE_MAX_S}, with `paused` true"),
            "leave `for_s` out: a pause without it has no end of its own",
        ));
    }
    let lease = for_s.map(|s| Duration::from_secs(s.into()));
    let what = if paused {
        "detach the probes"
    } else {
        "attach the probes"
    };
    state
        .ask(what, |answer| {
            Command::Pause(Pause { paused, lease }, answer)
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn sources(State(state): State<AppState>) -> Json<Vec<SourceStatus>> {
    Json(state.hub.sources(&state.hub.tasks.outages()))
}

pub(super) async fn usage(State(state): State<AppState>) -> Json<Vec<GpuUsage>> {
    Json(state.hub.usage.rows(Timestamp::MIN))
}

pub(super) async fn process_ends(State(state): State<AppState>) -> Json<Vec<ProcessEnds>> {
    Json(state.hub.usage.ends(Timestamp::MIN))
}

pub(super) async fn latency(State(state): State<AppState>) -> Json<Vec<DailyCalls>> {
    Json(state.hub.latencies.rows(Timestamp::MIN))
}

pub(super) async fn gpus(State(state): State<AppState>) -> Json<Vec<GpuInfo>> {
    Json(state.hub.gpus())
}

pub(super) async fn status(State(state): State<AppState>) -> Json<Status> {
    Json(component::status(&state.hub))
}

pub(super) async fn histograms(
    State(state): State<AppState>,
    pairs: Pairs,
) -> Result<Json<Vec<CallStats>>, Problem> {
    // Without an answer in time, as where the kernel holds up the thread that reads, what was read last is shown.
    let _ = tokio::time::timeout(CALLS_DEADLINE, state.hub.read_calls()).await;
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
    Extension(peer): Extension<Peer>,
    pairs: Pairs,
) -> Result<Json<Vec<ProcessUse>>, Problem> {
    let with_buckets = wants_buckets(&pairs)?;
    let hub = std::sync::Arc::clone(&state.hub);
    let read = state.block(peer, move || gtrace_engine::processes::of(&hub));
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
        [(name, value)] if name == BUCKETS.name => {
            parse_bool(value).map_err(|cause| bad_parameter(format!("{name}: {cause}")))
        }
        _ => Err(bad_parameter(
            "the only parameter here is buckets, true or false".to_owned(),
        )),
    }
}

pub(super) async fn openapi_json(State(state): State<AppState>) -> Response {
    json_text(LazyLock::force(state.openapi))
}

pub(super) async fn event_schema() -> Response {
    json_text(&schema::EVENT)
}

fn json_text(text: &Bytes) -> Response {
    let json = [(header::CONTENT_TYPE, "application/json")];
    (json, text.clone()).into_response()
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

async fn find_event(state: &AppState, peer: Peer, id: &str) -> Result<Event, Problem> {
    let id: EventId = id.parse().map_err(|error: gtrace_event::IdError| {
        Problem::bad_request(error.to_string(), "take an id from /api/v1/events")
    })?;
    // As above.
    let _ = state.flush().await;
    state
        .read(peer, move |archive| archive.event(id))
        .await?
        .ok_or_else(|| {
            Problem::not_found(
                "no such event",
                format!("the store has no event {id}"),
                "take an id from /api/v1/events; old events go with the store's retention",
            )
        })
}

fn event_query(pairs: &[(String, String)], excluded: &[&str]) -> Result<EventQuery, Problem> {
    if let Some((name, _)) = pairs
        .iter()
        .find(|(name, _)| excluded.contains(&name.as_str()))
    {
        return Err(bad_parameter(format!("{name}: has no meaning here")));
    }
    let pairs = pairs
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    EventQuery::from_pairs(pairs, Timestamp::now())
        .map_err(|error| bad_parameter(error.to_string()))
}

fn bad_parameter(cause: String) -> Problem {
    Problem::bad_request(
        cause,
        "see /api/openapi.json for the parameters and their values",
    )
}
