//! The routes of gswarm-profiler's head, so that scripts that use it go on: `POST /start`, `/start/{name}`, `/stop`.
//!
//! They are on an address of their own, on loopback, as they have no credentials. What its README leaves open is in docs/fleet.md.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use axum::Json;
use axum::Router;
use axum::extract::{Path as UrlPath, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use gtrace_event::Timestamp;
use gtrace_fleet::{GswarmWriter, Metric};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::App;
use super::gate::is_own_host;
use super::problem::Problem;
use super::sessions::{SessionRequest, begin, end, view};
use crate::db::{Database, DbError, Session, nanos};

/// One that is never stopped ends by itself.
const LONGEST_S: u32 = 86_400;
const PAGE: u32 = 5000;

/// The routes of gswarm-profiler's head.
#[derive(Clone, Debug)]
pub struct Gswarm {
    /// Port on loopback.
    pub port: u16,
    /// Length of a frame.
    pub interval_ms: u32,
    /// Where the files of sessions go.
    pub folder: PathBuf,
}

#[derive(Clone)]
struct Shared {
    app: App,
    options: Gswarm,
}

/// Errors as FastAPI gives them.
struct Refused(StatusCode, String);

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (self.0, Json(json!({ "detail": self.1 }))).into_response()
    }
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self(problem.0, problem.cause().to_owned())
    }
}

type Answer = Result<Json<Value>, Refused>;

pub(super) fn router(app: App, options: Gswarm) -> Router {
    Router::new()
        .route("/", get(about))
        .route("/start", post(start_unnamed))
        .route("/start/{name}", post(start))
        .route("/stop", post(stop))
        .route("/state", post(state))
        .fallback(about_paths)
        .layer(middleware::from_fn(local))
        .with_state(Shared { app, options })
}

/// A page of another site that a browser shows may send requests to loopback.
async fn local(request: Request, next: Next) -> Response {
    let from_page = request.headers().contains_key(header::ORIGIN);
    if from_page || !is_own_host(&request) {
        let why = "requests of web pages are refused, and such under another name than localhost";
        return Refused(StatusCode::FORBIDDEN, why.to_owned()).into_response();
    }
    next.run(request).await
}

async fn about() -> Json<Value> {
    Json(
        json!({ "message": "gtrace head, with the routes of gswarm-profiler", "routes": ["POST /start", "POST /start/{name}", "POST /stop", "POST /state"] }),
    )
}

async fn about_paths() -> Refused {
    Refused(StatusCode::NOT_FOUND, "Not Found".to_owned())
}

async fn start_unnamed(State(shared): State<Shared>) -> Answer {
    let now = Timestamp::now().to_zoned(TimeZone::system());
    let name = format!("gswarm_profiler_{}", now.strftime("%Y%m%d_%H%M%S"));
    start(State(shared), UrlPath(name)).await
}

fn bad(why: &str) -> Refused {
    Refused(StatusCode::BAD_REQUEST, why.to_owned())
}

async fn start(State(shared): State<Shared>, UrlPath(name): UrlPath<String>) -> Answer {
    let active = || bad("Profiling is already active.");
    if current(&shared).await?.is_some() {
        return Err(active());
    }
    // A file that cannot be written is better known before than after the run.
    let folder = shared.options.folder.clone();
    if let Err(error) = writable(&folder) {
        let why = format!("{}: {error}", folder.display());
        return Err(Refused(StatusCode::INTERNAL_SERVER_ERROR, why));
    }
    let request = SessionRequest {
        name,
        hosts: Vec::new(),
        interval_ms: shared.options.interval_ms,
        metrics: vec![
            Metric::Utilization,
            Metric::Memory,
            Metric::Pcie,
            Metric::Nvlink,
        ],
        for_s: LONGEST_S,
        by: "gswarm-profiler's routes".to_owned(),
    };
    let session = match begin(&shared.app, request, true).await {
        Err(problem) if problem.0 == StatusCode::CONFLICT => return Err(active()),
        other => other?,
    };
    let file = file_name(&session);
    Ok(Json(
        json!({ "message": "Profiling started.", "output_file": file }),
    ))
}

fn writable(folder: &Path) -> io::Result<()> {
    tempfile::tempfile_in(folder).map(drop)
}

fn file_name(session: &Session) -> String {
    format!("{}.json", session.name)
}

async fn current(shared: &Shared) -> Result<Option<Session>, Problem> {
    let on = shared.app.read(|db| db.sessions_on()).await?;
    Ok(on.into_iter().find(|session| session.gswarm))
}

async fn stop(State(shared): State<Shared>) -> Answer {
    let inactive = || bad("Profiling is not active.");
    let Some(session) = current(&shared).await? else {
        return Err(inactive());
    };
    let session = match end(&shared.app, &session, "gswarm-profiler's routes".to_owned()).await {
        Err(problem) if problem.0 == StatusCode::CONFLICT => return Err(inactive()),
        other => other?,
    };
    let path = shared.options.folder.join(file_name(&session));
    let written = path.clone();
    shared
        .app
        .read_long(move |db| Ok(write(db, &session, &written)))
        .await?
        .map_err(|error| {
            let why = format!(
                "the session is kept, its file not: {}: {error}",
                path.display()
            );
            Refused(StatusCode::INTERNAL_SERVER_ERROR, why)
        })?;
    let shown = path.display();
    Ok(Json(
        json!({ "message": format!("Profiling stopped. Data saved to {shown}") }),
    ))
}

/// Writes the file whole or not at all.
fn write(db: &mut Database, session: &Session, path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let file = tempfile::Builder::new()
        .prefix(".gswarm")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .tempfile_in(folder)?;
    let failed = |error: DbError| io::Error::other(error);
    let out = BufWriter::new(file);
    let mut writer = GswarmWriter::new(out, &session.name, session.interval_ms, &session.metrics)?;
    let mut after = None;
    loop {
        let (frames, next) = db.frames(session.id, after, PAGE).map_err(failed)?;
        for of in &frames {
            writer.host(&of.host, &of.frame)?;
        }
        match next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    let stopped = session.stopped.unwrap_or_else(Timestamp::now);
    let mut out = writer.finish(nanos(session.started), nanos(stopped))?;
    out.flush()?;
    let file: tempfile::NamedTempFile<File> = out.into_inner().map_err(|e| e.into_error())?;
    file.persist(path).map(drop).map_err(|e| e.error)
}

/// What its clients ask before they connect, as far as a head without such clients has it.
async fn state(State(shared): State<Shared>) -> Answer {
    let on = current(&shared).await?;
    let hosts = super::seen::hosts(&shared.app).await?.rows;
    let frames = match &on {
        Some(session) => {
            let view = view(&shared.app, session.clone()).await?;
            view.hosts.iter().map(|host| host.frames).max().unwrap_or(0)
        }
        None => 0,
    };
    let names: Vec<&str> = hosts.iter().map(|row| row.name.as_str()).collect();
    Ok(Json(json!({
        "freq": shared.options.interval_ms,
        "enable_bandwidth_profiling": true,
        "enable_nvlink_profiling": false,
        "is_profiling": on.is_some(),
        "output_filename": on.as_ref().map(file_name).unwrap_or_default(),
        "frame_id_counter": frames,
        "connected_clients": names,
    })))
}
