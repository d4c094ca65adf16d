//! Threads that ask the daemon and listen to keyboard and signals, for one inbox.

use std::io;
use std::path::Path;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use gtrace_api::client::{Client, ClientError};
use gtrace_event::Event;
use gtrace_top::{Counters, HostReading, Readings, Update};
use ratatui::crossterm::event;

use crate::cli::shared;
use crate::cli::signals::on_signals;

/// Between two readings of status, GPUs, calls and counters.
const INTERVAL: Duration = Duration::from_secs(1);
/// History shown at start.
const HISTORY: &str = "/api/v1/events/stream?since=7d&limit=500";

/// Asks the daemon for everything that is read once a second.
pub(super) fn read(client: &Client) -> Result<Readings, ClientError> {
    Ok(Readings {
        status: client.get("/api/v1/status")?,
        gpus: client.get("/api/v1/gpus")?,
        calls: client.get("/api/v1/histograms")?,
        counters: Counters::parse(&client.get_text("/metrics")?),
        // A daemon of an older version has neither.
        processes: client
            .get("/api/v1/processes?buckets=true")
            .unwrap_or_default(),
        at: Instant::now(),
        host: HostReading::take(Path::new("/proc")),
        cuda: client.get("/api/v1/cuda").unwrap_or_default(),
    })
}

/// Starts every thread; each ends when nobody reads the inbox any more.
///
/// # Errors
///
/// The system's error if a thread or a signal cannot be had.
pub(super) fn start(client: &Client, updates: &Sender<Update>) -> io::Result<()> {
    let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
        thread::Builder::new()
            .name(name.into())
            .spawn(work)
            .map(drop)
    };
    let (reader, to) = (client.clone(), updates.clone());
    spawn("stream", Box::new(move || follow(&reader, &to)))?;
    let (reader, to) = (client.clone(), updates.clone());
    spawn("readings", Box::new(move || read_on(&reader, &to)))?;
    let to = updates.clone();
    spawn("keys", Box::new(move || listen(&to)))?;
    let to = updates.clone();
    on_signals(move || {
        let _ = to.send(Update::Quit);
    })
}

/// What is shown of a message; the rest may be of another version.
#[derive(serde::Deserialize)]
struct Published {
    event: Box<Event>,
}

fn follow(client: &Client, updates: &Sender<Update>) {
    let mut last_id: Option<String> = None;
    loop {
        if let Ok(mut stream) = client.stream(HISTORY, last_id.as_deref()) {
            while let Ok(Some(message)) = stream.next_message() {
                let Ok(Published { event }) = serde_json::from_str(&message.data) else {
                    continue;
                };
                if updates.send(Update::Event(event)).is_err() {
                    return;
                }
            }
            last_id = stream.last_id().map(str::to_owned).or(last_id);
        }
        shared::pause();
    }
}

fn read_on(client: &Client, updates: &Sender<Update>) {
    loop {
        let update = match read(client) {
            Ok(readings) => Update::Readings(Box::new(readings)),
            Err(error) => Update::Down(error.to_string()),
        };
        if updates.send(update).is_err() {
            return;
        }
        thread::sleep(INTERVAL);
    }
}

fn listen(updates: &Sender<Update>) {
    loop {
        let update = match event::read() {
            Ok(event::Event::Key(key)) => Update::Key(key),
            Ok(event::Event::Resize(..)) => Update::Resized,
            Ok(_) => continue,
            // The terminal has gone.
            Err(_) => Update::Quit,
        };
        let last = matches!(update, Update::Quit);
        if updates.send(update).is_err() || last {
            return;
        }
    }
}
