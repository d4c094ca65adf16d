//! `gtrace events show`: all that is known of one event.

use std::process::ExitCode;

use gtrace_api::client::ClientError;
use gtrace_catalogue::Catalogue;
use gtrace_event::{
    Event, EventId, FailureClass, Incident, IncidentId, IncidentState, Severity, Timestamp,
};
use gtrace_http::{EventQuery, MAX_LIMIT};
use gtrace_store::IncidentFilter;
use serde::Serialize;

use crate::cli::explain::{Explanation, Subject};
use crate::cli::ids::{self, find};
use crate::cli::incidents;
use crate::cli::other_host::ReadPlace;
use crate::cli::shared::{self, Exit, Failure, Instance};
use crate::render::{self, ColorChoice, Style};

/// Incidents that are searched for the one of the event, at most: the newest.
const SEARCHED: usize = 1_000;

/// Show one event with all its details, what it means and the incident that it belongs to.
///
/// Exit status: 0 it is shown, 1 there is no such event, 2 wrong usage, 3 not possible.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The event's id, or at least 6 characters of its beginning or end.
    event: String,
    /// Print one JSON object: the event, with `explanation` and `incident`.
    #[arg(long)]
    json: bool,
    /// Where daemon and store are.
    #[command(flatten)]
    place: ReadPlace,
    /// When to use colours.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: ColorChoice,
}

/// The JSON.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    event: &'a Event,
    explanation: &'a Explanation,
    #[serde(skip_serializing_if = "Option::is_none")]
    incident: Option<Belongs<'a>>,
}

/// The incident of an event, as far as it shows whether to look at that.
#[derive(Serialize)]
struct Belongs<'a> {
    id: IncidentId,
    state: IncidentState,
    class: FailureClass,
    severity: Severity,
    title: &'a str,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let instance = args.place.resolve()?;
    let event =
        lookup(&args.event, &instance).map_err(|why| ids::no_event(why, &args.event, &instance))?;
    let incident = match incident_of(event.id, &instance.quiet()) {
        Ok(incident) => incident,
        Err(Failure(_, why)) => {
            shared::say(&format!("incidents cannot be read: {why}"));
            None
        }
    };
    let explanation = Explanation::of(subject(&event), &Catalogue::builtin())?;
    let shown = Shown {
        event: &event,
        explanation: &explanation,
        incident: incident.as_ref().map(|incident| Belongs {
            id: incident.id,
            state: incident.state,
            class: incident.class,
            severity: incident.severity,
            title: &incident.title,
        }),
    };
    shared::show(args.json, &shown, || {
        let style = Style::of_stdout(args.color);
        let whole = render::EventWhole {
            event: &event,
            incident: incident.as_ref(),
            more: &explanation.commands(),
        };
        render::event_whole(&whole, &style, Timestamp::now())
    })?;
    Ok(Exit::Success.into())
}

/// What the catalogue is asked for.
fn subject(event: &Event) -> Subject {
    match (event.detail.xid.xid, event.detail.fabric.sxid) {
        (Some(code), _) if event.kind == gtrace_event::Kind::Xid => Subject::Xid(code),
        (_, Some(code)) if event.kind == gtrace_event::Kind::Sxid => Subject::Sxid(code),
        _ => Subject::Kind(event.kind),
    }
}

/// The event whose id is `text`, or begins or ends with it.
fn lookup(text: &str, instance: &Instance) -> Result<Event, Failure> {
    let Ok(id) = text.parse::<EventId>() else {
        let query = EventQuery {
            limit: Some(MAX_LIMIT),
            ..EventQuery::default()
        };
        let mut events = super::read(instance, &query)?;
        let id = find("event", text, events.iter().map(|event| event.id))?;
        let at = events.iter().position(|event| event.id == id);
        return at
            .map(|at| events.swap_remove(at))
            .ok_or_else(|| no_event(id));
    };
    let stored = instance
        .store()
        .map_err(Failure::not_possible)
        .and_then(|path| {
            let archive = instance.open_store(path).map_err(Failure::not_possible)?;
            let found = archive.event(id).map_err(Failure::not_possible)?;
            instance.say_store(path);
            Ok(found)
        });
    let unread = match stored {
        Ok(Some(event)) => return Ok(event),
        Ok(None) if !instance.is_together() => return Err(no_event(id)),
        Ok(None) => no_event(id),
        Err(failure) if instance.store().is_ok() && !instance.is_together() => return Err(failure),
        Err(failure) => failure,
    };
    // The daemon knows what the store has not taken yet, and answers who may not read the store.
    let client = instance.reading_client();
    match client.get(&format!("/api/v1/events/{id}")) {
        Ok(event) => {
            instance.say_daemon(&client);
            Ok(event)
        }
        Err(ClientError::NoDaemon { .. } | ClientError::Forbidden { .. })
            if instance.store().is_ok() =>
        {
            Err(unread)
        }
        Err(error) => Err(error.into()),
    }
}

fn no_event(id: EventId) -> Failure {
    Failure(
        Exit::Problem,
        format!(
            "there is no event {id}: retention may have removed it, or another store has it (--store)"
        ),
    )
}

/// The incident that names the event, of the newest.
fn incident_of(id: EventId, instance: &Instance) -> Result<Option<Incident>, Failure> {
    let filter = IncidentFilter {
        limit: Some(SEARCHED),
        ..IncidentFilter::default()
    };
    let found = incidents::read(instance, &filter)?;
    Ok(found.into_iter().rev().find(|one| one.events.contains(&id)))
}
