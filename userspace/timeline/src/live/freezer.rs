//! The last calls of programs that are being traced go to the daemon when an incident opens, as evidence of it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use gtrace_api::PublishedIncident;
use gtrace_api::client::{Client, ClientError, target};
use gtrace_event::{Incident, IncidentId, IncidentState, Timestamp};
use gtrace_perfetto::Writer;

use crate::{Clock, Host, Recorded, Spool};

/// How long calls are waited for that come after an incident has opened. The daemon records for longer.
const AFTER: Duration = Duration::from_secs(5);
/// Between two attempts to reach the daemon.
const AGAIN: Duration = Duration::from_secs(2);
/// Incidents whose calls are kept: a storm of them ends no program.
const MOST: usize = 32;
/// Newest calls that are sent.
const CALLS: u64 = 300_000;
/// How often a file is sent that the daemon does not take, as it has no room just then.
const ATTEMPTS: u32 = 5;
/// Numbers of traces that are added to others begin here.
const NUMBERS: u32 = 16;

/// See the module.
pub struct Freezer {
    client: Client,
    /// Of the program.
    pid: u32,
    opened: Receiver<IncidentId>,
    stop: Arc<AtomicBool>,
    /// Incidents whose calls have not been sent, and since when.
    waiting: Vec<(IncidentId, Instant)>,
    sending: Vec<JoinHandle<Result<(), String>>>,
    say: fn(&str),
}

impl Freezer {
    /// Waits for incidents of the daemon of `client`, which may come and go, for the calls of `pid` and of what it
    /// starts. `say` gets a line when calls were sent.
    ///
    /// # Errors
    ///
    /// A thread cannot be started.
    pub fn watch(client: Client, pid: u32, say: fn(&str)) -> anyhow::Result<Self> {
        let (sender, opened) = mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let (of_thread, stopping) = (client.clone(), Arc::clone(&stop));
        std::thread::Builder::new()
            .name("incidents".into())
            .spawn(move || follow(&of_thread, &sender, &stopping, say))
            .context("a thread cannot be started")?;
        Ok(Self {
            client,
            pid,
            opened,
            stop,
            waiting: Vec::new(),
            sending: Vec::new(),
            say,
        })
    }

    /// Whether calls are to be sent now. `ends`: there will be none after these.
    pub(crate) fn is_due(&mut self, ends: bool) -> bool {
        let opened = self.opened.try_iter();
        self.waiting.extend(opened.map(|id| (id, Instant::now())));
        self.waiting
            .iter()
            .any(|(_, since)| ends || since.elapsed() >= AFTER)
    }

    /// Sends the calls that are kept, as evidence of every incident that waits for them.
    pub(crate) fn send(&mut self, recorded: &Recorded<'_>, spool: &mut Spool, clock: &Clock) {
        let waiting = std::mem::take(&mut self.waiting);
        let trace = match trace(self.pid, recorded, spool, clock) {
            Ok(trace) => Arc::new(trace),
            Err(error) => {
                return (self.say)(&format!("an incident has no calls: {error:#}"));
            }
        };
        for (id, _) in waiting {
            let (client, trace) = (self.client.clone(), Arc::clone(&trace));
            let target = format!(
                "/api/v1/incidents/{id}/evidence/calls-{}.pftrace.zst",
                self.pid
            );
            let say = self.say;
            let send = move || {
                post(&client, &target, &trace)?;
                say(&format!("the last calls are kept with incident {id}"));
                Ok(())
            };
            match std::thread::Builder::new().spawn(send) {
                Ok(thread) => self.sending.push(thread),
                Err(error) => (self.say)(&format!("incident {id} has no calls: {error}")),
            }
        }
    }

    /// Ends, once everything was sent.
    pub(crate) fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.sending {
            match thread.join() {
                Ok(Ok(())) => {}
                Ok(Err(error)) => (self.say)(&format!("an incident has no calls: {error}")),
                Err(_) => (self.say)("an incident has no calls: a thread panicked"),
            }
        }
    }
}

/// The newest calls as a trace that can be added to another.
fn trace(
    pid: u32,
    recorded: &Recorded<'_>,
    spool: &mut Spool,
    clock: &Clock,
) -> anyhow::Result<Vec<u8>> {
    let out = zstd::Encoder::new(Vec::new(), 1)?;
    let number = NUMBERS.saturating_add(pid);
    let writer = Writer::beside_others(out, clock.clocks(), number)?;
    let host = Host::default();
    let out = crate::write_to(writer, recorded, (spool, CALLS), clock, &host)?;
    Ok(out.finish()?)
}

/// Sends a file; a daemon that has just opened the incident may take it a second later.
fn post(client: &Client, target: &str, bytes: &[u8]) -> Result<(), String> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        match client.post_file(target, bytes) {
            Ok(()) => return Ok(()),
            Err(error) if attempt == ATTEMPTS => return Err(error.to_string()),
            Err(error @ ClientError::Forbidden { .. }) => return Err(error.to_string()),
            Err(_) => std::thread::sleep(Duration::from_secs(1)),
        }
    }
}

/// Reports every incident that opens, until somebody asks for the end.
fn follow(client: &Client, opened: &Sender<IncidentId>, stop: &AtomicBool, say: fn(&str)) {
    let begun = Timestamp::now();
    let mut seen = BTreeSet::new();
    while !stop.load(Ordering::Relaxed) {
        let stream = client.stream("/api/v1/incidents/stream", None);
        let mut stream = match stream {
            Ok(stream) => stream,
            Err(error @ ClientError::Forbidden { .. }) => {
                return say(&format!("incidents will have no calls: {error}"));
            }
            Err(_) => {
                std::thread::sleep(AGAIN);
                continue;
            }
        };
        let mut take = |incident: Incident| {
            let is_new = incident.state == IncidentState::Open && incident.opened >= begun;
            if is_new && seen.len() < MOST && seen.insert(incident.id) {
                // An error means that nobody waits any longer.
                let _ = opened.send(incident.id);
            }
        };
        // Those of the time before the stream began.
        let missed = target("/api/v1/incidents", &[("since", &begun.to_string())]);
        let missed = client.get::<Vec<Incident>>(&missed);
        missed.into_iter().flatten().for_each(&mut take);
        while let Ok(Some(message)) = stream.next_message() {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            if let Ok(published) = serde_json::from_str::<PublishedIncident>(&message.data) {
                take(published.incident);
            }
        }
        std::thread::sleep(AGAIN);
    }
}
