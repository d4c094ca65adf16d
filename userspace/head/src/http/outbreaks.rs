//! Outbreaks, found anew a few seconds after the last time, where an incident has changed: however many ask, and however much happens.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use gtrace_event::{IncidentId, Timestamp};
use gtrace_fleet::outbreak::Outbreak;
use serde::Deserialize;
use tokio::sync::Mutex;

use super::App;
use super::people::LIMIT_MAX;
use super::problem::Problem;
use super::query::Query;
use crate::db::{Database, DbError};
use crate::view;

/// For so long what was found is answered again.
const GOOD_FOR: Duration = Duration::from_secs(3);
/// The same where no incident has changed: labels, and how long hosts were watched, go into it too.
const UNCHANGED_GOOD_FOR: Duration = Duration::from_secs(60);

/// An outbreak, and whether nobody has resolved one of its incidents.
pub(super) type Found = Vec<(Outbreak, bool)>;

/// What was found, and from what.
struct At {
    /// When it was found.
    found: Instant,
    /// When it was seen last that no incident has changed.
    seen: Instant,
    changes: (i64, i64),
    outbreaks: Arc<Found>,
}

/// What was found last. Who asks meanwhile waits for it.
#[derive(Clone, Default)]
pub(super) struct Last(Arc<Mutex<Option<At>>>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameters {
    since: Option<Timestamp>,
    open: Option<bool>,
}

/// All outbreaks, as they were found a few seconds ago at most.
pub(super) async fn latest(app: &App) -> Result<Arc<Found>, Problem> {
    let mut last = app.outbreaks.0.lock().await;
    if let Some(at) = &*last
        && at.seen.elapsed() < GOOD_FOR
    {
        return Ok(Arc::clone(&at.outbreaks));
    }
    let changes = app.read(Database::incident_changes).await?;
    if let Some(at) = &mut *last
        && at.changes == changes
        && at.found.elapsed() < UNCHANGED_GOOD_FOR
    {
        at.seen = Instant::now();
        return Ok(Arc::clone(&at.outbreaks));
    }
    let outbreaks = Arc::new(app.read(find).await?);
    let now = Instant::now();
    *last = Some(At {
        found: now,
        seen: now,
        changes,
        outbreaks: Arc::clone(&outbreaks),
    });
    Ok(outbreaks)
}

/// Incidents that many hosts have at the same time, as one.
pub(super) async fn outbreaks(
    State(app): State<App>,
    Query(asked): Query<Parameters>,
) -> Result<Json<Vec<Outbreak>>, Problem> {
    let found = latest(&app).await?;
    let wanted = |(one, open): &&(Outbreak, bool)| {
        asked.since.is_none_or(|since| one.last >= since) && (*open || asked.open != Some(true))
    };
    let wanted = found.iter().filter(wanted).map(|(one, _)| one.clone());
    Ok(Json(wanted.collect()))
}

fn find(db: &mut Database) -> Result<Found, DbError> {
    // Also what is resolved, and what came before, is of the history that says what chance does.
    let marks = db.marks(LIMIT_MAX)?;
    let oldest = marks.iter().map(|mark| mark.last).min();
    let from = oldest.filter(|_| marks.len() >= LIMIT_MAX as usize);
    // What was resolved before is gone: the time before says nothing of how often incidents come.
    let from = from.max(db.kept_since()?).unwrap_or_default();
    let rows = db.hosts()?;
    let mut outbreaks = view::outbreaks(&rows, &marks, from, Timestamp::now());
    let resolved: BTreeMap<(&str, IncidentId), bool> = marks
        .iter()
        .map(|mark| ((mark.fleet_host.as_str(), mark.id), mark.resolved))
        .collect();
    let mut found = Vec::with_capacity(outbreaks.len());
    for mut one in outbreaks.drain(..) {
        let mut jobs: Option<Vec<String>> = None;
        for member in &one.members {
            // What is left of them after a few is what all share.
            if jobs.as_ref().is_some_and(Vec::is_empty) {
                break;
            }
            let of = db.jobs(&member.host, member.incident)?;
            jobs = Some(match jobs {
                None => of,
                Some(shared) => shared.into_iter().filter(|j| of.contains(j)).collect(),
            });
        }
        one.jobs = jobs.unwrap_or_default();
        let is_open = |member: &gtrace_fleet::outbreak::Place| {
            resolved.get(&(member.host.as_str(), member.incident)) == Some(&false)
        };
        let open = one.members.iter().any(is_open);
        found.push((one, open));
    }
    Ok(found)
}
