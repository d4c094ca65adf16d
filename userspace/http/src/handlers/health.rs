//! `/api/v1/health` and `/api/v1/maintenance`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use gtrace_api::MaintenanceRequest;
use gtrace_engine::health;
use gtrace_engine::hub::Command;
use gtrace_event::{HealthReport, MaintenanceWindow, Timestamp};
use jiff::SignedDuration;

use super::super::AppState;
use super::super::body::Sent;
use super::super::problem::Problem;
use super::check_note;

/// Longest maintenance window.
const LONGEST_S: u64 = 30 * 86_400;

pub(in super::super) async fn report(
    State(state): State<AppState>,
) -> Result<Json<HealthReport>, Problem> {
    known(&state).map(Json)
}

/// The health of the host, once something is known of it.
pub(in super::super) fn known(state: &AppState) -> Result<HealthReport, Problem> {
    health::report(&state.hub).ok_or_else(|| {
        Problem::unavailable(
            "no health is known",
            "the daemon has only just started",
            "ask again in a second",
        )
    })
}

pub(in super::super) async fn maintain(
    State(state): State<AppState>,
    Sent(request): Sent<MaintenanceRequest>,
) -> Result<Json<MaintenanceWindow>, Problem> {
    let MaintenanceRequest { for_s, by, note } = request;
    check_note(&by, &note)?;
    if for_s > LONGEST_S {
        return Err(Problem::bad_request(
            format!("`for_s` is {for_s}, the most is {LONGEST_S} (30 days)"),
            "set a shorter time; a window can be set anew while it is on",
        ));
    }
    if for_s == 0 && known(&state)?.maintenance.is_none() {
        return Err(Problem::new(
            StatusCode::CONFLICT,
            "cannot end the maintenance window",
            "no maintenance window is on",
            "give `for_s` from 1 to begin one",
        ));
    }
    let from = Timestamp::now();
    let length = SignedDuration::from_secs(i64::try_from(for_s).unwrap_or(i64::MAX));
    let until = from.saturating_add(length).unwrap_or(from);
    let window = MaintenanceWindow {
        from,
        until,
        by,
        note,
    };
    state
        .ask("change the maintenance window", |answer| {
            Command::Maintenance(window, answer)
        })
        .await
        .map(Json)
}
