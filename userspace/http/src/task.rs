//! The task that answers HTTP, with a runtime of its own.

use std::sync::Arc;
use std::time::Duration;

use gtrace_engine::hub::Hub;
use gtrace_engine::supervise::{Pulse, Task, Timer, beat, names};
use tokio::sync::{Notify, watch};

use crate::Bound;

/// Between two heartbeats, which the runtime itself gives: a handler that blocks it is noticed.
const BEAT: Duration = Duration::from_secs(5);
/// Longest time between two of them.
const SILENCE: Duration = Duration::from_secs(15);
/// How long a read of the store may still take when the server ends.
const BLOCKED: Duration = Duration::from_secs(1);

/// Starts the task on the sockets of `bound`, which every thread of it shares.
///
/// # Errors
///
/// If its thread cannot be started.
pub fn start(bound: &Arc<Bound>, hub: &Arc<Hub>) -> std::io::Result<()> {
    let task = Task::needed(names::HTTP, SILENCE, Vec::new());
    let (bound, of_task) = (Arc::clone(bound), Arc::clone(hub));
    hub.tasks.start(task, move |pulse| {
        let failed = |error: std::io::Error| format!("cannot serve: {error}");
        let bound = bound.try_clone().map_err(failed)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(4)
            .thread_keep_alive(Duration::from_secs(2))
            .thread_name("gtrace-http-read")
            .build()
            .map_err(failed)?;
        let result = runtime.block_on(serve(bound, Arc::clone(&of_task), pulse));
        runtime.shutdown_timeout(BLOCKED);
        result.map_err(failed)
    })
}

async fn serve(bound: Bound, hub: Arc<Hub>, pulse: &Pulse) -> std::io::Result<()> {
    let (stop, stopped) = watch::channel(false);
    let server = crate::serve(bound, hub, stopped);
    tokio::pin!(server);
    let woken = Arc::new(Notify::new());
    let wake = Arc::clone(&woken);
    pulse.wake_by(move || wake.notify_one());
    let timer = Timer::new()?;
    loop {
        beat();
        if pulse.is_stopping() {
            // The server may have ended by itself.
            let _ = stop.send(true);
        }
        tokio::select! {
            result = &mut server => {
                result?;
                return match pulse.is_stopping() {
                    true => Ok(()),
                    false => Err(std::io::Error::other("the server has ended by itself")),
                };
            }
            () = woken.notified() => {}
            over = timer.sleep(BEAT) => over?,
        }
    }
}
