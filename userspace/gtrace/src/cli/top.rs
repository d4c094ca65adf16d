//! `gtrace top`: GPUs, the host, processes that use a GPU, events, counters, sources and driver calls, live on a
//! terminal; with `--once` as one snapshot.

mod feed;

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, Sender};

use gtrace_api::AckRequest;
use gtrace_api::client::{Client, ClientError};
use gtrace_event::{Event, Timestamp};
use gtrace_top::{Model, Readings, Sort, Update, Wish};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use serde_json::json;

use super::other_host::DaemonPlace;
use super::shared::{self, Exit, Failure};
use crate::render::{ColorChoice, Style};

/// Events in a snapshot.
const SNAPSHOT_EVENTS: usize = 20;

/// Live view of GPUs, the host, processes that use a GPU, events, counters, sources and driver calls.
///
/// `?` lists the keys. Where the locale (LC_ALL, LC_CTYPE, LANG) is not UTF-8, it draws in ASCII; where TERM is `dumb`, use
/// --once.
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
    pub sort: Sort,
    /// Only processes whose name, number, container, control group or device has these words.
    #[arg(
        long,
        default_value = "",
        hide_default_value = true,
        value_name = "WORDS"
    )]
    pub filter: String,
    /// Which daemon.
    #[command(flatten)]
    pub place: DaemonPlace,
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
        let why = "top needs a terminal; use --once, or --once --json, for a snapshot";
        return Err(Failure::usage(why).into());
    }
    let variable = |name: &str| std::env::var(name).ok();
    let terminal = variable("TERM").unwrap_or_default();
    if terminal.is_empty() || terminal == "dumb" {
        shared::say(&format!(
            "top moves the cursor, and TERM={terminal} says that this terminal cannot; use --once for a snapshot, or set \
             TERM to what the terminal is (such as xterm)"
        ));
        return Ok(Exit::Usage.into());
    }
    let ascii = !gtrace_top::shows_utf8(variable);
    let instance = args.place.resolve()?;
    let client = instance.reading_client();
    let (updates, inbox) = mpsc::channel();
    feed::start(&client, &updates)?;
    // Restores the terminal on a panic too.
    let mut terminal = ratatui::try_init()?;
    let mut model = Model::of(args.sort, &args.filter);
    let client = instance.client();
    let screen = Screen {
        terminal: &mut terminal,
        ascii,
    };
    let ended = show(screen, &mut model, &inbox, &updates, &client);
    ratatui::try_restore()?;
    ended?;
    Ok(Exit::Success.into())
}

struct Screen<'a> {
    terminal: &'a mut DefaultTerminal,
    /// The terminal shows no UTF-8.
    ascii: bool,
}

fn show(
    screen: Screen<'_>,
    model: &mut Model,
    inbox: &Receiver<Update>,
    updates: &Sender<Update>,
    client: &Client,
) -> anyhow::Result<()> {
    loop {
        let zone = jiff::tz::TimeZone::system();
        screen.terminal.draw(|frame| {
            gtrace_top::draw(frame, model, Timestamp::now(), &zone);
            if screen.ascii {
                gtrace_top::to_ascii(frame.buffer_mut());
            }
        })?;
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
        let by = super::ack::user_name();
        let request = AckRequest { by, note };
        let answer: Result<Event, ClientError> =
            client.post(&format!("/api/v1/events/{id}/ack"), &request);
        let note = match answer {
            Ok(_) => format!("acknowledged {id}"),
            Err(error) => format!("not acknowledged: {error}"),
        };
        // The view may have ended meanwhile.
        let _ = updates.send(Update::Note(note));
    };
    std::thread::Builder::new()
        .name("ack".into())
        .spawn(acknowledge)
        .map(drop)
}

fn once(args: &Args) -> anyhow::Result<Exit> {
    let instance = args.place.resolve()?;
    let client = instance.reading_client();
    let readings = feed::read(&client).map_err(Failure::not_possible)?;
    instance.say_daemon(&client);
    let events = client.get(&format!("/api/v1/events?limit={SNAPSHOT_EVENTS}"));
    // A store that cannot be read is reported by the status.
    let events: Vec<Event> = events.unwrap_or_default();
    let Readings {
        status,
        gpus,
        calls,
        counters,
        ..
    } = &readings;
    let shown = gtrace_top::chosen(&readings, &args.filter, args.sort);
    let text = if args.json {
        shared::json_line(&json!({
            "status": status, "gpus": gpus, "processes": shown, "calls": calls, "events": events,
            "counters": counters.to_json(),
        }))?
    } else {
        let style = Style::of_stdout(args.color);
        let now = Timestamp::now();
        crate::render::daemon_status::running(status, &events, &style, now)
            + &gtrace_top::snapshot(&readings, &shown)
    };
    shared::print(&text)?;
    Ok(Exit::Success)
}
