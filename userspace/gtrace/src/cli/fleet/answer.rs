//! What a host has sent for a request of the head: awaited, and written to a file.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gtrace_api::client::Client;
use gtrace_fleet::RequestState;
use gtrace_head::db::Request;
use serde::Serialize;

use super::super::new_file;
use super::super::shared::{self, Exit, Failure};
use super::failure;

/// Between two questions whether the host has answered.
const AGAIN: Duration = Duration::from_millis(200);

/// How an answer is awaited, and where it goes.
pub(super) struct Wanted {
    /// How long the host is waited for.
    pub(super) within: Duration,
    /// The file, or `-` for standard output.
    pub(super) output: PathBuf,
    /// Print the request as JSON, not the name of the file.
    pub(super) json: bool,
}

/// Makes the request, waits for the host, and writes the file that it answers with.
pub(super) fn fetch(
    client: &Client,
    path: &str,
    body: &impl Serialize,
    wanted: &Wanted,
) -> Result<(), Failure> {
    let output = wanted.output.as_path();
    let is_printed = output == Path::new("-");
    if !is_printed {
        // Before the host has any work with it.
        new_file::check(output)?;
    }
    let mut request: Request = client.post(path, body).map_err(failure)?;
    let host = request.host.clone();
    let until = Instant::now() + wanted.within;
    while !request.state.is_over() {
        if Instant::now() > until {
            let why = format!("{host} does not answer; `gtrace fleet audit` shows what came of it");
            return Err(Failure(Exit::NotPossible, why));
        }
        std::thread::sleep(AGAIN);
        let path = format!("/fleet/v1/requests/{}", request.id);
        request = client.get(&path).map_err(failure)?;
    }
    if request.state != RequestState::Done {
        let reported = request
            .reported
            .unwrap_or_else(|| request.state.to_string());
        let reported = crate::render::clean(&reported);
        return Err(Failure(Exit::Problem, format!("{host}: {reported}")));
    }
    let path = format!("/fleet/v1/requests/{}/file", request.id);
    let bytes = client.get_bytes(&path).map_err(failure)?;
    if is_printed {
        let printed = shared::print_bytes(&bytes);
        return printed.map(drop).map_err(Failure::not_possible);
    }
    new_file::create(output, &bytes)?;
    let shown = shared::show(wanted.json, &request, || format!("{}\n", output.display()));
    shown.map(drop).map_err(Failure::not_possible)
}
