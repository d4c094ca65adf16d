//! The thread that carries plans out.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{File, TryLockError};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use gtrace_event::Timestamp;
use gtrace_fleet::remedy::{Mode, Order, Outcome, Policy};
use tokio::sync::watch;

use super::polls::Polls;
use super::{
    Message, Remediation, STOP_POLL, Shared, Status, Threads, facts, is_over, load, orders,
    request_of,
};
use crate::db::{Bound, Database, DbError, HostRow, NewRequest, NotAsked, Place, request_key};

/// So many turns are between two searches for what the policy has rules for.
const SEARCH_TURNS: u32 = 5;
/// How long a host may take to begin a request: what was found out for it is too old then.
const BEGIN_S: i64 = 60;
/// For so long a turn waits for managers before it goes on without those that have not answered.
const AWAITED: Duration = Duration::from_millis(500);
/// For so long a policy's file has to stay as it is before it is taken over: it may be being written.
const STABLE: Duration = Duration::from_millis(500);
/// For so long after its time an order's thread may still end by itself.
const GRACE: Duration = Duration::from_secs(10);
/// Threads that carry orders out at a time, those included that were given up: as many as plans may be under way, and some.
const THREADS_MAX: usize = 320;
/// Causes without a plan that are remembered, so that each is counted once.
const UNPLANNED_MAX: usize = 10_000;

/// An order that is being carried out.
struct InFlight {
    order: Order,
    /// Which it is of all orders.
    number: u64,
    /// When its thread is given up.
    until: Instant,
}

pub(super) struct Runner {
    options: Remediation,
    policy: Policy,
    read: Option<Stamp>,
    /// How its file was found when it had changed, and when.
    found: Option<(Option<Stamp>, Instant)>,
    /// Why the policy's file, as it is now, is not what holds.
    unread: Option<String>,
    owner: String,
    shared: Shared,
    connection: Connection,
    /// Of a database that is a file: what holds its lock.
    lock: Option<File>,
    /// By plan, the order that is being carried out.
    in_flight: BTreeMap<i64, InFlight>,
    /// How many orders were carried out.
    orders: u64,
    threads: Threads,
    /// Whether nothing is sent that takes a host out, as the policy is dry. Threads that carry orders out ask before each request.
    is_dry: Arc<AtomicBool>,
    polls: Polls,
    /// When was searched for what the policy has rules for.
    searched: Option<Instant>,
    unplanned: HashSet<String>,
    messages: (Sender<Message>, Receiver<Message>),
}

/// A connection to the database, which is opened anew after a failure.
struct Connection {
    place: Place,
    database: Option<Database>,
}

impl Connection {
    fn with<T>(
        &mut self,
        work: impl FnOnce(&mut Database) -> Result<T, DbError>,
    ) -> Result<T, String> {
        let mut database = match self.database.take() {
            Some(database) => database,
            None => Database::open(&self.place).map_err(|e| e.to_string())?,
        };
        let done = work(&mut database).map_err(|e| e.to_string())?;
        self.database = Some(database);
        Ok(done)
    }
}

/// What shows that a file has changed: its time, its size, and which file it is.
type Stamp = (SystemTime, u64, u64);

fn stamp(path: &Path) -> Option<Stamp> {
    let file = std::fs::metadata(path).ok()?;
    Some((file.modified().ok()?, file.len(), file.ino()))
}

/// Whether the file of a policy says that it is dry, and does not only leave it out.
fn is_expressly_dry(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let table: Option<toml::Table> = toml::from_str(&text).ok();
    let mode = table.as_ref().and_then(|table| table.get("mode")?.as_str());
    mode == Some("dry")
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
            read: stamp(&options.policy),
            is_dry: Arc::new(AtomicBool::new(policy.mode == Mode::Dry)),
            found: None,
            options,
            policy,
            unread: None,
            owner,
            shared,
            connection: Connection {
                place,
                database: None,
            },
            lock: None,
            in_flight: BTreeMap::new(),
            orders: 0,
            threads: Threads::new("gtrace-remedy-do", THREADS_MAX),
            polls: Polls::default(),
            searched: None,
            unplanned: HashSet::new(),
            messages: mpsc::channel(),
        }
    }

    pub(super) fn run(&mut self, stop: &watch::Receiver<bool>) {
        // A turn begins with questions to the managers, and is taken once these have answered, or after a while without them.
        let mut begins = Instant::now();
        let mut taken: Option<Instant> = None;
        while !is_over(stop) {
            self.reload();
            if begins <= Instant::now() {
                self.give_up();
                let done = self.begin();
                if let Ok(true) = done {
                    taken = Some(taken.unwrap_or(Instant::now() + AWAITED));
                }
                // Only a turn shows that all is well.
                if let Err(why) = done {
                    self.report(Err(why));
                }
                begins = Instant::now() + Duration::from_millis(self.policy.turn_ms.into());
            }
            if taken.is_some_and(|at| at <= Instant::now() || !self.polls.are_running()) {
                taken = None;
                let done = self.take_turn();
                self.report(done);
            }
            let next = taken.map_or(begins, |at| at.min(begins));
            let wait = next.saturating_duration_since(Instant::now());
            // In steps, as the end is not awaited by this channel.
            match self.messages.1.recv_timeout(wait.min(STOP_POLL)) {
                // It was given up.
                Ok(Message::Ended(number, order, _)) if !self.is_in_flight(number, &order) => {}
                Ok(Message::Ended(_, order, outcome)) => {
                    self.ended(&order, &outcome);
                    // What did not answer is not asked without a pause, nor what was stopped.
                    if !matches!(outcome, Outcome::Unsure(_) | Outcome::Withdrawn) {
                        begins = Instant::now();
                    }
                }
                Ok(Message::Kubernetes(serial, answer)) => {
                    self.polls.take_kubernetes(serial, answer);
                    taken = Some(taken.unwrap_or_else(Instant::now));
                }
                Ok(Message::Slurm(serial, answer)) => {
                    self.polls.slurm.take(serial, answer);
                    taken = Some(taken.unwrap_or_else(Instant::now));
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
        let owner = self.owner.clone();
        // Another one waits for the end of the lease otherwise.
        let _ = self.connection.with(|db| db.end_remediation(&owner));
    }

    fn update(&self, change: impl FnOnce(&mut Status)) {
        let mut status = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let before = status.problem.clone();
        status.mode = self.policy.mode;
        change(&mut status);
        if let Some(problem) = status
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
        self.update(|status| status.problem = problem);
    }

    fn is_in_flight(&self, number: u64, order: &Order) -> bool {
        let of = self.in_flight.get(&order.plan);
        of.is_some_and(|of| of.number == number)
    }

    /// Waits no longer for threads that should have ended: what they had sent shows by its effect.
    fn give_up(&mut self) {
        let now = Instant::now();
        let over = self.in_flight.values().filter(|of| of.until <= now);
        let over: Vec<Order> = over.map(|of| of.order.clone()).collect();
        for order in over {
            let why = "it has not ended in its time, and is given up".to_owned();
            self.ended(&order, &Outcome::Unsure(why));
        }
    }

    /// Takes over a policy that was changed, once its file stays as it is. One with a mistake changes nothing. One that says that it is dry
    /// stops at once what is under way.
    fn reload(&mut self) {
        let path = &self.options.policy;
        let now = stamp(path);
        if now == self.read {
            if self.found.take().is_some() {
                self.obey_mode();
            }
            return;
        }
        match self.found {
            Some((found, at)) if found == now => {
                if at.elapsed() < STABLE {
                    return;
                }
            }
            _ => {
                self.found = Some((now, Instant::now()));
                if is_expressly_dry(path) {
                    self.is_dry.store(true, Ordering::Relaxed);
                }
                return;
            }
        }
        let loaded = load(path);
        // Changed while it was read.
        if stamp(path) != now {
            self.found = None;
            return;
        }
        (self.found, self.read) = (None, now);
        match loaded {
            Ok(policy) => {
                self.policy = policy;
                self.unread = None;
                // What was polled was so for the policy before.
                self.polls.forget();
                tracing::info!("the policy of remediation was read again");
            }
            Err(error) => {
                self.unread = Some(format!("{error}; the policy read before still applies"));
            }
        }
        self.obey_mode();
    }

    /// Has threads that carry orders out go on, or stop, by the policy that holds.
    fn obey_mode(&self) {
        let is_dry = self.policy.mode == Mode::Dry;
        self.is_dry.store(is_dry, Ordering::Relaxed);
    }

    /// What came of an order is written down; until that is done the plan waits.
    fn ended(&mut self, order: &Order, outcome: &Outcome) {
        let kept = self
            .connection
            .with(|db| db.order_ended(order, outcome, Timestamp::now()));
        if let Err(why) = kept {
            // Its effect shows what came of it.
            self.update(|status| status.problem = Some(why));
        }
        self.in_flight.remove(&order.plan);
    }

    /// Whether no other process carries plans out of this database, as this one holds the lock of its file: the kernel gives that back when
    /// a process ends, however it does. `None` where another one has it.
    fn sole(&mut self) -> Result<Option<bool>, String> {
        let Place::File(path) = &self.connection.place else {
            return Ok(Some(false));
        };
        if self.lock.is_some() {
            return Ok(Some(true));
        }
        let mut name = path.clone().into_os_string();
        name.push("-remediation");
        let failed = |e: std::io::Error| format!("cannot lock {}: {e}", Path::new(&name).display());
        // As the database: who can open it can lock it.
        let file = File::options()
            .create(true)
            .append(true)
            .mode(0o600)
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
        let between = Duration::from_millis(self.policy.turn_ms.into()) * SEARCH_TURNS;
        self.searched.is_none_or(|at| at.elapsed() >= between)
    }

    /// Asks the managers what is needed for a turn; whether there is one to take.
    fn begin(&mut self) -> Result<bool, String> {
        let plans = self.connection.with(|db| db.plans(false, 2000))?.plans;
        if plans.is_empty() {
            return Ok(self.searches());
        }
        let machines = self.connection.with(Database::machines)?;
        let machine = |host: &str| machines.get(host).cloned();
        self.polls
            .begin(&self.policy, &plans, machine, &self.messages.0);
        Ok(true)
    }

    fn take_turn(&mut self) -> Result<(), String> {
        let Some(sole) = self.sole()? else {
            self.update(|status| status.is_here = false);
            return Ok(());
        };
        let plans = self.connection.with(|db| db.plans(false, 2000))?;
        let mut policy = self.policy.clone();
        // The file says that it is dry, and is not taken over yet: nothing new begins, and what waits is withdrawn.
        let turns_dry = self.is_dry.load(Ordering::Relaxed) && policy.mode != Mode::Dry;
        if turns_dry {
            policy.mode = Mode::Dry;
        }
        let searches = !turns_dry && self.searches();
        // Each host may be found ill. Else those count that have plans.
        let hosts: BTreeSet<&str> = plans.plans.iter().map(|plan| plan.host.as_str()).collect();
        let rows = self
            .connection
            .with(|db| db.hosts_with_states(|host| searches || hosts.contains(host)))?;
        let mut wishes = Vec::new();
        if searches {
            wishes = self
                .connection
                .with(|db| facts::wishes(db, &policy, &rows))?;
            self.searched = Some(Instant::now());
        }
        let (polls, owner) = (&self.polls, &self.owner);
        let known = self
            .connection
            .with(|db| facts::facts(db, polls, &policy, &plans.plans, &rows))?;
        let in_flight: BTreeSet<i64> = self.in_flight.keys().copied().collect();
        let turned = self
            .connection
            .with(|db| db.remediate(owner, &policy, &wishes, known, &in_flight, sole))?;
        self.update(|status| status.is_here = turned.is_some());
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
            self.update(|status| match bound {
                Bound::Host => status.unplanned_of_hosts += 1,
                Bound::Fleet => status.unplanned_of_fleet += 1,
            });
        }
    }

    /// Does what is written down.
    fn carry_out(&mut self, order: Order, policy: &Policy, rows: &[HostRow]) {
        self.orders += 1;
        let number = self.orders;
        let seconds = policy.order_s() + policy.answer_s;
        let in_flight = InFlight {
            order: order.clone(),
            number,
            until: Instant::now() + Duration::from_secs(seconds.into()) + GRACE,
        };
        self.in_flight.insert(order.plan, in_flight);
        if order.step.is_disruptive() {
            let outcome = self.ask(&order, rows);
            self.ended(&order, &outcome);
            return;
        }
        let row = rows.iter().find(|row| row.name == order.host);
        let machine = row.and_then(|row| row.machine_id.clone());
        let (policy, of_thread) = (policy.clone(), order.clone());
        let (place, is_dry) = (self.connection.place.clone(), Arc::clone(&self.is_dry));
        let why = "the thread that carries it out has panicked".to_owned();
        let panicked = Message::Ended(number, order.clone(), Outcome::Unsure(why));
        let started = self.threads.start(&self.messages.0, panicked, move || {
            let outcome = orders::carry_out(&of_thread, &policy, machine, &place, &is_dry);
            Message::Ended(number, of_thread, outcome)
        });
        if let Err(why) = started {
            self.ended(&order, &Outcome::Unsure(why));
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
        match self.connection.with(|db| db.ask(&new, now)) {
            Ok(Ok(request)) => Outcome::Acted(format!("asked the host (request {})", request.id)),
            Ok(Err(why)) => not_asked(&why),
            Err(why) => Outcome::Unsure(why),
        }
    }
}

/// What an order comes to whose host was not asked.
fn not_asked(why: &NotAsked) -> Outcome {
    match why {
        NotAsked::Changed(_) => Outcome::Withdrawn,
        // Nothing was sent, and the host has less to do later.
        NotAsked::Full(_) => Outcome::Unsure(why.to_string()),
        NotAsked::NoHost(_) => Outcome::Refused(why.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_that_is_being_written_does_not_count_and_one_that_says_dry_counts_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("policy.toml");
        let write = |text: &str| std::fs::write(&path, text).unwrap();
        write("mode = \"act\"");
        let options = Remediation {
            policy: path.clone(),
        };
        let (place, shared) = (Place::File(dir.path().join("fleet.db")), Shared::default());
        let policy = load(&path).unwrap();
        let mut runner = Runner::new(place, options, policy, "o".to_owned(), shared);
        let state = |runner: &Runner| (runner.policy.mode, runner.is_dry.load(Ordering::Relaxed));
        let reload = |runner: &mut Runner| {
            runner.reload();
            state(runner)
        };
        assert_eq!(reload(&mut runner), (Mode::Act, false));
        // As an editor leaves it for a moment.
        write("");
        assert_eq!(reload(&mut runner), (Mode::Act, false));
        write("mode = \"act\"\nmax_out = 2");
        assert_eq!(reload(&mut runner), (Mode::Act, false));
        write("mode = \"dry\"");
        assert_eq!(reload(&mut runner), (Mode::Act, true));
        let until = |runner: &mut Runner, wanted: (Mode, bool)| {
            let end = Instant::now() + Duration::from_secs(60);
            while reload(runner) != wanted {
                assert!(Instant::now() < end, "{:?}", state(runner));
                std::thread::sleep(Duration::from_millis(20));
            }
        };
        until(&mut runner, (Mode::Dry, true));
        // Nothing is sent again before the file is known as a whole.
        write("mode = \"act\"");
        assert_eq!(reload(&mut runner), (Mode::Dry, true));
        until(&mut runner, (Mode::Act, false));
        // One with a mistake changes nothing, and one that is left empty is dry.
        write("mode = \"drie\"");
        while runner.unread.is_none() {
            reload(&mut runner);
        }
        assert_eq!(state(&runner), (Mode::Act, false));
        write("");
        until(&mut runner, (Mode::Dry, true));
        assert_eq!(runner.unread, None);
    }

    #[test]
    fn a_host_that_has_enough_to_do_is_asked_again() {
        let host = "a".to_owned();
        let of = |why: NotAsked| not_asked(&why);
        assert!(matches!(
            of(NotAsked::Full(host.clone())),
            Outcome::Unsure(_)
        ));
        assert!(matches!(of(NotAsked::NoHost(host)), Outcome::Refused(_)));
        assert!(matches!(of(NotAsked::Changed(1)), Outcome::Withdrawn));
    }

    #[test]
    fn an_order_whose_thread_hangs_is_given_up() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("policy.toml");
        let policy: Policy = toml::from_str("mode = \"act\"").unwrap();
        let place = Place::File(dir.path().join("fleet.db"));
        let options = Remediation { policy: path };
        let shared = Shared::default();
        let mut runner = Runner::new(place, options, policy, "o".to_owned(), shared);
        let order = Order {
            plan: 1,
            version: 1,
            host: "a".to_owned(),
            index: 0,
            step: gtrace_fleet::remedy::Step::Cordon,
            undo: false,
            cause: Default::default(),
        };
        let now = Instant::now();
        for (number, until) in [(1, now), (2, now + Duration::from_secs(3600))] {
            let order = Order {
                plan: number,
                ..order.clone()
            };
            let number = number.unsigned_abs();
            let in_flight = InFlight {
                order: order.clone(),
                number,
                until,
            };
            runner.in_flight.insert(order.plan, in_flight);
        }
        runner.give_up();
        let left: Vec<i64> = runner.in_flight.keys().copied().collect();
        assert_eq!(left, [2]);
        // What its thread sends later is none of the order that was begun since.
        assert!(!runner.is_in_flight(1, &order));
        runner.orders = 3;
        runner.carry_out(order.clone(), &runner.policy.clone(), &[]);
        assert!(runner.is_in_flight(4, &order) && !runner.is_in_flight(1, &order));
    }
}
