//! Every task of the daemon, and what becomes of those that fail.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gtrace_api::{TaskState, TaskStatus};
use gtrace_event::{Timestamp, WitnessName};
use tokio::sync::Notify;

use super::pulse::{Failed, Pulse, Revoked, now_ms};
use super::{Backoff, fault};
use crate::lock::lock;

/// Longest time between two ticks, while every task is well.
const TICK: Duration = Duration::from_secs(5);
/// The same while one is not: it may be back.
const TICK_ILL: Duration = Duration::from_secs(2);
/// Most time between two ticks that counts as silence of the tasks: beyond, this process itself was
/// stopped.
const TICK_MAX: Duration = TICK;
/// A new thread that lives so long is taken for well.
const SETTLED: Duration = Duration::from_secs(10);
/// After so long the next failure is a first one.
const HEALTHY: Duration = Duration::from_secs(60);
/// A needed task that is not back after so long makes the daemon unfit.
const DOWN_MAX: Duration = Duration::from_secs(30);
/// More restarts of a task than this within [`WINDOW`] make the daemon unfit.
const RESTARTS_MAX: usize = 10;
const WINDOW: Duration = Duration::from_secs(600);
/// So many threads of a task may hang; while they do, no other is started in their place.
const HANGING_MAX: usize = 8;
/// Between checks whether threads have ended.
const END_POLL: Duration = Duration::from_millis(10);

/// What the registry knows of a task before it runs.
#[derive(Clone, Debug)]
pub struct Task {
    /// Name, without the `gtrace-` of its thread.
    pub name: &'static str,
    /// Whether the daemon is unfit without it.
    pub needed: bool,
    /// Longest time between two heartbeats; `None` if it may wait for ever.
    pub silence: Option<Duration>,
    /// The sources that give nothing without it.
    pub sources: Vec<WitnessName>,
}

impl Task {
    /// One that the daemon is unfit without.
    pub fn needed(name: &'static str, silence: Duration, sources: Vec<WitnessName>) -> Self {
        Self {
            name,
            needed: true,
            silence: Some(silence),
            sources,
        }
    }

    /// One that the daemon is fit without, and no source needs.
    pub const fn optional(name: &'static str, silence: Duration) -> Self {
        Self {
            name,
            needed: false,
            silence: Some(silence),
            sources: Vec::new(),
        }
    }
}

/// A task failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Its name.
    pub task: &'static str,
    /// What happened to it.
    pub reason: String,
}

/// A task that is down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Its name.
    pub task: &'static str,
    /// What happened to it.
    pub reason: Option<String>,
    /// The sources that give nothing without it.
    pub sources: Vec<WitnessName>,
}

/// What a task runs, until it is ordered to stop or fails with a reason.
pub type Body = Arc<dyn Fn(&Pulse) -> Result<(), String> + Send + Sync>;

enum End {
    InOrder,
    Failed(String),
    Revoked,
}

/// One thread of a task.
struct Run {
    pulse: Arc<Pulse>,
    thread: Option<JoinHandle<()>>,
    end: Arc<Mutex<Option<End>>>,
    began: Instant,
    /// The last heartbeat that was seen, and for how long there has been none since.
    seen_ms: u64,
    silent: Duration,
}

struct Entry {
    task: Task,
    /// `None` for what only a new process can start.
    body: Option<Body>,
    run: Run,
    /// How earlier threads that were given up ended, if they did.
    given_up: Vec<Arc<Mutex<Option<End>>>>,
    state: TaskState,
    since: Timestamp,
    reason: Option<String>,
    /// When to start it again.
    due: Option<Instant>,
    /// Since when it has not been well.
    ill: Option<Instant>,
    backoff: Backoff,
    restarts: u64,
    recent: VecDeque<Instant>,
    stopping: bool,
}

#[derive(Default)]
struct Inner {
    tasks: Vec<Entry>,
    ticked: Option<Instant>,
}

/// The tasks. Cheap to clone; all clones are one.
#[derive(Clone, Default)]
pub struct Registry {
    inner: Arc<Mutex<Inner>>,
    changed: Arc<Notify>,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.lock().tasks.iter().map(|e| e.task.name).collect();
        f.debug_tuple("Registry").field(&names).finish()
    }
}

impl Registry {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing panics while it is held; what a panic would leave is still the newest known.
        lock(&self.inner)
    }

    /// Starts a task that is started again whenever it fails.
    ///
    /// # Errors
    ///
    /// If its first thread cannot be started.
    pub fn start(
        &self,
        task: Task,
        body: impl Fn(&Pulse) -> Result<(), String> + Send + Sync + 'static,
    ) -> std::io::Result<()> {
        let body: Body = Arc::new(body);
        let again = Arc::clone(&body);
        let run = self.run(task.name, move |pulse| again(pulse))?;
        self.add(task, Some(body), run);
        Ok(())
    }

    /// Starts a task that only a new process can start again, and gives its thread to whoever has to
    /// wait for its end.
    ///
    /// # Errors
    ///
    /// If the thread cannot be started.
    pub fn start_once(
        &self,
        task: Task,
        body: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<JoinHandle<()>> {
        let mut run = self.run(task.name, move |_| {
            body();
            Ok(())
        })?;
        let thread = run.thread.take();
        self.add(task, None, run);
        thread.ok_or_else(|| std::io::Error::other("the thread is gone"))
    }

    fn add(&self, task: Task, body: Option<Body>, run: Run) {
        self.lock().tasks.push(Entry {
            task,
            body,
            run,
            given_up: Vec::new(),
            state: TaskState::Running,
            since: Timestamp::now(),
            reason: None,
            due: None,
            ill: None,
            backoff: Backoff::default(),
            restarts: 0,
            recent: VecDeque::new(),
            stopping: false,
        });
    }

    fn run(
        &self,
        name: &'static str,
        body: impl FnOnce(&Pulse) -> Result<(), String> + Send + 'static,
    ) -> std::io::Result<Run> {
        let pulse = Pulse::new(name);
        let end = Arc::new(Mutex::new(None));
        let (of_thread, ended) = (Arc::clone(&pulse), Arc::clone(&end));
        let changed = Arc::clone(&self.changed);
        let thread = std::thread::Builder::new()
            .name(format!("gtrace-{name}"))
            .spawn(move || {
                of_thread.enter();
                let result = catch_unwind(AssertUnwindSafe(|| body(&of_thread)));
                let end = match result {
                    Ok(Ok(())) => End::InOrder,
                    Ok(Err(reason)) => End::Failed(reason),
                    Err(payload) if payload.is::<Revoked>() => End::Revoked,
                    Err(payload) => match payload.downcast::<Failed>() {
                        Ok(failed) => End::Failed(failed.0),
                        Err(payload) => End::Failed(panic_text(payload.as_ref())),
                    },
                };
                *lock(&ended) = Some(end);
                changed.notify_one();
            })?;
        Ok(Run {
            seen_ms: pulse.last_ms(),
            pulse,
            thread: Some(thread),
            end,
            began: Instant::now(),
            silent: Duration::ZERO,
        })
    }

    /// Waits until a task has ended.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// How long after the last tick the next one is to come at the latest: a task is to be started again then, or has been silent
    /// for too long if it gives no heartbeat meanwhile.
    pub fn next_tick(&self, now: Instant) -> Duration {
        let inner = self.lock();
        let kept = inner.tasks.iter().filter(|entry| !entry.stopping);
        let next = kept.map(|entry| entry.next_tick(now));
        fault::longest(next.min().unwrap_or(TICK).min(TICK))
    }

    /// Checks every task: starts what is due, and returns what has failed since the last tick. To be
    /// called when [`Self::changed`] returns, and after [`Self::next_tick`].
    pub fn tick(&self, now: Instant) -> Vec<Loss> {
        let mut inner = self.lock();
        let before = inner.ticked.replace(now).unwrap_or(now);
        let elapsed = now.saturating_duration_since(before).min(TICK_MAX);
        let mut losses = Vec::new();
        for entry in &mut inner.tasks {
            if entry.stopping {
                continue;
            }
            if let Some(reason) = entry.poll(now, elapsed) {
                tracing::error!("{} {reason}", entry.task.name);
                losses.push(Loss {
                    task: entry.task.name,
                    reason,
                });
            }
            if entry.due.is_some_and(|due| due <= now) && !fault::held() {
                self.start_again(entry, now);
            }
        }
        losses
    }

    fn start_again(&self, entry: &mut Entry, now: Instant) {
        let Some(body) = entry.body.clone() else {
            return;
        };
        let hangs = |end: &Arc<Mutex<Option<End>>>| lock(end).is_none();
        entry.given_up.retain(hangs);
        if entry.given_up.len() >= HANGING_MAX {
            entry.reason = Some(format!(
                "{HANGING_MAX} threads of it hang, and no other is started before one has ended"
            ));
            entry.due = Some(now + entry.backoff.next(fastrand::f64()));
            return;
        }
        match self.run(entry.task.name, move |pulse| body(pulse)) {
            Ok(run) => {
                tracing::info!("{} is started again", entry.task.name);
                fault::over(entry.task.name);
                entry.run = run;
                entry.due = None;
                entry.restarts += 1;
                entry.set(TaskState::Running);
            }
            Err(error) => {
                entry.reason = Some(format!("no new thread: {error}"));
                entry.due = Some(now + entry.backoff.next(fastrand::f64()));
            }
        }
    }

    /// Why the daemon can do its work no longer; `None` while it can. The watchdog is not fed when
    /// there is a reason.
    pub fn unfit(&self, now: Instant) -> Option<String> {
        let inner = self.lock();
        let mut needed = inner.tasks.iter().filter(|e| e.task.needed && !e.stopping);
        needed.find_map(|entry| {
            let name = entry.task.name;
            let reason = entry.reason.as_deref().unwrap_or("no reason given");
            let down = entry.ill.map(|ill| now.saturating_duration_since(ill));
            let recent = entry.recent.iter();
            let restarts = recent
                .filter(|at| now.saturating_duration_since(**at) < WINDOW)
                .count();
            if entry.state == TaskState::Failed {
                Some(format!("{name} {reason}"))
            } else if down.is_some_and(|down| down > fault::down_max(DOWN_MAX)) {
                Some(format!("{name} does not recover: {reason}"))
            } else if restarts > RESTARTS_MAX {
                Some(format!("{name} failed {restarts} times in a row: {reason}"))
            } else {
                None
            }
        })
    }

    /// What only a new process can bring back, if something like that has failed.
    pub fn lost(&self) -> Option<Loss> {
        let inner = self.lock();
        let lost = |entry: &&Entry| entry.state == TaskState::Failed && !entry.stopping;
        inner.tasks.iter().find(lost).map(|entry| Loss {
            task: entry.task.name,
            reason: entry.reason.clone().unwrap_or_default(),
        })
    }

    /// Whether the task `name` gives heartbeats.
    pub fn is_running(&self, name: &str) -> bool {
        let inner = self.lock();
        let found = inner.tasks.iter().find(|e| e.task.name == name);
        found.is_some_and(|entry| entry.state == TaskState::Running)
    }

    /// Whether the task `name` works, or has ended in order.
    pub fn is_up(&self, name: &str) -> bool {
        let inner = self.lock();
        let found = inner.tasks.iter().find(|e| e.task.name == name);
        found.is_some_and(|entry| entry.state.is_up())
    }

    /// How every task stands.
    pub fn statuses(&self) -> Vec<TaskStatus> {
        let inner = self.lock();
        let status = |entry: &Entry| TaskStatus {
            name: entry.task.name.to_owned(),
            state: entry.state,
            needed: entry.task.needed,
            replaceable: entry.body.is_some(),
            reason: entry.reason.clone(),
            since: entry.since,
            restarts: entry.restarts,
            last_seen_ms: now_ms().saturating_sub(entry.run.pulse.last_ms()),
            sources: entry.task.sources.clone(),
            cpu_seconds: entry.run.pulse.cpu_time().map(|time| time.as_secs_f64()),
        };
        inner.tasks.iter().map(status).collect()
    }

    /// Those that are down, with why and the sources that give nothing meanwhile.
    pub fn outages(&self) -> Vec<Outage> {
        let inner = self.lock();
        let down = inner.tasks.iter().filter(|entry| !entry.state.is_up());
        let outage = |entry: &Entry| Outage {
            task: entry.task.name,
            reason: entry.reason.clone(),
            sources: entry.task.sources.clone(),
        };
        down.map(outage).collect()
    }

    /// Ends what the thread of the task `name` waits for.
    pub fn wake(&self, name: &str) {
        let inner = self.lock();
        let found = inner.tasks.iter().find(|entry| entry.task.name == name);
        if let Some(entry) = found {
            entry.run.pulse.wake();
        }
    }

    /// Has the tasks `names` end in order and waits for them, at most for `patience`; none is started
    /// again. The names of those that have not ended by then, and are left behind.
    pub fn stop(&self, names: &[&str], patience: Duration) -> Vec<&'static str> {
        for entry in &mut self.lock().tasks {
            if names.contains(&entry.task.name) {
                entry.stopping = true;
                entry.run.pulse.stop.store(true, Ordering::Relaxed);
                entry.run.pulse.wake();
            }
        }
        let until = Instant::now() + patience;
        loop {
            let left = self.unended(names);
            if left.is_empty() || Instant::now() >= until {
                return left;
            }
            std::thread::sleep(END_POLL);
        }
    }

    fn unended(&self, names: &[&str]) -> Vec<&'static str> {
        let inner = self.lock();
        let of_names = inner.tasks.iter();
        of_names
            .filter(|entry| names.contains(&entry.task.name) && !entry.has_ended())
            .map(|entry| entry.task.name)
            .collect()
    }
}

impl Entry {
    /// Whether it has no thread.
    fn has_ended(&self) -> bool {
        let end = lock(&self.run.end);
        end.is_some() || !matches!(self.state, TaskState::Running | TaskState::Hung)
    }

    /// See [`Registry::next_tick`].
    fn next_tick(&self, now: Instant) -> Duration {
        match (self.state, self.task.silence) {
            (TaskState::Ended, _) => TICK,
            (TaskState::Running, None) if self.ill.is_none() => TICK,
            // Of more than that it is too long.
            (TaskState::Running, Some(silence)) if self.ill.is_none() => {
                silence.saturating_sub(self.run.silent) + Duration::from_millis(1)
            }
            _ => {
                let due = self.due.map(|due| due.saturating_duration_since(now));
                due.map_or(TICK_ILL, |due| due.min(TICK_ILL))
            }
        }
    }

    fn set(&mut self, state: TaskState) {
        if self.state != state {
            self.state = state;
            self.since = Timestamp::now();
        }
    }

    /// Why it has failed, if it has since the last poll.
    fn poll(&mut self, now: Instant, elapsed: Duration) -> Option<String> {
        if !matches!(self.state, TaskState::Running | TaskState::Hung) {
            return None;
        }
        let end = lock(&self.run.end).take();
        match end {
            None => {}
            Some(End::InOrder | End::Revoked) => {
                self.set(TaskState::Ended);
                return None;
            }
            Some(End::Failed(reason)) => {
                self.fail(&reason, now);
                return Some(reason);
            }
        }
        let last = self.run.pulse.last_ms();
        let lives = self.run.pulse.is_resting() || self.run.pulse.is_sending();
        if last != self.run.seen_ms || lives {
            self.run.seen_ms = last;
            let since = Duration::from_millis(now_ms().saturating_sub(last));
            self.run.silent = if lives {
                Duration::ZERO
            } else {
                since.min(elapsed)
            };
            if self.state == TaskState::Hung {
                tracing::info!("{} gives heartbeats again", self.task.name);
                fault::over(self.task.name);
                self.set(TaskState::Running);
                self.ill = None;
            }
        } else {
            self.run.silent += elapsed;
        }
        let up = now.saturating_duration_since(self.run.began);
        if self.state == TaskState::Running && up >= SETTLED {
            self.ill = None;
            if up >= HEALTHY {
                self.backoff.reset();
            }
        }
        let limit = fault::silence(self.task.name, self.task.silence?);
        if self.run.silent <= limit || self.state == TaskState::Hung {
            return None;
        }
        let reason = format!("hangs: no heartbeat within {} s", limit.as_secs());
        if self.body.is_none() {
            self.reason = Some(reason.clone());
            self.ill.get_or_insert(now);
            self.set(TaskState::Hung);
            return Some(reason);
        }
        if !self.run.pulse.revoke() {
            // It began to send just now, so it lives.
            return None;
        }
        self.given_up.push(Arc::clone(&self.run.end));
        self.fail(&reason, now);
        Some(reason)
    }

    fn fail(&mut self, reason: &str, now: Instant) {
        self.reason = Some(reason.to_owned());
        self.ill.get_or_insert(now);
        if self.body.is_none() {
            self.set(TaskState::Failed);
            return;
        }
        self.set(TaskState::Restarting);
        self.due = Some(now + self.backoff.next(fastrand::f64()));
        self.recent.push_back(now);
        if self.recent.len() > RESTARTS_MAX + 1 {
            self.recent.pop_front();
        }
    }
}

fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    format!("panicked: {}", text.unwrap_or("without a message"))
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
