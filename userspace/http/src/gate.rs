//! Who may do what: a listener gives its clients a role, a route needs one, and [`authorise`] compares them.

use axum::Extension;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use gtrace_tls::{Credential, Role, is_loopback_host};

use super::AppState;
use super::login::{self, Secured};
use super::peer::{Origin, Peer};
use super::problem::Problem;

/// What [`authorise`] knows.
#[derive(Clone)]
pub(super) struct Gate {
    pub(super) state: AppState,
    /// The role that the path of a route needs.
    pub(super) needed: fn(&str) -> Role,
}

/// Refuses what the role of the peer does not cover, before any handler sees the request; the rest takes turns.
pub(super) async fn authorise(
    State(Gate { state, needed }): State<Gate>,
    Extension(peer): Extension<Peer>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let path = request.extensions().get::<MatchedPath>();
    let needs = path.map_or(Role::Read, |path| needed(path.as_str()));
    match peer.origin {
        Origin::Unix => {}
        Origin::Loopback => {
            refuse_foreign_host(request.headers())?;
            if Role::Read < needs {
                return Err(forbidden(&state));
            }
        }
        Origin::Https => {
            let Some(Secured { https, session }) = request.extensions().get().cloned() else {
                return Err(without_session());
            };
            let headers = request.headers();
            login::refuse_foreign_origin(request.method(), headers)?;
            let shown = login::shown(headers);
            let known = login::authenticate(&state, &https, peer, &session, shown).await;
            match known {
                Ok(known) if known.role < needs => return Err(beyond_role(&known)),
                Ok(_) => {}
                Err(answer) => return Ok(answer),
            }
        }
    }
    // Only so many requests of a user begin in a round of the runtime, and those of others come between.
    // It is not held longer: a request that waits for the store keeps no other one.
    let turn = state.requests.take(peer).await;
    tokio::task::yield_now().await;
    drop(turn);
    Ok(next.run(request).await)
}

/// Nothing is answered to who came without a session: each connection over TLS has one.
fn without_session() -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "not logged in",
        "the connection has no session",
        "report this",
    )
}

fn beyond_role(known: &Credential) -> Problem {
    Problem::new(
        StatusCode::FORBIDDEN,
        "forbidden for this role",
        format!("the {known} has the role {}", known.role),
        "use a credential with the role operate, or the Unix socket of the host",
    )
}

fn forbidden(state: &AppState) -> Problem {
    let remedy = match &state.socket {
        Some(socket) => format!(
            "use the Unix socket: curl --unix-socket {} http://localhost/...",
            socket.display()
        ),
        None => "run the daemon with a Unix socket (key `socket`), and use that".to_owned(),
    };
    Problem::new(
        StatusCode::FORBIDDEN,
        "forbidden over TCP",
        "TCP has no authentication, so it is for reading only",
        remedy,
    )
}

/// Keeps web pages out that point a name of theirs at 127.0.0.1 (DNS rebinding). No CORS header is ever sent.
fn refuse_foreign_host(headers: &HeaderMap) -> Result<(), Problem> {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    if host.is_some_and(is_loopback_host) {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::FORBIDDEN,
        "forbidden host",
        format!("the Host header is `{}`", host.unwrap_or("")),
        "ask for localhost, 127.0.0.1 or [::1]",
    ))
}
