//! Who asks over TLS: a bearer token, a password that is one, or a certificate.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gtrace_tls::{Credential, Denied};
use jiff::Timestamp;

use super::AppState;
use super::https::{Https, Session};
use super::peer::Peer;
use super::problem::Problem;
use super::refusals::Reason;

/// How long an answer to a wrong credential takes: who tries many waits with all its connections.
const SLOW: Duration = Duration::from_secs(1);

/// Who asks, if it is somebody and has not asked too often.
pub(super) async fn authenticate(
    state: &AppState,
    https: &Https,
    peer: Peer,
    session: &Session,
    shown: Shown,
) -> Result<Credential, Response> {
    let access = https.guard.access();
    let known = match &shown {
        Shown::Token(token) => access.credentials.by_token(token, Timestamp::now()),
        Shown::Nothing => {
            access
                .credentials
                .authenticate(None, session.certificate.as_ref(), Timestamp::now())
        }
        Shown::Unreadable => Err(Denied::UnknownToken),
    };
    drop(access);
    match known {
        Ok(credential) => {
            session.remember(&credential);
            let rate = credential
                .requests_per_minute
                .unwrap_or(state.limits.requests_per_minute);
            match https.requests.take(&credential, rate, Instant::now()) {
                Ok(()) => Ok(credential),
                Err(wait) => {
                    let what = format_args!("{credential} asked more than {rate} times a minute");
                    state.refusals.count(peer, Reason::Rate, what);
                    Err(too_often(&credential, rate, wait))
                }
            }
        }
        Err(denied) => {
            state.hub.metrics.count_failed_login(denied.label());
            if denied != Denied::Nothing {
                let what = format!("failed login: {denied}");
                state.refusals.count(peer, Reason::Login, what);
                tokio::time::sleep(SLOW).await;
            }
            Err(unauthorised(&denied))
        }
    }
}

/// Keeps web pages of others from changing something with the credentials that a browser adds by itself.
pub(super) fn refuse_foreign_origin(method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    let origin = headers.get(header::ORIGIN);
    let (Some(origin), false) = (origin, method.is_safe()) else {
        return Ok(());
    };
    let host = headers.get(header::HOST).map(HeaderValue::as_bytes);
    if origin.as_bytes().strip_prefix(b"https://") == host && host.is_some() {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::FORBIDDEN,
        "forbidden origin",
        "the request comes from a page of another site",
        "send it without the header Origin, or from the page of this host",
    ))
}

/// What a request shows of who sends it.
pub(super) enum Shown {
    Nothing,
    Token(String),
    Unreadable,
}

/// The token of the header `Authorization`: `Bearer TOKEN` (RFC 6750), or `Basic` with the token as password, which
/// browsers ask a person for. The user name says nothing.
pub(super) fn shown(headers: &HeaderMap) -> Shown {
    let Some(value) = headers.get(header::AUTHORIZATION) else {
        return Shown::Nothing;
    };
    let token = || {
        let (scheme, rest) = value.to_str().ok()?.split_once(' ')?;
        let rest = rest.trim();
        if scheme.eq_ignore_ascii_case("bearer") {
            return Some(rest.to_owned());
        }
        if !scheme.eq_ignore_ascii_case("basic") {
            return None;
        }
        let pair = String::from_utf8(STANDARD.decode(rest).ok()?).ok()?;
        pair.split_once(':')
            .map(|(_, password)| password.to_owned())
    };
    token().map_or(Shown::Unreadable, Shown::Token)
}

/// 401, after which the connection ends. What was wrong with a credential is only logged.
fn unauthorised(denied: &Denied) -> Response {
    let (cause, remedy) = match denied {
        Denied::Nothing => (
            "no credential was shown",
            "send `Authorization: Bearer TOKEN`, or show a client certificate; `gtrace token new` makes a token",
        ),
        _ => (
            "the credential is not valid",
            "show another one; the log of the daemon says what is wrong with this one",
        ),
    };
    let mut response =
        Problem::new(StatusCode::UNAUTHORIZED, "not logged in", cause, remedy).into_response();
    let headers = response.headers_mut();
    for scheme in [
        "Bearer realm=\"gtrace\"",
        "Basic realm=\"gtrace: any name, and a token as password\"",
    ] {
        headers.append(header::WWW_AUTHENTICATE, HeaderValue::from_static(scheme));
    }
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

fn too_often(credential: &Credential, rate: NonZeroU32, wait: Duration) -> Response {
    let seconds = wait.as_secs() + 1;
    let mut response = Problem::new(
        StatusCode::TOO_MANY_REQUESTS,
        "too many requests",
        format!("{credential} may ask {rate} times a minute"),
        format!("ask again in {seconds} s, or set requests_per_minute of the credential"),
    )
    .into_response();
    let headers = response.headers_mut();
    headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// A session of the request, with what all sessions share.
#[derive(Clone)]
pub(super) struct Secured {
    pub(super) https: Arc<Https>,
    pub(super) session: Arc<Session>,
}
