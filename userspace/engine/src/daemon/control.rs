//! The task that detaches and attaches probes when asked to: the kernel can take its time for either,
//! and nothing else waits for it.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::hub::Hub;
use crate::supervise::{Task, beat};
use tokio::sync::oneshot;

/// The task's name.
pub(super) const CONTROL: &str = "control";
/// With nothing to do, between two heartbeats.
const IDLE: Duration = Duration::from_secs(5);
/// Longest time between two of them: detaching waits for an RCU grace period a program.
const SILENCE: Duration = Duration::from_secs(60);
/// Requests that wait at most.
const WAITING: usize = 4;

/// Detaches (true) or attaches (false) every probe, and returns when that is done.
pub(super) type Pauser = Arc<dyn Fn(bool) + Send + Sync>;

type Answer = oneshot::Sender<Result<(), String>>;

struct Request {
    pause: bool,
    answer: Answer,
}

/// The running task.
pub(super) struct Control {
    requests: Arc<Mutex<SyncSender<Request>>>,
}

impl Control {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// If its thread cannot be started.
    pub(super) fn start(hub: &Hub, pauser: Pauser) -> std::io::Result<Self> {
        let (requests, received) = sync_channel(WAITING);
        let requests = Arc::new(Mutex::new(requests));
        let task = Task {
            name: CONTROL,
            needed: false,
            silence: Some(SILENCE),
            sources: Vec::new(),
        };
        let (first, renewed) = (Mutex::new(Some(received)), Arc::clone(&requests));
        hub.tasks.start(task, move |pulse| {
            let first = first.lock().unwrap_or_else(PoisonError::into_inner).take();
            let received = first.unwrap_or_else(|| {
                let (requests, received) = sync_channel(WAITING);
                *renewed.lock().unwrap_or_else(PoisonError::into_inner) = requests;
                received
            });
            obey(&received, &pauser, || pulse.is_stopping());
            Ok(())
        })?;
        Ok(Self { requests })
    }

    /// Has the probes detached (true) or attached (false), and `answer` sent when that is done. Never
    /// waits.
    pub(super) fn ask(&self, pause: bool, answer: Answer) {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let (request, cause) = match requests.try_send(Request { pause, answer }) {
            Ok(()) => return,
            Err(TrySendError::Full(request)) => (request, "earlier requests are still under way"),
            Err(TrySendError::Disconnected(request)) => {
                (request, "the thread that does it is being started again")
            }
        };
        // Whoever asked may have given up.
        let _ = request.answer.send(Err(cause.to_owned()));
    }
}

fn obey(requests: &Receiver<Request>, pauser: &Pauser, stopping: impl Fn() -> bool) {
    while !stopping() {
        beat();
        match requests.recv_timeout(IDLE) {
            // The requester has already got the failure.
            Ok(request) if request.answer.is_closed() => {}
            Ok(request) => {
                pauser(request.pause);
                let _ = request.answer.send(Ok(()));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_request_that_takes_for_ever_holds_up_nobody_and_is_not_made_up_for_later() {
        let (hub, _commands) = Hub::new(gtrace_api::Status::default());
        let (go_on, wait) = mpsc::channel::<()>();
        let (done, seen) = mpsc::channel();
        let wait = Mutex::new(wait);
        let pauser: Pauser = Arc::new(move |pause| {
            let _ = wait.lock().unwrap().recv();
            done.send(pause).unwrap();
        });
        let control = Control::start(&hub, pauser).unwrap();
        let ask = |pause| {
            let (answer, answered) = oneshot::channel();
            control.ask(pause, answer);
            answered
        };
        let first = ask(true);
        let mut waiting = Vec::new();
        let refused = loop {
            let mut answered = ask(false);
            match answered.try_recv() {
                Ok(refused) => break refused,
                Err(_) => waiting.push(answered),
            }
        };
        assert!(refused.unwrap_err().contains("under way"));
        // They have given up; the first one has not.
        drop(waiting);
        go_on.send(()).unwrap();
        assert_eq!(first.blocking_recv().unwrap(), Ok(()));
        assert!(seen.recv().unwrap());
        let last = ask(true);
        go_on.send(()).unwrap();
        assert_eq!(last.blocking_recv().unwrap(), Ok(()));
        assert!(
            seen.recv().unwrap(),
            "those that were given up are left out"
        );
    }
}
