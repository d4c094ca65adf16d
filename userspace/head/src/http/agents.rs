//! What agents send. Each request is for the host of its credential, whatever it says itself.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use gtrace_event::{Timestamp, nanos};
use gtrace_fleet::{
    BatchAnswer, ClockAnswer, EnrollAnswer, EnrollRequest, Frames, Position, StateAnswer,
    check_name, credential_parts, credential_text,
};

use super::App;
use super::places::Place;
use super::problem::Problem;
use crate::db::{Database, EnrollError, NewFrames, digest};
use crate::intake::KnownHost;
use crate::secret;
use crate::writer::Job;

/// How long a body may take to come: few batches are taken at the same time, and what came of the others is kept meanwhile.
const BODY_WITHIN: Duration = Duration::from_secs(20);
/// Batches of a host that are taken at the same time, so that its others do not take the turns of all hosts. An agent ships one at a
/// time; one whose connection broke may still be here.
const OF_HOST: usize = 2;

/// Requests of a host that are under way or wait, whatever they are for: an agent has some ten, and for a while as many again whose
/// connection broke.
const UNDER_WAY: usize = 64;

/// What a body has, if that comes in its time.
pub(super) struct InTime<T>(pub(super) T);

impl<T: FromRequest<App>> FromRequest<App> for InTime<T> {
    type Rejection = Response;

    async fn from_request(request: Request, app: &App) -> Result<Self, Response> {
        match tokio::time::timeout(BODY_WITHIN, T::from_request(request, app)).await {
            Ok(Ok(body)) => Ok(Self(body)),
            Ok(Err(why)) => Err(why.into_response()),
            Err(_) => {
                Err(Problem::unavailable("not taken", "no whole body in 20 s").into_response())
            }
        }
    }
}

/// The host whose credential came with a request, and the place that the request has among those of the host.
pub(super) struct Host(pub(super) i64, pub(super) Arc<str>, pub(super) Place<i64>);

impl FromRequestParts<App> for Host {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        // A receiver may know it already.
        let KnownHost { id, name, .. } = match parts.extensions.get::<KnownHost>() {
            Some(known) => known.clone(),
            None => by_credential(parts, app).await?,
        };
        let too_many = || {
            Problem::too_many(
                "not taken",
                format!("the host has {UNDER_WAY} requests under way, which is the most"),
                "send it again once some have ended",
            )
        };
        let place = app.under_way.take(id, UNDER_WAY).ok_or_else(too_many)?;
        Ok(Self(id, name, place))
    }
}

async fn by_credential(parts: &Parts, app: &App) -> Result<KnownHost, Problem> {
    let header = parts.headers.get(header::AUTHORIZATION);
    let text = header.and_then(|value| value.to_str().ok());
    let credential = text.and_then(|text| text.strip_prefix("Bearer "));
    let refuse = |cause| {
        app.intake.refuse();
        Problem::unauthorized(cause)
    };
    let Some(credential) = credential else {
        return Err(refuse("the request has no credential"));
    };
    let Some((id, secret)) = credential_parts(credential) else {
        return Err(refuse("that is no credential of an agent"));
    };
    let known = app.intake.host(id).await?;
    // Digests are compared: what their comparison's time shows is nothing of the secret.
    let known = known.filter(|known| known.digest == digest(secret));
    known.ok_or_else(|| refuse("the credential is not one of this fleet, or was revoked"))
}

pub(super) async fn enroll(
    State(app): State<App>,
    InTime(Json(request)): InTime<Json<EnrollRequest>>,
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
    let enroll = move |db: &mut Database| Ok(db.enroll(&request, &kept, Timestamp::now()));
    let enrolled = app.write("cannot enroll", enroll).await?;
    match enrolled {
        Ok(host_id) => {
            app.intake.forget(host_id);
            Ok(Json(EnrollAnswer {
                host_id,
                credential: credential_text(host_id, &secret),
            }))
        }
        Err(EnrollError::Database(error)) => Err(Problem::unavailable("cannot enroll", error)),
        Err(error) => {
            app.intake.refuse();
            let remedy = "ask whoever runs the head for a token: `gtrace head token`";
            Err(Problem::forbidden("not enrolled", error, remedy))
        }
    }
}

pub(super) async fn batch(
    State(app): State<App>,
    Host(host, _, _place): Host,
    request: Request,
) -> Result<Response, Problem> {
    let not_taken = |why| Problem::not_taken("cannot take the batch", why);
    let _of_host = app.shipping_hosts.wait(host, OF_HOST).await;
    // Before the body is read: who waits has sent nothing yet.
    let turn = app.intake.turn().await.map_err(not_taken)?;
    let body = axum::body::to_bytes(request.into_body(), gtrace_fleet::COMPRESSED_MAX);
    let body = tokio::time::timeout(BODY_WITHIN, body)
        .await
        .map_err(|_| Problem::unavailable("cannot take the batch", "no whole body in 20 s"))?
        .map_err(|e| Problem::bad_request(e, "send smaller batches"))?;
    let batch = app.intake.decode(body).await.map_err(not_taken)?;
    let ingested = app.intake.batch(host, batch, Timestamp::now()).await;
    let ingested = ingested.map_err(not_taken)?;
    drop(turn);
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
    Host(host, name, _place): Host,
    InTime(body): InTime<Bytes>,
) -> Result<Json<StateAnswer>, Problem> {
    app.intake
        .state(host, body, Timestamp::now())
        .await
        .map_err(|why| Problem::not_taken("cannot take the state", why))?;
    let cursor = app.intake.cursor(host).await?;
    let measure = app.sessions.of(&name);
    Ok(Json(StateAnswer { cursor, measure }))
}

pub(super) async fn cursors(
    State(app): State<App>,
    Host(host, _, _place): Host,
) -> Result<Json<Vec<Position>>, Problem> {
    let cursors = app.agent_readers.read(move |db| db.cursors(host)).await?;
    Ok(Json(cursors))
}

pub(super) async fn frames(
    State(app): State<App>,
    Host(host, _, _place): Host,
    InTime(body): InTime<Bytes>,
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
    let now = || nanos(Timestamp::now());
    let taken = now();
    Json(ClockAnswer {
        taken,
        answered: now(),
    })
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use tower_service::Service as _;

    use super::super::agents_alone;
    use super::super::tests::opened;
    use super::*;

    async fn ask(app: &App, what: (&str, &str), credential: &str, body: String) -> Response {
        let request = axum::http::Request::builder()
            .method(what.0)
            .uri(what.1)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::AUTHORIZATION, format!("Bearer {credential}"))
            .body(Body::from(body))
            .unwrap();
        let Ok(answer) = agents_alone(app.clone()).call(request).await;
        answer
    }

    async fn status(app: &App, credential: &str) -> StatusCode {
        let clock = ("GET", "/fleet/v1/clock");
        ask(app, clock, credential, String::new()).await.status()
    }

    #[tokio::test]
    async fn a_number_of_no_host_is_not_looked_up_for_each_request() {
        let dir = tempfile::tempdir().unwrap();
        let app = opened(dir.path());
        app.intake.disbelieve(7);
        let database = rusqlite::Connection::open(dir.path().join("fleet.db")).unwrap();
        database.execute_batch("DROP TABLE hosts").unwrap();
        let credential = |host| credential_text(host, &"0".repeat(64));
        let unavailable = StatusCode::SERVICE_UNAVAILABLE;
        assert_eq!(status(&app, &credential(8)).await, unavailable);
        assert_eq!(status(&app, &credential(7)).await, StatusCode::UNAUTHORIZED);
    }

    /// Takes the host `a` into the fleet by a token of its own; its credential.
    async fn enrolled(app: &App, token: &'static str) -> String {
        let add =
            move |db: &mut Database| db.add_token(token, Some("a"), Timestamp::MAX, 1, "test");
        app.writer.write(add).await.unwrap();
        let request = EnrollRequest {
            token: token.to_owned(),
            host: "a".to_owned(),
            machine_id: None,
            simulated: true,
        };
        let body = serde_json::to_string(&request).unwrap();
        let answer = ask(app, ("POST", "/fleet/v1/enroll"), "", body).await;
        let body = axum::body::to_bytes(answer.into_body(), 1 << 16).await;
        let answer: EnrollAnswer = serde_json::from_slice(&body.unwrap()).unwrap();
        answer.credential
    }

    #[tokio::test]
    async fn a_host_that_is_enrolled_again_is_let_in_by_its_new_credential_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let app = opened(dir.path());
        let mut credentials = Vec::new();
        for token in ["one", "two"] {
            let credential = enrolled(&app, token).await;
            assert_eq!(status(&app, &credential).await, StatusCode::OK);
            credentials.push(credential);
        }
        let first = status(&app, &credentials[0]).await;
        assert_eq!(first, StatusCode::UNAUTHORIZED);
    }

    #[tokio::test]
    async fn a_host_has_so_many_requests_under_way() {
        let dir = tempfile::tempdir().unwrap();
        let app = opened(dir.path());
        let credential = enrolled(&app, "one").await;
        let (host, _) = credential_parts(&credential).unwrap();
        // Other batches of the host wait for these as long as they are here.
        let taken = [(); OF_HOST].map(|()| app.shipping_hosts.take(host, OF_HOST).unwrap());
        let mut held = tokio::task::JoinSet::new();
        for _ in 0..2 * UNDER_WAY {
            let (app, credential) = (app.clone(), credential.clone());
            held.spawn(async move {
                let batch = ("POST", "/fleet/v1/batch");
                ask(&app, batch, &credential, String::new()).await.status()
            });
        }
        let refused = async {
            for _ in 0..UNDER_WAY {
                let refused = held.join_next().await.unwrap().unwrap();
                assert_eq!(refused, StatusCode::TOO_MANY_REQUESTS);
            }
        };
        let refused = tokio::time::timeout(Duration::from_secs(60), refused);
        refused.await.unwrap();
        let too_many = status(&app, &credential).await;
        assert_eq!(too_many, StatusCode::TOO_MANY_REQUESTS);
        held.shutdown().await;
        for _ in 0..2 * UNDER_WAY {
            assert_eq!(status(&app, &credential).await, StatusCode::OK);
        }
        drop(taken);
    }
}
