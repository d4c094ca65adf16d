//! `gtrace capture`: keep the state of this host, as when an incident opens.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use gtrace_api::CaptureRequest;
use gtrace_api::client::{Client, ClientError};
use gtrace_event::Incident;

use super::ack::named;
use super::other_host::DaemonPlace;
use super::shared::{self, Exit, Failure};

/// Between two looks at the incident.
const EVERY: Duration = Duration::from_millis(500);
/// A recording takes half a minute; a busy host somewhat longer.
const PATIENCE: Duration = Duration::from_secs(90);

/// Keep the state of this host: open an incident by hand, with the last five minutes and the next half minute.
///
/// The incident has what one has that opens by itself: kernel log, slow and failed calls, samples, stacks, state of the
/// devices. `gtrace report` writes it into one file.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Why.
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
    /// Who asks; by default the user who runs this, with sudo the one who ran sudo.
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Wait until the recording is complete, 90 s at most; exit 1 if it is not.
    #[arg(long)]
    wait: bool,
    /// Print the incident as JSON.
    #[arg(long)]
    json: bool,
    /// Which daemon.
    #[command(flatten)]
    place: DaemonPlace,
}

/// Runs the command.
///
/// # Errors
///
/// Why it is not done; what standard output says, a closed pipe aside, and a configuration that is refused.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let by = named(args.by.clone())?;
    let instance = args.place.resolve()?;
    let client = instance.client();
    let request = CaptureRequest {
        by,
        note: args.note,
    };
    let captured = client.post("/api/v1/capture", &request);
    let incident: Incident = captured.map_err(Failure::from)?;
    instance.say_daemon(&client);
    let (incident, exit) = match args.wait {
        true => complete(&client, incident)?,
        false => (incident, Exit::Success),
    };
    shared::show(args.json, &incident, || format!("{}\n", incident.id))?;
    Ok(exit.into())
}

/// The incident once its record says what was kept of it.
fn complete(client: &Client, incident: Incident) -> Result<(Incident, Exit), ClientError> {
    let until = Instant::now() + PATIENCE;
    let path = format!("/api/v1/incidents/{}", incident.id);
    loop {
        let incident: Incident = client.get(&path)?;
        if !incident.evidence.is_empty() {
            return Ok((incident, Exit::Success));
        }
        if let Some(missing) = incident.missing.first() {
            shared::say(&format!("{} was not kept: {}", missing.what, missing.why));
            return Ok((incident, Exit::Problem));
        }
        if Instant::now() >= until {
            shared::say(
                "the recording is not complete yet; `gtrace status` says whether the flight recorder works",
            );
            return Ok((incident, Exit::Problem));
        }
        std::thread::sleep(EVERY);
    }
}
