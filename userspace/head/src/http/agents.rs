//! What agents send. Each request is for the host of its credential, whatever it says itself.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use gtrace_event::Timestamp;
use gtrace_fleet::{
    BatchAnswer, ClockAnswer, EnrollAnswer, EnrollRequest, FRAMES_MAX, Frames, HostState, Measure,
    Position, StateAnswer, check_labels, check_name,
};

use super::App;
use super::BELIEVED;
use super::problem::Problem;
use crate::db::{EnrollError, digest};
use crate::secret;
use crate::writer::Job;

/// How long the body of a batch may take to come: few are taken at the same time.
const BODY_WITHIN: std::time::Duration = std::time::Duration::from_secs(20);

/// The host whose credential came with a request.
pub(super) struct Host(i64);

impl FromRequestParts<App> for Host {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let header = parts.headers.get(header::AUTHORIZATION);
        let text = header.and_then(|value| value.to_str().ok());
        let credential = text.and_then(|text| text.strip_prefix("Bearer "));
        let refuse = |cause| {
            app.refused.fetch_add(1, Ordering::Relaxed);
            Problem::unauthorized(cause)
        };
        let Some(credential) = credential else {
            return Err(refuse("the request has no credential"));
        };
        let Some((id, secret)) = secret::parts(credential) else {
            return Err(refuse("that is no credential of an agent"));
        };
        let lock = || {
            app.credentials
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let believed = lock()
            .get(&id)
            .filter(|(_, at)| at.elapsed() < BELIEVED)
            .map(|(digest, _)| digest.clone());
        let known = match believed {
            Some(known) => Some(known),
            None => {
                let known = app.read(move |db| db.credential(id)).await?;
                let mut all = lock();
                match &known {
                    Some(known) => drop(all.insert(id, (known.clone(), Instant::now()))),
                    None => drop(all.remove(&id)),
                }
                known
            }
        };
        // Digests are compared: what their comparison's time shows is nothing of the secret.
        match known.is_some_and(|known| known == digest(secret)) {
            true => Ok(Self(id)),
            false => Err(refuse(
                "the credential is not one of this fleet, or was revoked",
            )),
        }
    }
}

pub(super) async fn enroll(
    State(app): State<App>,
    Json(request): Json<EnrollRequest>,
) -> Result<Json<EnrollAnswer>, Problem> {
    check_name(&request.host)
        .map_err(|cause| Problem::bad_request(cause, "name the host with --host"))?;
    let id = request.machine_id.as_deref().unwrap_or_default();
    if id.len() > 64 {
        let remedy = "leave `machine_id` out where the host has none";
        return Err(Problem::bad_request("`machine_id` is too long", remedy));
    }
    let secret = secret::draw().map_err(|e| Problem::unavailable("cannot enroll", e))?;
    let kept = secret.clone();
    let enrolled = app
        .writer
        .write(move |db| Ok(db.enroll(&request, &kept, Timestamp::now())))
        .await
        .map_err(|e| Problem::unavailable("cannot enroll", e))?;
    match enrolled {
        Ok(host_id) => Ok(Json(EnrollAnswer {
            host_id,
            credential: secret::credential(host_id, &secret),
        })),
        Err(EnrollError::Database(error)) => Err(Problem::unavailable("cannot enroll", error)),
        Err(error) => {
            app.refused.fetch_add(1, Ordering::Relaxed);
            let remedy = "ask whoever runs the head for a token: `gtrace head token`";
            Err(Problem::new(
                StatusCode::FORBIDDEN,
                "not enrolled",
                error,
                remedy,
            ))
        }
    }
}

pub(super) async fn batch(
    State(app): State<App>,
    Host(host): Host,
    request: Request,
) -> Result<Response, Problem> {
    // Before the body is read: who waits has sent nothing yet.
    let turn = app.decoding.clone().acquire_owned().await;
    let turn = turn.map_err(|e| Problem::unavailable("cannot take the batch", e))?;
    let body = axum::body::to_bytes(request.into_body(), gtrace_fleet::COMPRESSED_MAX);
    let body = tokio::time::timeout(BODY_WITHIN, body)
        .await
        .map_err(|_| Problem::unavailable("cannot take the batch", "no whole body in 20 s"))?
        .map_err(|e| Problem::bad_request(e, "send smaller batches"))?;
    let decoded = tokio::task::spawn_blocking(move || gtrace_fleet::decode(&body)).await;
    let batch = decoded
        .map_err(|e| Problem::unavailable("cannot take the batch", e))?
        .map_err(|e| Problem::bad_request(e, "agent and head have to be of versions that fit"))?;
    let ingested = app
        .writer
        .ask(|answer| Job::Batch(host, batch, answer))
        .await;
    drop(turn);
    let ingested = ingested.map_err(|e| Problem::unavailable("cannot take the batch", e))?;
    let answer = Json(BatchAnswer {
        cursor: ingested.cursor,
        taken: ingested.taken,
    });
    Ok(match ingested.missing {
        true => (StatusCode::CONFLICT, answer).into_response(),
        false => answer.into_response(),
    })
}

pub(super) async fn state(
    State(app): State<App>,
    Host(host): Host,
    body: Bytes,
) -> Result<Json<StateAnswer>, Problem> {
    let fits = "agent and head have to be of versions that fit";
    let state: HostState =
        serde_json::from_slice(&body).map_err(|e| Problem::bad_request(e, fits))?;
    check_labels(&state.labels)
        .map_err(|cause| Problem::bad_request(cause, "change the labels of the agent"))?;
    let tip = state.tip;
    let text = serde_json::to_string(&state).map_err(|e| Problem::bad_request(e, fits))?;
    let put = app.writer.ask(|answer| Job::State(host, text, tip, answer));
    put.await
        .map_err(|e| Problem::unavailable("cannot take the state", e))?;
    let (cursor, measure) = app
        .read(move |db| {
            let cursor = db.cursor(host)?;
            let on: Vec<_> = db.sessions_on()?;
            let name = match on.is_empty() {
                true => None,
                false => db.name_of(host)?,
            };
            let mine = on
                .into_iter()
                .filter(|session| name.as_deref().is_some_and(|name| session.includes(name)));
            let measure = mine.map(|session| Measure {
                session: session.id,
                interval_ms: session.interval_ms,
            });
            Ok((cursor, measure.collect()))
        })
        .await?;
    Ok(Json(StateAnswer { cursor, measure }))
}

pub(super) async fn cursors(
    State(app): State<App>,
    Host(host): Host,
) -> Result<Json<Vec<Position>>, Problem> {
    app.read(move |db| db.cursors(host)).await.map(Json)
}

pub(super) async fn frames(
    State(app): State<App>,
    Host(host): Host,
    Json(frames): Json<Frames>,
) -> Result<StatusCode, Problem> {
    let Frames { session, frames } = frames;
    if frames.len() > FRAMES_MAX {
        let cause = format!("{} frames, the most is {FRAMES_MAX}", frames.len());
        return Err(Problem::bad_request(cause, "send fewer at once"));
    }
    let bodies = frames
        .iter()
        .map(|frame| Ok((frame.slot, serde_json::to_string(frame)?)))
        .collect::<Result<Vec<_>, serde_json::Error>>()
        .map_err(|e| Problem::bad_request(e, "see docs/fleet.md"))?;
    app.writer
        .write(move |db| {
            // Frames of a session that this host does not belong to are nobody's.
            let name = db.name_of(host)?.unwrap_or_default();
            let is_it = |s: &crate::db::Session| s.id == session && s.includes(&name);
            match db.sessions()?.iter().any(is_it) {
                true => db.put_frames(session, host, &bodies),
                false => Ok(()),
            }
        })
        .await
        .map_err(|e| Problem::unavailable("cannot take frames", e))?;
    Ok(StatusCode::NO_CONTENT)
}

/// The head's clock; agents measure how far theirs is from it.
pub(super) async fn clock(_: Host) -> Json<ClockAnswer> {
    let now = || i64::try_from(Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX);
    let taken = now();
    Json(ClockAnswer {
        taken,
        answered: now(),
    })
}
