//! `gtrace events`: what the store has, and with `--follow` what happens.

use std::process::ExitCode;

use gtrace_event::{Event, Kind, Provenance, Record, Severity, Timestamp};

use super::shared::{self, Exit, Place};
use crate::api::{EventQuery, Gap, GpuSelector};
use crate::client::{self, Client, ClientError, EventStream};
use crate::hub::Published;
use crate::render::{self, ColorChoice, Style};

/// Show events: from the store, or with --follow as they happen.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Events at or after this time: an age (30s, 30m, 1h, 2d, 1w), RFC 3339, or local time.
    #[arg(long, value_name = "TIME", value_parser = shared::parse_local_time)]
    pub since: Option<Timestamp>,
    /// Events before this time.
    #[arg(long, value_name = "TIME", value_parser = shared::parse_local_time, conflicts_with = "follow")]
    pub until: Option<Timestamp>,
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
    #[arg(long, value_name = "WHO", value_parser = crate::api::parse_provenance)]
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
    /// Check the store's hash chain instead.
    #[arg(long, conflicts_with = "follow")]
    pub verify: bool,
    /// Where daemon and store are.
    #[command(flatten)]
    pub place: Place,
    /// When to use colours.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColorChoice,
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
            until: self.until,
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
/// What standard output says, a closed pipe aside.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let exit = if args.verify {
        verify(&args)?
    } else if args.follow {
        follow(&args)?
    } else {
        list(&args)?
    };
    Ok(exit.into())
}

fn list(args: &Args) -> anyhow::Result<Exit> {
    let query = args.query();
    let Some(events) = read(args, &query) else {
        return Ok(Exit::NotPossible);
    };
    let style = Style::of_stdout(args.color);
    let now = Timestamp::now();
    for event in &events {
        let text = if args.json {
            shared::json_line(event)?
        } else {
            render::event(event, &style, now)
        };
        if !shared::print(&text)? {
            return Ok(Exit::Fine);
        }
    }
    if events.is_empty() && !args.json {
        shared::say("no events match");
    }
    Ok(Exit::Fine)
}

/// Reads the store, or asks the daemon where the store cannot be read.
fn read(args: &Args, query: &EventQuery) -> Option<Vec<Event>> {
    let client = args.place.reading_client();
    let store = shared::open_store(&args.place.store(), &client);
    let from_store = store.and_then(|archive| {
        let events = archive.query(query)?;
        if archive.unreadable() > 0 {
            shared::say(&format!(
                "{} records were written by a newer gtrace and are not shown",
                archive.unreadable()
            ));
        }
        Ok(events)
    });
    let store_error = match from_store {
        Ok(events) => return Some(events),
        Err(error) => error,
    };
    match client.get(&client::target("/api/v1/events", &query.to_pairs())) {
        Ok(events) => Some(events),
        Err(error) => {
            shared::say(&format!("cannot read the store: {store_error}"));
            shared::say(&format!("cannot ask the daemon either: {error}"));
            None
        }
    }
}

fn verify(args: &Args) -> anyhow::Result<Exit> {
    let client = args.place.client();
    let report = shared::open_store(&args.place.store(), &client).and_then(|a| a.verify());
    let report = match report {
        Ok(report) => report,
        Err(error) => {
            shared::say(&format!("cannot check the store: {error}"));
            return Ok(Exit::NotPossible);
        }
    };
    let fault = report.fault.as_ref().map(ToString::to_string);
    let text = if args.json {
        shared::json_line(&serde_json::json!({
            "ok": report.is_ok(),
            "days": report.days,
            "records": report.records,
            "first_seq": report.first_seq,
            "last_seq": report.last_seq,
            "last_hash": report.last_hash.to_string(),
            "fault": fault,
        }))?
    } else {
        let end = format!(
            "{} records in {} days, {} to {}, last hash {}",
            report.records, report.days, report.first_seq, report.last_seq, report.last_hash
        );
        match &fault {
            None => format!("the chain is whole: {end}\n"),
            Some(fault) => format!("THE CHAIN IS BROKEN: {fault}\ngood up to there: {end}\n"),
        }
    };
    shared::print(&text)?;
    Ok(if report.is_ok() {
        Exit::Fine
    } else {
        Exit::Problem
    })
}

fn follow(args: &Args) -> anyhow::Result<Exit> {
    shared::end_cleanly_on_signals()?;
    let client = args.place.reading_client();
    let target = client::target("/api/v1/events/stream", &args.query().to_pairs());
    let printer = Printer {
        json: args.json,
        style: Style::of_stdout(args.color),
    };
    let mut told = false;
    let mut last_id: Option<String> = None;
    loop {
        match open(&client, &target, last_id.as_deref()) {
            Ok(mut stream) => {
                if told {
                    shared::say(&format!("connected to the daemon on {}", client.endpoint()));
                }
                if !printer.print_all(&mut stream)? {
                    return Ok(Exit::Fine);
                }
                last_id = stream.last_id().map(str::to_owned).or(last_id);
                shared::say("the daemon went away; waiting for it (end with Ctrl-C)");
                told = true;
            }
            Err(Trouble::Wait(why)) if !told => {
                shared::say(&format!("{why}; waiting (end with Ctrl-C)"));
                told = true;
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
            | ClientError::Strange(_) => Trouble::GiveUp(error.to_string()),
        })
}

struct Printer {
    json: bool,
    style: Style,
}

impl Printer {
    /// Prints until the stream ends (true) or nobody reads the output any more (false).
    fn print_all(&self, stream: &mut EventStream) -> anyhow::Result<bool> {
        // A broken connection and an orderly end are the same to a person who waits for events.
        while let Ok(Some(message)) = stream.next_message() {
            let text = match message.event.as_str() {
                "gap" => {
                    say_gap(&message.data);
                    continue;
                }
                "event" | "amendment" | "ack" => self.text(&message.data)?,
                _ => continue,
            };
            if !shared::print(&text)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn text(&self, data: &str) -> anyhow::Result<String> {
        let published: Published = match serde_json::from_str(data) {
            Ok(published) => published,
            Err(error) => {
                shared::say(&format!(
                    "a record of another version of gtrace is not shown: {error}"
                ));
                return Ok(String::new());
            }
        };
        let event = &published.event;
        if self.json {
            return shared::json_line(event);
        }
        Ok(match &published.record {
            Record::Event(_) => render::event(event, &self.style, Timestamp::now()),
            Record::Amendment(change) => render::amendment(event, change, &self.style),
            Record::Ack(ack) => render::ack(event, ack, &self.style),
        })
    }
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
