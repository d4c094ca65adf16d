//! `gtrace mcp`: what gtrace knows, for a language model, over standard input and output.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use gtrace_api::client::{Client, ClientError};
use gtrace_api::{CallStats, SampleHistory, Status};
use gtrace_catalogue::Catalogue;
use gtrace_collect::report::{Question, gather, window_around};
use gtrace_event::{Event, EventId, FailureClass, HealthReport, Incident, Timestamp};
use gtrace_http::{EventQuery, SampleQuery};
use gtrace_mcp::{Query, Refusal, Source};
use gtrace_report::Report;
use gtrace_store::Reader;

use super::other_host::ReadPlace;
use super::shared::{self, Exit, Failure, Instance};
use super::{events, health, incidents, policy, runbook, samples};

/// Time around an incident that its postmortem is about.
const WINDOW: Duration = Duration::from_secs(600);

/// Answer a client of the Model Context Protocol on standard input and output: events, incidents with their evidence,
/// health, samples, driver calls, and what codes mean, for a language model. It reads only.
///
/// A client starts it. It asks the daemon, and reads the store while the daemon is down.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Site policy (TOML) that explanations follow; by default that of the configuration.
    #[arg(long, value_name = "PATH")]
    site_policy: Option<PathBuf>,
    /// Where daemon and store are.
    #[command(flatten)]
    place: ReadPlace,
}

/// Runs the command.
///
/// # Errors
///
/// What standard input and output say, a closed pipe aside, and a configuration or site policy that is refused.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let instance = args.place.resolve()?.quiet();
    let catalogue = match &args.site_policy {
        Some(named) => policy::catalogue(Some(named))?,
        None => policy::catalogue(instance.site_policy()).unwrap_or_else(|Failure(_, why)| {
            // Who may read events need not be allowed to read the site's policy.
            say!("{why}; explanations are without the site's policy");
            Catalogue::builtin()
        }),
    };
    let known = Known {
        instance,
        catalogue,
    };
    let served = gtrace_mcp::serve(&known, io::stdin().lock(), io::stdout().lock());
    shared::written(served)?;
    Ok(Exit::Success.into())
}

/// The daemon and its store.
struct Known {
    instance: Instance,
    catalogue: Catalogue,
}

fn pairs(query: &Query) -> impl Iterator<Item = (&str, &str)> {
    query.iter().map(|(name, value)| (*name, value.as_str()))
}

impl Known {
    fn client(&self) -> Client {
        self.instance.reading_client()
    }

    /// Why the daemon cannot be asked; `None` where it answers.
    fn daemon_is_down(&self, client: &Client) -> Option<ClientError> {
        match client.get::<serde_json::Value>("/healthz") {
            Ok(_) | Err(ClientError::Refused { .. }) => None,
            Err(error) => Some(error),
        }
    }
}

impl Source for Known {
    fn origin(&self) -> String {
        if self.instance.store().is_ok() && !self.instance.is_together() {
            let store = self
                .instance
                .store()
                .map(|store| store.display().to_string());
            return format!("the store {}", store.unwrap_or_default());
        }
        let client = self.client();
        match (self.daemon_is_down(&client), self.instance.store()) {
            (None, _) => format!("the daemon on {}", client.endpoint()),
            (Some(error), Ok(store)) => format!("the store {}, as {error}", store.display()),
            (Some(error), Err(_)) => error.to_string(),
        }
    }

    fn events(&self, query: &Query) -> Result<Vec<Event>, Refusal> {
        let query = EventQuery::from_pairs(pairs(query), Timestamp::now())?;
        Ok(events::read(&self.instance, &query)?)
    }

    fn event(&self, id: &str) -> Result<Event, Refusal> {
        let id: EventId = id.parse()?;
        if let Ok(store) = self.instance.store()
            && let Ok(archive) = self.instance.open_store(store)
        {
            let found = archive.event(id)?;
            return found.ok_or_else(|| Refusal(format!("the store has no event {id}")));
        }
        Ok(self.client().get(&format!("/api/v1/events/{id}"))?)
    }

    fn events_of(&self, ids: &[EventId]) -> Vec<Event> {
        if let Ok(store) = self.instance.store()
            && let Ok(archive) = self.instance.open_store(store)
        {
            return archive.readable_events(ids);
        }
        let client = self.client();
        let mut events = Vec::new();
        for id in ids {
            match client.get(&format!("/api/v1/events/{id}")) {
                Ok(event) => events.push(event),
                Err(ClientError::Refused { .. }) => {}
                // A daemon that hangs is not asked for the others.
                Err(_) => break,
            }
        }
        events
    }

    fn incidents(&self, query: &Query) -> Result<Vec<Incident>, Refusal> {
        let filter = gtrace_http::incident_filter(pairs(query), Timestamp::now())?;
        Ok(incidents::read(&self.instance, &filter)?)
    }

    fn incident(&self, id: &str) -> Result<Incident, Refusal> {
        Ok(incidents::lookup(id, &self.instance)?)
    }

    fn postmortem(&self, incident: &Incident) -> Result<String, Refusal> {
        let path = self.instance.store().map_err(Refusal)?;
        let reader = Reader::open(path)?;
        let question = Question {
            incident: Some(incident.clone()),
            window: window_around(
                incident.opened,
                incident.last_time.max(incident.opened),
                WINDOW,
            ),
            kernel_log: None,
            samples: Some(gtrace_engine::history::directory(path)),
            recorder: Some(gtrace_engine::recorder::directory(path)),
            evidence: Some(gtrace_engine::recorder::evidence_directory(path)),
            generator: format!("gtrace {}", env!("CARGO_PKG_VERSION")),
        };
        let client = self.instance.is_together().then(|| self.client());
        Ok(Report::new(gather(question, &reader, client)?).postmortem())
    }

    fn health(&self) -> Result<HealthReport, Refusal> {
        Ok(health::read(&self.instance)?)
    }

    fn status(&self) -> Result<Status, Refusal> {
        Ok(self.client().get("/api/v1/status")?)
    }

    fn gpus(&self) -> Result<serde_json::Value, Refusal> {
        Ok(self.client().get("/api/v1/gpus")?)
    }

    fn samples(&self, query: &Query) -> Result<SampleHistory, Refusal> {
        let mut query = SampleQuery::from_pairs(pairs(query), Timestamp::now())?;
        for name in &mut query.metrics {
            *name = samples::full_name(name);
        }
        Ok(samples::read(&self.instance, &query)?)
    }

    fn driver_calls(&self) -> Result<Vec<CallStats>, Refusal> {
        Ok(self.client().get("/api/v1/histograms")?)
    }

    fn catalogue(&self) -> Catalogue {
        self.catalogue.clone()
    }

    fn runbooks(&self) -> Vec<(&'static str, &'static str)> {
        let classes = FailureClass::ALL.into_iter();
        classes.map(|class| (class.name(), class.title())).collect()
    }

    fn page(&self, name: &str) -> Option<&'static str> {
        runbook::known(name)
    }
}
