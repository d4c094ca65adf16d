//! `gtrace incidents`: what events come to, and what was done about it.

use std::path::Path;
use std::process::ExitCode;

use gtrace_api::IncidentRequest;
use gtrace_api::client::target;
use gtrace_event::{Event, Incident, IncidentId, IncidentState, Record, StateChange, Timestamp};
use gtrace_http::Archive;
use gtrace_store::IncidentFilter;

use super::ack::{append, named};
use super::ids::{find, no_incident};
use super::other_host::ReadPlace;
use super::shared::{self, Exit, Failure, Instance};
use crate::render::{self, ColorChoice, Style};

/// Most incidents that are searched for a part of an id.
const SEARCHED: usize = 1_000;

/// Show incidents: events that belong together, what they come to and what to do; change their state.
#[derive(Clone, Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    change: Option<What>,
    /// Only incidents that nobody has resolved.
    #[arg(long)]
    open: bool,
    /// Incidents that something happened to at or after this time: an age (30s, 30m, 1h, 2d, 1w), RFC 3339, or local time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = shared::parse_local_time)]
    since: Option<Timestamp>,
    /// Incidents that began before this time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = shared::parse_end_time)]
    until: Option<shared::End>,
    /// At most so many, the newest that match.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
    #[command(flatten)]
    shown: Shown,
}

/// Where daemon and store are, and how to show what they have.
#[derive(Clone, Debug, clap::Args)]
struct Shown {
    /// Print JSON, an incident a line.
    #[arg(long)]
    json: bool,
    /// Where daemon and store are.
    #[command(flatten)]
    place: ReadPlace,
    /// When to use colours.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: ColorChoice,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum What {
    /// Show one incident with its events and causes.
    Show(One),
    /// Say that somebody is on it.
    Ack(Change),
    /// Say that its effects have ended.
    Mitigate(Change),
    /// Say that it is over.
    Resolve(Change),
    /// Open it again.
    Reopen(Change),
}

#[derive(Clone, Debug, clap::Args)]
struct One {
    /// The incident's id, or at least 6 characters of its beginning or end.
    incident: String,
    #[command(flatten)]
    shown: Shown,
}

#[derive(Clone, Debug, clap::Args)]
struct Change {
    #[command(flatten)]
    one: One,
    /// Who changes it; by default the user who runs this, with sudo the one who ran sudo.
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Why, or what was done.
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
}

/// Runs the command.
///
/// # Errors
///
/// Why it is not done; what standard output says, a closed pipe aside.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let exit = match &args.change {
        None => list(&args),
        Some(What::Show(one)) => show(one),
        Some(What::Ack(to)) => change(to, IncidentState::Acknowledged),
        Some(What::Mitigate(to)) => change(to, IncidentState::Mitigated),
        Some(What::Resolve(to)) => change(to, IncidentState::Resolved),
        Some(What::Reopen(to)) => change(to, IncidentState::Open),
    }?;
    Ok(exit.into())
}

fn list(args: &Args) -> anyhow::Result<Exit> {
    let until = args.until.map(|end| end.after(args.since));
    shared::check_time(args.since, until)?;
    let instance = args.shown.place.resolve()?;
    let filter = IncidentFilter {
        since: args.since,
        until,
        unresolved: args.open,
        limit: Some(args.limit as usize),
    };
    let found = read(&instance, &filter)?;
    let style = Style::of_stdout(args.shown.color);
    let line = |incident: &Incident| render::incident_line(incident, &style);
    shared::list(args.shown.json, &found, line, "no incidents match")
}

/// Asks the daemon, which knows more than its store does; where none answers, reads the store.
pub(super) fn read(instance: &Instance, filter: &IncidentFilter) -> Result<Vec<Incident>, Failure> {
    let target = target("/api/v1/incidents", &pairs(filter));
    instance.ask(&target, |store| {
        from_store(instance, store, |archive| {
            archive.incidents(filter).map_err(Failure::not_possible)
        })
    })
}

fn pairs(filter: &IncidentFilter) -> Vec<(&'static str, String)> {
    let mut pairs = Vec::new();
    let mut push = |name, value: Option<String>| pairs.extend(value.map(|value| (name, value)));
    push("since", filter.since.map(|time| time.to_string()));
    push("until", filter.until.map(|time| time.to_string()));
    push("open", filter.unresolved.then(|| "true".to_owned()));
    push("limit", filter.limit.map(|limit| limit.to_string()));
    pairs
}

fn from_store<T>(
    instance: &Instance,
    path: &Path,
    read: impl FnOnce(&Archive) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let archive = Archive::open(path).map_err(Failure::not_possible)?;
    let found = read(&archive)?;
    instance.say_store(path);
    Ok(found)
}

fn show(one: &One) -> anyhow::Result<Exit> {
    let instance = one.shown.place.resolve()?;
    let incident = lookup(&one.incident, &instance)?;
    shared::show(one.shown.json, &incident, || {
        let events = events_of(&incident, &instance);
        let style = Style::of_stdout(one.shown.color);
        render::incident(&incident, &events, &style, Timestamp::now())
    })?;
    Ok(Exit::Success)
}

/// The incident whose id is `text`, or begins or ends with it.
pub(super) fn lookup(text: &str, instance: &Instance) -> Result<Incident, Failure> {
    if let Ok(id) = text.parse::<IncidentId>() {
        let found = instance.ask(&format!("/api/v1/incidents/{id}"), |store| {
            from_store(instance, store, |archive| stored(archive, id))
        });
        return found.map_err(|why| no_incident(why, text, instance));
    }
    let filter = IncidentFilter {
        limit: Some(SEARCHED),
        ..IncidentFilter::default()
    };
    let mut found = read(instance, &filter)?;
    let id = find("incident", text, found.iter().map(|i| i.id))?;
    let at = found.iter().position(|incident| incident.id == id);
    at.map(|at| found.swap_remove(at))
        .ok_or_else(|| Failure(Exit::Problem, format!("there is no incident {id}")))
}

fn stored(archive: &Archive, id: IncidentId) -> Result<Incident, Failure> {
    let found = archive.incident(id).map_err(Failure::not_possible)?;
    found.ok_or_else(|| Failure(Exit::Problem, format!("the store has no incident {id}")))
}

/// Its events, as far as they can be had.
pub(super) fn events_of(incident: &Incident, instance: &Instance) -> Vec<Event> {
    let from_store = || {
        let archive = instance.open_store(instance.store().ok()?).ok()?;
        Some(archive.readable_events(&incident.events))
    };
    let from_daemon = || {
        let client = instance.reading_client();
        let ask = |id| client.get(&format!("/api/v1/events/{id}")).ok();
        incident.events.iter().filter_map(ask).collect()
    };
    from_store().unwrap_or_else(from_daemon)
}

fn change(to: &Change, state: IncidentState) -> anyhow::Result<Exit> {
    let instance = to.one.shown.place.resolve()?;
    let by = named(to.by.clone())?;
    let request = IncidentRequest {
        state,
        by,
        note: to.note.clone(),
    };
    // Who answers is said once, by what changes it.
    let incident = lookup(&to.one.incident, &instance.clone().quiet())?;
    let path = format!("/api/v1/incidents/{}/state", incident.id);
    let incident: Incident = instance.change(
        |client| client.post(&path, &request),
        || by_hand(incident.id, &request, &instance),
    )?;
    shared::show(to.one.shown.json, &incident, || {
        render::incident_line(&incident, &Style::of_stdout(to.one.shown.color))
    })?;
    Ok(Exit::Success)
}

/// No daemon runs.
fn by_hand(
    id: IncidentId,
    request: &IncidentRequest,
    instance: &Instance,
) -> Result<Incident, Failure> {
    append(instance, |archive| {
        let mut incident = stored(archive, id)?;
        let IncidentRequest { state, by, note } = request.clone();
        if let Some(why) = incident.refuses(state) {
            return Err(Failure(Exit::Problem, why));
        }
        incident.change_state(StateChange::new(Timestamp::now(), state, by, note));
        Ok((Record::Incident(Box::new(incident.clone())), incident))
    })
}
