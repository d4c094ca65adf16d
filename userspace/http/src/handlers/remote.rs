//! `/api/v1/remote`: the clients of a `gtrace serve` of this host.

use axum::Json;
use axum::extract::State;
use gtrace_engine::component::remote;
use gtrace_engine::hub::RemoteAnswer;
use gtrace_server::ServerStatus;
use serde::Serialize;

use super::super::AppState;

/// What is known of a server of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum RemoteState {
    /// It runs and answered.
    Serving,
    /// None runs here.
    Absent,
    /// One runs, and did not answer in time.
    Silent,
    /// The component is disabled.
    Off,
}

/// Answer of `/api/v1/remote`.
#[derive(Debug, Serialize)]
pub(in super::super) struct Remote {
    state: RemoteState,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<ServerStatus>,
}

pub(in super::super) async fn show(State(state): State<AppState>) -> Json<Remote> {
    let Some((answer, server)) = ask(&state).await else {
        let off = Remote {
            state: RemoteState::Off,
            server: None,
        };
        return Json(off);
    };
    let state = match answer {
        RemoteAnswer::Answered => RemoteState::Serving,
        RemoteAnswer::Silent => RemoteState::Silent,
        RemoteAnswer::Absent => RemoteState::Absent,
    };
    Json(Remote { state, server })
}

/// Asks the server of this host, and notes for its component how that went; `None` if the component is disabled.
pub(super) async fn ask(state: &AppState) -> Option<(RemoteAnswer, Option<ServerStatus>)> {
    if remote::is_off(&state.hub) {
        return None;
    }
    let before = state.remote.unanswered();
    let server = state.remote.ask(gtrace_engine::remote::to_ask).await;
    let answer = match &server {
        Some(_) => RemoteAnswer::Answered,
        None if state.remote.unanswered() > before => RemoteAnswer::Silent,
        None => RemoteAnswer::Absent,
    };
    remote::observe(&state.hub, answer);
    Some((answer, server))
}
