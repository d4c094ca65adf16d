//! Questions of agents: each is answered by one head, as the same over HTTP.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use futures_util::StreamExt as _;
use gtrace_fleet::nats::{CALL, HEADERS_MAX, Key, Kind, NONCE, SIGNATURE, STATUS};
use gtrace_nats::NatsError;
use gtrace_nats::async_nats::{Client, HeaderMap, Message};
use tokio::sync::Semaphore;
use tower_service::Service as _;

use super::{Never, Refused, failed, refuse, sender};
use crate::intake::{Intake, KnownHost};

/// The queue of which one head gets a question.
const QUEUE: &str = "gtrace-heads";
/// Questions at once; agents leave one open for long.
const QUESTIONS: usize = 20_000;
/// Bytes of them together: whoever may use the servers can ask, and is known only after that.
const QUESTIONS_BYTES: usize = 64 << 20;

/// What the subject of an answer begins with: where clients wait for answers, and what servers put in the place of that where a
/// question comes from another account.
const INBOXES: [&str; 2] = ["_INBOX.", "_R_."];

/// Whether an answer may go there. Whoever asks names the subject, and a head may publish on more of them than a host: an empty answer to
/// `$JS.API.STREAM.PURGE.GTRACE_RECORDS` would remove the batches of all hosts.
fn is_inbox(reply: &str) -> bool {
    INBOXES.iter().any(|inbox| reply.starts_with(inbox))
}

/// Answers until something fails.
pub(super) async fn answer(
    client: &Client,
    intake: &Intake,
    router: &Router,
) -> Result<Never, NatsError> {
    let questions = client.queue_subscribe(Kind::Call.all_hosts(), QUEUE.to_owned());
    let mut questions = questions.await.map_err(failed)?;
    let places = Arc::new(Semaphore::new(QUESTIONS));
    let bytes = Arc::new(Semaphore::new(QUESTIONS_BYTES));
    let mut answering = tokio::task::JoinSet::new();
    while let Some(question) = questions.next().await {
        while answering.try_join_next().is_some() {}
        let size = u32::try_from(question.length).unwrap_or(u32::MAX);
        let place = Arc::clone(&places).try_acquire_owned();
        let room = Arc::clone(&bytes).try_acquire_many_owned(size);
        let (Ok(place), Ok(room)) = (place, room) else {
            // Agents ask again.
            continue;
        };
        let (client, intake, router) = (client.clone(), intake.clone(), router.clone());
        answering.spawn(async move {
            one(&client, &intake, router, question).await;
            drop((place, room));
        });
    }
    Err(failed("the connection has ended"))
}

async fn one(client: &Client, intake: &Intake, router: Router, question: Message) {
    let Some(reply) = question.reply.clone() else {
        return;
    };
    if !is_inbox(reply.as_str()) {
        let why = "its answer is to go to no inbox";
        return refuse(intake, question.subject.as_str(), why);
    }
    let headers = question.headers.as_ref();
    let [nonce, what] = [NONCE, CALL].map(|name| super::header(headers, name).unwrap_or_default());
    let subject = question.subject.as_str();
    let parts: [&[u8]; 5] = [
        b"call",
        subject.as_bytes(),
        nonce.as_bytes(),
        what.as_bytes(),
        &question.payload,
    ];
    let from = sender(intake, subject, Kind::Call, headers, &parts).await;
    let (status, body, key) = match from {
        Ok(host) => {
            let key = Key::of_digest(host.digest);
            let (status, body) = ask(router, host, what, question.payload.clone()).await;
            (status, body, Some(key))
        }
        Err(Refused::Never(why)) => {
            refuse(intake, subject, why);
            let cause = "the credential is not one of this fleet, or was revoked";
            let body = gtrace_api::ProblemBody {
                error: "not let in".to_owned(),
                cause: cause.to_owned(),
                remedy: "enroll the host with `gtrace agent enroll` and a new join token"
                    .to_owned(),
            };
            let body = serde_json::to_vec(&body).unwrap_or_default();
            (StatusCode::UNAUTHORIZED, body, None)
        }
        Err(Refused::Later) => return,
    };
    let most = client.max_payload().saturating_sub(HEADERS_MAX);
    let (status, body) = match body.len() > most {
        true => (StatusCode::PAYLOAD_TOO_LARGE, Vec::new()),
        false => (status, body),
    };
    let status = status.as_u16().to_string();
    let mut headers = HeaderMap::new();
    if let Some(key) = key {
        let parts: [&[u8]; 4] = [b"answer", nonce.as_bytes(), status.as_bytes(), &body];
        headers.insert(SIGNATURE, key.sign(&parts).to_string());
    }
    headers.insert(STATUS, status);
    // Whoever asked may be gone.
    let _ = client
        .publish_with_headers(reply, headers, body.into())
        .await;
}

/// Has the routes of agents answer.
async fn ask(
    mut router: Router,
    host: KnownHost,
    what: &str,
    body: impl Into<Body>,
) -> (StatusCode, Vec<u8>) {
    let bad = (StatusCode::BAD_REQUEST, Vec::new());
    let Some((method, path)) = what.split_once(' ') else {
        return bad;
    };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::CONTENT_TYPE, "application/json")
        .extension(host)
        .body(body.into());
    let Ok(request) = request else {
        return bad;
    };
    // It cannot fail.
    let Ok(response) = router.call(request).await;
    let status = response.status();
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await;
    match body {
        Ok(body) => (status, body.to_vec()),
        Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_go_to_inboxes_alone() {
        for reply in ["_INBOX.x.y", "_R_.x.y"] {
            assert!(is_inbox(reply), "{reply}");
        }
        for reply in [
            "",
            "_INBOX",
            "$JS.API.STREAM.PURGE.GTRACE_RECORDS",
            "gtrace.lab.a1.position",
        ] {
            assert!(!is_inbox(reply), "{reply}");
        }
    }
}
