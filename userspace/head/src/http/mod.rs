//! What a head answers: to agents by their credential, to people by the listener that they come through.

mod agents;
mod ending;
mod gate;
mod gswarm;
mod live;
mod metrics;
mod named;
mod others;
mod outbreaks;
mod page;
mod people;
mod places;
mod problem;
mod query;
mod reads;
mod remediation;
mod remote_write;
mod requests;
mod seen;
mod server;
mod sessions;

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{get, post};
use tokio::sync::{Semaphore, watch};

use crate::db::{Change, Database, DbError, HostRow, Place, Tallies, today};
use crate::intake::{Intake, STATE_MAX};
use crate::readers::Readers;
use crate::writer::Writer;

pub use self::gate::By;
pub use self::gswarm::Gswarm;
pub use self::people::{AuditLine, HostDetail, TokenAnswer, TokenRequest};
pub use self::remediation::RemediationView;
pub use self::remote_write::RemoteWrite;
pub use self::requests::TraceRequest;
pub use self::server::{Bound, Listen, ListenError, bind, serve};
pub use self::sessions::{FramesPage, SessionHost, SessionRequest, SessionView};

/// Reports that are taken at the same time, at 8 MiB each.
const ANSWERING: usize = 4;
/// Reads of the database for people at the same time.
const READERS: usize = 3;
/// Of them such as may take long: one is left for the others.
const LONG_READERS: usize = READERS - 1;
/// The same for agents, which do not wait for a person's long question.
const AGENT_READERS: usize = 2;
/// Largest other body.
const BODY_MAX: usize = 64 * 1024;

/// What every handler sees.
#[derive(Clone)]
struct App {
    /// Where what agents hand over goes.
    intake: Intake,
    writer: Writer,
    readers: Arc<Readers>,
    long_reads: Arc<Semaphore>,
    /// For whoever asks whether the database answers.
    health_reader: Arc<Readers>,
    /// For what agents ask.
    agent_readers: Arc<Readers>,
    sessions: sessions::On,
    outbreaks: outbreaks::Last,
    named: named::Named,
    seen: seen::Last,
    /// What lemons and versions are counted from.
    tallies: Arc<Mutex<Tallies>>,
    /// How it stands with remediation, where there is a policy.
    remediation: Option<crate::remediation::Shared>,
    answering: Arc<Semaphore>,
    /// Hosts whose answers are being taken.
    answering_hosts: Arc<places::Places<i64>>,
    /// Requests of hosts.
    under_way: Arc<places::Places<i64>>,
    /// Hosts whose batches are being taken.
    shipping_hosts: Arc<places::Places<i64>>,
    /// What became of metrics that were pushed, where they are.
    pushed: Option<Arc<remote_write::Pushed>>,
    /// What hosts are read for people.
    reads: reads::Reads,
    ended: watch::Receiver<bool>,
}

impl App {
    /// Opens the database at `place`.
    fn open(
        place: &Place,
        remediation: Option<crate::remediation::Shared>,
        pushes: bool,
        ended: watch::Receiver<bool>,
    ) -> Result<Self, ListenError> {
        let agent_readers = Readers::open(place, AGENT_READERS)?;
        let writer = Writer::start(Database::open(place)?).map_err(ListenError::Thread)?;
        Ok(Self {
            intake: Intake::new(writer.clone(), Arc::clone(&agent_readers)),
            readers: Readers::open(place, READERS)?,
            long_reads: Arc::new(Semaphore::new(LONG_READERS)),
            health_reader: Readers::open(place, 1)?,
            agent_readers,
            writer,
            sessions: sessions::On::default(),
            outbreaks: outbreaks::Last::default(),
            named: named::Named::default(),
            seen: seen::Last::default(),
            tallies: Arc::default(),
            remediation,
            answering: Arc::new(Semaphore::new(ANSWERING)),
            answering_hosts: Arc::default(),
            under_way: Arc::default(),
            shipping_hosts: Arc::default(),
            pushed: pushes.then(Arc::default),
            reads: reads::Reads::new(matches!(place, Place::Postgres(_))),
            ended,
        })
    }

    /// Reads the database for a person.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut Database) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, problem::Problem> {
        Ok(self.readers.read(read).await?)
    }

    /// Writes to the database for whoever asks; `failed` is what cannot be done where that fails.
    async fn write<T: Send + 'static>(
        &self,
        failed: &str,
        write: impl FnOnce(&mut Database) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, problem::Problem> {
        let written = self.writer.write(write).await;
        written.map_err(|e| problem::Problem::unavailable(failed, e))
    }

    /// Reads what may take long: it waits for others of its kind, and those that do not for none.
    async fn read_long<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut Database) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, problem::Problem> {
        let permit = Arc::clone(&self.long_reads).acquire_owned().await;
        let permit = permit.map_err(|e| problem::Problem::unavailable("cannot read", e))?;
        self.read(move |db| {
            // It ends with the work, also where nobody waits for that any longer.
            let _permit = permit;
            read(db)
        })
        .await
    }

    /// The same from what is kept of the last question; who asks meanwhile waits for it.
    async fn count<T: Send + 'static>(
        &self,
        count: impl FnOnce(&mut Database, &mut Tallies, i64) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, problem::Problem> {
        let tallies = Arc::clone(&self.tallies);
        self.read_long(move |db| {
            let mut tallies = tallies.lock().unwrap_or_else(PoisonError::into_inner);
            let done = count(db, &mut tallies, today());
            if done.is_err() {
                *tallies = Tallies::default();
            }
            done
        })
        .await
    }

    async fn hosts(&self) -> Result<Vec<HostRow>, problem::Problem> {
        self.read(Database::hosts).await
    }
}

/// The routes of agents, and no others.
fn agents_alone(app: App) -> Router {
    of_agents()
        .fallback(people::not_found)
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .with_state(app)
}

/// The routes of agents.
fn of_agents() -> Router<App> {
    let batch = post(agents::batch).layer(DefaultBodyLimit::max(gtrace_fleet::COMPRESSED_MAX));
    Router::new()
        .route("/fleet/v1/enroll", post(agents::enroll))
        .route("/fleet/v1/batch", batch)
        .route(
            "/fleet/v1/state",
            post(agents::state).layer(DefaultBodyLimit::max(STATE_MAX)),
        )
        .route(
            "/fleet/v1/frames",
            post(agents::frames).layer(DefaultBodyLimit::max(STATE_MAX)),
        )
        .route("/fleet/v1/measure", get(sessions::measure))
        .route("/fleet/v1/requests/{id}/begin", post(requests::begin))
        .route("/fleet/v1/requests/{id}/answer", post(requests::answer))
        .route(
            "/fleet/v1/reads/{id}",
            post(reads::answered).layer(DefaultBodyLimit::max(gtrace_fleet::READ_MAX)),
        )
        .route("/fleet/v1/cursors", get(agents::cursors))
        .route("/fleet/v1/clock", get(agents::clock))
}

/// All routes.
fn router(app: App) -> Router {
    let people = page::routes()
        .route("/hosts/{host}", get(reads::with_slash))
        .route("/healthz", get(people::healthz))
        .route("/metrics", get(metrics::metrics))
        .route("/fleet/v1/hosts", get(people::hosts))
        .route("/fleet/v1/hosts/{host}", get(people::host))
        .route(
            "/fleet/v1/hosts/{host}/incidents/{id}",
            get(people::incident),
        )
        .route(
            "/fleet/v1/hosts/{host}/incidents/{id}/report",
            post(requests::report),
        )
        .route("/fleet/v1/hosts/{host}/trace", post(requests::trace))
        .route("/fleet/v1/hosts/{host}/page/{*path}", get(reads::read))
        .route("/fleet/v1/requests/{id}", get(requests::show))
        .route("/fleet/v1/requests/{id}/file", get(requests::file))
        .route("/fleet/v1/remediation", get(remediation::list))
        .route("/fleet/v1/remediation/{id}", get(remediation::show))
        .route(
            "/fleet/v1/remediation/{id}/approve",
            remediation::changes(Change::Approve),
        )
        .route(
            "/fleet/v1/remediation/{id}/refuse",
            remediation::changes(Change::Refuse),
        )
        .route(
            "/fleet/v1/remediation/{id}/undo",
            remediation::changes(Change::Undo),
        )
        .route("/fleet/v1/hosts/{host}/revoke", post(people::revoke))
        .route("/fleet/v1/events", get(people::events))
        .route("/fleet/v1/incidents", get(people::incidents))
        .route("/fleet/v1/events/stream", get(live::events))
        .route("/fleet/v1/incidents/stream", get(live::incidents))
        .route("/fleet/v1/outbreaks", get(outbreaks::outbreaks))
        .route("/fleet/v1/cohorts", get(people::cohorts))
        .route("/fleet/v1/compare", get(people::compare))
        .route("/fleet/v1/lemons", get(people::lemons))
        .route("/fleet/v1/usage", get(people::usage))
        .route("/fleet/v1/latency", get(people::latency))
        .route("/fleet/v1/verify", get(people::verify))
        .route("/fleet/v1/audit", get(people::audit))
        .route("/fleet/v1/tokens", post(people::token))
        .route(
            "/fleet/v1/sessions",
            get(sessions::list).post(sessions::start),
        )
        .route("/fleet/v1/sessions/{name}", get(sessions::show))
        .route("/fleet/v1/sessions/{name}/stop", post(sessions::stop))
        .route("/fleet/v1/sessions/{name}/frames", get(sessions::frames))
        .layer(middleware::from_fn(gate::people));
    of_agents()
        .merge(people)
        .fallback(people::not_found)
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .with_state(app)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::extract::State;
    use gtrace_event::Timestamp;

    use super::*;

    /// With the database `fleet.db` of this folder.
    pub(super) fn opened(folder: &std::path::Path) -> App {
        let (_, ended) = watch::channel(false);
        App::open(&Place::File(folder.join("fleet.db")), None, false, ended).unwrap()
    }

    async fn is_well(app: &App) -> bool {
        people::healthz(State(app.clone())).await.is_ok()
    }

    #[tokio::test]
    async fn a_head_whose_database_takes_nothing_is_not_well_until_it_does() {
        let dir = tempfile::tempdir().unwrap();
        let app = opened(dir.path());
        let connection = rusqlite::Connection::open(dir.path().join("fleet.db")).unwrap();
        // As a full disk: whatever is written.
        let full = "CREATE TRIGGER full_hosts BEFORE UPDATE ON hosts BEGIN SELECT RAISE(ABORT, 'full'); END; \
            CREATE TRIGGER full_meta BEFORE INSERT ON meta BEGIN SELECT RAISE(ABORT, 'full'); END; \
            INSERT INTO hosts(id, name, simulated, credential, enrolled_ns, taken, tip, forks) \
            VALUES (1, 'a', 0, x'00', 0, 0, 0, 0);";
        connection.execute_batch(full).unwrap();
        assert!(is_well(&app).await);
        let batch = gtrace_fleet::Batch::default();
        let taken = app.intake.batch(1, batch, Timestamp::now()).await;
        assert!(taken.is_err());
        assert!(!is_well(&app).await && !is_well(&app).await);
        connection
            .execute_batch("DROP TRIGGER full_hosts; DROP TRIGGER full_meta")
            .unwrap();
        // Nobody has written meanwhile: who shares out connections sends it no agents.
        assert!(is_well(&app).await);
    }

    #[tokio::test]
    async fn long_questions_leave_a_reader_for_short_ones() {
        let dir = tempfile::tempdir().unwrap();
        let app = opened(dir.path());
        let (go_on, waits) = std::sync::mpsc::channel::<()>();
        let waits = Arc::new(Mutex::new(waits));
        let mut long = tokio::task::JoinSet::new();
        for _ in 0..2 * READERS {
            let (app, waits) = (app.clone(), Arc::clone(&waits));
            long.spawn(async move {
                let asked = app.read_long(move |_| {
                    // Until the other end is gone.
                    let _ = waits.lock().unwrap().recv();
                    Ok(())
                });
                asked.await.unwrap();
            });
        }
        let short = async {
            while app.long_reads.available_permits() > 0 {
                tokio::task::yield_now().await;
            }
            app.hosts().await.unwrap()
        };
        let short = tokio::time::timeout(Duration::from_secs(60), short).await;
        assert_eq!(short.unwrap().len(), 0);
        drop(go_on);
        while let Some(done) = long.join_next().await {
            done.unwrap();
        }
    }
}
