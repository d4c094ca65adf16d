//! The thread that carries plans out.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::PoisonError;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant, SystemTime};

use gtrace_event::Timestamp;
use gtrace_fleet::remedy::{Order, Outcome, Policy};
use tokio::sync::watch;

use super::looks::Looks;
use super::{Remediation, Shared, Standing, Word, facts, load, orders, request_of};
use crate::db::{Bound, Database, DbError, HostRow, NewRequest, NotAsked, Place, request_key};

/// So many turns are between two looks for what the policy has rules for.
const LOOK: u32 = 5;
/// How long a host may take to begin a request: what was found out for it is too old then.
const BEGIN_S: i64 = 60;
/// For so long a turn waits for managers before it goes on without those that have not answered.
const AWAITED: Duration = Duration::from_millis(500);
/// Causes without a plan that are remembered, so that each is counted once.
const UNPLANNED_MAX: usize = 10_000;

pub(super) struct Runner {
    place: Place,
    options: Remediation,
    policy: Policy,
    read: Option<SystemTime>,
    /// Why the policy's file, as it is now, is not what holds.
    unread: Option<String>,
    owner: String,
    shared: Shared,
    database: Option<Database>,
    /// Of a database that is a file: what holds its lock.
    lock: Option<File>,
    in_flight: BTreeSet<i64>,
    looks: Looks,
    /// When was looked for what the policy has rules for.
    searched: Option<Instant>,
    unplanned: HashSet<String>,
    words: (Sender<Word>, Receiver<Word>),
}

fn changed(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path)
        .and_then(|file| file.modified())
        .ok()
}

impl Runner {
    pub(super) fn new(
        place: Place,
        options: Remediation,
        policy: Policy,
        owner: String,
        shared: Shared,
    ) -> Self {
        Self {
            read: changed(&options.policy),
            place,
            options,
            policy,
            unread: None,
            owner,
            shared,
            database: None,
            lock: None,
            in_flight: BTreeSet::new(),
            looks: Looks::default(),
            searched: None,
            unplanned: HashSet::new(),
            words: mpsc::channel(),
        }
    }

    pub(super) fn run(&mut self, stop: &watch::Receiver<bool>) {
        // A turn begins with questions to the managers, and is taken once these have answered, or after a while without them.
        let mut begins = Instant::now();
        let mut taken: Option<Instant> = None;
        while !*stop.borrow() && stop.has_changed().is_ok() {
            if begins <= Instant::now() {
                self.reload();
                let done = self.begin();
                if let Ok(true) = done {
                    taken = Some(taken.unwrap_or(Instant::now() + AWAITED));
                }
                self.report(done.map(drop));
                begins = Instant::now() + Duration::from_millis(self.policy.turn_ms.into());
            }
            if taken.is_some_and(|at| at <= Instant::now() || !self.looks.are_running()) {
                taken = None;
                let done = self.take_turn();
                self.report(done);
            }
            let next = taken.map_or(begins, |at| at.min(begins));
            let wait = next.saturating_duration_since(Instant::now());
            // In steps, as the end is not awaited by this channel.
            match self
                .words
                .1
                .recv_timeout(wait.min(Duration::from_millis(200)))
            {
                Ok(Word::Ended(order, outcome)) => {
                    self.ended(&order, &outcome);
                    // What did not answer is not asked without a pause.
                    if !matches!(outcome, Outcome::Unsure(_)) {
                        begins = Instant::now();
                    }
                }
                Ok(Word::Kubernetes(serial, said)) => {
                    self.looks.take_kubernetes(serial, said);
                    taken = Some(taken.unwrap_or_else(Instant::now));
                }
                Ok(Word::Slurm(serial, said)) => {
                    self.looks.take_slurm(serial, said);
                    taken = Some(taken.unwrap_or_else(Instant::now));
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
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

    fn report(&self, done: Result<(), String>) {
        // A policy that is not taken over comes first: somebody may have wanted all to stop.
        let problems: Vec<String> = self.unread.iter().cloned().chain(done.err()).collect();
        let problem = (!problems.is_empty()).then(|| problems.join("; "));
        self.say(|standing| standing.problem = problem);
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
                // What was asked was asked for the policy before.
                self.looks.forget();
                tracing::info!("the policy of remediation was read again");
            }
            Err(error) => {
                self.read = now;
                self.unread = Some(format!("{error}; what it said before goes on to hold"));
            }
        }
    }

    /// What came of an order is written down; until that is done the plan waits.
    fn ended(&mut self, order: &Order, outcome: &Outcome) {
        let kept = self.with(|db| db.order_ended(order, outcome, Timestamp::now()));
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

    /// Whether no other process carries plans out of this database, as this one holds the lock of its file: the kernel gives that back when
    /// a process ends, however it does. `None` where another one has it.
    fn sole(&mut self) -> Result<Option<bool>, String> {
        let Place::File(path) = &self.place else {
            return Ok(Some(false));
        };
        if self.lock.is_some() {
            return Ok(Some(true));
        }
        let mut name = path.clone().into_os_string();
        name.push("-remediation");
        let failed = |e: std::io::Error| format!("cannot lock {}: {e}", Path::new(&name).display());
        let file = File::options()
            .create(true)
            .append(true)
            .open(&name)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {
                self.lock = Some(file);
                Ok(Some(true))
            }
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(e)) => Err(failed(e)),
        }
    }

    /// Whether it is time to look for what the policy has rules for.
    fn searches(&self) -> bool {
        let between = Duration::from_millis(self.policy.turn_ms.into()) * LOOK;
        self.searched.is_none_or(|at| at.elapsed() >= between)
    }

    /// Asks the managers what is needed for a turn; whether there is one to take.
    fn begin(&mut self) -> Result<bool, String> {
        let plans = self.with(|db| db.plans(false, 2000))?.plans;
        if plans.is_empty() {
            return Ok(self.searches());
        }
        let rows = self.with(Database::hosts)?;
        let machines: BTreeMap<&str, &str> = rows
            .iter()
            .filter_map(|row| Some((row.name.as_str(), row.machine_id.as_deref()?)))
            .collect();
        let machine = |host: &str| machines.get(host).map(|id| (*id).to_owned());
        self.looks
            .begin(&self.policy, &plans, machine, &self.words.0);
        Ok(true)
    }

    fn take_turn(&mut self) -> Result<(), String> {
        let Some(sole) = self.sole()? else {
            self.say(|standing| standing.is_here = false);
            return Ok(());
        };
        let plans = self.with(|db| db.plans(false, 2000))?;
        let rows = self.with(Database::hosts)?;
        let policy = self.policy.clone();
        let mut wishes = Vec::new();
        if self.searches() {
            wishes = self.with(|db| facts::wishes(db, &policy, &rows))?;
            self.searched = Some(Instant::now());
        }
        let looks = std::mem::take(&mut self.looks);
        let known = self.with(|db| facts::facts(db, &looks, &policy, &plans.plans, &rows));
        self.looks = looks;
        let known = known?;
        let (owner, in_flight) = (self.owner.clone(), self.in_flight.clone());
        let turned =
            self.with(|db| db.remediate(&owner, &policy, &wishes, known, &in_flight, sole))?;
        self.say(|standing| standing.is_here = turned.is_some());
        let Some(turned) = turned else {
            return Ok(());
        };
        for (key, bound) in turned.unplanned {
            self.count(key, bound);
        }
        for order in turned.orders {
            self.carry_out(order, &policy, &rows);
        }
        Ok(())
    }

    /// Counts a cause without a plan.
    fn count(&mut self, key: String, bound: Bound) {
        if self.unplanned.len() >= UNPLANNED_MAX {
            self.unplanned.clear();
        }
        if self.unplanned.insert(key.clone()) {
            tracing::warn!("remediation: no plan is made for {key}: there are as many as may be");
            self.say(|standing| match bound {
                Bound::Host => standing.unplanned_of_hosts += 1,
                Bound::Fleet => standing.unplanned_of_fleet += 1,
            });
        }
    }

    /// Does what is written down.
    fn carry_out(&mut self, order: Order, policy: &Policy, rows: &[HostRow]) {
        self.in_flight.insert(order.plan);
        if order.step.is_disruptive() {
            let outcome = self.ask(&order, rows);
            self.ended(&order, &outcome);
            return;
        }
        let row = rows.iter().find(|row| row.name == order.host);
        let machine = row.and_then(|row| row.machine_id.clone());
        let (policy, words) = (policy.clone(), self.words.0.clone());
        let (place, of_thread) = (self.place.clone(), order.clone());
        let thread = std::thread::Builder::new().name("gtrace-remedy-do".to_owned());
        let started = thread.spawn(move || {
            let outcome = orders::carry_out(&of_thread, &policy, machine, &place);
            let _ = words.send(Word::Ended(of_thread, outcome));
        });
        if let Err(error) = started {
            let outcome = Outcome::Refused(format!("cannot start a thread: {error}"));
            self.ended(&order, &outcome);
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
        let deadline = now.saturating_add(jiff::SignedDuration::from_secs(BEGIN_S));
        let new = NewRequest {
            host: order.host.clone(),
            key: Some(request_key(order.plan, order.step)),
            order: Some(order.clone()),
            by: format!("plan {}", order.plan),
            deadline: deadline.unwrap_or(Timestamp::MAX),
            ask,
        };
        match self.with(|db| db.ask(&new, now)) {
            Ok(Ok(request)) => Outcome::Acted(format!("asked the host (request {})", request.id)),
            Ok(Err(NotAsked::Changed(_))) => Outcome::Withdrawn,
            Ok(Err(why)) => Outcome::Refused(why.to_string()),
            Err(why) => Outcome::Unsure(why),
        }
    }
}
