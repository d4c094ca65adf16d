//! `gtrace fleet report`: the report of an incident, fetched from its host.

use std::path::PathBuf;
use std::time::Duration;

use gtrace_api::client::{Client, encoded, target};
use gtrace_event::IncidentId;
use gtrace_head::By;
use gtrace_head::db::FleetIncident;

use super::super::ack::user_name;
use super::super::ids::find;
use super::super::shared::{Exit, Failure};
use super::answer::{self, Wanted};
use super::{Asked, failure};

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

pub(super) fn run(report: Report) -> anyhow::Result<Exit> {
    let client = report.asked.client()?;
    fetch(&client, &report)?;
    Ok(Exit::Success)
}

fn fetch(client: &Client, report: &Report) -> Result<(), Failure> {
    let host = &report.host;
    let id = match report.incident.parse::<IncidentId>() {
        Ok(id) => id,
        Err(_) => {
            let pairs = [("host", host.clone()), ("limit", SEARCHED.to_string())];
            let path = target("/fleet/v1/incidents", &pairs);
            let known: Vec<FleetIncident> = client.get(&path).map_err(failure)?;
            let known = known.into_iter().map(|one| one.incident.id);
            find("incident", &report.incident, known)?
        }
    };
    let path = format!("/fleet/v1/hosts/{}/incidents/{id}/report", encoded(host));
    let by = By { by: user_name() };
    let usual = || format!("gtrace-{host}-{id}.html").into();
    let wanted = Wanted {
        within: PATIENCE,
        output: report.output.clone().unwrap_or_else(usual),
        json: report.asked.json,
    };
    answer::fetch(client, &path, &by, &wanted)
}
