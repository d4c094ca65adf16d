//! `gtrace top`: processes that use a GPU, events, counters, sources, GPUs and driver calls, live on a terminal; with
//! `--once` as one snapshot.

mod counters;
mod feed;
mod model;
mod process_lines;
mod process_view;
mod processes;
mod view;

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, Sender};

use gtrace_event::{Event, Timestamp};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use serde_json::json;

use self::feed::{Readings, Update};
use self::model::{Model, Wish};
use super::shared::{self, Exit, Place};
use crate::api::{AckRequest, Health};
use crate::client::{Client, ClientError};
use crate::render::{ColorChoice, Style};

/// Events in a snapshot.
const SNAPSHOT_EVENTS: usize = 20;

/// Live view of processes that use a GPU, of events, counters, sources, GPUs and driver calls.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Print one snapshot and end.
    #[arg(long)]
    pub once: bool,
    /// The snapshot as one JSON object: status, gpus, processes, calls, events, counters.
    #[arg(long, requires = "once")]
    pub json: bool,
    /// What processes are sorted by.
    #[arg(long, value_enum, default_value_t, value_name = "COLUMN")]
    pub sort: processes::Sort,
    /// Only processes whose name, number, container, control group or device has these words.
    #[arg(
        long,
        default_value = "",
        hide_default_value = true,
        value_name = "WORDS"
    )]
    pub filter: String,
    /// Where daemon and store are.
    #[command(flatten)]
    pub place: Place,
    /// When to use colours in a snapshot.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColorChoice,
}

/// Runs the command.
///
/// # Errors
///
/// What the terminal or standard output says, a closed pipe aside.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if args.once {
        return once(&args).map(Into::into);
    }
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        shared::say("top needs a terminal; use --once, or --once --json, for a snapshot");
        return Ok(Exit::Usage.into());
    }
    let client = args.place.reading_client();
    let (updates, inbox) = mpsc::channel();
    feed::start(&client, &updates)?;
    // Restores the terminal on a panic too.
    let mut terminal = ratatui::try_init()?;
    let mut model = Model::of(args.sort, &args.filter);
    let client = args.place.client();
    let ended = show(&mut terminal, &mut model, &inbox, &updates, &client);
    ratatui::try_restore()?;
    ended?;
    Ok(Exit::Fine.into())
}

fn show(
    terminal: &mut DefaultTerminal,
    model: &mut Model,
    inbox: &Receiver<Update>,
    updates: &Sender<Update>,
    client: &Client,
) -> anyhow::Result<()> {
    loop {
        let zone = jiff::tz::TimeZone::system();
        terminal.draw(|frame| view::draw(frame, model, Timestamp::now(), &zone))?;
        // All that has come is applied before the next drawing, so that a storm stays readable.
        let Ok(first) = inbox.recv() else {
            return Ok(());
        };
        let mut next = Some(first);
        while let Some(update) = next {
            match update {
                Update::Key(key) if quits(key, model) => return Ok(()),
                Update::Quit => return Ok(()),
                Update::Key(key) => {
                    if let Some(wish) = model.key(key) {
                        fulfil(wish, client, updates)?;
                    }
                }
                other => model.apply(other),
            }
            next = inbox.try_recv().ok();
        }
    }
}

fn quits(key: KeyEvent, model: &Model) -> bool {
    let control_c = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    let q = key.code == KeyCode::Char('q') && !model.is_typing();
    key.kind != KeyEventKind::Release && (control_c || q)
}

/// Does what the user asked for, on a thread of its own: the daemon may take its time.
fn fulfil(wish: Wish, client: &Client, updates: &Sender<Update>) -> std::io::Result<()> {
    let Wish::Ack { id, note } = wish;
    let (client, updates) = (client.clone(), updates.clone());
    let acknowledge = move || {
        let by = super::ack::user_name().unwrap_or_else(|| "unknown".to_owned());
        let request = AckRequest { by, note };
        let answer: Result<Event, ClientError> =
            client.post(&format!("/api/v1/events/{id}/ack"), &request);
        let told = match answer {
            Ok(_) => format!("acknowledged {id}"),
            Err(error) => format!("not acknowledged: {error}"),
        };
        // The view may have ended meanwhile.
        let _ = updates.send(Update::Note(told));
    };
    std::thread::Builder::new()
        .name("ack".into())
        .spawn(acknowledge)
        .map(drop)
}

fn once(args: &Args) -> anyhow::Result<Exit> {
    let client = args.place.reading_client();
    let readings = match Readings::take(&client) {
        Ok(readings) => readings,
        Err(error) => {
            shared::say(&error.to_string());
            return Ok(Exit::NotPossible);
        }
    };
    let events = client.get(&format!("/api/v1/events?limit={SNAPSHOT_EVENTS}"));
    // A store that cannot be read is told by the status.
    let events: Vec<Event> = events.unwrap_or_default();
    let Readings {
        status,
        gpus,
        calls,
        counters,
        ..
    } = &readings;
    let mut shown = readings.processes.clone();
    shown.retain(|process| processes::fits(process, &args.filter));
    processes::sort_once(&mut shown, args.sort);
    for layer in shown
        .iter_mut()
        .flat_map(|row| [&mut row.api, &mut row.driver])
    {
        layer.iter_mut().for_each(|layer| layer.buckets.clear());
    }
    let text = if args.json {
        shared::json_line(&json!({
            "status": status, "gpus": gpus, "processes": shown, "calls": calls, "events": events,
            "counters": counters.to_json(),
        }))?
    } else {
        let style = Style::of_stdout(args.color);
        let health = Health::of(status);
        let now = Timestamp::now();
        let mut text = super::status::running(status, &health, &events, &style, now);
        for (title, lines) in [
            ("GPUS", view::gpu_lines(gpus)),
            ("PROCESSES", process_lines::lines_once(&shown)),
            ("DRIVER CALLS", view::call_lines(calls)),
            ("COUNTERS", view::counter_lines(counters)),
        ] {
            text.push_str(&format!("\n{title}\n"));
            for line in lines {
                text.push_str(line.trim_end());
                text.push('\n');
            }
        }
        text
    };
    shared::print(&text)?;
    Ok(Exit::Fine)
}
