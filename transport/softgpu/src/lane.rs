//! The queue of a stream and the thread that works it off.
//!
//! A command is taken under a lock that is held for the push only, and the worker takes all that
//! is there at once. The worker looks for more for some microseconds before it sleeps, so that a
//! program that issues commands one after the other pays no wake-up for each.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::command::Command;
use crate::config::warn;
use crate::error::UNKNOWN;
use crate::health::Health;
use crate::progress::{Progress, spin};
use crate::sync::lock;

/// See the module.
pub(crate) struct Lane {
    queue: Mutex<Queue>,
    wake: Condvar,
    submitted: AtomicU64,
    /// Commands completed.
    pub(crate) done: Arc<Progress>,
    /// Number of the record of an event that is being completed, which is not long in coming to its end.
    recording: AtomicU64,
    sleeping: AtomicBool,
    /// Whether the legacy default stream and this one wait for each other.
    pub(crate) blocking: bool,
    health: Arc<Health>,
}

#[derive(Default)]
struct Queue {
    commands: VecDeque<Command>,
    has_worker: bool,
    closed: bool,
}

impl Lane {
    pub(crate) fn new(blocking: bool, health: Arc<Health>) -> Arc<Self> {
        Arc::new(Self {
            queue: Mutex::new(Queue::default()),
            wake: Condvar::new(),
            submitted: AtomicU64::new(0),
            done: Arc::new(Progress::default()),
            recording: AtomicU64::new(0),
            sleeping: AtomicBool::new(false),
            blocking,
            health,
        })
    }

    /// Commands submitted so far: what [`Progress::wait`] on `done` takes.
    pub(crate) fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::SeqCst)
    }

    /// Whether its errors go to `health`: its context is the one of that.
    pub(crate) fn reports_to(&self, health: &Arc<Health>) -> bool {
        Arc::ptr_eq(&self.health, health)
    }

    /// Whether commands are outstanding.
    pub(crate) fn is_busy(&self) -> bool {
        let submitted = self.submitted();
        if self.done.reached() >= submitted {
            return false;
        }
        // Who waited for the event of the last command knows that there is nothing left to do.
        if self.recording.load(Ordering::SeqCst) == submitted {
            self.done.wait(submitted);
            return false;
        }
        true
    }

    /// Whether it is closed and all is done.
    pub(crate) fn is_over(&self) -> bool {
        lock(&self.queue).closed && !self.is_busy()
    }

    /// Waits for what was submitted so far.
    pub(crate) fn drain(&self) {
        self.done.wait(self.submitted());
    }

    /// Queues commands; they run in order after all earlier ones.
    pub(crate) fn submit(self: &Arc<Self>, before: Vec<Command>, command: Command) {
        let start = {
            let mut queue = lock(&self.queue);
            let count = before.len() as u64 + 1;
            queue.commands.extend(before);
            queue.commands.push_back(command);
            self.submitted.fetch_add(count, Ordering::SeqCst);
            !std::mem::replace(&mut queue.has_worker, true)
        };
        if start {
            self.start();
        } else if self.sleeping.load(Ordering::SeqCst) {
            let _held = lock(&self.queue);
            self.wake.notify_one();
        }
    }

    fn start(self: &Arc<Self>) {
        let lane = Arc::clone(self);
        let begun = std::thread::Builder::new()
            .name("softgpu-stream".into())
            .spawn(move || lane.work());
        if let Err(error) = begun {
            // Without a thread nothing asynchronous is possible, but nothing may be left undone.
            warn(&format!(
                "no thread for a stream ({error}); its commands run in the caller"
            ));
            let commands = {
                let mut queue = lock(&self.queue);
                queue.has_worker = false;
                std::mem::take(&mut queue.commands)
            };
            let done = self.done.reached();
            self.run_all(commands, done);
        }
    }

    /// The worker ends once all commands are done.
    pub(crate) fn close(&self) {
        let mut queue = lock(&self.queue);
        queue.closed = true;
        self.wake.notify_one();
    }

    fn work(&self) {
        crate::context::forbid();
        let mut done = self.done.reached();
        while let Some(commands) = self.next() {
            done = self.run_all(commands, done);
        }
    }

    fn run_all(&self, commands: VecDeque<Command>, mut done: u64) -> u64 {
        for command in commands {
            if matches!(command, Command::Record(..)) {
                self.recording.store(done + 1, Ordering::SeqCst);
            }
            // A panic must not leave those waiting who wait for this command.
            let outcome = catch_unwind(AssertUnwindSafe(|| command.run(&self.health)));
            match outcome {
                Ok(Ok(())) => {}
                Ok(Err(error)) => self.health.fail(error),
                Err(_) => self.health.fail(UNKNOWN),
            }
            done += 1;
            self.done.advance(done);
        }
        done
    }

    /// All commands that are there, waiting for at least one; none when the lane is closed.
    fn next(&self) -> Option<VecDeque<Command>> {
        spin(|| self.is_busy());
        let mut queue = lock(&self.queue);
        loop {
            if !queue.commands.is_empty() {
                return Some(std::mem::take(&mut queue.commands));
            }
            if queue.closed {
                return None;
            }
            self.sleeping.store(true, Ordering::SeqCst);
            queue = self
                .wake
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
            self.sleeping.store(false, Ordering::SeqCst);
        }
    }
}
