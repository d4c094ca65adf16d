//! `/api/v1/incidents`.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::{Extension, Json};
use gtrace_api::{CaptureRequest, IncidentRequest};
use gtrace_engine::hub::{Command, INCIDENTS_MAX};
use gtrace_event::{IdError, Incident, IncidentId, StateChange, Timestamp};
use gtrace_store::IncidentFilter;

use super::super::AppState;
use super::super::archive::Archive;
use super::super::body::Sent;
use super::super::peer::Peer;
use super::super::problem::Problem;
use super::super::query::{EventQuery, incident_filter};
use super::super::stream::{Begin, Subject, Wish};
use super::{Named, Pairs, bad_parameter, check_note, open_stream, resume_after};

pub(in super::super) async fn list(
    State(state): State<AppState>,
    Extension(peer): Extension<Peer>,
    pairs: Pairs,
) -> Result<Json<Vec<Incident>>, Problem> {
    let given = pairs
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let filter =
        incident_filter(given, Timestamp::now()).map_err(|e| bad_parameter(e.to_string()))?;
    // What waits for the store is known here; what is older is known there. What is open is not read there once it was read back: a page
    // asks for that every few seconds. A store that cannot be read hides nothing of what is going on now; a part of what was asked for is
    // no answer.
    let is_open = filter.unresolved && state.hub.has_taken_up_incidents() && has_all(&state);
    let newest = state.hub.incidents();
    let read = move |archive: &Archive| archive.incidents(&filter);
    let stored = match is_open {
        true => Ok(Vec::new()),
        false => state.read(peer, read).await,
    };
    let stored = match stored {
        Ok(stored) => stored,
        Err(_) if is_known(&state, &filter) => Vec::new(),
        Err(mut problem) => {
            let remedy = &mut problem.body.remedy;
            remedy.push_str("; `gtrace incidents --open` shows what nobody has resolved");
            return Err(problem);
        }
    };
    let mut all: BTreeMap<IncidentId, Incident> = stored
        .into_iter()
        .map(|incident| (incident.id, incident))
        .collect();
    for incident in newest {
        // Whatever the store has of it is older.
        all.remove(&incident.id);
        if filter.matches(&incident) {
            all.insert(incident.id, incident);
        }
    }
    let mut found: Vec<_> = all.into_values().collect();
    found.sort_by_key(|incident| (incident.opened, incident.id));
    let surplus = filter
        .limit
        .map_or(0, |limit| found.len().saturating_sub(limit));
    found.drain(..surplus);
    Ok(Json(found))
}

/// Whether the daemon knows all that a filter asks for without its store, by the clock that it started under: that may have been years
/// behind.
fn is_known(state: &AppState, filter: &IncidentFilter) -> bool {
    let started = state.hub.status().started;
    filter.since.is_some_and(|since| since >= started) && has_all(state)
}

/// Whether the daemon has let go of no incident that it had.
fn has_all(state: &AppState) -> bool {
    state.hub.incidents().len() < INCIDENTS_MAX
}

pub(in super::super) async fn one(
    State(state): State<AppState>,
    Extension(peer): Extension<Peer>,
    Named(id): Named<String>,
) -> Result<Json<Incident>, Problem> {
    find(&state, peer, &id).await.map(Json)
}

pub(in super::super) async fn follow(
    State(state): State<AppState>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    pairs: Pairs,
) -> Result<Response, Problem> {
    let (after, others) = resume_after(&headers, pairs)?;
    if let Some((name, _)) = others.first() {
        return Err(bad_parameter(format!(
            "{name}: the only parameter here is after"
        )));
    }
    let wish = Wish {
        subject: Subject::Incidents,
        query: EventQuery::default(),
        begin: after.map_or(Begin::Now, Begin::After),
    };
    open_stream(state, peer, wish)
}

pub(in super::super) async fn change(
    State(state): State<AppState>,
    Extension(peer): Extension<Peer>,
    Named(id): Named<String>,
    Sent(request): Sent<IncidentRequest>,
) -> Result<Json<Incident>, Problem> {
    let IncidentRequest {
        state: new,
        by,
        note,
    } = request;
    check_note(&by, &note)?;
    let incident = find(&state, peer, &id).await?;
    if let Some(why) = incident.refuses(new) {
        return Err(Problem::new(
            StatusCode::CONFLICT,
            "the incident is resolved",
            why,
            "open it again if it is not over",
        ));
    }
    let id = incident.id;
    let change = StateChange::new(Timestamp::now(), new, by, note);
    state
        .ask("change the incident", |answer| {
            Command::Incident(id, Box::new(change), answer)
        })
        .await
        .map(Json)
}

pub(in super::super) async fn capture(
    State(state): State<AppState>,
    Sent(request): Sent<CaptureRequest>,
) -> Result<Json<Incident>, Problem> {
    let CaptureRequest { by, note } = request;
    check_note(&by, &note)?;
    let reason = match note.trim() {
        "" => format!("Captured by {by}"),
        note => format!("Captured by {by}: {note}"),
    };
    state
        .ask("capture the state of the host", |answer| {
            Command::Capture(reason, answer)
        })
        .await
        .map(Json)
}

pub(super) async fn find(state: &AppState, peer: Peer, id: &str) -> Result<Incident, Problem> {
    let id: IncidentId = id.parse().map_err(|error: IdError| {
        Problem::bad_request(error.to_string(), "take an id from /api/v1/incidents")
    })?;
    if let Some(incident) = state.hub.incident(id) {
        return Ok(incident);
    }
    state
        .read(peer, move |archive| archive.incident(id))
        .await?
        .ok_or_else(|| {
            Problem::not_found(
                "no such incident",
                format!("the store has no incident {id}"),
                "take an id from /api/v1/incidents; old incidents go with the store's retention",
            )
        })
}
