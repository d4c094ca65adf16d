//! What a host has sent for a request of the head: awaited, and written to a file.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gtrace_api::client::Client;
use gtrace_fleet::RequestState;
use gtrace_head::db::Request;

use super::super::shared::{self, Exit, Failure};
use super::failure;

/// Between two questions whether the host has answered.
const AGAIN: Duration = Duration::from_millis(200);

/// How an answer is awaited, and where it goes.
pub(super) struct Wanted<'a> {
    /// How long the host is waited for.
    pub(super) within: Duration,
    /// The file, or `-` for standard output.
    pub(super) output: Option<&'a Path>,
    /// The file otherwise.
    pub(super) name: String,
    /// Print the request as JSON, not the name of the file.
    pub(super) json: bool,
}

/// Waits for the host, and writes the file that it answers with.
pub(super) fn fetch(
    client: &Client,
    mut request: Request,
    wanted: &Wanted<'_>,
) -> Result<(), Failure> {
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
        let said = request.said.unwrap_or_else(|| request.state.to_string());
        let said = crate::render::clean(&said);
        return Err(Failure(Exit::Problem, format!("{host}: {said}")));
    }
    let path = format!("/fleet/v1/requests/{}/file", request.id);
    let bytes = client.get_bytes(&path).map_err(failure)?;
    let output = match wanted.output {
        Some(output) if output == Path::new("-") => {
            return shared::print_bytes(&bytes)
                .map(drop)
                .map_err(Failure::not_possible);
        }
        Some(output) => output.to_owned(),
        None => PathBuf::from(&wanted.name),
    };
    // It names people and places, and a file that is there is somebody's.
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&output)
        .and_then(|mut file| file.write_all(&bytes));
    let shown = output.display();
    written.map_err(|e| Failure::not_possible(format!("{shown} cannot be written: {e}")))?;
    shared::show(wanted.json, &request, || format!("{shown}\n"))
        .map(drop)
        .map_err(Failure::not_possible)
}
