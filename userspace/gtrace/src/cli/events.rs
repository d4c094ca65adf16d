//! `gtrace events`: what the store has, and with `--follow` what happens.

mod show;

use std::process::ExitCode;

use gtrace_api::client::{self, Client, ClientError, EventStream};
use gtrace_api::{Gap, Published, SCHEMA_VERSION, ShownProvisional};
use gtrace_event::{Event, EventChange, Kind, Provenance, Severity, Timestamp};
use gtrace_http::{EventQuery, GpuSelector};
use serde::de::Error as _;
use serde_json::value::RawValue;

use super::other_host::ReadPlace;
use super::shared::{self, Exit, Failure, Instance};
use super::signals::end_cleanly_on_signals;
use crate::render::{self, ColorChoice, Style};

/// Show events: from the store, or with --follow as they happen. `events show ID` has all of one.
#[derive(Clone, Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,
    /// Events that first happened at or after this time: an age (30s, 30m, 1h, 2d, 1w), RFC 3339, or local time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = shared::parse_local_time)]
    pub since: Option<Timestamp>,
    /// Events that first happened before this time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = shared::parse_end_time, conflicts_with = "follow")]
    until: Option<shared::End>,
    /// Kinds, separated by commas; may be repeated.
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub kind: Vec<Kind>,
    /// A GPU: PCI address or its beginning, index, or UUID or its beginning.
    #[arg(long, value_name = "GPU")]
    pub gpu: Option<GpuSelector>,
    /// Lowest severity: info, warning, critical or fatal.
    #[arg(long, value_name = "SEVERITY")]
    pub severity: Option<Severity>,
    /// Who wrote the text: kernel, userspace, injected or unknown.
    #[arg(long, value_name = "WHO", value_parser = gtrace_http::parse_provenance)]
    pub provenance: Option<Provenance>,
    /// At most so many events, the newest that match.
    #[arg(long, value_name = "N", value_parser = parse_limit)]
    pub limit: Option<usize>,
    /// Only events that nobody acknowledged.
    #[arg(long)]
    pub unacked: bool,
    /// Show events as they happen; with --since after those that did.
    #[arg(long, short)]
    pub follow: bool,
    /// One event as JSON a line; with --follow again on each change, with its revision.
    #[arg(long)]
    pub json: bool,
    /// Check the store's hash chain instead, all of it; exit 1 if it is broken.
    #[arg(long, conflicts_with_all = ["follow", "since", "until", "kind", "gpu", "severity", "provenance", "limit", "unacked"])]
    pub verify: bool,
    /// Where daemon and store are.
    #[command(flatten)]
    pub place: ReadPlace,
    /// When to use colours.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColorChoice,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum What {
    Show(show::Args),
}

fn parse_limit(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|limit| *limit > 0)
        .ok_or_else(|| "use 1 or more".to_owned())
}

impl Args {
    fn query(&self) -> EventQuery {
        EventQuery {
            since: self.since,
            until: self.until.map(|end| end.after(self.since)),
            kinds: self.kind.clone(),
            gpu: self.gpu.clone(),
            severity: self.severity,
            provenance: self.provenance,
            limit: self.limit,
            unacked: self.unacked,
        }
    }
}

/// Runs the command.
///
/// # Errors
///
/// Why it is not done; what standard output says, a closed pipe aside.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if let Some(What::Show(one)) = &args.what {
        return show::run(one);
    }
    let EventQuery { since, until, .. } = args.query();
    shared::check_time(since, until)?;
    let instance = args.place.resolve()?;
    let exit = if args.verify {
        verify(&args, &instance)?
    } else if args.follow {
        follow(&args, &instance)?
    } else {
        list(&args, &instance)?
    };
    Ok(exit.into())
}

fn list(args: &Args, instance: &Instance) -> anyhow::Result<Exit> {
    let query = args.query();
    let events = read(instance, &query)?;
    let style = Style::of_stdout(args.color);
    let now = Timestamp::now();
    for event in &events {
        if !shared::show(args.json, event, || render::event(event, &style, now))? {
            return Ok(Exit::Success);
        }
    }
    if events.is_empty() && !args.json {
        shared::say(match args.since {
            None => "no events match",
            Some(_) => {
                "no events match: --since goes by when an event first happened; `gtrace incidents` with --since has what \
                 began before and goes on"
            }
        });
    }
    instance.say_unstored();
    Ok(Exit::Success)
}

/// Reads the store, or asks the daemon where the store cannot be read or is not known.
pub(super) fn read(instance: &Instance, query: &EventQuery) -> Result<Vec<Event>, Failure> {
    let from_store = instance.store().and_then(|store| {
        let read = instance.open_store(store).and_then(|archive| {
            let events = archive.query(query)?;
            Ok((events, archive.unreadable()))
        });
        let (events, unreadable) = read.map_err(|error| error.to_string())?;
        instance.say_store(store);
        if unreadable > 0 {
            say!("{unreadable} records were written by a newer gtrace and are not shown");
        }
        Ok(events)
    });
    let store_error = match from_store {
        Ok(events) => return Ok(events),
        Err(error) => error,
    };
    if instance.store().is_ok() && !instance.is_together() {
        return Err(Failure::not_possible(format!(
            "cannot read the store: {store_error}"
        )));
    }
    let client = instance.reading_client();
    match client.get(&client::target("/api/v1/events", &query.to_pairs())) {
        Ok(events) => {
            instance.say_daemon(&client);
            Ok(events)
        }
        Err(error) if instance.is_remote() => Err(error.into()),
        Err(error) => Err(Failure::not_possible(format!(
            "cannot read the store: {store_error}; cannot ask the daemon either: {error}"
        ))),
    }
}

fn verify(args: &Args, instance: &Instance) -> anyhow::Result<Exit> {
    let store = instance.store().map_err(Failure::usage)?;
    let report = instance.open_store(store).and_then(|a| a.verify());
    let failed = |error| Failure::not_possible(format!("cannot check the store: {error}"));
    let report = report.map_err(failed)?;
    instance.say_store(store);
    let fault = report.fault.as_ref().map(ToString::to_string);
    let found = serde_json::json!({
        "ok": report.is_ok(),
        "days": report.days,
        "records": report.records,
        "removed": report.removed,
        "first_seq": report.first_seq,
        "last_seq": report.last_seq,
        "last_hash": report.last_hash.to_string(),
        "fault": fault,
    });
    shared::show(args.json, &found, || {
        let end = format!(
            "{} records, {} to {}, {} removed as records of the chain say, last hash {}",
            report.records, report.first_seq, report.last_seq, report.removed, report.last_hash
        );
        match &fault {
            None => format!("the chain is whole: {end}\n"),
            Some(fault) => format!("THE CHAIN IS BROKEN: {fault}\ngood up to there: {end}\n"),
        }
    })?;
    Ok(match report.is_ok() {
        true => Exit::Success,
        false => Exit::Problem,
    })
}

fn follow(args: &Args, instance: &Instance) -> anyhow::Result<Exit> {
    end_cleanly_on_signals()?;
    let client = instance.reading_client();
    let target = client::target("/api/v1/events/stream", &args.query().to_pairs());
    let mut printer = Printer {
        json: args.json,
        style: Style::of_stdout(args.color),
        shown: ShownProvisional::default(),
    };
    let mut reported = false;
    let mut last_id: Option<String> = None;
    loop {
        match open(&client, &target, last_id.as_deref()) {
            Ok(mut stream) => {
                if reported {
                    shared::say(&format!("connected to the daemon on {}", client.endpoint()));
                } else {
                    instance.say_daemon(&client);
                }
                if !printer.print_all(&mut stream)? {
                    return Ok(Exit::Success);
                }
                last_id = stream.last_id().map(str::to_owned).or(last_id);
                shared::say("the daemon went away; waiting for it (end with Ctrl-C)");
                reported = true;
            }
            Err(Trouble::Wait(why)) if !reported => {
                shared::say(&format!("{why}; waiting (end with Ctrl-C)"));
                reported = true;
            }
            Err(Trouble::Wait(_)) => {}
            Err(Trouble::GiveUp(why)) => {
                shared::say(&why);
                return Ok(Exit::NotPossible);
            }
        }
        shared::pause();
    }
}

enum Trouble {
    /// It may pass.
    Wait(String),
    GiveUp(String),
}

fn open(client: &Client, target: &str, last_id: Option<&str>) -> Result<EventStream, Trouble> {
    client
        .stream(target, last_id)
        .map_err(|error| match &error {
            ClientError::NoDaemon { .. } | ClientError::Broken(_) => {
                Trouble::Wait(error.to_string())
            }
            ClientError::Refused {
                status: 429 | 503, ..
            } => Trouble::Wait(error.to_string()),
            ClientError::Forbidden { .. }
            | ClientError::Refused { .. }
            | ClientError::Tls(_)
            | ClientError::UnexpectedResponse(_) => Trouble::GiveUp(error.to_string()),
        })
}

struct Printer {
    json: bool,
    style: Style,
    shown: ShownProvisional,
}

impl Printer {
    /// Prints until the stream ends (true) or nobody reads the output any more (false).
    fn print_all(&mut self, stream: &mut EventStream) -> anyhow::Result<bool> {
        // A broken connection and an orderly end are the same to a person who waits for events.
        while let Ok(Some(message)) = stream.next_message() {
            let text = match message.event.as_str() {
                "gap" => {
                    say_gap(&message.data);
                    continue;
                }
                "event" | "amendment" | "ack" | "provisional" => self.text(&message.data),
                _ => continue,
            };
            if !shared::print(&text)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn text(&mut self, data: &str) -> String {
        let text = match self.json {
            true => json_of(data),
            false => published_of(data).map(|published| self.text_of(&published)),
        };
        text.unwrap_or_else(|error| {
            shared::say(&format!(
                "a record of another version of gtrace is not shown: {error}"
            ));
            String::new()
        })
    }

    fn text_of(&mut self, published: &Published) -> String {
        if !self.shown.is_new(published) {
            return String::new();
        }
        let event = &published.event;
        let text = match &published.change {
            None => render::event(event, &self.style, Timestamp::now()),
            Some(EventChange::Amendment(change)) => render::amendment(event, change, &self.style),
            Some(EventChange::Ack(ack)) => render::ack(event, ack, &self.style),
        };
        match published.provisional {
            true => format!("{}  (the store has not taken it yet)\n", text.trim_end()),
            false => text,
        }
    }
}

/// Of this version alone: a change by the first one would look like a new event.
fn published_of(data: &str) -> serde_json::Result<Published> {
    let published: Published = serde_json::from_str(data)?;
    match published.schema_version {
        SCHEMA_VERSION => Ok(published),
        other => Err(serde_json::Error::custom(format!(
            "its schema_version is {other} and not {SCHEMA_VERSION}"
        ))),
    }
}

/// The event as it came, of whatever version the daemon is. One that is not stored yet is marked so, and comes again once
/// it is stored.
fn json_of(data: &str) -> serde_json::Result<String> {
    #[derive(serde::Deserialize)]
    struct Parts<'a> {
        #[serde(borrow)]
        event: &'a RawValue,
        #[serde(default)]
        provisional: bool,
    }
    let Parts { event, provisional } = serde_json::from_str(data)?;
    let event = event.get();
    Ok(match (provisional, event.strip_suffix('}')) {
        (true, Some(event)) => format!("{event},\"provisional\":true}}\n"),
        _ => format!("{event}\n"),
    })
}

fn say_gap(data: &str) {
    let gap = serde_json::from_str(data);
    let Gap { missed, reason } = gap.unwrap_or(Gap {
        missed: None,
        reason: "reason not given".to_owned(),
    });
    let count = missed.map_or_else(|| "some".to_owned(), |n| n.to_string());
    shared::say(&format!(
        "{count} records are missing here: {}",
        render::clean(&reason)
    ));
}

#[cfg(test)]
mod tests {
    use gtrace_event::{Occurrence, WitnessName};

    use super::*;

    #[test]
    fn json_of_an_event_is_as_it_came() {
        let of = |data| json_of(data).unwrap();
        let stored = r#"{"schema_version":9,"id":"x","event":{"id":"1","new":[2, "}"]},"seq":3}"#;
        assert_eq!(of(stored), "{\"id\":\"1\",\"new\":[2, \"}\"]}\n");
        let waits = r#"{"provisional":true,"event":{"id":"1"}}"#;
        assert_eq!(of(waits), "{\"id\":\"1\",\"provisional\":true}\n");
        assert!(json_of(r#"{"incident":{}}"#).is_err());
        assert!(json_of("{\"event\":{\"id\":\"\u{1b}[2J\"}}").is_err());
    }

    #[test]
    fn a_change_that_an_older_daemon_sends_is_no_new_event() {
        let occurrence = Occurrence::new(Kind::Xid, Severity::Fatal, "NVRM: Xid 79");
        let event = Event::seen(Timestamp::UNIX_EPOCH, WitnessName::Kmsg, 1, occurrence);
        let mut sent = serde_json::to_value(Published::of_history(event)).unwrap();
        assert!(published_of(&sent.to_string()).is_ok());
        sent["schema_version"] = 1.into();
        sent["record"] = serde_json::json!({"record": "amendment", "revision": 1});
        let refused = published_of(&sent.to_string()).unwrap_err().to_string();
        assert!(refused.contains("schema_version is 1"), "{refused}");
    }
}
