//! `/api/v1/samples`.

use axum::extract::State;
use axum::{Extension, Json};
use gtrace_api::SampleHistory;
use gtrace_engine::history;
use gtrace_event::Timestamp;

use super::super::AppState;
use super::super::peer::Peer;
use super::super::problem::Problem;
use super::super::query::GpuSelector;
use super::super::samples::{SampleQuery, SamplesError, read_samples};
use super::{Pairs, bad_parameter};

pub(in super::super) async fn list(
    State(state): State<AppState>,
    Extension(peer): Extension<Peer>,
    pairs: Pairs,
) -> Result<Json<SampleHistory>, Problem> {
    let given = pairs
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let now = Timestamp::now();
    let mut query =
        SampleQuery::from_pairs(given, now).map_err(|error| bad_parameter(error.to_string()))?;
    if let Some(GpuSelector::Index(index)) = query.gpu {
        let gpus = state.hub.gpus();
        let gpu = gpus.iter().find(|gpu| gpu.index == Some(index));
        let gpu = gpu.ok_or_else(|| bad_parameter(format!("gpu: no GPU has index {index}")))?;
        let address = gpu.pci.to_string();
        query.gpu = Some(address.parse().map_err(bad_parameter)?);
    }
    let dir = history::directory(&state.store);
    let read = state.block(peer, move || read_samples(&dir, &query, now));
    let cause = match read.await {
        Ok(Ok(found)) => return Ok(Json(found)),
        Ok(Err(error @ SamplesError::Absent { .. })) => {
            return Err(Problem::not_found(
                "no samples are kept",
                error.to_string(),
                "set sample_history = true",
            ));
        }
        Ok(Err(error)) => error.to_string(),
        Err(panic) => panic.to_string(),
    };
    Err(Problem::unavailable(
        "cannot read the samples",
        cause,
        "see `gtrace status` and the daemon's log",
    ))
}
