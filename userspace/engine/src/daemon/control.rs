//! The task that detaches and attaches probes when asked to: the kernel can take its time for either,
//! and nothing else waits for it. It also ends pauses that have an end: who asked for one may be gone.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::hub::{Hub, Pause};
use crate::lock::lock;
use crate::supervise::{Task, beat, rest};
use tokio::sync::oneshot;

/// The task's name.
pub(super) const CONTROL: &str = "control";
/// With nothing to do, how long one wait lasts.
const IDLE: Duration = Duration::from_secs(60);
/// Longest time between two of them: detaching waits for an RCU grace period a program.
const SILENCE: Duration = Duration::from_secs(60);
/// Requests that wait at most.
const WAITING: usize = 4;

/// Detaches (true) or attaches (false) every probe, and returns when that is done.
pub(super) type Pauser = Arc<dyn Fn(bool) + Send + Sync>;

type Answer = oneshot::Sender<Result<(), String>>;

struct Request {
    pause: Pause,
    answer: Answer,
}

/// Whether probes are detached, as far as requests go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Attached,
    /// Until somebody asks for them.
    Detached,
    /// Until then.
    DetachedUntil(Instant),
}

impl State {
    /// After a request. A pause with an end does not shorten the one that is on.
    fn after(self, pause: Pause, now: Instant) -> Self {
        let end = pause.lease.map(|lease| now + lease);
        match (pause.paused, end, self) {
            (false, ..) => Self::Attached,
            (true, None, _) | (true, _, Self::Detached) => Self::Detached,
            (true, Some(end), Self::DetachedUntil(known)) => Self::DetachedUntil(end.max(known)),
            (true, Some(end), Self::Attached) => Self::DetachedUntil(end),
        }
    }
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
        let task = Task::optional(CONTROL, SILENCE);
        let (first, renewed) = (Mutex::new(Some(received)), Arc::clone(&requests));
        // Kept where the thread is started again.
        let state = Mutex::new(State::default());
        hub.tasks.start(task, move |pulse| {
            let first = lock(&first).take();
            let received = first.unwrap_or_else(|| {
                let (requests, received) = sync_channel(WAITING);
                *lock(&renewed) = requests;
                received
            });
            obey(&received, &pauser, &state, || pulse.is_stopping());
            Ok(())
        })?;
        Ok(Self { requests })
    }

    /// Has the probes detached (true) or attached (false), and `answer` sent when that is done. Never
    /// waits.
    pub(super) fn ask(&self, pause: Pause, answer: Answer) {
        let requests = lock(&self.requests);
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

/// `state` is locked for no longer than it takes to read or set it: a thread that hangs must not keep it from the next one.
fn obey(
    requests: &Receiver<Request>,
    pauser: &Pauser,
    state: &Mutex<State>,
    stopping: impl Fn() -> bool,
) {
    let pause = |pause: bool| {
        pauser(pause);
        // A thread that another has replaced meanwhile ends here.
        beat();
    };
    while !stopping() {
        beat();
        let before = *lock(state);
        let left = match before {
            State::DetachedUntil(end) => end.saturating_duration_since(Instant::now()),
            State::Attached | State::Detached => IDLE,
        };
        if left.is_zero() {
            tracing::warn!("the pause is over, and nobody has ended it: the probes are attached");
            pause(false);
            *lock(state) = State::Attached;
            continue;
        }
        match rest(left.min(IDLE), |time| requests.recv_timeout(time)) {
            // The requester has already got the failure.
            Ok(request) if request.answer.is_closed() => {}
            Ok(request) => {
                // A pause that fails half-way has its end too.
                if request.pause.paused {
                    *lock(state) = before.after(request.pause, Instant::now());
                }
                pause(request.pause.paused);
                *lock(state) = before.after(request.pause, Instant::now());
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
        let ask = |paused| {
            let (answer, answered) = oneshot::channel();
            let pause = Pause {
                paused,
                lease: None,
            };
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

    #[test]
    fn while_a_thread_hangs_in_the_kernel_the_next_one_obeys() {
        let (hub, _commands) = Hub::new(gtrace_api::Status::default());
        let (_go_on, wait) = mpsc::channel::<()>();
        let (began, has_begun) = mpsc::channel();
        let first = Mutex::new(Some((began, wait)));
        let pauser: Pauser = Arc::new(move |_| {
            let first = lock(&first).take();
            if let Some((began, wait)) = first {
                began.send(()).unwrap();
                // Until the end of the test.
                let _ = wait.recv();
            }
        });
        let control = Control::start(&hub, pauser).unwrap();
        let ask = |paused| {
            let (answer, answered) = oneshot::channel();
            let lease = None;
            control.ask(Pause { paused, lease }, answer);
            answered
        };
        let _hangs = ask(true);
        has_begun.recv().unwrap();
        let now = Instant::now();
        let ticks = (0..20_u32).map(|n| now + n * Duration::from_secs(5));
        let losses: Vec<_> = ticks.flat_map(|at| hub.tasks.tick(at)).collect();
        assert_eq!(losses.len(), 1, "{losses:?}");
        let until = Instant::now() + Duration::from_secs(20);
        let mut asked = Vec::new();
        // Requests before the next thread is there go to the one that hangs.
        while !asked.iter_mut().any(is_done) {
            assert!(Instant::now() < until, "nobody obeys");
            asked.push(ask(false));
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn is_done(answered: &mut oneshot::Receiver<Result<(), String>>) -> bool {
        answered.try_recv() == Ok(Ok(()))
    }

    #[test]
    fn a_pause_ends_by_itself_where_who_asked_for_it_is_gone() {
        let (hub, _commands) = Hub::new(gtrace_api::Status::default());
        let (done, seen) = mpsc::channel();
        let done = Mutex::new(done);
        let pauser: Pauser = Arc::new(move |pause| done.lock().unwrap().send(pause).unwrap());
        let control = Control::start(&hub, pauser).unwrap();
        let (answer, answered) = oneshot::channel();
        let lease = Some(Duration::from_millis(50));
        control.ask(
            Pause {
                paused: true,
                lease,
            },
            answer,
        );
        assert_eq!(answered.blocking_recv().unwrap(), Ok(()));
        let next = || seen.recv_timeout(Duration::from_secs(20));
        assert_eq!((next(), next()), (Ok(true), Ok(false)));
    }

    #[test]
    fn a_pause_with_an_end_does_not_shorten_one_that_is_on() {
        let now = Instant::now();
        let lease = |s| Some(Duration::from_secs(s));
        let pause = |lease| Pause {
            paused: true,
            lease,
        };
        let after = |pauses: &[Pause]| {
            let next = |state: State, pause: &Pause| state.after(*pause, now);
            pauses.iter().fold(State::default(), next)
        };
        let until = |s| State::DetachedUntil(now + Duration::from_secs(s));
        assert_eq!(after(&[pause(lease(9)), pause(lease(5))]), until(9));
        assert_eq!(after(&[pause(lease(5)), pause(lease(9))]), until(9));
        assert_eq!(after(&[pause(None), pause(lease(5))]), State::Detached);
        assert_eq!(after(&[pause(lease(5)), pause(None)]), State::Detached);
        let resume = Pause {
            paused: false,
            lease: None,
        };
        assert_eq!(after(&[pause(None), resume]), State::Attached);
    }
}
