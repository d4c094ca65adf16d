//! The page of a host by way of the head: what it asks its daemon for goes to the host's agent, with the answer to its question for work,
//! and comes back in a request of the agent's. Nothing of it is kept. Where the agent asks another head of the same database, that one
//! asks it, and leaves the answer in the database.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use gtrace_event::Timestamp;
use gtrace_fleet::{HostRead, PAGE, READ_MAX, READS_MAX, is_readable};
use serde::Deserialize;
use tokio::sync::{Notify, Semaphore, oneshot};

use super::App;
use super::agents::Host;
use super::gate::Only;
use super::problem::Problem;
use super::query::Query;
use crate::db::ReadOf;
use crate::view::is_silent;

/// How long an answer may take: a little less than the page waits.
const ANSWER_WITHIN: Duration = Duration::from_secs(12);
/// How long the body of an answer may take to come.
const BODY_WITHIN: Duration = Duration::from_secs(10);
/// Between two questions of an agent for work, which go to any head, it is there all the same.
const ATTACHED_FOR: Duration = Duration::from_secs(5);
/// Answers whose bodies are taken at the same time.
const TAKING: usize = 16;

type Answer = (StatusCode, Bytes);

/// What people wait for, by host.
#[derive(Clone)]
pub(super) struct Reads {
    hosts: Arc<Mutex<BTreeMap<i64, OfHost>>>,
    /// Whether the database may have other heads.
    shared: bool,
    taking: Arc<Semaphore>,
}

#[derive(Default)]
struct OfHost {
    wake: Arc<Notify>,
    /// Questions for work of its agent that are open, and when the last one ended.
    asking: usize,
    asked: Option<Instant>,
    /// The number of the newest.
    newest: u64,
    /// What the agent has not been given.
    pending: VecDeque<HostRead>,
    waiting: BTreeMap<u64, oneshot::Sender<Answer>>,
}

impl Reads {
    /// Of a database that other heads may have too, or not.
    pub(super) fn new(shared: bool) -> Self {
        Self {
            hosts: Arc::default(),
            shared,
            taking: Arc::new(Semaphore::new(TAKING)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<i64, OfHost>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The agent of a host asks for work.
    pub(super) fn attach(&self, host: i64) -> Attached {
        let mut hosts = self.lock();
        let of = hosts.entry(host).or_default();
        of.asking += 1;
        Attached {
            reads: self.clone(),
            host,
            wake: Arc::clone(&of.wake),
        }
    }

    /// Whether the agent asks this head, or has done so not longer ago than that.
    fn is_attached(&self, host: i64, ago: Duration) -> bool {
        let hosts = self.lock();
        hosts
            .get(&host)
            .is_some_and(|of| of.asking > 0 || of.asked.is_some_and(|at| at.elapsed() < ago))
    }

    /// What the agent is to read; each is given once.
    pub(super) fn take(&self, host: i64) -> Vec<HostRead> {
        let mut hosts = self.lock();
        let Some(of) = hosts.get_mut(&host) else {
            return Vec::new();
        };
        let (pending, waiting) = (&mut of.pending, &of.waiting);
        let wanted = |read: &HostRead| waiting.contains_key(&read.id);
        pending.drain(..).filter(wanted).collect()
    }

    /// Has the host read `path`; `None` where it has enough to read.
    fn ask(&self, host: i64, path: String) -> Option<(Waiting, oneshot::Receiver<Answer>)> {
        let mut hosts = self.lock();
        let of = hosts.entry(host).or_default();
        if of.waiting.len() >= READS_MAX {
            return None;
        }
        of.newest += 1;
        let id = of.newest;
        let (sender, answer) = oneshot::channel();
        of.waiting.insert(id, sender);
        of.pending.push_back(HostRead { id, path });
        of.wake.notify_one();
        let waiting = Waiting {
            reads: self.clone(),
            host,
            id,
        };
        Some((waiting, answer))
    }

    fn is_waited_for(&self, host: i64, id: u64) -> bool {
        let hosts = self.lock();
        hosts
            .get(&host)
            .is_some_and(|of| of.waiting.contains_key(&id))
    }

    fn answer(&self, host: i64, id: u64, answer: Answer) -> bool {
        let mut hosts = self.lock();
        let waiting = hosts.get_mut(&host).and_then(|of| of.waiting.remove(&id));
        drop(hosts);
        // Whoever waited may have gone.
        waiting.is_some_and(|waiting| waiting.send(answer).is_ok())
    }
}

/// An agent's question for work.
pub(super) struct Attached {
    reads: Reads,
    host: i64,
    wake: Arc<Notify>,
}

impl Attached {
    /// There is something to read.
    pub(super) async fn woken(&self) {
        self.wake.notified().await;
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        if let Some(of) = self.reads.lock().get_mut(&self.host) {
            of.asking -= 1;
            of.asked = Some(Instant::now());
        }
    }
}

/// A person waits; its end takes the question back.
struct Waiting {
    reads: Reads,
    host: i64,
    id: u64,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(of) = self.reads.lock().get_mut(&self.host) {
            of.waiting.remove(&self.id);
            of.pending.retain(|read| read.id != self.id);
        }
    }
}

/// The document of a host's page; its script asks for what is below `/fleet/v1/hosts/HOST/page`.
pub(super) async fn with_slash(Path(host): Path<String>) -> Redirect {
    // A name of a host, or the page says that there is none: it is a path segment either way.
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let host: String = host.chars().filter(|c| plain(*c)).collect();
    Redirect::permanent(&format!("/hosts/{host}/"))
}

/// What a host's daemon answers.
pub(super) async fn read(
    State(app): State<App>,
    only: Only,
    Path((name, _)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Problem> {
    let uri = request.uri();
    let target = uri.path_and_query().map_or(uri.path(), |all| all.as_str());
    // The router has matched it: HOST has no slash, and may be `page`.
    let path = target
        .strip_prefix("/fleet/v1/hosts/")
        .and_then(|of_host| of_host.split_once("/page/"))
        .map(|(_, path)| format!("/{path}"));
    let Some(path) = path.filter(|path| is_readable(path)) else {
        return Err(Problem::not_found(
            "the page of a host does not ask for that",
            "ask the host's daemon itself",
        ));
    };
    let row = only.host(&app, &name).await?;
    let refused =
        |status, cause: String, remedy: &str| Err(Problem::new(status, "not read", cause, remedy));
    if is_silent(&row, Timestamp::now()) {
        return refused(
            StatusCode::CONFLICT,
            format!("host `{name}` is silent"),
            "ask again once its agent is back",
        );
    }
    let permits = |state: gtrace_fleet::HostState| state.permits.iter().any(|one| one == PAGE);
    if !row.state.is_some_and(permits) {
        return refused(
            StatusCode::FORBIDDEN,
            format!("host `{name}` does not permit it"),
            "`gtrace agent run --allow page`, or head_page = true of its daemon, does",
        );
    }
    let of_other = path.clone();
    let Some((waiting, answer)) = app.reads.ask(row.id, path) else {
        return refused(
            StatusCode::TOO_MANY_REQUESTS,
            format!("host `{name}` has {READS_MAX} questions to answer, which is the most"),
            "ask again in a moment",
        );
    };
    if app.reads.shared && !app.reads.is_attached(row.id, Duration::ZERO) {
        let of = ReadOf {
            head: app.writer.head.clone(),
            host: row.id,
            id: waiting.id,
        };
        app.read(move |db| db.want_read(of, of_other)).await?;
    }
    let answer = tokio::time::timeout(ANSWER_WITHIN, answer).await;
    drop(waiting);
    let Ok(Ok((status, body))) = answer else {
        return refused(
            StatusCode::GATEWAY_TIMEOUT,
            format!("host `{name}` has not answered within 12 s"),
            "ask again",
        );
    };
    if body.is_empty() && status != StatusCode::OK {
        let (cause, remedy) = match status {
            StatusCode::TOO_MANY_REQUESTS => (
                "the host has as many questions to answer as it may",
                "ask again in a moment",
            ),
            StatusCode::PAYLOAD_TOO_LARGE => (
                "the answer is too large for the way to the head",
                "ask for less",
            ),
            _ => (
                "the agent did not read it",
                "run the same version of gtrace on host and head",
            ),
        };
        return Err(Problem::new(status, "not read", cause, remedy));
    }
    // It is the host's: a browser is not to take it for anything but data.
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, "sandbox"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((status, headers, body).into_response())
}

/// Reads a host for another head, if its agent asks this one.
pub(super) fn serve(app: &App, wanted: ReadOf, path: String) {
    if !is_readable(&path) || !app.reads.is_attached(wanted.host, ATTACHED_FOR) {
        return;
    }
    let answer = app.reads.ask(wanted.host, path);
    let app = app.clone();
    tokio::spawn(async move {
        let answer = match answer {
            Some((waiting, answer)) => {
                let answer = tokio::time::timeout(ANSWER_WITHIN, answer).await;
                drop(waiting);
                answer.ok().and_then(Result::ok)
            }
            None => Some((StatusCode::TOO_MANY_REQUESTS, Bytes::new())),
        };
        let Some((status, body)) = answer else {
            return;
        };
        let give = app.read(move |db| {
            let answer = (status.as_u16(), body.as_ref());
            db.give_read(wanted, answer, Timestamp::now())
        });
        if give.await.is_err() {
            tracing::warn!("another head cannot be given what a host answered");
        }
    });
}

/// Fetches what another head has read.
pub(super) fn fetch(app: &App, given: ReadOf) {
    let app = app.clone();
    tokio::spawn(async move {
        let of = given.clone();
        let Ok(Some((status, body))) = app.read(move |db| db.take_read(&of)).await else {
            return;
        };
        if let Ok(status) = StatusCode::from_u16(status) {
            app.reads
                .answer(given.host, given.id, (status, body.into()));
        }
    });
}

#[derive(Deserialize)]
pub(super) struct Answered {
    status: u16,
}

/// An agent's answer to what it was given to read.
pub(super) async fn answered(
    State(app): State<App>,
    Host(host, _, _place): Host,
    Path(id): Path<u64>,
    Query(Answered { status }): Query<Answered>,
    request: Request,
) -> Result<StatusCode, Problem> {
    let not_awaited = || Problem::not_found("nobody waits for that answer", "leave it out");
    // Before the body is read.
    if !app.reads.is_waited_for(host, id) {
        return Err(not_awaited());
    }
    let status = StatusCode::from_u16(status).ok().filter(|status| {
        status.is_success() || status.is_client_error() || status.is_server_error()
    });
    let status = status.ok_or_else(|| {
        Problem::bad_request("that is no status of an answer", "send the daemon's")
    })?;
    let turn = Arc::clone(&app.reads.taking).acquire_owned().await;
    let turn = turn.map_err(|e| Problem::unavailable("cannot take the answer", e))?;
    let body = axum::body::to_bytes(request.into_body(), READ_MAX);
    let body = tokio::time::timeout(BODY_WITHIN, body)
        .await
        .map_err(|_| Problem::unavailable("cannot take the answer", "no whole body in 10 s"))?
        .map_err(|e| Problem::bad_request(e, "an answer has 4 MiB at most"))?;
    drop(turn);
    match app.reads.answer(host, id, (status, body)) {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(not_awaited()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(n: usize) -> String {
        format!("/api/v1/events?limit={n}")
    }

    #[tokio::test]
    async fn each_is_given_once_to_its_host_and_answered_by_it() {
        let reads = Reads::new(false);
        assert!(!reads.is_attached(1, ATTACHED_FOR));
        let attached = reads.attach(1);
        let (_waiting, answer) = reads.ask(1, path(1)).unwrap();
        attached.woken().await;
        drop(attached);
        assert!(reads.is_attached(1, ATTACHED_FOR), "it will ask again");
        assert!(!reads.is_attached(1, Duration::ZERO));
        assert!(reads.take(2).is_empty());
        let given = reads.take(1);
        assert_eq!(
            given,
            [HostRead {
                id: 1,
                path: path(1)
            }]
        );
        assert!(reads.take(1).is_empty());
        let body = || (StatusCode::OK, Bytes::from_static(b"{}"));
        assert!(!reads.answer(2, 1, body()) && !reads.answer(1, 2, body()));
        assert!(reads.is_waited_for(1, 1));
        assert!(reads.answer(1, 1, body()));
        assert_eq!(answer.await.unwrap(), body());
        assert!(!reads.answer(1, 1, body()));
    }

    #[test]
    fn a_host_is_given_few_and_what_nobody_waits_for_is_forgotten() {
        let reads = Reads::new(false);
        let mut all: Vec<_> = (0..READS_MAX)
            .map(|n| reads.ask(1, path(n)).unwrap())
            .collect();
        assert!(reads.ask(1, path(9)).is_none());
        assert!(reads.ask(2, path(9)).is_some());
        all.truncate(1);
        assert_eq!(reads.take(1).len(), 1);
        drop(all);
        assert!(!reads.is_waited_for(1, 1));
        assert!(reads.ask(1, path(9)).is_some());
    }
}
