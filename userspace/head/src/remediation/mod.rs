//! Carries out a site's policy of remediation: looks for what it has rules for, finds out what holds, has the state machine of
//! `gtrace_fleet::remedy` say what is next, and does that once it is written down.
//!
//! One head of those that share a database does so, by a lease. It has a thread and a connection to the database of its own; each order
//! that may take long has a thread.

mod facts;
mod kubernetes;
mod slurm;
mod ticket;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use gtrace_event::{PciAddress, Timestamp};
use gtrace_fleet::Ask;
use gtrace_fleet::remedy::{Mode, Order, Outcome, Policy, Step};
use tokio::sync::watch;

use self::kubernetes::Kubernetes;
use self::slurm::Slurm;
use crate::db::{Database, DbError, HostRow, NewRequest, Place};

/// Between two turns while a plan is live.
const TURN: Duration = Duration::from_secs(2);
/// So many turns are between two looks for what the policy has rules for.
const LOOK: u32 = 5;
/// How long a host may take to take and answer a request.
const REQUEST_S: i64 = 300;

/// The same for a step.
fn request_s(step: Step) -> i64 {
    match step {
        // What a boot takes is part of it.
        Step::Reboot => step.limit_s(),
        _ => REQUEST_S,
    }
}

/// Which policy is carried out, and how often is looked at what holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remediation {
    /// File with the policy.
    pub policy: PathBuf,
    /// Between two looks while a plan is live.
    pub turn: Duration,
}

impl Remediation {
    /// With the usual time between two looks.
    pub fn new(policy: PathBuf) -> Self {
        Self { policy, turn: TURN }
    }
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
pub(crate) struct Standing {
    /// Whether plans are carried out or only made.
    pub(crate) mode: Mode,
    /// Whether it is this head that does so.
    pub(crate) is_here: bool,
    /// What is wrong: with a policy that was changed, or in the last turn.
    pub(crate) problem: Option<String>,
}

/// The same for whoever answers about it.
pub(crate) type Shared = Arc<Mutex<Standing>>;

/// What came of an order.
type Ended = (Order, Outcome);

struct Runner {
    place: Place,
    options: Remediation,
    policy: Policy,
    read: Option<SystemTime>,
    /// Why the policy's file, as it is now, is not what holds.
    unread: Option<String>,
    owner: String,
    shared: Shared,
    database: Option<Database>,
    in_flight: BTreeSet<i64>,
    looked: Option<Instant>,
    ended: (Sender<Ended>, Receiver<Ended>),
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
    let read = changed(&options.policy);
    let mut runner = Runner {
        place,
        options,
        policy,
        read,
        unread: None,
        owner,
        shared,
        database: None,
        in_flight: BTreeSet::new(),
        looked: None,
        ended: mpsc::channel(),
    };
    std::thread::Builder::new()
        .name("gtrace-remedy".to_owned())
        .spawn(move || runner.run(&stop))
        .map(drop)
}

fn changed(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path)
        .and_then(|file| file.modified())
        .ok()
}

impl Runner {
    fn run(&mut self, stop: &watch::Receiver<bool>) {
        let mut next = Instant::now();
        while !*stop.borrow() && stop.has_changed().is_ok() {
            let wait = next.saturating_duration_since(Instant::now());
            // In steps, as the end is not awaited by this channel.
            match self
                .ended
                .1
                .recv_timeout(wait.min(Duration::from_millis(200)))
            {
                Ok(ended) => self.take(ended),
                Err(RecvTimeoutError::Timeout) if Instant::now() < next => continue,
                Err(_) => {}
            }
            self.reload();
            let done = self.turn();
            // A policy that is not taken over comes first: somebody may have wanted all to stop.
            let problems: Vec<String> = self.unread.iter().cloned().chain(done.err()).collect();
            let problem = (!problems.is_empty()).then(|| problems.join("; "));
            self.say(|standing| standing.problem = problem);
            next = Instant::now() + self.options.turn;
        }
        let owner = self.owner.clone();
        // Another one waits for the end of the lease otherwise.
        let _ = self.with(|db| db.end_remediation(&owner));
    }

    fn say(&self, change: impl FnOnce(&mut Standing)) {
        let mut standing = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let before = standing.problem.clone();
        standing.mode = self.policy.mode;
        change(&mut standing);
        if let Some(problem) = standing
            .problem
            .as_ref()
            .filter(|p| Some(*p) != before.as_ref())
        {
            tracing::warn!("remediation: {problem}");
        }
    }

    /// Takes over a policy that was changed; one with a mistake changes nothing.
    fn reload(&mut self) {
        let now = changed(&self.options.policy);
        if now == self.read {
            return;
        }
        match load(&self.options.policy) {
            Ok(policy) => {
                self.read = now;
                self.policy = policy;
                self.unread = None;
                tracing::info!("the policy of remediation was read again");
            }
            Err(error) => {
                self.read = now;
                self.unread = Some(format!("{error}; what it said before goes on to hold"));
            }
        }
    }

    /// What came of an order is written down; until that is done the plan waits.
    fn take(&mut self, (order, outcome): Ended) {
        let kept = self.with(|db| db.order_ended(&order, &outcome, Timestamp::now()));
        if let Err(why) = kept {
            // Its effect shows what came of it.
            self.say(|standing| standing.problem = Some(why));
        }
        self.in_flight.remove(&order.plan);
    }

    fn with<T>(
        &mut self,
        work: impl FnOnce(&mut Database) -> Result<T, DbError>,
    ) -> Result<T, String> {
        let mut database = match self.database.take() {
            Some(database) => database,
            None => Database::open(&self.place).map_err(|e| e.to_string())?,
        };
        let done = work(&mut database).map_err(|e| e.to_string())?;
        // One that failed is opened anew.
        self.database = Some(database);
        Ok(done)
    }

    fn turn(&mut self) -> Result<(), String> {
        let plans = self.with(|db| db.plans(false, 1000))?;
        let looks = self
            .looked
            .is_none_or(|at| at.elapsed() >= self.options.turn * LOOK);
        if plans.is_empty() && !looks {
            return Ok(());
        }
        let rows = self.with(Database::hosts)?;
        let policy = self.policy.clone();
        let wishes = match looks {
            true => self.with(|db| facts::wishes(db, &policy, &rows))?,
            false => Vec::new(),
        };
        if looks {
            self.looked = Some(Instant::now());
        }
        let managers = Managers::new(&policy);
        let facts = self.with(|db| facts::facts(db, &managers, &plans, &rows, Timestamp::now()))?;
        let (owner, in_flight) = (self.owner.clone(), self.in_flight.clone());
        let orders = self.with(|db| db.remediate(&owner, &policy, &wishes, facts, &in_flight))?;
        self.say(|standing| standing.is_here = orders.is_some());
        for order in orders.into_iter().flatten() {
            self.carry_out(order, &policy, &rows);
        }
        Ok(())
    }

    /// Does what is written down.
    fn carry_out(&mut self, order: Order, policy: &Policy, rows: &[HostRow]) {
        self.in_flight.insert(order.plan);
        if order.step.is_disruptive() {
            let outcome = self.ask(&order, rows);
            self.take((order, outcome));
            return;
        }
        let (policy, ended) = (policy.clone(), self.ended.0.clone());
        let of_thread = order.clone();
        let thread = std::thread::Builder::new().name("gtrace-remedy-do".to_owned());
        let started = thread.spawn(move || {
            let outcome = carry_out(&of_thread, &policy);
            let _ = ended.send((of_thread, outcome));
        });
        if let Err(error) = started {
            let outcome = Outcome::Refused(format!("cannot start a thread: {error}"));
            self.take((order, outcome));
        }
    }

    /// Asks the agent of a host, which does it if the host's configuration permits it.
    fn ask(&mut self, order: &Order, rows: &[HostRow]) -> Outcome {
        let row = rows.iter().find(|row| row.name == order.host);
        let ask = match request_of(order.step, order.cause.gpu.as_deref(), &order.host, row) {
            Ok(ask) => ask,
            Err(why) => return Outcome::Refused(why),
        };
        let now = Timestamp::now();
        let within = jiff::SignedDuration::from_secs(request_s(order.step));
        let deadline = now.saturating_add(within);
        let new = NewRequest {
            host: order.host.clone(),
            key: Some(facts::request_key(order.plan, order.step)),
            plan: Some(order.plan),
            by: format!("plan {}", order.plan),
            deadline: deadline.unwrap_or(Timestamp::MAX),
            ask,
        };
        match self.with(|db| db.ask(&new, now)) {
            Ok(Ok(request)) => Outcome::Acted(format!("asked the host (request {})", request.id)),
            Ok(Err(why)) => Outcome::Refused(why.to_string()),
            Err(why) => Outcome::Unsure(why),
        }
    }
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

/// Does what is no matter of agents.
fn carry_out(order: &Order, policy: &Policy) -> Outcome {
    let managers = Managers::new(policy);
    let (host, plan) = (order.host.as_str(), order.plan);
    let none =
        |what: &str| Outcome::Refused(format!("the policy has no section [{what}] any more"));
    match order.step {
        Step::Cordon | Step::Drain => match &managers.kubernetes {
            Some(Ok(api)) => match (order.step, order.undo) {
                (Step::Drain, _) => api.drain(host),
                (_, false) => api.cordon(host, plan),
                (_, true) => api.uncordon(host, plan),
            },
            Some(Err(why)) => Outcome::Refused(why.clone()),
            None => none("kubernetes"),
        },
        Step::SlurmDrain => match (&managers.slurm, order.undo) {
            (Some(slurm), false) => slurm.drain(host, plan, &order.cause.text),
            (Some(slurm), true) => slurm.resume(host, plan),
            (None, _) => none("slurm"),
        },
        Step::Ticket => match &policy.webhook {
            Some(webhook) => ticket::post(webhook, order),
            None => none("webhook"),
        },
        Step::ResetGpu | Step::Reboot | Step::Return => {
            Outcome::Refused("that is not done by the head".to_owned())
        }
    }
}

/// Who gives hosts work.
struct Managers {
    kubernetes: Option<Result<Kubernetes, String>>,
    slurm: Option<Slurm>,
}

impl Managers {
    fn new(policy: &Policy) -> Self {
        Self {
            kubernetes: policy.kubernetes.as_ref().map(Kubernetes::new),
            slurm: policy.slurm.clone().map(Slurm),
        }
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
}
