//! What people may do: all through the Unix socket, read on a TCP address of loopback, and over TLS what their credential says.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::{FromRequest, FromRequestParts, MatchedPath, Request};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gtrace_event::Timestamp;
use gtrace_tls::{Access, Credential, Guard, RateLimiter, Role, is_loopback_host};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::CertificateDer;

use super::agents::InTime;
use super::problem::Problem;
use super::{App, seen};
use crate::db::HostRow;
use crate::view::is_meant;

/// How long who shows a wrong credential waits for the answer: guessing is slow.
const WRONG: Duration = Duration::from_secs(1);
/// Between two lines in the log about such attempts.
const LOG_AGAIN: Duration = Duration::from_secs(10);

/// When the last of those lines was written.
static LOGGED: Mutex<Option<Instant>> = Mutex::new(None);

/// Requests a minute of a credential that has no limit of its own, as the daemon has it.
const PER_MINUTE: NonZeroU32 = NonZeroU32::new(1200).unwrap();
/// Credentials whose rates are kept.
const RATES: usize = 4096;
/// Requests that may come at once, as the time in which they are due.
const BURST: Duration = Duration::from_secs(10);

/// Who may come over TLS, and how often.
#[derive(Debug)]
pub(super) struct Door {
    pub(super) guard: Guard,
    rates: RateLimiter<Credential>,
    /// Its files have changed, and what they say now holds.
    pub(super) reloads: watch::Sender<()>,
}

impl Door {
    pub(super) fn new(guard: Guard) -> Self {
        Self {
            guard,
            rates: RateLimiter::new(RATES, BURST),
            reloads: watch::Sender::new(()),
        }
    }
}

/// A connection over TLS.
pub(super) struct Secured {
    /// Who is who.
    pub(super) door: Arc<Door>,
    /// What the client showed in the handshake.
    pub(super) certificate: Option<CertificateDer<'static>>,
    /// With what it was checked: authorities and revocations.
    pub(super) tls: Arc<ServerConfig>,
}

impl Secured {
    /// What the client showed, unless authorities or revocations may have changed since: a handshake alone looks at those.
    fn certificate(&self, access: &Access) -> Option<&CertificateDer<'static>> {
        let is_checked = Arc::ptr_eq(&self.tls, &access.tls);
        self.certificate.as_ref().filter(|_| is_checked)
    }
}

/// How a request came.
#[derive(Clone)]
pub(super) enum Way {
    /// The Unix socket: whom its file mode lets in administers. The number of the user, where the system says it.
    Unix(Option<u32>),
    /// TCP on loopback: people read, and agents have credentials.
    Tcp,
    /// TLS: people and agents have credentials.
    Tls(Arc<Secured>),
}

impl Way {
    /// Returns once a certificate that came this way has to be shown anew.
    pub(super) fn outdated(&self) -> impl Future<Output = ()> + Send + use<> {
        let secured = match self {
            Self::Tls(secured) if secured.certificate.is_some() => Some(Arc::clone(secured)),
            _ => None,
        };
        async move {
            let Some(secured) = secured else {
                return std::future::pending().await;
            };
            let mut reloads = secured.door.reloads.subscribe();
            while secured.certificate(&secured.door.guard.access()).is_some() {
                // The sender is the door's own.
                let _ = reloads.changed().await;
            }
        }
    }
}

/// Who was let in over TLS, for answers that go on for long.
#[derive(Clone)]
pub(super) struct Known {
    secured: Arc<Secured>,
    credential: Credential,
}

impl Known {
    /// Whether the credential is still good: it may be revoked, or run out.
    pub(super) fn still_holds(&self) -> bool {
        let access = self.secured.door.guard.access();
        let certificate = self.secured.certificate(&access);
        access
            .credentials
            .still_holds(&self.credential, certificate, Timestamp::now())
    }
}

/// Whether whoever asks may change things, however little the request itself changes.
pub(super) fn may_operate(extensions: &Extensions) -> bool {
    match extensions.get::<Way>() {
        Some(Way::Unix(_)) => true,
        Some(Way::Tls(_)) => extensions
            .get::<Known>()
            .is_some_and(|known| known.credential.role >= Role::Operate),
        Some(Way::Tcp) | None => false,
    }
}

/// Who does something.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct By {
    /// As they name themselves.
    pub by: String,
}

/// Who does something: as they name themselves, with the credential by which they came over TLS, or the number of the user at the Unix
/// socket.
pub(super) struct Named(pub(super) String);

/// Longest name that a person gives themselves.
const NAME_MAX: usize = 64;

pub(super) fn named(by: &str, extensions: &Extensions) -> String {
    let name: String = by.trim().chars().take(NAME_MAX).collect();
    let name = name.replace(char::is_control, " ");
    let name = match name.is_empty() {
        true => "somebody",
        false => &name,
    };
    match (extensions.get::<Known>(), extensions.get::<Way>()) {
        (Some(known), _) => format!("{name} ({})", known.credential),
        (None, Some(Way::Unix(Some(user)))) => format!("{name} (user {user})"),
        _ => name.to_owned(),
    }
}

impl FromRequest<App> for Named {
    type Rejection = Response;

    async fn from_request(request: Request, app: &App) -> Result<Self, Response> {
        let extensions = request.extensions().clone();
        let InTime(Json(By { by })) = InTime::<Json<By>>::from_request(request, app).await?;
        Ok(Self(named(&by, &extensions)))
    }
}

/// Lets people in.
pub(super) async fn people(mut request: Request, next: Next) -> Response {
    match request.extensions().get::<Way>() {
        Some(Way::Unix(_)) => return next.run(request).await,
        Some(Way::Tls(secured)) => {
            let secured = Arc::clone(secured);
            return match with_credential(&secured, request.method(), request.headers()) {
                Ok(credential) => {
                    if !credential.hosts.is_empty() && !is_for_some(&request) {
                        return for_some(&credential).into_response();
                    }
                    let known = Known {
                        secured,
                        credential,
                    };
                    request.extensions_mut().insert(known);
                    next.run(request).await
                }
                Err(problem) => {
                    tokio::time::sleep(WRONG).await;
                    challenged(problem)
                }
            };
        }
        Some(Way::Tcp) | None => {}
    }
    // A page of another site that a browser shows may send requests to loopback, under its own name.
    if !is_own_host(&request) {
        let cause = "the header Host does not name this machine's loopback";
        let remedy = "use 127.0.0.1 or localhost";
        return Problem::forbidden("not let in", cause, remedy).into_response();
    }
    if request.method() != Method::GET {
        let remedy = "use the head's Unix socket (--socket)";
        return Problem::forbidden("not allowed", "TCP only reads", remedy).into_response();
    }
    next.run(request).await
}

/// Routes that show a credential for some hosts what is theirs. Every other is not for it.
const FOR_SOME: [&str; 20] = [
    "/",
    "/page/fleet.js",
    "/page/fleet.css",
    "/page/icon.svg",
    "/page/app.js",
    "/page/app.css",
    "/hosts/{host}",
    "/hosts/{host}/",
    "/fleet/v1/hosts",
    "/fleet/v1/hosts/{host}",
    "/fleet/v1/hosts/{host}/incidents/{id}",
    "/fleet/v1/hosts/{host}/page/{*path}",
    "/fleet/v1/events",
    "/fleet/v1/events/stream",
    "/fleet/v1/incidents",
    "/fleet/v1/incidents/stream",
    "/fleet/v1/usage",
    "/fleet/v1/latency",
    "/fleet/v1/requests/{id}",
    "/fleet/v1/requests/{id}/file",
];
/// What it may ask hosts for that are its own, with the role operate.
const ASKED_BY_SOME: [&str; 2] = [
    "/fleet/v1/hosts/{host}/incidents/{id}/report",
    "/fleet/v1/hosts/{host}/trace",
];

fn is_for_some(request: &Request) -> bool {
    let route = request.extensions().get::<MatchedPath>();
    let is_one = |of: &[&str]| route.is_some_and(|route| of.contains(&route.as_str()));
    match *request.method() {
        Method::GET => is_one(&FOR_SOME),
        Method::POST => is_one(&ASKED_BY_SOME),
        _ => false,
    }
}

fn for_some(credential: &Credential) -> Problem {
    Problem::forbidden(
        "not allowed",
        format!(
            "{credential} is for some hosts, and this is about the fleet, or changes something"
        ),
        "hosts, events, incidents, usage, latency, reports and traces show what is theirs",
    )
}

/// The hosts that whoever asks may see.
#[derive(Clone, Default)]
pub(super) struct Only(Option<Arc<[String]>>);

impl<S: Send + Sync> FromRequestParts<S> for Only {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let hosts = parts.extensions.get::<Known>();
        let hosts = hosts.map(|known| &known.credential.hosts);
        let some = hosts.filter(|hosts| !hosts.is_empty());
        Ok(Self(some.map(|hosts| hosts.as_slice().into())))
    }
}

impl Only {
    /// Whether it is about all.
    pub(super) fn is_all(&self) -> bool {
        self.0.is_none()
    }

    /// Whether this is one of them.
    pub(super) fn has(&self, row: &HostRow) -> bool {
        let some = self.0.as_ref();
        some.is_none_or(|some| some.iter().any(|one| is_meant(row, one)))
    }

    /// A host that whoever asks may see.
    pub(super) async fn host(&self, app: &App, name: &str) -> Result<HostRow, Problem> {
        let wanted = name.to_owned();
        let row = app.read(move |db| db.host(&wanted)).await?;
        row.filter(|row| self.has(row))
            .ok_or_else(|| Problem::no_host(name))
    }

    /// Their names, or the one that is asked for, which has to be one of them; `None` for all.
    pub(super) async fn names(
        &self,
        app: &App,
        asked: Option<String>,
    ) -> Result<Option<BTreeSet<String>>, Problem> {
        if let Some(asked) = asked {
            let row = self.host(app, &asked).await?;
            return Ok(Some(BTreeSet::from([row.name])));
        }
        if self.is_all() {
            return Ok(None);
        }
        let rows = seen::hosts(app).await?.rows;
        let seen = rows.iter().filter(|row| self.has(row));
        Ok(Some(seen.map(|row| row.name.clone()).collect()))
    }
}

/// Whether the credential of a request over TLS permits it.
fn with_credential(
    secured: &Secured,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Credential, Problem> {
    let token = token_of(method, headers);
    let access = secured.door.guard.access();
    let certificate = secured.certificate(&access);
    let known =
        access
            .credentials
            .authenticate_at_head(token.as_deref(), certificate, Timestamp::now());
    match known {
        Ok(known) if method == Method::GET || known.role >= Role::Operate => {
            let rate = known.requests_per_minute.unwrap_or(PER_MINUTE);
            match secured.door.rates.take(&known, rate, Instant::now()) {
                Ok(()) => Ok(known),
                Err(wait) => Err(Problem::too_many(
                    "too often",
                    format!("{known} may ask {rate} times a minute"),
                    &format!("ask again in {} s", wait.as_secs() + 1),
                )),
            }
        }
        Ok(known) => Err(Problem::forbidden(
            "not allowed",
            format!("{known} may read"),
            "use a credential with the role operate, or the head's Unix socket",
        )),
        Err(denied) => {
            let mut logged = LOGGED.lock().unwrap_or_else(PoisonError::into_inner);
            if logged.is_none_or(|at| at.elapsed() > LOG_AGAIN) {
                *logged = Some(Instant::now());
                tracing::warn!("a reader was not let in: {denied}");
            }
            Err(Problem::new(
                StatusCode::UNAUTHORIZED,
                "not let in",
                "no token or certificate that this head knows",
                "send `Authorization: Bearer TOKEN`; `gtrace token new` on the head's host makes one",
            ))
        }
    }
}

/// The token of the header `Authorization`: `Bearer TOKEN` (RFC 6750), or for reading `Basic` with the token as password (RFC 7617), which
/// browsers ask a person for. A browser adds that by itself also to what other sites ask for, so it changes nothing.
fn token_of(method: &Method, headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, rest) = value.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.trim().to_owned());
    }
    if !scheme.eq_ignore_ascii_case("basic") || method != Method::GET {
        return None;
    }
    let pair = String::from_utf8(STANDARD.decode(rest.trim()).ok()?).ok()?;
    pair.split_once(':').map(|(_, token)| token.to_owned())
}

/// Has a browser ask for a token.
fn challenged(problem: Problem) -> Response {
    let mut response = problem.into_response();
    if response.status() == StatusCode::UNAUTHORIZED {
        let ask =
            HeaderValue::from_static("Basic realm=\"gtrace: any name, and a token as password\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, ask);
    }
    response
}

/// Whether a request names this machine's loopback.
pub(super) fn is_own_host(request: &Request) -> bool {
    let host = request
        .headers()
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .or_else(|| request.uri().authority().map(|a| a.as_str()));
    host.is_some_and(is_loopback_host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_and_one_line_and_reports_are_for_operators() {
        let mut extensions = Extensions::new();
        assert_eq!(named(" a\nb\u{1b}[1m ", &extensions), "a b [1m");
        assert_eq!(named("  ", &extensions), "somebody");
        assert_eq!(named(&"x".repeat(500), &extensions).len(), NAME_MAX);
        assert!(!may_operate(&extensions));
        extensions.insert(Way::Tcp);
        assert!(!may_operate(&extensions));
        extensions.insert(Way::Unix(Some(1000)));
        assert!(may_operate(&extensions));
        assert_eq!(named("root", &extensions), "root (user 1000)");
    }
}
