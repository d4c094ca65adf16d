//! What people have hosts asked for, and what hosts answer.

use axum::Json;
use axum::extract::{Path, Request as HttpRequest, State};
use axum::http::{Extensions, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use gtrace_event::{IncidentId, Timestamp};
use gtrace_fleet::{Ask, REPORT_MAX, REPORTED_TEXT_MAX, TraceOrder};
use serde::{Deserialize, Serialize};

use super::App;
use super::agents::{Host, InTime};
use super::gate::{self, Named, Only};
use super::problem::Problem;
use super::query::Query;
use super::sessions::look;
use crate::db::{Database, NewRequest, NotAsked, Request};
use crate::view::is_silent;

/// How long a host may take to begin, in seconds.
const BEGIN_S: i64 = 120;
/// How long the body of an answer may take to come.
const BODY_WITHIN: std::time::Duration = std::time::Duration::from_secs(100);

/// Asks a host for the report of an incident.
pub(super) async fn report(
    State(app): State<App>,
    only: Only,
    Path((host, id)): Path<(String, String)>,
    Named(by): Named,
) -> Result<Json<Request>, Problem> {
    let incident = id
        .parse::<IncidentId>()
        .map_err(|e| Problem::bad_request(e, "`gtrace fleet incidents` lists them"))?;
    asked(app, &only, host, Ask::Report { incident }, by).await
}

/// Body of a question for a trace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TraceRequest {
    /// Who asks.
    pub by: String,
    /// Which calls, and how many at most.
    #[serde(flatten)]
    pub order: TraceOrder,
}

/// Asks a host for the calls of a process.
pub(super) async fn trace(
    State(app): State<App>,
    only: Only,
    Path(host): Path<String>,
    extensions: Extensions,
    InTime(Json(TraceRequest { by, order })): InTime<Json<TraceRequest>>,
) -> Result<Json<Request>, Problem> {
    let by = gate::named(&by, &extensions);
    let remedy = "ask for less, and trace again";
    order.check().map_err(|e| Problem::bad_request(e, remedy))?;
    asked(app, &only, host, Ask::Trace(order), by).await
}

/// Asks a host for a file, if it permits that and its agent is there.
async fn asked(
    app: App,
    only: &Only,
    host: String,
    ask: Ask,
    by: String,
) -> Result<Json<Request>, Problem> {
    let row = only.host(&app, &host).await?;
    let now = Timestamp::now();
    let conflict = |cause: String, remedy: &str| Problem::conflict("not asked", cause, remedy);
    if is_silent(&row, now) {
        let cause = format!("host `{host}` is silent");
        let remedy = "ask again once its agent is back, or use gtrace there";
        return Err(conflict(cause, remedy));
    }
    let permits = row
        .state
        .is_some_and(|state| state.permits.iter().any(|p| p == ask.name()));
    if !permits {
        let cause = format!("host `{host}` does not permit it");
        let remedy = match &ask {
            Ask::Trace(_) => {
                "`gtrace agent run --allow trace`, or head_traces = true of its daemon, does"
            }
            _ => "`gtrace agent run --allow report`, or head_reports = true of its daemon, does",
        };
        return Err(Problem::forbidden("not asked", cause, remedy));
    }
    let deadline = now.saturating_add(jiff::SignedDuration::from_secs(BEGIN_S));
    let new = NewRequest {
        host,
        ask,
        key: None,
        order: None,
        by,
        deadline: deadline.unwrap_or(Timestamp::MAX),
    };
    let ask = move |db: &mut Database| db.ask(&new, now);
    let asked = app.write("cannot ask", ask).await?;
    look(&app).await;
    asked.map(Json).map_err(|why| match why {
        NotAsked::NoHost(host) => Problem::no_host(&host),
        NotAsked::Full(_) | NotAsked::Changed(_) => {
            conflict(why.to_string(), "wait until it has answered")
        }
    })
}

fn no_request(id: i64) -> Problem {
    Problem::not_found(format!("there is no request {id}"), "ask for it anew")
}

/// How far a request is.
pub(super) async fn show(
    State(app): State<App>,
    only: Only,
    Path(id): Path<i64>,
) -> Result<Json<Request>, Problem> {
    let found = app.read(move |db| db.request(id)).await?;
    let found = found.ok_or_else(|| no_request(id))?;
    if !only.is_all() && only.host(&app, &found.host).await.is_err() {
        return Err(no_request(id));
    }
    Ok(Json(found))
}

/// The file that a host answered with. It is the host's: a browser is not to run it under the head's name.
/// It has what was kept of an incident, command lines and logs included: whoever could ask for it may read it.
pub(super) async fn file(
    State(app): State<App>,
    only: Only,
    Path(id): Path<i64>,
    extensions: Extensions,
) -> Result<Response, Problem> {
    if !gate::may_operate(&extensions) {
        let cause = "reports and traces are for those who may ask for them";
        let remedy = "use the head's Unix socket (--socket), or a credential with the role operate";
        return Err(Problem::forbidden("not allowed", cause, remedy));
    }
    let Json(request) = show(State(app.clone()), only, Path(id)).await?;
    let found = app.read(move |db| db.request_file(id)).await?;
    let bytes = found.ok_or_else(|| {
        let cause = format!("request {id} has no file, or no longer");
        Problem::not_found(cause, "the newest 32 are kept; ask for it anew")
    })?;
    let disposition = match request.ask {
        Ask::Trace(_) => "attachment; filename=\"trace.pftrace.gz\"",
        _ => "attachment; filename=\"report.html\"",
    };
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_DISPOSITION, disposition),
        (header::CONTENT_SECURITY_POLICY, "sandbox"),
    ];
    Ok((headers, bytes).into_response())
}

#[derive(Deserialize)]
pub(super) struct Begin {
    /// A random number of the host; older agents have none.
    #[serde(default)]
    attempt: String,
}

/// Longest number of an attempt.
const ATTEMPT_MAX: usize = 32;

/// A host is about to do what it was asked. Without this answer it does nothing.
pub(super) async fn begin(
    State(app): State<App>,
    Host(host, _, _place): Host,
    Path(id): Path<i64>,
    Query(Begin { attempt }): Query<Begin>,
) -> Result<StatusCode, Problem> {
    if attempt.len() > ATTEMPT_MAX {
        let cause = "the number of an attempt has 32 characters at most";
        return Err(Problem::bad_request(
            cause,
            "run another version of the agent",
        ));
    }
    let begin = move |db: &mut Database| db.begin_request(id, host, &attempt, Timestamp::now());
    let begun = app.write("cannot begin", begin).await?;
    look(&app).await;
    match begun {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::not_found(
            format!("request {id} is not to be begun: it was, or its time is over"),
            "nothing is to be done for it",
        )),
    }
}

#[derive(Deserialize)]
pub(super) struct Answered {
    ok: bool,
    /// What is reported beside a file. Agents of before call it `said`.
    #[serde(default, alias = "said")]
    reported: String,
}

/// What came of it: a file, or why there is none.
pub(super) async fn answer(
    State(app): State<App>,
    Host(host, _, _place): Host,
    Path(id): Path<i64>,
    Query(Answered { ok, reported }): Query<Answered>,
    request: HttpRequest,
) -> Result<StatusCode, Problem> {
    let not_awaited = || {
        Problem::not_found(
            format!("no answer to request {id} is awaited"),
            "its time is over, or it was answered",
        )
    };
    // Before anything is taken: a host that was not asked keeps nobody waiting, and one that was has one turn.
    let awaited = app.agent_readers.read(move |db| db.is_awaited(id, host));
    if !awaited.await? {
        return Err(not_awaited());
    }
    let Some(_one) = app.answering_hosts.take(host, 1) else {
        return Err(Problem::too_many(
            "not taken",
            "another answer of this host is being taken",
            "send it again once that has ended",
        ));
    };
    // Before the body is read: who waits has sent nothing yet.
    let turn = app.answering.clone().acquire_owned().await;
    let turn = turn.map_err(|e| Problem::unavailable("cannot take the answer", e))?;
    let body = axum::body::to_bytes(request.into_body(), REPORT_MAX);
    let body = tokio::time::timeout(BODY_WITHIN, body)
        .await
        .map_err(|_| Problem::unavailable("cannot take the answer", "no whole body in 100 s"))?
        .map_err(|e| Problem::bad_request(e, "a report has 8 MiB at most"))?;
    let clean = |text: &str| -> String {
        let text: String = text.chars().take(REPORTED_TEXT_MAX).collect();
        text.replace(char::is_control, " ")
    };
    let reported = match ok {
        true => clean(&reported),
        false => clean(&String::from_utf8_lossy(
            &body[..body.len().min(REPORTED_TEXT_MAX)],
        )),
    };
    let take = move |db: &mut Database| {
        let answer = match ok {
            true => Ok((reported.as_str(), body.as_ref())),
            false => Err(reported.as_str()),
        };
        db.answer_request(id, host, answer)
    };
    let taken = app.write("cannot take the answer", take).await?;
    drop(turn);
    match taken {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(not_awaited()),
    }
}
