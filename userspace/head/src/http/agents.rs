//! What agents send. Each request is for the host of its credential, whatever it says itself.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use gtrace_event::{PciAddress, Timestamp};
use gtrace_fleet::{
    BatchAnswer, ClockAnswer, EnrollAnswer, EnrollRequest, Frames, GpuState, HostState, Position,
    StateAnswer, check_labels, check_name,
};

use super::App;
use super::BELIEVED;
use super::problem::Problem;
use crate::db::{EnrollError, NewFrames, NewState, Placed, Versions, digest};
use crate::secret;
use crate::writer::Job;

/// How long the body of a batch may take to come: few are taken at the same time.
const BODY_WITHIN: std::time::Duration = std::time::Duration::from_secs(20);

/// GPUs of a host whose places are noted.
const GPUS_MAX: usize = 256;

/// The host whose credential came with a request.
pub(super) struct Host(pub(super) i64, pub(super) Arc<str>);

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
            .filter(|(_, _, at)| at.elapsed() < BELIEVED)
            .map(|(digest, name, _)| (digest.clone(), Arc::clone(name)));
        let known = match believed {
            Some(known) => Some(known),
            None => {
                let known = app.agent_readers.read(move |db| db.credential(id)).await?;
                let known = known.map(|(digest, name)| (digest, Arc::<str>::from(name)));
                let mut all = lock();
                match &known {
                    Some((digest, name)) => {
                        let entry = (digest.clone(), Arc::clone(name), Instant::now());
                        drop(all.insert(id, entry));
                    }
                    None => drop(all.remove(&id)),
                }
                known
            }
        };
        // Digests are compared: what their comparison's time shows is nothing of the secret.
        match known.filter(|(known, _)| *known == digest(secret)) {
            Some((_, name)) => Ok(Self(id, name)),
            None => Err(refuse(
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
    Host(host, _): Host,
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
    Host(host, name): Host,
    body: Bytes,
) -> Result<Json<StateAnswer>, Problem> {
    let fits = "agent and head have to be of versions that fit";
    let state: HostState =
        serde_json::from_slice(&body).map_err(|e| Problem::bad_request(e, fits))?;
    check_labels(&state.labels)
        .map_err(|cause| Problem::bad_request(cause, "change the labels of the agent"))?;
    let tip = state.tip;
    let text = serde_json::to_string(&state).map_err(|e| Problem::bad_request(e, fits))?;
    let new = NewState {
        host,
        state: text,
        tip,
        gpus: state
            .gpus
            .iter()
            .take(GPUS_MAX)
            .filter_map(|gpu| placed(&state, gpu))
            .collect(),
    };
    let put = app.writer.ask(|answer| Job::State(new, answer));
    put.await
        .map_err(|e| Problem::unavailable("cannot take the state", e))?;
    let cursor = app.agent_readers.read(move |db| db.cursor(host)).await?;
    let measure = app.sessions.of(&name);
    Ok(Json(StateAnswer { cursor, measure }))
}

/// Where a GPU is; `None` where that is no PCI address. A UUID that is none is not known.
fn placed(host: &HostState, gpu: &GpuState) -> Option<Placed> {
    let uuid = gpu.uuid.clone().filter(|uuid| is_uuid(uuid));
    let versions = Versions {
        driver: host.driver.clone(),
        kernel: host.kernel.clone(),
        vbios: gpu.vbios.clone(),
        firmware: gpu.firmware.clone(),
    };
    Some(Placed {
        pci: PciAddress::parse(gpu.pci.as_deref()?)?.to_string(),
        uuid: uuid.unwrap_or_default(),
        versions: versions.text(),
    })
}

/// Whether it is one as NVML gives them: `GPU-` and five groups of hex digits.
fn is_uuid(text: &str) -> bool {
    let groups = text.strip_prefix("GPU-").map(|rest| rest.split('-'));
    groups.is_some_and(|groups| {
        let hex = |group: &str| group.bytes().all(|b| b.is_ascii_hexdigit());
        let lengths = groups.clone().map(str::len);
        lengths.eq([8, 4, 4, 4, 12]) && groups.clone().all(hex)
    })
}

pub(super) async fn cursors(
    State(app): State<App>,
    Host(host, _): Host,
) -> Result<Json<Vec<Position>>, Problem> {
    app.agent_readers
        .read(move |db| db.cursors(host))
        .await
        .map(Json)
}

pub(super) async fn frames(
    State(app): State<App>,
    Host(host, _): Host,
    body: Bytes,
) -> Result<StatusCode, Problem> {
    let fits = "agent and head have to be of versions that fit";
    let Frames { session, frames } =
        Frames::parse(&body).map_err(|e| Problem::bad_request(e, fits))?;
    let bodies = frames
        .iter()
        .map(|frame| Ok((frame.slot, frame.error_ns, serde_json::to_string(frame)?)))
        .collect::<Result<Vec<_>, serde_json::Error>>()
        .map_err(|e| Problem::bad_request(e, fits))?;
    let new = NewFrames {
        host,
        session,
        frames: bodies,
    };
    app.writer
        .ask(|answer| Job::Frames(new, answer))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_pci_addresses_and_uuids_and_nothing_else() {
        let of = |pci: &str, uuid: &str| {
            let state = GpuState {
                pci: Some(pci.to_owned()),
                uuid: Some(uuid.to_owned()),
                ..GpuState::default()
            };
            placed(&HostState::default(), &state).map(|placed| (placed.pci, placed.uuid))
        };
        let uuid = "GPU-8f3a0b1c-0000-1111-2222-0123456789ab";
        let pci = "0000:3b:00.0".to_owned();
        assert_eq!(
            of("00000000:3B:00.0", uuid),
            Some((pci.clone(), uuid.to_owned()))
        );
        for wrong in ["GPU-1", "x", "GPU-8f3a0b1c-0000-1111-2222-0123456789xy"] {
            assert_eq!(
                of("0000:3b:00.0", wrong),
                Some((pci.clone(), String::new()))
            );
        }
        assert_eq!(of("anything", uuid), None);
    }
}
