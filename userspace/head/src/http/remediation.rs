//! Plans of remediation: what people see of them and do with them.

use std::sync::PoisonError;

use axum::Json;
use axum::extract::{Path, State};
use axum::routing::{MethodRouter, post};
use gtrace_event::Timestamp;
use gtrace_fleet::remedy::{Mode, Plan};
use serde::{Deserialize, Serialize};

use super::App;
use super::gate::Named;
use super::people::LIMIT_MAX;
use super::problem::Problem;
use super::query::Query;
use crate::db::{Change, Database, UnreadablePlan};

/// How it stands with remediation.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemediationView {
    /// Whether plans are carried out (`act`) or only made (`dry`); absent where this head has no policy.
    pub mode: Option<Mode>,
    /// Whether this head carries them out; of heads that share a database one does.
    pub is_here: bool,
    /// What is wrong with it.
    pub problem: Option<String>,
    /// Plans, the newest first.
    pub plans: Vec<Plan>,
    /// Plans that this head cannot read, as an older or a newer version wrote them. Those that are live may keep hosts out.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub unreadable: Vec<UnreadablePlan>,
    /// Causes for which no plan was made since the head started, as their hosts had as many plans as they may.
    #[serde(default)]
    pub unplanned_of_hosts: u64,
    /// The same, as the fleet had.
    #[serde(default)]
    pub unplanned_of_fleet: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Which {
    all: Option<bool>,
    limit: Option<u32>,
}

pub(super) async fn list(
    State(app): State<App>,
    Query(Which { all, limit }): Query<Which>,
) -> Result<Json<RemediationView>, Problem> {
    let limit = limit.unwrap_or(1000).min(LIMIT_MAX);
    let all = all.unwrap_or(false);
    let found = app.read(move |db| db.plans(all, limit)).await?;
    let standing = app.remediation.as_ref().map(|shared| {
        let standing = shared.lock().unwrap_or_else(PoisonError::into_inner);
        standing.clone()
    });
    Ok(Json(RemediationView {
        mode: standing.as_ref().map(|standing| standing.mode),
        is_here: standing.as_ref().is_some_and(|standing| standing.is_here),
        unplanned_of_hosts: standing.as_ref().map_or(0, |s| s.unplanned_of_hosts),
        unplanned_of_fleet: standing.as_ref().map_or(0, |s| s.unplanned_of_fleet),
        problem: standing.and_then(|standing| standing.problem),
        plans: found.plans,
        unreadable: found.unreadable,
    }))
}

fn no_plan(id: i64) -> Problem {
    Problem::not_found(
        format!("there is no plan {id}"),
        "`gtrace fleet remediation list --all` lists them",
    )
}

pub(super) async fn show(
    State(app): State<App>,
    Path(id): Path<i64>,
) -> Result<Json<Plan>, Problem> {
    let found = app.read(move |db| db.plan(id)).await?;
    match found.ok_or_else(|| no_plan(id))? {
        Ok(plan) => Ok(Json(plan)),
        Err(unreadable) => Err(Problem::conflict(
            "cannot be read",
            format!("plan {id} cannot be read: {}", unreadable.why),
            "a head of the version that wrote it can",
        )),
    }
}

async fn change(app: App, id: i64, change: Change, by: String) -> Result<Json<Plan>, Problem> {
    let change = move |db: &mut Database| db.change_plan(id, change, &by, Timestamp::now());
    let done = app.write("cannot change the plan", change).await?;
    let conflict = |why: String| {
        let remedy = "`gtrace fleet remediation show` says how far it is";
        Problem::conflict("not changed", why, remedy)
    };
    let done = done.ok_or_else(|| no_plan(id))?;
    done.map(Json).map_err(conflict)
}

/// The route by which a person changes a plan so.
pub(super) fn changes(to: Change) -> MethodRouter<App> {
    post(
        move |State(app): State<App>, Path(id): Path<i64>, Named(by): Named| {
            change(app, id, to, by)
        },
    )
}
