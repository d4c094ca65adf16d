//! Profiling sessions: what people ask for, and how agents learn of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::{Path, State};
use axum::http::Extensions;
use gtrace_event::Timestamp;
use gtrace_fleet::{
    HostRequest, INTERVAL_MS, Measure, MeasureAnswer, Metric, REQUESTS_MAX, SESSIONS_MAX,
    check_name,
};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::App;
use super::agents::{Host, InTime};
use super::ending::over;
use super::gate::{self, Named};
use super::problem::Problem;
use super::query::Query;
use crate::db::{After, Database, Frame, HostRow, NewSession, NotStarted, Session, nanos};
use crate::view::{is_meant, is_silent};

/// Longest session, in seconds.
const LONGEST_S: u32 = 7 * 86_400;
/// How long an agent's question for sessions is kept open: less than agents wait for an answer.
const HELD: Duration = Duration::from_secs(20);
/// Between two looks at the database: another head may have started a session.
const LOOK: Duration = Duration::from_secs(1);
/// How long the end of a session waits for the last frames of its hosts; gswarm-profiler's head waits as long.
const LAST_FRAMES: Duration = Duration::from_secs(5);
const LAST_LOOK: Duration = Duration::from_millis(100);
/// A host that has sent no frame of so long a time, in milliseconds, is not waited for.
const LATELY_MS: i64 = 20_000;
/// Most frames of a page.
const PAGE_MAX: u32 = 5000;

/// The sessions that are on and the requests that hosts have not taken, as this head knows them.
#[derive(Clone)]
pub(super) struct On(Arc<watch::Sender<Wanted>>);

/// What hosts are to do.
#[derive(Default, PartialEq)]
struct Wanted {
    /// Whether the database was read; a head that has just started does not know yet.
    known: bool,
    sessions: Vec<Session>,
    /// With the number of the host.
    requests: Vec<(i64, HostRequest)>,
}

impl Default for On {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(Wanted::default())))
    }
}

impl On {
    /// What `host` is to measure; `None` where that is not known yet.
    pub(super) fn of(&self, host: &str) -> Option<Vec<Measure>> {
        let on = self.0.borrow();
        // By number: agents take the same.
        let mine = on.sessions.iter().filter(|session| session.includes(host));
        on.known
            .then(|| mine.take(SESSIONS_MAX).map(Session::measure).collect())
    }

    /// What else `host` is to do.
    fn asked(&self, host: i64) -> Vec<HostRequest> {
        let on = self.0.borrow();
        let mine = on.requests.iter().filter(|(of, _)| *of == host);
        mine.take(REQUESTS_MAX)
            .map(|(_, request)| request.clone())
            .collect()
    }

    fn set(&self, sessions: Vec<Session>, requests: Vec<(i64, HostRequest)>) {
        let on = Wanted {
            known: true,
            sessions,
            requests,
        };
        self.0.send_if_modified(|known| {
            let changed = *known != on;
            *known = on;
            changed
        });
    }
}

/// Looks which sessions are on, and ends those whose time is over, until `ended`.
pub(super) async fn keep(app: App) {
    let mut ended = app.ended.clone();
    loop {
        look(&app).await;
        let now = Timestamp::now();
        let over_now =
            |session: &Session| (session.ends <= now).then_some((session.id, session.ends));
        let due: Vec<_> = app
            .sessions
            .0
            .borrow()
            .sessions
            .iter()
            .filter_map(over_now)
            .collect();
        for (id, ends) in due {
            let stop = app
                .writer
                .write(move |db| db.stop_session(id, "the head, as its time was over", ends));
            if let Err(error) = stop.await {
                tracing::warn!("cannot end a session whose time is over: {error}");
            }
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = over(&mut ended) => return,
        }
    }
}

pub(super) async fn look(app: &App) {
    let read = app.agent_readers.read(|db| {
        let (requests, any_over) = db.open_requests(Timestamp::now())?;
        Ok((db.sessions_on()?, requests, any_over))
    });
    // One that fails leaves what was known; the next look is a second away.
    let Ok((on, requests, any_over)) = read.await else {
        return;
    };
    app.sessions.set(on, requests);
    if any_over {
        let expire = app
            .writer
            .write(|db| db.expire_requests(Timestamp::now()))
            .await;
        if let Err(error) = expire {
            tracing::warn!("cannot end requests whose time is over: {error}");
        }
    }
}

#[derive(Deserialize)]
pub(super) struct Known {
    /// Numbers of the sessions that the agent knows, rising, with commas between.
    #[serde(default)]
    known: String,
    /// Numbers of the requests that it is at, or has done.
    #[serde(default)]
    taken: String,
}

/// What an agent is to measure: answered once that is something else than it knows, or after a while.
pub(super) async fn measure(
    State(app): State<App>,
    Host(host, name, _place): Host,
    Query(asked): Query<Known>,
) -> Result<Json<MeasureAnswer>, Problem> {
    let numbers =
        |text: &str| -> Vec<i64> { text.split(',').filter_map(|n| n.parse().ok()).collect() };
    let (known, taken) = (numbers(&asked.known), numbers(&asked.taken));
    let mut on = app.sessions.0.subscribe();
    let attached = app.reads.attach(host);
    let mut ended = app.ended.clone();
    let waited = tokio::time::sleep(HELD);
    tokio::pin!(waited);
    loop {
        let answer = app.sessions.of(&name).map(|measure| {
            let new = |request: &HostRequest| !taken.contains(&request.id);
            let asked = app.sessions.asked(host).into_iter().filter(new);
            let as_json = asked.filter_map(|one| serde_json::to_value(one).ok());
            MeasureAnswer {
                measure,
                requests: as_json.collect(),
                reads: app.reads.take(host),
            }
        });
        let is_news = |answer: &MeasureAnswer| {
            let changes = !(answer.measure.iter().map(|m| m.session)).eq(known.iter().copied());
            changes || !answer.requests.is_empty() || !answer.reads.is_empty()
        };
        if !answer.as_ref().is_some_and(is_news) {
            tokio::select! {
                changed = on.changed() => if changed.is_ok() {
                    continue;
                },
                () = attached.woken() => continue,
                () = &mut waited => {}
                () = over(&mut ended) => {}
            }
        }
        let unread = "the sessions were not read from the database yet";
        let answer = answer.ok_or_else(|| Problem::unavailable("cannot say what to do", unread));
        return answer.map(Json);
    }
}

/// Begins a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionRequest {
    /// Its name.
    pub name: String,
    /// Its hosts: names, patterns (`gpu-*`) and labels (`rack=r7`); all without one.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Length of a frame.
    pub interval_ms: u32,
    /// What is measured; everything without one.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub metrics: Vec<Metric>,
    /// After so many seconds it ends by itself; an hour by default.
    #[serde(default = "hour")]
    pub for_s: u32,
    /// Who asks.
    pub by: String,
}

fn hour() -> u32 {
    3600
}

/// A session with what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionView {
    /// The session.
    pub session: Session,
    /// Its hosts, by name.
    pub hosts: Vec<SessionHost>,
}

/// A host of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionHost {
    /// Its name.
    pub host: String,
    /// Its frames.
    pub frames: u64,
    /// Intervals of the session without one; up to its newest frame while the session is on.
    pub missing: u64,
    /// The largest bound of the error of its clock, ns.
    pub error_ns: i64,
    /// Why it has no frames, or fewer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub problem: Option<String>,
}

/// A page of frames.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FramesPage {
    /// Frames by time, those of an interval together.
    pub frames: Vec<Frame>,
    /// Where the next page begins, as `SLOT,HOST`; absent where this is the last.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next: Option<String>,
}

pub(super) async fn list(State(app): State<App>) -> Result<Json<Vec<Session>>, Problem> {
    app.read(|db| db.sessions()).await.map(Json)
}

pub(super) async fn start(
    State(app): State<App>,
    extensions: Extensions,
    InTime(Json(mut asked)): InTime<Json<SessionRequest>>,
) -> Result<Json<Session>, Problem> {
    asked.by = gate::named(&asked.by, &extensions);
    begin(&app, asked, false).await.map(Json)
}

/// Begins a session, whoever asks for it.
pub(super) async fn begin(
    app: &App,
    asked: SessionRequest,
    gswarm: bool,
) -> Result<Session, Problem> {
    check_name(&asked.name).map_err(|_| {
        let cause = "a session's name has letters, digits, `-`, `.` and `_`";
        Problem::bad_request(cause, "choose another name")
    })?;
    if !INTERVAL_MS.contains(&asked.interval_ms) {
        let cause = "an interval is 20 ms to 60 s";
        return Err(Problem::bad_request(cause, "change --interval"));
    }
    if !(1..=LONGEST_S).contains(&asked.for_s) {
        let cause = "a session takes 1 s to 7 days";
        return Err(Problem::bad_request(cause, "change --for"));
    }
    let hosts = match asked.hosts.is_empty() {
        true => Vec::new(),
        false => select(&app.hosts().await?, &asked.hosts)?,
    };
    let mut metrics = asked.metrics;
    metrics.sort_unstable();
    metrics.dedup();
    if metrics.is_empty() {
        metrics = Metric::all();
    }
    let now = Timestamp::now();
    let length = jiff::SignedDuration::from_secs(i64::from(asked.for_s));
    let new = NewSession {
        name: asked.name.clone(),
        hosts,
        interval_ms: asked.interval_ms,
        metrics,
        ends: now.saturating_add(length).unwrap_or(Timestamp::MAX),
        gswarm,
        by: asked.by,
    };
    let start = move |db: &mut Database| db.start_session(&new, now);
    let started = app.write("cannot start the session", start).await?;
    look(app).await;
    started.map_err(|why| match why {
        NotStarted::IsOn => {
            let cause = format!("a session `{}` is on", asked.name);
            let remedy = "stop it, or choose another name";
            Problem::conflict("not started", cause, remedy)
        }
        NotStarted::Full(host) => {
            let of = host.map_or("every host".to_owned(), |host| format!("host `{host}`"));
            let cause = format!("{of} takes part in {SESSIONS_MAX} sessions, which is the most");
            let remedy = "stop one of them (`gtrace session list`), or choose other hosts";
            Problem::too_many("not started", cause, remedy)
        }
    })
}

/// The names that fit any of these.
fn select(known: &[HostRow], wanted: &[String]) -> Result<Vec<String>, Problem> {
    let mut names = std::collections::BTreeSet::new();
    for one in wanted {
        let before = names.len();
        let found = known
            .iter()
            .filter(|row| is_meant(row, one))
            .map(|row| row.name.clone());
        let mut any = false;
        names.extend(found.inspect(|_| any = true));
        if names.len() == before && !any {
            return Err(Problem::no_host(one));
        }
    }
    Ok(names.into_iter().collect())
}

pub(super) async fn stop(
    State(app): State<App>,
    Path(name): Path<String>,
    Named(by): Named,
) -> Result<Json<Session>, Problem> {
    let session = found(&app, &name).await?;
    end(&app, &session, by).await.map(Json)
}

/// Ends a session, whoever asks for it, and waits for its last frames.
pub(super) async fn end(app: &App, session: &Session, by: String) -> Result<Session, Problem> {
    let id = session.id;
    let stop = move |db: &mut Database| db.stop_session(id, &by, Timestamp::now());
    let stopped = app.write("cannot stop the session", stop).await?;
    look(app).await;
    if let Some(stopped) = &stopped {
        all_arrived(app, stopped).await?;
    }
    stopped.ok_or_else(|| {
        let cause = format!("session `{}` is not on", session.name);
        Problem::conflict(
            "not stopped",
            cause,
            "`gtrace session list` says when it ended",
        )
    })
}

/// Waits until every host that has lately sent frames has sent its last, but not for long: one may be gone.
async fn all_arrived(app: &App, session: &Session) -> Result<(), Problem> {
    let until = Instant::now() + LAST_FRAMES;
    let last = session.slots(Timestamp::now()).end - 1;
    let from = last - (LATELY_MS / i64::from(session.interval_ms).max(1)).max(1);
    loop {
        let id = session.id;
        let newest = app.read(move |db| db.newest_slots(id, from)).await?;
        let there = !newest.is_empty() && newest.iter().all(|slot| *slot >= last);
        if there || Instant::now() >= until {
            return Ok(());
        }
        tokio::time::sleep(LAST_LOOK).await;
    }
}

async fn found(app: &App, name: &str) -> Result<Session, Problem> {
    let asked = name.to_owned();
    let found = app.read(move |db| db.session(&asked)).await?;
    found.ok_or_else(|| {
        Problem::not_found(
            format!("there is no session `{name}`"),
            "`gtrace session list` has the names",
        )
    })
}

pub(super) async fn show(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<Json<SessionView>, Problem> {
    let session = found(&app, &name).await?;
    view(&app, session).await.map(Json)
}

/// What came of a session.
pub(super) async fn view(app: &App, session: Session) -> Result<SessionView, Problem> {
    let id = session.id;
    let of = session.clone();
    // All of its frames are counted.
    let found = app.read_long(move |db| {
        let rows = db.hosts_with_states(|name| of.includes(name))?;
        Ok((db.delivered(id)?, rows))
    });
    let (delivered, rows) = found.await?;
    let now = Timestamp::now();
    let slots = session.slots(now);
    let mut hosts: BTreeMap<String, SessionHost> = BTreeMap::new();
    for row in rows.iter().filter(|row| session.includes(&row.name)) {
        hosts.insert(row.name.clone(), host(row, &session, &slots, now));
    }
    for of in delivered {
        let end = match session.stopped {
            Some(_) => slots.end,
            // What is under way is not missing.
            None => of.slots.1 + 1,
        };
        let expected = u64::try_from(end - slots.start).unwrap_or_default();
        let known = hosts.get(&of.host).and_then(|host| host.problem.clone());
        let view = SessionHost {
            frames: of.frames,
            missing: expected.saturating_sub(of.frames),
            error_ns: of.error_ns,
            problem: known.filter(|_| session.stopped.is_none()),
            host: of.host.clone(),
        };
        hosts.insert(of.host, view);
    }
    let hosts = hosts.into_values().collect();
    Ok(SessionView { session, hosts })
}

/// A host of which nothing came yet.
fn host(
    row: &HostRow,
    session: &Session,
    slots: &std::ops::Range<i64>,
    now: Timestamp,
) -> SessionHost {
    let state = row.state.as_ref();
    let problem = if is_silent(row, now) {
        Some("the host is silent".to_owned())
    } else {
        match state {
            Some(state) if !state.allows_sessions => Some(
                "the host permits no sessions: start its agent with --allow-sessions".to_owned(),
            ),
            Some(state) => state.session_problem.clone(),
            None => None,
        }
    };
    // All of them can be of a host that came later.
    let enrolled_later = nanos(row.enrolled) > nanos(session.started);
    let missing = match session.stopped {
        Some(_) => u64::try_from(slots.end - slots.start).unwrap_or_default(),
        None => 0,
    };
    SessionHost {
        host: row.name.clone(),
        frames: 0,
        missing,
        error_ns: 0,
        problem: problem
            .or_else(|| enrolled_later.then(|| "it came into the fleet later".to_owned())),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PageParameters {
    after: Option<String>,
    limit: Option<u32>,
}

pub(super) async fn frames(
    State(app): State<App>,
    Path(name): Path<String>,
    Query(asked): Query<PageParameters>,
) -> Result<Json<FramesPage>, Problem> {
    let session = found(&app, &name).await?;
    let after = asked.after.as_deref().map(after).transpose()?;
    let limit = asked.limit.unwrap_or(PAGE_MAX).clamp(1, PAGE_MAX);
    let page = app.read(move |db| db.frames(session.id, after, limit));
    let (frames, next) = page.await?;
    let next = next.map(|after| format!("{},{}", after.slot, after.host));
    Ok(Json(FramesPage { frames, next }))
}

fn after(text: &str) -> Result<After, Problem> {
    let parts = text.split_once(',');
    let read = parts.and_then(|(slot, host)| {
        Some(After {
            slot: slot.parse().ok()?,
            host: host.parse().ok()?,
        })
    });
    let wrong = || Problem::bad_request("`after` is SLOT,HOST", "give `next` of the page before");
    read.ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use gtrace_event::Timestamp;
    use gtrace_fleet::{Metric, SESSIONS_MAX};

    use super::super::tests::opened;
    use super::{On, Session, view};

    fn session(id: i64) -> Session {
        Session {
            id,
            name: id.to_string(),
            hosts: Vec::new(),
            interval_ms: 200,
            metrics: Metric::all(),
            started: Timestamp::UNIX_EPOCH,
            ends: Timestamp::MAX,
            stopped: None,
            gswarm: false,
        }
    }

    #[tokio::test]
    async fn who_counts_frames_leaves_a_reader_for_short_questions() {
        let dir = tempfile::tempdir().unwrap();
        let app = opened(dir.path());
        assert_eq!(view(&app, session(1)).await.unwrap().hosts, []);
        // Nobody has a long question answered any more.
        app.long_reads.close();
        assert!(view(&app, session(1)).await.is_err());
        assert!(app.hosts().await.is_ok());
    }

    #[test]
    fn a_host_is_asked_for_as_many_sessions_as_agents_take() {
        let on = On::default();
        on.set((1..=20).map(session).collect(), Vec::new());
        let asked: Vec<i64> = on.of("a").unwrap().iter().map(|m| m.session).collect();
        assert_eq!(asked.len(), SESSIONS_MAX);
        assert!(asked.is_sorted() && asked[0] == 1);
    }

    #[test]
    fn a_head_that_has_just_started_ends_no_session() {
        let on = On::default();
        assert_eq!(on.of("a"), None);
        on.set(Vec::new(), Vec::new());
        assert_eq!(on.of("a"), Some(Vec::new()));
    }
}
