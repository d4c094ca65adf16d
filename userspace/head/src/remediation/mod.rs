//! Carries out a site's policy of remediation: looks for what it has rules for, finds out what holds, has the state machine of
//! `gtrace_fleet::remedy` say what is next, and does that once it is written down.
//!
//! One head of those that share a database does so, by a lease; of processes that have one file, the one that holds its lock. It has a
//! thread and a connection to the database of its own; each poll of a manager, and each order that may take long, has a thread. One of these that
//! panics ends its own poll or order; one that hangs is given up after its time.

mod facts;
mod kubernetes;
mod orders;
mod polls;
mod runner;
mod slurm;
mod ticket;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gtrace_event::PciAddress;
use gtrace_fleet::Ask;
use gtrace_fleet::remedy::scontrol::Node;
use gtrace_fleet::remedy::{Mode, Order, Outcome, Policy, Step};
use tokio::sync::watch;

use self::polls::Nodes;
use self::runner::Runner;
use crate::db::{HostRow, Place};

/// For so long nothing is carried out after a panic.
const AGAIN: Duration = Duration::from_secs(10);
/// The end of the head is noticed within this time.
const STOP_POLL: Duration = Duration::from_millis(200);

/// Which policy is carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remediation {
    /// File with the policy.
    pub policy: PathBuf,
}

/// Why a policy cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the policy of remediation {}: {cause}", path.display())]
pub struct PolicyError {
    path: PathBuf,
    cause: String,
}

/// Reads a policy.
///
/// # Errors
/// [`PolicyError`], with line and column where it is the form.
pub fn load(path: &Path) -> Result<Policy, PolicyError> {
    let failed = |cause: String| PolicyError {
        path: path.to_owned(),
        cause,
    };
    let text = std::fs::read_to_string(path).map_err(|e| failed(e.to_string()))?;
    let policy: Policy = toml::from_str(&text).map_err(|e| failed(e.to_string()))?;
    policy.check().map_err(failed)?;
    Ok(policy)
}

/// How it stands with remediation at this head.
#[derive(Clone, Debug, Default)]
pub(crate) struct Status {
    /// Whether plans are carried out or only made.
    pub(crate) mode: Mode,
    /// Whether it is this head that does so.
    pub(crate) is_here: bool,
    /// What is wrong: with a policy that was changed, or in the last turn.
    pub(crate) problem: Option<String>,
    /// Causes for which no plan was made, as their hosts, or the fleet, had as many as they may.
    pub(crate) unplanned_of_hosts: u64,
    /// The same of the fleet.
    pub(crate) unplanned_of_fleet: u64,
}

/// The same for whoever answers about it.
pub(crate) type Shared = Arc<Mutex<Status>>;

/// What threads send to the one that carries plans out.
enum Message {
    /// What came of the order that was the n-th to be carried out.
    Ended(u64, Order, Outcome),
    /// What Kubernetes answered, in the poll of this number.
    Kubernetes(u64, Result<Nodes, String>),
    /// What Slurm answered, in the poll of this number.
    Slurm(u64, Result<BTreeMap<String, Node>, String>),
}

/// Threads of one purpose, of which those that hang are given up: so many at a time, and no more.
struct Threads {
    name: &'static str,
    most: usize,
    /// Each thread has a reference to it.
    alive: Arc<()>,
}

impl Threads {
    fn new(name: &'static str, most: usize) -> Self {
        Self {
            name,
            most,
            alive: Arc::default(),
        }
    }

    /// Whether no other one may be started.
    fn is_full(&self) -> bool {
        Arc::strong_count(&self.alive) > self.most
    }

    /// Runs `work` in a thread and sends what it returns, or `panicked`.
    ///
    /// # Errors
    /// That no thread can be started. Nothing is sent.
    fn start(
        &self,
        messages: &Sender<Message>,
        panicked: Message,
        work: impl FnOnce() -> Message + Send + 'static,
    ) -> Result<(), String> {
        if self.is_full() {
            let (most, name) = (self.most, self.name);
            return Err(format!(
                "{most} threads {name} are there, which is the most"
            ));
        }
        let (messages, alive) = (messages.clone(), Arc::clone(&self.alive));
        let thread = std::thread::Builder::new().name(self.name.to_owned());
        let started = thread.spawn(move || {
            let _alive = alive;
            let message = catch_unwind(AssertUnwindSafe(work)).unwrap_or(panicked);
            // The receiver is gone where the head ends.
            let _ = messages.send(message);
        });
        started
            .map(drop)
            .map_err(|error| format!("cannot start a thread: {error}"))
    }
}

/// How long one answer of a manager may take.
fn answer_within(policy: &Policy) -> Duration {
    Duration::from_secs(policy.answer_s.into())
}

/// Starts the thread, which ends soon after `stop` holds true.
pub(crate) fn start(
    place: Place,
    options: Remediation,
    policy: Policy,
    shared: Shared,
    stop: watch::Receiver<bool>,
) -> std::io::Result<()> {
    let owner = crate::secret::draw().map_err(std::io::Error::other)?;
    let mut runner = Runner::new(place, options, policy, owner, Arc::clone(&shared));
    std::thread::Builder::new()
        .name("gtrace-remedy".to_owned())
        .spawn(move || supervise(|stop| runner.run(stop), &shared, AGAIN, &stop))
        .map(drop)
}

/// Carries plans out by `run`, which returns when the head ends, and once more by it `again` after a panic.
fn supervise(
    mut run: impl FnMut(&watch::Receiver<bool>),
    shared: &Shared,
    again: Duration,
    stop: &watch::Receiver<bool>,
) {
    loop {
        let ended = catch_unwind(AssertUnwindSafe(|| run(stop)));
        let mut status = shared.lock().unwrap_or_else(PoisonError::into_inner);
        status.is_here = false;
        if ended.is_ok() {
            return;
        }
        let problem = format!(
            "the thread that carries plans out has panicked, and goes on after {} s",
            again.as_secs()
        );
        tracing::error!("remediation: {problem}");
        status.problem = Some(problem);
        drop(status);
        let until = Instant::now() + again;
        while Instant::now() < until {
            if is_over(stop) {
                return;
            }
            std::thread::sleep(again.min(STOP_POLL));
        }
    }
}

/// Whether the head ends.
fn is_over(stop: &watch::Receiver<bool>) -> bool {
    *stop.borrow() || stop.has_changed().is_err()
}

/// What a host is asked for a step, if it permits that.
fn request_of(
    step: Step,
    gpu: Option<&str>,
    host: &str,
    row: Option<&HostRow>,
) -> Result<Ask, String> {
    let ask = match (step, gpu) {
        (Step::Reboot, _) => Ask::Reboot,
        (_, Some(gpu)) => match PciAddress::parse(gpu) {
            Some(pci) => Ask::ResetGpu { pci },
            None => return Err(format!("`{gpu}` is no PCI address")),
        },
        (_, None) => return Err("it is not known which GPU to reset".to_owned()),
    };
    let permits = row
        .and_then(|row| row.state.as_ref())
        .map(|state| &state.permits);
    match permits.is_some_and(|permits| permits.iter().any(|one| one == ask.name())) {
        true => Ok(ask),
        false => Err(format!(
            "host `{host}` does not permit it: `gtrace agent run --allow {}` there does",
            ask.name()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_a_policy_and_a_mistake_is_named() {
        let example = include_str!("../../../../packaging/remediation.example.toml");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("policy.toml");
        // As it is, it does nothing.
        std::fs::write(&path, example).unwrap();
        let empty = load(&path).unwrap();
        assert_eq!((empty.mode, empty.rules.len()), (Mode::Dry, 0));
        let text = example.replace("#: ", "");
        std::fs::write(&path, &text).unwrap();
        let policy = load(&path).unwrap();
        assert_eq!(policy.rules.len(), 3);
        assert_eq!((policy.max_out, policy.max_out_percent), (1, 10));
        std::fs::write(&path, text.replace("\"reboot\", \"return\"", "\"rebot\"")).unwrap();
        let error = load(&path).unwrap_err().to_string();
        assert!(error.contains("rebot") && error.contains("line"), "{error}");
        assert!(load(&dir.path().join("none")).is_err());
    }

    #[test]
    fn plans_are_carried_out_again_after_a_panic() {
        let (shared, mut runs) = (Shared::default(), 0);
        let (_end, stop) = watch::channel(false);
        let of_run = Arc::clone(&shared);
        let run = |_: &watch::Receiver<bool>| {
            runs += 1;
            let status = of_run.lock().unwrap_or_else(PoisonError::into_inner);
            match runs {
                1 => panic!("with the lock held"),
                _ => assert!(status.problem.as_ref().unwrap().contains("panicked")),
            }
        };
        supervise(run, &shared, Duration::from_millis(1), &stop);
        assert_eq!(runs, 2);
    }

    #[test]
    fn a_thread_that_panics_is_reported_and_those_that_hang_are_bounded() {
        let threads = Threads::new("gtrace-test", 2);
        let (messages, received) = std::sync::mpsc::channel();
        let panicked = || Message::Slurm(7, Err("panicked".to_owned()));
        let start =
            |work: Box<dyn FnOnce() -> Message + Send>| threads.start(&messages, panicked(), work);
        start(Box::new(|| panic!("as it must"))).unwrap();
        let message = received.recv().unwrap();
        assert!(matches!(message, Message::Slurm(7, Err(why)) if why == "panicked"));
        while threads.is_full() || Arc::strong_count(&threads.alive) > 1 {
            std::thread::yield_now();
        }
        let (go_on, hangs) = std::sync::mpsc::channel::<()>();
        let hangs = Arc::new(Mutex::new(hangs));
        for n in 0..3 {
            let hangs = Arc::clone(&hangs);
            let started = start(Box::new(move || {
                let _ = hangs.lock().unwrap().recv();
                panicked()
            }));
            assert_eq!(started.is_ok(), n < 2, "{started:?}");
        }
        go_on.send(()).unwrap();
        received.recv().unwrap();
        while threads.is_full() {
            std::thread::yield_now();
        }
        start(Box::new(panicked)).unwrap();
    }
}
