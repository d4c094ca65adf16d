//! `gtrace ack`: somebody took note of an event. Adds a record; nothing is deleted.

use std::process::ExitCode;
use std::time::Duration;

use gtrace_api::AckRequest;
use gtrace_api::client::{Client, ClientError, target};
use gtrace_event::{Ack, Event, Record, Timestamp};
use gtrace_http::{Archive, EventQuery, MAX_LIMIT};
use gtrace_store::{Options, Store, StoreError};
use nix::unistd::{Uid, User};

use super::ids::{find, no_event};
use super::other_host::ReadPlace;
use super::shared::{self, Exit, Failure, Instance};
use crate::render::{self, ColorChoice, Style};

/// How long another writer of the store is waited for: a command as this one.
const PATIENCE: Duration = Duration::from_secs(5);

/// Acknowledge an event.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The event's id, or at least 6 characters of its beginning or end.
    pub event: String,
    /// Who acknowledges; by default the user who runs this, with sudo the one who ran sudo.
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// Why, or what was done.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub note: String,
    /// Print the event as JSON.
    #[arg(long)]
    pub json: bool,
    /// Where daemon and store are.
    #[command(flatten)]
    pub place: ReadPlace,
    /// When to use colours.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColorChoice,
}

/// Runs the command.
///
/// # Errors
///
/// Why it is not done; what standard output says, a closed pipe aside.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let instance = args.place.resolve()?;
    let event = acknowledge(&args, &instance)?;
    let text = match event.acks.last() {
        Some(ack) if !args.json => render::ack(&event, ack, &Style::of_stdout(args.color)),
        _ => shared::json_line(&event)?,
    };
    shared::print(&text)?;
    Ok(Exit::Success.into())
}

fn acknowledge(args: &Args, instance: &Instance) -> Result<Event, Failure> {
    let by = named(args.by.clone())?;
    let done = instance.change(
        |client| by_daemon(args, client, &by),
        || by_hand(args, instance, by.clone()).map(Ok),
    );
    done.flatten()
        .map_err(|why| no_event(why, &args.event, instance))
}

/// Whom `--by` names, or else who runs this.
pub(super) fn named(by: Option<String>) -> Result<String, Failure> {
    let by = by.unwrap_or_else(user_name);
    match by.trim().is_empty() {
        true => Err(Failure::usage("--by must not be empty")),
        false => Ok(by),
    }
}

/// Who runs this, for the ledger: the person behind sudo, else the user; by number where nothing has a
/// name, as in many containers.
pub(super) fn user_name() -> String {
    let named = ["SUDO_USER", "USER", "LOGNAME"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    named.unwrap_or_else(|| {
        let uid = Uid::current();
        let user = User::from_uid(uid).ok().flatten();
        user.map_or_else(|| format!("uid {uid}"), |user| user.name)
    })
}

fn by_daemon(
    args: &Args,
    client: &Client,
    by: &str,
) -> Result<Result<Event, Failure>, ClientError> {
    let id = match args.event.parse() {
        Ok(id) => id,
        Err(_) => {
            let limit = [("limit", MAX_LIMIT.to_string())];
            let events: Vec<Event> = client.get(&target("/api/v1/events", &limit))?;
            match find("event", &args.event, events.iter().map(|event| event.id)) {
                Ok(id) => id,
                Err(failure) => return Ok(Err(failure)),
            }
        }
    };
    let request = AckRequest {
        by: by.to_owned(),
        note: args.note.clone(),
    };
    client
        .post(&format!("/api/v1/events/{id}/ack"), &request)
        .map(Ok)
}

/// No daemon runs.
fn by_hand(args: &Args, instance: &Instance, by: String) -> Result<Event, Failure> {
    append(instance, |archive| {
        let id = match args.event.parse() {
            Ok(id) => id,
            Err(_) => {
                let query = EventQuery {
                    limit: Some(MAX_LIMIT),
                    ..EventQuery::default()
                };
                let events = archive.query(&query).map_err(Failure::not_possible)?;
                find("event", &args.event, events.iter().map(|event| event.id))?
            }
        };
        let found = archive.event(id).map_err(Failure::not_possible)?;
        let mut event =
            found.ok_or_else(|| Failure(Exit::Problem, format!("the store has no event {id}")))?;
        let ack = Ack::new(id, Timestamp::now(), by, args.note.clone());
        event.acks.push(ack.clone());
        Ok((Record::Ack(ack), event))
    })
}

/// Appends the record that `make` makes of the store, as its one writer: what is read stays true until that is written.
pub(super) fn append<T>(
    instance: &Instance,
    make: impl FnOnce(&Archive) -> Result<(Record, T), Failure>,
) -> Result<T, Failure> {
    let path = instance.store().map_err(Failure::not_possible)?;
    // A writer would make one where there is none.
    drop(Archive::open(path).map_err(Failure::not_possible)?);
    let waiting = |error: &StoreError| say!("{error}; waiting for that");
    let store = Store::open_within(path, Options::default(), PATIENCE, waiting);
    let mut store = store.map_err(Failure::not_possible)?;
    if let Some(moved) = store.moved_aside().cloned() {
        // The new file records it, and has nothing that the record could be about.
        store.append(&[], &[]).map_err(Failure::not_possible)?;
        return Err(Failure::not_possible(moved));
    }
    let archive = Archive::open(path).map_err(Failure::not_possible)?;
    let (record, made) = make(&archive)?;
    drop(archive);
    store
        .append(&[record], &[])
        .map_err(Failure::not_possible)?;
    instance.say_store(path);
    Ok(made)
}
