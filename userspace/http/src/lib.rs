//! The HTTP API. Each listener gives its clients a [`Role`]: over the Unix socket they operate, over TCP on loopback they
//! read, over TLS the role is that of the credential.
//!
//! [`bind`] takes the sockets early, so that a second instance fails before it attaches anything;
//! [`serve`] answers until ordered to stop. Router and `/api/openapi.json` are made from one
//! table of routes.

mod archive;
mod bind;
mod body;
mod exposition;
mod gate;
mod gpud;
mod handlers;
mod holder;
mod https;
mod impatient;
mod inherit;
mod login;
mod openapi;
mod page;
mod peer;
mod problem;
mod query;
mod refusals;
mod remote;
mod routes;
mod samples;
mod schema;
mod server;
mod share;
mod stream;
mod task;

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use axum::body::Bytes;
use gtrace_engine::config::Compat;
use gtrace_engine::hub::{Command, Hub};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::JoinError;

pub use archive::{Archive, ArchiveError};
pub use bind::{ApiConfig, ApiError, Bound, bind, bind_beside, check_access};
pub use gtrace_tls::Role;
pub use inherit::{InheritError, Inherited};
pub use openapi::document as openapi_document;
pub use query::{
    BadParameter, DEFAULT_LIMIT, EventQuery, GpuSelector, MAX_LIMIT, PARAMETERS, Parameter, Values,
    incident_filter, parse_provenance, parse_time,
};
pub use samples::{DEFAULT_POINTS, MAX_POINTS, SampleQuery, SamplesError, read_samples};
pub use schema::event_schema;
pub use server::serve;
pub use task::start;

use peer::Peer;
use problem::Problem;
use refusals::Refusals;
use share::{Supply, Turns};

/// Most readers of `/api/v1/events/stream` at once, over both sockets; one user gets at most half of them.
pub const MAX_STREAMS: usize = 128;
/// Largest request body, bytes.
pub const MAX_BODY: usize = 64 * 1024;
/// Requests of a user that begin in each round of the runtime.
const REQUESTS_AT_ONCE: usize = 4;
/// How long the core may take to answer.
const CORE_DEADLINE: Duration = Duration::from_secs(5);

/// What clients may cost at most.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at once on each socket; one user gets at most half of them.
    pub connections: usize,
    /// How long a client may take to send the head of a request, and be idle between two.
    pub idle: Duration,
    /// How long it may take to send a body.
    pub body: Duration,
    /// How long it may take nothing of its answer.
    pub stall: Duration,
    /// How long a client may take for the handshake of TLS.
    pub handshake: Duration,
    /// Handshakes of a host in a minute.
    pub handshakes_per_minute: NonZeroU32,
    /// Requests of a credential in a minute, unless it has a limit of its own.
    pub requests_per_minute: NonZeroU32,
    /// Bytes of answers at once that wait for their readers; one user gets at most half of them.
    pub answer_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            idle: Duration::from_secs(20),
            body: Duration::from_secs(10),
            stall: Duration::from_secs(30),
            handshake: Duration::from_secs(10),
            handshakes_per_minute: per_minute(600),
            requests_per_minute: per_minute(1200),
            answer_bytes: 16 << 20,
        }
    }
}

const fn per_minute(n: u32) -> NonZeroU32 {
    match NonZeroU32::new(n) {
        Some(n) => n,
        None => NonZeroU32::MIN,
    }
}

/// What every handler sees.
#[derive(Clone)]
struct AppState {
    hub: Arc<Hub>,
    remote: Arc<remote::RemoteStatus>,
    store: Arc<PathBuf>,
    /// The Unix socket's path.
    socket: Option<Arc<PathBuf>>,
    streams: Arc<Supply>,
    /// Bytes of answers that wait for their readers.
    answers: Arc<Supply>,
    /// Whose file is being taken.
    files: Arc<Semaphore>,
    /// Requests of a user that begin in a round of the runtime.
    requests: Arc<Turns>,
    /// What a user has done at once on the threads for that.
    blocking: Arc<Turns>,
    refusals: Arc<Refusals>,
    limits: Limits,
    compat: Compat,
    shutdown: watch::Receiver<bool>,
    /// `/api/openapi.json`: made of the routes, which the handlers do not know.
    openapi: &'static LazyLock<Bytes>,
    /// Paths of all routes.
    paths: &'static LazyLock<Bytes>,
}

impl AppState {
    /// Has the core make what was published readable in the store.
    async fn flush(&self) -> Result<(), Problem> {
        self.ask("flush the store", Command::Flush).await
    }

    /// Asks the core for something and waits for the answer.
    async fn ask<T>(
        &self,
        what: &str,
        command: impl FnOnce(oneshot::Sender<Result<T, String>>) -> Command,
    ) -> Result<T, Problem> {
        let failed = |cause: &str, remedy: &str| {
            Err(Problem::unavailable(
                format!("cannot {what}"),
                cause,
                remedy,
            ))
        };
        let (answer, answered) = oneshot::channel();
        if !self.hub.command(command(answer)) {
            return failed("the daemon is shutting down", "try again when it runs");
        }
        match tokio::time::timeout(CORE_DEADLINE, answered).await {
            Ok(Ok(Ok(value))) => Ok(value),
            Ok(Ok(Err(cause))) => failed(&cause, "see `gtrace status` and the daemon's log"),
            Ok(Err(_)) => failed("the daemon is shutting down", "try again when it runs"),
            Err(_) => failed("the daemon has not answered in 5 s", "see the daemon's log"),
        }
    }

    /// Does what may block on a thread for that, in turn with what else `peer` has asked for.
    async fn block<T: Send + 'static>(
        &self,
        peer: Peer,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        let turn = self.blocking.take(peer).await;
        // The turn ends with the work, also where nobody waits for that any longer.
        let work = move || {
            let _turn = turn;
            work()
        };
        tokio::task::spawn_blocking(work).await
    }

    /// Reads the store.
    async fn read<T: Send + 'static>(
        &self,
        peer: Peer,
        read: impl FnOnce(&Archive) -> Result<T, ArchiveError> + Send + 'static,
    ) -> Result<T, Problem> {
        let store = Arc::clone(&self.store);
        let done = self.block(peer, move || read(&Archive::open(&store)?));
        let cause = match done.await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => {
                self.hub.suspect_store(&error.cause);
                error.to_string()
            }
            Err(panic) => panic.to_string(),
        };
        let remedy = "see `gtrace status`; `gtrace events --verify` checks the store";
        Err(Problem::unavailable("cannot read the store", cause, remedy))
    }
}
