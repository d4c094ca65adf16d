//! The task that brings to disk what the store's thread has committed: an fsync takes as long as the
//! disk likes, and appends do not wait for it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gtrace_store::{StoreError, Syncer};

use crate::hub::Hub;
use crate::supervise::{Task, beat, rest};

/// What was committed is synced so long after, which is what a power cut can cost.
const SYNC_AFTER: Duration = Duration::from_millis(100);
/// But two syncs begin at least so long apart: an append that meets one waits for the disk, so where records keep
/// coming, a power cut can cost this much.
const SYNC_EVERY: Duration = Duration::from_millis(500);
/// The WAL is folded into the file after so many commits: some 24 MiB where each is small. The first
/// append after that waits for the disk, as SQLite syncs the header of a WAL that it begins anew (else a
/// power cut could leave the old header with new frames); so it is one append in a thousand.
const FOLD_AFTER: u32 = 1024;
/// Between attempts after one that failed.
const RETRY: Duration = Duration::from_secs(1);
/// With nothing to sync, how long one wait lasts.
const IDLE: Duration = Duration::from_secs(60);
/// Longest time between two heartbeats: a disk can take its time.
const SILENCE: Duration = Duration::from_secs(90);
/// At the end, how long a sync that is under way is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// The task's name.
const TASK: &str = "sync";

/// The end of the store's thread.
pub(super) struct Disk {
    commits: Arc<Commits>,
    hub: Arc<Hub>,
}

#[derive(Default)]
struct Commits {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    unsynced: bool,
    /// Commits since the WAL was last folded.
    unfolded: u32,
    closed: bool,
}

impl Disk {
    /// Starts the task.
    pub(super) fn spawn(syncer: Syncer, hub: Arc<Hub>) -> std::io::Result<Self> {
        let commits = Arc::new(Commits::default());
        let (of_task, its_hub) = (Arc::clone(&commits), Arc::clone(&hub));
        let task = Task::needed(TASK, SILENCE, Vec::new());
        hub.tasks.start(task, move |pulse| {
            let mut problem = None;
            let mut not_before = Instant::now();
            while !pulse.is_stopping() && of_task.wait(not_before) {
                not_before = Instant::now() + SYNC_EVERY;
                problem = report(&of_task.bring_to_disk(&syncer), problem, &its_hub);
            }
            Ok(())
        })?;
        Ok(Self { commits, hub })
    }

    /// There is something to sync.
    pub(super) fn committed(&self) {
        let mut state = self.commits.lock();
        let first = !state.unsynced;
        state.unsynced = true;
        state.unfolded += 1;
        drop(state);
        if first {
            self.commits.changed.notify_one();
        }
    }

    /// Ends the task. Closing the store syncs what is left.
    pub(super) fn finish(self) {
        self.commits.lock().closed = true;
        self.commits.changed.notify_one();
        self.hub.tasks.stop(&[TASK], PATIENCE);
    }
}

impl Commits {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Two numbers and a flag are right whenever the lock is free.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something was committed and a moment has passed, and for `not_before`; false at the end.
    fn wait(&self, not_before: Instant) -> bool {
        let wait = |state: MutexGuard<'_, State>, time: Duration, until: fn(&State) -> bool| {
            let waited = self
                .changed
                .wait_timeout_while(state, time, |state| !until(state));
            let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            (state.unsynced, state.closed)
        };
        loop {
            beat();
            let state = self.lock();
            let (unsynced, closed) =
                rest(IDLE, |time| wait(state, time, |s| s.unsynced || s.closed));
            if unsynced && !closed {
                let left = not_before.saturating_duration_since(Instant::now());
                wait(self.lock(), left.max(SYNC_AFTER), |s| s.closed);
            }
            if unsynced || closed {
                return !closed;
            }
        }
    }

    fn bring_to_disk(&self, syncer: &Syncer) -> Result<(), StoreError> {
        // What is committed from here on needs another sync.
        self.lock().unsynced = false;
        let result = syncer.sync().and_then(|()| {
            let unfolded = self.lock().unfolded;
            if unfolded < FOLD_AFTER {
                return Ok(());
            }
            syncer.checkpoint()?;
            self.lock().unfolded -= unfolded;
            Ok(())
        });
        if result.is_err() {
            self.lock().unsynced = true;
            std::thread::sleep(RETRY);
        }
        result
    }
}

/// Shows how the sync went, if not as `before`; why it failed.
fn report(result: &Result<(), StoreError>, before: Option<String>, hub: &Hub) -> Option<String> {
    let now = result.as_ref().err().map(ToString::to_string);
    if now == before {
        return now;
    }
    if let Err(error) = result {
        hub.suspect_store(error);
        tracing::error!("the newest records may not survive a power cut: {error}");
    }
    hub.update_store_problems(|problems| problems.sync.clone_from(&now));
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sync_that_works_hides_no_append_that_fails() {
        let (hub, _commands) = Hub::new(crate::hub::bare_status());
        let shown = || hub.status().store_problem;
        let failed = Err(StoreError::Full {
            path: "store.db".into(),
            why: "sync".to_owned(),
        });
        let problem = report(&failed, None, &hub);
        assert!(problem.is_some());
        assert_eq!(shown(), problem);
        let append = Some("no space left".to_owned());
        hub.update_store_problems(|problems| problems.append.clone_from(&append));
        assert_eq!(shown(), append);
        assert_eq!(report(&Ok(()), problem, &hub), None);
        assert_eq!(shown(), append);
        let problem = report(&failed, None, &hub);
        hub.update_store_problems(|problems| problems.append = None);
        assert_eq!(shown(), problem, "that has not ended");
        report(&Ok(()), problem, &hub);
        assert_eq!(shown(), None);
    }
}
