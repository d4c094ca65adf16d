//! What of a host's state its daemon knows and its store does not.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use gtrace_api::client::Client;
use gtrace_devices::GpuInfo;
use gtrace_event::{GpuUsage, ProcessEnds};
use gtrace_fleet::{GpuState, HostState};
use gtrace_profile::DailyCalls;

use crate::session::gpu_state;
use crate::turn::Turn;

/// Asks the daemon in a thread of its own: one that hangs keeps no state from being sent.
pub struct DaemonState {
    known: Arc<Mutex<Known>>,
    ask: SyncSender<()>,
}

/// What the daemon said last.
#[derive(Default)]
struct Known {
    driver: Option<String>,
    gpus: Vec<GpuState>,
    /// Totals that no state has had.
    usage: Option<(Vec<GpuUsage>, Vec<ProcessEnds>)>,
    latency: Option<Vec<DailyCalls>>,
}

impl DaemonState {
    /// Starts the thread, which ends when this is dropped. It calls `changed` once there is something new for a state.
    ///
    /// # Errors
    ///
    /// That there is no thread.
    pub fn start(daemon: Client, changed: impl Fn() + Send + 'static) -> io::Result<Self> {
        let known = Arc::<Mutex<Known>>::default();
        let (ask, asked) = sync_channel(1);
        // The first state finds something.
        let _ = ask.try_send(());
        let of_thread = Arc::clone(&known);
        std::thread::Builder::new()
            .name("gtrace-state".to_owned())
            .spawn(move || answer(&daemon, &of_thread, &asked, changed))?;
        Ok(Self { known, ask })
    }

    /// Adds what the daemon said last, totals once, and has it asked again.
    pub fn add_to(&self, state: &mut HostState) {
        // Where the thread has something to do already, that will be as new.
        let _ = self.ask.try_send(());
        let mut known = lock(&self.known);
        state.driver.clone_from(&known.driver);
        state.gpus.clone_from(&known.gpus);
        (state.usage, state.ends) = known.usage.take().unwrap_or_default();
        state.latency = known.latency.take().unwrap_or_default();
    }
}

fn lock(known: &Mutex<Known>) -> MutexGuard<'_, Known> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks the daemon each time that it is `asked` for.
fn answer(daemon: &Client, known: &Mutex<Known>, asked: &Receiver<()>, changed: impl Fn()) {
    let (mut of_usage, mut of_latency) = (Turn::of_usage(), Turn::of_latency());
    while asked.recv().is_ok() {
        let mut is_new = false;
        if let Ok(gpus) = daemon.get::<Vec<GpuInfo>>("/api/v1/gpus") {
            let driver = gpus.iter().find_map(|gpu| gpu.driver_version.clone());
            let gpus: Vec<GpuState> = gpus.iter().filter_map(gpu_state).collect();
            let mut known = lock(known);
            is_new |= (&known.driver, &known.gpus) != (&driver, &gpus);
            (known.driver, known.gpus) = (driver, gpus);
        }
        // Totals that still wait go first.
        let (usage_waits, latency_waits) = {
            let known = lock(known);
            (known.usage.is_some(), known.latency.is_some())
        };
        let now = Instant::now();
        if !usage_waits
            && let Some(since) = of_usage.due(now)
            && let Ok(mut rows) = daemon.get::<Vec<GpuUsage>>("/api/v1/usage")
            && let Ok(mut ends) = daemon.get::<Vec<ProcessEnds>>("/api/v1/usage/ends")
        {
            of_usage.done(now, since);
            rows.retain(|row| row.last >= since);
            ends.retain(|row| row.last >= since);
            lock(known).usage = Some((rows, ends));
            is_new = true;
        }
        if !latency_waits
            && let Some(since) = of_latency.due(now)
            && let Ok(mut rows) = daemon.get::<Vec<DailyCalls>>("/api/v1/latency")
        {
            of_latency.done(now, since);
            rows.retain(|row| row.last >= since);
            lock(known).latency = Some(rows);
            is_new = true;
        }
        if is_new {
            changed();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixListener;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    const LONG: Duration = Duration::from_secs(30);
    const CALLS: &str = r#"[{"day":"2026-01-01","since":"2026-01-01T00:00:00Z","last":"2026-01-01T00:00:00Z","layer":"driver","call":"a","histogram":{"sum_ns":0,"max_ns":0,"buckets":[]}}]"#;

    #[test]
    fn a_daemon_that_hangs_delays_no_state_and_what_it_did_not_answer_is_asked_again() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("socket");
        let listener = UnixListener::bind(&socket).unwrap();
        let daemon = Client::unix(socket).with_deadline(Duration::from_millis(50));
        let (changed, changes) = channel();
        let state = DaemonState::start(daemon, move || {
            let _ = changed.send(());
        });
        let state = state.unwrap();
        let next = || {
            let mut next = HostState::default();
            state.add_to(&mut next);
            next
        };
        // Nobody accepts: four questions without an answer.
        for _ in 0..100 {
            assert_eq!(next(), HostState::default());
        }
        assert!(changes.recv_timeout(Duration::from_millis(500)).is_err());
        std::thread::spawn(move || {
            // Those whose client has gone away are answered too, to nobody.
            for mut stream in listener.incoming().flatten() {
                let mut request = [0; 1024];
                let length = stream.read(&mut request).unwrap_or_default();
                let body = match request[..length].starts_with(b"GET /api/v1/latency ") {
                    true => CALLS,
                    false => "[]",
                };
                let _ = write!(stream, "HTTP/1.1 200 OK\r\n\r\n{body}");
            }
        });
        let (mut latency, end) = (Vec::new(), Instant::now() + LONG);
        while latency.is_empty() {
            assert!(Instant::now() < end, "the daemon was not asked again");
            latency = next().latency;
            // It comes with an answer, or while states go on.
            let _ = changes.recv_timeout(Duration::from_millis(10));
        }
        assert_eq!(latency[0].call, "a");
        // Totals go once.
        assert!(next().latency.is_empty());
        // The thread ends.
        drop(state);
        while changes.recv().is_ok() {}
    }
}
