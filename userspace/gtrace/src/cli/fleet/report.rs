//! `gtrace fleet report`: the report of an incident, fetched from its host.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gtrace_api::client::Client;
use gtrace_event::IncidentId;
use gtrace_fleet::RequestState;
use gtrace_head::By;
use gtrace_head::db::{FleetIncident, Request};

use super::super::ack::user_name;
use super::super::ids::{Failure, find};
use super::super::shared::{self, Exit};
use super::{Asked, Done, failure};

/// Between two questions whether the host has answered.
const AGAIN: Duration = Duration::from_millis(200);
/// How long the host is waited for: longer than the head waits.
const PATIENCE: Duration = Duration::from_secs(130);
/// Incidents that are searched for a part of an id.
const SEARCHED: u32 = 1000;

/// Which report is fetched.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Report {
    /// The host's name in the fleet.
    host: String,
    /// The incident's id, or at least 6 characters of its beginning or end.
    incident: String,
    /// File to write, or - for standard output; by default gtrace-HOST-ID.html.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    asked: Asked,
}

pub(super) fn run(report: Report) -> Done {
    let client = report.asked.client()?;
    Ok(fetch(&client, &report).map(|()| Exit::Success))
}

fn fetch(client: &Client, report: &Report) -> Result<(), Failure> {
    let host = &report.host;
    let id = match report.incident.parse::<IncidentId>() {
        Ok(id) => id,
        Err(_) => {
            let pairs = [("host", host.clone()), ("limit", SEARCHED.to_string())];
            let path = gtrace_api::client::target("/fleet/v1/incidents", &pairs);
            let known: Vec<FleetIncident> = client.get(&path).map_err(failure)?;
            let known = known.into_iter().map(|one| one.incident.id);
            find("incident", &report.incident, known)?
        }
    };
    let path = format!("/fleet/v1/hosts/{host}/incidents/{id}/report");
    let by = By { by: user_name() };
    let mut request: Request = client.post(&path, &by).map_err(failure)?;
    let until = Instant::now() + PATIENCE;
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
    let page = client.get_text(&path).map_err(failure)?;
    let output = match &report.output {
        Some(output) if output == Path::new("-") => {
            return shared::print_bytes(page.as_bytes())
                .map(drop)
                .map_err(Failure::not_possible);
        }
        Some(output) => output.clone(),
        None => PathBuf::from(format!("gtrace-{host}-{id}.html")),
    };
    // It names people and places, and a file that is there is somebody's.
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&output)
        .and_then(|mut file| file.write_all(page.as_bytes()));
    let shown = output.display();
    written.map_err(|e| Failure::not_possible(format!("{shown} cannot be written: {e}")))?;
    let line = match report.asked.json {
        true => shared::json_line(&request),
        false => Ok(format!("{shown}\n")),
    };
    line.and_then(|line| shared::print(&line))
        .map(drop)
        .map_err(Failure::not_possible)
}
