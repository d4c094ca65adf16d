//! The HTTP API: on a Unix socket with everything, on a loopback TCP address for reading only.
//!
//! [`bind`] takes the sockets early, so that a second instance fails before it attaches anything;
//! [`serve`] answers until told to stop. Every route stands in one table, from which the router
//! and `/api/openapi.json` are made.

mod archive;
mod bind;
mod exposition;
mod handlers;
mod holder;
mod openapi;
mod problem;
mod query;
mod routes;
mod server;
mod stream;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot, watch};

pub(crate) use archive::{Archive, ArchiveError};
pub use bind::{ApiConfig, ApiError, Bound, DEFAULT_SOCKET, bind};
pub use handlers::{AckRequest, Health, PauseRequest};
pub use openapi::{document as openapi_document, event_schema};
pub use problem::ProblemBody;
pub use query::{
    BadParameter, DEFAULT_LIMIT, EventQuery, GpuSelector, MAX_LIMIT, PARAMETERS, parse_provenance,
    parse_time,
};
pub use server::serve;
pub use stream::Gap;

use crate::hub::{Command, Hub};
use problem::Problem;

/// Most readers of `/api/v1/events/stream` at once, over both sockets.
pub const MAX_STREAMS: usize = 64;
/// Largest request body, bytes.
pub const MAX_BODY: usize = 64 * 1024;
/// How long the core may take to answer.
const CORE_DEADLINE: Duration = Duration::from_secs(5);

/// What every handler sees.
#[derive(Clone)]
struct AppState {
    hub: Arc<Hub>,
    store: Arc<PathBuf>,
    streams: Arc<Semaphore>,
    shutdown: watch::Receiver<bool>,
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
            Err(_) => failed(
                "the daemon's core did not answer in 5 s",
                "see the daemon's log",
            ),
        }
    }

    /// Reads the store on a thread where that may block.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Archive) -> Result<T, ArchiveError> + Send + 'static,
    ) -> Result<T, Problem> {
        let store = Arc::clone(&self.store);
        let task = tokio::task::spawn_blocking(move || read(&Archive::open(&store)?));
        let cause = match task.await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => error.to_string(),
            Err(panic) => panic.to_string(),
        };
        let remedy = "see `gtrace status`; `gtrace events --verify` checks the store";
        Err(Problem::unavailable("cannot read the store", cause, remedy))
    }
}
